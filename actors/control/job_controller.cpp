#include "actors/control/job_controller.hpp"

#include "actors/control/control_steps.hpp"
#include "base/make_info.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <utility>

namespace troupe {

namespace {

control_result refused(const caf::error& why) {
  auto result = control_result{};
  result.code = status_of(why);
  result.reason = reason_of(why);
  return result;
}

void append(std::vector<proc_id>& to, std::vector<proc_id> from) {
  for (auto& x : from)
    if (std::find(to.begin(), to.end(), x) == to.end())
      to.push_back(std::move(x));
}

/// Adds what a step has come to.
void add(control_result& to, control_result from) {
  to.reached = std::max(to.reached, from.reached);
  append(to.absent, std::move(from.absent));
  append(to.missing, std::move(from.missing));
  std::move(from.infos.begin(), from.infos.end(), std::back_inserter(to.infos));
  if (from.code == status::success)
    return;
  to.code = from.code;
  to.reason = std::move(from.reason);
}

control_owner owner_of(const requester& who) {
  return {who.proc, who.creds.uid};
}

/// The requests of somebody, or of its user; root may see to everybody's.
control_scope scope_of(const control_owner& owner, bool of_user) {
  auto result = control_scope{};
  if (!of_user)
    result.owner = owner;
  else if (owner.uid != 0)
    result.uid = owner.uid;
  return result;
}

} // namespace

/// A request on its way.
struct active_request {
  control_order order;

  /// The first is under way.
  std::deque<std::shared_ptr<control_step>> steps;

  /// What those before it have come to.
  control_result result;
  job_controller::completion done;
};

struct job_controller::state : std::enable_shared_from_this<state> {
  state(control_means m, control_limits bounds)
    : means(std::move(m)), limits(bounds), table(bounds) {
    // nop
  }

  control_means means;
  control_limits limits;
  control_table table;
  std::map<control_verb, control_step_maker> makers;
  declaration_handler declare;
  std::map<uint64_t, active_request> active;

  /// Process sets that requests have defined.
  std::map<std::string, std::vector<proc_id>> sets;

  // -- steps -----------------------------------------------------------------

  void run_next(uint64_t number) {
    const auto i = active.find(number);
    if (i == active.end())
      return;
    if (i->second.steps.empty()) {
      finish(number);
      return;
    }
    const auto step = i->second.steps.front();
    step->begin(
      [weak = weak_from_this(), number, step = step.get()](control_result x) {
        if (const auto self = weak.lock())
          self->note_done(number, step, std::move(x));
      });
  }

  void note_done(uint64_t number, const control_step* step, control_result x) {
    const auto i = active.find(number);
    if (i == active.end() || i->second.steps.empty()
        || i->second.steps.front().get() != step)
      return;
    auto& request = i->second;
    const auto goes_on =
      x.code == status::success || x.code == status::partial_success;
    add(request.result, std::move(x));
    if (goes_on)
      request.steps.pop_front();
    else
      request.steps.clear();
    run_next(number);
  }

  void finish(uint64_t number) {
    auto node = active.extract(number);
    if (node.empty())
      return;
    auto& request = node.mapped();
    auto& result = request.result;
    append(result.absent, request.order.targets.absent);
    if (result.code == status::success && !result.absent.empty()) {
      result.code = status::partial_success;
      if (result.reason.empty())
        result.reason = to_string(result.absent.front())
                        + (result.absent.size() > 1 ? " and others do not run"
                                                    : " does not run");
    }
    const auto& directives = request.order.directives;
    if (!directives.ignored.empty()) {
      auto keys = std::vector<value>{};
      for (const auto& x : directives.ignored)
        keys.push_back(value::string(x));
      result.infos.push_back(
        make_info(control_key::ignored,
                  value::array(data_type::string, std::move(keys))));
    }
    // The record says the id by itself.
    table.close(number, result, means.now());
    if (directives.id)
      result.infos.push_back(
        make_info(attr::job_ctrl_id, value::string(*directives.id)));
    request.done(std::move(result));
  }

