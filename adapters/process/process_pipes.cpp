#include "adapters/process/process_pipes.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/process/input_pipe.hpp"
#include "adapters/process/output_pipe.hpp"
#include "base/answer.hpp"
#include "config/defaults.hpp"

#include <caf/all.hpp>

#include <chrono>
#include <map>
#include <utility>

namespace troupe {

namespace {

/// How long a stream has to be silent after the end of its process before it
/// counts as ended while somebody else still holds it open.
constexpr auto quiet_grace = std::chrono::milliseconds{250};

/// Nanoseconds since 1970.
int64_t now() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch())
    .count();
}

} // namespace

struct process_pipes::state {
  static inline const char* name = "process-pipes";

  struct record {
    /// Tells a process from an earlier one of the same name.
    uint64_t id = 0;
    uint32_t pid = 0;
    output_receiver_actor receiver;
    std::unique_ptr<input_pipe> in;
    std::map<io_channels, std::unique_ptr<output_pipe>> out;
  };

  self_pointer self = nullptr;
  event_loop* loop = nullptr;
  std::shared_ptr<std::deque<arrival>> arrivals;
  output_credit credit;
  uint64_t last_id = 0;
  std::map<proc_id, record> records;

  /// Who waits until all output of a job has been taken.
  std::multimap<std::string, answer<ack>> waiting;

  /// The processes of a job.
  auto of(const std::string& nspace) {
    const auto begin = records.lower_bound({nspace, 0});
    auto end = begin;
    while (end != records.end() && end->first.nspace == nspace)
      ++end;
    return std::pair{begin, end};
  }

  void settle(const std::string& nspace) {
    if (waiting.count(nspace) == 0)
      return;
    const auto [begin, end] = of(nspace);
    for (auto i = begin; i != end; ++i)
      for (const auto& [channel, pipe] : i->second.out)
        if (!pipe->is_quiet())
          return;
    const auto [first, last] = waiting.equal_range(nspace);
    for (auto i = first; i != last; ++i)
      i->second.give(ack{});
    waiting.erase(first, last);
  }

  void deliver(const proc_id& proc, io_channels channel, std::string bytes) {
    const auto& x = records.at(proc);
    const auto size = bytes.size();
    // Output without a taker counts as taken: the process must not wait for
    // ever.
    const auto taken = [this, proc, id = x.id, channel, size] {
      const auto i = records.find(proc);
      if (i == records.end() || i->second.id != id)
        return;
      const auto pipe = i->second.out.find(channel);
      pipe->second->taken(size);
      if (pipe->second->is_over())
        i->second.out.erase(pipe);
      settle(proc.nspace);
    };
    self
      ->request(x.receiver, caf::infinite,
                process_output{proc, channel, std::move(bytes), now(), x.pid})
      .then([taken](const ack&) { taken(); },
            [taken](const caf::error&) { taken(); });
  }

  /// Opens those that were handed over meanwhile.
  void open_arrivals() {
    while (!arrivals->empty()) {
      auto next = std::move(arrivals->front());
      arrivals->pop_front();
      open(std::move(next));
    }
  }

  void open(arrival x) {
    const auto proc = x.ends.proc;
    auto& to = records[proc];
    to = record{};
    to.id = ++last_id;
    to.pid = x.ends.pid;
    to.receiver = std::move(x.receiver);
    if (x.ends.in)
      to.in = std::make_unique<input_pipe>(*loop, std::move(x.ends.in),
                                           defaults::io_input_window);
    const auto add = [&](io_channels channel, unique_fd fd) {
      if (fd)
        to.out[channel] = std::make_unique<output_pipe>(
          *loop, std::move(fd), credit, defaults::io_window,
          [this, proc, channel](std::string bytes) {
            deliver(proc, channel, std::move(bytes));
          });
    };
    add(io_channels::stdout_, std::move(x.ends.out));
    add(io_channels::stderr_, std::move(x.ends.err));
    add(io_channels::stddiag, std::move(x.ends.diag));
  }

  input_pipe* input_of(const proc_id& proc) {
    const auto i = records.find(proc);
    return i != records.end() ? i->second.in.get() : nullptr;
  }
};

process_pipes_actor::behavior_type
process_pipes::behavior(self_pointer self, event_loop* loop,
                        std::shared_ptr<std::deque<arrival>> arrivals,
                        size_t waiting) {
  auto* x = &self->state;
  x->self = self;
  x->loop = loop;
  x->arrivals = std::move(arrivals);
  x->credit.window = std::make_shared<shared_window>(waiting);
  return {
    [self, x](write_stdin& request) -> caf::result<ack> {
      if (x->records.count(request.proc) == 0)
        return make_error(status::not_found, "the streams of "
                                               + to_string(request.proc)
                                               + " are not forwarded here");
      auto reply = self->make_response_promise<ack>();
      auto* in = x->input_of(request.proc);
      write_input(in, std::move(request), reply);
      return reply;
    },
    [x](const close_stdin& request) {
      if (auto* in = x->input_of(request.proc))
        in->close();
    },
    [self, x](const io_job_over& what) {
      // Their own message may still be on its way.
      x->open_arrivals();
      auto promise = self->make_response_promise<ack>();
      x->waiting.emplace(what.nspace, answer<ack>{promise});
      const auto [begin, end] = x->of(what.nspace);
      for (auto i = begin; i != end; ++i)
        for (const auto& [channel, pipe] : i->second.out)
          pipe->expect_end(quiet_grace,
                           [x, nspace = what.nspace] { x->settle(nspace); });
      x->settle(what.nspace);
      return promise;
    },
    [x](const deregister_nspace& what) {
      const auto [begin, end] = x->of(what.nspace);
      x->records.erase(begin, end);
      x->settle(what.nspace);
    },
    [x](deadline) { x->open_arrivals(); },
  };
}

process_pipes::process_pipes(caf::actor_system& sys, event_loop& loop,
                             size_t waiting)
  : arrivals_(std::make_shared<std::deque<arrival>>()),
    actor_(sys.spawn(behavior, &loop, arrivals_, waiting)) {
  // nop
}

process_pipes::~process_pipes() {
  caf::anon_send_exit(actor_, caf::exit_reason::user_shutdown);
}

void process_pipes::add(process_ends ends, output_receiver_actor receiver) {
  arrivals_->push_back({std::move(ends), std::move(receiver)});
  caf::anon_send(actor_, deadline{});
}

} // namespace troupe
