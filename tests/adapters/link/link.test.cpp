// The client's end of a connection: requests and replies, pushes, the end, and
// servers that mean harm.

#include "adapters/link/link.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/wire/compression.hpp"
#include "messages/attributes.hpp"
#include "tests/adapters/link/link_actor.hpp"
#include "tests/adapters/link/scripted_server.hpp"
#include "tests/fixtures/outcome.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

wire::request fence() {
  return fence_request{{{"job", rank_wildcard}}, {}};
}

status code_of(const troupe::link::outcome& x) {
  return x ? status::success : status_of(x.error());
}

/// Answers every request with success.
void agree(served_peer& x) {
  x.welcome();
  for (auto request = x.frame(); request.first != 99; request = x.frame())
    x.reply(request.first, status::success);
}

/// Connects to a server that plays `play` after the greeting, and fences.
status fence_with(const std::function<void(served_peer&)>& play) {
  scripted_server server{[&](served_peer& x) {
    x.welcome();
    play(x);
  }};
  client self;
  const auto code = self.connect(server.settings());
  return code == status::success ? code_of(self.uut->call(fence())) : code;
}

} // namespace

// -- requests ----------------------------------------------------------------

CAF_TEST(C3.10 a request that waits is answered) {
  scripted_server server{agree};
  client self;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  CAF_CHECK(self.uut->server() == (proc_id{"server", 0}));
  CAF_CHECK(self.uut->self() == (proc_id{"job", 3}));
  for (auto i = 0; i < 100; ++i)
    CAF_CHECK(code_of(self.uut->call(fence())) == status::success);
}

CAF_TEST(C3.10 a link needs its loop for what nobody waits for alone) {
  scripted_server server{agree};
  auto how = loop_system::settings{};
  how.starts_late = true;
  loop_system sys{how};
  auto peer = connect_to_server(server.settings());
  CAF_REQUIRE(peer);
  const auto uut = std::make_shared<troupe::link>(sys.loop(), std::move(*peer),
                                                  troupe::link::callbacks{});
  uut->start();
  CAF_CHECK(code_of(uut->call(fence())) == status::success);
  auto thread = std::thread{[&] { sys.run(); }};
  auto done = std::promise<bool>{};
  uut->submit(fence(), [&](const troupe::link::outcome& x) {
    done.set_value(static_cast<bool>(x) && sys.loop().in_loop_thread());
  });
  CAF_CHECK(done.get_future().get());
  uut->close();
  auto is_closed = std::promise<void>{};
  sys.loop().post([&] { is_closed.set_value(); });
  is_closed.get_future().wait();
  sys.stop();
  thread.join();
}

CAF_TEST(C3.10 a link that ends before its loop runs leaves nothing) {
  scripted_server server{agree};
  auto how = loop_system::settings{};
  how.starts_late = true;
  loop_system sys{how};
  auto peer = connect_to_server(server.settings());
  CAF_REQUIRE(peer);
  auto uut = std::make_shared<troupe::link>(sys.loop(), std::move(*peer),
                                            troupe::link::callbacks{});
  const auto weak = std::weak_ptr<troupe::link>{uut};
  uut->start();
  uut->close();
  CAF_CHECK(code_of(uut->call(fence())) == status::lost_connection);
  uut = nullptr;
  sys.loop().run_once();
  CAF_CHECK(weak.expired());
}

CAF_TEST(C3.7 many threads ask at the same time) {
  scripted_server server{agree};
  client self;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  auto threads = std::vector<std::thread>{};
  auto answered = std::atomic<int>{0};
  for (auto i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (auto n = 0; n < 200; ++n) {
        if (i % 2 == 0) {
          if (self.uut->call(fence()))
            ++answered;
        } else {
          auto done = std::promise<bool>{};
          self.uut->submit(fence(), [&](const troupe::link::outcome& x) {
            done.set_value(static_cast<bool>(x)
                           && self.sys.loop().in_loop_thread());
          });
          if (done.get_future().get())
            ++answered;
        }
      }
    });
  for (auto& x : threads)
    x.join();
  CAF_CHECK_EQUAL(answered.load(), 1600);
}

