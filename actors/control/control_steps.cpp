#include "actors/control/control_steps.hpp"

#include "base/all_of.hpp"
#include "config/defaults.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <set>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// How long processes that were killed may take to be gone before whoever asked
/// for it is told that they are not.
inline constexpr auto control_end_wait = 10s;

} // namespace defaults

namespace {

/// Notes of each process whether it was reached.
void note_answer(control_result& to, const control_procs& what,
                 const caf::expected<procs_controlled>& x) {
  auto reached = std::set<uint32_t>{};
  if (x)
    reached.insert(x->ranks.begin(), x->ranks.end());
  for (const auto rank : what.ranks)
    if (reached.count(rank) > 0)
      ++to.reached;
    else
      (x ? to.absent : to.missing).push_back({what.nspace, rank});
  if (!x && to.reason.empty())
    to.reason = reason_of(x.error());
}

std::string count_of(size_t n) {
  return std::to_string(n) + (n == 1 ? " process" : " processes");
}

/// What it comes to when all nodes have answered.
void conclude(control_result& x) {
  if (x.missing.empty() && x.absent.empty() && x.reached > 0)
    return;
  if (x.reached > 0)
    x.code = status::partial_success;
  else
    x.code = x.missing.empty() ? status::not_found : status::unreach;
  if (x.missing.empty())
    x.reason = x.absent.empty() ? "none of the targets runs"
                                : to_string(x.absent.front())
                                    + (x.absent.size() > 1 ? " and others" : "")
                                    + " did not run any more";
  else
    x.reason = count_of(x.missing.size())
               + " could not be reached: " + to_string(x.missing.front())
               + (x.missing.size() > 1 ? " and others" : "")
               + (x.reason.empty() ? "" : " (" + x.reason + ")");
}

// -- signal, pause, resume ---------------------------------------------------

class act_step : public control_step {
public:
  act_step(const control_means& means, const control_order& order,
           control_action action)
    : means_(means), shares_(order.targets.shares), action_(action),
      signal_(order.directives.signal.value_or(0)),
      checkpoint_(order.directives.restart.value_or("")) {
    // nop
  }

  void begin(completion done) override {
    done_ = std::move(done);
    const auto all = all_of<act_step*>{this, &act_step::finish};
    for (const auto& x : shares_) {
      all.add();
      auto what =
        control_procs{x.nspace, x.ranks, action_,
                      action_ == control_action::signal ? signal_ : 0};
      if (action_ == control_action::restart)
        what.checkpoint = checkpoint_;
      means_.act(
        x.node, what,
        guard([this, all, what](const caf::expected<procs_controlled>& x) {
          note_answer(result_, what, x);
          all.done();
        }));
    }
    all.done();
  }

  control_result cancel() override {
    return result_;
  }

  control_result progress() const override {
    return result_;
  }

private:
  void finish() {
    conclude(result_);
    done_(result_);
  }

  const control_means& means_;
  std::vector<control_share> shares_;
  control_action action_;
  int32_t signal_;
  std::string checkpoint_;
  control_result result_;
  completion done_;
};

// -- terminate, kill ---------------------------------------------------------

class end_step : public control_step {
public:
  end_step(const control_means& means, const control_order& order,
           control_action action)
    : means_(means), targets_(order.targets), action_(action),
      grace_(order.directives.grace.value_or(defaults::kill_grace)),
      who_(to_string(order.who.proc)) {
    // nop
  }

  void begin(completion done) override {
    done_ = std::move(done);
    for (const auto& x : targets_.shares)
      for (const auto rank : x.ranks)
        waiting_.insert({x.nspace, rank});
    jobs_.insert(targets_.whole.begin(), targets_.whole.end());
    if (waiting_.empty() && jobs_.empty()) {
      conclude(result_);
      done_(result_);
      return;
    }
    pending_ = 1;
    act(action_);
    for (const auto& nspace : targets_.whole)
      end(nspace);
    const auto patience = is_kill() ? control_means::time{} : grace_;
    if (!is_kill())
      means_.call_later(grace_, guard([this] { act(control_action::kill); }));
    means_.call_later(patience + defaults::control_end_wait,
                      guard([this] { give_up(); }));
    finish_one();
  }

  control_result cancel() override {
    return progress();
  }

  control_result progress() const override {
    return result_;
  }

  void procs_ended(const std::vector<proc_id>& procs) override {
    for (const auto& x : procs)
      if (waiting_.erase(x) > 0)
        ++result_.reached;
    check();
  }

