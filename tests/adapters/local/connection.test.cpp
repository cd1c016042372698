// Served connections: requests, answers, pushes, the end, and what a peer must
// not do.

#include "adapters/loop/event_loop.hpp"
#include "adapters/wire/pushes.hpp"
#include "tests/adapters/local/world.hpp"

#include <sys/ioctl.h>

#include <chrono>
#include <csignal>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

std::string raw_frame(uint32_t tag, std::string_view payload) {
  std::string result;
  if (wire::append_frame(result, tag, payload))
    CAF_FAIL("cannot make a frame");
  return result;
}

std::string header(uint32_t tag, uint32_t length) {
  const auto bytes =
    wire::encode_header({0, tag, length}, wire::byte_order::network);
  return {bytes.data(), bytes.size()};
}

} // namespace

// -- requests and answers ----------------------------------------------------

CAF_TEST(a client is served from greeting to finalize) {
  world uut;
  peer client{uut.port()};
  CAF_REQUIRE(client.send(bytes_of(greeting())));
  CAF_CHECK(client.receive(8) == std::string("\0\0\0\0\0\0\0\7", 8));
  const auto info = client.ask(101, job_info_request{});
  CAF_REQUIRE(info);
  CAF_CHECK_EQUAL(std::get<job_info>(info->body).nspace, "job");
  const auto committed = client.ask(102, commit_request{});
  CAF_CHECK(committed && committed->outcome == status::success);
  const auto fenced = client.ask(103, fence_request{});
  CAF_CHECK(fenced && fenced->outcome == status::success);
  const auto left = client.ask(104, finalize_request{});
  CAF_CHECK(left && left->outcome == status::success);
  client.close();
  CAF_REQUIRE(uut.eventually([&] { return uut.play.lost.size() == 1; }));
  CAF_CHECK(uut.on_loop([&] { return uut.play.lost.front().finalized; }));
  const auto counts = uut.statistics();
  CAF_CHECK_EQUAL(counts.served, 1u);
  CAF_CHECK_EQUAL(counts.connected, 0u);
  CAF_CHECK_EQUAL(counts.lost, 0u);
  CAF_CHECK_EQUAL(counts.violations, 0u);
  CAF_CHECK_EQUAL(counts.requests[0], 1u);
  CAF_CHECK_EQUAL(counts.requests[5], 1u);
}

CAF_TEST(the server learns what the kernel says and what the peer claims) {
  world uut;
  const auto client = uut.served();
  const auto asked = uut.on_loop([&] { return uut.play.connects.front(); });
  CAF_CHECK(asked.role == peer_role::client);
  CAF_CHECK(asked.claimed_proc == (proc_id{"job", 0}));
  CAF_CHECK_EQUAL(asked.actual.uid, me());
  CAF_CHECK_EQUAL(asked.version.minor, 2u);
}

CAF_TEST(X12 the server learns who came before its process) {
  for (const auto is_started : {false, true}) {
    auto launcher = process_launcher_actor{};
    auto options = listener_options{};
    options.launcher = [&] { return launcher; };
    world uut{options};
    const auto find = [=](const find_process&) -> caf::result<local_process> {
      if (!is_started)
        return make_error(status::not_found, "the script says so");
      return local_process{static_cast<uint32_t>(getpid()), {}};
    };
    uut.on_loop([&] {
      launcher = caf::actor_cast<process_launcher_actor>(
        uut.sys.actors().spawn([=]() -> caf::behavior { return {find}; }));
      return 0;
    });
    const auto client = uut.served();
    CAF_CHECK_EQUAL(
      uut.on_loop([&] { return uut.play.connects.front().is_not_started; }),
      !is_started);
    uut.on_loop([&] {
      launcher = nullptr;
      return 0;
    });
  }
}

