#include "tools/ctl.hpp"

#include "actors/control/control_directives.hpp"
#include "base/escape.hpp"
#include "messages/attributes.hpp"
#include "messages/denial.hpp"
#include "messages/status.hpp"
#include "tools/command_line.hpp"
#include "tools/event_text.hpp"
#include "tools/printing.hpp"
#include "tools/signals.hpp"
#include "tools/tool_session.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <iostream>
#include <optional>
#include <string_view>

namespace troupe {

// -- targets -----------------------------------------------------------------

namespace {

caf::error bad(std::string why) {
  return make_error(status::bad_param, std::move(why));
}

std::string in_quotes(const std::string& text) {
  return "\"" + escape_control_characters(text) + "\"";
}

std::optional<uint32_t> read_number(std::string_view text) {
  auto result = uint32_t{0};
  const auto* end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, result);
  if (text.empty() || failure != std::errc{} || at != end)
    return std::nullopt;
  return result;
}

} // namespace

caf::expected<std::vector<proc_id>> read_targets(const std::string& text) {
  const auto colon = text.rfind(':');
  const auto nspace = text.substr(0, colon);
  if (nspace.empty() || nspace.size() > max_nspace_length)
    return bad(in_quotes(text)
               + " names no processes; write NAMESPACE or NAMESPACE:RANKS");
  const auto ranks =
    colon == std::string::npos ? std::string{"*"} : text.substr(colon + 1);
  if (ranks == "*")
    return std::vector<proc_id>{{nspace, rank_wildcard}};
  auto result = std::vector<proc_id>{};
  for (size_t begin = 0; begin <= ranks.size();) {
    const auto end = std::min(ranks.find(',', begin), ranks.size());
    const auto part = std::string_view{ranks}.substr(begin, end - begin);
    const auto dash = part.find('-');
    const auto first = read_number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos
                        ? first
                        : read_number(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last > rank_valid_max)
      return bad(in_quotes(text)
                 + " names no processes: ranks are a list such as 0,4-7, or *");
    if (*last - *first >= max_control_targets - result.size())
      return bad(in_quotes(text) + " names more than "
                 + std::to_string(max_control_targets)
                 + " processes; leave the ranks away for all of them");
    for (auto rank = *first; rank <= *last; ++rank)
      result.push_back({nspace, rank});
    begin = end + 1;
  }
  return result;
}

// -- the command line --------------------------------------------------------

namespace {

/// How long a DVM may take for what takes no time of the processes.
constexpr auto answer_time = std::chrono::seconds{120};

/// What a DVM gets to answer beyond the time that the request has; and how long
/// the two mails of a request may take.
constexpr auto answer_margin = std::chrono::seconds{5};
constexpr auto mail_time = std::chrono::seconds{60};

constexpr auto usage = R"(Usage: troupe ctl COMMAND [options]

Commands:
  kill TARGET...            end processes at once, and clean up after them
  term TARGET...            tell processes to end; kill them after a grace
  signal SIGNAL TARGET...   send a signal to exactly these processes
  pause TARGET...           stop processes
  resume TARGET...          let stopped processes go on
  checkpoint ID TARGET...   have processes save their state under a name
  restart ID [TARGET...]    start again what was saved
  preempt TARGET...         tell processes to give way, then see to it
  cancel [ID]               cancel a request, or all of yours
  status [ID]               show your requests: what they do and what came of it

TARGET is NAMESPACE, NAMESPACE:RANKS (such as job@1:0,4-7), or the name of a
process set. A request is done (exit status 0), done to some of the processes
(3), not in time (124), or refused (1); 2 is a mistake in the command line.

troupe ctl COMMAND --help tells about a command.
)";

/// What the options say, before it is read.
struct words {
  std::string dvm;
  std::vector<std::string> targets;
  std::string name;
  std::string signal;
  std::string event;
  std::string then = "terminate";
  std::string id;
  std::string mail;
  std::optional<double> grace;
  uint32_t timeout = 0;
  bool json = false;
  bool in_place = false;
};

/// One command: its options, and the directives that they come to.
struct command {
  const char* name;
  const char* description;
  void (*add_options)(CLI::App& cli, words& x);
  caf::error (*read)(const words& x, std::vector<info>& out);

  /// Whether the processes decide how long it takes.
  bool is_slow = false;
};

void add(std::vector<info>& out, std::string_view key, value x) {
  out.push_back({std::string{key}, 0, std::move(x)});
}

