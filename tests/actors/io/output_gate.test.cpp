// Output that is kept until whoever gets it is ready.

#include "actors/io/output_gate.hpp"

#include "tests/fixtures/deterministic.hpp"
#include "tests/fixtures/io_sinks.hpp"
#include "tests/fixtures/outcome.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

struct fixture : deterministic {
  sink_ledger_ptr ledger = std::make_shared<sink_ledger>();
  fake_sink_actor sink = sys.spawn(fake_sink, ledger);
  buffered_sink_actor uut = spawn_output_gate(sys, sink);
  const io_stream stream{{"job", 0}, io_channels::stdout_};
  uint64_t offset = 0;

  ~fixture() override {
    end(uut);
    end(sink);
  }

  pending<ack> give(std::string bytes) {
    auto x = io_fragment{};
    x.stream = stream;
    x.offset = offset;
    offset += bytes.size();
    x.bytes = std::move(bytes);
    auto result = ask<ack>(sys, uut, std::move(x));
    consume_messages();
    return result;
  }

  void open() {
    caf::anon_send(uut, deadline{});
    consume_messages();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(output_gate_tests, fixture)

CAF_TEST(IO-4 what comes before is passed on in order and then the rest) {
  const auto first = give("first ");
  const auto second = give("second ");
  CAF_CHECK(first->is_pending());
  CAF_CHECK(ledger->fragments.empty());
  open();
  CAF_CHECK_EQUAL(first->code, status::success);
  CAF_CHECK_EQUAL(second->code, status::success);
  CAF_CHECK_EQUAL(give("third")->code, status::success);
  CAF_CHECK_EQUAL(ledger->text(stream.source), "first second third");
}

CAF_TEST(IO-2 I18 an open gate answers when the sink does) {
  ledger->is_slow = true;
  const auto early = give("early");
  open();
  const auto late = give("late");
  CAF_CHECK(early->is_pending());
  CAF_CHECK(late->is_pending());
  ledger->answer();
  consume_messages();
  CAF_CHECK_EQUAL(early->code, status::success);
  CAF_CHECK_EQUAL(late->code, status::success);
}

CAF_TEST(I18 who waits at a gate hears that its sink has ended) {
  const auto held = give("held");
  end(sink);
  consume_messages();
  CAF_CHECK(!held->is_pending());
  CAF_CHECK_NOT_EQUAL(held->code, status::success);
}

CAF_TEST_FIXTURE_SCOPE_END()