CAF_TEST(a tool without identity gets one and learns who serves it) {
  world uut;
  peer tool{uut.port()};
  auto x = greeting();
  x.role = peer_role::tool_needs_identity;
  x.proc.reset();
  x.claimed = credentials{me(), 0};
  CAF_REQUIRE(tool.send(bytes_of(x)));
  const auto form = wire::connect_reply_form::tool_with_identity;
  const auto reply = wire::decode_connect_reply(
    tool.receive(wire::connect_reply_size(form)), form);
  CAF_REQUIRE(reply);
  CAF_CHECK(reply->assigned == (proc_id{"job", 0}));
  CAF_CHECK(reply->server == (proc_id{"server", 0}));
}

CAF_TEST(an error becomes a status) {
  world uut;
  const auto client = uut.served();
  const auto reply = client->ask(101, get_request{{"job", 0}, {}, "key"});
  CAF_REQUIRE(reply);
  CAF_CHECK(reply->outcome == status::not_found);
}

CAF_TEST(an unknown command is not supported) {
  world uut;
  const auto client = uut.served();
  // PACK 1 COMMAND 26: group invitations go by events.
  client->send(raw_frame(101, std::string("\x02\x1a", 2)));
  const auto [tag, payload] = client->frame();
  CAF_CHECK_EQUAL(tag, 101u);
  const auto reply =
    wire::decode_reply(wire::command::commit, payload, dialect());
  CAF_CHECK(reply && reply->outcome == status::not_supported);
  CAF_CHECK_EQUAL(uut.statistics().unknown_requests, 1u);
}

CAF_TEST(a fence is urgent beside what processes write) {
  world uut;
  const auto client = uut.served();
  const auto begin = std::chrono::steady_clock::now();
  const auto is_urgent = [&] { return uut.sys.loop().pace().is_urgent(begin); };
  CAF_CHECK(client->ask(101, commit_request{}));
  CAF_CHECK(!uut.on_loop(is_urgent));
  CAF_CHECK(client->ask(102, fence_request{}));
  CAF_CHECK(uut.on_loop(is_urgent));
}

CAF_TEST(answers may come in any order) {
  world uut;
  uut.on_loop([&] { return uut.play.holds_requests = true; });
  const auto client = uut.served();
  client->send(bytes_of(101, fence_request{}));
  client->send(bytes_of(102, fence_request{}));
  CAF_REQUIRE(
    uut.eventually([&] { return uut.play.held_requests.size() == 2; }));
  uut.on_loop([&] {
    uut.play.held_requests[1].deliver(ack{});
    uut.play.held_requests[0].deliver(make_error(status::timeout));
    return 0;
  });
  CAF_CHECK_EQUAL(client->frame().first, 102u);
  CAF_CHECK_EQUAL(client->frame().first, 101u);
}

CAF_TEST(a deregistration is passed on and not answered) {
  world uut;
  const auto client = uut.served();
  client->send(bytes_of(101, deregister_events_request{{status::timeout}}));
  const auto reply = client->ask(102, commit_request{});
  CAF_CHECK(reply);
  CAF_CHECK(uut.on_loop([&] { return uut.play.deregistered.size() == 1; }));
}

CAF_TEST(a heartbeat is passed on and not answered) {
  world uut;
  const auto client = uut.served();
  client->send(header(wire::tag_heartbeat, 0));
  const auto reply = client->ask(101, commit_request{});
  CAF_CHECK(reply);
  CAF_CHECK(uut.on_loop([&] { return uut.play.heartbeats == 1; }));
}

CAF_TEST(heartbeats that come together are passed on once) {
  world uut;
  const auto client = uut.served();
  const auto sent = size_t{6400};
  auto bytes = std::string{};
  for (size_t i = 0; i < sent; ++i)
    bytes += header(wire::tag_heartbeat, 0);
  client->send(bytes);
  const auto reply = client->ask(101, commit_request{});
  CAF_CHECK(reply);
  const auto passed = uut.on_loop([&] { return uut.play.heartbeats; });
  CAF_CHECK(passed >= 1u);
  // As many are read in one pass.
  CAF_CHECK(passed <= 2 * sent / local_limits{}.turn_messages);
  client->send(header(wire::tag_heartbeat, 0));
  CAF_CHECK(client->ask(102, commit_request{}));
  CAF_CHECK_EQUAL(uut.on_loop([&] { return uut.play.heartbeats; }), passed + 1);
}

