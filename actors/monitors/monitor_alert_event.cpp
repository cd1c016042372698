#include "actors/monitors/monitor_alert_event.hpp"

#include "actors/events/range_filter.hpp"
#include "messages/attributes.hpp"

namespace troupe {

notify_request make_alert(const monitor_entry& of, const alert_facts& facts) {
  auto result = notify_request{};
  result.code = of.code;
  result.range = of.range;
  const auto add = [&](std::string_view key, value x) {
    result.infos.push_back({std::string{key}, 0, std::move(x)});
  };
  add(attr::event_affected_proc, value::of_proc(facts.proc));
  if (!of.id.empty())
    add(attr::monitor_id, value::string(of.id));
  if (!facts.file.empty())
    add(attr::monitor_file, value::string(facts.file));
  add(attr::event_text_message, value::string(facts.reason));
  for (const auto& x : facts.infos)
    result.infos.push_back(x);
  const auto is_own = of.range == data_range::proc_local;
  if (of.extras)
    for (const auto& x : of.extras->event_infos)
      if (!is_own || x.key != attr::event_custom_range)
        result.infos.push_back(x);
  if (is_own) {
    // The process alone, wherever its library runs its handlers.
    result.range = data_range::custom;
    add(attr::event_custom_range, value::procs({facts.proc}));
  }
  add(event_reaches_source, value::boolean(true));
  return result;
}

} // namespace troupe