void add_targets(CLI::App& cli, words& x) {
  cli
    .add_option("TARGET", x.targets,
                "NAMESPACE, NAMESPACE:RANKS, or the name of a process set")
    ->required();
}

void add_grace(CLI::App& cli, words& x) {
  cli.add_option("--grace", x.grace, "Seconds before they are killed")
    ->check(CLI::Range(0.0, 86400.0));
}

void read_grace(const words& x, std::vector<info>& out) {
  if (x.grace)
    add(out, control_key::grace,
        value::uint32(static_cast<uint32_t>(*x.grace * 1000)));
}

caf::error read_method(const words& x, std::vector<info>& out) {
  if (!x.event.empty()) {
    const auto code = read_event_code(x.event);
    if (!code)
      return code.error();
    add(out, attr::job_ctrl_checkpoint_event,
        value::of_status(static_cast<int32_t>(*code)));
  }
  if (!x.signal.empty()) {
    const auto number = read_signal(x.signal);
    if (!number)
      return number.error();
    add(out, attr::job_ctrl_checkpoint_signal, value::integer(*number));
  }
  return caf::none;
}

/// A directive that is a word and nothing else.
template <const std::string_view& Key>
caf::error read_flag(const words&, std::vector<info>& out) {
  add(out, Key, value::boolean(true));
  return caf::none;
}

const command commands[] = {
  {"kill", "Ends processes at once, and cleans up after them.", add_targets,
   read_flag<attr::job_ctrl_kill>},
  {"term", "Tells processes to end, and kills them after a grace.",
   [](CLI::App& cli, words& x) {
     add_targets(cli, x);
     add_grace(cli, x);
   },
   [](const words& x, std::vector<info>& out) -> caf::error {
     add(out, attr::job_ctrl_terminate, value::boolean(true));
     read_grace(x, out);
     return caf::none;
   }},
  {"signal", "Sends a signal to exactly these processes.",
   [](CLI::App& cli, words& x) {
     cli.add_option("SIGNAL", x.signal, "Its name or number")->required();
     add_targets(cli, x);
   },
   [](const words& x, std::vector<info>& out) -> caf::error {
     const auto number = read_signal(x.signal);
     if (!number)
       return number.error();
     add(out, attr::job_ctrl_signal, value::integer(*number));
     return caf::none;
   }},
  {"pause", "Stops processes until they are resumed.", add_targets,
   read_flag<attr::job_ctrl_pause>},
  {"resume", "Lets stopped processes go on.", add_targets,
   read_flag<attr::job_ctrl_resume>},
  {"checkpoint",
   "Has processes save their state, by a method that they have registered if "
   "none is given, and waits until all have.",
   [](CLI::App& cli, words& x) {
     cli.add_option("ID", x.name, "What the checkpoint is called")->required();
     add_targets(cli, x);
     cli.add_option("--event", x.event, "Ask them by this event");
     cli.add_option("--signal", x.signal, "Ask them by this signal");
     cli
       .add_option("--wait", x.grace,
                   "Seconds that they have to complete (default: as the DVM "
                   "is set up)")
       ->check(CLI::Range(1.0, 86400.0));
   },
   [](const words& x, std::vector<info>& out) -> caf::error {
     add(out, attr::job_ctrl_checkpoint, value::string(x.name));
     if (x.grace)
       add(out, attr::job_ctrl_checkpoint_timeout,
           value::integer(static_cast<int32_t>(*x.grace)));
     return read_method(x, out);
   },
   true},
  {"restart", "Starts again what was saved by a checkpoint.",
   [](CLI::App& cli, words& x) {
     cli
       .add_option("ID", x.name,
                   "What the checkpoint is called; with --in-place, -: none")
       ->required();
     add_targets(cli, x);
     cli.get_option("TARGET")->required(false);
     cli.add_flag("--in-place", x.in_place,
                  "Start the processes again where they run, under their names "
                  "(jobs with --max-restarts)");
   },
   [](const words& x, std::vector<info>& out) -> caf::error {
     if (x.in_place && x.targets.empty())
       return bad("--in-place needs a TARGET");
     if (!x.in_place || x.name != "-")
       add(out, attr::job_ctrl_restart, value::string(x.name));
     if (x.in_place)
       add(out, control_key::in_place, value::boolean(true));
     return caf::none;
   },
   true},
  {"preempt",
   "Tells processes that they are preempted, gives them time, then does what "
   "is to follow.",
   [](CLI::App& cli, words& x) {
     add_targets(cli, x);
     cli
       .add_option("--then", x.then,
                   "What follows: terminate, kill, pause or checkpoint "
                   "(default terminate)")
       ->check(CLI::IsMember({"terminate", "kill", "pause", "checkpoint"}));
     cli.add_option("--checkpoint", x.name,
                    "What the checkpoint is called, with --then checkpoint");
     cli.add_option("--grace", x.grace, "Seconds that they have")
       ->check(CLI::Range(0.0, 86400.0));
   },
   [](const words& x, std::vector<info>& out) -> caf::error {
     if ((x.then == "checkpoint") == x.name.empty())
       return bad("--then checkpoint and --checkpoint ID belong together; give "
                  "both, or neither");
     add(out, control_key::preempt, value::string(x.then));
     if (!x.name.empty())
       add(out, attr::job_ctrl_checkpoint, value::string(x.name));
     read_grace(x, out);
     return caf::none;
   },
   true},
  {"cancel", "Cancels a request, or all of yours.",
   [](CLI::App& cli, words& x) {
     cli.add_option("ID", x.name, "Of the request (default: all of yours)");
   },
   [](const words& x, std::vector<info>& out) -> caf::error {
     auto which = value{};
     which.type = data_type::string;
     add(out, attr::job_ctrl_cancel,
         x.name.empty() ? std::move(which) : value::string(x.name));
     add(out, control_key::user, value::boolean(true));
     return caf::none;
   }},
};

