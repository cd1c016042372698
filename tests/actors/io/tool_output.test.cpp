// What tools and processes get of streams that they pulled.

#include "actors/io/tool_output.hpp"

#include "actors/io/output_buffers.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"
#include "tests/fixtures/deterministic.hpp"

#include <deque>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

constexpr auto out = io_channels::stdout_;

/// What the server was asked to deliver, and what it has not answered.
struct connection {
  std::vector<io_delivery> seen;
  std::deque<caf::typed_response_promise<ack>> waiting;
  bool is_slow = false;
  bool is_lost = false;
};

struct fixture : fixtures::deterministic {
  std::shared_ptr<connection> peer = std::make_shared<connection>();
  caf::actor server;
  output_sink_actor uut;
  const io_stream stream{{"job-1", 3}, out};
  size_t answers = 0;
  size_t refusals = 0;

  fixture() {
    server = sys.spawn([peer = peer](caf::event_based_actor* self) {
      return caf::behavior{
        [=](const requester& who, io_delivery& x) -> caf::result<ack> {
          CAF_REQUIRE_EQUAL(who.index, 17u);
          if (peer->is_lost)
            return make_error(status::unreach, "it has gone");
          peer->seen.push_back(std::move(x));
          auto reply = self->make_response_promise<ack>();
          if (peer->is_slow)
            peer->waiting.push_back(reply);
          else
            reply.deliver(ack{});
          return reply;
        },
        // The socket takes the next.
        [=](const deadline&) {
          peer->waiting.front().deliver(ack{});
          peer->waiting.pop_front();
        },
      };
    });
  }

  ~fixture() override {
    while (!peer->waiting.empty())
      take_one();
    uut = nullptr;
    end(server);
    server = nullptr;
  }

  void start(tool_output_options options = {}) {
    options.server = caf::actor_cast<server_actor>(server);
    options.who.index = 17;
    options.handler = 5;
    options.show_time = [](int64_t at) { return "T" + std::to_string(at); };
    uut = spawn_tool_output(sys, std::move(options));
    consume_messages();
  }

  void give(io_fragment x) {
    auto asking = sys.spawn([this, x](caf::event_based_actor* asker) {
      asker->request(uut, caf::infinite, x)
        .then([this](ack) { ++answers; },
              [this](const caf::error&) { ++refusals; });
    });
    asking = nullptr;
    consume_messages();
  }

  void give(uint64_t offset, const std::string& bytes, uint64_t missed = 0) {
    give({stream, offset, bytes, missed, false, 0});
  }

  void give_end(uint64_t offset) {
    give({stream, offset, {}, 0, true, 0});
  }

  void take_one() {
    CAF_REQUIRE(!peer->waiting.empty());
    caf::anon_send(server, deadline{});
    consume_messages();
  }

  std::string text() const {
    std::string result;
    for (const auto& x : peer->seen)
      result += x.bytes.empty() ? "<end>" : x.bytes;
    return result;
  }

