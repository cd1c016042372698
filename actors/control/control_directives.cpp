// What a request does, in order and in words.

#include "actors/control/control_directives.hpp"

#include "base/timeout.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace troupe {

namespace defaults {

/// Bytes of the id of a request.
inline constexpr size_t control_id_bytes = 511;

} // namespace defaults

namespace {

/// The highest signal of Linux. Source: signal(7).
constexpr auto last_signal = int32_t{64};

caf::error misread(const info& x, const std::string& what) {
  return make_error(status::bad_param, x.key + " " + what);
}

/// How the key, and with it two attributes of RFC0015, are read.
constexpr auto ambiguous_key = attr::job_ctrl_checkpoint_signal;

/// Collects what the directives say.
class directive_reader {
public:
  explicit directive_reader(control_directives& out) : out_(out) {
    // nop
  }

  /// @returns why it makes no sense, if it does not.
  caf::error read(const info& x);

private:
  struct entry {
    std::string_view key;
    caf::error (directive_reader::*read)(const info& x);
  };

  static const entry table[];

  caf::error read_text(const info& x, std::optional<std::string>& to) {
    const auto* text = x.val.text();
    if (text == nullptr || text->empty())
      return misread(x, "needs a text");
    if (text->size() > defaults::control_id_bytes)
      return misread(x, "has more than "
                          + std::to_string(defaults::control_id_bytes)
                          + " bytes");
    to = *text;
    return caf::none;
  }

  template <class T>
  caf::error read_time(const info& x, std::optional<T>& to) {
    const auto n = x.val.number<int32_t>();
    if (!n || *n < 0)
      return misread(x, "needs a time of 0 or more");
    to = T{*n};
    return caf::none;
  }

  caf::error read_id(const info& x) {
    return read_text(x, out_.id);
  }

  caf::error read_pause(const info& x) {
    out_.pause = x.val.truth();
    return caf::none;
  }

  caf::error read_resume(const info& x) {
    out_.resume = x.val.truth();
    return caf::none;
  }

  caf::error read_kill(const info& x) {
    out_.kill = x.val.truth();
    return caf::none;
  }

  caf::error read_terminate(const info& x) {
    out_.terminate = x.val.truth();
    return caf::none;
  }

  caf::error read_signal(const info& x) {
    const auto n = x.val.number<int64_t>();
    if (!n)
      return misread(x, "needs a number");
    if (*n < 0 || *n > last_signal)
      return misread(x, std::to_string(*n) + ": signals are 0 to "
                          + std::to_string(last_signal));
    out_.signal = static_cast<int32_t>(*n);
    return caf::none;
  }

  /// Source: requirements A21.
  caf::error read_cancel(const info& x) {
    if (const auto* text = x.val.text()) {
      out_.cancel = control_cancel{*text};
      return caf::none;
    }
    const auto is_null = std::holds_alternative<std::monostate>(x.val.data);
    const auto* number = std::get_if<uint64_t>(&x.val.data);
    if (!is_null && !std::holds_alternative<bool>(x.val.data)
        && !(number != nullptr && *number == 0))
      return misread(x, "needs the id of a request, or a null pointer for all");
    if (is_null || number != nullptr || x.val.truth())
      out_.cancel = control_cancel{};
    return caf::none;
  }

  caf::error read_checkpoint(const info& x) {
    return read_text(x, out_.checkpoint);
  }

  caf::error read_restart(const info& x) {
    return read_text(x, out_.restart);
  }

  caf::error read_in_place(const info& x) {
    out_.in_place = x.val.truth();
    return caf::none;
  }

  caf::error read_preempt(const info& x) {
    if (auto err = read_text(x, out_.preempt))
      return err;
    const auto& what = *out_.preempt;
    if (what != "terminate" && what != "kill" && what != "pause"
        && what != "checkpoint")
      return misread(x, "knows terminate, kill, pause and checkpoint, and not "
                          + what);
    return caf::none;
  }

  caf::error read_provision(const info& x) {
    return read_text(x, out_.provision);
  }

  caf::error read_image(const info& x) {
    return read_text(x, out_.image);
  }

  caf::error read_define_set(const info& x) {
    return read_text(x, out_.define_set);
  }

