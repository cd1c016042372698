#include "actors/events/event_cache_state.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

// What tools may ask of the log: the keys are this project's own.

namespace troupe::event_cache_internals {

namespace {

constexpr auto counts_key = "troupe.event.counts";
constexpr auto retained_key = "troupe.event.retained";
constexpr auto audit_key = "troupe.event.audit";
constexpr auto since_key = "troupe.event.since";

/// Tools see everything, processes what is of their namespace.
bool may_see(const requester& who, const std::string& nspace) {
  return is_tool(who.role) || who.index == 0 || who.proc.nspace == nspace;
}

value counts_of(const event_log& log, const requester& who) {
  auto all = std::vector<info>{};
  for (const auto& x : log.count()) {
    if (!may_see(who, x.nspace))
      continue;
    auto numbers = std::vector<info>{};
    const auto add = [&](const char* key, uint64_t n) {
      numbers.push_back({key, 0, value::uint64(n)});
    };
    add("troupe.event.accepted", x.accepted);
    add("troupe.event.entries", x.entries);
    add("troupe.event.owed", x.owed);
    add("troupe.event.bytes", x.bytes);
    add("troupe.event.spooled", x.spooled);
    add("troupe.event.missed", x.missed);
    add("troupe.event.held", x.held);
    all.push_back({x.nspace, 0, value::infos(std::move(numbers))});
  }
  return value::infos(std::move(all));
}

value retained_by(const event_log& log, const requester& who,
                  const std::vector<info>& qualifiers) {
  const auto wanted = text(qualifiers, attr::nspace);
  const auto since = number<uint64_t>(qualifiers, since_key).value_or(0);
  auto found = std::vector<std::pair<uint64_t, info>>{};
  for (const auto& of : log.count()) {
    if ((wanted && *wanted != of.nspace) || !may_see(who, of.nspace))
      continue;
    log.each(of.nspace, since, [&](const event_entry& x) {
      if (!x.what)
        return;
      auto infos = std::vector<info>{
        {"troupe.event.number", 0, value::uint64(x.number)},
        {"troupe.event.code", 0,
         value::of_status(static_cast<int32_t>(x.code))},
        {std::string{attr::procid}, 0, value::of_proc(x.what->source)},
        {"troupe.event.range", 0,
         value::uint32(static_cast<uint32_t>(x.what->range))}};
      infos.insert(infos.end(), x.what->infos.begin(), x.what->infos.end());
      found.emplace_back(x.number,
                         info{of.nspace, 0, value::infos(std::move(infos))});
    });
  }
  std::stable_sort(
    found.begin(), found.end(),
    [](const auto& x, const auto& y) { return x.first < y.first; });
  auto all = std::vector<info>{};
  for (auto& x : found)
    all.push_back(std::move(x.second));
  return value::infos(std::move(all));
}

} // namespace

gauge_list gauges_of(const event_cache_state& state) {
  auto entries = uint64_t{0};
  auto bytes = uint64_t{0};
  auto result = gauge_list{};
  for (const auto& x : state.log->count()) {
    entries += x.entries;
    bytes += x.bytes;
    if (x.nspace == "*")
      result.gauges.push_back(
        {"events.ring", x.entries, state.options.log.ring_size, "events"});
  }
  result.gauges.push_back(
    {"events.memory", bytes, state.options.log.node_bytes, "bytes"});
  result.gauges.push_back({"events.retained", entries, 0, "events"});
  result.gauges.push_back(
    {"events.subscribers", state.sessions.size(), 0, "processes"});
  result.gauges.push_back(
    {"events.waiting", state.waiting.size(), 0, "events"});
  return result;
}

caf::result<info_result> answer_query(self_pointer self, const requester& who,
                                      const query_request& request) {
  const auto& log = *self->state.log;
  auto result = info_result{};
  for (const auto& x : request.queries)
    for (const auto& key : x.keys) {
      if (key == counts_key)
        result.infos.push_back({key, 0, counts_of(log, who)});
      else if (key == retained_key)
        result.infos.push_back({key, 0, retained_by(log, who, x.qualifiers)});
      else if (key == audit_key && who.index == 0)
        result.infos.push_back({key, 0, value::string(log.audit())});
      else
        result.complete = false;
    }
  return result;
}

} // namespace troupe::event_cache_internals
