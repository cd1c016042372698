#include "actors/mesh/remoting/gateway.hpp"

#include "actors/mesh/remoting/remote_proxy.hpp"
#include "messages/wire_types.hpp"
#include "tests/fixtures/gateway_world.hpp"
#include "tests/fixtures/remoting_types.hpp"
#include "tests/test.hpp"

#include <caf/all.hpp>

#include <thread>
#include <utility>

using namespace troupe;
using namespace troupe::fixtures;
using namespace remoting_test;

namespace {

adder::behavior_type adding(adder::pointer self) {
  return {
    [](int32_t a, int32_t b) { return a + b; },
    [self](const caf::actor& ask, int32_t x) {
      auto promise = self->make_response_promise<int32_t>();
      self->request(ask, caf::infinite, x)
        .then([promise](int32_t y) mutable { promise.deliver(y + 1); },
              [promise](caf::error& e) mutable { promise.deliver(e); });
      return promise;
    },
  };
}

caf::behavior times_ten() {
  return {[](int32_t x) { return x * 10; }};
}

/// Keeps what comes.
caf::behavior keeper(caf::event_based_actor* self, std::vector<int32_t>* out) {
  self->set_default_handler(caf::drop);
  return {[=](int32_t x) { out->push_back(x); }};
}

weather::behavior_type forecast(weather::pointer) {
  return {[](reading& x) {
            x.value += 1;
            return std::move(x);
          },
          [](caf::put_atom, const reading&) {}};
}

template <class T>
caf::error error_of(caf::expected<T> x) {
  return x ? caf::error{} : std::move(x.error());
}

/// A text, and how many of those may wait in the mail of a gateway.
constexpr size_t piece = 2000;
constexpr size_t pieces_of_mail = 16;

void few_bytes_of_mail(gateway_settings& x) {
  x.mail_bytes = pieces_of_mail * (piece + 64);
}

caf::behavior text_counter(caf::event_based_actor*, size_t* out) {
  return {[=](const std::string&) { ++*out; }};
}

struct late_state {
  std::vector<caf::response_promise> owed;
};

/// Answers all requests at once, when it is told.
caf::behavior late_answerer(caf::stateful_actor<late_state>* self) {
  return {[=](const std::string&) {
            auto promise = self->make_response_promise();
            self->state.owed.push_back(promise);
            return promise;
          },
          [=](int32_t) {
            for (auto& x : std::exchange(self->state.owed, {}))
              x.deliver(std::string(piece, 'x'));
          }};
}

struct answers {
  size_t texts = 0;
  size_t refusals = 0;
};

caf::behavior asker(caf::event_based_actor* self, const caf::actor& whom,
                    size_t count, answers* out) {
  for (size_t i = 0; i < count; ++i)
    self->request(whom, caf::infinite, std::string{"?"})
      .then([=](const std::string&) { ++out->texts; },
            [=](const caf::error& why) {
              if (status_of(why) == status::out_of_resource)
                ++out->refusals;
            });
  return {[](int32_t) {}};
}

/// Two nodes; the second has an adder.
struct two_nodes {
  gateway_world world{2};
  adder original = world[1].spawn(adding);
  adder remote;