CAF_TEST(events and output are pushed) {
  world uut;
  const auto client = uut.served();
  uut.on_loop([&] {
    troupe::event x;
    x.code = status::lost_connection;
    caf::anon_send(uut.play.connections.front(), batch_of(x));
    io_delivery y;
    y.source = {"job", 1};
    y.channel = io_channels::stdout_;
    y.bytes = "hello";
    caf::anon_send(uut.play.connections.front(), y);
    return 0;
  });
  const auto [first, pushed_event] = client->frame();
  CAF_CHECK_EQUAL(first, wire::tag_event);
  const auto x = wire::decode_event(pushed_event, dialect());
  CAF_CHECK(x && x->code == status::lost_connection);
  const auto [second, pushed_output] = client->frame();
  CAF_CHECK_EQUAL(second, wire::tag_output);
  const auto y = wire::decode_output(pushed_output, dialect());
  CAF_CHECK(y && y->bytes == "hello");
  CAF_CHECK_EQUAL(uut.statistics().pushes, 2u);
}

CAF_TEST(what a turn sends goes out at once and in order) {
  world uut;
  const auto client = uut.served();
  const auto before = uut.statistics().writes;
  uut.on_loop([&] {
    const auto& to = uut.play.connections.front();
    for (auto i = 0; i < 20; ++i) {
      auto x = event_batch{};
      for (auto k = 0; k < 3; ++k)
        x.events.push_back(batch_of({static_cast<status>(-1000 - 3 * i - k),
                                     {"job", 1},
                                     data_range::local,
                                     {}})
                             .events.front());
      caf::anon_send(to, std::move(x));
    }
    io_delivery y;
    y.bytes = "last";
    caf::anon_send(to, y);
    return 0;
  });
  for (auto i = 0; i < 60; ++i) {
    const auto [tag, payload] = client->frame();
    CAF_REQUIRE_EQUAL(tag, wire::tag_event);
    const auto x = wire::decode_event(payload, dialect());
    CAF_REQUIRE(x);
    CAF_REQUIRE_EQUAL(static_cast<int>(x->code), -1000 - i);
  }
  CAF_CHECK_EQUAL(client->frame().first, wire::tag_output);
  CAF_CHECK_EQUAL(uut.statistics().writes - before, 1u);
  CAF_CHECK_EQUAL(uut.statistics().pushes, 61u);
  // Once the kernel has them the session knows.
  CAF_CHECK(uut.eventually([&] { return uut.play.taken == 60u; }));
}

CAF_TEST(a request that comes alone is answered at once) {
  world uut;
  const auto client = uut.served();
  const auto before = uut.statistics().writes;
  for (uint32_t tag = 101; tag < 111; ++tag)
    CAF_REQUIRE(client->ask(tag, commit_request{}));
  CAF_CHECK_EQUAL(uut.statistics().writes - before, 10u);
}

// -- the end -----------------------------------------------------------------

CAF_TEST(a client that goes without finalizing is lost) {
  world uut;
  auto client = uut.served();
  client->close();
  CAF_REQUIRE(uut.eventually([&] { return uut.play.lost.size() == 1; }));
  CAF_CHECK(!uut.on_loop([&] { return uut.play.lost.front().finalized; }));
  CAF_CHECK(uut.logged("ended without PMIx_Finalize"));
  CAF_CHECK_EQUAL(uut.statistics().lost, 1u);
}

CAF_TEST(a session can close its connection after the last answer) {
  world uut;
  const auto client = uut.served();
  uut.on_loop([&] {
    caf::anon_send(uut.play.connections.front(), batch_of({}));
    caf::anon_send(uut.play.connections.front(), close_connection{"done"});
    return 0;
  });
  CAF_CHECK_EQUAL(client->frame().first, wire::tag_event);
  CAF_CHECK(client->is_closed());
  CAF_CHECK(uut.logged("closed: done"));
}

CAF_TEST(a connection ends with its session) {
  world uut;
  const auto client = uut.served();
  uut.on_loop([&] {
    caf::anon_send_exit(uut.play.sessions.front(),
                        caf::exit_reason::user_shutdown);
    return 0;
  });
  CAF_CHECK(client->is_closed());
}

