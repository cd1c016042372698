#include "actors/control/checkpoint_desk.hpp"

#include "actors/control/checkpoint_round.hpp"
#include "actors/control/control_steps.hpp"
#include "actors/control/defaults.hpp"
#include "base/make_info.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace troupe {

namespace defaults {

/// How long processes may take to save their state if the request does not say.
inline constexpr auto checkpoint_patience = std::chrono::hours{1};

/// The longest times that one may ask for.
inline constexpr auto checkpoint_patience_max = std::chrono::hours{24 * 366};

/// Bytes of the name of a checkpoint.
inline constexpr size_t checkpoint_id_bytes = 255;

} // namespace defaults

namespace {

constexpr auto ended = "ended before the checkpoint was complete";

/// As a rule because of the one before.
constexpr auto ended_then = "ended then, too";

/// The first line of what a hook has written, for a message.
std::string first_line(const std::string& output) {
  return output.substr(0, std::min(output.find('\n'), size_t{200}));
}

class checkpoint_step : public control_step {
public:
  checkpoint_step(const control_means& means, const control_order& order,
                  checkpoint_state_ptr state, checkpoint_round::plan plan,
                  std::shared_ptr<const recorded_job> job)
    : means_(means), state_(std::move(state)), plan_(std::move(plan)),
      id_(*order.directives.checkpoint),
      patience_(std::min<control_means::time>(
        order.directives.checkpoint_timeout.value_or(
          defaults::checkpoint_patience),
        defaults::checkpoint_patience_max)),
      job_(std::move(job)), round_("checkpoint " + id_, order.targets.procs()) {
    for (const auto& x : order.targets.shares)
      for (const auto rank : x.ranks)
        nodes_[{x.nspace, rank}] = x.node;
    for (const auto& [proc, node] : nodes_)
      state_->busy.insert(proc);
  }

  ~checkpoint_step() override {
    release();
  }

  void begin(completion done) override {
    done_ = std::move(done);
    means_.call_later(patience_, guard([this] { finish(); }));
    // An answer may come at once: nothing is over before all are asked.
    is_asking_ = true;
    for (const auto& [signal, procs] : plan_.by_signal)
      ask_by_signal(signal, procs);
    for (const auto& [code, procs] : plan_.by_event)
      ask_by_event(code, procs);
    for (const auto& proc : plan_.by_hook)
      ask_by_hook(proc);
    is_asking_ = false;
    check();
  }

  control_result cancel() override {
    done_ = nullptr;
    release();
    return progress();
  }

  control_result progress() const override {
    auto result = round_.result();
    result.code = status::success;
    result.reason.clear();
    return result;
  }

  void hear(const event& what) override {
    if (what.code != status::jctrl_checkpoint_complete)
      return;
    // Whoever says which one it means another one than ours.
    const auto id = text(what.infos, attr::job_ctrl_checkpoint);
    if (id && *id != id_)
      return;
    if (round_.complete(what.source))
      check();
  }

  /// That it is done, and its end, come on different ways: whoever saves its
  /// state and ends at once may be heard of in any order.
  void procs_ended(const std::vector<proc_id>& procs) override {
    auto ours = std::vector<proc_id>{};
    for (const auto& x : procs)
      if (round_.waiting().count(x) > 0)
        ours.push_back(x);
    if (ours.empty())
      return;
    const auto* why = std::exchange(has_lost_, true) ? ended_then : ended;
    means_.call_later(defaults::lost_connection_wait,
                      guard([this, ours, why] { fail_all(ours, why); }));
  }

private:
  void fail_all(const std::vector<proc_id>& procs, const std::string& why) {
    for (const auto& x : procs)
      round_.fail(x, why);
    check();
  }

  void ask_by_signal(int32_t signal, const std::vector<proc_id>& procs) {
    auto by_node = std::map<uint32_t, control_procs>{};
    for (const auto& x : procs) {
      auto& what = by_node[nodes_.at(x)];
      what.nspace = x.nspace;
      what.ranks.push_back(x.rank);
      what.action = control_action::signal;
      what.signal = signal;
    }
    for (const auto& [node, what] : by_node)
      means_.act(
        node, what,
        guard([this, asked = what](const caf::expected<procs_controlled>& x) {
          auto left = std::vector<proc_id>{};
          for (const auto rank : asked.ranks)
            if (!x
                || std::find(x->ranks.begin(), x->ranks.end(), rank)
                     == x->ranks.end())
              left.push_back({asked.nspace, rank});
          fail_all(left, x ? ended : "not asked: " + reason_of(x.error()));
        }));
  }

