#include "tools/run_in_dvm.hpp"

#include "actors/jobs/job_options.hpp"
#include "actors/jobs/job_outcome.hpp"
#include "actors/jobs/node_mapping.hpp"
#include "adapters/log/fd_writer.hpp"
#include "adapters/log/output_sink.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/process/descriptors.hpp"
#include "base/escape.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"
#include "messages/job_keys.hpp"
#include "tools/dvm_options.hpp"
#include "tools/input_forwarder.hpp"
#include "tools/job_progress.hpp"
#include "tools/job_streams.hpp"
#include "tools/output_intake.hpp"
#include "tools/output_options.hpp"
#include "tools/printing.hpp"
#include "tools/progress_line.hpp"
#include "tools/report.hpp"
#include "tools/run_options.hpp"
#include "tools/signals.hpp"
#include "tools/tool_session.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <set>
#include <sstream>

namespace troupe {

namespace {

using namespace std::chrono_literals;

/// How long a DVM may take to answer a simple question.
constexpr auto answer_time = 30s;

/// How long after the refusal of a job its reason may come.
constexpr auto reason_time = 1s;

/// How often a DVM is asked how far the job is.
constexpr auto look_interval = 1s;

/// How long a job that is killed may take to end before it is left alone.
constexpr auto kill_time = 5s;

/// The one job of this process, and those that it starts.
class dvm_job {
public:
  explicit dvm_job(run_options options) : options_(std::move(options)) {
    // nop
  }

  int run();

private:
  std::string open();
  std::string read_slots();
  std::string wire();
  void start();
  void on_spawned(link::outcome outcome);
  void on_refused(const caf::error& why);
  const std::string* early_reason() const;
  void show_map();
  void show_bindings();
  void on_event(event x);
  void note_end(const std::string& nspace, const event& x);
  void on_interrupt(int number);
  void on_unwritten(const std::string& reason);
  signal_forwarder::settings passing_on();
  void leave();
  void end_job();
  void show_progress();
  void look_at_progress();
  std::string progress_text() const;
  void finish(int status, const std::string& reason);
  void tell_end(const std::string& nspace, int status,
                const std::string& reason);
  void leave_when_shown(int status);

  run_options options_;
  std::unique_ptr<tool_session> session_;
  std::shared_ptr<fd_writer> out_;
  std::shared_ptr<fd_writer> err_;
  std::shared_ptr<told_hosts> hosts_ = std::make_shared<told_hosts>();
  output_sink_actor sink_;
  std::unique_ptr<output_intake> intake_;
  input_target_actor forwarder_;
  std::unique_ptr<job_streams> streams_;
  std::string nspace_;

  /// What goes on of our job and those that it has started, as far as we know.
  std::set<std::string> running_;
  std::set<std::string> over_;

  /// The worst of those that are over.
  int worst_ = 0;

  /// Ends of jobs that came before we knew the name of ours.
  std::vector<event> early_;

  /// Why there is no job: a status, until the reason comes.
  std::optional<caf::error> refusal_;
  std::unique_ptr<timer> patience_;

  /// Which of the DVM's nodes the job may use; empty: all.
  std::vector<chosen_node> nodes_;