  static std::optional<uint64_t> info_of(const io_delivery& x,
                                         std::string_view key) {
    for (const auto& y : x.infos)
      if (y.key == key)
        return y.val.number<uint64_t>();
    return std::nullopt;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(tool_output_tests, fixture)

CAF_TEST(I18 a fragment is answered when the connection has taken it) {
  peer->is_slow = true;
  start();
  give(0, "abc");
  CAF_REQUIRE_EQUAL(peer->seen.size(), 1u);
  CAF_CHECK_EQUAL(peer->seen[0].bytes, "abc");
  CAF_CHECK_EQUAL(peer->seen[0].handler, 5u);
  CAF_CHECK_EQUAL(peer->seen[0].source.rank, 3u);
  CAF_CHECK(peer->seen[0].channel == out);
  CAF_CHECK(peer->seen[0].infos.empty());
  CAF_CHECK_EQUAL(answers, 0u);
  take_one();
  CAF_CHECK_EQUAL(answers, 1u);
}

CAF_TEST(I18 197 the end is a delivery without bytes after the last) {
  peer->is_slow = true;
  start();
  give({stream, 0, "last", 0, true, 0});
  CAF_CHECK_EQUAL(text(), "last<end>");
  CAF_CHECK_EQUAL(info_of(peer->seen[1], attr::iof_complete), 1u);
  take_one();
  CAF_CHECK_EQUAL(answers, 0u);
  take_one();
  CAF_CHECK_EQUAL(answers, 1u);
}

CAF_TEST(I8 gaps are told to all and offsets to those that ask) {
  start();
  give(10, "abc", 10);
  give(13, "d");
  CAF_REQUIRE_EQUAL(peer->seen.size(), 2u);
  CAF_CHECK_EQUAL(info_of(peer->seen[0], io_missed_key), 10u);
  CAF_CHECK(!info_of(peer->seen[0], io_offset_key));
  CAF_CHECK(peer->seen[1].infos.empty());
  peer->seen.clear();
  tool_output_options options;
  options.with_offsets = true;
  options.format.tag = true; // Does not count.
  start(options);
  give(10, "abc", 10);
  give(13, "d");
  give(20, "", 6);
  give_end(20);
  CAF_REQUIRE_EQUAL(text(), "abcd<end>");
  CAF_CHECK_EQUAL(info_of(peer->seen[0], io_missed_key), 10u);
  CAF_CHECK_EQUAL(info_of(peer->seen[0], io_offset_key), 10u);
  CAF_CHECK_EQUAL(info_of(peer->seen[1], io_offset_key), 13u);
  CAF_CHECK(!info_of(peer->seen[1], io_missed_key));
  CAF_CHECK_EQUAL(info_of(peer->seen[2], io_missed_key), 6u);
  CAF_CHECK_EQUAL(info_of(peer->seen[2], io_offset_key), 20u);
  CAF_CHECK_EQUAL(answers, 6u);
}

CAF_TEST(I16 206 output comes formatted if that was asked for) {
  tool_output_options options;
  options.format.tag = true;
  options.format.timestamp = true;
  start(options);
  give({stream, 0, "be", 0, false, 4});
  CAF_CHECK_EQUAL(answers, 1u);
  CAF_CHECK(peer->seen.empty());
  give({stream, 2, "gun\nno newline", 0, false, 6});
  give_end(16);
  CAF_CHECK_EQUAL(text(), "[T4][job-1,3]<stdout>: begun\n"
                          "[T6][job-1,3]<stdout>: no newline\n<end>");
  CAF_CHECK_EQUAL(answers, 3u);
}

CAF_TEST(I16 marks have host and process number) {
  tool_output_options options;
  options.format.tag_detailed = true;
  options.host_of = [](const proc_id& x) {
    return "node" + std::to_string(x.rank);
  };
  start(options);
  give({stream, 0, "a\n", 0, false, 0, 17});
  CAF_CHECK_EQUAL(text(), "[job-1,3][node3:17]<stdout>: a\n");
}

CAF_TEST(I16 who formats itself is told host and process number) {
  tool_output_options options;
  options.format.tag_detailed = true;
  options.with_offsets = true;
  options.host_of = [](const proc_id& x) {
    return x.nspace == "job-1" ? "node" + std::to_string(x.rank) : "";
  };
  start(options);
  give({stream, 0, "a\n", 0, false, 0, 17});
  give({stream, 2, "b", 0, true, 0, 17});
  give({{{"job-2", 0}, out}, 0, "c", 0, false, 0, 0}); // Neither is known.
  CAF_REQUIRE_EQUAL(text(), "a\nb<end>c");
  for (auto i = 0; i < 2; ++i) {
    const auto& infos = peer->seen[static_cast<size_t>(i)].infos;
    CAF_CHECK_EQUAL(troupe::text(infos, attr::hostname).value_or(""), "node3");
    CAF_CHECK(number<uint32_t>(infos, attr::proc_pid) == 17u);
  }
  CAF_CHECK(find(peer->seen[3].infos, attr::hostname) == nullptr);
  CAF_CHECK(find(peer->seen[3].infos, attr::proc_pid) == nullptr);
}

CAF_TEST(I16 output is kept until there is enough of it) {
  tool_output_options options;
  options.format.buffer_size = 10;
  options.with_offsets = true;
  peer->is_slow = true;
  start(options);
  give(0, "1234");
  give(4, "5678");
  CAF_CHECK_EQUAL(answers, 2u);
  CAF_CHECK(peer->seen.empty());
  elapse(10min);
  CAF_CHECK(peer->seen.empty());
  give(8, "9012");
  CAF_CHECK_EQUAL(answers, 2u);
  CAF_CHECK_EQUAL(text(), "123456789012");
  CAF_CHECK_EQUAL(info_of(peer->seen[0], io_offset_key), 0u);
  take_one();
  CAF_CHECK_EQUAL(answers, 3u);
  give(12, "x");
  give(20, "y", 7); // What was kept goes first.
  give_end(21);
  CAF_CHECK_EQUAL(text(), "123456789012xy<end>");
  CAF_CHECK_EQUAL(info_of(peer->seen[1], io_offset_key), 12u);
  CAF_CHECK_EQUAL(info_of(peer->seen[2], io_offset_key), 20u);
  CAF_CHECK_EQUAL(info_of(peer->seen[2], io_missed_key), 7u);
}

CAF_TEST(I16 output is not kept longer than was asked for) {
  tool_output_options options;
  options.format.buffer_size = 1000;
  options.format.buffer_time = 2;
  peer->is_slow = true;
  start(options);
  give(0, "early");
  elapse(1s);
  give(5, "late");
  CAF_CHECK(peer->seen.empty());
  elapse(999ms);
  CAF_CHECK(peer->seen.empty());
  elapse(1ms);
  CAF_CHECK_EQUAL(text(), "earlylate");
  // A connection that takes nothing is given no more of what nobody waits for.
  give(9, "more");
  elapse(1min);
  CAF_CHECK_EQUAL(peer->seen.size(), 1u);
  take_one();
  elapse(2s);
  CAF_CHECK_EQUAL(text(), "earlylatemore");
  take_one();
  // Time alone does, too.
  peer->seen.clear();
  options.format.buffer_size = 0;
  start(options);
  give(0, "x");
  elapse(1999ms);
  CAF_CHECK(peer->seen.empty());
  elapse(1ms);
  CAF_CHECK_EQUAL(text(), "x");
  take_one();
}

CAF_TEST(I16 what is kept is delivered when it is asked for) {
  tool_output_options options;
  options.format.buffer_size = 1000;
  peer->is_slow = true;
  start(options);
  give(0, "early");
  CAF_CHECK(peer->seen.empty());
  CAF_CHECK_EQUAL(answers, 1u);
  give(io_fragment{});
  CAF_CHECK_EQUAL(text(), "early");
  CAF_CHECK_EQUAL(answers, 1u);
  take_one();
  CAF_CHECK_EQUAL(answers, 2u);
  give(io_fragment{});
  CAF_CHECK_EQUAL(answers, 3u);
  CAF_CHECK_EQUAL(peer->seen.size(), 1u);
}

CAF_TEST(LIM14 what is kept for many streams is bounded) {
  tool_output_options options;
  options.format.buffer_size = 1 << 30;
  peer->is_slow = true;
  start(options);
  const auto bytes = std::string(64 << 10, 'x');
  for (uint32_t rank = 0; rank < 100; ++rank)
    give({{{"job-1", rank}, out}, 0, bytes, 0, false, 0});
  CAF_CHECK((answers * bytes.size()) <= defaults::io_buffer);
  CAF_CHECK(answers > 0);
  while (!peer->waiting.empty())
    take_one();
}

CAF_TEST(I8 a sink whose connection is lost ends and refuses what it had) {
  peer->is_slow = true;
  start();
  give(0, "abc");
  peer->is_lost = true;
  give({{{"job-1", 4}, out}, 0, "x", 0, false, 0});
  CAF_CHECK_EQUAL(refusals, 2u);
  give(3, "d");
  CAF_CHECK_EQUAL(refusals, 3u);
  CAF_CHECK_EQUAL(answers, 0u);
}

CAF_TEST_FIXTURE_SCOPE_END()
