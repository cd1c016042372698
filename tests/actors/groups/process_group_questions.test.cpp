// Random logs of groups: what always holds, whoever fails and whatever handlers
// say.

#include "tests/fixtures/group_log.hpp"
#include "tests/test.hpp"

#include <random>
#include <set>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

/// A log drawn from a seed, and what must hold after each entry.
class random_log {
public:
  explicit random_log(uint32_t seed, bool invites)
    : random_(seed), invites_(invites), size_(2 + draw(5)), log_(named()),
      other_(named()) {
    // nop
  }

  void run() {
    begin();
    for (auto i = draw(40); i > 0; --i)
      step();
    check_questions_end();
    check_it_ends();
  }

private:
  using group_question = process_group::question;

  uint32_t draw(size_t n) {
    return static_cast<uint32_t>(random_() % n);
  }

  bool toss() {
    return draw(2) == 0;
  }

  std::vector<proc_id> named() const {
    auto result = std::vector<proc_id>{};
    for (uint32_t i = 0; i < size_; ++i)
      result.push_back({"job", i});
    return result;
  }

  /// Anybody, now and then a stranger.
  proc_id anybody() {
    return {"job", draw(size_ + 2)};
  }

  std::vector<info> wishes() {
    auto result = std::vector<info>{};
    if (draw(3) == 0)
      result.push_back(group_log::yes(attr::group_leader));
    if (draw(3) == 0)
      result.push_back(group_log::yes(attr::group_optional));
    if (draw(4) == 0)
      result.push_back({std::string{attr::group_add_members}, 0,
                        value::procs({anybody(), anybody()})});
    if (draw(10) == 0)
      result.push_back(group_log::yes(group_keys::abort));
    return result;
  }

  // -- entries
  // --------------------------------------------------------------------

  void begin() {
    if (!invites_)
      return;
    auto all = named();
    if (draw(4) == 0)
      all.erase(all.begin());
    apply(group_notice{
      {"job", 0},
      {status::group_invited, data_range::custom, {group_log::custom(all)}}});
  }

  void step() {
    switch (draw(8)) {
      case 0:
        return apply(group_procs_ended{{{anybody(), proc_state::terminated}}});
      case 1:
      case 2:
        return answer();
      case 3:
        return apply(
          group_time_up{group_operation::construct,
                        log_.round_of(1 + draw(log_.questions.size() + 2))});
      case 4:
        return apply(calls());
      case 5:
        return apply(data());
      case 6:
        return apply(group_departure{anybody()});
      default:
        return apply(notice());
    }
  }

  void answer() {
    auto what = group_verdicts{};
    for (auto i = 1 + draw(3); i > 0; --i)
      what.verdicts.push_back(
        {anybody(), log_.round_of(1 + draw(log_.questions.size() + 1)),
         draw(12) == 0 ? status::group_construct_abort
                       : status::action_complete,
         wishes()});
    apply(std::move(what));
  }

  group_step calls() {
    auto what = group_calls{};
    what.operation =
      draw(4) == 0 ? group_operation::destruct : group_operation::construct;
    // A group by invitation is not constructed.
    if (invites_)
      what.operation = group_operation::destruct;
    auto directives = std::vector<info>{};
    if (draw(4) == 0)
      directives.push_back(group_log::yes(attr::group_leader));
    if (draw(8) == 0)
      directives.push_back(group_log::yes(attr::group_ft_collective));
    if (draw(8) == 0)
      directives.push_back(group_log::yes(attr::group_notify_termination));
    what.callers.push_back({anybody(), directives, {}});
    what.callers.push_back({anybody(), {}, {}});
    return what;
  }

  group_step data() {
    auto what = group_data{};
    for (const auto& proc : log_.group.live_participants())
      if (toss())
        what.procs.push_back({proc, {}});
    return what;
  }

  group_step notice() {
    static constexpr status codes[] = {status::group_invite_accepted,
                                       status::group_invite_accepted,
                                       status::group_invite_accepted,
                                       status::group_invite_declined,
                                       status::group_construct_complete,
                                       status::group_construct_abort,
                                       status::group_leader_selected,
                                       status::group_left,
                                       status::group_invited};
    const auto code = codes[draw(std::size(codes))];
    auto source = anybody();
    const auto leaders = log_.group.leaders();
    if (!leaders.empty() && toss())
      source = leaders.front();
    return group_notice{
      source,
      {code, data_range::custom, {group_log::custom({anybody(), anybody()})}}};
  }

