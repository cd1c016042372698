// Random histories of a log against a model that is too simple to be wrong: it
// remembers everything, and says what each process must have got in the end.

#include "tests/fixtures/event_desk.hpp"
#include "tests/fixtures/event_log_audit.hpp"
#include "tests/test.hpp"

#include <rapidcheck.h>

#include <algorithm>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

using outcome = event_log::outcome;
using client_id = event_log::client_id;

constexpr uint32_t ranks = 4;
constexpr int32_t code_count = 3;

/// The first is of the environment, if the system raises it for all.
status code_of(uint32_t n) {
  return static_cast<status>(-300 - static_cast<int32_t>(n) % code_count);
}

/// One step: what, and two numbers that say with whom.
struct step {
  uint8_t what;
  uint32_t x;
  uint32_t y;
};

std::ostream& operator<<(std::ostream& out, const step& x) {
  return out << "{" << int{x.what} << ", " << x.x << ", " << x.y << "}";
}

rc::Gen<step> any_step() {
  return rc::gen::construct<step>(rc::gen::inRange<uint8_t>(0, 20),
                                  rc::gen::inRange<uint32_t>(0, 1000),
                                  rc::gen::inRange<uint32_t>(0, 1000));
}

/// An accepted event, as the model knows it.
struct known_event {
  uint64_t mark;
  status code;
  proc_id source;
  data_range range;
  std::vector<proc_id> targets;
  bool admits_default;
  bool is_kept;

  bool is_environment() const {
    return source.nspace.empty() && targets.empty();
  }

  bool is_for(const proc_id& proc) const {
    if (proc == source)
      return false;
    if (!targets.empty())
      return std::any_of(targets.begin(), targets.end(),
                         [&](const auto& x) { return matches(x, proc); });
    return range == data_range::global || source.nspace == proc.nspace
           || source.nspace.empty();
  }
};

/// A process that connects once, at most.
struct known_proc {
  proc_id proc;
  client_id id = 0;
  bool is_connected = false;
  bool is_gone = false;
  std::set<status> codes;
};

class history {
public:
  explicit history(event_log_options options) : desk(std::move(options)) {
    for (const auto* nspace : {"job", "other"}) {
      auto all = std::vector<uint32_t>{};
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        all.push_back(rank);
        auto who = known_proc{};
        who.proc = {nspace, rank};
        who.id = static_cast<client_id>(procs.size() + 1);
        procs.push_back(std::move(who));
      }
      desk.log.await(nspace, all);
    }
  }

  void apply(const step& x) {
    auto& who = procs[x.x % procs.size()];
    const auto code = code_of(x.y);
    switch (x.what) {
      case 0:
      case 1:
        if (!who.is_connected && !who.is_gone) {
          desk.connect(who.id, who.proc);
          desk.readings[who.id].is_eager = x.y % 3 != 0;
          who.is_connected = true;
        }
        break;
      case 2:
      case 3:
      case 4:
        if (who.is_connected) {
          const auto is_default = x.y % 4 == 0;
          const auto wanted = is_default ? default_events : code;
          if (!desk.enroll(who.id,
                           is_default ? std::vector<status>{}
                                      : std::vector<status>{code},
                           {true, true}))
            who.codes.insert(wanted);
        }
        break;
      case 5:
        if (who.is_connected) {
          const auto lost = x.y % 4 == 0 ? default_events : code;
          desk.log.unsubscribe(who.id, {lost});
          desk.settle();
          who.codes.erase(lost);
        }
        break;
      case 6:
        if (x.y % 4 == 0)
          leave(who);
        break;
      case 7:
        if (x.y % 8 == 0 && !who.is_gone) {
          desk.log.end(who.proc);
          leave(who);
        }
        break;
      case 8:
      case 9:
        if (who.is_connected)
          desk.take(who.id);
        break;
      case 10:
        raise({"", rank_undef}, code, data_range::session, {}, x.y);
        break;
      case 11:
        raise({"", rank_undef}, code, data_range::session,
              {{who.proc.nspace, rank_wildcard}}, x.y);
        break;
      case 12:
        raise(who.proc, code, data_range::global, {}, x.y);
        break;
      case 13:
        raise(
          who.proc, code, data_range::custom,
          {procs[x.y % procs.size()].proc, procs[x.y / 10 % procs.size()].proc},
          x.y);
        break;
      default:
        raise(who.proc, code, data_range::nspace, {}, x.y);
    }
  }

  void leave(known_proc& who) {
    if (who.is_connected)
      desk.disconnect(who.id);
    who.is_connected = false;
    who.is_gone = true;
    who.codes.clear();
  }

  void raise(const proc_id& source, status code, data_range range,
             std::vector<proc_id> targets, uint32_t dice) {
    auto infos = std::vector<info>{};
    const auto is_default = dice % 5 != 0;
    const auto is_kept =
      dice % 7 != 0 || (source.nspace.empty() && targets.empty());
    if (!is_default)
      infos.push_back(with(attr::event_non_default, value::boolean(true)));
    if (!is_kept)
      infos.push_back(with(attr::event_do_not_cache, value::boolean(true)));
    auto x = offered_event{};
    x.what = desk.make(code, source, range, std::move(infos), dice % 600);
    x.targets = targets;
    x.stream = source.nspace.empty() ? "host" : to_string(source);
    raised.push_back({desk.marks, code, source, range, std::move(targets),
                      is_default, is_kept});
    streams[desk.marks] = x.stream;
    RC_ASSERT(desk.offer(std::move(x)) != outcome::too_large);
  }

  /// What holds after each step.
  void check() {
    RC_ASSERT(audit(desk.log) == "");
    for (; checked < desk.accepted.size(); ++checked) {
      // Events of one source are accepted in the order raised.
      const auto mark = desk.accepted[checked];
      auto& last = last_of[streams[mark]];
      RC_ASSERT(last < mark);
      last = mark;
      place[mark] = checked + 1;
    }
    for (const auto& who : procs) {
      const auto& reading = desk.readings[who.id];
      auto& n = seen[who.id];
      for (; n < reading.marks.size(); ++n) {
        const auto mark = reading.marks[n];
        const auto& what = raised[mark - 1];
        RC_ASSERT(what.mark == mark);
        RC_ASSERT(got[who.id].insert(mark).second); // Never twice.
        RC_ASSERT(what.is_for(who.proc));
        RC_ASSERT(
          who.codes.count(what.code) > 0
          || (what.admits_default && who.codes.count(default_events) > 0)
          || who.is_gone);
        // One order for what is alike.
        auto& last = order[{who.id, what.code, what.admits_default,
                            what.is_environment()}];
        RC_ASSERT(last < place[mark] || !what.is_kept);
        last = std::max(last, place[mark]);
      }
    }
  }

  /// Everybody takes everything: who is there has got, or been told that it
  /// missed, all that was for it.
  void finish() {
    for (auto& who : procs)
      if (who.is_connected) {
        desk.readings[who.id].is_eager = true;
        for (auto n = uint32_t{0}; n < code_count; ++n) {
          desk.enroll(who.id, {code_of(n)}, {true, true});
          who.codes.insert(code_of(n));
        }
      }
    desk.settle();
    // What somebody has missed comes with the next event.
    raise({"", rank_undef}, code_of(0), data_range::session, {}, 1);
    check();
    RC_ASSERT(!desk.log.is_waiting());
    RC_ASSERT(desk.accepted.size() == raised.size());
    for (const auto& who : procs) {
      if (!who.is_connected)
        continue;
      auto due = uint64_t{0};
      auto had = uint64_t{0};
      for (const auto& what : raised) {
        if (!what.is_for(who.proc) || !what.is_kept)
          continue;
        ++due;
        had += got[who.id].count(what.mark);
      }
      RC_ASSERT(had + desk.readings[who.id].missed == due);
    }
  }

  event_desk desk;
  std::vector<known_proc> procs;
  std::vector<known_event> raised;
  std::map<uint64_t, std::string> streams;

  size_t checked = 0;
  std::map<std::string, uint64_t> last_of;
  std::map<uint64_t, uint64_t> place;
  std::map<client_id, size_t> seen;
  std::map<client_id, std::set<uint64_t>> got;
  std::map<std::tuple<client_id, status, bool, bool>, uint64_t> order;
};