CAF_TEST(a connection ends with the server) {
  world uut;
  const auto client = uut.served();
  uut.on_loop([&] {
    caf::anon_send_exit(uut.server, caf::exit_reason::user_shutdown);
    return 0;
  });
  CAF_CHECK(client->is_closed());
  CAF_CHECK(uut.logged("the server has gone"));
}

CAF_TEST(a refused peer is cut off without a word) {
  world uut;
  uut.on_loop([&] { return uut.play.refusal = status::no_permissions; });
  peer client{uut.port()};
  client.send(bytes_of(greeting()));
  CAF_CHECK(client.is_closed());
  CAF_CHECK(uut.logged("refused by the server: the script says so"));
  CAF_CHECK(uut.logged("job:0, libpmix 4.2.2, 127.0.0.1:"));
  CAF_CHECK_EQUAL(uut.statistics().refused, 1u);
}

CAF_TEST(X35 a session ends when its peer went before the server decided) {
  world uut;
  uut.on_loop([&] { return uut.play.holds_connects = true; });
  peer client{uut.port()};
  client.send(bytes_of(greeting()));
  CAF_REQUIRE(
    uut.eventually([&] { return uut.play.held_connects.size() == 1; }));
  client.close();
  CAF_REQUIRE(
    uut.eventually([&] { return uut.door->statistics().refused == 1; }));
  uut.on_loop([&] {
    uut.play.held_connects.front().deliver(
      connect_accepted{{"job", 0}, {"server", 0}, 7},
      caf::actor_cast<client_actor>(uut.play.sessions.front()));
    return 0;
  });
  CAF_CHECK(uut.eventually([&] { return uut.play.lost.size() == 1; }));
  CAF_CHECK_EQUAL(uut.statistics().connected, 0u);
}

CAF_TEST(a destroyed listener cuts everybody off) {
  world uut;
  const auto client = uut.served();
  uut.on_loop([&] {
    uut.door.reset();
    return 0;
  });
  CAF_CHECK(client->is_closed());
  CAF_CHECK(uut.eventually([&] { return uut.play.lost.size() == 1; }));
}

// -- what a peer must not do -------------------------------------------------

// 4.2, 50.
CAF_TEST(E39 a host that listens hears of what breaks the protocol) {
  auto heard = std::vector<std::string>{};
  auto options = listener_options{};
  options.on_violation = [&](const proc_id& who, const std::string& why) {
    heard.push_back(to_string(who) + " " + why);
  };
  world uut{options};
  const auto client = uut.served();
  client->send(header(50, 3) + "abc");
  CAF_CHECK(client->is_closed());
  CAF_REQUIRE(uut.eventually([&] { return heard.size() == 1; }));
  CAF_CHECK(uut.on_loop(
    [&] { return heard.front().find("sent tag 50") != std::string::npos; }));
  // Who is not served yet is nobody.
  auto stranger = peer{uut.port()};
  stranger.send("GET / HTTP/1.0\r\n\r\n");
  CAF_CHECK(stranger.is_closed_at_last());
  CAF_CHECK(uut.on_loop([&] { return heard.size() == 1; }));
}

CAF_TEST(X13 a message that is too long closes the connection) {
  world uut;
  for (const auto length : {0xffffffffu, 0x80000000u, (32u << 20) + 1}) {
    const auto client = uut.served();
    client->send(header(101, length));
    CAF_CHECK(client->is_closed());
  }
  CAF_CHECK_EQUAL(uut.statistics().violations, 3u);
}

CAF_TEST(X13 an empty request closes the connection) {
  world uut;
  const auto client = uut.served();
  client->send(header(101, 0));
  CAF_CHECK(client->is_closed());
  CAF_CHECK(uut.logged("sent an empty request"));
}

CAF_TEST(X15 a tag that no client sends closes the connection) {
  world uut;
  for (const auto tag : {0u, 2u, 3u, 4u, 99u}) {
    const auto client = uut.served();
    client->send(raw_frame(tag, std::string("\x02\x00", 2)));
    CAF_CHECK(client->is_closed());
  }
  const auto client = uut.served();
  client->send(raw_frame(wire::tag_heartbeat, "x"));
  CAF_CHECK(client->is_closed());
}

