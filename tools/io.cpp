#include "tools/io.hpp"

#include "actors/io/io_patterns.hpp"
#include "adapters/log/fd_writer.hpp"
#include "adapters/log/output_sink.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/process/descriptors.hpp"
#include "base/escape.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"
#include "messages/proc_id.hpp"
#include "messages/status.hpp"
#include "tools/command_line.hpp"
#include "tools/event_text.hpp"
#include "tools/input_forwarder.hpp"
#include "tools/output_intake.hpp"
#include "tools/output_options.hpp"
#include "tools/printing.hpp"
#include "tools/report.hpp"
#include "tools/signals.hpp"
#include "tools/stream_table.hpp"
#include "tools/terminal_mode.hpp"
#include "tools/tool_session.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/expected.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <set>
#include <string>

namespace troupe {

// -- the command lines -------------------------------------------------------

namespace {

constexpr auto usage = R"(Usage: troupe io COMMAND [options]

Commands:
  list       show the streams of processes, and who gets them
  offsets    show how far each stream has come
  follow     show what processes write as it comes

troupe io COMMAND --help tells about a command.
)";

/// What the options say, before it is read.
struct words {
  std::string dvm;
  std::string process;
  std::vector<std::string> processes;
  std::vector<std::string> streams;
  std::vector<std::string> outputs;
  std::string offset;
  std::string window;
  bool label = false;
  bool timestamp = false;
  bool json = false;
};

[[noreturn]] void refuse(const std::string& what) {
  throw CLI::ValidationError(what, usage_error);
}

void add_view(CLI::App& cli, words& x, view_order& order) {
  add_dvm_option(cli, x.dvm);
  cli.add_flag("--live", order.is_live,
               "Begin with what is written from now on (default: with what is "
               "kept)");
  cli.add_option("--offset", x.offset,
                 "Begin with this byte of each stream, from 0");
  cli
    .add_option("--stream", x.streams,
                "stdout, stderr or stddiag; may come again (default: stdout "
                "and stderr)")
    ->allow_extra_args(false);
  cli.add_option("--output", x.outputs, output_help)->allow_extra_args(false);
  cli.add_flag("-l,--label", x.label, "Put the rank in front of each line");
  cli.add_flag("--timestamp", x.timestamp,
               "Put the time in front of each line");
  cli.add_flag("--json", x.json, "Print JSON, a line of output a line");
  cli.add_option("--window", x.window,
                 "Most bytes of a stream that wait for this command");
}

io_channels read_streams(const std::vector<std::string>& names) {
  static const auto known =
    std::map<std::string, io_channels>{{"stdout", io_channels::stdout_},
                                       {"stderr", io_channels::stderr_},
                                       {"stddiag", io_channels::stddiag}};
  auto result = uint16_t{0};
  for (const auto& x : names) {
    const auto i = known.find(x);
    if (i == known.end())
      refuse("--stream takes stdout, stderr or stddiag, not " + x);
    result = static_cast<uint16_t>(result | static_cast<uint16_t>(i->second));
  }
  if (result == 0)
    result = static_cast<uint16_t>(io_channels::stdout_)
             | static_cast<uint16_t>(io_channels::stderr_);
  return static_cast<io_channels>(result);
}

uint64_t read_bytes(const char* option, const std::string& given) {
  const auto result = parse_size(given);
  if (!result)
    refuse(std::string{option} + " " + given
           + " is no number of bytes, such as 65536, 64K or 1M");
  return *result;
}

void apply(const words& x, view_order& order) {
  order.dvm = x.dvm;
  order.channels = read_streams(x.streams);
  auto output = read_output_options(x.outputs, "/");
  if (!output)
    refuse(reason_of(output.error()));
  if (const auto err = check_viewer(*output))
    refuse(reason_of(err));
  order.output = std::move(*output);
  if (order.output.diagnostics)
    order.channels =
      static_cast<io_channels>(static_cast<uint16_t>(order.channels)
                               | static_cast<uint16_t>(io_channels::stddiag));
  if (const auto why = add_flags(x.label, x.timestamp, x.json, order.output))
    refuse(reason_of(why));
  if (!x.offset.empty()) {
    if (order.is_live)
      refuse("--live and --offset exclude each other; give one of them");
    order.offset = read_bytes("--offset", x.offset);
  }
  if (!x.window.empty())
    order.window = read_bytes("--window", x.window);
}

proc_id read_source(const std::string& x) {
  auto result = read_proc(x);
  if (!result)
    refuse(reason_of(result.error()));
  return std::move(*result);
}

std::variant<view_order, list_order, int>
parse_follow(std::vector<std::string> args) {
  auto x = words{};
  auto order = view_order{};
  order.command = "io follow";
  auto cli = CLI::App{"Shows what processes write, until they are over; of all "
                      "jobs, until it is interrupted.",
                      "troupe io follow"};
  cli.add_option("PROCESS", x.processes,
                 "JOB or JOB:RANK, several (default: all jobs)");
  add_view(cli, x, order);
  const auto status = parse_arguments(cli, std::move(args), [&] {
    apply(x, order);
    for (const auto& y : x.processes)
      order.sources.push_back(read_source(y));
    auto& f = order.output.format;
    if (!f.raw && !f.json && !f.xml && !f.tag && !f.tag_detailed
        && !f.tag_fullname && !f.rank)
      f.label = true;
  });
  if (status)
    return *status;
  return order;
}

std::variant<view_order, list_order, int>
parse_list(const std::string& name, std::vector<std::string> args) {
  auto x = words{};
  auto order = list_order{};
  order.command = "io " + name;
  auto cli = CLI::App{name == "list"
                        ? "Shows the streams of processes, and who gets them."
                        : "Shows how far each stream has come.",
                      "troupe " + order.command};
  cli.add_option("PROCESS", x.process, "JOB or JOB:RANK (default: all jobs)");
  add_dvm_option(cli, x.dvm);
  cli.add_flag("--json", order.json, "Print JSON");
  const auto status = parse_arguments(cli, std::move(args), [&] {
    order.dvm = x.dvm;
    if (!x.process.empty())
      order.whose = read_source(x.process);
  });
  if (status)
    return *status;
  return order;
}

} // namespace