caf::expected<ctl_order> read(const command& kind, const words& x) {
  auto result = ctl_request{};
  result.dvm = x.dvm;
  result.command = kind.name;
  result.json = x.json;
  for (const auto& text : x.targets) {
    auto procs = read_targets(text);
    if (!procs)
      return std::move(procs.error());
    auto& all = result.what.targets;
    all.insert(all.end(), procs->begin(), procs->end());
    if (all.size() > max_control_targets)
      return bad("no more than " + std::to_string(max_control_targets)
                 + " processes at once; name whole jobs");
  }
  auto& directives = result.what.directives;
  if (auto why = kind.read(x, directives))
    return why;
  if (!x.id.empty())
    add(directives, attr::job_ctrl_id, value::string(x.id));
  if (!x.mail.empty())
    directives.push_back({std::string{attr::log_email_addr}, info_required,
                          value::string(x.mail)});
  if (x.timeout > 0) {
    add(directives, attr::timeout,
        value::integer(static_cast<int32_t>(x.timeout)));
    result.limit = std::chrono::seconds{x.timeout} + answer_margin;
  } else if (!kind.is_slow) {
    result.limit =
      answer_time
      + std::chrono::seconds{static_cast<int64_t>(x.grace.value_or(0))};
  }
  if (result.limit && !x.mail.empty())
    *result.limit += mail_time;
  return ctl_order{std::move(result)};
}

void add_common(CLI::App& cli, words& x) {
  add_dvm_option(cli, x.dvm);
  cli.add_flag("--json", x.json, "Print JSON");
}

std::variant<ctl_order, int> parse_status(std::vector<std::string> args) {
  auto x = words{};
  auto cli = CLI::App{"Shows your requests: what they do, how far they are, "
                      "and for a while what came of them.",
                      "troupe ctl status"};
  cli.add_option("ID", x.name, "Of the request (default: all of yours)");
  add_common(cli, x);
  if (const auto status = parse_arguments(cli, std::move(args)))
    return *status;
  auto order = ctl_status_request{x.dvm, {}, x.json};
  if (!x.name.empty())
    order.id = x.name;
  return ctl_order{std::move(order)};
}

} // namespace

std::variant<ctl_order, int> parse_ctl_options(std::vector<std::string> args) {
  const auto name = take_command(args);
  if (gives_help(name, usage))
    return 0;
  if (name == "status")
    return parse_status(std::move(args));
  const auto* kind =
    std::find_if(std::begin(commands), std::end(commands),
                 [&](const command& x) { return name == x.name; });
  if (kind == std::end(commands))
    return refuse_command("troupe ctl", name, usage);
  auto x = words{};
  auto cli = CLI::App{kind->description, "troupe ctl " + name};
  kind->add_options(cli, x);
  add_common(cli, x);
  cli.add_option("--id", x.id,
                 "A name for this request, for `status` and `cancel`");
  cli.add_option("--timeout", x.timeout,
                 "Seconds after which the request is given up");
  cli.add_option("--mail", x.mail,
                 "Have these addresses, with commas between, told what is "
                 "asked for and what comes of it");
  if (const auto status = parse_arguments(cli, std::move(args)))
    return *status;
  auto order = read(*kind, x);
  if (!order)
    return complain("troupe ctl " + name, reason_of(order.error()));
  return std::move(*order);
}

