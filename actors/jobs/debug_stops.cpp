#include "actors/jobs/debug_stops.hpp"

#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <string>
#include <utility>

namespace troupe {

namespace {

using rank_or_none = std::optional<uint32_t>;

caf::error refused(std::string_view key, const std::string& what) {
  return make_error(status::not_supported,
                    std::string{attribute_of(key)->c_name} + " is " + what);
}

caf::expected<rank_or_none> read_rank(std::string_view key, const value& x) {
  if (x.type == data_type::proc_rank) {
    const auto rank = x.number<uint32_t>();
    if (rank && (*rank == rank_wildcard || *rank <= rank_valid_max))
      return rank_or_none{rank};
    return refused(key, "no rank of a process; give one, or true for all");
  }
  const auto is_flag =
    x.type == data_type::undef || std::holds_alternative<bool>(x.data);
  if (!is_flag)
    return refused(key, "not done for a list of processes; give true for all, "
                        "or one rank as PMIX_PROC_RANK");
  return x.truth() ? rank_or_none{rank_wildcard} : rank_or_none{};
}

caf::expected<rank_or_none> read_key(const spawn_request& request,
                                     std::string_view key) {
  if (const auto* x = find(request.job_infos, key))
    return read_rank(key, *x);
  auto found = std::optional<rank_or_none>{};
  for (const auto& program : request.apps) {
    auto own = rank_or_none{};
    if (const auto* x = find(program.infos, key)) {
      auto rank = read_rank(key, *x);
      if (!rank)
        return std::move(rank.error());
      own = *rank;
    }
    const auto is_one = own && *own != rank_wildcard;
    if ((found && *found != own) || (is_one && request.apps.size() > 1))
      return refused(key, "not done for some programs of a job; give it with "
                          "the job, or with each program");
    found = own;
  }
  return found.value_or(rank_or_none{});
}

} // namespace

caf::expected<debug_stops> read_debug_stops(const spawn_request& request) {
  auto in_init = read_key(request, attr::debug_stop_in_init);
  if (!in_init)
    return std::move(in_init.error());
  auto in_app = read_key(request, attr::debug_stop_in_app);
  if (!in_app)
    return std::move(in_app.error());
  return debug_stops{*in_init, *in_app};
}

} // namespace troupe