CAF_TEST(C3.10 replies may come in any order and pushes before them) {
  scripted_server server{[](served_peer& x) {
    x.welcome();
    const auto first = x.frame();
    const auto second = x.frame();
    auto what = troupe::event{};
    what.code = status::timeout;
    what.source = {"job", 1};
    auto payload = std::string{};
    if (!wire::encode_event(what, x.rules, payload))
      x.send_frame(wire::tag_event, payload);
    auto output = io_delivery{};
    output.source = {"job", 2};
    output.handler = 4;
    output.bytes = "text";
    payload.clear();
    if (!wire::encode_output(output, x.rules, payload))
      x.send_frame(wire::tag_output, payload);
    x.send_frame(77, "of no meaning");
    x.send_frame(123456, "nobody asked");
    x.reply(second.first, status::not_found);
    x.reply(first.first, status::exists);
    x.frame();
  }};
  client self;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  auto first = std::promise<status>{};
  self.uut->submit(fence(), [&](const troupe::link::outcome& x) {
    first.set_value(code_of(x));
  });
  CAF_CHECK(code_of(self.uut->call(fence())) == status::not_found);
  CAF_CHECK(first.get_future().get() == status::exists);
  CAF_REQUIRE(self.eventually([&] { return self.outputs.size() == 1; }));
  self.on_loop([&] {
    CAF_CHECK_EQUAL(self.events.size(), 1u);
    CAF_CHECK(self.events.at(0).code == status::timeout);
    CAF_CHECK_EQUAL(self.outputs.at(0).bytes, "text");
    return 0;
  });
}

CAF_TEST(C3.10 events that come together are told together and in order) {
  scripted_server server{[](served_peer& x) {
    x.welcome();
    const auto request = x.frame();
    auto bytes = std::string{};
    const auto add = [&](uint32_t tag, const auto& encode) {
      const auto start = wire::begin_frame(bytes, tag);
      encode();
      static_cast<void>(wire::end_frame(bytes, start));
    };
    const auto add_events = [&](int first, int last) {
      for (auto i = first; i < last; ++i)
        add(wire::tag_event, [&] {
          const auto what =
            troupe::event{static_cast<status>(-1000 - i), {"job", 1}, {}, {}};
          static_cast<void>(wire::encode_event(what, x.rules, bytes));
        });
    };
    add_events(0, 30);
    add(request.first,
        [&] { wire::encode_status(status::success, x.rules, bytes); });
    add_events(30, 40);
    x.send(bytes);
    x.frame();
  }};
  client self;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  auto before_reply = size_t{0};
  self.uut->submit(fence(), [&](const troupe::link::outcome&) {
    before_reply = self.events.size();
  });
  CAF_REQUIRE(self.eventually([&] { return self.events.size() == 40; }));
  self.on_loop([&] {
    CAF_CHECK_EQUAL(before_reply, 30u);
    // However the bytes arrive; mostly there are two.
    CAF_CHECK_LESS(self.batches, 40u);
    for (auto i = 0; i < 40; ++i)
      CAF_CHECK_EQUAL(static_cast<int>(self.events[i].code), -1000 - i);
    return 0;
  });
}

