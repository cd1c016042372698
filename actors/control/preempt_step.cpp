#include "actors/control/checkpoint_steps.hpp"
#include "actors/control/control_steps.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace troupe {

namespace {

info make_info(std::string_view key, value x) {
  return {std::string{key}, 0, std::move(x)};
}

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

} // namespace

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
      return make_error(status::not_supported,
                        "job " + nspace + " has not declared that it can be "
                          + "preempted (PMIX_JOB_CTRL_PREEMPTIBLE)");
    if (state->ending.count(nspace) > 0)
      return make_error(status::resource_busy,
                        "job " + nspace + " is being preempted already");
  }
  if (order.targets.whole.empty())
    return make_error(status::bad_param, "there is no job to preempt");
  if (action == "checkpoint")
    // Whatever is wrong with it is said before anybody is alerted.
    if (auto probe = make_checkpoint_step(means, order, state); !probe)
      return probe;
  return std::shared_ptr<control_step>{
    std::make_shared<preempt_step>(means, order, state)};
}

} // namespace troupe
