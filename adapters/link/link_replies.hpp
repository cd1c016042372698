#pragma once

#include "actors/data/packed_ranks.hpp"
#include "adapters/wire/replies.hpp"

#include <caf/expected.hpp>

#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace troupe {

/// Reads a reply for the one who asked: a status that is a failure becomes an
/// error; packed data of ranks and compressed texts are unpacked.
/// @returns the body; `ack` if the server left it out. What expands to more
/// than
///          32 MiB in all is `out_of_resource`.
/// Source: OpenPMIx wire protocol, replies and compressed strings; guarantees,
/// attacks X17 and X49.
caf::expected<wire::reply_body> read_reply(wire::command asked,
                                           std::string_view payload,
                                           const wire::dialect& rules);

/// The data of a job, and those of ranks that wait until somebody asks for them.
struct job_reply {
  job_info info;

  /// Null: all are in `info`.
  std::unique_ptr<packed_ranks> ranks;
};

/// The same of the answer to a job info request. Data of ranks with reserved keys
/// and plain values are checked and stay packed: of a large job they would take
/// most of the time until a process has started.
caf::expected<job_reply> read_job_reply(std::string_view payload,
                                        const wire::dialect& rules);

/// Whether `read_reply` failed because the bytes could not be read, not because
/// the server refused: a server gives no reason.
bool is_unreadable(const caf::error& why);

/// The answer in the body of a reply; an empty one if the server left it out.
template <class Answer>
caf::expected<Answer> answer_in(caf::expected<wire::reply_body> x) {
  if (!x)
    return std::move(x.error());
  if constexpr (std::is_same_v<Answer, job_info_reply>) {
    auto* body = std::get_if<job_info>(&*x);
    return job_info_reply{std::make_shared<const job_info>(
      body != nullptr ? std::move(*body) : job_info{})};
  } else {
    auto* body = std::get_if<Answer>(&*x);
    return body != nullptr ? std::move(*body) : Answer{};
  }
}

} // namespace troupe