  /// Who has declared the event hears it whatever handlers it has; others only
  /// by one for this very code.
  void ask_by_event(status code, const std::vector<proc_id>& procs) {
    auto declared = std::vector<proc_id>{};
    auto others = std::vector<proc_id>{};
    for (const auto& x : procs) {
      const auto* own = state_->declared.find(x);
      const auto has_declared =
        own != nullptr
        && std::any_of(own->begin(), own->end(), [code](const auto& method) {
             return method.event == code;
           });
      (has_declared ? declared : others).push_back(x);
    }
    raise(code, std::move(declared), false);
    raise(code, std::move(others), true);
  }

  void raise(status code, std::vector<proc_id> procs, bool is_non_default) {
    if (procs.empty())
      return;
    auto what = event{};
    what.code = code;
    what.source = {"", rank_undef};
    what.range = data_range::custom;
    what.infos = {make_info(attr::job_ctrl_checkpoint, value::string(id_))};
    if (is_non_default)
      what.infos.push_back(
        make_info(attr::event_non_default, value::boolean(true)));
    means_.raise(what, procs, guard([this, procs](const caf::expected<ack>& x) {
                   if (!x && status_of(x.error()) != status::partial_success)
                     fail_all(procs, "not asked: " + reason_of(x.error()));
                 }));
  }

  void ask_by_hook(const proc_id& proc) {
    auto what = run_site_hook{};
    what.hook = site_hook::checkpoint;
    what.proc = proc;
    what.arguments = {id_};
    what.environment = {checkpoint_variable(id_)};
    means_.run_hook(
      nodes_.at(proc), std::move(what),
      guard([this, proc](const caf::expected<site_hook_result>& x) {
        if (!x)
          round_.fail(proc, "not saved by the hook: " + reason_of(x.error()));
        else if (x->exit_status != 0)
          round_.fail(proc, "not saved by the hook, which ended with status "
                              + std::to_string(x->exit_status)
                              + "; see its output: " + first_line(x->output));
        else
          round_.complete(proc);
        check();
      }));
  }

  void check() {
    if (!is_asking_ && round_.is_over())
      finish();
  }

  void finish() {
    const auto done = std::exchange(done_, nullptr);
    if (!done)
      return;
    release();
    const auto result = round_.result();
    if (result.code != status::success) {
      done(result);
      return;
    }
    keep();
    if (means_.keep)
      answer_when_kept(done, result);
    else
      done(result);
  }

  /// Who is told that it is complete may end the DVM. A disk may hang, though,
  /// and this DVM can start from it in any case.
  void answer_when_kept(const completion& done, const control_result& result) {
    const auto owed = std::make_shared<completion>(done);
    const auto answer = [owed, result] {
      if (const auto x = std::exchange(*owed, nullptr))
        x(result);
    };
    means_.keep(state_->records.save(), answer);
    if (*owed)
      means_.call_later(defaults::checkpoint_keep_time, [owed, answer, id = id_,
                                                         log = means_.log] {
        if (*owed && log)
          log(severity::warning,
              "checkpoint " + id
                + " is not on disk yet: this DVM can start from it, and "
                  "another one perhaps not; see the disk of --checkpoints");
        answer();
      });
  }

  void keep() {
    auto x = checkpoint{};
    x.id = id_;
    x.nspace = round_.saved().begin()->nspace;
    x.job = job_;
    for (const auto& proc : round_.saved())
      x.ranks.insert(proc.rank);
    x.is_by_hook = !plan_.by_hook.empty();
    for (const auto& forgotten : state_->records.add(std::move(x)))
      if (means_.log)
        means_.log(severity::warning,
                   "checkpoint " + forgotten + " is forgotten: no more than "
                     + std::to_string(defaults::checkpoints_kept) + ", and "
                     + std::to_string(defaults::checkpoints_bytes >> 20)
                     + " MiB of them, are kept");
  }

