#include "tools/events.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/process/descriptors.hpp"
#include "base/escape.hpp"
#include "messages/attributes.hpp"
#include "tools/command_line.hpp"
#include "tools/printing.hpp"
#include "tools/tool_session.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <map>
#include <memory>

namespace troupe {

// -- the command line --------------------------------------------------------

namespace {

constexpr auto usage = R"(Usage: troupe events COMMAND [options]

Commands:
  watch      show events as they come
  send       raise an event
  list       show the events that a server keeps

troupe events COMMAND --help tells about a command.
)";

/// What the options say, before it is read.
struct words {
  std::vector<std::string> codes;
  std::string code;
  std::vector<std::string> affected;
  std::vector<std::string> to;
  std::vector<std::string> infos;
  std::string range = "session";
  std::string message;
  std::string nspace;
  std::string dvm;
  std::optional<uint64_t> since;
  uint64_t count = 0;
  double limit = 0;
  bool json = false;
  bool non_default = false;
  bool do_not_cache = false;
};

/// A code below 0 would pass for an option.
std::vector<std::string> with_marked_codes(std::vector<std::string> args) {
  auto is_value = false; // of the option before it
  for (auto& x : args) {
    if (!is_value && x.size() > 1 && x.front() == '-'
        && std::all_of(x.begin() + 1, x.end(),
                       [](char c) { return c >= '0' && c <= '9'; }))
      x.insert(0, "=");
    is_value = x.rfind("--", 0) == 0 && x.find('=') == std::string::npos
               && x != "--json" && x != "--non-default"
               && x != "--do-not-cache";
  }
  return args;
}

std::string without_mark(const std::string& x) {
  return x.rfind("=-", 0) == 0 ? x.substr(1) : x;
}

std::string check_natural(const std::string& x) {
  const auto ok = !x.empty() && std::all_of(x.begin(), x.end(), [](char c) {
    return c >= '0' && c <= '9';
  });
  return ok ? std::string{} : x + " is no number from 0 on";
}

void add_choice(CLI::App& cli, words& x) {
  cli.add_option("CODE", x.codes,
                 "Names or numbers of events (default: all events)");
  cli
    .add_option("--affected", x.affected,
                "Only events about NAMESPACE:RANK or NAMESPACE; may be "
                "repeated")
    ->allow_extra_args(false);
  cli.add_option("--nspace", x.nspace, "Only events of this namespace");
  cli
    .add_option("--since", x.since,
                "Of those that are kept, those with a greater number")
    ->check(check_natural);
  cli.add_flag("--json", x.json, "Print JSON, an event a line");
}

void add_watch(CLI::App& cli, words& x) {
  add_choice(cli, x);
  cli.add_option("--range", x.range,
                 "How far to look: local, session or global (default session)");
  cli.add_option("--count", x.count, "End after so many events")
    ->check(check_natural);
  cli.add_option("--timeout", x.limit, "End after so many seconds")
    ->check(CLI::Range(0.0, 1e9));
}

void add_send(CLI::App& cli, words& x) {
  cli.add_option("CODE", x.code, "Name or number of the event")->required();
  cli.add_option("--range", x.range,
                 "Who may see it: local, session, global or rm (default "
                 "session)");
  cli
    .add_option("--to", x.to,
                "For NAMESPACE:RANK or NAMESPACE only; may be repeated")
    ->allow_extra_args(false);
  cli
    .add_option("--affected", x.affected,
                "It is about NAMESPACE:RANK or NAMESPACE; may be repeated")
    ->allow_extra_args(false);
  cli.add_option("--message", x.message, "A text for it");
  cli
    .add_option("--info", x.infos,
                "Further information, KEY=TEXT or KEY:TYPE=VALUE; may be "
                "repeated")
    ->allow_extra_args(false);
  cli.add_flag("--non-default", x.non_default,
               "Not for default handlers, which may end programs");
  cli.add_flag("--do-not-cache", x.do_not_cache,
               "Not for those who register later");
}

/// Reads each of the texts.
template <class T, class F>
caf::error read_all(const std::vector<std::string>& texts, std::vector<T>& out,
                    F read) {
  for (const auto& text : texts) {
    auto x = read(without_mark(text));
    if (!x)
      return std::move(x.error());
    out.push_back(std::move(*x));
  }
  return caf::none;
}

caf::expected<event_choice> read_choice(const words& x) {
  auto result = event_choice{};
  if (auto why = read_all(x.codes, result.codes, read_event_code))
    return why;
  if (auto why = read_all(x.affected, result.affected, read_proc))
    return why;
  result.nspace = x.nspace;
  result.since = x.since;
  return result;
}

caf::expected<events_order> read_watch(const words& x) {
  auto result = watch_events{};
  auto choice = read_choice(x);
  if (!choice)
    return std::move(choice.error());
  const auto range = read_event_range(x.range);
  if (!range)
    return range.error();
  if (*range == data_range::nspace || *range == data_range::rm)
    return make_error(status::bad_param,
                      "a tool is in no job: watch the range local, session or "
                      "global, and choose a job by --affected or --nspace");
  result.dvm = x.dvm;
  result.choice = std::move(*choice);
  result.range = *range;
  result.count = x.count;
  result.limit = x.limit;
  result.json = x.json;
  return events_order{std::move(result)};
}

caf::expected<events_order> read_list(const words& x) {
  auto choice = read_choice(x);
  if (!choice)
    return std::move(choice.error());
  return events_order{list_events{x.dvm, std::move(*choice), x.json}};
}

caf::expected<events_order> read_send(const words& x) {
  auto result = send_event{};
  result.dvm = x.dvm;
  auto& what = result.what;
  const auto code = read_event_code(without_mark(x.code));
  if (!code)
    return code.error();
  const auto range = read_event_range(x.range);
  if (!range)
    return range.error();
  if (*range == data_range::nspace)
    return make_error(status::bad_param,
                      "the namespace of this tool has no other process: name "
                      "the job by --to NAMESPACE");
  what.code = *code;
  what.range = *range;
  const auto add = [&](std::string_view key, value y) {
    what.infos.push_back({std::string{key}, 0, std::move(y)});
  };
  auto to = std::vector<proc_id>{};
  if (auto why = read_all(x.to, to, read_proc))
    return why;
  if (!to.empty()) {
    what.range = data_range::custom;
    add(attr::event_custom_range, value::procs(std::move(to)));
  }
  auto affected = std::vector<proc_id>{};
  if (auto why = read_all(x.affected, affected, read_proc))
    return why;
  if (affected.size() == 1)
    add(attr::event_affected_proc, value::of_proc(affected.front()));
  else if (!affected.empty())
    add(attr::event_affected_procs, value::procs(std::move(affected)));
  if (!x.message.empty())
    add(attr::event_text_message, value::string(x.message));
  if (x.non_default)
    add(attr::event_non_default, value::boolean(true));
  if (x.do_not_cache)
    add(attr::event_do_not_cache, value::boolean(true));
  if (auto why = read_all(x.infos, what.infos, read_event_info))
    return why;
  return events_order{std::move(result)};
}

} // namespace

