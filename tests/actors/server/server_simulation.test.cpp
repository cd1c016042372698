// A server and many processes in an order drawn from a seed: they connect, join
// fences over overlapping sets, commit, get, lose their connections and die,
// while the host holds answers back or refuses and time-outs fire. Whatever the
// order:
//   COLL-1  a call is answered once, an operation reaches the host at most
//   once, COLL-2  all participants of a generation get the same result, COLL-3
//   a fence succeeds only if all its participants called it, COLL-4  when all
//   is quiet, no operation is left, COLL-5  a stranger's call is refused and
//   changes nothing,
// and every request is answered.

#include "messages/attributes.hpp"
#include "tests/fixtures/node.hpp"
#include "tests/fixtures/seeded.hpp"
#include "tests/test.hpp"

#include <algorithm>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

using procs = std::vector<proc_id>;

/// A set of processes over which there are fences.
struct fence_set {
  procs members;

  /// How callers may name it.
  std::vector<procs> names;
};

/// One call of a fence.
struct fence_call {
  pending<ack> result;
  bool has_timeout = false;
};

struct process {
  proc_id id;
  peer_ptr connection;

  /// Whether it has died or lost its connection.
  bool is_gone = false;

  /// By set, the calls in their order; the last one may be on its way.
  std::vector<std::vector<fence_call>> calls;

  /// How often it committed, and how many of these were answered.
  std::vector<pending<ack>> commits;

  bool is_connected() const {
    return !is_gone && connection && connection->code == status::success;
  }
};

/// One get, and what it may find.
struct get_call {
  pending<get_result> result;
  size_t target;

  /// Commits that the target knew to be done when the get began.
  size_t at_least;
};

std::string key_of_commits = "count";

class simulation : public seeded {
public:
  explicit simulation(uint32_t seed) : seeded(seed), uut(*this) {
    consume_messages();
    running_at_start = sys.registry().running();
    const auto sizes = std::vector<uint32_t>{3, 2, 4};
    is_wide = draw(2) == 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const auto nspace = std::string(1, static_cast<char>('a' + i));
      auto job = register_nspace{};
      job.nspace = nspace;
      job.owner = {our_uid, our_uid};
      for (uint32_t rank = 0; rank < sizes[i]; ++rank)
        job.local_ranks.push_back(rank);
      job.infos = {
        with(attr::job_size, value::uint32(sizes[i] + (is_wide ? 1 : 0)))};
      uut.tell<ack>(std::move(job));
      nspaces.push_back(nspace);
      for (uint32_t rank = 0; rank < sizes[i]; ++rank)
        processes.push_back({{nspace, rank}, nullptr, false, {}, {}});
    }
    consume_messages();
    make_sets();
    for (auto& x : processes)
      x.calls.resize(sets.size());
  }

  void run() {
    for (auto rounds = 100 + draw(200); rounds > 0; --rounds) {
      act();
      step(draw(8));
    }
    calm_down();
    check_fences();
    check_gets();
    end();
  }