  void release() {
    for (const auto& [proc, node] : std::exchange(nodes_, {}))
      state_->busy.erase(proc);
  }

  const control_means& means_;
  checkpoint_state_ptr state_;
  checkpoint_round::plan plan_;
  std::string id_;
  control_means::time patience_;
  std::shared_ptr<const recorded_job> job_;
  checkpoint_round round_;
  std::map<proc_id, uint32_t> nodes_;
  bool is_asking_ = false;
  bool has_lost_ = false;
  completion done_;
};

class preempt_step : public control_step {
public:
  preempt_step(const control_means& means, control_order order,
               checkpoint_state_ptr state)
    : means_(means), order_(std::move(order)), state_(std::move(state)),
      grace_(order_.directives.grace.value_or(defaults::preempt_grace)) {
    for (const auto& nspace : order_.targets.whole)
      state_->ending.insert(nspace);
  }

  ~preempt_step() override {
    for (const auto& nspace : order_.targets.whole)
      state_->ending.erase(nspace);
  }

  void begin(completion done) override {
    done_ = std::move(done);
    for (const auto& nspace : order_.targets.whole)
      for (auto& x : means_.connected(nspace))
        waiting_.insert(std::move(x));
    if (waiting_.empty()) {
      // Nobody can hear of it.
      act();
      return;
    }
    means_.call_later(grace_, guard([this] { act(); }));
    alert();
  }

  control_result cancel() override {
    done_ = nullptr;
    is_acting_ = true;
    return inner_ != nullptr ? std::exchange(inner_, nullptr)->cancel()
                             : control_result{};
  }

  control_result progress() const override {
    return inner_ != nullptr ? inner_->progress() : control_result{};
  }

  void hear(const event& what) override {
    if (inner_ != nullptr) {
      const auto alive = inner_;
      alive->hear(what);
    } else if (what.code == status::jctrl_checkpoint_complete
               && waiting_.erase(what.source) > 0 && waiting_.empty()) {
      act();
    }
  }

  void procs_ended(const std::vector<proc_id>& procs) override {
    const auto alive = inner_;
    if (alive != nullptr) {
      alive->procs_ended(procs);
      return;
    }
    auto is_ours = false;
    for (const auto& x : procs) {
      is_ours |= waiting_.erase(x) > 0;
      forget(x);
    }
    if (is_ours && waiting_.empty())
      act();
  }

  void job_over(const std::string& nspace) override {
    const auto alive = inner_;
    if (alive != nullptr) {
      alive->job_over(nspace);
      return;
    }
    auto& targets = order_.targets;
    auto& whole = targets.whole;
    whole.erase(std::remove(whole.begin(), whole.end(), nspace), whole.end());
    state_->ending.erase(nspace);
    auto& shares = targets.shares;
    shares.erase(
      std::remove_if(shares.begin(), shares.end(),
                     [&](const auto& x) { return x.nspace == nspace; }),
      shares.end());
    if (whole.empty())
      act();
  }

private:
  void forget(const proc_id& proc) {
    for (auto& x : order_.targets.shares)
      if (x.nspace == proc.nspace)
        x.ranks.erase(std::remove(x.ranks.begin(), x.ranks.end(), proc.rank),
                      x.ranks.end());
  }

  /// Only those who asked for that very code hear it.
  void alert() {
    auto what = event{};
    what.code = status::jctrl_preempt_alert;
    what.source = {"", rank_undef};
    what.range = data_range::custom;
    const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(grace_).count();
    what.infos = {
      make_info(control_key::preempt,
                value::string(*order_.directives.preempt)),
      make_info(control_key::grace, value::uint32(static_cast<uint32_t>(ms))),
      make_info(attr::timeout,
                value::integer(static_cast<int32_t>((ms + 999) / 1000))),
      make_info(attr::event_non_default, value::boolean(true))};
    // Source: PMIx Standard v5, PMIX_EVENT_TERMINATE_JOB, _ACTION_TIMEOUT.
    if (*order_.directives.preempt != "pause") {
      what.infos.push_back(
        make_info(attr::event_terminate_job, value::boolean(true)));
      what.infos.push_back(
        make_info(attr::event_action_timeout,
                  value::integer(static_cast<int32_t>((ms + 999) / 1000))));
    }
    means_.raise(what, {waiting_.begin(), waiting_.end()},
                 [](const caf::expected<ack>&) {
                   // Whoever does not hear it has its time all the same.
                 });
  }

