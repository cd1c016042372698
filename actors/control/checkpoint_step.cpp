#include "actors/control/checkpoint_round.hpp"
#include "actors/control/checkpoint_steps.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

constexpr auto ended = "ended before the checkpoint was complete";

/// As a rule because of the one before.
constexpr auto ended_then = "ended then, too";

info make_info(std::string_view key, value x) {
  return {std::string{key}, 0, std::move(x)};
}

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
                              + std::to_string(x->exit_status) + ": "
                              + first_line(x->output));
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
    if (result.code == status::success)
      keep();
    done(result);
  }

  void keep() {
    auto x = checkpoint{};
    x.id = id_;
    x.nspace = round_.saved().begin()->nspace;
    x.job = job_;
    for (const auto& proc : round_.saved())
      x.ranks.insert(proc.rank);
    x.is_by_hook = !plan_.by_hook.empty();
    const auto forgotten = state_->records.add(std::move(x));
    if (!forgotten.empty() && means_.log)
      means_.log(severity::warning,
                 "checkpoint " + forgotten + " is forgotten: no more than "
                   + std::to_string(defaults::checkpoints_kept) + " are kept");
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
                          + " or " + x.nspace);
    if (state->busy.count(x) > 0)
      return make_error(status::resource_busy,
                        to_string(x) + " is saving its state already");
  }
  auto plan = checkpoint_round::make_plan(
    procs, order.directives.checkpoint_by, state->declared,
    means.has_hook && means.has_hook(site_hook::checkpoint));
  if (!plan)
    return std::move(plan.error());
  auto job = means.record(procs.front().nspace);
  if (job == nullptr)
    return make_error(status::not_found, "no job " + procs.front().nspace);
  return std::shared_ptr<control_step>{std::make_shared<checkpoint_step>(
    means, order, state, std::move(*plan), std::move(job))};
}

} // namespace troupe
