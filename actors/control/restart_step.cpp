#include "actors/control/checkpoint_steps.hpp"
#include "actors/control/control_steps.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

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
                     {std::string{attr::nspace}, 0, value::string(x->nspace)});
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
      return make_error(status::bad_param, "checkpoint " + from.id
                                             + " is of job " + from.nspace
                                             + ", not of " + x.nspace);
    if (x.rank == rank_wildcard)
      return std::set<uint32_t>{};
    result.insert(x.rank);
  }
  return result;
}

} // namespace

caf::expected<std::shared_ptr<control_step>>
make_restart_step(const control_means& means, const control_order& order,
                  const checkpoint_state_ptr& state) {
  const auto id = order.directives.restart.value_or("");
  const auto* from = state->records.find(order.who.creds.uid, id);
  if (from == nullptr)
    return make_error(status::not_found,
                      "no checkpoint \"" + id + "\" of yours was completed");
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
                          + " is being restarted or preempted already");
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

} // namespace troupe
