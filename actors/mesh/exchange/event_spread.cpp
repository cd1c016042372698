#include "actors/mesh/exchange/event_spread.hpp"

#include "actors/events/range_filter.hpp"
#include "base/all_of.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// What has become of the parts of an event.
struct outcome {
  size_t reached = 0;
  size_t unreached = 0;
  bool is_custom = false;
  caf::error why;

  void add(const caf::expected<ack>& x) {
    if (x) {
      ++reached;
    } else if (status_of(x.error()) == status::unreach
               || status_of(x.error()) == status::not_found) {
      ++unreached;
    } else {
      why = x.error();
    }
  }

  caf::expected<ack> answer() const {
    if (why)
      return why;
    if (!is_custom || unreached == 0)
      return ack{};
    if (reached > 0)
      return make_error(status::partial_success,
                        "some of the processes that the event is for cannot "
                        "be reached");
    return make_error(status::unreach, "none of the processes that the event "
                                       "is for can be reached");
  }
};

bool is_answered_early(const event& what) {
  const auto* x = find(what.infos, event_accept);
  const auto* text = x != nullptr ? x->text() : nullptr;
  return text != nullptr && *text == "local";
}

deliver_event message(event what, std::vector<proc_id> targets) {
  auto result = deliver_event{};
  result.what = std::move(what);
  result.targets = std::move(targets);
  return result;
}

} // namespace

// -- taking events -----------------------------------------------------------

void event_spread::notify(const proc_id& source, notify_request what,
                          completion then) {
  auto x = entry{};
  x.what = event{what.code, source, what.range, std::move(what.infos)};
  x.then = std::move(then);
  const auto* custom = find(x.what.infos, attr::event_custom_range);
  if (!range_filter{x.what}.leaves_node()) {
    x.by = way::here;
  } else if (custom != nullptr) {
    x.is_custom = true;
    x.audience = procs_of(*custom);
  } else if (what.range == data_range::nspace) {
    x.audience = {{source.nspace, rank_wildcard}};
  } else if (what.range == data_range::rm) {
    x.by = way::manager;
  } else if (what.range != data_range::custom
             && what.range != data_range::invalid) {
    x.is_for_all = true;
  }
  if (what.range == data_range::proc_local) {
    x.then(ack{});
    return;
  }
  add(source, std::move(x));
}

void event_spread::raise(event what, const std::string& nspace,
                         completion then) {
  raise(std::move(what), nspace, {{nspace, rank_wildcard}}, std::move(then));
}

void event_spread::raise(event what, const std::string& nspace,
                         std::vector<proc_id> audience, completion then) {
  auto x = entry{};
  x.what = std::move(what);
  x.then = std::move(then);
  x.audience = std::move(audience);
  // The system is a source of its own for each namespace.
  add({nspace, rank_undef}, std::move(x));
}

void event_spread::add(const proc_id& key, entry x) {
  auto& from = sources_[key];
  if (is_answered_early(x.what)
      && from.waiting.size() + from.in_flight < defaults::event_early_answers)
    if (const auto then = std::exchange(x.then, nullptr))
      then(ack{});
  // Whoever is answered may have called back in.
  sources_[key].waiting.push_back(std::move(x));
  go_on(key);
}

/// Sends the events of a source up to the first that has to wait.
void event_spread::go_on(const proc_id& key) {
  for (auto i = sources_.find(key); i != sources_.end();
       i = sources_.find(key)) {
    auto& from = i->second;
    if (from.waiting.empty()) {
      if (from.in_flight == 0)
        sources_.erase(i);
      return;
    }
    if (from.is_resolving)
      return;
    auto& x = from.waiting.front();
    if (!resolve(key, x))
      return;
    auto orders = std::set<std::string>{};
    for (const auto& [nspace, unused] : x.to)
      orders.insert(nspace);
    if (from.in_flight > 0 && (x.by != from.by || orders != from.orders))
      return;
    from.by = x.by;
    from.orders = std::move(orders);
    ++from.in_flight;
    auto next = std::move(x);
    from.waiting.pop_front();
    send(key, std::move(next));
  }
}

// -- whom they are for -------------------------------------------------------

/// Works out where an event goes.
/// @returns whether that is known now; if not, `go_on` is called again.
bool event_spread::resolve(const proc_id& key, entry& x) {
  if (x.is_routed || x.by != way::orders)
    return true;
  auto& from = sources_.at(key);
  // An answer may come at once.
  const auto with_front = [this, key](const std::function<void(entry&)>& what) {
    const auto i = sources_.find(key);
    if (i == sources_.end() || i->second.waiting.empty())
      return;
    what(i->second.waiting.front());
    i->second.is_resolving = false;
    go_on(key);
  };
  if (x.is_for_all && !x.is_listed) {
    from.is_resolving = true;
    out_.list_jobs([with_front](const std::vector<std::string>& all) {
      with_front([&](entry& y) {
        y.is_listed = true;
        for (const auto& nspace : all)
          y.audience.push_back({nspace, rank_wildcard});
      });
    });
    return false;
  }
  for (const auto& proc : x.audience) {
    if (places_.knows(proc.nspace) || x.unknown.count(proc.nspace) > 0)
      continue;
    from.is_resolving = true;
    out_.locate(proc.nspace,
                [with_front, nspace = proc.nspace](const caf::error& why) {
                  with_front([&](entry& y) {
                    if (why)
                      y.unknown.insert(nspace);
                  });
                });
    return false;
  }
  make_route(x);
  return true;
}

void event_spread::make_route(entry& x) {
  x.is_routed = true;
  for (const auto& proc : x.audience) {
    if (x.unknown.count(proc.nspace) == 0) {
      if (proc.rank != rank_wildcard && !places_.node_of(proc))
        ++x.unreached;
      else
        x.to[proc.nspace].push_back(proc);
    } else if (!x.is_for_all) { // else a job that is over
      x.to[""].push_back(proc);
    }
  }
  // All that belong to no job.
  if (x.is_for_all)
    x.to[""];
}

// -- sending -----------------------------------------------------------------

void event_spread::send(const proc_id& key, entry x) {
  const auto all = all_of<outcome>{
    {}, [this, key, then = std::move(x.then)](const outcome& found) {
      if (then)
        then(found.answer());
      finish(key);
    }};
  all->is_custom = x.is_custom;
  all->unreached = x.unreached;
  const auto one = [all](const caf::expected<ack>& y) {
    all->add(y);
    all.done();
  };
  if (x.by == way::here) {
    all.add();
    out_.deliver_here(message(std::move(x.what), {}), one);
  } else if (x.by == way::manager) {
    all.add();
    out_.tell_manager(message(std::move(x.what), {}), one);
  }
  for (auto& [nspace, targets] : x.to) {
    all.add();
    auto then = completion{one};
    if (nspace.empty() && x.is_custom)
      then = [this, one, targets = targets](const caf::expected<ack>& y) {
        if (!y) {
          one(y);
          return;
        }
        out_.find_procs(targets, [one](bool is_found) {
          one(is_found ? caf::expected<ack>{ack{}}
                       : make_error(status::not_found, ""));
        });
      };
    out_.submit(nspace, message(x.what, std::move(targets)), std::move(then));
  }
  all.done();
}

void event_spread::finish(const proc_id& key) {
  const auto i = sources_.find(key);
  if (i == sources_.end())
    return;
  --i->second.in_flight;
  go_on(key);
}

size_t event_spread::waiting() const {
  auto result = size_t{0};
  for (const auto& [source, x] : sources_)
    result += x.waiting.size() + x.in_flight;
  return result;
}

} // namespace troupe