  caf::error read_checkpoint_event(const info& x) {
    auto methods = std::vector<checkpoint_method>{};
    if (auto err = add_event(x, methods))
      return err;
    out_.checkpoint_by.insert(out_.checkpoint_by.end(), methods.begin(),
                              methods.end());
    return caf::none;
  }

  /// Source: requirements A15.
  caf::error read_checkpoint_signal(const info& x) {
    const auto n = x.val.number<int32_t>();
    if (!n || *n < 0)
      return misread(x, "needs a signal or a time-out in seconds");
    if (*n == 0 || *n > last_signal || has_checkpoint_signal_)
      return read_checkpoint_timeout(x);
    has_checkpoint_signal_ = true;
    out_.checkpoint_by.push_back({std::nullopt, *n});
    return caf::none;
  }

  caf::error read_checkpoint_timeout(const info& x) {
    return read_time(x, out_.checkpoint_timeout);
  }

  caf::error read_grace(const info& x) {
    return read_time(x, out_.grace);
  }

  caf::error read_user(const info& x) {
    out_.of_user = x.val.truth();
    return caf::none;
  }

  caf::error read_timeout(const info& x) {
    auto seconds = std::optional<std::chrono::seconds>{};
    if (auto err = read_time(x, seconds))
      return err;
    out_.timeout = timeout_of({x});
    return caf::none;
  }

  caf::error read_preemptible(const info& x) {
    out_.preemptible = x.val.truth();
    return caf::none;
  }

  caf::error read_own_methods(const info& x) {
    auto methods = read_methods(x.val);
    if (!methods)
      return std::move(methods.error());
    out_.methods = std::move(*methods);
    return caf::none;
  }

public:
  /// Source: requirements A16.
  static caf::error add_event(const info& x,
                              std::vector<checkpoint_method>& to) {
    if (std::holds_alternative<bool>(x.val.data)
        || std::holds_alternative<std::monostate>(x.val.data)) {
      if (x.val.truth())
        to.push_back({status::jctrl_checkpoint, std::nullopt});
      return caf::none;
    }
    const auto code = x.val.number<int32_t>();
    if (!code)
      return misread(x, "needs the code of an event, or true");
    to.push_back({static_cast<status>(*code), std::nullopt});
    return caf::none;
  }