  void act() {
    if (std::exchange(is_acting_, true))
      return;
    silent_ = std::exchange(waiting_, {});
    // What follows has a grace of its own.
    order_.directives.grace.reset();
    const auto& action = *order_.directives.preempt;
    if (order_.targets.whole.empty() || order_.targets.size() == 0) {
      // It has ended by itself.
      finish({});
    } else if (action == "pause") {
      run(make_act_step(means_, order_, control_action::pause));
    } else if (action == "checkpoint") {
      run(make_checkpoint_step(means_, order_, state_),
          [this](const control_result& x) {
            saved_ = x;
            run(make_end_step(means_, order_, control_action::kill));
          });
    } else {
      run(make_end_step(means_, order_,
                        action == "kill" ? control_action::kill
                                         : control_action::terminate));
    }
  }

  void run(caf::expected<std::shared_ptr<control_step>> step,
           std::function<void(const control_result&)> then = nullptr) {
    if (!step) {
      auto result = control_result{};
      result.code = status_of(step.error());
      result.reason = reason_of(step.error());
      finish(std::move(result));
      return;
    }
    inner_ = std::move(*step);
    inner_->begin(guard([this, then = std::move(then)](control_result x) {
      // It may be running now: it goes when it has returned.
      const auto old = std::exchange(inner_, nullptr);
      if (x.code == status::success && then)
        then(x);
      else
        finish(std::move(x));
    }));
  }

  void finish(control_result x) {
    std::move(saved_.infos.begin(), saved_.infos.end(),
              std::back_inserter(x.infos));
    if (!silent_.empty())
      x.infos.push_back(make_info(
        preempt_silent_key, value::procs({silent_.begin(), silent_.end()})));
    if (const auto done = std::exchange(done_, nullptr))
      done(std::move(x));
  }

  const control_means& means_;
  control_order order_;
  checkpoint_state_ptr state_;
  control_means::time grace_;
  std::set<proc_id> waiting_;
  std::set<proc_id> silent_;
  std::shared_ptr<control_step> inner_;
  control_result saved_;
  bool is_acting_ = false;
  completion done_;
};

bool is_action(const std::string& x) {
  return x == "pause" || x == "kill" || x == "terminate" || x == "checkpoint";
}

class restart_step : public control_step {
public:
  restart_step(const control_means& means, control_order order,
               checkpoint_state_ptr state, std::string id, uint32_t owner,
               spawn_request request)
    : means_(means), order_(std::move(order)), state_(std::move(state)),
      id_(std::move(id)), owner_(owner), request_(std::move(request)) {
    for (const auto& nspace : order_.targets.whole)
      state_->ending.insert(nspace);
  }

  ~restart_step() override {
    for (const auto& nspace : order_.targets.whole)
      state_->ending.erase(nspace);
  }

  void begin(completion done) override {
    done_ = std::move(done);
    if (order_.targets.shares.empty() && order_.targets.whole.empty()) {
      start();
      return;
    }
    auto step = make_end_step(means_, order_, control_action::kill);
    if (!step) {
      finish(step.error());
      return;
    }
    ending_ = std::move(*step);
    ending_->begin(guard([this](const control_result& x) {
      const auto old = std::exchange(ending_, nullptr);
      // Who had ended before is no hindrance.
      if (x.missing.empty())
        start();
      else
        finish(make_error(x.code, x.reason));
    }));
  }

  /// A job that is being started is not given up: its answer is.
  control_result cancel() override {
    done_ = nullptr;
    is_cancelled_ = true;
    const auto old = std::exchange(ending_, nullptr);
    return old != nullptr ? old->cancel() : control_result{};
  }

  void hear(const event& what) override {
    if (const auto alive = ending_)
      alive->hear(what);
  }

  void procs_ended(const std::vector<proc_id>& procs) override {
    if (const auto alive = ending_)
      alive->procs_ended(procs);
  }

