#include "actors/groups/group_keys.hpp"
#include "actors/groups/group_wish.hpp"
#include "actors/groups/process_group.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// Questions of a group that are open at once; what fails beyond that, nobody
/// is asked about.
constexpr size_t max_questions = 64;

} // namespace

void process_group::ask(topic about, const proc_id& subject, status code,
                        const proc_id& source, std::vector<proc_id> targets,
                        std::vector<info> infos, effects& out) {
  const auto is_gone = [&](const proc_id& x) {
    const auto* who = find(x);
    return who == nullptr || !is_concerned(*who);
  };
  targets.erase(std::remove_if(targets.begin(), targets.end(), is_gone),
                targets.end());
  if (inquiries_.size() >= max_questions)
    targets.clear();
  const auto round = next_round_++;
  auto& x = inquiries_[round];
  x.about = about;
  x.subject = subject;
  x.asked = {targets.begin(), targets.end()};
  if (targets.empty())
    return;
  if (troupe::find(infos, attr::event_affected_proc) == nullptr)
    infos.push_back(
      {std::string{attr::event_affected_proc}, 0, value::of_proc(subject)});
  infos.push_back(
    {std::string{attr::event_non_default}, 0, value::boolean(true)});
  infos.push_back({std::string{group_keys::round}, 0, value::uint64(round)});
  out.questions.push_back(
    {round, make_event(code, source, std::move(targets), std::move(infos))});
}

void process_group::take(const group_verdicts& what, effects&) {
  for (const auto& x : what.verdicts) {
    const auto i = inquiries_.find(x.round);
    if (i == inquiries_.end() || i->second.asked.erase(x.proc) == 0)
      continue;
    i->second.verdicts.push_back(x);
    i->second.aborts |= wish_of(x, i->second.subject).aborts;
  }
}

void process_group::question_time_up(uint64_t round, effects&) {
  const auto i = inquiries_.find(round);
  if (i != inquiries_.end())
    i->second.asked.clear();
}

void process_group::stop_asking(const proc_id& proc, effects&) {
  election_.candidates.erase(proc);
  for (auto& [round, x] : inquiries_) {
    if (x.asked.erase(proc) != 0)
      continue;
    auto& verdicts = x.verdicts;
    verdicts.erase(
      std::remove_if(verdicts.begin(), verdicts.end(),
                     [&](const group_verdict& y) { return y.proc == proc; }),
      verdicts.end());
  }
}

void process_group::settle(effects& out) {
  const auto is_settled = [&](const auto& x) {
    return x.second.asked.empty() || (x.second.aborts && is_undecided());
  };
  while (phase_ != group_phase::over) {
    const auto i =
      std::find_if(inquiries_.begin(), inquiries_.end(), is_settled);
    if (i == inquiries_.end())
      break;
    const auto x = std::move(i->second);
    inquiries_.erase(i);
    if (x.about == topic::leader_failed)
      count_votes(x, out);
    else
      rule(x, out);
  }
  if (phase_ == group_phase::over) {
    inquiries_.clear();
    election_ = {};
  } else if (phase_ == group_phase::constructing) {
    check_complete(out);
  }
  conclude_invitation(out);
}

void process_group::rule(const inquiry& x, effects& out) {
  using kind = group_ruling::kind;
  if (phase_ != group_phase::constructing)
    return;
  auto ruling = rule_on(x.verdicts, x.subject);
  if (ruling.what == kind::nothing && is_electing()) {
    election_.waiting.push_back(x.subject);
    return;
  }
  if (ruling.what == kind::replaces)
    ruling.what = replace(x.subject, *ruling.by, ruling.replacements, out);
  if (ruling.what == kind::nothing && (is_optional_ || is_fault_tolerant_))
    ruling.what = kind::goes_on;
  switch (ruling.what) {
    case kind::replaces:
      break;
    case kind::goes_on:
      is_reduced_ = true;
      break;
    case kind::nothing:
      abort(status::group_construct_abort,
            to_string(x.subject) + " has ended before it joined", out);
      break;
    case kind::aborts:
      abort(status::group_construct_abort,
            to_string(*ruling.by) + " wants no group without "
              + to_string(x.subject),
            out);
      break;
  }
}

group_ruling::kind process_group::replace(const proc_id& failed,
                                          const proc_id& by,
                                          const std::vector<proc_id>& with,
                                          effects& out) {
  using kind = group_ruling::kind;
  const auto is_in = [&](const proc_id& x) { return is_participant(x); };
  const auto some_are_in = std::any_of(with.begin(), with.end(), is_in);
  auto chosen = add_all(with, out);
  if (chosen.empty())
    return some_are_in || construct_ ? kind::goes_on : kind::nothing;
  note_invited(chosen);
  replacements_.emplace_back(failed, chosen);
  auto infos = invitation_infos();
  infos.push_back(
    {std::string{attr::group_membership}, 0, value::procs(current_array())});
  infos.push_back(
    {std::string{attr::event_non_default}, 0, value::boolean(true)});
  raise(status::group_invited, by, std::move(chosen), std::move(infos), out);
  return kind::replaces;
}

} // namespace troupe