  static caf::error add_signal(const info& x,
                               std::vector<checkpoint_method>& to) {
    const auto n = x.val.number<int32_t>();
    if (!n || *n < 1 || *n > last_signal)
      return misread(x,
                     "needs a signal from 1 to " + std::to_string(last_signal));
    to.push_back({std::nullopt, *n});
    return caf::none;
  }

private:
  control_directives& out_;
  bool has_checkpoint_signal_ = false;
};

const directive_reader::entry directive_reader::table[] = {
  {attr::job_ctrl_id, &directive_reader::read_id},
  {attr::job_ctrl_pause, &directive_reader::read_pause},
  {attr::job_ctrl_resume, &directive_reader::read_resume},
  {attr::job_ctrl_kill, &directive_reader::read_kill},
  {attr::job_ctrl_terminate, &directive_reader::read_terminate},
  {attr::job_ctrl_signal, &directive_reader::read_signal},
  {attr::job_ctrl_cancel, &directive_reader::read_cancel},
  {attr::job_ctrl_checkpoint, &directive_reader::read_checkpoint},
  {attr::job_ctrl_checkpoint_event, &directive_reader::read_checkpoint_event},
  {ambiguous_key, &directive_reader::read_checkpoint_signal},
  {attr::job_ctrl_checkpoint_timeout,
   &directive_reader::read_checkpoint_timeout},
  {attr::job_ctrl_checkpoint_method, &directive_reader::read_own_methods},
  {attr::job_ctrl_restart, &directive_reader::read_restart},
  {attr::job_ctrl_provision, &directive_reader::read_provision},
  {attr::job_ctrl_provision_image, &directive_reader::read_image},
  {attr::job_ctrl_preemptible, &directive_reader::read_preemptible},
  {attr::job_ctrl_define_pset, &directive_reader::read_define_set},
  {attr::timeout, &directive_reader::read_timeout},
  {control_key::preempt, &directive_reader::read_preempt},
  {control_key::in_place, &directive_reader::read_in_place},
  {control_key::grace, &directive_reader::read_grace},
  {control_key::user, &directive_reader::read_user},
};

caf::error directive_reader::read(const info& x) {
  const auto* i = std::find_if(std::begin(table), std::end(table),
                               [&](const entry& y) { return y.key == x.key; });
  if (i != std::end(table))
    return (this->*i->read)(x);
  if (is_cleanup(x.key) || x.key == attr::userid || x.key == attr::grpid)
    return caf::none;
  if ((x.flags & info_required) != 0)
    return make_error(status::not_supported,
                      "directive " + x.key
                        + " is required, and not known to this host; leave it "
                          "out, or do not require it");
  out_.ignored.push_back(x.key);
  return caf::none;
}

caf::error contradiction(control_verb x, control_verb y) {
  return make_error(
    status::bad_param,
    std::string{to_string(x)} + " and " + std::string{to_string(y)}
      + " contradict each other in one request; give one of them");
}

caf::error check(const control_directives& x) {
  if (x.pause && x.resume)
    return contradiction(control_verb::pause, control_verb::resume);
  if (x.pause && x.terminate)
    return contradiction(control_verb::pause, control_verb::terminate);
  if (x.pause && x.kill)
    return contradiction(control_verb::pause, control_verb::kill);
  const auto restarts = x.restart || x.in_place;
  if (restarts && x.terminate)
    return contradiction(control_verb::restart, control_verb::terminate);
  if (restarts && x.kill)
    return contradiction(control_verb::restart, control_verb::kill);
  if (x.image && !x.provision)
    return make_error(status::bad_param,
                      std::string{attr::job_ctrl_provision_image}
                        + " needs nodes: add "
                        + std::string{attr::job_ctrl_provision});
  if (!x.checkpoint_by.empty() && !x.checkpoint && !x.preempt)
    return make_error(status::bad_param,
                      "how to checkpoint is said, and not that: add "
                        + std::string{attr::job_ctrl_checkpoint});
  if (!x.cancel && !x.declares() && x.verbs().empty())
    return make_error(
      status::not_supported,
      x.ignored.empty()
        ? "the request has no directive that does something; add one"
        : "directive " + x.ignored.front()
            + " is not known to this host; leave it out");
  return caf::none;
}

} // namespace

caf::expected<control_directives>
read_directives(const std::vector<info>& directives) {
  auto result = control_directives{};
  auto reader = directive_reader{result};
  for (const auto& x : directives)
    if (auto err = reader.read(x))
      return err;
  if (auto err = check(result))
    return err;
  return result;
}

caf::expected<std::vector<checkpoint_method>> read_methods(const value& x) {
  auto result = std::vector<checkpoint_method>{};
  const auto* array = x.array();
  if (array == nullptr) {
    if (std::holds_alternative<std::monostate>(x.data))
      return result;
    return make_error(status::bad_param,
                      std::string{attr::job_ctrl_checkpoint_method}
                        + " needs an array of infos");
  }
  const auto infos = infos_of(x);
  if (infos.size() != array->elements.size())
    return make_error(status::bad_param,
                      std::string{attr::job_ctrl_checkpoint_method}
                        + " needs an array of infos");
  for (const auto& method : infos) {
    auto err = caf::error{};
    if (method.key == attr::job_ctrl_checkpoint_event)
      err = directive_reader::add_event(method, result);
    else if (method.key == attr::job_ctrl_checkpoint_signal)
      err = directive_reader::add_signal(method, result);
    else
      err = make_error(status::bad_param,
                       method.key
                         + " is no method of checkpointing; give "
                           "PMIX_JOB_CTRL_CHECKPOINT_EVENT or _SIGNAL");
    if (err)
      return err;
  }
  return result;
}

bool is_cleanup(std::string_view key) {
  constexpr std::string_view keys[] = {
    attr::register_cleanup,  attr::register_cleanup_dir,
    attr::cleanup_recursive, attr::cleanup_empty,
    attr::cleanup_ignore,    attr::cleanup_leave_topdir};
  return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

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
  add(restart || in_place, control_verb::restart);
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
      text += (restart ? " " + *restart : "")
              + std::string{in_place ? " in place" : ""};
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