  void job_over(const std::string& nspace) override {
    if (const auto alive = ending_)
      alive->job_over(nspace);
  }

private:
  void start() {
    if (is_cancelled_)
      return;
    auto who = order_.who;
    // Its own user's, whoever asks.
    who.creds.uid = owner_;
    const auto size = request_.apps.size();
    means_.spawn(who, std::move(request_),
                 guard([this, size](const caf::expected<spawn_result>& x) {
                   if (!x) {
                     finish(x.error());
                     return;
                   }
                   state_->records.restarted(owner_, id_, x->nspace);
                   auto result = control_result{};
                   result.reached = size;
                   result.infos.push_back(
                     make_info(attr::nspace, value::string(x->nspace)));
                   if (const auto done = std::exchange(done_, nullptr))
                     done(std::move(result));
                 }));
  }

  void finish(const caf::error& why) {
    auto result = control_result{};
    result.code = status_of(why);
    result.reason = "checkpoint " + id_ + ": " + reason_of(why);
    if (const auto done = std::exchange(done_, nullptr))
      done(std::move(result));
  }

  const control_means& means_;
  control_order order_;
  checkpoint_state_ptr state_;
  std::string id_;
  uint32_t owner_;
  spawn_request request_;
  std::shared_ptr<control_step> ending_;
  bool is_cancelled_ = false;
  completion done_;
};

/// The ranks that are meant; none: all.
caf::expected<std::set<uint32_t>>
read_ranks(const checkpoint& from, const std::vector<proc_id>& named) {
  auto result = std::set<uint32_t>{};
  for (const auto& x : named) {
    if (x.nspace != from.nspace && x.nspace != from.latest)
      return make_error(status::bad_param,
                        "checkpoint " + from.id + " is of job " + from.nspace
                          + ", not of " + x.nspace + "; name one of that job");
    if (x.rank == rank_wildcard)
      return std::set<uint32_t>{};
    result.insert(x.rank);
  }
  return result;
}

class provision_step : public control_step {
public:
  provision_step(const control_means& means, const control_order& order)
    : means_(means), nodes_(*order.directives.provision),
      image_(order.directives.image.value_or("")) {
    // nop
  }

  void begin(completion done) override {
    auto what = run_site_hook{};
    what.hook = site_hook::provision;
    what.arguments = {nodes_};
    if (!image_.empty())
      what.arguments.push_back(image_);
    what.environment = {std::string{provision_nodes_variable} + "=" + nodes_,
                        std::string{provision_image_variable} + "=" + image_};
    means_.run_hook(
      0, std::move(what),
      guard([this,
             done = std::move(done)](const caf::expected<site_hook_result>& x) {
        auto result = control_result{};
        if (!x) {
          result.code = status_of(x.error());
          result.reason = "nodes " + nodes_ + ": " + reason_of(x.error());
        } else if (x->exit_status != 0) {
          const auto end = std::min(x->output.find('\n'), size_t{200});
          result.code = status::error;
          result.reason = "nodes " + nodes_
                          + ": the site's hook for provision ended with status "
                          + std::to_string(x->exit_status) + ": "
                          + x->output.substr(0, end);
        }
        done(std::move(result));
      }));
  }

  control_result cancel() override {
    return {};
  }

private:
  const control_means& means_;
  std::string nodes_;
  std::string image_;
};

} // namespace

caf::expected<std::shared_ptr<control_step>>
make_checkpoint_step(const control_means& means, const control_order& order,
                     const checkpoint_state_ptr& state) {
  const auto id = order.directives.checkpoint.value_or("");
  if (id.empty() || id.size() > defaults::checkpoint_id_bytes)
    return make_error(status::bad_param,
                      "give the checkpoint a name of 1 to "
                        + std::to_string(defaults::checkpoint_id_bytes)
                        + " bytes (PMIX_JOB_CTRL_CHECKPOINT)");
  const auto procs = order.targets.procs();
  for (const auto& x : procs) {
    if (x.nspace != procs.front().nspace)
      return make_error(status::bad_param,
                        "a checkpoint is of one job: " + procs.front().nspace
                          + " or " + x.nspace + "; ask for each by itself");
    if (state->busy.count(x) > 0)
      return make_error(status::resource_busy,
                        to_string(x)
                          + " is saving its state already; wait until it has");
  }
  auto plan = checkpoint_round::make_plan(
    procs, order.directives.checkpoint_by, state->declared,
    means.has_hook && means.has_hook(site_hook::checkpoint));
  if (!plan)
    return std::move(plan.error());
  auto job = means.record(procs.front().nspace);
  if (job == nullptr)
    return make_error(status::not_found,
                      "no job " + procs.front().nspace
                        + "; troupe jobs lists those there are");
  return std::shared_ptr<control_step>{std::make_shared<checkpoint_step>(
    means, order, state, std::move(*plan), std::move(job))};
}

