#include "actors/control/control_directives.hpp"

// What a request does, in order and in words.

namespace troupe {

std::string_view to_string(control_verb x) {
  switch (x) {
    case control_verb::provision:
      return "provision";
    case control_verb::restart:
      return "restart";
    case control_verb::define_set:
      return "define a set";
    case control_verb::resume:
      return "resume";
    case control_verb::checkpoint:
      return "checkpoint";
    case control_verb::preempt:
      return "preempt";
    case control_verb::signal:
      return "signal";
    case control_verb::pause:
      return "pause";
    case control_verb::terminate:
      return "terminate";
    case control_verb::kill:
      return "kill";
  }
  return "control";
}

std::vector<control_verb> control_directives::verbs() const {
  auto result = std::vector<control_verb>{};
  const auto add = [&](bool is_wanted, control_verb x) {
    if (is_wanted)
      result.push_back(x);
  };
  add(provision.has_value(), control_verb::provision);
  add(restart.has_value(), control_verb::restart);
  add(define_set.has_value(), control_verb::define_set);
  add(resume, control_verb::resume);
  add(checkpoint.has_value() && !preempt, control_verb::checkpoint);
  add(preempt.has_value(), control_verb::preempt);
  add(signal.has_value(), control_verb::signal);
  add(pause, control_verb::pause);
  // Whoever is killed needs no grace.
  add(terminate && !kill, control_verb::terminate);
  add(kill, control_verb::kill);
  return result;
}

std::string control_directives::summary() const {
  auto result = std::string{};
  const auto add = [&](const std::string& x) {
    result += (result.empty() ? "" : ", ") + x;
  };
  if (cancel)
    add(cancel->id ? "cancel " + *cancel->id : "cancel all");
  for (const auto x : verbs()) {
    auto text = std::string{to_string(x)};
    if (x == control_verb::signal)
      text += " " + std::to_string(*signal);
    else if (x == control_verb::checkpoint)
      text += " " + *checkpoint;
    else if (x == control_verb::restart)
      text += " " + *restart;
    else if (x == control_verb::provision)
      text += " " + *provision;
    else if (x == control_verb::define_set)
      text += " " + *define_set;
    else if (x == control_verb::preempt)
      text += ", then " + *preempt;
    add(text);
  }
  if (declares())
    add("declare");
  return result;
}

} // namespace troupe