  /// Ends a request before its time.
  void give_up(uint64_t number, status code, const std::string& why) {
    const auto i = active.find(number);
    if (i == active.end())
      return;
    auto& request = i->second;
    if (!request.steps.empty()) {
      const auto step = request.steps.front();
      request.steps.clear();
      add(request.result, step->cancel());
    }
    request.result.code = code;
    request.result.reason = why;
    finish(number);
  }

  /// Calls `f` with the step under way of each request.
  template <class F>
  void for_each_step(F f) {
    auto steps = std::vector<std::shared_ptr<control_step>>{};
    for (const auto& [number, x] : active)
      if (!x.steps.empty())
        steps.push_back(x.steps.front());
    for (const auto& x : steps)
      f(*x);
  }

  // -- requests --------------------------------------------------------------

  /// Whether a request is one to end the DVM.
  bool is_halt(const requester& who, const job_control_request& what,
               const control_directives& x) const {
    return what.targets.empty() && (x.kill || x.terminate)
           && !means.lookup.job(who.proc.nspace);
  }

  /// Works out what a request does, and to whom; nothing is done yet.
  caf::error plan(const job_control_request& what, active_request& request) {
    auto& order = request.order;
    const auto& directives = order.directives;
    const auto verbs = directives.verbs();
    if (directives.declares() && !declare)
      return make_error(
        status::not_supported,
        "this host keeps no methods of checkpointing; leave them out");
    if (verbs.empty())
      return caf::none;
    for (const auto x : verbs)
      if (makers.count(x) == 0)
        return make_error(status::not_supported,
                          "to " + std::string{to_string(x)}
                            + " is not supported by this host; leave it out");
    order.named = what.targets;
    const auto needs_targets =
      std::any_of(verbs.begin(), verbs.end(), [&](control_verb x) {
        return x == control_verb::restart ? directives.in_place
                                          : x != control_verb::provision;
      });
    if (needs_targets) {
      auto targets =
        resolve_targets(order.who, order.node, what.targets, means.lookup);
      if (!targets)
        return std::move(targets.error());
      order.targets = std::move(*targets);
    }
    for (const auto x : verbs) {
      auto step = makers[x](means, order);
      if (!step)
        return std::move(step.error());
      request.steps.push_back(std::move(*step));
    }
    return caf::none;
  }