bool event_choice::admits(const event& x) const {
  if (!codes.empty()
      && std::find(codes.begin(), codes.end(), x.code) == codes.end())
    return false;
  if (affected.empty())
    return true;
  const auto about = affected_by(x);
  return std::any_of(affected.begin(), affected.end(), [&](const auto& y) {
    return std::any_of(about.begin(), about.end(), [&](const auto& proc) {
      return matches(y, proc) || matches(proc, y);
    });
  });
}

std::variant<events_order, int>
parse_events_options(std::vector<std::string> args) {
  const auto command = take_command(args);
  if (gives_help(command, usage))
    return 0;
  auto x = words{};
  auto cli = CLI::App{"", "troupe events " + command};
  auto read = read_list;
  if (command == "watch") {
    cli.description("Shows events as they come.");
    add_watch(cli, x);
    read = read_watch;
  } else if (command == "send") {
    cli.description("Raises an event.");
    add_send(cli, x);
    read = read_send;
  } else if (command == "list") {
    cli.description("Shows the events that the server keeps for processes that "
                    "register later.");
    add_choice(cli, x);
  } else {
    return refuse_command("troupe events", command, usage);
  }
  add_dvm_option(cli, x.dvm);
  if (const auto status =
        parse_arguments(cli, with_marked_codes(std::move(args))))
    return *status;
  auto order = read(x);
  if (!order)
    return complain(cli.get_name(), reason_of(order.error()));
  return std::move(*order);
}

