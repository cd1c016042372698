#include "adapters/local/local_service.hpp"
#include "adapters/wire/frame.hpp"
#include "adapters/wire/pushes.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

event with_text(const std::string& x) {
  auto result = event{};
  result.code = status::proc_aborted;
  result.source = {"job", 1};
  result.infos = {{"text", 0, value::string(x)}};
  return result;
}

event_batch batch(const std::vector<std::string>& texts) {
  auto result = event_batch{};
  for (const auto& x : texts)
    result.events.push_back(std::make_shared<const event>(with_text(x)));
  return result;
}

/// The texts of the events in a row of frames.
std::vector<std::string> texts_in(const std::string& bytes,
                                  const wire::dialect& d) {
  auto result = std::vector<std::string>{};
  auto reader = wire::frame_reader{};
  reader.push(bytes);
  while (const auto x = reader.next()) {
    CAF_CHECK_EQUAL(x->tag, wire::tag_event);
    const auto what = wire::decode_event(x->payload, d);
    CAF_REQUIRE(what);
    result.push_back(std::get<std::string>(what->infos.at(0).val.data));
  }
  return result;
}

} // namespace

CAF_TEST(a batch is packed once for all peers of a dialect) {
  event_frames uut;
  const auto events = batch({"one", "two", "three"});
  const auto flex = wire::dialect{};
  auto fixed = wire::dialect{};
  fixed.module = wire::packing_module::v3;
  const auto first = uut.of(events, flex);
  CAF_CHECK(uut.of(events, flex) == first);
  const auto other = uut.of(events, fixed);
  CAF_CHECK(other != first);
  CAF_CHECK(uut.of(events, flex) == first);
  const auto expected = std::vector<std::string>{"one", "two", "three"};
  CAF_CHECK(texts_in(first->bytes, flex) == expected);
  CAF_CHECK(texts_in(other->bytes, fixed) == expected);
  CAF_REQUIRE_EQUAL(first->ends.size(), 3u);
  CAF_CHECK(texts_in(first->bytes.substr(0, first->ends[0]), flex)
            == std::vector<std::string>{"one"});
  CAF_CHECK_EQUAL(first->ends[2], first->bytes.size());
}

CAF_TEST(other events that look the same are packed anew) {
  event_frames uut;
  const auto one = uut.of(batch({"same"}), {});
  const auto two = uut.of(batch({"same"}), {});
  CAF_CHECK(one != two);
  CAF_CHECK(one->bytes == two->bytes);
  // Part of a batch is another batch.
  const auto events = batch({"a", "b"});
  const auto both = uut.of(events, {});
  const auto first = uut.of({{events.events[0]}}, {});
  CAF_CHECK_EQUAL(first->bytes, both->bytes.substr(0, both->ends[0]));
}

CAF_TEST(X25 an event that cannot be written leaves the others) {
  event_frames uut;
  const auto huge = std::string(wire::max_message_size + 1, 'x');
  const auto x = uut.of(batch({"one", huge, "two"}), {});
  CAF_CHECK_EQUAL(x->failures.size(), 1u);
  CAF_REQUIRE_EQUAL(x->ends.size(), 3u);
  CAF_CHECK_EQUAL(x->ends[0], x->ends[1]);
  CAF_CHECK(texts_in(x->bytes, {}) == (std::vector<std::string>{"one", "two"}));
}

CAF_TEST(long events and many dialects do not fill the memory) {
  event_frames uut;
  const auto long_one = batch({std::string(event_frames::max_bytes + 1, 'x')});
  CAF_CHECK_EQUAL(uut.of(long_one, {}).use_count(), 1);
  auto all = std::vector<std::weak_ptr<const event_frames::frames>>{};
  for (auto i = 0; i < 50; ++i)
    all.push_back(uut.of(batch({std::to_string(i)}), {}));
  auto kept = size_t{0};
  for (const auto& x : all)
    kept += x.expired() ? 0 : 1;
  CAF_CHECK_EQUAL(kept, event_frames::max_entries);
}