  // -- what must hold
  // -------------------------------------------------------------

  void apply(group_step what) {
    if (const auto* x = std::get_if<group_procs_ended>(&what))
      for (const auto& y : x->procs)
        if (log_.group.is_participant(y.proc))
          ended_.insert(y.proc);
    const auto words = log_.apply(what);
    // Another node that has the same log: the same effects and state.
    CAF_REQUIRE_EQUAL(other_.apply(std::move(what)), words);
    CAF_REQUIRE_EQUAL(caf::deep_to_string(log_.group.describe()),
                      caf::deep_to_string(other_.group.describe()));
    check_effects();
  }

  void check_effects() {
    const auto& out = log_.out;
    for (const auto& x : out.questions)
      check_question(x);
    for (const auto& x : out.events)
      check_event(x);
    for (const auto& x : out.outcomes) {
      // Each operation comes to one end.
      CAF_REQUIRE(decided_.insert(x.operation).second);
      if (x.result)
        for (const auto& proc : x.result->members)
          CAF_REQUIRE_EQUAL(ended_.count(proc), 0u);
    }
  }

  void check_question(const group_question& x) {
    CAF_REQUIRE(rounds_.insert(x.round).second);
    CAF_REQUIRE(!x.what.targets.empty());
    check_targets(x.what);
    if (x.what.what.code != status::group_leader_failed)
      return;
    const auto& leader =
      *find(x.what.what.infos, attr::event_affected_proc)->proc();
    // GRP-2: once per leader.
    CAF_REQUIRE(failed_leaders_.insert(leader).second);
    CAF_REQUIRE_EQUAL(ended_.count(leader), 1u);
  }

  void check_event(const deliver_event& x) {
    check_targets(x);
    if (x.what.code != status::group_leader_selected
        || !x.what.source.nspace.empty())
      return;
    // GRP-1: no leader without a failure, and one at most.
    CAF_REQUIRE(++elections_ <= failed_leaders_.size());
    const auto* winner = find(x.what.infos, attr::group_leader);
    CAF_REQUIRE_EQUAL(winner == nullptr,
                      find(x.what.infos, group_keys::status) != nullptr);
    if (winner)
      CAF_REQUIRE_EQUAL(ended_.count(*winner->proc()), 0u);
  }

  void check_targets(const deliver_event& x) {
    for (const auto& proc : x.targets)
      CAF_REQUIRE_EQUAL(ended_.count(proc), 0u);
    CAF_REQUIRE_EQUAL(*find(x.what.infos, attr::group_id)->text(), "group");
  }

  bool asks() const {
    return std::any_of(
      log_.questions.begin(), log_.questions.end(),
      [&](const auto& x) { return !log_.group.asked(x.round).empty(); });
  }

  /// Whatever is open ends when its time is up, and nothing new is asked for
  /// ever.
  void check_questions_end() {
    for (auto turns = 0; asks(); ++turns) {
      CAF_REQUIRE(turns < 64);
      for (size_t i = 0; i < log_.questions.size(); ++i)
        if (const auto round = log_.questions[i].round;
            !log_.group.asked(round).empty())
          apply(group_time_up{group_operation::construct, round});
    }
  }

  /// When all have ended, nothing is left.
  void check_it_ends() {
    for (uint32_t i = 0; i < size_ + 2; ++i)
      apply(group_procs_ended{{{{"job", i}, proc_state::terminated}}});
    CAF_REQUIRE(!asks());
    CAF_REQUIRE(log_.group.live_participants().empty());
    CAF_REQUIRE(log_.group.is_over());
  }

  std::mt19937 random_;
  bool invites_;
  uint32_t size_;
  group_log log_;
  group_log other_;
  std::set<proc_id> ended_;
  std::set<proc_id> failed_leaders_;
  std::set<group_operation> decided_;
  std::set<uint64_t> rounds_;
  size_t elections_ = 0;
};

} // namespace

CAF_TEST(GRP-1 GRP-2 GRP-4 random constructions hold the same on all nodes and end) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    CAF_MESSAGE("seed " << seed);
    random_log{seed, false}.run();
  }
}

CAF_TEST(GRP-1 GRP-2 GRP-4 random invitations hold the same on all nodes and end) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    CAF_MESSAGE("seed " << seed);
    random_log{seed, true}.run();
  }
}
