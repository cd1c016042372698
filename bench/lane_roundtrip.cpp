// What a lane costs: two processes on this node, over loopback and over a UNIX
// socket, by the NETWORKS actor with TLS and without, and, for comparison, by
// CAF's own remoting in plain text.
//
//   lane_roundtrip [RUNS]
//
// Each run measures both, one after the other: the round trip of a message of
// 64 bytes, how many such messages come through in a second, and how many bytes
// in messages of 16 KiB. The last lines are the medians.

#include "adapters/lane/authority.hpp"
#include "adapters/lane/secure_context.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/loop_system.hpp"
#include "adapters/networks/frame_codec.hpp"
#include "adapters/networks/networks.hpp"
#include "bench/port_pipe.hpp"
#include "messages/mesh_payload.hpp"
#include "messages/status.hpp"

#include <caf/all.hpp>
#include <caf/io/all.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace troupe;

namespace {

using bench_clock = std::chrono::steady_clock;

// -- what is measured --------------------------------------------------------

/// A message: the peer sends it back, or takes it and says so now and then.
struct unit {
  bool is_echoed = false;
  uint64_t number = 0;
  std::shared_ptr<const std::string> bytes;
};

struct phase {
  bool is_echoed;
  uint64_t count;
  size_t size;

  /// Messages under way, and between two answers.
  uint64_t window;
  uint64_t answer_every;
};

constexpr phase phases[] = {
  {true, 2000, 64, 1, 1}, // To warm up.
  {true, 20'000, 64, 1, 1},
  {false, 300'000, 64, 4096, 1024},
  {false, 20'000, 16384, 256, 64},
};

struct figures {
  double p50_us = 0;
  double p99_us = 0;
  double messages = 0;
  double megabytes = 0;
};

/// The side that measures: `send` gives a message to the peer, `on_answer` is
/// called with what comes back.
class driver {
public:
  using sender = std::function<void(const unit&)>;

  driver(sender send, std::function<void()> done)
    : send_(std::move(send)), done_(std::move(done)) {
    // nop
  }

  void start() {
    const auto& x = phases[at_];
    bytes_ = std::make_shared<const std::string>(x.size, 'x');
    sent_ = 0;
    answered_ = 0;
    times_.clear();
    begin_ = bench_clock::now();
    fill();
  }

  void on_answer(uint64_t number) {
    const auto& x = phases[at_];
    answered_ = number;
    if (x.is_echoed)
      times_.push_back(
        std::chrono::duration<double, std::micro>(bench_clock::now() - last_)
          .count());
    if (answered_ < x.count) {
      fill();
      return;
    }
    note();
    if (++at_ == std::size(phases))
      done_();
    else
      start();
  }

  figures result;

private:
  void fill() {
    const auto& x = phases[at_];
    while (sent_ < x.count && sent_ < answered_ + x.window) {
      last_ = bench_clock::now();
      send_({x.is_echoed, ++sent_, bytes_});
    }
  }

  void note() {
    const auto& x = phases[at_];
    const auto seconds =
      std::chrono::duration<double>(bench_clock::now() - begin_).count();
    if (x.is_echoed) {
      std::sort(times_.begin(), times_.end());
      result.p50_us = times_[times_.size() / 2];
      result.p99_us = times_[times_.size() * 99 / 100];
    } else if (x.size < 1000) {
      result.messages = static_cast<double>(x.count) / seconds;
    } else {
      result.megabytes = static_cast<double>(x.count * x.size) / seconds / 1e6;
    }
  }

  sender send_;
  std::function<void()> done_;
  std::shared_ptr<const std::string> bytes_;
  size_t at_ = 0;
  uint64_t sent_ = 0;
  uint64_t answered_ = 0;
  bench_clock::time_point begin_;
  bench_clock::time_point last_;
  std::vector<double> times_;
};

/// Whether the peer answers a message, and when.
bool is_answered(bool is_echoed, uint64_t number, size_t size) {
  for (const auto& x : phases)
    if (x.is_echoed == is_echoed && x.size == size)
      return number % x.answer_every == 0 || number == x.count;
  return false;
}

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "lane_roundtrip: %s\n", why.c_str());
  std::_Exit(1);
}

template <class T>
T value_of(caf::expected<T> x) {
  if (!x)
    fail(reason_of(x.error()));
  return std::move(*x);
}

using context_ptr = std::shared_ptr<const secure_context>;

// -- lanes -------------------------------------------------------------------

lane_frame frame_of(const unit& x) {
  data_frame result;
  result.session = x.is_echoed ? 1 : 0;
  result.of = traffic_class::control;
  result.number = x.number;
  result.payload = make_payload(x.bytes);
  return result;
}

struct lane_side {
  loop_system sys;
  networks_actor networks;
  lane_id lane = 0;
  std::unique_ptr<driver> drive;
  port_pipe* port = nullptr;
};

lane_user_actor::behavior_type lane_user(lane_user_actor::pointer,
                                         lane_side* side) {
  return {[side](const lane_frame_arrived& x) {
            const auto* data = std::get_if<data_frame>(&x.frame);
            if (side->drive)
              side->drive->on_answer(data->number);
            else if (is_answered(data->session == 1, data->number,
                                 data->payload.size))
              caf::anon_send(side->networks, put_lane_frame{x.lane, x.frame});
          },
          [side](const lane_closed&) { side->sys.stop(); }};
}

lane_owner_actor::behavior_type lane_owner(lane_owner_actor::pointer self,
                                           lane_side* side) {
  auto user = self->spawn(lane_user, side);
  return {
    [side, user](const lane_opened& x) {
      side->lane = x.lane;
      caf::anon_send(side->networks, x.lane, user);
      if (side->drive)
        side->drive->start();
    },
    [](const lane_closed&) {}, [](const lane_failed& x) { fail(x.reason); },
    [side](const networks_changed& x) {
      if (!side->drive) {
        const auto& here = x.addresses.at(0);
        side->port->put_text(here.network);
        side->port->put_text(here.address);
        side->port->put(here.port);
        return;
      }
      auto there = node_address{};
      there.network = side->port->get_text();
      there.address = side->port->get_text();
      there.port = side->port->get();
      caf::anon_send(side->networks, reach_node{2, "n2", {std::move(there)}});
    }};
}

figures run_lane_side(uint32_t rank, context_ptr context, port_pipe& port,
                      lane_kinds kinds, bool own_progress) {
  lane_side side;
  side.port = &port;
  if (rank == 1)
    side.drive = std::make_unique<driver>(
      [&](const unit& x) {
        caf::anon_send(side.networks, put_lane_frame{side.lane, frame_of(x)});
      },
      [&] { side.sys.stop(); });
  networks_options options;
  options.own_progress = own_progress;
  options.kinds = kinds;
  options.interfaces.include = {"lo"};
  options.owner = side.sys.actors().spawn(lane_owner, &side);
  options.random = [] { return uint64_t{0}; };
  side.networks = side.sys.actors().spawn(networks, &side.sys.loop(),
                                          std::move(context), options);
  side.sys.run();
  caf::anon_send_exit(side.networks, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(options.owner, caf::exit_reason::user_shutdown);
  side.networks = nullptr;
  return side.drive ? side.drive->result : figures{};
}

/// Runs `f` in a child, ends that when the result is there.
figures beside(const std::function<void()>& child,
               const std::function<figures()>& f) {
  const auto pid = ::fork();
  if (pid == 0) {
    child();
    std::_Exit(0);
  }
  const auto result = f();
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return result;
}

context_ptr context_of(const authority& issuer, uint32_t rank, bool is_secure) {
  const auto name = "n" + std::to_string(rank);
  if (!is_secure)
    return value_of(secure_context::make_insecure({issuer.dvm(), rank, name}));
  return value_of(secure_context::make(value_of(issuer.issue(rank, name))));
}

constexpr auto only_tcp = lane_kinds{true, false};
constexpr auto only_unix = lane_kinds{false, true};

figures measure_lane(lane_kinds kinds, bool is_secure, bool own_progress) {
  port_pipe port;
  const auto issuer = value_of(authority::make("bench"));
  const auto one = context_of(issuer, 1, is_secure);
  const auto two = context_of(issuer, 2, is_secure);
  return beside(
    [&] { run_lane_side(2, two, port, kinds, own_progress); },
    [&] { return run_lane_side(1, one, port, kinds, own_progress); });
}

// -- CAF's remoting ----------------------------------------------------------

using answer_atom = caf::atom_constant<caf::atom("answer")>;
using begin_atom = caf::atom_constant<caf::atom("begin")>;

void configure(caf::actor_system_config& cfg) {
  cfg.load<caf::io::middleman>();
  cfg.set("scheduler.policy", caf::atom("sharing"));
  cfg.set("scheduler.max-threads", 1);
  cfg.set("middleman.workers", 0);
  cfg.set("middleman.enable-automatic-connections", false);
}

caf::behavior remote_peer(caf::event_based_actor* self) {
  return {[self](bool is_echoed, uint64_t number, const std::string& bytes) {
    if (is_answered(is_echoed, number, bytes.size()))
      self->send(caf::actor_cast<caf::actor>(self->current_sender()),
                 answer_atom::value, number, bytes);
  }};
}

caf::behavior remote_driver(caf::event_based_actor* self, caf::actor peer,
                            std::shared_ptr<driver>* drive, figures* out) {
  *drive = std::make_shared<driver>(
    [self, peer](const unit& x) {
      self->send(peer, x.is_echoed, x.number, *x.bytes);
    },
    [self, drive, out] {
      *out = (*drive)->result;
      self->quit();
    });
  return {[drive](begin_atom) { (*drive)->start(); },
          [drive](answer_atom, uint64_t number, const std::string&) {
            (*drive)->on_answer(number);
          }};
}

figures measure_remoting() {
  port_pipe port;
  return beside(
    [&] {
      caf::actor_system_config cfg;
      configure(cfg);
      caf::actor_system sys{cfg};
      auto peer = sys.spawn(remote_peer);
      auto result = sys.middleman().publish(peer, 0, "127.0.0.1");
      port.put(value_of(std::move(result)));
      sys.await_all_actors_done();
    },
    [&] {
      figures result;
      caf::actor_system_config cfg;
      configure(cfg);
      caf::actor_system sys{cfg};
      auto peer =
        value_of(sys.middleman().remote_actor("127.0.0.1", port.get()));
      std::shared_ptr<driver> drive;
      {
        auto self = sys.spawn(remote_driver, peer, &drive, &result);
        caf::anon_send(self, begin_atom::value);
        caf::scoped_actor here{sys};
        here->wait_for(self);
      }
      return result;
    });
}

// -- the comparison ----------------------------------------------------------

void print(const char* what, const figures& x) {
  std::printf("%-22s round trip %7.1f us (p99 %7.1f), %9.0f messages/s, "
              "%7.0f MB/s\n",
              what, x.p50_us, x.p99_us, x.messages, x.megabytes);
  std::fflush(stdout);
}

figures median_of(std::vector<figures> all) {
  figures result;
  for (const auto member : {&figures::p50_us, &figures::p99_us,
                            &figures::messages, &figures::megabytes}) {
    std::sort(all.begin(), all.end(), [&](const auto& x, const auto& y) {
      return x.*member < y.*member;
    });
    result.*member = all[all.size() / 2].*member;
  }
  return result;
}

} // namespace

int main(int argc, char** argv) {
  const auto runs = argc > 1 ? std::atoi(argv[1]) : 5;
  struct candidate {
    const char* name;
    std::function<figures()> measure;
    std::vector<figures> results;
  };
  candidate all[] = {
    {"lane (TLS)", [] { return measure_lane(only_tcp, true, false); }, {}},
    {"lane (TLS, own thread)",
     [] { return measure_lane(only_tcp, true, true); },
     {}},
    {"lane (plain)", [] { return measure_lane(only_tcp, false, false); }, {}},
    {"lane (unix, TLS)",
     [] { return measure_lane(only_unix, true, false); },
     {}},
    {"lane (unix, plain)",
     [] { return measure_lane(only_unix, false, false); },
     {}},
    {"CAF remoting (plain)", [] { return measure_remoting(); }, {}},
  };
  for (auto i = 0; i < runs; ++i)
    for (auto& x : all) {
      x.results.push_back(x.measure());
      print(x.name, x.results.back());
    }
  std::printf("median of %d\n", runs);
  for (auto& x : all)
    print(x.name, median_of(x.results));
}