caf::expected<std::shared_ptr<control_step>>
make_preempt_step(const control_means& means, const control_order& order,
                  const checkpoint_state_ptr& state) {
  const auto action = order.directives.preempt.value_or("");
  if (!is_action(action))
    return make_error(status::bad_param,
                      "\"" + action + "\" follows no preemption; it is pause, "
                        + "terminate, kill or checkpoint");
  for (const auto& x : order.targets.shares)
    if (!order.targets.has_whole(x.nspace))
      return make_error(status::bad_param,
                        "job " + x.nspace
                          + " is preempted as a whole: name all its ranks by "
                            "the wildcard");
  for (const auto& nspace : order.targets.whole) {
    if (!state->declared.is_preemptible(nspace))
      return make_error(
        status::not_supported,
        "job " + nspace + " has not declared that it can be "
          + "preempted (PMIX_JOB_CTRL_PREEMPTIBLE); pause or end it instead");
    if (state->ending.count(nspace) > 0)
      return make_error(
        status::resource_busy,
        "job " + nspace
          + " is being preempted already; wait, or cancel that request");
  }
  if (order.targets.whole.empty())
    return make_error(status::bad_param,
                      "there is no job to preempt; name one");
  if (action == "checkpoint")
    // Whatever is wrong with it is said before anybody is alerted.
    if (auto probe = make_checkpoint_step(means, order, state); !probe)
      return probe;
  return std::shared_ptr<control_step>{
    std::make_shared<preempt_step>(means, order, state)};
}

namespace {

/// Why the targets cannot be started again where they run, if so.
caf::error refuse_in_place(const control_means& means,
                           const control_order& order,
                           const checkpoint_state& state) {
  const auto& id = order.directives.restart;
  const auto* from =
    id ? state.records.find(order.who.creds.uid, *id) : nullptr;
  if (id && from == nullptr)
    return make_error(
      status::not_found,
      "no checkpoint \"" + *id
        + "\" of yours was completed; make one by troupe ctl checkpoint");
  if (from != nullptr && from->is_by_hook)
    return make_error(status::not_supported,
                      "checkpoint " + *id
                        + " was taken by the site's hook: it starts a new job; "
                          "leave out --in-place");
  for (const auto& x : order.targets.shares) {
    const auto job = means.record(x.nspace);
    if (job == nullptr || !job->restarts_in_place)
      return make_error(status::not_supported,
                        "processes of job " + x.nspace
                          + " cannot be started again where they run: start "
                            "it with --max-restarts (PMIX_MAX_RESTARTS)");
    if (state.ending.count(x.nspace) > 0)
      return make_error(status::resource_busy,
                        "job " + x.nspace
                          + " is being restarted or preempted already; wait, "
                            "or cancel that request");
    if (from == nullptr)
      continue;
    // One of an earlier DVM is of a job that may have had the same name.
    if (job != from->job && x.nspace != from->latest)
      return make_error(status::bad_param,
                        "checkpoint " + *id + " is of job " + from->nspace
                          + (x.nspace == from->nspace ? " of an earlier DVM"
                                                      : ", not of " + x.nspace)
                          + "; leave out --in-place");
    for (const auto rank : x.ranks)
      if (from->ranks.count(rank) == 0)
        return make_error(status::not_found,
                          "checkpoint " + *id + " has no state of "
                            + to_string(proc_id{x.nspace, rank})
                            + "; restart those it has, or the whole job");
  }
  return caf::none;
}

} // namespace