CAF_TEST(C3.10 what is asked after news waits until the server has looked at them) {
  auto kinds = std::string{};
  auto is_asked = std::promise<void>{};
  auto asked = is_asked.get_future();
  scripted_server server{[&](served_peer& x) {
    x.welcome();
    const auto take = [&] {
      const auto request = x.frame();
      const auto what = wire::decode_request(request.second, x.rules);
      if (what && std::holds_alternative<group_leave_request>(*what))
        kinds += std::get<group_leave_request>(*what).id.empty() ? 'n' : '?';
      else
        kinds +=
          what && std::holds_alternative<fence_request>(*what) ? 'f' : '?';
      return request.first;
    };
    auto tag = take();
    asked.wait();
    char byte = 0;
    kinds += ::recv(x.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 ? '-' : '!';
    // There are more by now.
    x.reply(tag, status::not_found);
    x.reply(take(), status::not_found);
    for (auto i = 0; i < 3; ++i)
      x.reply(take(), status::success);
    x.frame();
  }};
  client self;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  auto answers = std::promise<status>{};
  self.uut->note_news();
  self.uut->submit(fence(), [](const troupe::link::outcome&) {
    // The next one's answer comes later.
  });
  self.uut->note_news();
  self.uut->submit(fence(), [&](const troupe::link::outcome& x) {
    answers.set_value(code_of(x));
  });
  self.uut->tell_news();
  is_asked.set_value();
  CAF_CHECK(answers.get_future().get() == status::success);
  CAF_CHECK(code_of(self.uut->call(fence())) == status::success);
  CAF_CHECK_EQUAL(kinds, "n-fnff");
}

CAF_TEST(C3.11 a server that vanishes before it looks at news fails what waits) {
  scripted_server server{[](served_peer& x) {
    x.welcome();
    x.frame();
  }};
  client self;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  self.uut->note_news();
  CAF_CHECK(code_of(self.uut->call(fence())) == status::lost_connection);
}

CAF_TEST(E35 208 default handlers are named to servers that forget the first) {
  auto seen = std::vector<std::vector<status>>{};
  scripted_server server{[&](served_peer& x) {
    x.welcome();
    for (const auto answer : {status::not_supported, status::success}) {
      const auto request = x.frame();
      const auto what = wire::decode_request(request.second, x.rules);
      if (!what || !std::holds_alternative<register_events_request>(*what))
        return;
      seen.push_back(std::get<register_events_request>(*what).codes);
      x.reply(request.first, answer);
    }
    x.frame();
  }};
  client self;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  // The answer is that of the registration without codes.
  CAF_CHECK(code_of(self.uut->call(wire::request{register_events_request{}}))
            == status::success);
  CAF_REQUIRE_EQUAL(seen.size(), 2u);
  CAF_CHECK(seen[0] == std::vector<status>{default_events});
  CAF_CHECK(seen[1].empty());
}

CAF_TEST(E35 a registration of codes is sent as it is) {
  auto seen = std::promise<size_t>{};
  scripted_server server{[&](served_peer& x) {
    x.welcome();
    const auto request = x.frame();
    const auto what = wire::decode_request(request.second, x.rules);
    x.reply(request.first, status::success);
    seen.set_value(what ? std::get<register_events_request>(*what).codes.size()
                        : 0);
    x.frame();
  }};
  client self;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  const auto codes = std::vector<status>{status::timeout, default_events};
  CAF_CHECK(
    code_of(self.uut->call(wire::request{register_events_request{codes, {}}}))
    == status::success);
  CAF_CHECK_EQUAL(seen.get_future().get(), 2u);
}

CAF_TEST(C3.10 a request over the buffers of the kernel goes out in pieces) {
  auto size = std::promise<size_t>{};
  scripted_server server{[&](served_peer& x) {
    x.welcome();
    const auto request = x.frame();
    size.set_value(request.second.size());
    x.reply(request.first, status::success);
    x.frame();
  }};
  client self;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  auto x = commit_request{};
  x.blocks.push_back(
    {scope::global, {{"key", value::bytes(std::string(16 << 20, 'x'))}}});
  CAF_CHECK(code_of(self.uut->call(wire::request{x})) == status::success);
  CAF_CHECK_GREATER(size.get_future().get(), size_t{16} << 20);
}

CAF_TEST(C3.10 the link is a session as any other) {
  scripted_server server{agree};
  client self;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  auto session = spawn_link_actor(self.sys.actors(), self.uut);
  const auto yes =
    ask<ack>(self.sys.actors(), session, fence_request{{{"job", 1}}, {}});
  CAF_CHECK(self.eventually([&] { return yes->code == status::success; }));
  self.uut->close();
  const auto no =
    ask<ack>(self.sys.actors(), session, fence_request{{{"job", 1}}, {}});
  CAF_CHECK(
    self.eventually([&] { return no->code == status::lost_connection; }));
  caf::anon_send_exit(session, caf::exit_reason::user_shutdown);
}

// -- the end -----------------------------------------------------------------

CAF_TEST(C3.11 a server that vanishes fails what is open and what comes) {
  scripted_server server{[](served_peer& x) {
    x.welcome();
    x.frame();
    x.frame();
  }};
  client self;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  auto first = std::promise<status>{};
  self.uut->submit(fence(), [&](const troupe::link::outcome& x) {
    first.set_value(code_of(x));
  });
  CAF_CHECK(code_of(self.uut->call(fence())) == status::lost_connection);
  CAF_CHECK(first.get_future().get() == status::lost_connection);
  CAF_CHECK(self.eventually([&] { return self.losses == 1; }));
  CAF_CHECK(code_of(self.uut->call(fence())) == status::lost_connection);
  CAF_CHECK(status_of(self.uut->beat()) == status::lost_connection);
  CAF_CHECK(!self.uut->is_open());
}

CAF_TEST(C3.11 a server that vanishes while nobody asks is noticed) {
  scripted_server server{[](served_peer& x) {
    x.welcome();
    x.frame();
  }};
  client self;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  CAF_CHECK(!self.uut->beat());
  CAF_CHECK(self.eventually([&] { return self.losses == 1; }));
}

CAF_TEST(C3.11 our own end is no loss) {
  scripted_server server{agree};
  client self;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  self.uut->close();
  self.on_loop([] { return 0; });
  CAF_CHECK_EQUAL(self.on_loop([&] { return self.losses; }), 0u);
}

CAF_TEST(C3.11 a wait with a limit ends though the server is silent) {
  scripted_server server{[](served_peer& x) {
    x.welcome();
    x.frame();
    x.frame();
  }};
  client self;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  CAF_CHECK(code_of(self.uut->call(fence(), 20ms)) == status::timeout);
  CAF_CHECK(self.uut->is_open());
}

// -- connecting --------------------------------------------------------------

CAF_TEST(C3.11 nobody listens) {
  auto settings = link_settings{};
  {
    scripted_server server{agree};
    settings = server.settings();
  }
  client self;
  CAF_CHECK(self.connect(settings) == status::unreach);
}

CAF_TEST(C3.11 a server that closes or refuses is no server) {
  scripted_server closes{[](served_peer& x) { x.take_greeting(); }};
  client self;
  CAF_CHECK(self.connect(closes.settings()) == status::unreach);
  scripted_server refuses{[](served_peer& x) {
    x.take_greeting();
    x.send({"\xff\xff\xff\xe7\0\0\0\0", 8});
    x.frame();
  }};
  CAF_CHECK(self.connect(refuses.settings()) == status::unreach);
}

CAF_TEST(C3.11 a server that closes after its answer gives a status) {
  scripted_server server{[](served_peer& x) { x.welcome(); }};
  client self;
  const auto code = self.connect(server.settings());
  CAF_CHECK(code == status::unreach || code == status::success);
  if (code == status::success)
    CAF_CHECK(code_of(self.uut->call(fence())) == status::lost_connection);
}

CAF_TEST(C3.11 a server that does not answer the greeting is given up) {
  scripted_server server{[](served_peer& x) {
    x.take_greeting();
    x.frame();
  }};
  auto settings = server.settings();
  settings.answer_time = 30ms;
  client self;
  CAF_CHECK(self.connect(settings) == status::timeout);
}

CAF_TEST(C3.13 a tool gets its name from the server) {
  auto greeted = std::promise<wire::hello>{};
  scripted_server server{[&](served_peer& x) {
    greeted.set_value(x.welcome());
    x.frame();
  }};
  {
    client self;
    auto settings = server.settings();
    settings.role = peer_role::tool_needs_identity;
    settings.self.reset();
    CAF_REQUIRE(self.connect(settings) == status::success);
    CAF_CHECK(self.uut->self() == (proc_id{"tools", 7}));
  }
  const auto x = greeted.get_future().get();
  CAF_CHECK(x.role == peer_role::tool_needs_identity);
  CAF_CHECK(x.claimed.has_value());
}

CAF_TEST(C3.10 the release announced follows that of the server) {
  CAF_CHECK_EQUAL(announced_release(std::nullopt).patch, 2);
  CAF_CHECK_EQUAL(announced_release(release{3, 2, 5}).patch, 2);
  CAF_CHECK_EQUAL(announced_release(release{4, 2, 3}).patch, 2);
  CAF_CHECK_EQUAL(announced_release(release{4, 2, 4}).patch, 9);
  CAF_CHECK_EQUAL(announced_release(release{6, 1, 0}).patch, 9);
}

// -- who listens -------------------------------------------------------------

CAF_TEST(X10 whoever listens must be of a user that may be our server) {
  if (me() != 0) {
    CAF_MESSAGE("needs root: the listener has to be another user");
    return;
  }
  // Root may serve anybody; so the client is the one who is not root here.
  scripted_server server{agree};
  const auto settings = server.settings();
  CAF_CHECK_EQUAL(
    as_user(4711, [&] { return connect_to_server(settings) ? 0 : 1; }), 0);
  // A listener of another user is refused, unless it is named.
  auto port = settings.uri.port;
  int pipe_ends[2];
  CAF_REQUIRE(::pipe(pipe_ends) == 0);
  const auto child = ::fork();
  if (child == 0) {
    // System calls only: a listener that says yes to whatever it gets.
    if (::setresuid(4712, 4712, 4712) != 0)
      ::_exit(1);
    const auto fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(where);
    if (::bind(fd, reinterpret_cast<sockaddr*>(&where), size) != 0
        || ::listen(fd, 4) != 0
        || ::getsockname(fd, reinterpret_cast<sockaddr*>(&where), &size) != 0)
      ::_exit(2);
    port = ntohs(where.sin_port);
    if (::write(pipe_ends[1], &port, sizeof(port)) != sizeof(port))
      ::_exit(3);
    for (;;) {
      const auto peer = ::accept(fd, nullptr, nullptr);
      char bytes[8] = {};
      if (::write(peer, bytes, sizeof(bytes)) != sizeof(bytes))
        ::_exit(4);
      while (::read(peer, bytes, sizeof(bytes)) > 0)
        continue;
      ::close(peer);
    }
  }
  CAF_REQUIRE(::read(pipe_ends[0], &port, sizeof(port)) == sizeof(port));
  auto trap = settings;
  trap.uri.port = port;
  const auto refused = connect_to_server(trap);
  CAF_CHECK(!refused && status_of(refused.error()) == status::no_permissions);
  trap.trusted_users = {4712};
  CAF_CHECK(static_cast<bool>(connect_to_server(trap)));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

// -- servers that mean harm --------------------------------------------------

CAF_TEST(X50 a length over the bound ends the connection) {
  CAF_CHECK(fence_with([](served_peer& x) {
              const auto request = x.frame();
              const auto head = wire::encode_header(
                {0, request.first, 0xffffffff}, wire::byte_order::network);
              x.send({head.data(), head.size()});
              x.frame();
            })
            == status::lost_connection);
}

CAF_TEST(X50 replies that are none give an error) {
  const auto payloads = std::vector<std::string>{
    "",
    std::string("\x02", 1),
    std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10),
    std::string(1000, '\0'),
    std::string(1000, '\x7f'),
    std::string("\x04\x00\x00", 3),
    std::string("\x02\x00 and something behind it", 26),
  };
  for (const auto& payload : payloads) {
    const auto code = fence_with([&](served_peer& x) {
      const auto request = x.frame();
      x.send_frame(request.first, payload);
      x.frame();
    });
    CAF_MESSAGE("payload of " << payload.size());
    CAF_CHECK(code != status::success);
    CAF_CHECK(code != status::timeout);
  }
}

CAF_TEST(X50 a reply cut at every offset gives an error) {
  auto whole = std::string{};
  const auto rules = wire::dialect{};
  auto found = get_result{};
  found.blocks.push_back(
    {{"job", 1},
     {{"key", value::string("text")},
      {"list", value::infos({{"inner", 0, value::uint32(1)}})}}});
  CAF_REQUIRE(!wire::encode_reply(found, rules, whole));
  scripted_server server{[&](served_peer& x) {
    x.welcome();
    for (size_t i = 0; i < whole.size(); ++i)
      x.send_frame(x.frame().first, whole.substr(0, i));
    x.frame();
  }};
  client self;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  for (size_t i = 0; i < whole.size(); ++i) {
    const auto y =
      self.uut->call(wire::request{get_request{{"job", 1}, {}, {}}});
    // A cut between two complete parts is a shorter reply.
    if (y)
      if (const auto* body = std::get_if<get_result>(&*y))
        CAF_CHECK_LESS(body->blocks.size(), 2u);
  }
  CAF_CHECK(self.uut->is_open());
}

CAF_TEST(X50 pushes that are none are dropped) {
  CAF_CHECK(fence_with([](served_peer& x) {
              const auto request = x.frame();
              for (const auto tag : {wire::tag_event, wire::tag_output})
                for (const auto* junk : {"", "x", "\xff\xff\xff\xff\xff"})
                  x.send_frame(tag, junk);
              x.reply(request.first, status::success);
              x.frame();
            })
            == status::success);
}

// 4.2, 49.
CAF_TEST(E56 what cannot be read is told once each) {
  scripted_server server{[](served_peer& x) {
    x.welcome();
    const auto first = x.frame();
    x.send_frame(wire::tag_event, "\xff\xff");
    x.send_frame(wire::tag_output, "x");
    x.send_frame(first.first, "\xff\xff\xff");
    x.reply(x.frame().first, status::not_found); // What is refused can be read.
    x.frame();
  }};
  client self;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  CAF_CHECK(code_of(self.uut->call(fence())) != status::success);
  CAF_CHECK(code_of(self.uut->call(fence())) == status::not_found);
  CAF_CHECK(self.eventually([&] { return self.garbled == 3; }));
  CAF_CHECK(self.on_loop([&] { return self.garbled + self.losses == 3; }));
}

CAF_TEST(E56 what is too long to be written is told) {
  scripted_server server{agree};
  client self;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  auto large = notify_request{};
  large.infos = {{"large", 0, value::string(std::string(40 << 20, 'x'))}};
  CAF_CHECK(code_of(self.uut->call(large)) != status::success);
  CAF_CHECK(self.eventually([&] { return self.garbled == 1; }));
  CAF_CHECK(code_of(self.uut->call(fence())) == status::success);
}

namespace {

/// Sends a numbered event.
bool send_event(served_peer& x, int32_t number) {
  auto what = troupe::event{};
  what.code = status::timeout;
  what.source = {"job", 1};
  what.infos = {{"number", 0, value::integer(number)}};
  auto payload = std::string{};
  return !wire::encode_event(what, x.rules, payload)
         && x.send_frame(wire::tag_event, payload);
}

bool is_in_order(const std::vector<troupe::event>& xs) {
  for (size_t i = 0; i < xs.size(); ++i)
    if (number<size_t>(xs[i].infos, "number") != i)
      return false;
  return true;
}

} // namespace

CAF_TEST(P-J3 events keep their order whichever thread reads them) {
  constexpr size_t rounds = 300;
  scripted_server server{[](served_peer& x) {
    x.welcome();
    auto number = int32_t{0};
    for (size_t i = 0; i < rounds; ++i) {
      const auto request = x.frame();
      send_event(x, number++); // Read by the thread that waits ...
      x.reply(request.first, status::success);
      for (auto k = 0; k < 3; ++k)
        send_event(x, number++); // ... and these by the loop, or by the next.
    }
    x.frame();
  }};
  client self;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  for (size_t i = 0; i < rounds; ++i)
    CAF_CHECK(code_of(self.uut->call(fence())) == status::success);
  CAF_REQUIRE(
    self.eventually([&] { return self.events.size() == 4 * rounds; }));
  CAF_CHECK(self.on_loop([&] { return is_in_order(self.events); }));
}

CAF_TEST(E12 a process without room leaves events with its server) {
  constexpr int32_t count = 200000;
  std::atomic<int32_t> sent{0};
  scripted_server server{[&](served_peer& x) {
    x.welcome();
    x.frame();
    for (auto i = int32_t{0}; i < count && send_event(x, i); ++i)
      sent = i + 1;
    x.frame();
  }};
  client self;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  self.on_loop([&] {
    self.uut->set_intake(troupe::link::intake::nothing);
    return 0;
  });
  self.uut->submit(fence(), [](const troupe::link::outcome&) {});
  CAF_REQUIRE(self.eventually([&] { return sent > 1000; }));
  CAF_CHECK(self.on_loop([&] { return self.events.empty(); }));
  CAF_CHECK_LESS(sent.load(), count); // More than the kernel takes.
  self.on_loop([&] {
    self.uut->set_intake(troupe::link::intake::all);
    return 0;
  });
  CAF_CHECK(self.eventually([&] { return self.events.size() == count; }));
  CAF_CHECK(self.on_loop([&] { return is_in_order(self.events); }));
}

CAF_TEST(E12 a process without room for events still gets its answers) {
  scripted_server server{agree};
  client self;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  self.on_loop([&] {
    self.uut->set_intake(troupe::link::intake::answers);
    return 0;
  });
  auto first = std::promise<status>{};
  self.uut->submit(fence(), [&](const troupe::link::outcome& x) {
    first.set_value(code_of(x));
  });
  CAF_CHECK(first.get_future().get() == status::success);
  self.on_loop([&] {
    self.uut->set_intake(troupe::link::intake::nothing);
    return 0;
  });
  // Whoever waits reads for himself.
  CAF_CHECK(code_of(self.uut->call(fence())) == status::success);
}

CAF_TEST(X50 data of another job or with a foreign status are refused) {
  CAF_CHECK(fence_with([](served_peer& x) {
              x.reply(x.frame().first, static_cast<status>(-31337));
              x.frame();
            })
            == static_cast<status>(-31337));
}

CAF_TEST(X49 compressed texts expand to a bound in all) {
  // Each is within its own bounds: a mebibyte from about ten kilobytes.
  auto text = std::string{};
  auto seed = uint32_t{1};
  while (text.size() < (1 << 20)) {
    seed = seed * 1103515245 + 12345;
    text += std::string(64, static_cast<char>('a' + (seed >> 16) % 26));
  }
  const auto packed = wire::deflate_text(text);
  CAF_REQUIRE_GREATER(packed.size() * 100, text.size());
  const auto answer = [&](size_t count) {
    auto x = job_info{};
    x.nspace = "job";
    for (size_t i = 0; i < count; ++i)
      x.entries.push_back({"key" + std::to_string(i),
                           value{data_type::compressed_string, packed}});
    return x;
  };
  const auto ask_for = [&](size_t count) {
    scripted_server server{[&](served_peer& x) {
      x.welcome();
      auto rules = x.rules;
      rules.expand_strings = false;
      rules.peer = {6, 1, 0};
      auto payload = std::string{};
      const auto request = x.frame();
      if (wire::encode_reply(answer(count), rules, payload))
        return;
      x.send_frame(request.first, payload);
      x.frame();
    }};
    client self;
    CAF_REQUIRE(self.connect(server.settings()) == status::success);
    auto y = self.uut->call(wire::request{job_info_request{}});
    if (y) {
      const auto* body = std::get_if<job_info>(&*y);
      CAF_REQUIRE(body != nullptr);
      CAF_REQUIRE_EQUAL(body->entries.size(), count);
      CAF_CHECK(body->entries.front().val == value::string(text));
    }
    return code_of(y);
  };
  CAF_CHECK(ask_for(2) == status::success);
  CAF_CHECK(ask_for(40) == status::out_of_resource);
}
