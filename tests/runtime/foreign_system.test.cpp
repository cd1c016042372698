#include "runtime/foreign_system.hpp"

#include "adapters/loop/loop_system.hpp"
#include "tests/test.hpp"

#include <caf/all.hpp>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef TROUPE_HAS_CAF_IO
#  include <caf/io/all.hpp>
#endif

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

constexpr auto patience = 60s;
constexpr auto many = 2000;

/// How often an actor has run where it must not.
std::atomic<int> strays{0};

/// Whose thread an actor belongs to.
struct place {
  std::thread::id loop;
  bool is_ours = false;

  void check() const {
    if ((std::this_thread::get_id() == loop) != is_ours)
      ++strays;
  }
};

/// Adds one, or has another actor do so and adds ten; tells its end to whoever
/// wants it.
caf::behavior counter(caf::event_based_actor* self, place here) {
  return {
    [=](int x) {
      here.check();
      return x + 1;
    },
    [=](const caf::actor& other, int x) {
      here.check();
      auto answer = self->make_response_promise<int>();
      self->request(other, patience, x)
        .then(
          [=](int y) mutable {
            here.check();
            answer.deliver(y + 10);
          },
          [=](caf::error& why) mutable { answer.deliver(std::move(why)); });
      return answer;
    },
    [=](const caf::actor& other, const std::string&, int x) {
      here.check();
      return self->delegate(other, x);
    },
    [=](const std::string& what) {
      here.check();
      if (what == "end")
        self->quit(caf::exit_reason::user_shutdown);
    },
  };
}

/// Sends numbers, a new one for each that comes back.
caf::behavior pinger(caf::event_based_actor* self, place here, caf::actor other,
                     int left, caf::actor done) {
  self->send(other, caf::actor_cast<caf::actor>(self), left);
  return {[=](int x) {
    here.check();
    if (x > 0)
      self->send(other, caf::actor_cast<caf::actor>(self), x - 1);
    else
      self->send(done, std::string{"done"});
  }};
}

/// Gives numbers back to whom they name.
caf::behavior ponger(caf::event_based_actor* self, place here) {
  return {[=](const caf::actor& to, int x) {
    here.check();
    self->send(to, x);
  }};
}

/// Tells the first end that it hears of.
caf::behavior watcher(caf::event_based_actor* self, place here,
                      const caf::actor& whom, bool by_link,
                      std::shared_ptr<std::promise<caf::error>> told) {
  if (by_link) {
    self->set_exit_handler([=](const caf::exit_msg& x) {
      here.check();
      told->set_value(x.reason); // A second one would throw.
    });
    self->link_to(whom);
  } else {
    self->set_down_handler([=](const caf::down_msg& x) {
      here.check();
      told->set_value(x.source == whom ? x.reason
                                       : caf::sec::bad_function_call);
    });
    self->monitor(whom);
  }
  return {[](int x) { return x; }};
}

/// An actor system of the daemon's own beside one on a loop.
struct two_systems {
  explicit two_systems(const char* policy = "stealing") {
    thread = std::thread{[this] { loop.run(); }};
    auto id = std::promise<std::thread::id>{};
    auto probe =
      loop.actors().spawn([&id] { id.set_value(std::this_thread::get_id()); });
    at_ours.loop = at_theirs.loop = id.get_future().get();
    at_ours.is_ours = true;
    config.set("scheduler.policy", caf::atom_from_string(policy));
    config.set("scheduler.max-threads", 3);
    share_handles(config);
  }

  ~two_systems() {
    theirs.reset();
    loop.stop();
    thread.join();
    CAF_CHECK_EQUAL(strays.load(), 0);
  }

  void start() {
    theirs = std::make_unique<caf::actor_system>(config);
  }

  caf::actor ours() {
    return loop.actors().spawn(counter, at_ours);
  }

  loop_system loop;
  std::thread thread;
  place at_ours;
  place at_theirs;
  caf::actor_system_config config;
  std::unique_ptr<caf::actor_system> theirs;
};

/// The answer of an actor.
template <class... Ts>
int ask(caf::scoped_actor& me, const caf::actor& whom, Ts... what) {
  auto result = -1;
  me->request(whom, patience, what...)
    .receive([&](int x) { result = x; },
             [](caf::error& why) { CAF_FAIL(to_string(why)); });
  return result;
}

void end(caf::scoped_actor& me, const caf::actor& x) {
  me->send(x, std::string{"end"});
}

/// Requests, promises, delegation and handles in messages, between an actor of
/// theirs and one of ours.
void talk(two_systems& both, const caf::actor& theirs) {
  const auto ours = both.ours();
  caf::scoped_actor from_theirs{*both.theirs};
  caf::scoped_actor from_ours{both.loop.actors()};
  for (auto* me : {&from_theirs, &from_ours}) {
    CAF_CHECK_EQUAL(ask(*me, ours, 1), 2);
    CAF_CHECK_EQUAL(ask(*me, theirs, 1), 2);
    for (auto i = 0; i < 200; ++i) {
      CAF_CHECK_EQUAL(ask(*me, ours, theirs, i), i + 11);
      CAF_CHECK_EQUAL(ask(*me, theirs, ours, i), i + 11);
      CAF_CHECK_EQUAL(ask(*me, ours, theirs, std::string{"to"}, i), i + 1);
      CAF_CHECK_EQUAL(ask(*me, theirs, ours, std::string{"to"}, i), i + 1);
    }
  }
  end(from_ours, ours);
  end(from_ours, theirs);
}

