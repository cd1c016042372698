#pragma once

// The load of bench/remoting: a user's typed actors and messages, alike over
// Troupe's remoting and CAF's. A DRIVER in one process measures the round trip of
// a request of 64 bytes to a WORKER in another, how many such messages come
// through in a second, and how many bytes in messages of 16 KiB. Messages of the
// last two are not answered: the worker counts them, and says now and then how
// far it is, so that a window of them is under way.
//
// Where the IDs of the types begin is for whoever includes this to say:
// REMOTING_LOAD_FIRST_ID.

#include "bench/port_pipe.hpp"

#include <caf/all.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace load {

/// Asks for the same back.
struct sample {
  uint64_t number = 0;
  std::string bytes;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, sample& x) {
  return f(caf::meta::type_name("load::sample"), x.number, x.bytes);
}

/// To be counted.
struct piece {
  uint64_t number = 0;
  std::string bytes;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, piece& x) {
  return f(caf::meta::type_name("load::piece"), x.number, x.bytes);
}

/// So many pieces follow, numbered from 1; `taken` comes after so many, and after
/// the last.
struct series {
  uint64_t count = 0;
  uint64_t taken_every = 1;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, series& x) {
  return f(caf::meta::type_name("load::series"), x.count, x.taken_every);
}

/// All pieces up to this one have come.
struct taken {
  uint64_t number = 0;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, taken& x) {
  return f(caf::meta::type_name("load::taken"), x.number);
}

/// Begins to measure. Does not leave the process.
struct begin {};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, begin&) {
  return f(caf::meta::type_name("load::begin"));
}

using driver_actor =
  caf::typed_actor<caf::reacts_to<begin>, caf::reacts_to<taken>>;

/// Hears of pieces that the worker has taken.
using counter_actor = caf::typed_actor<caf::reacts_to<taken>>;

using worker_actor = caf::typed_actor<caf::replies_to<sample>::with<sample>,
                                      caf::reacts_to<series, counter_actor>,
                                      caf::reacts_to<piece>>;

} // namespace load

CAF_BEGIN_TYPE_ID_BLOCK(remoting_load, REMOTING_LOAD_FIRST_ID)

  CAF_ADD_TYPE_ID(remoting_load, (load::sample))
  CAF_ADD_TYPE_ID(remoting_load, (load::piece))
  CAF_ADD_TYPE_ID(remoting_load, (load::series))
  CAF_ADD_TYPE_ID(remoting_load, (load::taken))
  CAF_ADD_TYPE_ID(remoting_load, (load::begin))
  CAF_ADD_TYPE_ID(remoting_load, (load::counter_actor))

CAF_END_TYPE_ID_BLOCK(remoting_load)

namespace load {

[[noreturn]] inline void fail(const std::string& why) {
  std::fprintf(stderr, "remoting: %s\n", why.c_str());
  std::_Exit(1);
}

// -- the other process -------------------------------------------------------

struct worker_state {
  counter_actor counter;
  series now;
  uint64_t next = 1;
};

inline worker_actor::behavior_type
worker(worker_actor::stateful_pointer<worker_state> self) {
  return {[](sample& x) { return std::move(x); },
          [self](const series& x, const counter_actor& counter) {
            self->state = {counter, x, 1};
          },
          [self](const piece& x) {
            auto& state = self->state;
            if (x.number != state.next)
              fail("piece " + std::to_string(x.number) + " came instead of "
                   + std::to_string(state.next));
            ++state.next;
            if (x.number % state.now.taken_every == 0
                || x.number == state.now.count)
              self->send(state.counter, taken{x.number});
          }};
}

// -- the process that measures -----------------------------------------------

using bench_clock = std::chrono::steady_clock;

struct phase {
  bool is_answered;
  uint64_t count;
  size_t size;