namespace {

using namespace std::chrono_literals;

/// How long a DVM may take to answer.
constexpr auto answer_time = 30s;

/// How long events may still come that were kept when we registered.
constexpr auto replay_time = 2s;

/// The exit status if too few events came in time, as `timeout` has it.
constexpr int timed_out = 124;

/// The query for the events that a server keeps.
constexpr std::string_view retained_key = "troupe.event.retained";
constexpr std::string_view since_key = "troupe.event.since";

int fail(const std::string& command, const std::string& reason) {
  std::cerr << notice("troupe events " + command, reason);
  return 1;
}

void print(const numbered_event& x, bool json) {
  if (json)
    std::cout << json_line(to_json(x));
  else
    std::cout << to_text(x) << '\n';
}

/// What a refusal comes to, in words.
std::string words_of(const caf::error& why) {
  const auto code = to_string(status_of(why));
  const auto text = reason_of(why);
  return text.empty() || text == code ? code : code + " (" + text + ")";
}

/// The events that the server keeps.
/// @returns `not_found` if it does not know the question.
caf::expected<std::vector<numbered_event>>
ask_for_retained(tool_session& to, const std::string& nspace,
                 std::optional<uint64_t> since) {
  auto question = query_request{};
  auto& x = question.queries.emplace_back();
  x.keys = {std::string{retained_key}};
  if (!nspace.empty())
    x.qualifiers.push_back(
      {std::string{attr::nspace}, 0, value::string(nspace)});
  if (since)
    x.qualifiers.push_back({std::string{since_key}, 0, value::uint64(*since)});
  const auto got = to.ask(question, answer_time);
  if (!got && status_of(got.error()) != status::not_found
      && status_of(got.error()) != status::not_supported)
    return got.error();
  const auto* result = got ? std::get_if<info_result>(&*got) : nullptr;
  const auto* found =
    result != nullptr ? find(result->infos, retained_key) : nullptr;
  if (found == nullptr)
    return make_error(status::not_found);
  return read_retained(*found);
}

// -- list and send -----------------------------------------------------------

int list(const list_events& order) {
  auto session = tool_session::open(order.dvm, false, {});
  if (!session)
    return fail("list", reason_of(session.error()));
  const auto found =
    ask_for_retained(**session, order.choice.nspace, order.choice.since);
  if (!found)
    return fail("list",
                status_of(found.error()) == status::not_found
                  ? "the server that answers keeps no list of events; "
                    "is it a DVM of Troupe?"
                  : "the DVM does not answer: " + words_of(found.error()));
  for (const auto& x : *found)
    if (order.choice.admits(x.what))
      print(x, order.json);
  return 0;
}

int send(const send_event& order) {
  auto session = tool_session::open(order.dvm, false, {});
  if (!session)
    return fail("send", reason_of(session.error()));
  const auto got = (**session).ask(order.what, answer_time);
  if (!got)
    return fail("send", "the event was not taken: " + words_of(got.error()));
  return 0;
}

// -- watch -------------------------------------------------------------------

class event_watch {
public:
  explicit event_watch(watch_events order) : order_(std::move(order)) {
    // nop
  }

  int run();

private:
  std::string open();
  void show_kept();
  void subscribe();
  void on_registered(const link::outcome& outcome);
  void on_event(event x);
  void show(const numbered_event& x);
  void finish(int status, const std::string& reason);

  watch_events order_;
  std::unique_ptr<tool_session> session_;
  std::unique_ptr<timer> limit_;
  std::unique_ptr<timer> replay_;