/// Many of theirs and of ours at once.
void storm(two_systems& both) {
  constexpr auto pairs = 8;
  caf::scoped_actor me{*both.theirs};
  auto& ours = both.loop.actors();
  auto& theirs = *both.theirs;
  const auto done = caf::actor_cast<caf::actor>(me);
  auto all = std::vector<caf::actor>{};
  for (auto i = 0; i < pairs; ++i) {
    all.push_back(ours.spawn(ponger, both.at_ours));
    all.push_back(theirs.spawn(pinger, both.at_theirs, all.back(), many, done));
    all.push_back(theirs.spawn(ponger, both.at_theirs));
    all.push_back(ours.spawn(pinger, both.at_ours, all.back(), many, done));
  }
  for (auto i = 0; i < 2 * pairs; ++i)
    me->receive([](const std::string&) {},
                caf::after(patience) >> [] { CAF_FAIL("not all end"); });
  for (const auto& x : all)
    me->send_exit(x, caf::exit_reason::user_shutdown);
}

/// @returns with which reason the watcher heard of the end.
caf::error end_seen(caf::actor_system& of_watcher, place at_watcher,
                    const caf::actor& whom, bool by_link, bool is_late) {
  auto told = std::make_shared<std::promise<caf::error>>();
  auto heard = told->get_future();
  caf::scoped_actor me{of_watcher};
  if (is_late) {
    me->monitor(whom);
    end(me, whom);
    me->receive([](const caf::down_msg&) {});
  }
  const auto watching =
    of_watcher.spawn(watcher, at_watcher, whom, by_link, told);
  if (!is_late) {
    ask(me, watching, 0);
    end(me, whom);
  }
  if (heard.wait_for(patience) != std::future_status::ready)
    CAF_FAIL("nobody tells of the end");
  me->send_exit(watching, caf::exit_reason::kill);
  return heard.get();
}

} // namespace

CAF_TEST(C12.6 C12.5 scheduled actors of two systems talk) {
  for (const auto* policy : {"stealing", "sharing"}) {
    two_systems both{policy};
    both.start();
    talk(both, both.theirs->spawn(counter, both.at_theirs));
  }
}

CAF_TEST(C12.6 detached actors of either system talk with the other) {
  two_systems both;
  both.start();
  talk(both, both.theirs->spawn<caf::detached>(counter, both.at_theirs));
  // One of ours that has a thread of its own is not on the loop.
  const auto ours =
    both.loop.actors().spawn<caf::detached>(counter, both.at_theirs);
  caf::scoped_actor me{*both.theirs};
  const auto theirs = both.theirs->spawn(counter, both.at_theirs);
  CAF_CHECK_EQUAL(ask(me, ours, theirs, 1), 12);
  CAF_CHECK_EQUAL(ask(me, theirs, ours, 1), 12);
  end(me, ours);
  end(me, theirs);
}

CAF_TEST(C12.6 a blocking actor of theirs asks and is asked) {
  two_systems both;
  both.start();
  const auto ours = both.ours();
  const auto theirs = both.theirs->spawn([](caf::blocking_actor* self) {
    auto goes_on = true;
    self->receive_while(goes_on)(
      [&](const caf::actor& other, int x) {
        auto result = 0;
        self->request(other, patience, x)
          .receive([&](int y) { result = y + 10; }, [](caf::error&) {});
        return result;
      },
      [](int x) { return x + 1; },
      [&](const std::string&) { goes_on = false; });
  });
  caf::scoped_actor me{both.loop.actors()};
  for (auto i = 0; i < 200; ++i) {
    CAF_CHECK_EQUAL(ask(me, ours, theirs, i), i + 11);
    CAF_CHECK_EQUAL(ask(me, theirs, ours, i), i + 11);
  }
  end(me, theirs);
}

CAF_TEST(C12.6 C12.5 many actors of both talk at once and each runs at home) {
  for (const auto* policy : {"stealing", "sharing"}) {
    two_systems both{policy};
    both.start();
    storm(both);
  }
}

