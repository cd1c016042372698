#pragma once

#include "actors/data/job_locations.hpp"
#include "base/all_of.hpp"
#include "messages/io.hpp"
#include "messages/io_stream.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

// What processes read, on its way to them: plain rules.
// Source: guarantees 5.7, "stdin"; A46.

namespace troupe {

/// Gets what has become of input.
using input_taken_callback = std::function<void(caf::expected<io_input_taken>)>;

/// Sends input to a node; calls back once.
using input_sender =
  std::function<void(uint32_t node, io_input part, input_taken_callback then)>;

/// Sends input to each node of its processes once, and tells what has become of
/// it when all have answered. Ranks that the job does not have are left out;
/// a process of a lost node reads no more.
void spread_input(const job_locations& places, const io_input& what,
                  const input_sender& send, input_taken_callback done);

/// Leaves of the processes that input is for those of one node.
/// @returns `not_found` if none is left.
caf::error keep_input_of(const job_locations& places, uint32_t node,
                         io_input& what);

/// Checks a push before its targets are looked at.
/// @returns `not_supported` with a directive, `bad_param` without targets.
caf::error check_push(const io_push_request& request);

/// Refuses input for a process that is not there. OpenPMIx's tools hang when
/// they hear of anything else than `iof_complete`.
caf::error nobody_reads(const proc_id& target);

/// A push of input to processes of several jobs: what has become of it is told
/// once, when all jobs have answered. Copies are the same push.
class push_round {
public:
  /// Gets nothing, or why.
  using completion = std::function<void(const caf::error&)>;

  push_round(const io_push_request& request, completion done);

  /// One more job will answer.
  void expect() const {
    all_.add();
  }

  /// Answer of a job. One that does not read any more does not keep the others
  /// from reading.
  void take(const caf::expected<io_input_taken>& x) const;

  /// No further job will be expected.
  void close() const {
    all_.done();
  }

private:
  struct taken {
    uint32_t readers = 0;
    caf::error why;
  };

  static caf::error outcome_of(const taken& x, bool is_end);

  all_of<taken> all_;
};

/// Input of this node on its way to processes of any: goes to the same
/// processes in its order and in pieces, of which as many are on their way as
/// processes may be given at once.
class input_spread {
public:
  struct effects {
    input_sender send;

    /// Makes the locations know a job; gets an empty error once they do.
    std::function<void(const std::string& nspace,
                       std::function<void(const caf::error&)> then)>
      locate;
  };

  /// Input for jobs, by namespace.
  using targets = std::map<std::string, io_input>;

  /// @param places Where jobs run; outlives this.
  input_spread(const job_locations& places, effects out)
    : places_(places), out_(std::move(out)) {
    // nop
  }

  void give(io_input what, const input_taken_callback& done);

  /// The input of a request for processes of one job, yet without the bytes.
  /// @param reading The process that reads, according to the description of the
  ///                job: `rank_wildcard`: all, `rank_undef`: none.
  /// @param size The number of its processes.
  static io_input input_of(const io_push_request& request,
                           const std::string& nspace, uint32_t reading,
                           uint32_t size);

  /// Gives the bytes of a request to all of its targets.
  /// @param to From `input_of`.
  void push(io_push_request& request, targets to, push_round::completion done);

private:
  /// Processes that get the same: those of a namespace, by their ranks.
  using line_key = std::pair<std::string, std::vector<uint32_t>>;

  /// Input on its way to some processes, and what waits until they have taken
  /// enough of it.
  struct line {
    std::deque<std::function<void()>> waiting;
    size_t bytes = 0;
  };

  void send_pieces(io_input what, const input_taken_callback& done);
  void add_piece(const std::shared_ptr<const io_input>& what, size_t at,
                 size_t size, input_taken_callback done);
  void send_waiting(const line_key& to);

  const job_locations& places_;
  effects out_;
  std::map<line_key, line> lines_;
};

} // namespace troupe