// -- answers -----------------------------------------------------------------

namespace {

using nlohmann::json;

constexpr std::string_view own_prefix = "troupe.control.";

/// The name of a key in JSON.
std::string name_of(const std::string& key) {
  if (key == attr::event_text_message)
    return "reason";
  if (key == attr::job_ctrl_id)
    return "id";
  if (key == attr::nspace)
    return "nspace";
  if (key == attr::job_ctrl_checkpoint)
    return "checkpoint";
  if (key.rfind(own_prefix, 0) == 0)
    return key.substr(own_prefix.size());
  return key;
}

json shown(const value& x) {
  if (x.type == data_type::bool_)
    return x.truth();
  if (x.type == data_type::status)
    return to_string(static_cast<status>(x.number<int32_t>().value_or(0)));
  if (const auto* text = x.text())
    return *text;
  if (x.type == data_type::proc) {
    const auto procs = procs_of(x);
    return procs.empty() ? json{} : json(to_string(procs.front()));
  }
  if (const auto number = x.number<uint64_t>())
    return *number;
  if (const auto number = x.number<int64_t>())
    return *number;
  if (const auto* y = std::get_if<double>(&x.data))
    return *y;
  const auto* array = x.array();
  if (array == nullptr)
    return nullptr;
  if (const auto infos = infos_of(x); !infos.empty()) {
    auto result = json::object();
    for (const auto& y : infos)
      result[name_of(y.key)] = shown(y.val);
    return result;
  }
  auto result = json::array();
  for (const auto& y : array->elements)
    result.push_back(shown(y));
  return result;
}

size_t count_in(const control_answer& x, std::string_view key) {
  return number<size_t>(x.infos, key).value_or(0);
}

std::string processes(size_t n) {
  return std::to_string(n) + (n == 1 ? " process" : " processes");
}

/// Such as `not reached: job@1:3, job@1:5 and 7 more`.
void add_procs(std::string& line, const control_answer& x, std::string_view key,
               const char* title) {
  const auto* found = find(x.infos, key);
  if (found == nullptr)
    return;
  constexpr size_t max_shown = 8;
  const auto procs = procs_of(*found);
  line += std::string{line.empty() ? "" : "; "} + title;
  for (size_t i = 0; i < procs.size() && i < max_shown; ++i)
    line +=
      (i > 0 ? ", " : " ") + escape_control_characters(to_string(procs[i]));
  if (procs.size() > max_shown)
    line += " and " + std::to_string(procs.size() - max_shown) + " more";
}

constexpr auto columns = std::array<std::pair<const char*, const char*>, 6>{
  {{"ID", "id"},
   {"REQUESTOR", "requestor"},
   {"WHAT", "what"},
   {"STATE", "state"},
   {"STATUS", "status"},
   {"REASON", "reason"}}};

} // namespace

json to_json(const control_answer& x) {
  auto result = json::object();
  result["status"] = to_string(x.code);
  for (const auto& y : x.infos)
    result[name_of(y.key)] = shown(y.val);
  return result;
}

std::string to_text(const control_answer& x) {
  auto result = std::string{};
  const auto add = [&](const std::string& part) {
    result += (result.empty() ? "" : "; ") + part;
  };
  if (find(x.infos, control_key::reached) != nullptr)
    add("reached " + processes(count_in(x, control_key::reached)));
  if (find(x.infos, control_key::cancelled) != nullptr) {
    const auto n = count_in(x, control_key::cancelled);
    add("cancelled " + std::to_string(n) + (n == 1 ? " request" : " requests"));
  }
  if (const auto nspace = text(x.infos, attr::nspace))
    add("started " + escape_control_characters(*nspace));
  return result;
}

std::string complaint_of(const control_answer& x) {
  auto result = text(x.infos, attr::event_text_message).value_or("");
  if (x.code == status::lost_connection)
    result = "the DVM was lost before it answered: it may have done it or not";
  else if (result.empty())
    result = "refused: " + to_string(x.code);
  result = escape_control_characters(result);
  add_procs(result, x, control_key::absent, "not running:");
  add_procs(result, x, control_key::missing, "not done to:");
  return result;
}