std::variant<view_order, int> parse_attach(std::vector<std::string> args) {
  auto x = words{};
  auto order = view_order{};
  order.command = "attach";
  auto cli = CLI::App{"Shows what a job or one of its processes writes, and "
                      "gives it input.",
                      "troupe attach"};
  cli.footer(
    "Ctrl-C detaches; the job goes on.\n\nExit status: 0 the process or job "
    "is over; 1 the DVM is lost or refuses; 2 wrong options;\n3 detached; 4 "
    "nobody reads the output of this command any more.");
  cli.add_option("PROCESS", x.process, "JOB or JOB:RANK")->required();
  add_view(cli, x, order);
  cli.add_flag("-i,--stdin", order.takes_input,
               "Pass standard input on to the process");
  cli.add_flag("--keep-open", order.keeps_open,
               "The end of this input does not end that of the process");
  cli.add_flag("--resume-input", order.repeats_input,
               "Leave out what the process was given already");
  cli.add_flag("--raw", order.is_raw,
               "Pass keys on as they are typed; Ctrl-] detaches");
  const auto status = parse_arguments(cli, std::move(args), [&] {
    apply(x, order);
    order.sources = {read_source(x.process)};
    if (!order.takes_input
        && (order.keeps_open || order.repeats_input || order.is_raw))
      refuse("--keep-open, --resume-input and --raw are about input, which is "
             "passed on with -i; give that, too");
    if (order.takes_input && order.sources.front().rank == rank_wildcard)
      refuse("-i needs one process that gets the input; write "
             + order.sources.front().nspace + ":RANK");
  });
  if (status)
    return *status;
  return order;
}

std::variant<view_order, list_order, int>
parse_io(std::vector<std::string> args) {
  if (args.empty()) {
    std::cerr << usage;
    return usage_error;
  }
  const auto name = take_command(args);
  if (name == "list" || name == "offsets")
    return parse_list(name, std::move(args));
  if (name == "follow")
    return parse_follow(std::move(args));
  if (gives_help(name, usage))
    return 0;
  return refuse_command("troupe io", name, usage);
}

// -- which jobs there are ----------------------------------------------------

