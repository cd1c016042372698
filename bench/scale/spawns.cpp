#include "bench/scale/spawns.hpp"

#include "messages/attributes.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace troupe::scale {

namespace {

/// As an embedding or a tool asks for it.
job_order order_of(uint32_t size) {
  auto result = job_order{};
  result.who.role = peer_role::tool_with_identity;
  result.request.job_infos.push_back(
    {std::string{attr::mapby}, 0, value::string("node")});
  auto& app = result.request.apps.emplace_back();
  app.cmd = "./program";
  app.argv = {"./program"};
  app.max_procs = static_cast<int32_t>(size);
  return result;
}

} // namespace

spawns::spawns(uint32_t size, const costs& what)
  : net_(size, what), size_(size),
    jobs_(settings_of_jobs(), nodes_of(size), places_, means_of_jobs()) {
  for (auto rank = uint32_t{0}; rank < size; ++rank)
    shares_.push_back(std::make_unique<shares>(means_of_shares(rank)));
}

dvm_jobs::settings spawns::settings_of_jobs() {
  auto result = dvm_jobs::settings{};
  result.nspace = "dvm";
  result.has_hook = [](site_hook) { return false; };
  return result;
}

dvm_nodes spawns::nodes_of(uint32_t size) {
  auto result = dvm_nodes::table{};
  for (auto rank = uint32_t{0}; rank < size; ++rank) {
    auto& x = result[rank];
    x.name = "n" + std::to_string(rank);
    x.slots = 1;
    x.state = node_state::live;
    x.incarnation = 1;
  }
  return dvm_nodes{std::move(result)};
}

dvm_jobs::effects spawns::means_of_jobs() {
  auto out = dvm_jobs::effects{};
  out.can_serve = [] { return true; };
  out.ask = [this](uint32_t node, host_question what,
                   dvm_jobs::completion<host_reply> then) {
    const auto give = [then = std::move(then)](host_reply x) {
      if (const auto* why = std::get_if<mesh_failure>(&x))
        then(make_error(why->code, why->reason));
      else
        then(std::move(x));
    };
    // As everything that a node asks itself.
    if (node == 0)
      carry_out(node, what, give);
    else
      net_.ask(
        0, node, std::move(what),
        [this, node](host_question& x,
                     const std::function<void(host_reply)>& reply) {
          carry_out(node, x, reply);
        },
        give);
  };
  out.live = [this] {
    auto result = std::vector<uint32_t>{};
    for (auto rank = uint32_t{0}; rank < size_; ++rank)
      result.push_back(rank);
    return result;
  };
  out.is_live = [](uint32_t) { return true; };
  out.now = [] { return dvm_jobs::time{0}; };
  out.call_later = [this](dvm_jobs::time delay, std::function<void()> then) {
    net_.after(static_cast<double>(delay.count()) / 1e3, std::move(then));
  };
  out.raise = [](const event&, const std::vector<std::string>&) {};
  out.raise_for = [](const event&, const std::vector<proc_id>&) {};
  out.raise_for_askers = [](const event&) {};
  out.notify = [](const event&, const std::vector<proc_id>&,
                  const dvm_jobs::completion<ack>& then) { then(ack{}); };
  out.watchers = [](const job_record&, const spawn_request&) {
    return std::vector<io_watcher>{};
  };
  out.proc_gone = [](const proc_id&) {};
  out.job_over = [this](const std::string&) {
    is_over_ = true;
    net_.note_end();
  };
  return out;
}

shares::effects spawns::means_of_shares(uint32_t rank) {
  auto out = shares::effects{};
  const auto tell = [this, rank](host_question what, shares::action then) {
    const auto take = [this,
                       rank](host_question& x,
                             const std::function<void(host_reply)>& reply) {
      if (const auto* news = std::get_if<share_progress>(&x))
        jobs_.note_progress(rank, *news);
      reply(ack{});
      if (const auto* end = std::get_if<share_ended>(&x))
        jobs_.note_share_ended(rank, end->nspace);
      net_.note_end();
    };
    const auto heard = [then = std::move(then)](const host_reply&) { then(); };
    if (rank == 0)
      take(what, heard);
    else
      net_.ask(rank, 0, std::move(what), take, heard);
  };
  out.tell_progress = tell;
  out.tell_end = tell;
  out.procs_ended = [](const std::vector<proc_ended>&) {};
  return out;
}

/// What a node does for the root.
void spawns::carry_out(uint32_t rank, host_question& what,
                       const std::function<void(host_reply)>& reply) {
  if (auto* order = std::get_if<prepare_share>(&what)) {
    shares_[rank]->add(order->map.nspace);
    auto own = job_map{order->map.nspace, order->map.number, {}};
    own.shares.push_back({rank, "n" + std::to_string(rank), {{rank, 0, {}}}});
    reply(std::move(own));
  } else if (std::holds_alternative<start_share>(what)) {
    change(rank, proc_state::running);
    auto result = spawn_result{};
    result.nspace = nspace_;
    reply(std::move(result));
  } else {
    reply(ack{});
  }
}

void spawns::change(uint32_t rank, proc_state state) {
  shares_[rank]->note_progress(
    {nspace_, {{{nspace_, rank}, state, 1000 + rank, 0, 0}}});
}

figures spawns::spawn() {
  nspace_ = jobs_.next_nspace();
  auto order = order_of(size_);
  order.reply = [this](const caf::expected<spawn_result>& x) {
    is_started_ = static_cast<bool>(x);
  };
  net_.start();
  jobs_.begin(std::move(order));
  net_.run();
  const auto* job = jobs_.find(nspace_);
  auto running = size_t{0};
  if (job != nullptr)
    for (const auto& x : job->procs)
      running += x.state == proc_state::running;
  if (!is_started_ || running != size_) {
    std::fprintf(stderr, "%zu of %u processes run\n", running, size_);
    std::exit(1);
  }
  return net_.count();
}

figures spawns::end() {
  net_.start();
  for (auto rank = uint32_t{0}; rank < size_; ++rank) {
    change(rank, proc_state::terminated);
    shares_[rank]->note_end(nspace_);
  }
  net_.run();
  if (!is_over_) {
    std::fprintf(stderr, "a job of %u nodes does not end\n", size_);
    std::exit(1);
  }
  return net_.count();
}

} // namespace troupe::scale