int exit_status_of(const control_answer& x) {
  switch (x.code) {
    case status::success:
    case status::operation_succeeded:
      return 0;
    case status::partial_success:
      return 3;
    case status::timeout:
      return 124;
    default:
      return 1;
  }
}

json read_requests(const value& x) {
  auto result = json::array();
  for (const auto& item : infos_of(x))
    if (auto request = shown(item.val); request.is_object())
      result.push_back(std::move(request));
  return result;
}

std::string requests_to_text(const json& x) {
  using row = std::array<std::string, columns.size()>;
  auto rows = std::vector<row>(1);
  for (size_t i = 0; i < columns.size(); ++i)
    rows.front()[i] = columns[i].first;
  for (const auto& item : x) {
    auto& next = rows.emplace_back();
    for (size_t i = 0; i < columns.size(); ++i) {
      const auto found = item.find(columns[i].second);
      next[i] = found == item.end() ? "-"
                : found->is_string()
                  ? escape_control_characters(found->get<std::string>())
                  : found->dump();
    }
  }
  auto widths = std::array<size_t, columns.size()>{};
  for (const auto& y : rows)
    for (size_t i = 0; i < y.size(); ++i)
      widths[i] = std::max(widths[i], y[i].size());
  auto result = std::string{};
  for (const auto& y : rows) {
    auto line = std::string{};
    for (size_t i = 0; i < y.size(); ++i)
      line += y[i] + std::string(widths[i] + 2 - y[i].size(), ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  }
  return result;
}

// -- the command -------------------------------------------------------------

namespace {

using namespace std::chrono_literals;

/// How long a DVM may take to say what it knows.
constexpr auto query_time = 30s;

int fail(const std::string& command, const std::string& reason) {
  std::cerr << notice("troupe ctl " + command, reason);
  return 1;
}

int show(const ctl_request& order, const control_answer& x) {
  if (order.json)
    std::cout << json_document(to_json(x));
  else if (const auto done = to_text(x); !done.empty())
    std::cout << done << '\n';
  if (x.code != status::success && !order.json)
    fail(order.command, complaint_of(x));
  return exit_status_of(x);
}

int carry_out(const ctl_request& order) {
  auto session = tool_session::open(order.dvm, false, {});
  if (!session)
    return fail(order.command, reason_of(session.error()));
  const auto got = (**session).ask(order.what, order.limit);
  if (got) {
    const auto* result = std::get_if<info_result>(&*got);
    return show(order,
                {status::success,
                 result != nullptr ? result->infos : std::vector<info>{}});
  }
  return show(order, {status_of(got.error()), explanation_of(got.error())});
}

int carry_out(const ctl_status_request& order) {
  auto session = tool_session::open(order.dvm, false, {});
  if (!session)
    return fail("status", reason_of(session.error()));
  auto question = query_request{};
  auto& x = question.queries.emplace_back();
  x.keys = {std::string{control_key::status}};
  x.qualifiers = {{std::string{control_key::user}, 0, value::boolean(true)}};
  if (order.id)
    x.qualifiers.push_back(
      {std::string{attr::job_ctrl_id}, 0, value::string(*order.id)});
  const auto got = (**session).ask(question, query_time);
  if (!got && status_of(got.error()) != status::not_found)
    return fail("status", "the DVM does not answer: " + reason_of(got.error()));
  const auto* result = got ? std::get_if<info_result>(&*got) : nullptr;
  const auto* found =
    result != nullptr ? find(result->infos, control_key::status) : nullptr;
  if (found == nullptr)
    return fail("status",
                order.id ? "no request of yours is called \"" + *order.id + "\""
                         : "the server that answers does not know this; is it "
                           "a DVM of Troupe?");
  const auto requests = read_requests(*found);
  if (order.json)
    std::cout << json_document("requests", requests);
  else
    std::cout << requests_to_text(requests);
  return 0;
}

} // namespace

int ctl(std::vector<std::string> args) {
  const auto order = parse_ctl_options(std::move(args));
  if (const auto* exit_status = std::get_if<int>(&order))
    return *exit_status;
  return std::visit([](const auto& x) { return carry_out(x); },
                    std::get<ctl_order>(order));
}

} // namespace troupe