CAF_TEST(X14 X18 a request that cannot be read closes the connection) {
  world uut;
  const auto client = uut.served();
  client->send(raw_frame(101, "\xff\xff\xff\xff\xff\xff\xff\xff"));
  CAF_CHECK(client->is_closed());
  CAF_CHECK(uut.logged("sent what cannot be read"));
  CAF_CHECK(uut.eventually([&] { return uut.play.lost.size() == 1; }));
}

CAF_TEST(MND-A4 X14 a request with a list that is too long is refused) {
  world uut;
  const auto client = uut.served();
  auto request = register_events_request{};
  request.codes.assign(1025, status::proc_aborted);
  const auto refused = client->ask(101, request);
  CAF_REQUIRE(refused);
  CAF_CHECK(refused->outcome == status::out_of_resource);
  CAF_CHECK(uut.logged("a message has 1025 event codes, the limit is 1024"));
  const auto control = client->ask(
    102, job_control_request{std::vector<proc_id>(65537, {"job", 0}), {}});
  CAF_REQUIRE(control);
  CAF_CHECK(control->outcome == status::out_of_resource);
  // The connection stays.
  const auto reply = client->ask(103, get_request{{"job", 0}, {}, "key"});
  CAF_CHECK(reply && reply->outcome == status::not_found);
  CAF_CHECK_EQUAL(uut.statistics().violations, 0u);
}

CAF_TEST(MND-A4 what comes behind a long request waits until that is read) {
  world uut;
  const auto client = uut.served();
  auto block = posted_data{scope::global, {}};
  for (size_t i = 0; i < 4000; ++i)
    block.entries.push_back({"key" + std::to_string(i), value::uint32(1)});
  const auto commit = commit_request{{block}};
  CAF_REQUIRE_GREATER(bytes_of(101, commit).size(), size_t{32} << 10);
  for (uint32_t tag = 101; tag < 140; tag += 4) {
    // Also those that have been read together with it, and whoever leaves.
    client->send(bytes_of(tag, commit)
                 + bytes_of(tag + 1, get_request{{"job", 0}, {}, "key"})
                 + bytes_of(tag + 2, commit)
                 + bytes_of(tag + 3, get_request{{"job", 0}, {}, "key"}));
    for (uint32_t i = 0; i < 4; ++i)
      CAF_CHECK_EQUAL(client->frame().first, tag + i);
  }
  client->send(bytes_of(140, commit) + bytes_of(141, finalize_request{}));
  CAF_CHECK_EQUAL(client->frame().first, 140u);
  CAF_CHECK_EQUAL(client->frame().first, 141u);
  CAF_CHECK_EQUAL(uut.statistics().violations, 0u);
}

CAF_TEST(MND-A4 a long request reaches the session although its peer is gone) {
  world uut;
  const auto client = uut.served();
  const auto before = uut.on_loop([&] { return uut.play.requests; });
  client->send(bytes_of(
    101,
    commit_request{{{scope::global, std::vector<key_value>(
                                      4000, {"key", value::uint32(1)})}}}));
  client->close();
  CAF_CHECK(uut.eventually([&] { return uut.play.lost.size() == 1; }));
  CAF_CHECK_EQUAL(uut.on_loop([&] { return uut.play.requests; }), before + 1);
}

CAF_TEST(X16 a request that is cut anywhere waits for the rest) {
  world uut;
  const auto client = uut.served();
  const auto bytes = bytes_of(101, get_request{{"job", 0}, {}, "key"});
  for (size_t cut = 1; cut < bytes.size(); ++cut) {
    client->send({bytes.data(), cut});
    // The server has taken the first part when it has answered somebody else.
    client->send({bytes.data() + cut, bytes.size() - cut});
    CAF_REQUIRE_EQUAL(client->frame().first, 101u);
  }
  CAF_CHECK_EQUAL(uut.statistics().violations, 0u);
}

