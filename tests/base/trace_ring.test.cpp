// The rings of steps: names alike on all nodes, bounds, and the way of one event
// through a log.

#include "base/trace_ring.hpp"

#include "tests/test.hpp"

#include <string>
#include <vector>

using namespace troupe;

namespace {

int64_t moment = 0;

int64_t tick() {
  return ++moment;
}

const auto job = std::vector<proc_id>{{"job", rank_wildcard}};

} // namespace

CAF_TEST(TRC-1 names are the same on all nodes whatever they knew before) {
  auto one = trace_ring{tick, 0, 4};
  auto other = trace_ring{tick, 1, 4};
  other.collective(collective_kind::connect, {{"x", 1}}, 9);
  const auto part = std::vector<proc_id>{{"job", 0}, {"job", 2}, {"more", 1}};
  const auto mixed =
    std::vector<proc_id>{{"more", 1}, {"job", 2}, {"job", 0}, {"job", 2}};
  const auto here = one.collective(collective_kind::fence, part, 3);
  CAF_CHECK(here == other.collective(collective_kind::fence, mixed, 3));
  CAF_CHECK(!(here == one.collective(collective_kind::fence, job, 3)));
  CAF_CHECK(!(here == one.collective(collective_kind::fence, part, 4)));
  CAF_CHECK(!(here == one.collective(collective_kind::connect, part, 3)));
  CAF_CHECK_EQUAL(one.text_of(here), other.text_of(here));
}

CAF_TEST(TRC-1 a name can be written and read) {
  auto ring = trace_ring{tick, 2, 4};
  const auto part = std::vector<proc_id>{{"a/b#c:d@1", 0}, {"a/b#c:d@1", 2}};
  for (const auto& x :
       {ring.collective(collective_kind::fence, job, 3),
        ring.collective(collective_kind::disconnect, part, 17),
        ring.collective(collective_kind::fence, job, uint64_t{0xabc} << 32 | 5),
        ring.local_collective(collective_kind::connect, job, 4),
        ring.event("job", 7, 1), ring.event("", 8, 0),
        ring.local_event("a#1", 9)}) {
    const auto back = read_trace_id(ring.text_of(x));
    CAF_REQUIRE(back);
    CAF_CHECK(*back == x);
  }
  CAF_CHECK_EQUAL(ring.text_of(ring.collective(collective_kind::fence, job, 3)),
                  "fence:job#3");
  CAF_CHECK_EQUAL(ring.text_of(ring.event("", 8, 0)), "event:-#8@0");
}

CAF_TEST(TRC-1 what is no name is refused) {
  for (const auto& text :
       {std::string{}, std::string{"fence"}, std::string{"fence:job"},
        std::string{"fence:job#"}, std::string{"fence:job#x"},
        std::string{"fence:job#1@"}, std::string{"fence:job#1@x"},
        std::string{"fence:job#-1"}, std::string{"fence:job#1@4294967296"},
        std::string{"fence:job#99999999999999999999"},
        std::string{"fence:job#123456789.1"}, std::string{"spawn:job#1"},
        std::string{"#1fence:job"}, "fence:" + std::string(600, 'x') + "#1"})
    CAF_CHECK(!read_trace_id(text));
}

CAF_TEST(TRC-1 steps come back in their order and of one alone) {
  auto ring = trace_ring{tick, 0, 16};
  const auto first = ring.collective(collective_kind::fence, job, 1);
  const auto second = ring.collective(collective_kind::fence, job, 2);
  ring.note_proc(first, trace_step::called, {"job", 3});
  ring.note_proc(second, trace_step::called, {"job", 4});
  ring.note_node(first, trace_step::part_sent, 5);
  ring.note(first, trace_step::answered, 2, status::timeout);
  const auto steps = ring.steps_of(first);
  CAF_REQUIRE_EQUAL(steps.size(), 3u);
  CAF_CHECK_EQUAL(ring.text_of(steps[0]), "job:3 has called it");
  CAF_CHECK_EQUAL(ring.text_of(steps[1]), "sent to node 5");
  CAF_CHECK_EQUAL(ring.text_of(steps[2]),
                  "calls answered: 2, PMIX_ERR_TIMEOUT");
  CAF_CHECK(steps[0].at < steps[1].at && steps[1].at < steps[2].at);
  CAF_CHECK_EQUAL(ring.proc_of(steps[0]), "job:3");
  CAF_CHECK_EQUAL(ring.proc_of(steps[1]), "");
}

CAF_TEST(TRC-1 an event is followed through the log to processes) {
  auto ring = trace_ring{tick, 1, 16};
  const auto x = ring.event("job", 1, 0);
  const auto y = ring.event("job", 2, 0);
  ring.note(x, trace_step::placed, 1);
  ring.note(x, trace_step::logged, 57);
  ring.note(y, trace_step::logged, 58);
  ring.note_delivery(58, {"job", 0});
  ring.note_delivery(57, {"job", 0});
  ring.note_delivery(57, {"job", 1});
  const auto steps = ring.steps_of(x);
  CAF_REQUIRE_EQUAL(steps.size(), 4u);
  CAF_CHECK_EQUAL(ring.text_of(steps[2]), "handed to job:0 (57 of the log)");
  CAF_CHECK_EQUAL(ring.text_of(steps[3]), "handed to job:1 (57 of the log)");
}