namespace {

/// How long a DVM may take to answer.
constexpr auto answer_time = std::chrono::seconds{30};

/// The jobs of a DVM, and the ranks of each.
using known_jobs = std::map<std::string, std::set<uint32_t>>;

caf::expected<known_jobs> ask_jobs(tool_session& to) {
  auto question = query_request{};
  question.queries.emplace_back().keys = {
    std::string{query_key(report_kind::processes)}};
  const auto got = to.ask(question, answer_time);
  if (!got)
    return got.error();
  const auto* answer = std::get_if<info_result>(&*got);
  const auto* table = answer != nullptr
                        ? find(answer->infos, query_key(report_kind::processes))
                        : nullptr;
  if (table == nullptr)
    return make_error(status::not_supported, "is it a DVM of Troupe?");
  auto result = known_jobs{};
  for (const auto& x : to_json(*table))
    if (x.is_object() && x.contains("nspace") && x["nspace"].is_string()
        && x.contains("rank") && x["rank"].is_number_unsigned())
      result[x["nspace"].get<std::string>()].insert(x["rank"].get<uint32_t>());
  return result;
}

/// @returns why a process or job (`rank_wildcard`) is none of these, in a
///          sentence with what there is; nothing if it is.
std::string refusal_of(const known_jobs& known, const proc_id& x) {
  const auto job = known.find(x.nspace);
  if (job != known.end()
      && (x.rank == rank_wildcard || job->second.count(x.rank)))
    return {};
  const auto name = escape_control_characters(x.nspace);
  if (job != known.end())
    return "job " + name + " has no rank " + std::to_string(x.rank)
           + "; its ranks are " + std::to_string(*job->second.begin()) + " to "
           + std::to_string(*job->second.rbegin());
  if (known.empty())
    return "there is no job " + name + "; the DVM runs none";
  auto names = std::string{};
  for (const auto& [y, ranks] : known)
    names += (names.empty() ? "" : ", ") + escape_control_characters(y);
  return "there is no job " + name + "; there is " + names;
}

// -- attach and follow -------------------------------------------------------

/// How long what has come is waited for when the user detaches.
constexpr auto last_moment = std::chrono::milliseconds{300};

/// Exit statuses.
enum : int { over = 0, failed = 1, detached = 3, unread = 4 };

/// The number by which we know what we get.
constexpr uint64_t handler_number = 1;

/// Shows streams until they end, the DVM is lost, or the user leaves.
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
  const auto known = ask_jobs(*session_);
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

// -- list and offsets --------------------------------------------------------

int fail(const std::string& command, const std::string& reason) {
  std::cerr << notice("troupe " + command, reason);
  return 1;
}

int show(const list_order& order) {
  auto session = tool_session::open(order.dvm, false, {});
  if (!session)
    return fail(order.command, reason_of(session.error()));
  const auto got = (**session).ask(stream_question(order.whose), answer_time);
  if (!got && status_of(got.error()) == status::not_found)
    return fail(order.command, order.whose.nspace.empty()
                                 ? "the server that answers does not know "
                                   "this; is it a DVM of Troupe?"
                                 : "the DVM has no streams of "
                                     + to_string(order.whose)
                                     + "; troupe jobs shows its jobs");
  if (!got)
    return fail(order.command,
                "the DVM does not answer: " + reason_of(got.error()));
  const auto* result = std::get_if<info_result>(&*got);
  const auto* list =
    result != nullptr ? find(result->infos, io_streams_key) : nullptr;
  if (list == nullptr)
    return fail(order.command, "the server that answers does not know this; is "
                               "it a DVM of Troupe?");
  const auto shown = to_json(*list);
  if (shown.empty() && !order.whose.nspace.empty()) {
    // Perhaps there is no such process.
    const auto known = ask_jobs(**session);
    if (const auto why =
          known ? refusal_of(*known, order.whose) : reason_of(known.error());
        !why.empty())
      return fail(order.command, why);
  }
  if (order.json)
    std::cout << json_document("streams", shown);
  else
    std::cout << (order.command == "io list"
                    ? streams_text(stream_rows(shown))
                    : offsets_text(stream_rows(shown)));
  return 0;
}

} // namespace

int attach(std::vector<std::string> args) {
  auto order = parse_attach(std::move(args));
  if (const auto* exit_status = std::get_if<int>(&order))
    return *exit_status;
  return viewer{std::move(std::get<view_order>(order))}.run();
}

int io(std::vector<std::string> args) {
  auto order = parse_io(std::move(args));
  if (const auto* exit_status = std::get_if<int>(&order))
    return *exit_status;
  if (const auto* list = std::get_if<list_order>(&order))
    return show(*list);
  return viewer{std::move(std::get<view_order>(order))}.run();
}

} // namespace troupe