CAF_TEST(X19 a request before the handshake is over closes the connection) {
  world uut;
  uut.on_loop([&] { return uut.play.holds_connects = true; });
  peer eager{uut.port()};
  eager.send(bytes_of(greeting()) + bytes_of(101, job_info_request{}));
  CAF_CHECK(eager.is_closed());
  peer patient{uut.port()};
  patient.send(bytes_of(greeting()));
  CAF_REQUIRE(
    uut.eventually([&] { return uut.play.held_connects.size() == 1; }));
  patient.send(bytes_of(101, job_info_request{}));
  CAF_CHECK(patient.is_closed());
}

CAF_TEST(X19 a request after finalize closes the connection) {
  world uut;
  const auto client = uut.served();
  client->send(bytes_of(101, finalize_request{})
               + bytes_of(102, commit_request{}));
  CAF_CHECK(client->is_closed_at_last());
  CAF_CHECK(uut.logged("after PMIx_Finalize"));
}

CAF_TEST(X20 a tag that is in use closes the connection) {
  world uut;
  uut.on_loop([&] { return uut.play.holds_requests = true; });
  const auto client = uut.served();
  client->send(bytes_of(101, fence_request{}) + bytes_of(101, fence_request{}));
  CAF_CHECK(client->is_closed());
  CAF_CHECK(uut.logged("used tag 101 again"));
}

// -- limits ------------------------------------------------------------------

CAF_TEST(LIM16 X20 at most 256 requests of a client are in flight) {
  world uut;
  uut.on_loop([&] { return uut.play.holds_requests = true; });
  const auto client = uut.served();
  std::string bytes;
  for (uint32_t tag = 101; tag < 101 + 300; ++tag)
    bytes += bytes_of(tag, fence_request{});
  client->send(bytes);
  CAF_REQUIRE(
    uut.eventually([&] { return uut.play.held_requests.size() == 256; }));
  // Somebody else is served as if nothing were.
  const auto other = uut.served();
  CAF_CHECK(other->ask(101, commit_request{}));
  CAF_CHECK(uut.on_loop([&] { return uut.play.held_requests.size() == 256; }));
  // Answers make room.
  uut.on_loop([&] {
    for (auto& x : std::exchange(uut.play.held_requests, {}))
      x.deliver(ack{});
    return 0;
  });
  for (auto i = 0; i < 256; ++i)
    CAF_REQUIRE(client->frame().first >= 101u);
  CAF_CHECK(
    uut.eventually([&] { return uut.play.held_requests.size() == 44; }));
}

CAF_TEST(LIM16 a client that dies while it is not read is noticed) {
  world uut;
  uut.on_loop([&] { return uut.play.holds_requests = true; });
  auto client = uut.served();
  std::string bytes;
  for (uint32_t tag = 101; tag < 101 + 300; ++tag)
    bytes += bytes_of(tag, fence_request{});
  client->send(bytes);
  CAF_REQUIRE(
    uut.eventually([&] { return uut.play.held_requests.size() == 256; }));
  client->close();
  CAF_CHECK(uut.eventually([&] { return uut.play.lost.size() == 1; }));
}

CAF_TEST(LIM8 a busy client leaves others their turn) {
  world uut;
  const auto busy = uut.served();
  const auto other = uut.served();
  // 10,000 requests: the answers would have to wait behind all of them.
  std::string bytes;
  for (uint32_t tag = 101; tag < 101 + 10000; ++tag)
    bytes += bytes_of(tag, deregister_events_request{});
  auto sender = std::thread{[&] { busy->send(bytes); }};
  CAF_CHECK(other->ask(101, commit_request{}));
  sender.join();
  CAF_CHECK(busy->ask(100, commit_request{}));
  CAF_CHECK_EQUAL(uut.on_loop([&] { return uut.play.deregistered.size(); }),
                  10000u);
}

