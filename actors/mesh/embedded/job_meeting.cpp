#include "actors/mesh/embedded/job_meeting.hpp"

#include "actors/mesh/embedded/defaults.hpp"
#include "base/lane_kind.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

job_meeting::job_meeting(const registered_map& where, effects out)
  : where_(where), out_(std::move(out)) {
  // nop
}

void job_meeting::log(severity level, const std::string& line) const {
  if (out_.log)
    out_.log(level, "mesh of " + nspace() + ": " + line);
}

// -- this node ---------------------------------------------------------------

void job_meeting::stay_alone() {
  members_ = live_ = {where_.own};
  set_ready();
}

void job_meeting::begin(mesh_greeting own) {
  own_ = std::move(own);
  out_.after(defaults::mesh_network_wait, [this] {
    if (!knows_addresses_ && now_ == phase::apart)
      fail("this node has no network on which others could reach it; see ip "
           "address");
  });
}

void job_meeting::set_addresses(std::vector<node_address> known) {
  if (known.size() > max_greeting_addresses)
    known.resize(max_greeting_addresses);
  own_.addresses = std::move(known);
  // Names of this machine's sockets lead nobody here from elsewhere.
  if (std::none_of(own_.addresses.begin(), own_.addresses.end(),
                   [](const auto& x) {
                     return lane_kind_of(x.address) == lane_kind::tcp;
                   }))
    return;
  knows_addresses_ = true;
  release_fences();
}

void job_meeting::fail(std::string why, severity level) {
  now_ = phase::failed;
  trouble_ = std::move(why);
  log(level, trouble_);
  release_fences();
  refuse_waiting();
}

void job_meeting::leave() {
  if (now_ != phase::failed) {
    now_ = phase::failed;
    trouble_ = "the job is over";
    refuse_waiting();
  }
  release_fences();
}

// -- greetings ---------------------------------------------------------------

bool job_meeting::wants(const host_collective& call) const {
  const auto is_whole =
    call.procs.size() == 1
    && call.procs.front() == proc_id{nspace(), rank_wildcard};
  return is_whole && !has_greeted_ && now_ == phase::apart;
}

void job_meeting::fence(host_collective call, fence_handler then) {
  fences_.push_back({std::move(call), std::move(then)});
  if (knows_addresses_)
    release_fences();
}

void job_meeting::release_fences() {
  for (auto& x : std::exchange(fences_, {}))
    greet(std::move(x));
}

void job_meeting::greet(waiting_fence x) {
  if (now_ == phase::apart && !has_greeted_) {
    has_greeted_ = true;
    add_greeting(x.call, nspace(), own_);
  }
  // Without data to collect, a fence need not bring anything, nor even wait:
  // that of Slurm does not. It says nothing about who is there.
  const auto brings_all = flag(x.call.directives, attr::collect_data);
  out_.fence(std::move(x.call), [this, then = std::move(x.then), brings_all](
                                  caf::expected<host_collective_result> y) {
    if (!y) {
      // Others may have our greeting; the next fence brings it again.
      if (now_ == phase::apart)
        has_greeted_ = false;
      then(std::move(y));
      return;
    }
    auto others = take_greetings(y->data, out_.log);
    then(std::move(y));
    if (now_ != phase::apart)
      return;
    const auto is_other = [this](const auto& z) {
      return z.rank != where_.own;
    };
    if (brings_all || std::any_of(others.begin(), others.end(), is_other))
      meet(std::move(others));
    else
      has_greeted_ = false;
  });
}

/// Decides who takes part. All servers get the same greetings, so they come to
/// the same result.
void job_meeting::meet(std::vector<mesh_greeting> others) {
  auto known = greetings{};
  for (auto& x : others) {
    if (x.rank == where_.own)
      continue;
    auto err = caf::error{};
    if (x.rank >= where_.map.shares.size())
      err = make_error(status::bad_param, "the job has no such node");
    else if (known.count(x.rank) > 0)
      err = make_error(status::bad_param, "that node has greeted already");
    else
      err = out_.trust(x.rank, x.certificate);
    if (err)
      log(severity::error, "the greeting of node " + std::to_string(x.rank)
                             + " is ignored: " + reason_of(err));
    else
      known.emplace(x.rank, std::move(x));
  }
  if (known.empty())
    fail("no other server of the job has its mesh switched on; set "
         "TROUPE_MESH=1 for all");
  else if (where_.own != 0 && known.count(0) == 0)
    fail("the server of the job's first node, " + where_.map.shares[0].hostname
         + ", does not have its mesh switched on; set TROUPE_MESH=1 for it");
  else
    become_member(known);
}

void job_meeting::become_member(const greetings& others) {
  now_ = phase::joining;
  members_ = {where_.own};
  for (const auto& [rank, unused] : others)
    members_.insert(rank);
  out_.join(others);
  out_.after(defaults::mesh_meeting_wait, [this] {
    if (now_ != phase::joining)
      return;
    if (live_.count(where_.own) == 0 || live_.count(0) == 0) {
      fail("the servers of the job do not reach each other; open TCP between "
           "the nodes");
      return;
    }
    auto missing = std::string{};
    for (const auto x : members_)
      if (live_.count(x) == 0)
        missing +=
          (missing.empty() ? "" : ", ") + where_.map.shares[x].hostname;
    log(severity::warning, "goes on without " + missing);
    set_ready();
  });
}

// -- members -----------------------------------------------------------------

void job_meeting::note_live(uint32_t rank, bool is_live) {
  if (is_live)
    live_.insert(rank);
  else
    live_.erase(rank);
}

void job_meeting::check_complete() {
  if (now_ == phase::joining && live_.size() >= members_.size())
    set_ready();
}

void job_meeting::set_ready() {
  now_ = phase::ready;
  log(severity::info, "joins " + std::to_string(live_.size()) + " of "
                        + std::to_string(where_.map.shares.size()) + " nodes");
  for (auto& x : std::exchange(waiting_, {}))
    x.go({});
}

// -- requests ----------------------------------------------------------------

void job_meeting::refuse_waiting() {
  for (auto& x : std::exchange(waiting_, {}))
    x.go(make_error(status::not_supported, trouble_));
}

void job_meeting::when_ready(ready_handler go) {
  if (now_ == phase::ready) {
    go({});
    return;
  }
  if (now_ == phase::failed) {
    go(make_error(status::not_supported, trouble_));
    return;
  }
  if (waiting_.size() >= defaults::mesh_waiting_requests) {
    go(make_error(status::out_of_resource,
                  "too many requests wait for the mesh of " + nspace()));
    return;
  }
  const auto id = next_waiting_++;
  waiting_.push_back({id, std::move(go)});
  out_.after(defaults::mesh_request_wait, [this, id] {
    const auto i = std::find_if(waiting_.begin(), waiting_.end(),
                                [id](const request& x) { return x.id == id; });
    if (i == waiting_.end())
      return;
    const auto late = std::move(i->go);
    waiting_.erase(i);
    late(
      make_error(status::not_supported,
                 now_ == phase::apart
                   ? "the servers of " + nspace()
                       + " have not met: no fence of all its processes has"
                         " completed yet; call PMIx_Fence in all of them first"
                   : "the servers of " + nspace()
                       + " have not reached each other yet; try again, or see "
                         "whether their networks are up"));
  });
}

} // namespace troupe