  /// Kept events, which may come again.
  std::vector<event> old_;
  size_t pending_ = 0;
  uint64_t seen_ = 0;
  int exit_status_ = 0;
  bool is_over_ = false;
};

std::string event_watch::open() {
  auto handlers = each_event([this](const event& x) { on_event(x); });
  handlers.on_lost = [this](const caf::error&) {
    finish(1, "the DVM has ended, or the connection to it is lost");
  };
  auto session = tool_session::open(order_.dvm, false, std::move(handlers));
  if (!session)
    return reason_of(session.error());
  session_ = std::move(*session);
  return {};
}

/// Shows what is kept, if that is wanted. A registration may bring it again:
/// notes what is not to be shown then.
void event_watch::show_kept() {
  auto kept = ask_for_retained(*session_, order_.choice.nspace, {});
  if (!kept)
    return; // Not one of our servers: shows what it sends.
  // An event for several namespaces is in the log of each.
  struct copies {
    std::map<std::string, size_t> by_nspace;
    size_t shown = 0;
  };
  auto all = std::map<std::string, copies>{};
  for (auto& x : *kept) {
    auto& same = all[to_text({x.what, 0, {}})];
    if (++same.by_nspace[x.nspace] > same.shown) {
      ++same.shown;
      if (order_.choice.since && x.number > *order_.choice.since
          && order_.choice.admits(x.what))
        show(x);
      old_.push_back(std::move(x.what));
    }
  }
}

void event_watch::subscribe() {
  auto wants = register_events_request{};
  // Other jobs' processes are none of ours unless we say so.
  wants.directives.push_back(
    {std::string{attr::range}, 0,
     value{data_type::data_range, static_cast<uint64_t>(order_.range)}});
  if (!order_.choice.affected.empty())
    wants.directives.push_back({std::string{attr::event_affected_procs}, 0,
                                value::procs(order_.choice.affected)});
  auto requests = std::vector<register_events_request>{wants};
  requests.front().codes = order_.choice.codes;
  // Default handlers do not get all that there is.
  if (order_.choice.codes.empty()) {
    requests.push_back(std::move(wants));
    requests.back().codes = named_event_codes();
  }
  pending_ = requests.size();
  for (const auto& x : requests)
    session_->to()->submit(
      x, [this](const link::outcome& outcome) { on_registered(outcome); });
}

void event_watch::on_registered(const link::outcome& outcome) {
  if (is_over_)
    return;
  if (!outcome) {
    finish(1, "the DVM does not send events: " + words_of(outcome.error()));
    return;
  }
  if (--pending_ > 0)
    return;
  const auto server = session_->to()->server().nspace;
  if (order_.json)
    std::cout << json_line({{"type", "watching"}, {"dvm", server}})
              << std::flush;
  else
    std::cerr << "watching " + escape_control_characters(server) + "\n"
              << std::flush;
  replay_ =
    std::make_unique<timer>(session_->loop().loop(), [this] { old_.clear(); });
  replay_->start(replay_time);
}

void event_watch::on_event(event x) {
  if (is_over_ || !order_.choice.admits(x))
    return;
  const auto& nspace = order_.choice.nspace;
  const auto about = affected_by(x);
  if (!nspace.empty() && x.source.nspace != nspace
      && std::none_of(about.begin(), about.end(), [&](const proc_id& proc) {
           return proc.nspace == nspace;
         }))
    return;
  const auto i = std::find_if(old_.begin(), old_.end(), [&](const event& y) {
    return y.code == x.code && y.source == x.source && y.infos == x.infos;
  });
  if (i != old_.end()) {
    old_.erase(i);
    return;
  }
  show({std::move(x), 0, {}});
}

void event_watch::show(const numbered_event& x) {
  if (is_over_)
    return;
  print(x, order_.json);
  if (!std::cout.flush())
    finish(0, {}); // `guarded_main` says why.
  else if (++seen_ == order_.count)
    finish(0, {});
}

void event_watch::finish(int status, const std::string& reason) {
  if (is_over_)
    return;
  is_over_ = true;
  exit_status_ = status;
  if (!reason.empty())
    fail("watch", reason);
  session_->loop().stop();
}

int event_watch::run() {
  ignore_broken_pipes();
  if (const auto why = open(); !why.empty())
    return fail("watch", why);
  show_kept();
  auto& loop = session_->loop().loop();
  for (const auto number : {SIGINT, SIGTERM, SIGHUP})
    loop.on_signal(number, [this] { finish(0, {}); });
  limit_ = std::make_unique<timer>(loop, [this] {
    if (order_.count == 0)
      finish(0, {});
    else
      finish(timed_out, std::to_string(seen_) + " of "
                          + std::to_string(order_.count)
                          + " events came in time");
  });
  if (order_.limit > 0)
    limit_->start(std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>{order_.limit}));
  if (!is_over_) {
    subscribe();
    session_->loop().run();
  }
  limit_.reset();
  replay_.reset();
  return exit_status_;
}

} // namespace

int events(std::vector<std::string> args) {
  auto order = parse_events_options(std::move(args));
  if (const auto* exit_status = std::get_if<int>(&order))
    return *exit_status;
  struct carrier_out {
    int operator()(watch_events& x) {
      return event_watch{std::move(x)}.run();
    }
    int operator()(const send_event& x) {
      return send(x);
    }
    int operator()(const list_events& x) {
      return list(x);
    }
  };
  return std::visit(carrier_out{}, std::get<events_order>(order));
}

} // namespace troupe