CAF_TEST(LIM11 X25 a peer that does not read is not served further) {
  world uut;
  uut.on_loop([&] { return uut.play.answer_size = size_t{64} << 10; });
  const auto client = uut.served();
  std::string bytes;
  constexpr auto n = 1000u; // 62 MiB of answers
  for (uint32_t tag = 101; tag < 101 + n; ++tag)
    bytes += bytes_of(tag, query_request{});
  auto sender = std::thread{[&] { client->send(bytes); }};
  CAF_REQUIRE(uut.eventually([&] { return uut.play.requests > 0; }));
  // Somebody else is served as if nothing were.
  const auto other = uut.served();
  CAF_CHECK(other->ask(101, commit_request{}));
  // The kernel takes some megabytes; beyond them there are at most as many
  // answers as there may be requests in flight.
  size_t before = 0;
  size_t passes = 0;
  CAF_REQUIRE(uut.eventually([&] {
    if (std::exchange(before, uut.play.requests) != uut.play.requests)
      passes = 0;
    return ++passes > 200;
  }));
  CAF_MESSAGE("stalled after " << before << " requests");
  CAF_CHECK(before < n * 3 / 4);
  for (uint32_t tag = 101; tag < 101 + n; ++tag)
    CAF_REQUIRE_EQUAL(client->frame().first, tag);
  sender.join();
}

CAF_TEST(LIM11 X25 a peer that never reads its pushes is cut off) {
  listener_options options;
  options.limits.queued_max = size_t{1} << 20;
  world uut{options};
  const auto client = uut.served();
  uut.on_loop([&] {
    io_delivery x;
    x.source = {"job", 1};
    x.channel = io_channels::stdout_;
    x.bytes.assign(size_t{64} << 10, 'x');
    for (auto i = 0; i < 500; ++i) // 32 MB
      caf::anon_send(uut.play.connections.front(), x);
    return 0;
  });
  CAF_CHECK(uut.eventually([&] { return uut.play.lost.size() == 1; }));
  CAF_CHECK(uut.logged("(L11)"));
}

CAF_TEST(a small answer takes no more than a few hundred microseconds) {
  world uut;
  const auto client = uut.served();
  const auto begin = std::chrono::steady_clock::now();
  constexpr auto n = 1000;
  for (uint32_t i = 0; i < n; ++i)
    CAF_REQUIRE(client->ask(101 + i, commit_request{}));
  const auto took = std::chrono::steady_clock::now() - begin;
  CAF_MESSAGE(
    std::chrono::duration_cast<std::chrono::microseconds>(took / n).count()
    << " us per request");
  CAF_CHECK(took < 20s); // A delayed acknowledgement costs 40 s.
}

// -- messages that are not whole ---------------------------------------------

CAF_TEST(MND-A6 a message of a process that is stopped may wait) {
  listener_options options;
  options.limits.message_time = 200ms;
  world uut{std::move(options)};
  const auto half = header(101, 32u << 20) + std::string(1000, 'x');
  const auto stopped = uut.served();
  const auto child = ::fork(); // Has the socket, too.
  CAF_REQUIRE(child >= 0);
  if (child == 0) {
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  auto state = 0;
  CAF_REQUIRE_EQUAL(::waitpid(child, &state, WUNTRACED), child);
  CAF_REQUIRE(WIFSTOPPED(state));
  stopped->send(half);
  // Others that began after it have had their time, one after the other.
  for (auto i = 0; i < 3; ++i) {
    const auto other = uut.served();
    other->send(half);
    CAF_CHECK(other->is_closed());
  }
  char c;
  CAF_CHECK_EQUAL(::recv(stopped->fd(), &c, 1, MSG_DONTWAIT), -1);
  CAF_CHECK_EQUAL(errno, EAGAIN);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CAF_CHECK(stopped->is_closed());
}

CAF_TEST(MND-A6 a message that does not become whole ends its connection) {
  listener_options options;
  options.limits.message_time = 200ms;
  world uut{std::move(options)};
  const auto patient = uut.served();
  const auto client = uut.served();
  client->send(header(101, 32u << 20) + std::string(1000, 'x'));
  CAF_CHECK(client->is_closed());
  CAF_CHECK(uut.logged("a message was not whole within 200 ms"));
  // Between messages there is no limit.
  const auto reply = patient->ask(101, commit_request{});
  CAF_CHECK(reply && reply->outcome == status::success);
}