  two_nodes() {
    world.publish(1, original, "adder", interface_of<adder>());
    remote = world.find<adder>(0, 1, "adder");
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(remoting_tests, two_nodes)

CAF_TEST(ACT-1 a request to an actor of another node is answered) {
  CAF_CHECK_EQUAL(unbox(world.ask<int32_t>(0, remote, 40, 2)), 42);
  CAF_CHECK(remote->node() != world[0].sys.node());
  CAF_CHECK(member_of(remote->node()) == world[1].name);
}

CAF_TEST(ACT-1 messages without a sender arrive in their order) {
  auto out = std::vector<int32_t>{};
  world.publish(1, world[1].spawn(keeper, &out), "keeper");
  const auto far = world.find(0, 1, "keeper");
  auto expected = std::vector<int32_t>{};
  for (int32_t i = 0; i < 1000; ++i) {
    expected.push_back(i);
    caf::anon_send(far, i);
  }
  world.run();
  CAF_CHECK_EQUAL(out, expected);
}

CAF_TEST(ACT-1 a delegated request is answered to who asked) {
  const auto delegate = [](caf::event_based_actor* self, adder to) {
    return caf::behavior{
      [=](int32_t a, int32_t b) { return self->delegate(to, a, b); }};
  };
  // Here, for a remote one; and there, back to here.
  const auto here = world[0].spawn(delegate, remote);
  CAF_CHECK_EQUAL(unbox(world.ask<int32_t>(0, here, 1, 2)), 3);
  world.publish(0, world[0].spawn(adding), "back", interface_of<adder>());
  const auto back = world.find<adder>(1, 0, "back");
  world.publish(1, world[1].spawn(delegate, back), "there");
  const auto there = world.find(0, 1, "there");
  CAF_CHECK_EQUAL(unbox(world.ask<int32_t>(0, there, 4, 5)), 9);
  CAF_CHECK_EQUAL(world[0].gauge_of("requests"), 0u);
}

CAF_TEST(ACT-2 a handle in a message works for who gets it) {
  const auto mine = world[0].spawn(times_ten);
  CAF_CHECK_EQUAL(unbox(world.ask<int32_t>(0, remote, mine, 5)), 51);
  // Again, and back to its own node as itself.
  CAF_CHECK_EQUAL(unbox(world.ask<int32_t>(0, remote, mine, 6)), 61);
  const auto echo = [] {
    return caf::behavior{[](caf::actor x) { return x; }};
  };
  world.publish(1, world[1].spawn(echo), "echo");
  const auto far = world.find(0, 1, "echo");
  const auto same = unbox(world.ask<caf::actor>(0, far, mine));
  CAF_CHECK_EQUAL(same, mine);
  const auto again =
    unbox(world.ask<caf::actor>(0, far, caf::actor_cast<caf::actor>(remote)));
  CAF_CHECK_EQUAL(again, remote);
}

CAF_TEST(ACT-5 what is not published is not found) {
  auto& gateway = world[0].gateway;
  const auto find = [&](std::optional<uint32_t> where, const char* name) {
    return error_of(
      world.ask<caf::strong_actor_ptr>(0, gateway, lookup_actor{where, name}));
  };
  CAF_CHECK_EQUAL(find(1, "other"), caf::sec::no_actor_published_at_port);
  CAF_CHECK_EQUAL(find(7, "adder"), caf::sec::cannot_connect_to_node);
  CAF_CHECK(!find(std::nullopt, "adder"));
  CAF_CHECK_EQUAL(find(std::nullopt, "other"),
                  caf::sec::no_actor_published_at_port);
  caf::anon_send(world[1].gateway, unpublish_actor{"adder"});
  world.run();
  CAF_CHECK_EQUAL(find(1, "adder"), caf::sec::no_actor_published_at_port);
  // Who has the handle keeps it.
  CAF_CHECK_EQUAL(unbox(world.ask<int32_t>(0, remote, 1, 1)), 2);
  world.publish(1, original, "adder", interface_of<adder>(),
                {std::vector<uint32_t>{3}});
  CAF_CHECK_EQUAL(find(1, "adder"), caf::sec::no_actor_published_at_port);
  world.publish(1, original, "adder", interface_of<adder>(),
                {std::vector<uint32_t>{3, 0}});
  CAF_CHECK(!find(1, "adder"));
}

CAF_TEST(ACT-5 a name is found only with the interface that is asked for) {
  auto& gateway = world[0].gateway;
  const auto find = [&](std::vector<std::string> interface) {
    return error_of(world.ask<caf::strong_actor_ptr>(
      0, gateway, lookup_actor{1, "adder", std::move(interface)}));
  };
  CAF_CHECK(!find(interface_of<adder>()));
  CAF_CHECK(!find({interface_of<adder>().front()}));
  CAF_CHECK_EQUAL(find(interface_of<weather>()),
                  caf::sec::unexpected_actor_messaging_interface);
  const auto names = interface_of<weather>();
  CAF_CHECK_EQUAL(names.back(), "('put',remoting_test::reading)->(void)");
}

CAF_TEST(ACT-5 the end of an actor takes its name back) {
  caf::anon_send_exit(original, caf::exit_reason::kill);
  world.run();
  const auto found = world.ask<caf::strong_actor_ptr>(0, world[0].gateway,
                                                      lookup_actor{1, "adder"});
  CAF_CHECK_EQUAL(found.error(), caf::sec::no_actor_published_at_port);
  CAF_CHECK_EQUAL(world[1].gauge_of("published"), 0u);
}

CAF_TEST(ACT-6 actors of registered kinds are spawned elsewhere) {
  auto& there = world[1];
  auto kind = register_actor_kind{};
  kind.name = "scaler";
  kind.make = [&](const caf::message& x) -> caf::strong_actor_ptr {
    if (!x.match_elements<int32_t>())
      return nullptr;
    const auto factor = x.get_as<int32_t>(0);
    return caf::actor_cast<caf::strong_actor_ptr>(there.spawn(
      [=] { return caf::behavior{[=](int32_t y) { return factor * y; }}; }));
  };
  caf::anon_send(there.gateway, kind);
  const auto spawn = [&](const char* name, caf::message arguments) {
    return world.ask<caf::strong_actor_ptr>(
      0, world[0].gateway, spawn_actor{1, name, std::move(arguments), {}});
  };
  const auto made = unbox(spawn("scaler", caf::make_message(7)));
  const auto scaler = caf::actor_cast<caf::actor>(made);
  CAF_CHECK_EQUAL(unbox(world.ask<int32_t>(0, scaler, 6)), 42);
  CAF_CHECK_EQUAL(error_of(spawn("scaler", caf::make_message("x"))),
                  caf::sec::cannot_spawn_actor_from_arguments);
  CAF_CHECK_EQUAL(error_of(spawn("other", caf::make_message(7))),
                  caf::sec::no_actor_published_at_port);
}

CAF_TEST(ACT-7 a type has to be allowed at both ends) {
  const auto types = wire_types<weather>();
  const auto station = world[1].spawn(forecast);
  world.publish(1, station, "weather", interface_of<weather>());
  const auto far = world.find<weather>(0, 1, "weather");
  auto x = reading{"t", 20.5, {{"a", {1, 2, 3}}}};
  // Not here: it does not leave.
  auto y = world.ask<reading>(0, far, x);
  CAF_CHECK_EQUAL(y.error(), caf::sec::unknown_type);
  CAF_CHECK_EQUAL(world[0].gauge_of("refused_content"), 1u);
  // Not there: it is refused.
  caf::anon_send(world[0].gateway, allow_types{types});
  y = world.ask<reading>(0, far, x);
  CAF_CHECK_EQUAL(y.error(), caf::sec::unknown_type);
  CAF_CHECK_EQUAL(world[1].gauge_of("refused_content"), 1u);
  CAF_CHECK_EQUAL(world[0].gauge_of("requests"), 0u);
  caf::anon_send(world[1].gateway, allow_types{types});
  y = world.ask<reading>(0, far, x);
  CAF_REQUIRE(y.engaged());
  CAF_CHECK_EQUAL(y->value, 21.5);
  CAF_CHECK_EQUAL(y->counts, x.counts);
  CAF_CHECK_EQUAL(world[0].gauge_of("proxies"), 2u);
}

CAF_TEST(ACT-7 an answer of a type that is not allowed is an error) {
  const auto open = [] {
    return caf::behavior{[](int32_t) { return secret{7}; }};
  };
  world.publish(1, world[1].spawn(open), "safe");
  const auto far = world.find(0, 1, "safe");
  CAF_CHECK_EQUAL(error_of(world.ask<secret>(0, far, 1)),
                  caf::sec::unknown_type);
  caf::anon_send(world[1].gateway, allow_types{wire_types<secret>()});
  CAF_CHECK_EQUAL(error_of(world.ask<secret>(0, far, 1)),
                  caf::sec::unknown_type);
  caf::anon_send(world[0].gateway, allow_types{wire_types<secret>()});
  CAF_CHECK_EQUAL(unbox(world.ask<secret>(0, far, 1)).number, 7u);
}

CAF_TEST(ACT-9 an actor whose handle was not given out is not reached) {
  auto out = std::vector<int32_t>{};
  const auto hidden = world[1].spawn(keeper, &out);
  // A node that makes the handle up.
  auto forged = std::string{};
  begin_bundle(forged);
  auto bytes = std::string{};
  const auto content = std::string{"\x01\x06\x05\0\0\0", 6};
  append_frame(forged, message_frame{hidden.id(), 0, 0, {}, 0, {}, {content}});
  append_frame(forged,
               message_frame{original.id(), 0, 0, {}, 0, {}, {content}});
  world.run();
  world.corrupt = [&](std::string& x) {
    auto header = header_of(x);
    if (header && header->number > 0) {
      put_header(forged, *header);
      x = forged;
    }
  };
  caf::anon_send(remote, 1, 2);
  world.run();
  CAF_CHECK(out.empty());
  CAF_CHECK_EQUAL(world[1].gauge_of("refused_receiver"), 1u);
}

CAF_TEST(ACT-11 what nobody holds is forgotten at both ends) {
  const auto mine = world[0].spawn(times_ten);
  CAF_CHECK_EQUAL(unbox(world.ask<int32_t>(0, remote, mine, 5)), 51);
  CAF_CHECK_EQUAL(world[0].gauge_of("proxies"), 1u);
  CAF_CHECK(world[1].gauge_of("proxies") >= 2u);
  CAF_CHECK(world[0].gauge_of("exported") >= 2u);
  world.elapse(std::chrono::seconds{30});
  CAF_CHECK_EQUAL(world[1].gauge_of("proxies"), 0u);
  CAF_CHECK_EQUAL(world[0].gauge_of("exported"), 0u);
  // This one is held.
  CAF_CHECK_EQUAL(world[0].gauge_of("proxies"), 1u);
  CAF_CHECK_EQUAL(unbox(world.ask<int32_t>(0, remote, 1, 2)), 3);
  caf::anon_send(world[1].gateway, unpublish_actor{"adder"});
  remote = nullptr;
  world.elapse(std::chrono::seconds{30});
  CAF_CHECK_EQUAL(world[0].gauge_of("proxies"), 0u);
  CAF_CHECK_EQUAL(world[1].gauge_of("exported"), 0u);
  CAF_CHECK(!world[1].sys.registry().get(original.id()));
}

CAF_TEST(ACT-12 other threads may use handles of other nodes) {
  auto out = std::vector<int32_t>{};
  world.publish(1, world[1].spawn(keeper, &out), "keeper");
  const auto far = world.find(0, 1, "keeper");
  auto threads = std::vector<std::thread>{};
  for (int32_t t = 0; t < 4; ++t)
    threads.emplace_back([=] {
      for (int32_t i = 0; i < 500; ++i)
        caf::anon_send(far, t * 1000 + i);
    });
  for (auto& x : threads)
    x.join();
  world.run();
  CAF_REQUIRE_EQUAL(out.size(), 2000u);
  auto last = std::map<int32_t, int32_t>{};
  for (const auto x : out) {
    CAF_CHECK(last.count(x / 1000) == 0 || last[x / 1000] < x);
    last[x / 1000] = x;
  }
}

CAF_TEST_FIXTURE_SCOPE_END()

CAF_TEST(ACT-2 a handle may be passed on to a third node) {
  auto world = gateway_world{3};
  const auto original = world[2].spawn(adding);
  world.publish(2, original, "adder");
  world.publish(1, world[1].spawn(times_ten), "ten");
  // Node 1 gets an actor of node 0 by way of node 2: asks it back there.
  const auto adder_0 = world.find<adder>(0, 2, "adder");
  const auto ten_0 = world.find(0, 1, "ten");
  CAF_CHECK_EQUAL(unbox(world.ask<int32_t>(0, adder_0, ten_0, 5)), 51);
  CAF_CHECK_EQUAL(world[2].gauge_of("refused_receiver"), 0u);
  CAF_CHECK_EQUAL(world[1].gauge_of("refused_receiver"), 0u);
}

CAF_TEST(ACT-9 a handle is passed on only to nodes that may have it) {
  auto world = gateway_world{3};
  world.publish(1, world[1].spawn(times_ten), "ten", {},
                {std::vector<uint32_t>{0}});
  world.publish(2, world[2].spawn(adding), "adder");
  const auto adder_0 = world.find<adder>(0, 2, "adder");
  const auto ten_0 = world.find(0, 1, "ten");
  CAF_CHECK_EQUAL(unbox(world.ask<int32_t>(0, ten_0, 5)), 50);
  CAF_CHECK_EQUAL(error_of(world.ask<int32_t>(0, adder_0, ten_0, 5)),
                  caf::sec::request_receiver_down);
  CAF_CHECK_EQUAL(world[1].gauge_of("refused_receiver"), 2u);
}

CAF_TEST(ACT-16 an actor for the same user is found by its nodes alone) {
  auto world = gateway_world{4, [](gateway_settings& x) {
                               if (x.rank != 3)
                                 x.user = x.rank == 1 ? 1001 : 1000;
                             }};
  world.users = {{0, 1000}, {1, 1001}};
  auto who = actor_audience{};
  who.same_user = true;
  world.publish(0, world[0].spawn(times_ten), "ten", {}, who);
  world.publish(3, world[3].spawn(times_ten), "nobody's", {}, who);
  auto kind = register_actor_kind{};
  kind.name = "ten";
  kind.make = [&](const caf::message&) {
    return caf::actor_cast<caf::strong_actor_ptr>(world[0].spawn(times_ten));
  };
  kind.who = who;
  caf::anon_send(world[0].gateway, kind);
  const auto find = [&](size_t rank, uint32_t where, const char* name) {
    return error_of(world.ask<caf::strong_actor_ptr>(
      rank, world[rank].gateway, lookup_actor{where, name}));
  };
  const auto spawn = [&](size_t rank) {
    return error_of(world.ask<caf::strong_actor_ptr>(
      rank, world[rank].gateway, spawn_actor{0, "ten", {}, {}}));
  };
  const auto refusal = caf::error{caf::sec::no_actor_published_at_port};
  // Of another user; and one that says it is and has shown nothing.
  for (const auto rank : {1, 2}) {
    CAF_CHECK_EQUAL(find(rank, 0, "ten"), refusal);
    CAF_CHECK_EQUAL(spawn(rank), refusal);
  }
  CAF_CHECK(!find(0, 0, "ten"));
  world.users[2] = 1000;
  CAF_CHECK(!find(2, 0, "ten"));
  CAF_CHECK(!spawn(2));
  // Who is nobody's is not the same as others that are.
  CAF_CHECK_EQUAL(find(2, 3, "nobody's"), refusal);
  CAF_CHECK(!find(3, 3, "nobody's"));
  // Nor does the handle help that one of the same user passes on.
  world.publish(1, world[1].spawn(adding), "adder");
  const auto adder_2 = world.find<adder>(2, 1, "adder");
  const auto ten_2 = world.find(2, 0, "ten");
  CAF_CHECK_EQUAL(unbox(world.ask<int32_t>(2, ten_2, 5)), 50);
  CAF_CHECK_EQUAL(error_of(world.ask<int32_t>(2, adder_2, ten_2, 5)),
                  caf::sec::request_receiver_down);
  // Both: some nodes, and of the same user.
  who.ranks = std::vector<uint32_t>{1};
  world.publish(0, world[0].spawn(times_ten), "five", {}, who);
  CAF_CHECK_EQUAL(find(1, 0, "five"), refusal);
  CAF_CHECK_EQUAL(find(2, 0, "five"), refusal);
}

CAF_TEST(ACT-10 a sender learns that a node takes no more) {
  auto world = gateway_world{2, [](gateway_settings& x) {
                               x.window = 1000;
                               x.queue_bytes = 4000;
                             }};
  auto out = std::vector<int32_t>{};
  world.publish(1, world[1].spawn(keeper, &out), "keeper");
  const auto far = world.find(0, 1, "keeper");
  // The first ones are on their way, and nothing is taken meanwhile.
  auto& me = *world[0].me;
  for (int32_t i = 0; i < 10; ++i)
    me->send(far, i);
  world[0].consume_messages();
  for (int32_t i = 10; i < 3010; ++i)
    me->send(far, i);
  auto reply = me->request(far, caf::infinite, std::string(100, 'x'));
  auto room = me->request(world[0].gateway, caf::infinite, await_room{1});
  world[0].consume_messages();
  reply.receive([] { CAF_ERROR("answered"); },
                [](caf::error& x) {
                  CAF_CHECK_EQUAL(status_of(x), status::out_of_resource);
                });
  CAF_CHECK(world[0].gauge_of("refused_full") > 0);
  CAF_CHECK(world[0].gauge_of("waiting") < 10000);
  CAF_CHECK(me->mailbox().empty());
  world.run();
  CAF_CHECK_EQUAL(world[0].gauge_of("waiting"), 0u);
  CAF_REQUIRE(!me->mailbox().empty());
  room.receive([](const ack&) {},
               [](caf::error&) { CAF_ERROR("there is room"); });
  // What was taken came in order, without a gap.
  for (size_t i = 0; i < out.size(); ++i)
    CAF_REQUIRE_EQUAL(out[i], static_cast<int32_t>(i));
  CAF_CHECK_EQUAL(out.size() + world[0].gauge_of("refused_full"), 3011u);
}

CAF_TEST(ACT-10 no more messages wait for the gateway than its limit says) {
  auto world = gateway_world{2, [](gateway_settings& x) { x.mail = 100; }};
  auto out = std::vector<int32_t>{};
  world.publish(1, world[1].spawn(keeper, &out), "keeper");
  const auto far = world.find(0, 1, "keeper");
  auto& me = *world[0].me;
  for (int32_t i = 0; i < 150; ++i)
    me->send(far, i);
  me->request(far, caf::infinite, 1)
    .receive([] { CAF_ERROR("answered"); },
             [](caf::error& x) {
               CAF_CHECK_EQUAL(status_of(x), status::out_of_resource);
             });
  world.run();
  CAF_CHECK_EQUAL(out.size(), 100u);
  CAF_CHECK_EQUAL(world[0].gauge_of("refused_full"), 51u);
}

CAF_TEST(ACT-10 no more bytes wait for the gateway than its limit says) {
  auto world = gateway_world{2, few_bytes_of_mail};
  auto count = size_t{0};
  world.publish(1, world[1].spawn(text_counter, &count), "counter");
  const auto far = world.find(0, 1, "counter");
  auto& me = *world[0].me;
  const auto text = std::string(piece, 'x');
  // The first ones are bounded by their number.
  const auto room = size_t{defaults::gateway_mail_uncounted} + pieces_of_mail;
  for (size_t i = 0; i < room + 30; ++i)
    me->send(far, text);
  me->request(far, caf::infinite, text)
    .receive([] { CAF_ERROR("answered"); },
             [](caf::error& x) {
               CAF_CHECK_EQUAL(status_of(x), status::out_of_resource);
             });
  world.run();
  CAF_CHECK_EQUAL(count, room);
  CAF_CHECK_EQUAL(world[0].gauge_of("refused_full"), 31u);
  CAF_CHECK_EQUAL(world[0].gauge_of("mail"), 0u);
  CAF_CHECK_EQUAL(world[0].gauge_of("mail_bytes"), 0u);
  // There is room again.
  for (size_t i = 0; i < room; ++i)
    me->send(far, text);
  world.run();
  CAF_CHECK_EQUAL(count, 2 * room);
}

CAF_TEST(ACT-10 an answer that has no room in the mail becomes an error) {
  auto world = gateway_world{2, few_bytes_of_mail};
  const auto late = world[1].spawn(late_answerer);
  world.publish(1, late, "late");
  const auto far = world.find(0, 1, "late");
  auto heard = answers{};
  const auto room = size_t{defaults::gateway_mail_uncounted} + pieces_of_mail;
  world[0].spawn(asker, far, room + 20, &heard);
  world.run();
  CAF_CHECK_EQUAL(heard.texts + heard.refusals, 0u);
  caf::anon_send(late, int32_t{0});
  world.run();
  CAF_CHECK_EQUAL(heard.texts, room);
  CAF_CHECK_EQUAL(heard.refusals, 20u);
  CAF_CHECK_EQUAL(world[1].gauge_of("mail_bytes"), 0u);
}

CAF_TEST(ACT-10 what cannot be counted is taken for as large as it was last) {
  constexpr auto uncounted = defaults::gateway_mail_uncounted;
  auto world = gateway_world{1};
  auto mail = gateway_mail{1000, 100'000};
  auto names = roster{};
  names.members["a"].push_back(world[0].spawn(adding));
  const auto handle = caf::make_message(names);
  auto size = content_size{};
  const auto fill = [&] {
    auto n = size_t{0};
    for (; mail.enter() && mail.add(handle, size); ++n)
      continue;
    mail.leave(size);
    return n;
  };
  const auto empty = [&](size_t n) {
    for (size_t i = 0; i < n; ++i)
      mail.leave({i < uncounted ? 0 : mail.bytes() / (n - i), false});
    CAF_CHECK_EQUAL(mail.waiting(), 0u);
    CAF_CHECK_EQUAL(mail.bytes(), 0u);
  };
  const auto at_first = fill();
  CAF_CHECK_EQUAL(at_first, uncounted + 100'000 / defaults::gateway_mail_guess);
  empty(at_first);
  mail.learn(40'000);
  const auto of_large_ones = fill();
  CAF_CHECK_EQUAL(of_large_ones, uncounted + 2);
  empty(of_large_ones);
  // Larger than all that may wait: one at a time.
  mail.learn(1'000'000);
  const auto of_too_large_ones = fill();
  CAF_CHECK_EQUAL(of_too_large_ones, uncounted + 1);
  empty(of_too_large_ones);
  for (int i = 0; i < 100; ++i)
    mail.learn(10);
  const auto of_small_ones = fill();
  CAF_CHECK_EQUAL(of_small_ones, at_first);
}