  void job_over(const std::string& nspace) override {
    jobs_.erase(nspace);
    const auto first = waiting_.lower_bound({nspace, 0});
    auto last = first;
    while (last != waiting_.end() && last->nspace == nspace) {
      ++last;
      ++result_.reached;
    }
    waiting_.erase(first, last);
    check();
  }

private:
  bool is_kill() const {
    return action_ == control_action::kill;
  }

  void end(const std::string& nspace) {
    auto how = end_job{};
    how.nspace = nspace;
    how.signal = is_kill() ? SIGKILL : SIGTERM;
    how.reason = "the job was ended by " + who_;
    how.exit_status = 128 + how.signal;
    if (!is_kill())
      how.grace = std::chrono::duration_cast<std::chrono::milliseconds>(grace_);
    means_.end(how);
  }

  /// Tells those that are left, except in jobs that end as a whole.
  void act(control_action action) {
    for (const auto& x : targets_.shares) {
      if (targets_.has_whole(x.nspace))
        continue;
      auto what = control_procs{x.nspace, {}, action, 0};
      for (const auto rank : x.ranks)
        if (waiting_.count({x.nspace, rank}) > 0)
          what.ranks.push_back(rank);
      if (what.ranks.empty())
        continue;
      ++pending_;
      means_.act(x.node, what,
                 guard([this, what](const caf::expected<procs_controlled>& x) {
                   note(what, x);
                   finish_one();
                 }));
    }
  }

  /// Whoever is not there has ended before: no end of it will follow. Those of
  /// a node that is lost end with it.
  void note(const control_procs& what,
            const caf::expected<procs_controlled>& x) {
    if (!x)
      return;
    const auto reached = std::set<uint32_t>{x->ranks.begin(), x->ranks.end()};
    for (const auto rank : what.ranks)
      if (reached.count(rank) == 0 && waiting_.erase({what.nspace, rank}) > 0)
        result_.absent.push_back({what.nspace, rank});
  }

  void finish_one() {
    --pending_;
    check();
  }

  void check() {
    if (pending_ > 0 || !waiting_.empty() || !jobs_.empty() || !done_)
      return;
    conclude(result_);
    std::exchange(done_, nullptr)(result_);
  }

  void give_up() {
    result_.missing.assign(waiting_.begin(), waiting_.end());
    result_.code = status::timeout;
    result_.reason = waiting_.empty()
                       ? "what job " + *jobs_.begin() + " left is not gone yet"
                       : count_of(waiting_.size()) + " did not end although "
                           + (waiting_.size() > 1 ? "they were" : "it was")
                           + " killed: " + to_string(*waiting_.begin());
    if (done_)
      std::exchange(done_, nullptr)(result_);
  }

  const control_means& means_;
  control_targets targets_;
  control_action action_;
  control_means::time grace_;
  std::string who_;
  std::set<proc_id> waiting_;
  std::set<std::string> jobs_;
  size_t pending_ = 0;
  control_result result_;
  completion done_;
};

// -- process sets ------------------------------------------------------------

class set_step : public control_step {
public:
  set_step(const control_means& means, const control_order& order)
    : means_(means), what_{*order.directives.define_set,
                           order.targets.procs()} {
    // nop
  }

  void begin(completion done) override {
    const auto size = what_.members.size();
    means_.define_set(
      what_, guard([done = std::move(done), size](const caf::expected<ack>& x) {
        auto result = control_result{};
        if (x) {
          result.reached = size;
        } else {
          result.code = status_of(x.error());
          result.reason = reason_of(x.error());
        }
        done(std::move(result));
      }));
  }

  control_result cancel() override {
    return {};
  }

private:
  const control_means& means_;
  define_process_set what_;
};

} // namespace

caf::expected<std::shared_ptr<control_step>>
make_act_step(const control_means& means, const control_order& order,
              control_action action) {
  return std::shared_ptr<control_step>{
    std::make_shared<act_step>(means, order, action)};
}

caf::expected<std::shared_ptr<control_step>>
make_end_step(const control_means& means, const control_order& order,
              control_action action) {
  return std::shared_ptr<control_step>{
    std::make_shared<end_step>(means, order, action)};
}

caf::expected<std::shared_ptr<control_step>>
make_set_step(const control_means& means, const control_order& order) {
  if (!means.define_set)
    return make_error(status::not_supported,
                      "process sets are not defined by requests here; give "
                      "--pset to troupe run");
  return std::shared_ptr<control_step>{
    std::make_shared<set_step>(means, order)};
}

} // namespace troupe