private:
  // -- the world --------------------------------------------------------------

  procs whole(const std::string& nspace) const {
    procs result;
    for (const auto& x : processes)
      if (x.id.nspace == nspace)
        result.push_back(x.id);
    return result;
  }

  void make_sets() {
    const auto a = whole("a");
    const auto b = whole("b");
    const auto c = whole("c");
    auto a_and_b = a;
    a_and_b.insert(a_and_b.end(), b.begin(), b.end());
    const auto every = [](const char* nspace) {
      return proc_id{nspace, rank_wildcard};
    };
    // All of a job, with the rank that is on another node if it has one.
    const auto all = [this](procs x) {
      if (is_wide)
        x.push_back({x.front().nspace, static_cast<uint32_t>(x.size())});
      return x;
    };
    auto b_and_a = all(a);
    b_and_a.push_back(every("b"));
    sets = {
      {a, {{every("a")}, all(a)}},
      {b, {{every("b")}, all(b)}},
      {c, {{every("c")}, all(c)}},
      {{a[0], a[1]}, {{a[0], a[1]}, {a[1], a[0], a[1]}}},
      {{a[1], a[2]}, {{a[2], a[1]}}},
      {{c[0], c[2]}, {{c[0], c[2]}, {c[2], c[0]}}},
      {{a[2], c[3]}, {{c[3], a[2]}}},
      {a_and_b, {{every("a"), every("b")}, b_and_a}},
    };
  }

  bool is_member(size_t set, const proc_id& proc) const {
    const auto& members = sets[set].members;
    return std::find(members.begin(), members.end(), proc) != members.end();
  }

  process& any() {
    return processes[draw(processes.size())];
  }

  // -- what processes do ------------------------------------------------------

  void act() {
    auto& x = any();
    switch (draw(32)) {
      default:
        if (!x.is_gone && !x.connection)
          x.connection = uut.connect(x.id.nspace, x.id.rank);
        else if (x.is_connected())
          join(x, draw(sets.size()), draw(8) == 0);
        break;
      case 0:
      case 1:
      case 2:
        if (x.is_connected())
          commit(x);
        break;
      case 3:
      case 4:
      case 5:
        if (x.is_connected())
          get(x);
        break;
      case 6:
        if (x.is_connected())
          intrude(x);
        break;
      case 7:
        if (draw(4) == 0)
          die(x);
        break;
      case 8:
        if (x.is_connected() && draw(4) == 0) {
          x.is_gone = true;
          uut.lose(x.connection);
        }
        break;
      case 9:
        uut.host_play->holds = draw(2) == 0;
        break;
      case 10:
      case 11:
        uut.host_play->release();
        break;
      case 12:
        uut.host_play->collectives =
          draw(4) == 0 ? status::not_supported : status::success;
        break;
    }
  }

  void join(process& x, size_t set, bool has_timeout) {
    auto& calls = x.calls[set];
    if (!is_member(set, x.id)
        || (!calls.empty() && calls.back().result->is_pending()))
      return;
    std::vector<info> directives;
    if (has_timeout)
      directives.push_back(
        with(attr::timeout, value::integer(static_cast<int32_t>(1 + draw(5)))));
    const auto& names = sets[set].names;
    calls.push_back({uut.fence(x.connection, names[draw(names.size())],
                               std::move(directives)),
                     has_timeout});
  }

  /// Calls what it is no member of.
  void intrude(const process& x) {
    const auto set = draw(sets.size());
    if (!is_member(set, x.id))
      refused.push_back(uut.fence(x.connection, sets[set].names.front()));
    refused.push_back(uut.fence(x.connection, {x.id, {"nowhere", 0}}));
    refused.push_back(uut.fence(x.connection, {x.id, {"b", 77}}));
  }

  void commit(process& x) {
    if (!x.commits.empty() && x.commits.back()->is_pending())
      return;
    const auto count = std::to_string(x.commits.size() + 1);
    x.commits.push_back(
      uut.commit(x.connection, {post(scope::global, key_of_commits, count)}));
  }

  void get(const process& x) {
    const auto target = draw(processes.size());
    size_t done = 0;
    for (const auto& commit : processes[target].commits)
      done += commit->code == status::success ? 1 : 0;
    std::vector<info> directives;
    const auto kind = draw(3);
    if (kind == 0)
      directives.push_back(with(attr::immediate));
    else if (kind == 1)
      directives.push_back(with(attr::timeout, value::integer(3)));
    gets.push_back({uut.get(x.connection, processes[target].id, key_of_commits,
                            std::move(directives)),
                    target, done});
  }

  void die(process& x) {
    if (x.is_gone)
      return;
    x.is_gone = true;
    if (x.connection && x.connection->session)
      uut.lose(x.connection);
    uut.end_process(x.id);
  }

  // -- how it ends ------------------------------------------------------------

  /// No more faults: who lives connects and catches up with the others. From
  /// here on no time passes.
  void calm_down() {
    uut.host_play->holds = false;
    uut.host_play->collectives = status::success;
    uut.host_play->release();
    consume_messages();
    for (auto& x : processes) {
      // Only now do we know that it will not be back.
      if (x.is_gone)
        uut.end_process(x.id);
      else if (!x.is_connected())
        x.connection = uut.connect(x.id.nspace, x.id.rank);
    }
    consume_messages();
    for (auto again = true; again;) {
      again = false;
      for (size_t set = 0; set < sets.size(); ++set)
        for (auto& x : processes)
          if (x.is_connected() && is_member(set, x.id)
              && x.calls[set].size() < generations(set)
              && (x.calls[set].empty()
                  || !x.calls[set].back().result->is_pending())) {
            join(x, set, false);
            again = true;
          }
      consume_messages();
    }
  }

  size_t generations(size_t set) const {
    size_t result = 0;
    for (const auto& x : processes)
      result = std::max(result, x.calls[set].size());
    return result;
  }

  void check_fences() {
    for (size_t set = 0; set < sets.size(); ++set)
      for (size_t i = 0; i < generations(set); ++i)
        check_generation(set, i);
    for (const auto& x : refused)
      if (x->code != status::bad_param && x->code != status::invalid_namespace
          && x->code != status::unreach)
        CAF_ERROR("a stranger got " << to_string(x->code));
    size_t most = 0;
    for (size_t set = 0; set < sets.size(); ++set)
      most += generations(set);
    CAF_CHECK(uut.host_play->joined.size() <= most);
  }

  /// The calls of a set and their results, for a reader.
  std::string calls_of(size_t set) const {
    auto result = std::string{};
    for (const auto& x : processes)
      if (is_member(set, x.id)) {
        result += "; " + to_string(x.id) + (x.is_gone ? " (gone)" : "") + ":";
        for (const auto& call : x.calls[set])
          result += ' ' + to_string(call.result->code);
      }
    return result;
  }

  void check_generation(size_t set, size_t i) {
    auto outcome = status::operation_in_progress;
    auto all_called = true;
    auto some_gone = false;
    auto some_timeout = false;
    for (const auto& x : processes) {
      if (!is_member(set, x.id))
        continue;
      some_gone = some_gone || x.is_gone;
      if (x.calls[set].size() <= i) {
        all_called = false;
        if (!x.is_gone)
          CAF_ERROR(to_string(x.id) << " could not catch up");
        continue;
      }
      const auto& call = x.calls[set][i];
      some_timeout = some_timeout || call.has_timeout;
      if (call.result->is_pending())
        CAF_ERROR(to_string(x.id) << " has no answer");
      if (x.is_gone)
        continue; // Its call may not have reached the server.
      if (outcome == status::operation_in_progress)
        outcome = call.result->code;
      else if (outcome != call.result->code)
        CAF_ERROR("different results: " << to_string(outcome) << " and "
                                        << to_string(call.result->code));
    }
    const auto is_explained =
      outcome == status::operation_in_progress // Nobody lives to tell.
      || (outcome == status::success && all_called)
      || (outcome == status::lost_connection && some_gone)
      || (outcome == status::timeout && some_timeout)
      || outcome == status::not_supported;
    if (!is_explained)
      CAF_ERROR("set " << set << ", generation " << i << ": "
                       << to_string(outcome) << calls_of(set));
  }

  void check_gets() {
    for (const auto& x : gets) {
      if (x.result->code != status::success)
        continue;
      const auto found = std::stoul(text_in(x.result->value, key_of_commits));
      if (found < x.at_least || found > processes[x.target].commits.size())
        CAF_ERROR("found commit " << found << " instead of " << x.at_least
                                  << " or later");
    }
  }

  /// Ends the jobs: whatever is still waiting is answered, nothing is left.
  void end() {
    for (const auto& nspace : nspaces)
      uut.tell<ack>(deregister_nspace{nspace});
    consume_messages();
    for (const auto& x : gets)
      CAF_CHECK(!x.result->is_pending());
    for (auto& x : processes) {
      for (const auto& commit : x.commits)
        CAF_CHECK(!commit->is_pending());
      x.connection = nullptr;
    }
    for (const auto& x : request<gauge_list>(uut.server, get_gauges{}).gauges)
      if (x.name == "server.collectives" || x.name == "server.gets")
        CAF_CHECK_EQUAL(x.value, 0u);
    const auto tell = request<server_statistics>(uut.server, get_statistics{});
    CAF_CHECK(tell.connections > 0);
    CAF_CHECK_EQUAL(sys.registry().running(), running_at_start);
  }

  node uut;
  size_t running_at_start = 0;

  /// Whether each job has one more rank, on another node: the host is asked.
  bool is_wide = false;
  std::vector<std::string> nspaces;
  std::vector<process> processes;
  std::vector<fence_set> sets;
  std::vector<pending<ack>> refused;
  std::vector<get_call> gets;
};

void simulate(uint32_t first, uint32_t last) {
  for (auto seed = first; seed < last; ++seed) {
    CAF_MESSAGE("seed " << seed);
    simulation{seed}.run();
  }
}

} // namespace

CAF_TEST(COLL-1 COLL-2 COLL-3 COLL-4 COLL-5 P-C1 X35 in any order) {
  simulate(0, 100);
}

CAF_TEST(COLL-1 COLL-2 COLL-3 COLL-4 COLL-5 P-C1 X35 in any other order) {
  simulate(100, 200);
}