void run(event_log_options options, const std::vector<step>& steps) {
  auto world = history{std::move(options)};
  for (const auto& x : steps) {
    world.apply(x);
    world.check();
  }
  world.finish();
}

auto histories() {
  return rc::gen::scale(8.0, rc::gen::container<std::vector<step>>(any_step()));
}

} // namespace

CAF_TEST(P-J1 P-J2 CACHE-1 CACHE-2 CACHE-4 with room for everything) {
  auto is_right = rc::check("all that was for a process comes once", [] {
    auto options = event_log_options{};
    options.ring_size = 100000;
    run(options, *histories());
  });
  CAF_CHECK(is_right);
}

CAF_TEST(CACHE-3 CACHE-4 CACHE-5 CACHE-6 P-J5 P-E1 with hardly any room) {
  auto is_right = rc::check("what is not there is counted", [] {
    auto options = event_log_options{};
    options.per_namespace.memory = 3000;
    options.node_bytes = 8000;
    options.ring_size = *rc::gen::inRange<size_t>(1, 6);
    options.window = 900;
    run(options, *histories());
  });
  CAF_CHECK(is_right);
}

CAF_TEST(CACHE-3 CACHE-4 CACHE-6 P-J1 P-J5 LIM9 with a disk) {
  auto is_right = rc::check("what is on disk comes too", [] {
    auto options = event_log_options{};
    options.per_namespace.memory = 4000;
    options.per_namespace.spool = *rc::gen::inRange<size_t>(2000, 30000);
    options.per_namespace.backlog = *rc::gen::inRange<size_t>(1000, 30000);
    options.per_namespace.batch = 1200;
    options.per_namespace.loaded = 1500;
    options.node_bytes = *rc::gen::element<size_t>(20000, 1000000);
    options.node_spool = *rc::gen::element<size_t>(8000, 1000000);
    options.ring_size = 100000;
    options.window = 900;
    auto world = history{options};
    world.desk.is_disk_slow = true;
    for (const auto& x : *histories()) {
      world.apply(x);
      if (x.x % 3 == 0)
        world.desk.turn_disk();
      if (x.x % 50 == 0)
        world.desk.is_disk_full = !world.desk.is_disk_full;
      world.check();
    }
    world.desk.is_disk_slow = false;
    world.finish();
    RC_ASSERT(world.desk.asked.empty());
  });
  CAF_CHECK(is_right);
}

CAF_TEST(P-J5 CACHE-6 with history held) {
  auto is_right = rc::check("nothing is dropped", [] {
    auto options = event_log_options{};
    options.per_namespace.memory = 2000;
    options.per_namespace.holds_history = true;
    options.ring_size = 100000;
    auto world = history{options};
    for (auto& who : world.procs) {
      world.desk.connect(who.id, who.proc);
      who.is_connected = true;
    }
    for (const auto& x : *histories()) {
      world.apply(x);
      world.check();
    }
    world.finish();
  });
  CAF_CHECK(is_right);
}
