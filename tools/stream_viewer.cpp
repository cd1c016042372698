#include "tools/stream_viewer.hpp"

#include "actors/io/io_patterns.hpp"
#include "adapters/log/fd_writer.hpp"
#include "adapters/log/output_sink.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/process/descriptors.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"
#include "tools/input_forwarder.hpp"
#include "tools/interrupts.hpp"
#include "tools/known_jobs.hpp"
#include "tools/notice.hpp"
#include "tools/output_intake.hpp"
#include "tools/stream_table.hpp"
#include "tools/terminal_mode.hpp"
#include "tools/tool_session.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <set>

namespace troupe {

namespace {

/// How long a DVM may take to answer.
constexpr auto answer_time = std::chrono::seconds{30};

/// How long what has come is waited for when the user detaches.
constexpr auto last_moment = std::chrono::milliseconds{300};

/// Exit statuses.
enum : int { over = 0, failed = 1, detached = 3, unread = 4 };

/// The number by which we know what we get.
constexpr uint64_t handler_number = 1;

class viewer {
public:
  explicit viewer(view_order x) : order_(std::move(x)) {
    // nop
  }

  int run();

private:
  std::string open();
  std::string find_sources();
  void subscribe();
  void take(io_delivery x, output_receipt receipt);
  bool is_one_process_over() const;
  void take_input();
  void on_event(const event& x);
  void on_signal();
  void leave(int status, const std::string& reason);
  void finish(int status, const std::string& reason);
  void tell(const std::string& line);
  std::string where_we_are() const;

  view_order order_;
  std::unique_ptr<tool_session> session_;
  std::shared_ptr<fd_writer> out_;
  std::shared_ptr<fd_writer> err_;
  std::shared_ptr<told_hosts> hosts_ = std::make_shared<told_hosts>();
  output_sink_actor sink_;
  std::unique_ptr<output_intake> intake_;
  input_target_actor forwarder_;
  caf::actor input_;
  terminal_mode mode_;

