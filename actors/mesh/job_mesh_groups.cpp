#include "actors/mesh/group_speakers.hpp"
#include "actors/mesh/job_mesh_state.hpp"
#include "messages/status.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

// Groups of processes of the job: their logs are kept by its servers.

namespace troupe::job_mesh_internals {

void job_mesh::start_groups() {
  auto out = event_sequencer::effects{};
  out.ask = [this](uint32_t to, host_question what,
                   event_stream::reply_handler then) {
    ask(to, std::move(what), std::move(then));
  };
  out.deliver = [this](const std::string& name, ordered_content what,
                       const std::function<void()>& then) {
    auto* entry = std::get_if<group_entry>(&what);
    if (entry == nullptr || !options.server) {
      then();
      return;
    }
    if (options.keeper)
      self->send(options.keeper, nspace(), name);
    self
      ->request(
        options.server, caf::infinite,
        group_entry_ordered{std::move(*entry), sequencer->hosts_of_log(name)})
      .then([then](ack) { then(); }, [then](const caf::error&) { then(); });
  };
  out.locate = [](const std::string& unknown,
                  const std::function<void(const caf::error&)>& then) {
    then(make_error(status::not_found, "no job " + unknown));
  };
  out.live = [this] { return std::vector<uint32_t>{live.begin(), live.end()}; };
  out.after = [this](std::chrono::nanoseconds delay,
                     std::function<void()> then) {
    call_later(delay, [this, then = std::move(then)] {
      then();
      arm();
    });
  };
  sequencer = std::make_unique<event_sequencer>(
    rank(), options.node.membership.incarnation, places, std::move(out),
    defaults::tree_radix);
}

bool job_mesh::may_say(uint32_t node, const group_entry& what) const {
  const auto procs = speakers_of(what);
  return std::all_of(procs.begin(), procs.end(),
                     [&](const proc_id& x) { return is_on(node, x); });
}

void job_mesh::lose_host(uint32_t node) {
  lost.insert(node);
  places.node_lost(node);
  sequencer->node_lost(node);
  if (options.server)
    self->send(options.server, host_node_lost{node});
}

caf::result<proc_places> job_mesh::locate(locate_procs& request) {
  for (const auto& proc : request.procs)
    if (proc.nspace != nspace())
      return make_error(status::not_supported, "the mesh of " + nspace()
                                                 + " does not reach "
                                                 + proc.nspace);
  auto promise = self->make_response_promise<proc_places>();
  auto reply = std::make_shared<answer<proc_places>>(promise);
  when_ready(
    [this, reply, procs = std::move(request.procs)](const caf::error& err) {
      if (err) {
        reply->fail(err);
        return;
      }
      auto result = proc_places{{}, rank()};
      const auto add = [&](const proc_id& proc) {
        const auto node = places.node_of(proc);
        if (!node) {
          reply->fail(status::not_found, "no process " + to_string(proc));
          return false;
        }
        if (members.count(*node) == 0) {
          reply->fail(status::not_supported,
                      "the server of " + to_string(proc)
                        + " does not have its mesh switched on");
          return false;
        }
        result.procs.push_back(
          {proc, lost.count(*node) > 0 ? std::nullopt : node});
        return true;
      };
      for (const auto& proc : procs) {
        const auto is_all = proc.rank == rank_wildcard;
        const auto first = is_all ? 0 : proc.rank;
        const auto count = is_all ? places.size_of(nspace()) : 1;
        for (uint32_t i = 0; i < count; ++i)
          if (!add({proc.nspace, first + i}))
            return;
      }
      reply->give(std::move(result));
    });
  return promise;
}

caf::result<ack> job_mesh::order(order_group_entry& request) {
  auto promise = self->make_response_promise<ack>();
  auto reply = std::make_shared<answer<ack>>(promise);
  when_ready(
    [this, reply, request = std::move(request)](const caf::error& err) mutable {
      if (err) {
        reply->fail(err);
        return;
      }
      sequencer->submit(std::move(request), [reply](caf::expected<ack> x) {
        if (x)
          reply->give(*x);
        else
          reply->fail(std::move(x.error()));
      });
      arm();
    });
  return promise;
}

} // namespace troupe::job_mesh_internals