CAF_TEST(TRC-1 a process that gets an event late is seen to) {
  auto ring = trace_ring{tick, 1, 4};
  const auto x = ring.event("job", 1, 0);
  ring.note(x, trace_step::logged, 57);
  moment += 5000;
  ring.note_delivery(57, {"job", 0});
  const auto steps = ring.steps_of(x);
  CAF_REQUIRE_EQUAL(steps.size(), 2u);
  CAF_CHECK(steps[1].at > steps[0].at + 5000);
}

CAF_TEST(TRC-2 a ring forgets the oldest and events leave fences alone) {
  auto ring = trace_ring{tick, 0, 8};
  const auto fence = ring.collective(collective_kind::fence, job, 1);
  ring.note(fence, trace_step::gathered, 1);
  for (uint64_t i = 1; i <= 1000; ++i)
    ring.note(ring.event("job", i, 0), trace_step::placed, i);
  CAF_CHECK_EQUAL(ring.size(), 9u);
  CAF_CHECK(ring.size() <= ring.bound());
  CAF_CHECK_EQUAL(ring.steps_of(fence).size(), 1u);
  CAF_CHECK(ring.steps_of(ring.event("job", 992, 0)).empty());
  CAF_CHECK_EQUAL(ring.steps_of(ring.event("job", 993, 0)).size(), 1u);
  CAF_CHECK_EQUAL(ring.steps_of(ring.event("job", 1000, 0)).size(), 1u);
}

CAF_TEST(TRC-2 names of what is forgotten make room for others) {
  auto ring = trace_ring{tick, 0, 8};
  auto last = trace_id{};
  for (size_t i = 0; i < 3 * defaults::trace_names; ++i) {
    last = ring.event("job" + std::to_string(i), 1, 0);
    ring.note(last, trace_step::placed, 1);
  }
  CAF_CHECK_EQUAL(ring.text_of(last),
                  "event:job" + std::to_string(3 * defaults::trace_names - 1)
                    + "#1@0");
  // What nobody remembers has a number for a name.
  CAF_CHECK(ring.text_of(trace_id{}).find("fence:?") == 0);
}

CAF_TEST(TRC-2 long names take no more than their room) {
  auto ring = trace_ring{tick, 0};
  const auto long_name = [](size_t number) {
    return std::string(max_nspace_length - 8, 'x')
           + std::to_string(10'000'000 + number);
  };
  const auto room = defaults::trace_letters / max_nspace_length;
  auto ids = std::vector<trace_id>{};
  for (size_t i = 0; i < 2 * room; ++i) {
    ids.push_back(ring.event(long_name(i), 1, 0));
    ring.note(ids.back(), trace_step::placed, 1);
  }
  CAF_CHECK_EQUAL(ring.text_of(ids.front()), "event:" + long_name(0) + "#1@0");
  CAF_CHECK_EQUAL(ring.text_of(ids[room - 1]),
                  "event:" + long_name(room - 1) + "#1@0");
  CAF_CHECK_EQUAL(ring.text_of(ids[room]).find("event:?"), 0u);
  // It is found by its name all the same.
  const auto id = read_trace_id("event:" + long_name(room) + "#1@0");
  CAF_REQUIRE(id);
  CAF_CHECK_EQUAL(ring.steps_of(*id).size(), 1u);
}

CAF_TEST(TRC-1 the latest come first with their steps) {
  auto ring = trace_ring{tick, 0, 16};
  const auto old = ring.collective(collective_kind::fence, job, 1);
  const auto event = ring.event("job", 1, 0);
  const auto young = ring.collective(collective_kind::fence, job, 2);
  ring.note(old, trace_step::gathered, 1);
  ring.note(event, trace_step::logged, 5);
  ring.note(young, trace_step::gathered, 1);
  ring.note_delivery(5, {"job", 0});
  ring.note(old, trace_step::answered, 1);
  const auto all = ring.latest(8);
  CAF_REQUIRE_EQUAL(all.size(), 3u);
  CAF_CHECK(all[0].front().id == old && all[0].size() == 2);
  CAF_CHECK(all[1].front().id == event && all[1].size() == 2);
  CAF_CHECK(all[2].front().id == young);
  CAF_CHECK_EQUAL(ring.latest(1).size(), 1u);
}

CAF_TEST(LOG-2 TRC-1 steps are lines while the level of their subject says so) {
  auto lines = std::vector<std::string>{};
  auto x = subject_journal{};
  x.levels = std::make_shared<log_levels>();
  x.out = std::make_shared<const log_output>([&](const log_line& line) {
    lines.push_back(std::string{text_of(line.about)} + " " + line.trace + " "
                    + line.text);
  });
  auto ring = trace_ring{tick, 0, 4};
  ring.echo_to(x);
  const auto fence = ring.collective(collective_kind::fence, job, 1);
  ring.note(fence, trace_step::gathered, 2);
  CAF_CHECK(!x.levels->set("collectives=debug"));
  ring.note(fence, trace_step::gathered, 2);
  ring.note(ring.event("job", 1, 0), trace_step::placed, 1);
  CAF_CHECK_EQUAL(lines.size(), 1u);
  CAF_CHECK_EQUAL(lines.front(),
                  "collectives fence:job#1 all of this node have: 2");
}