  /// The signal that interrupted us.
  int signal_ = 0;
  user_interrupts interrupts_{[this](int x) { on_interrupt(x); },
                              [this](int x) {
                                signal_ = x;
                                leave();
                              }};
  /// How far the job is, if the user wants to see it, and when to ask again.
  job_progress progress_;
  std::unique_ptr<progress_line> line_;
  std::unique_ptr<timer> look_;
  bool is_asking_ = false;
  int exit_status_ = 1;
  bool is_over_ = false;
};

std::string dvm_job::open() {
  auto handlers = each_event([this](const event& x) { on_event(x); });
  handlers.on_output = [this](io_delivery x, output_receipt receipt) {
    intake_->take(std::move(x), std::move(receipt));
  };
  handlers.on_lost = [this](const caf::error&) {
    finish(1, "the DVM has ended, or the connection to it is lost");
  };
  auto session = tool_session::open(*options_.dvm, true, std::move(handlers));
  if (!session)
    return reason_of(session.error());
  session_ = std::move(*session);
  auto& loop = session_->loop();
  out_ = std::make_shared<fd_writer>(
    loop.loop(), STDOUT_FILENO,
    [this](const std::string& why) { on_unwritten(why); });
  err_ = std::make_shared<fd_writer>(loop.loop(), STDERR_FILENO);
  sink_ = loop.actors().spawn(
    output_sink, output_sink_settings{options_.node.output, out_, err_,
                                      told_hosts::lookup(hosts_),
                                      options_.node.output_is_shared});
  forwarder_ =
    loop.actors().spawn(input_forwarder, session_->to(), forwarding{});
  return {};
}

/// Says where output goes, once the job has a size.
std::string dvm_job::wire() {
  auto& loop = session_->loop();
  auto streams = job_streams::make(loop, options_, sink_, err_);
  if (!streams)
    return reason_of(streams.error());
  streams_ = std::move(*streams);
  intake_ =
    std::make_unique<output_intake>(loop.actors(), streams_->sink(), hosts_);
  intake_->attach(session_->to());
  return {};
}

/// How many processes a program has if nobody says so.
std::string dvm_job::read_slots() {
  const auto& apps = options_.job.apps;
  const auto shows = options_.display.count("allocation") > 0;
  if (!shows && std::none_of(apps.begin(), apps.end(), [](const app& x) {
        return x.max_procs == 0;
      }))
    return {};
  auto question = query_request{};
  question.queries.emplace_back().keys = {
    std::string{query_key(report_kind::nodes)}};
  auto got = session_->to()->call(question, answer_time);
  const auto* result = got ? std::get_if<info_result>(&*got) : nullptr;
  if (result == nullptr || result->infos.empty())
    return "the DVM does not tell how many slots it has; give the number of "
           "processes by -n";
  auto slots = uint32_t{0};
  auto nodes = std::vector<dvm_node>{};
  for (const auto& x : to_json(result->infos.front().val))
    if (x.is_object() && x.value("state", "") == "live") {
      auto name = x.value("name", "");
      const auto share = slots_of(nodes_, name, x.value("slots", 0u));
      slots += share;
      nodes.push_back({std::move(name), share, 0});
    }
  if (shows)
    err_->write(allocation_text(nodes));
  fill_in_processes(options_.job, slots);
  return {};
}

void dvm_job::start() {
  auto wants = register_events_request{};
  wants.codes = {status::job_end};
  session_->to()->submit(wants, [](const link::outcome&) {});
  auto& infos = options_.job.job_infos;
  for (const auto key :
       {attr::fwd_stdout, attr::fwd_stderr, attr::notify_completion,
        io_offsets_key, job_family_key})
    infos.push_back({std::string{key}, 0, value::boolean(true)});
  session_->to()->submit(options_.job, [this](link::outcome outcome) {
    on_spawned(std::move(outcome));
  });
}

/// What the end of a job that came before we knew ours says.
const std::string* dvm_job::early_reason() const {
  for (const auto& x : early_)
    if (const auto* text = find(x.infos, attr::event_text_message);
        text != nullptr && text->text() != nullptr && !text->text()->empty())
      return text->text();
  return nullptr;
}

void dvm_job::on_refused(const caf::error& why) {
  const auto code = status_of(why);
  const auto exit_status = exit_status_of_refusal(code);
  if (const auto* reason = early_reason()) {
    finish(exit_status, *reason);
    return;
  }
  auto reason = "the DVM did not start the job: " + to_string(code);
  if (const auto text = reason_of(why);
      !text.empty() && text != to_string(code))
    reason += " (" + text + ")";
  finish(exit_status, reason);
}

void dvm_job::on_spawned(link::outcome outcome) {
  if (!outcome) {
    refusal_ = std::move(outcome.error());
    if (early_reason() != nullptr) {
      on_refused(*refusal_);
      return;
    }
    // The reason comes as an event, which may be behind the answer.
    patience_ = std::make_unique<timer>(session_->loop().loop(),
                                        [this] { on_refused(*refusal_); });
    patience_->start(reason_time);
    return;
  }
  const auto* result = std::get_if<spawn_result>(&*outcome);
  if (result == nullptr) {
    finish(1, "the DVM did not name the job that it started");
    return;
  }
  nspace_ = result->nspace;
  running_.insert(nspace_);
  show_map();
  show_bindings();
  streams_->begin(nspace_, forwarder_);
  if (signal_ != 0)
    end_job();
  for (auto& x : std::exchange(early_, {}))
    on_event(std::move(x));
}

void dvm_job::on_event(event x) {
  if (x.code != status::job_end)
    return;
  if (nspace_.empty()) {
    early_.push_back(std::move(x));
    if (refusal_ && early_reason() != nullptr)
      on_refused(*refusal_);
    return;
  }
  const auto* whose = find(x.infos, attr::event_affected_proc);
  if (whose == nullptr || whose->proc() == nullptr)
    return;
  const auto& nspace = whose->proc()->nspace;
  // The host tells us of jobs that are none of ours, too.
  if (nspace == nspace_ || find(x.infos, job_family_key) != nullptr)
    note_end(nspace, x);
}

/// We stay until all are over: their output comes through us, and prterun does
/// the same.
void dvm_job::note_end(const std::string& nspace, const event& x) {
  if (!over_.insert(nspace).second)
    return;
  running_.erase(nspace);
  auto others = std::istringstream{text(x.infos, job_family_key).value_or("")};
  for (std::string other; std::getline(others, other, ',');)
    if (over_.count(other) == 0)
      running_.insert(other);
  const auto code = number<int32_t>(x.infos, attr::exit_code).value_or(0);
  const auto status = signal_ != 0 ? 128 + signal_ : code;
  const auto reason = signal_ == SIGPIPE
                        ? unread_reason
                        : text(x.infos, attr::event_text_message).value_or("");
  if (!options_.only_primary || nspace == nspace_)
    worst_ = std::max(worst_, status);
  if (running_.empty())
    intake_->close();
  // Behind the output that is on its way to the sink.
  intake_->when_idle(
    [this, nspace, status, reason] { tell_end(nspace, status, reason); });
  if (running_.empty())
    leave_when_shown(worst_);
  else if (signal_ != 0)
    end_job(); // Also those that we did not know of.
}

/// Where the processes of the job are, if the user wants to know.
void dvm_job::show_map() {
  if (options_.display.count("map") + options_.display.count("bind") == 0)
    return;
  auto question = query_request{};
  auto& query = question.queries.emplace_back();
  query.keys = {std::string{attr::query_proc_table}};
  query.qualifiers = {{std::string{attr::nspace}, 0, value::string(nspace_)}};
  session_->to()->submit(question, [this](const link::outcome& outcome) {
    const auto* result =
      outcome ? std::get_if<info_result>(&*outcome) : nullptr;
    if (result == nullptr || result->infos.empty())
      return; // It may be over already.
    const auto procs = processes_in(result->infos.front().val);
    if (options_.json)
      out_->write(map_line(nspace_, procs));
    else
      err_->write(map_text(nspace_, procs));
  });
}

/// Which processors they have, likewise.
void dvm_job::show_bindings() {
  const auto reports = flag(options_.job.job_infos, attr::report_bindings);
  if (options_.json || (!reports && options_.display.count("bind") == 0))
    return;
  auto question = query_request{};
  question.queries.emplace_back().keys = {
    std::string{query_key(report_kind::processes)}};
  session_->to()->submit(question, [this](const link::outcome& outcome) {
    const auto* result =
      outcome ? std::get_if<info_result>(&*outcome) : nullptr;
    if (result == nullptr || result->infos.empty())
      return; // As above.
    for (const auto& x : to_json(result->infos.front().val))
      if (x.is_object() && x.value("nspace", "") == nspace_)
        err_->write(notice("troupe", binding_text(x.value("rank", 0u),
                                                  x.value("host", "?"),
                                                  x.value("cpus", ""))));
  });
}

/// A job that is killed may not end, since nodes may not answer.
void dvm_job::on_interrupt(int number) {
  signal_ = number;
  if (!nspace_.empty())
    end_job();
  else if (interrupts_.is_repeated())
    return leave();
  if (interrupts_.is_repeated()) {
    patience_ =
      std::make_unique<timer>(session_->loop().loop(), [this] { leave(); });
    patience_->start(kill_time);
  }
}

/// Whoever read the output has seen enough: the job ends as if by SIGPIPE.
void dvm_job::on_unwritten(const std::string& reason) {
  if (!is_unread(out_->error(), options_.output)) {
    err_->write(notice("troupe", unwritten_notice(reason)));
    return;
  }
  if (signal_ != 0)
    return;
  signal_ = SIGPIPE;
  if (!nspace_.empty())
    end_job();
}

signal_forwarder::settings dvm_job::passing_on() {
  auto result = signal_forwarder::settings{};
  result.signals = options_.signals;
  result.jobs = [this] { return running_; };
  result.ask = [this](const job_control_request& request,
                      const signal_forwarder::callback& done) {
    session_->to()->submit(request, [done](const link::outcome&) { done(); });
  };
  result.on_stop = [this] { streams_->leave_terminal(); };
  result.on_continue = [this] { streams_->take_terminal(); };
  return result;
}

/// Waits for nobody, since whoever reads our output may have stopped.
void dvm_job::leave() {
  exit_status_ = 128 + signal_;
  err_->write(notice("troupe", "interrupted; the DVM still ends the job"));
  session_->loop().stop();
}

void dvm_job::end_job() {
  progress_.end();
  const auto* how = interrupts_.is_repeated() ? &attr::job_ctrl_kill
                                              : &attr::job_ctrl_terminate;
  for (const auto& x : running_) {
    auto request = job_control_request{};
    request.targets = {{x, rank_wildcard}};
    request.directives = {{std::string{*how}, 0, value::boolean(true)}};
    session_->to()->submit(request, [](const link::outcome&) {});
  }
}

void dvm_job::show_progress() {
  auto& loop = session_->loop().loop();
  line_ = std::make_unique<progress_line>(loop, err_,
                                          out_->is_terminal() ? out_ : nullptr,
                                          [this] { return progress_text(); });
  look_ = std::make_unique<timer>(loop, [this] { look_at_progress(); });
  look_->start(look_interval);
}

/// Before the DVM has named the job, and when it is to end: the DVM alone knows.
void dvm_job::look_at_progress() {
  look_->start(look_interval);
  if (is_asking_ || (!nspace_.empty() && signal_ == 0))
    return;
  is_asking_ = true;
  auto question = query_request{};
  question.queries.emplace_back().keys = {
    std::string{query_key(report_kind::jobs)},
    std::string{query_key(report_kind::processes)}};
  session_->to()->submit(question, [this](const link::outcome& outcome) {
    is_asking_ = false;
    const auto* result =
      outcome ? std::get_if<info_result>(&*outcome) : nullptr;
    if (result == nullptr)
      return;
    const auto* jobs = find(result->infos, query_key(report_kind::jobs));
    const auto* procs = find(result->infos, query_key(report_kind::processes));
    if (jobs == nullptr || procs == nullptr)
      return;
    auto nspaces = running_;
    if (nspaces.empty())
      nspaces.insert(starting_job_of(to_json(*jobs)));
    progress_.read(to_json(*procs), nspaces);
  });
}

std::string dvm_job::progress_text() const {
  if (is_over_ || (!nspace_.empty() && signal_ == 0))
    return {};
  auto result = progress_.text();
  return result.empty() && nspace_.empty() ? "the DVM starts the job" : result;
}

/// There is no job, or none any more that we hear of.
void dvm_job::finish(int status, const std::string& reason) {
  if (is_over_)
    return;
  intake_->close();
  intake_->when_idle(
    [this, status, reason] { tell_end(nspace_, status, reason); });
  leave_when_shown(status);
}

void dvm_job::leave_when_shown(int status) {
  if (is_over_)
    return;
  is_over_ = true;
  exit_status_ = status;
  intake_->when_idle([this] {
    out_->write(std::string{document_end(options_.node.output)}, [this] {
      err_->write("", [this] { session_->loop().stop(); });
    });
  });
}

void dvm_job::tell_end(const std::string& nspace, int status,
                       const std::string& reason) {
  using nlohmann::json;
  if (options_.json)
    out_->write(json_line(json{{"type", "job_ended"},
                               {"nspace", nspace},
                               {"exit_status", status},
                               {"reason", reason}}));
  else if (!reason.empty() && reason != unread_reason)
    // A plan has lines of its own, and runs nothing that could write in it.
    err_->write(flag(options_.job.job_infos, dry_run_key)
                  ? "troupe: " + escape_control_characters(reason, true) + "\n"
                  : notice("troupe", reason));
}

int dvm_job::run() {
  ignore_broken_pipes();
  auto failure = std::string{};
  auto is_usage = false;
  if (auto chosen = choose_nodes(options_.nodes, read_text_file)) {
    nodes_ = std::move(*chosen);
    if (!nodes_.empty())
      options_.job.job_infos.push_back(
        {std::string{attr::host}, 0, value::string(to_string(nodes_))});
    if (auto most = max_slots_of(nodes_); !most.empty())
      options_.job.job_infos.push_back(
        {std::string{max_slots_key}, 0, value::string(std::move(most))});
  } else {
    failure = reason_of(chosen.error());
    is_usage = exit_status_of(chosen.error()) == usage_error;
  }
  if (failure.empty())
    failure = open();
  if (failure.empty())
    failure = read_slots();
  if (failure.empty()) {
    const auto why = check_stdin(options_);
    is_usage = static_cast<bool>(why);
    failure = why ? reason_of(why) : wire();
  }
  if (!failure.empty()) {
    std::cerr << notice("troupe run", failure);
    return is_usage ? usage_error : 1;
  }
  add_surroundings(options_.job);
  out_->write(std::string{document_begin(options_.node.output)});
  auto& loop = session_->loop();
  interrupts_.listen(loop.loop());
  auto forwarder =
    std::make_unique<signal_forwarder>(loop.loop(), passing_on());
  if (options_.shows_progress && progress_line::is_possible(*err_))
    show_progress();
  start();
  loop.run();
  look_.reset();
  line_.reset();
  forwarder.reset();
  caf::anon_send_exit(sink_, caf::exit_reason::user_shutdown);
  intake_.reset();
  streams_.reset();
  sink_ = nullptr;
  forwarder_ = nullptr;
  return status_of_output(out_->error(), exit_status_, options_.output);
}

} // namespace

int run_in_dvm(run_options options) {
  return dvm_job{std::move(options)}.run();
}

} // namespace troupe
