#include "actors/mesh/event_sequencer.hpp"

#include "messages/status.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

event_sequencer::event_sequencer(uint32_t self, uint64_t incarnation,
                                 const job_locations& places, effects out,
                                 uint32_t radix)
  : self_(self), places_(places), out_(std::move(out)) {
  auto x = event_stream::means{};
  x.self = self;
  x.incarnation = incarnation;
  x.radix = std::max(radix, 1u);
  x.ask = out_.ask;
  x.deliver = out_.deliver;
  x.after = out_.after;
  x.tell_end = [this](const std::string& name,
                      const std::vector<uint32_t>& ranks,
                      uint64_t place) { tell_end(name, ranks, place); };
  x.abandon = [this](const std::string& name) { abandon(name); };
  x.hosts = [this](const std::string& nspace) {
    return nspace.empty() ? out_.live() : places_.hosts_of(nspace);
  };
  x.founder = [this](const std::string& nspace) {
    if (nspace.empty())
      return uint32_t{0};
    const auto all = places_.nodes_of(nspace);
    return all.empty() ? UINT32_MAX : all.front();
  };
  means_ = std::make_shared<const event_stream::means>(std::move(x));
}

bool event_sequencer::hosts(const std::string& nspace) const {
  if (nspace.empty())
    return true;
  const auto nodes = places_.hosts_of(nspace);
  return std::binary_search(nodes.begin(), nodes.end(), self_);
}

event_stream& event_sequencer::stream(const std::string& nspace) {
  auto& x = streams_[nspace];
  if (!x) {
    x = std::make_shared<event_stream>(nspace, means_);
    if (is_stopped_)
      x->depose();
    else if (started_.count(nspace) > 0)
      x->open();
  }
  return *x;
}

void event_sequencer::submit(const std::string& nspace, deliver_event what,
                             completion then) {
  if (!nspace.empty() && !places_.knows(nspace)) {
    then(make_error(status::not_found, nspace + " is gone"));
    return;
  }
  stream(nspace).submit(std::move(what), std::move(then));
}

void event_sequencer::job_started(const std::string& nspace) {
  if (!hosts(nspace) || !started_.insert(nspace).second)
    return;
  const auto i = streams_.find(nspace);
  if (i != streams_.end())
    i->second->open();
  succeed(nspace);
}

/// What a lost home had given to some, all have to get, also if nobody here has
/// heard of it.
void event_sequencer::succeed(const std::string& nspace) {
  const auto nodes = places_.hosts_of(nspace);
  if (!nodes.empty() && nodes.front() == self_
      && means_->founder(nspace) != self_)
    stream(nspace);
}

void event_sequencer::job_forgotten(const std::string& nspace) {
  started_.erase(nspace);
  const auto node = streams_.extract(nspace);
  if (!node.empty())
    node.mapped()->close();
}

void event_sequencer::node_lost(uint32_t rank) {
  ended_.erase(rank);
  const auto all = streams_;
  for (const auto& [nspace, x] : all)
    x->lose(rank);
  const auto started = started_;
  for (const auto& nspace : started)
    succeed(nspace);
}

void event_sequencer::stop() {
  is_stopped_ = true;
  ended_.clear();
  for (const auto& [nspace, x] : streams_)
    x->depose();
}

void event_sequencer::take(uint32_t from, uint64_t incarnation,
                           submit_event what, answerer reply) {
  if (is_group_log(what.nspace)) {
    take_entry(from, incarnation, std::move(what), reply);
  } else if (std::holds_alternative<group_entry>(what.what)) {
    reply(mesh_failure{status::bad_param, what.nspace + " is no group"});
  } else if (hosts(what.nspace)) {
    stream(what.nspace).take(from, incarnation, what, reply);
  } else if (places_.knows(what.nspace)) {
    reply(
      mesh_failure{status::unreach, "the daemon does not host " + what.nspace});
  } else {
    // It may not have been prepared yet.
    const auto nspace = what.nspace;
    const auto keep = std::make_shared<submit_event>(std::move(what));
    out_.locate(nspace, [this, from, incarnation, keep,
                         reply = std::move(reply)](const caf::error& why) {
      if (why || !places_.knows(keep->nspace))
        reply(mesh_failure{status::not_found, keep->nspace + " is gone"});
      else
        take(from, incarnation, std::move(*keep), reply);
    });
  }
}

void event_sequencer::take(uint32_t from, order_events what,
                           const answerer& reply) {
  if (is_end_of_logs(what))
    take_ends(from, what, reply);
  else if (is_group_log(what.nspace))
    take_entries(from, std::move(what), reply);
  else if (!hosts(what.nspace))
    // A job that has been forgotten has nobody who is owed anything.
    reply(ack{});
  else
    stream(what.nspace).take(from, what, reply);
}

void event_sequencer::take(uint32_t from, const collect_events& what,
                           const answerer& reply) {
  const auto log = is_group_log(what.nspace)
                     ? log_of(what.nspace, what.hosts, nullptr)
                     : nullptr;
  if (log)
    log->take(from, what, reply);
  else if (is_group_log(what.nspace) || !hosts(what.nspace))
    reply(mesh_failure{status::not_found, what.nspace + " is gone"});
  else
    stream(what.nspace).take(from, what, reply);
}

size_t event_sequencer::submitted() const {
  auto result = size_t{0};
  for (const auto& [nspace, x] : streams_)
    result += x->submitted();
  return result;
}

size_t event_sequencer::kept() const {
  auto result = size_t{0};
  for (const auto& [nspace, x] : streams_)
    result += x->kept();
  return result;
}

} // namespace troupe