caf::expected<std::shared_ptr<control_step>>
make_restart_step(const control_means& means, const control_order& order,
                  const checkpoint_state_ptr& state) {
  if (order.directives.in_place) {
    if (auto why = refuse_in_place(means, order, *state))
      return why;
    return make_act_step(means, order, control_action::restart);
  }
  const auto id = order.directives.restart.value_or("");
  const auto* from = state->records.find(order.who.creds.uid, id);
  if (from == nullptr)
    return make_error(
      status::not_found,
      "no checkpoint \"" + id
        + "\" of yours was completed; make one by troupe ctl checkpoint");
  auto ranks = read_ranks(*from, order.named);
  if (!ranks)
    return std::move(ranks.error());
  auto request = make_restart(*from, *ranks, means.restart_command);
  if (!request)
    return std::move(request.error());
  // What of it still runs ends first.
  auto own = order;
  own.targets = {};
  if (const auto job = means.lookup.job(from->latest)) {
    const auto is_part =
      !ranks->empty() && ranks->size() < from->job->hosts.size();
    if (is_part && !from->job->is_recoverable)
      return make_error(status::bad_param,
                        "ranks of job " + from->latest
                          + " do not end without it: restart all of it, or run "
                            "it as recoverable");
    if (state->ending.count(from->latest) > 0)
      return make_error(status::resource_busy,
                        "job " + from->latest
                          + " is being restarted or preempted already; wait, "
                            "or cancel that request");
    auto those = std::vector<proc_id>{};
    for (const auto rank : *ranks)
      those.push_back({from->latest, rank});
    if (!is_part)
      those = {{from->latest, rank_wildcard}};
    auto targets = resolve_targets(order.who, order.node, those, means.lookup);
    if (!targets)
      return std::move(targets.error());
    own.targets = std::move(*targets);
  }
  return std::shared_ptr<control_step>{
    std::make_shared<restart_step>(means, std::move(own), state, id,
                                   from->job->owner.uid, std::move(*request))};
}

caf::expected<std::shared_ptr<control_step>>
make_provision_step(const control_means& means, const control_order& order) {
  if (!means.has_hook || !means.has_hook(site_hook::provision))
    return make_error(status::not_supported,
                      "this DVM has no hook that provisions nodes; give one by "
                      "--hook to troupe up");
  if (!means.is_administrator || !means.is_administrator(order.who))
    return make_error(
      status::no_permissions,
      "only the owner of the DVM may provision its nodes; ask as that user");
  if (order.directives.provision.value_or("").empty())
    return make_error(status::bad_param,
                      "name the nodes to provision (PMIX_JOB_CTRL_PROVISION)");
  return std::shared_ptr<control_step>{
    std::make_shared<provision_step>(means, order)};
}

caf::error checkpoint_desk::restore(std::string_view kept) {
  return state_->records.load(kept);
}

void checkpoint_desk::join(job_controller& controller) {
  const auto with_state = [state = state_](auto make) {
    return [state, make](const control_means& x, const control_order& y) {
      return make(x, y, state);
    };
  };
  controller.offer(control_verb::checkpoint, with_state(make_checkpoint_step));
  controller.offer(control_verb::preempt, with_state(make_preempt_step));
  controller.offer(control_verb::restart, with_state(make_restart_step));
  controller.offer(control_verb::provision, make_provision_step);
}

caf::error checkpoint_desk::declare(const requester& who,
                                    const control_directives& what,
                                    bool is_of_job) {
  if (!is_of_job)
    return make_error(status::bad_param,
                      to_string(who.proc)
                        + " belongs to no job: only processes of jobs declare "
                          "checkpoint methods; start it in one");
  return state_->declared.declare(who.proc, what);
}

void checkpoint_desk::procs_ended(const std::vector<proc_id>& procs) {
  for (const auto& x : procs)
    state_->declared.proc_ended(x);
}

void checkpoint_desk::job_over(const std::string& nspace) {
  state_->declared.job_ended(nspace);
}

std::vector<gauge> checkpoint_desk::gauges() const {
  return {{"checkpoint.declared", state_->declared.size(),
           defaults::checkpoint_declarers, "processes"},
          {"checkpoint.kept", state_->records.size(),
           defaults::checkpoints_kept, "checkpoints"}};
}

} // namespace troupe