  caf::error begin(const job_control_request& what, active_request& request) {
    const auto& directives = request.order.directives;
    const auto owner = owner_of(request.order.who);
    if (auto err = plan(what, request))
      return err;
    auto cancelled = std::vector<uint64_t>{};
    if (directives.cancel) {
      auto found = table.find_outstanding(scope_of(owner, directives.of_user),
                                          directives.cancel->id);
      if (!found)
        return std::move(found.error());
      cancelled = std::move(*found);
    }
    const auto number =
      table.open(owner, directives.id, directives.summary(), means.now());
    if (!number)
      return number.error();
    if (directives.declares())
      if (auto err = declare(request.order.who, directives)) {
        table.close(*number, refused(err), means.now());
        return err;
      }
    for (const auto x : cancelled)
      give_up(x, status::job_canceled, "cancelled by its requester");
    if (directives.cancel)
      request.result.infos.push_back(
        make_info(control_key::cancelled, value::size(cancelled.size())));
    const auto timeout = directives.timeout;
    active.emplace(*number, std::move(request));
    if (timeout)
      means.call_later(
        *timeout, [weak = weak_from_this(), number = *number, timeout] {
          const auto seconds =
            std::chrono::duration_cast<std::chrono::seconds>(*timeout).count();
          if (const auto self = weak.lock())
            self->give_up(number, status::timeout,
                          "given up after " + std::to_string(seconds)
                            + " s, as asked");
        });
    run_next(*number);
    return caf::none;
  }
};

job_controller::job_controller(control_means means, control_limits bounds)
  : state_(std::make_shared<state>(std::move(means), bounds)) {
  auto& own = state_->means;
  own.lookup.set =
    [weak = std::weak_ptr{state_}, other = own.lookup.set](
      const std::string& name) -> std::optional<std::vector<proc_id>> {
    if (const auto self = weak.lock())
      if (const auto i = self->sets.find(name); i != self->sets.end())
        return i->second;
    return other ? other(name) : std::nullopt;
  };
  if (own.define_set)
    own.define_set = [weak = std::weak_ptr{state_}, define = own.define_set](
                       const define_process_set& what,
                       control_means::completion<ack> then) {
      const auto self = weak.lock();
      if (self == nullptr)
        return;
      if (self->sets.size() >= defaults::process_sets
          && self->sets.count(what.name) == 0) {
        then(make_error(status::out_of_resource,
                        "more than " + std::to_string(defaults::process_sets)
                          + " process sets; end jobs that have some"));
        return;
      }
      define(what, [weak, what, then = std::move(then)](caf::expected<ack> x) {
        const auto self = weak.lock();
        if (x && self != nullptr)
          self->sets[what.name] = what.members;
        then(std::move(x));
      });
    };
  const auto acts = [](control_action action) {
    return [action](const control_means& x, const control_order& y) {
      return make_act_step(x, y, action);
    };
  };
  const auto ends = [](control_action action) {
    return [action](const control_means& x, const control_order& y) {
      return make_end_step(x, y, action);
    };
  };
  offer(control_verb::signal, acts(control_action::signal));
  offer(control_verb::pause, acts(control_action::pause));
  offer(control_verb::resume, acts(control_action::resume));
  offer(control_verb::terminate, ends(control_action::terminate));
  offer(control_verb::kill, ends(control_action::kill));
  offer(control_verb::define_set, make_set_step);
}

job_controller::~job_controller() = default;

void job_controller::offer(control_verb what, control_step_maker maker) {
  state_->makers[what] = std::move(maker);
}

void job_controller::take_declarations(declaration_handler handler) {
  state_->declare = std::move(handler);
}

bool job_controller::listens_to(status code) {
  return code == status::jctrl_checkpoint_complete;
}

void job_controller::request(const requester& who, uint32_t node,
                             const job_control_request& what, completion done) {
  auto directives = read_directives(what.directives);
  if (!directives) {
    done(refused(directives.error()));
    return;
  }
  if (state_->is_halt(who, what, *directives)) {
    const auto err = state_->means.halt(who);
    done(err ? refused(err) : control_result{});
    return;
  }
  auto request = active_request{};
  request.order.who = who;
  request.order.node = node;
  request.order.directives = std::move(*directives);
  request.done = done;
  if (const auto err = state_->begin(what, request))
    done(refused(err));
}

void job_controller::hear(const event& what) {
  state_->for_each_step([&](control_step& x) { x.hear(what); });
}

void job_controller::procs_ended(const std::vector<proc_id>& procs) {
  state_->for_each_step([&](control_step& x) { x.procs_ended(procs); });
}

void job_controller::job_over(const std::string& nspace) {
  state_->for_each_step([&](control_step& x) { x.job_over(nspace); });
  const auto is_gone = [&](const proc_id& x) {
    return x.nspace == nspace || !state_->means.lookup.job(x.nspace);
  };
  auto& sets = state_->sets;
  for (auto i = sets.begin(); i != sets.end();)
    if (std::all_of(i->second.begin(), i->second.end(), is_gone))
      i = sets.erase(i);
    else
      ++i;
}

caf::expected<value>
job_controller::describe(const requester& who,
                         const std::optional<std::string>& id, bool of_user) {
  const auto whose = scope_of(owner_of(who), of_user);
  for (const auto& [number, x] : state_->active) {
    auto so_far = x.result;
    if (!x.steps.empty())
      add(so_far, x.steps.front()->progress());
    state_->table.note(number, std::move(so_far));
  }
  const auto found = state_->table.list(whose, id, state_->means.now());
  if (id && found.empty())
    return make_error(
      status::not_found,
      "request \"" + *id + "\" of " + to_string(who.proc)
        + " is not known; troupe ctl status lists those that are");
  auto items = std::vector<info>{};
  for (const auto* x : found)
    items.push_back(
      make_info("item", value::infos(control_table::describe(*x))));
  return value::infos(std::move(items));
}

std::vector<gauge> job_controller::gauges() const {
  return {
    {"control.requests", state_->table.outstanding(), state_->limits.all,
     "requests"},
    {"control.outcomes", state_->table.remembered(), state_->limits.remembered,
     "requests"},
    {"control.sets", state_->sets.size(), defaults::process_sets, "sets"}};
}

} // namespace troupe
