#include "actors/mesh/host/log_desk.hpp"

#include "actors/mesh/host/defaults.hpp"
#include "actors/mesh/host/mesh_report.hpp"
#include "base/all_of.hpp"
#include "base/may_act_for.hpp"
#include "base/report_values.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <variant>

namespace troupe {

namespace {

/// Operations and events that a node tells of if nobody says how many.
constexpr size_t usual_traces = 20;

/// The longest text that sets levels.
constexpr size_t max_level_words = 1024;

value step_report(const trace_ring& from, const trace_record& x) {
  auto result = std::vector<info>{
    report_number("at", static_cast<uint64_t>(x.at)),
    report_text("step", text_of(x.step)), report_text("text", from.text_of(x))};
  if (x.nspace != 0)
    result.push_back(report_text("proc", from.proc_of(x)));
  else if (has_node(x.step))
    result.push_back(report_number("node", x.rank));
  switch (x.step) {
    case trace_step::answered:
    case trace_step::outcome_sent:
    case trace_step::outcome_received:
    case trace_step::stable:
      result.push_back(report_text(
        "status", x.code == status::success ? "success" : to_string(x.code)));
      break;
    case trace_step::placed:
      result.push_back(report_number("place", x.detail));
      break;
    default:
      break;
  }
  return value::infos(std::move(result));
}

/// One of the latest: when it began and what was last.
value summary_report(const trace_ring& from,
                     const std::vector<trace_record>& steps) {
  auto result = std::vector<info>{
    report_text("id", from.text_of(steps.front().id)),
    report_number("first", static_cast<uint64_t>(steps.front().at)),
    report_number("last", static_cast<uint64_t>(steps.back().at)),
    report_number("steps", steps.size()),
    report_text("step", text_of(steps.back().step))};
  for (const auto& x : steps)
    if (x.step == trace_step::answered || x.step == trace_step::stable) {
      result.push_back(report_text(
        "status", x.code == status::success ? "success" : to_string(x.code)));
      break;
    }
  return value::infos(std::move(result));
}

/// Leaves out what is in the middle of very many steps.
/// @returns how many.
size_t shorten(std::vector<trace_record>& steps, size_t most) {
  if (steps.size() <= most)
    return 0;
  const auto result = steps.size() - most;
  const auto begin = steps.begin() + static_cast<ptrdiff_t>(most / 2);
  steps.erase(begin, begin + static_cast<ptrdiff_t>(result));
  return result;
}

caf::error set(log_levels& to, const std::string& words) {
  if (words.size() > max_level_words)
    return make_error(status::bad_param, "levels of the log take at most "
                                           + std::to_string(max_level_words)
                                           + " letters; write fewer");
  return to.set(words);
}

/// What a request for control sets levels to; null: it sets none.
const std::string* words_in(const job_control_request& x) {
  const auto* found = find(x.directives, log_levels_key);
  return found != nullptr ? found->text() : nullptr;
}

} // namespace

bool is_log_question(const ask_root& what) {
  if (const auto* x = std::get_if<job_control_request>(&what.what))
    return log_desk::sets_levels(*x);
  const auto* x = std::get_if<query_request>(&what.what);
  return x != nullptr && x->queries.size() == 1
         && x->queries.front().keys.size() == 1
         && log_desk::knows(x->queries.front().keys.front());
}

log_desk::log_desk(settings config, host_calls& calls)
  : config_(std::move(config)), calls_(calls) {
  // nop
}

bool log_desk::sets_levels(const job_control_request& x) {
  return x.targets.empty() && words_in(x) != nullptr;
}

caf::error log_desk::refusal_of(const requester& who) const {
  const auto owner = config_.owner.value_or(who.creds.uid);
  if (may_act_for(who, owner))
    return {};
  return make_error(status::no_permissions,
                    "this DVM is another user's: " + std::to_string(owner)
                      + "; ask as that user");
}

/// What of `most` this node may tell.
size_t log_desk::part_of(size_t most) const {
  const auto nodes = std::max<size_t>(calls_.live().size(), 1);
  return std::min(most, std::max(max_traced_by_all / nodes, min_traced));
}

// -- this node --

std::vector<info> log_desk::own_item() const {
  return {report_number("rank", config_.rank),
          report_text("name", config_.hostname)};
}

value log_desk::levels_here() const {
  auto result = own_item();
  auto levels = std::vector<info>{};
  for (size_t i = 0; config_.levels && i < log_subject_count; ++i) {
    const auto x = static_cast<log_subject>(i);
    levels.push_back(report_text(text_of(x), text_of(config_.levels->of(x))));
  }
  result.push_back(make_info("levels", value::infos(std::move(levels))));
  return value::infos(std::move(result));
}

value log_desk::trace_here(const query& what) const {
  auto result = own_item();
  const auto name = text(what.qualifiers, trace_name_key);
  if (!config_.trace) {
    result.push_back(report_text("trouble", "this node remembers no steps"));
  } else if (name) {
    auto steps = std::vector<trace_record>{};
    if (const auto id = read_trace_id(*name))
      steps = config_.trace->steps_of(*id);
    if (const auto omitted = shorten(steps, part_of(max_traced_steps)))
      result.push_back(report_number("omitted", omitted));
    result.push_back(
      make_info("steps", report_list(steps, [this](const auto& x) {
                  return step_report(*config_.trace, x);
                })));
  } else {
    const auto most =
      number<uint32_t>(what.qualifiers, trace_count_key).value_or(usual_traces);
    const auto found =
      config_.trace->latest(std::min<size_t>(most, part_of(max_traces)));
    result.push_back(
      make_info("latest", report_list(found, [this](const auto& x) {
                  return summary_report(*config_.trace, x);
                })));
  }
  return value::infos(std::move(result));
}

void log_desk::answer_here(const ask_root& what, completion<info_result> done) {
  if (auto why = refusal_of(what.who)) {
    done(std::move(why));
    return;
  }
  auto result = info_result{};
  const auto add = [&](std::string_view key, value x) {
    result.infos.push_back(make_info(key, std::move(x)));
  };
  if (const auto* x = std::get_if<job_control_request>(&what.what)) {
    if (!config_.levels) {
      done(make_error(status::not_supported,
                      "this node has no levels; name a DVM of troupe up"));
      return;
    }
    if (auto why = set(*config_.levels, *words_in(*x))) {
      done(std::move(why));
      return;
    }
    add(log_levels_key, levels_here());
  } else {
    const auto& question = std::get<query_request>(what.what).queries.front();
    if (question.keys.front() == trace_key)
      add(trace_key, trace_here(question));
    else
      add(log_levels_key, levels_here());
  }
  done(std::move(result));
}

// -- all nodes --

/// Asks each node, and makes one list of their answers, by rank.
void log_desk::ask_all(const requester& who, std::string_view key,
                       rooted_request what, std::function<void(info)> done) {
  using by_node = std::map<uint32_t, value>;
  const auto all =
    all_of<by_node>{{}, [key, done = std::move(done)](by_node& found) {
                      auto items = std::vector<value>{};
                      for (auto& [rank, x] : found)
                        items.push_back(std::move(x));
                      done(make_info(key, report_list(std::move(items))));
                    }};
  for (const auto rank : calls_.live()) {
    all.add();
    calls_.ask_for<info_result>(
      rank, ask_root{who, what},
      [all, rank, key](caf::expected<info_result> x) {
        const auto* found = x ? find(x->infos, key) : nullptr;
        (*all)[rank] = found != nullptr
                         ? *found
                         : silent_report(rank, x ? "it does not know"
                                                 : reason_of(x.error()));
        all.done();
      },
      defaults::net_wait * 2);
  }
  all.done();
}

void log_desk::answer(const requester& who, const std::vector<query>& what,
                      std::function<void(std::vector<info>)> done) {
  const auto all = all_of<std::vector<info>>{
    {}, [done = std::move(done)](std::vector<info>& x) { done(std::move(x)); }};
  // Whoever may not ask is told nothing.
  if (!refusal_of(who))
    for (const auto& x : what) {
      const auto keys = std::set<std::string>{x.keys.begin(), x.keys.end()};
      for (const auto& key : keys) {
        all.add();
        ask_all(who, key == trace_key ? trace_key : log_levels_key,
                query_request{{query{{key}, x.qualifiers}}}, [all](info x) {
                  all->push_back(std::move(x));
                  all.done();
                });
      }
    }
  all.done();
}

void log_desk::set_levels(const requester& who, const job_control_request& what,
                          completion<info_result> done) {
  auto why = refusal_of(who);
  auto unused = log_levels{};
  if (!why)
    why = set(unused, *words_in(what));
  if (why) {
    done(std::move(why));
    return;
  }
  ask_all(who, log_levels_key, what, [done = std::move(done)](info x) {
    auto result = info_result{};
    result.infos.push_back(std::move(x));
    done(std::move(result));
  });
}

// -- steps of collective operations --

trace_id log_desk::name_of(const mesh_collective_id& x) const {
  return config_.trace->collective(x.kind, x.procs, x.generation);
}

void log_desk::note_sent(uint32_t to, const host_question& what) {
  if (!config_.trace)
    return;
  if (const auto* x = std::get_if<collective_part>(&what))
    config_.trace->note_node(
      name_of(x->id),
      x->is_question ? trace_step::question_sent : trace_step::part_sent, to);
  else if (const auto* y = std::get_if<collective_outcome>(&what))
    config_.trace->note_node(name_of(y->id), trace_step::outcome_sent, to,
                             y->code);
}

void log_desk::note_received(uint32_t from, const collective_part& what) {
  if (config_.trace)
    config_.trace->note_node(name_of(what.id),
                             what.is_question ? trace_step::question_received
                                              : trace_step::part_received,
                             from);
}

void log_desk::note_received(uint32_t from, const collective_outcome& what) {
  if (config_.trace)
    config_.trace->note_node(name_of(what.id), trace_step::outcome_received,
                             from, what.code);
}

} // namespace troupe