  /// Pieces under way, and between two `taken`.
  uint64_t window = 1;
  uint64_t taken_every = 1;
};

constexpr phase phases[] = {
  {true, 2000, 64}, // To warm up.
  {true, 20'000, 64},
  {false, 300'000, 64, 4096, 1024},
  {false, 20'000, 16384, 256, 64},
};

struct figures {
  double p50_us = 0;
  double p99_us = 0;
  double messages = 0;
  double megabytes = 0;
};

struct driver_state {
  worker_actor worker;
  std::function<void(const figures&)> done;
  figures result;
  std::string bytes;
  size_t at = 0;
  uint64_t sent = 0;
  uint64_t over = 0;
  bench_clock::time_point begin;
  std::vector<double> times_us;
};

using driver_pointer = driver_actor::stateful_pointer<driver_state>;

void start_phase(driver_pointer self);

inline double seconds_since(bench_clock::time_point then) {
  return std::chrono::duration<double>(bench_clock::now() - then).count();
}

/// Notes what the phase has shown, and goes on.
inline void end_phase(driver_pointer self) {
  auto& state = self->state;
  const auto& x = phases[state.at];
  const auto seconds = seconds_since(state.begin);
  if (x.is_answered) {
    auto& all = state.times_us;
    std::sort(all.begin(), all.end());
    state.result.p50_us = all[all.size() / 2];
    state.result.p99_us = all[all.size() * 99 / 100];
  } else if (x.size < 1000) {
    state.result.messages = static_cast<double>(x.count) / seconds;
  } else {
    state.result.megabytes =
      static_cast<double>(x.count * x.size) / seconds / 1e6;
  }
  if (++state.at == std::size(phases))
    state.done(state.result);
  else
    start_phase(self);
}

inline void ask(driver_pointer self) {
  auto& state = self->state;
  const auto asked = bench_clock::now();
  self->request(state.worker, caf::infinite, sample{++state.sent, state.bytes})
    .then(
      [self, asked](const sample& x) {
        auto& state = self->state;
        if (x.number != state.sent)
          fail("the answer is to another question");
        state.times_us.push_back(seconds_since(asked) * 1e6);
        if (state.sent == phases[state.at].count)
          end_phase(self);
        else
          ask(self);
      },
      [self](const caf::error& err) {
        fail("no answer: " + self->system().render(err));
      });
}

inline void fill_window(driver_pointer self) {
  auto& state = self->state;
  const auto& x = phases[state.at];
  while (state.sent < x.count && state.sent < state.over + x.window)
    self->send(state.worker, piece{++state.sent, state.bytes});
}

inline void start_phase(driver_pointer self) {
  auto& state = self->state;
  const auto& x = phases[state.at];
  state.bytes.assign(x.size, 'x');
  state.sent = state.over = 0;
  state.times_us.clear();
  state.begin = bench_clock::now();
  if (x.is_answered) {
    ask(self);
    return;
  }
  self->send(state.worker, series{x.count, x.taken_every},
             counter_actor{driver_actor{self}});
  fill_window(self);
}

inline driver_actor::behavior_type
driver(driver_pointer self, worker_actor worker,
       std::function<void(const figures&)> done) {
  self->state.worker = std::move(worker);
  self->state.done = std::move(done);
  return {[self](begin) { start_phase(self); },
          [self](taken x) {
            self->state.over = x.number;
            if (x.number == phases[self->state.at].count)
              end_phase(self);
            else
              fill_window(self);
          }};
}

/// One line for bench/remoting.
inline void print(const figures& x) {
  std::printf("%.2f %.2f %.0f %.1f\n", x.p50_us, x.p99_us, x.messages,
              x.megabytes);
  std::fflush(stdout);
}

// -- both processes ----------------------------------------------------------

/// Runs `worker` in a child, `measure` here, and ends the child then.
inline void run_both(const std::function<void()>& worker,
                     const std::function<void()>& measure) {
  const auto pid = ::fork();
  if (pid < 0)
    fail("no second process");
  if (pid == 0) {
    worker();
    std::_Exit(0);
  }
  measure();
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

} // namespace load
