#include "tools/output_intake.hpp"

#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

#include <deque>
#include <set>

namespace troupe {

namespace {

/// Beyond what a DVM sends that waits for receipts.
constexpr size_t pause_at = 2 * defaults::io_window;

} // namespace

void told_hosts::note(const proc_id& proc, const std::vector<info>& infos) {
  if (auto host = text(infos, attr::hostname))
    hosts_[proc] = std::move(*host);
}

output_formatter::hosts told_hosts::lookup(std::shared_ptr<told_hosts> table) {
  return [table = std::move(table)](const proc_id& proc) {
    const auto i = table->hosts_.find(proc);
    return i != table->hosts_.end() ? i->second : std::string{};
  };
}

struct output_intake::state {
  output_sink_actor sink;
  std::shared_ptr<told_hosts> hosts;
  std::shared_ptr<link> from;

  /// What the sink has not answered.
  size_t held_bytes = 0;
  size_t open = 0;
  bool is_paused = false;

  /// How far each stream has come, and how far the sink has taken it.
  std::map<std::pair<proc_id, io_channels>, uint64_t> arrived;
  std::map<std::pair<proc_id, io_channels>, uint64_t> taken;
  std::set<std::pair<proc_id, io_channels>> ended;

  /// What the feeder has not sent to the sink, and its receipts.
  std::deque<std::pair<io_fragment, output_receipt>> queue;
  bool is_closed = false;
  std::vector<std::function<void()>> on_idle;

  void hand(io_fragment x, output_receipt receipt, const caf::actor& feeder) {
    held_bytes += x.bytes.size();
    ++open;
    queue.emplace_back(std::move(x), std::move(receipt));
    caf::anon_send(feeder, caf::unit);
  }

  void answered(const io_stream& stream, uint64_t end, size_t size) {
    taken[{stream.source, stream.channel}] = end;
    held_bytes -= size;
    --open;
    if (is_paused && held_bytes <= pause_at / 2) {
      is_paused = false;
      if (from)
        from->set_intake(link::intake::all);
    }
    if (open == 0)
      for (const auto& done : std::exchange(on_idle, {}))
        done();
  }
};

output_intake::output_intake(caf::actor_system& sys, output_sink_actor sink,
                             std::shared_ptr<told_hosts> hosts)
  : state_(std::make_shared<state>()) {
  state_->sink = std::move(sink);
  state_->hosts = std::move(hosts);
  feeder_ = sys.spawn([st = state_](caf::event_based_actor* self) {
    return caf::behavior{[self, st](caf::unit_t) {
      auto [x, receipt] = std::move(st->queue.front());
      st->queue.pop_front();
      const auto size = x.bytes.size();
      const auto done = [st, stream = x.stream, end = x.offset + size, size,
                         kept = std::move(receipt)] {
        st->answered(stream, end, size);
      };
      self->request(st->sink, caf::infinite, std::move(x))
        .then([done](ack) { done(); }, [done](const caf::error&) { done(); });
    }};
  });
}

output_intake::~output_intake() {
  state_->from = nullptr;
  state_->on_idle.clear();
  caf::anon_send_exit(feeder_, caf::exit_reason::user_shutdown);
}

void output_intake::attach(std::shared_ptr<link> from) {
  state_->from = std::move(from);
}

void output_intake::take(io_delivery x, output_receipt receipt) {
  auto& st = *state_;
  if (st.is_closed)
    return;
  const auto key = std::make_pair(x.source, x.channel);
  auto& at = st.arrived[key];
  st.hosts->note(x.source, x.infos);
  auto next = io_fragment{};
  next.pid = number<uint32_t>(x.infos, attr::proc_pid).value_or(0);
  next.stream = {std::move(x.source), x.channel};
  next.missed = number<uint64_t>(x.infos, io_missed_key).value_or(0);
  next.offset =
    number<uint64_t>(x.infos, io_offset_key).value_or(at + next.missed);
  next.is_end = x.bytes.empty();
  next.bytes = std::move(x.bytes);
  at = next.offset + next.bytes.size();
  if (next.is_end)
    st.ended.insert(key);
  st.hand(std::move(next), std::move(receipt), feeder_);
  if (st.held_bytes > pause_at && !st.is_paused && st.from) {
    st.is_paused = true;
    st.from->set_intake(link::intake::nothing);
  }
}

void output_intake::close() {
  auto& st = *state_;
  st.is_closed = true;
  for (const auto& [key, at] : st.arrived)
    if (st.ended.insert(key).second) {
      auto last = io_fragment{};
      last.stream = {key.first, key.second};
      last.offset = at;
      last.is_end = true;
      st.hand(std::move(last), {}, feeder_);
    }
}

bool output_intake::has_ended(const proc_id& source,
                              io_channels channel) const {
  return state_->ended.count({source, channel}) > 0;
}

void output_intake::when_idle(std::function<void()> done) {
  if (state_->open == 0)
    done();
  else
    state_->on_idle.push_back(std::move(done));
}

const std::map<std::pair<proc_id, io_channels>, uint64_t>&
output_intake::offsets() const {
  return state_->taken;
}

} // namespace troupe