  /// The jobs that are not over; not used if all jobs are shown.
  std::set<std::string> running_;
  std::unique_ptr<timer> patience_;
  int exit_status_ = failed;
  bool is_leaving_ = false;
  bool is_over_ = false;
};

std::string viewer::open() {
  auto handlers = each_event([this](const event& x) { on_event(x); });
  handlers.on_output = [this](io_delivery x, output_receipt receipt) {
    take(std::move(x), std::move(receipt));
  };
  handlers.on_lost = [this](const caf::error&) {
    finish(failed, "the DVM has ended, or the connection to it is lost");
  };
  auto session = tool_session::open(order_.dvm, false, std::move(handlers));
  if (!session)
    return reason_of(session.error());
  session_ = std::move(*session);
  auto& loop = session_->loop();
  out_ = std::make_shared<fd_writer>(
    loop.loop(), STDOUT_FILENO, [this](const std::string& why) {
      leave(unread, "nobody reads what is shown any more (" + why + ")");
    });
  err_ = std::make_shared<fd_writer>(loop.loop(), STDERR_FILENO);
  sink_ = loop.actors().spawn(
    output_sink, output_sink_settings{order_.output.format, out_, err_,
                                      told_hosts::lookup(hosts_)});
  intake_ = std::make_unique<output_intake>(loop.actors(), sink_, hosts_);
  intake_->attach(session_->to());
  return {};
}

/// Refuses what is not there: a subscription would wait for it.
std::string viewer::find_sources() {
  if (order_.sources.empty())
    return {};
  const auto known = ask_jobs(*session_, answer_time);
  if (!known)
    return "the DVM does not tell its jobs: " + reason_of(known.error());
  for (const auto& x : order_.sources) {
    if (auto why = refusal_of(*known, x); !why.empty())
      return why;
    running_.insert(x.nspace);
  }
  return {};
}

void viewer::subscribe() {
  auto request = io_pull_request{};
  request.procs = order_.sources;
  request.channels = order_.channels;
  request.handler = handler_number;
  const auto add = [&](std::string_view key, value x) {
    request.directives.push_back({std::string{key}, 0, std::move(x)});
  };
  add(io_offsets_key, value::boolean(true));
  if (order_.output.format.tag_detailed)
    add(attr::iof_tag_detailed_output, value::boolean(true));
  if (order_.offset)
    add(io_offset_key, value::uint64(*order_.offset));
  else
    add(io_start_key, value::string(order_.is_live ? "live" : "tail"));
  if (order_.window > 0)
    add(attr::iof_cache_size, value::uint64(order_.window));
  if (order_.output.policy == io_policy::drop_oldest)
    add(attr::iof_drop_oldest, value::boolean(true));
  if (order_.output.policy == io_policy::drop_newest)
    add(attr::iof_drop_newest, value::boolean(true));
  session_->to()->submit(request, [this](const link::outcome& outcome) {
    if (outcome)
      take_input();
    else
      leave(failed, "the DVM does not show this: "
                      + to_string(status_of(outcome.error())));
  });
}

/// One process may be over before its job.
bool viewer::is_one_process_over() const {
  if (order_.sources.size() != 1)
    return false;
  const auto& source = order_.sources.front();
  const auto is_over = [&](io_channels x) {
    return !has(order_.channels, x) || intake_->has_ended(source, x);
  };
  return is_over(io_channels::stdout_) && is_over(io_channels::stderr_)
         && is_over(io_channels::stddiag);
}

void viewer::take(io_delivery x, output_receipt receipt) {
  const auto is_end = x.bytes.empty();
  intake_->take(std::move(x), std::move(receipt));
  if (is_end && is_one_process_over())
    finish(over, {});
}

void viewer::take_input() {
  if (!order_.takes_input || is_over_)
    return;
  auto& loop = session_->loop();
  auto how = forwarding{};
  how.keeps_open = order_.keeps_open;
  how.on_refused = [this](const caf::error&) {
    tell(to_string(order_.sources.front())
         + " takes no input (any more); its output is still shown");
  };
  if (order_.is_raw) {
    mode_ = terminal_mode{STDIN_FILENO};
    how.on_detach = [this] { on_signal(); };
  }
  forwarder_ = loop.actors().spawn(input_forwarder, session_->to(), how);
  auto source = stdin_source_settings{};
  source.fd = STDIN_FILENO;
  source.nspace = order_.sources.front().nspace;
  source.ranks = {order_.sources.front().rank};
  source.repeats = order_.repeats_input;
  input_ = loop.actors().spawn(stdin_source, &loop.loop(), &loop.pool(),
                               forwarder_, source);
}

void viewer::on_event(const event& x) {
  const auto* whose = find(x.infos, attr::event_affected_proc);
  if (x.code != status::job_end || whose == nullptr || whose->proc() == nullptr
      || running_.erase(whose->proc()->nspace) == 0)
    return;
  if (running_.empty())
    finish(over, {});
}

/// Where the next `--offset` begins.
std::string viewer::where_we_are() const {
  constexpr size_t most = 4;
  auto result = std::string{};
  auto count = size_t{0};
  for (const auto& [key, at] : intake_->offsets())
    if (++count <= most)
      result += (count > 1 ? ", " : "") + to_string(key.first)
                + (key.second == io_channels::stderr_   ? " stderr "
                   : key.second == io_channels::stddiag ? " stddiag "
                                                        : " stdout ")
                + std::to_string(at);
  if (count > most)
    result += ", and " + std::to_string(count - most) + " more";
  return result;
}

/// Shows the begin of a line that is kept. Whoever reads our output may have
/// stopped, so it is not waited for longer than a moment.
void viewer::on_signal() {
  if (is_leaving_ || is_over_)
    return;
  is_leaving_ = true;
  caf::anon_send_exit(input_, caf::exit_reason::user_shutdown);
  const auto go = [this] {
    const auto at = where_we_are();
    if (order_.sources.empty())
      leave(over, {});
    else
      leave(detached, "detached" + (at.empty() ? "" : "; shown: " + at));
  };
  patience_ = std::make_unique<timer>(session_->loop().loop(), go);
  patience_->start(last_moment);
  intake_->close();
  intake_->when_idle(go);
}

void viewer::tell(const std::string& line) {
  err_->write(notice("troupe " + order_.command, line));
}

void viewer::leave(int status, const std::string& reason) {
  if (std::exchange(is_over_, true))
    return;
  exit_status_ = status;
  mode_ = {};
  if (!reason.empty())
    tell(reason);
  session_->loop().loop().stop();
}

/// Leaves once all that has come is shown.
void viewer::finish(int status, const std::string& reason) {
  if (is_over_)
    return;
  intake_->close();
  intake_->when_idle([this, status, reason] {
    out_->write("", [this, status, reason] { leave(status, reason); });
  });
}

int viewer::run() {
  ignore_broken_pipes();
  auto why = open();
  if (why.empty()) {
    // First: a job may end meanwhile.
    auto wants = register_events_request{};
    wants.codes = {status::job_end};
    wants.directives = {{std::string{attr::range}, 0,
                         value{data_type::data_range,
                               static_cast<uint64_t>(data_range::session)}}};
    session_->to()->submit(wants, [](const link::outcome&) {});
    why = find_sources();
  }
  if (!why.empty()) {
    std::cerr << notice("troupe " + order_.command, why);
    return failed;
  }
  auto& loop = session_->loop();
  on_interrupt(loop.loop(), [this](int) { on_signal(); });
  subscribe();
  loop.run();
  for (const auto& x : {input_, caf::actor_cast<caf::actor>(sink_),
                        caf::actor_cast<caf::actor>(forwarder_)})
    caf::anon_send_exit(x, caf::exit_reason::user_shutdown);
  intake_.reset();
  patience_.reset();
  input_ = nullptr;
  sink_ = nullptr;
  forwarder_ = nullptr;
  return exit_status_;
}

} // namespace

int view_streams(view_order order) {
  return viewer{std::move(order)}.run();
}

} // namespace troupe