CAF_TEST(C12.6 what one actor sends to one of the other system stays in order) {
  two_systems both;
  both.start();
  const auto collect = [](caf::event_based_actor*,
                          std::shared_ptr<std::promise<bool>> done) {
    auto next = std::make_shared<int>(0);
    return caf::behavior{[=](int x) {
      if (x != *next)
        done->set_value(false);
      else if (++*next == 10 * many)
        done->set_value(true);
    }};
  };
  const auto pour = [](caf::event_based_actor* self, const caf::actor& to) {
    for (auto i = 0; i < 10 * many; ++i)
      self->send(to, i);
  };
  for (const auto is_ours : {true, false}) {
    auto& from = is_ours ? both.loop.actors() : *both.theirs;
    auto& to = is_ours ? *both.theirs : both.loop.actors();
    auto done = std::make_shared<std::promise<bool>>();
    const auto sink = to.spawn(collect, done);
    from.spawn(pour, sink);
    CAF_CHECK(done->get_future().get());
    caf::anon_send_exit(sink, caf::exit_reason::user_shutdown);
  }
}

CAF_TEST(C12.6 monitors and links cross once with the reason) {
  two_systems both;
  both.start();
  for (const auto by_link : {false, true})
    for (const auto is_late : {false, true}) {
      CAF_CHECK_EQUAL(
        end_seen(*both.theirs, both.at_theirs, both.ours(), by_link, is_late),
        caf::exit_reason::user_shutdown);
      const auto theirs = both.theirs->spawn(counter, both.at_theirs);
      CAF_CHECK_EQUAL(
        end_seen(both.loop.actors(), both.at_ours, theirs, by_link, is_late),
        caf::exit_reason::user_shutdown);
    }
}

CAF_TEST(C12.6 actors of two systems are never the same actor) {
  two_systems both;
  both.start();
  auto other_config = caf::actor_system_config{};
  share_handles(other_config);
  caf::actor_system third{other_config};
  auto all = std::vector<caf::actor>{};
  for (auto i = 0; i < 50; ++i)
    for (auto* sys : {&both.loop.actors(), both.theirs.get(), &third})
      all.push_back(sys->spawn([] { return caf::behavior{[](int) {}}; }));
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t k = 0; k < all.size(); ++k)
      CAF_CHECK((all[i] == all[k]) == (i == k));
  for (const auto& x : all)
    caf::anon_send_exit(x, caf::exit_reason::user_shutdown);
}

CAF_TEST(C12.6 requests to actors of a system that has ended fail) {
  auto config = caf::actor_system_config{};
  share_handles(config);
  caf::actor_system theirs{config};
  caf::scoped_actor me{theirs};
  auto left = caf::actor{};
  {
    loop_system loop;
    auto thread = std::thread{[&] { loop.run(); }};
    left = loop.actors().spawn(
      [] { return caf::behavior{[](int x) { return x; }}; });
    CAF_CHECK_EQUAL(ask(me, left, 7), 7);
    me->monitor(left);
    loop.stop();
    thread.join();
  }
  me->receive([](const caf::down_msg& x) {
    CAF_CHECK_EQUAL(x.reason, caf::exit_reason::kill);
  });
  me->request(left, patience, 7)
    .receive([](int) { CAF_FAIL("it has ended"); },
             [](caf::error& why) {
               CAF_CHECK_EQUAL(why, caf::sec::request_receiver_down);
             });
}

#ifdef TROUPE_HAS_CAF_IO

namespace {

/// A server of theirs: asks an actor of ours about each byte that comes.
caf::behavior asking_server(caf::io::broker* self, const caf::actor& whom) {
  return {
    [=](const caf::io::new_connection_msg& x) {
      self->configure_read(x.handle, caf::io::receive_policy::exactly(1));
    },
    [=](const caf::io::new_data_msg& x) {
      const auto to = x.handle;
      self->request(whom, patience, static_cast<int>(x.buf.front()))
        .then([=](int y) {
          const auto byte = static_cast<char>(y);
          self->write(to, 1, &byte);
          self->flush(to);
        });
    },
    [](const caf::io::connection_closed_msg&) {},
    [](int x) { return x + 1; },
  };
}

} // namespace

CAF_TEST(C12.6 a broker of theirs asks and is asked) {
  two_systems both;
  both.config.load<caf::io::middleman>();
  both.start();
  const auto ours = both.ours();
  auto port = uint16_t{0};
  const auto server =
    both.theirs->middleman().spawn_server(asking_server, port, ours);
  CAF_REQUIRE(server);
  caf::scoped_actor me{both.loop.actors()};
  for (auto i = 0; i < 200; ++i)
    CAF_CHECK_EQUAL(ask(me, ours, *server, i), i + 11);
  const auto fd = ::socket(AF_INET, SOCK_STREAM, 0);
  auto to = sockaddr_in{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CAF_REQUIRE(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
  for (auto x = char{1}; x < 100; ++x) {
    auto y = char{0};
    CAF_REQUIRE(::write(fd, &x, 1) == 1);
    CAF_REQUIRE(::read(fd, &y, 1) == 1);
    CAF_CHECK_EQUAL(y, x + 1);
  }
  ::close(fd);
  me->monitor(ours);
  end(me, ours);
  me->receive([](const caf::down_msg&) {});
  me->send_exit(*server, caf::exit_reason::user_shutdown);
}

#endif // TROUPE_HAS_CAF_IO
