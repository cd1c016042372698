#include "tools/ctl_options.hpp"

#include "actors/control/control_directives.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"
#include "tools/ctl_words.hpp"
#include "tools/event_text.hpp"
#include "tools/notice.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>

namespace troupe {

namespace {

constexpr int usage_error = 2;

/// How long a DVM may take for what takes no time of the processes.
constexpr auto answer_time = std::chrono::seconds{120};

/// What a DVM gets to answer beyond the time that the request has.
constexpr auto answer_margin = std::chrono::seconds{5};

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

caf::error bad(std::string why) {
  return make_error(status::bad_param, std::move(why));
}

/// What the options say, before it is read.
struct words {
  std::string dvm;
  std::vector<std::string> targets;
  std::string name;
  std::string signal;
  std::string event;
  std::string then = "terminate";
  std::string id;
  std::optional<double> grace;
  uint32_t timeout = 0;
  bool json = false;
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
     cli.add_option("ID", x.name, "What the checkpoint is called")->required();
     add_targets(cli, x);
     cli.get_option("TARGET")->required(false);
   },
   [](const words& x, std::vector<info>& out) -> caf::error {
     add(out, attr::job_ctrl_restart, value::string(x.name));
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
       return bad("--then checkpoint and --checkpoint ID belong together");
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
  if (x.timeout > 0) {
    add(directives, attr::timeout,
        value::integer(static_cast<int32_t>(x.timeout)));
    result.limit = std::chrono::seconds{x.timeout} + answer_margin;
  } else if (!kind.is_slow) {
    result.limit =
      answer_time
      + std::chrono::seconds{static_cast<int64_t>(x.grace.value_or(0))};
  }
  return ctl_order{std::move(result)};
}

int complain(const std::string& command, const std::string& why) {
  std::cerr << notice("troupe ctl " + command, why);
  return usage_error;
}

void add_common(CLI::App& cli, words& x) {
  cli.add_option("--dvm", x.dvm,
                 "The DVM or launcher: its name, pid:N, file:PATH or URI "
                 "(default: your only one)");
  cli.add_flag("--json", x.json, "Print JSON");
}

/// @returns the exit status if there is nothing to do.
std::optional<int> parse(CLI::App& cli, const std::string& name,
                         std::vector<std::string> args) {
  std::reverse(args.begin(), args.end());
  try {
    cli.parse(std::move(args));
    return std::nullopt;
  } catch (const CLI::Success& result) {
    return cli.exit(result);
  } catch (const CLI::ParseError& result) {
    return complain(name, result.what());
  }
}

std::variant<ctl_order, int> parse_status(std::vector<std::string> args) {
  auto x = words{};
  auto cli = CLI::App{"Shows your requests: what they do, how far they are, "
                      "and for a while what came of them.",
                      "troupe ctl status"};
  cli.add_option("ID", x.name, "Of the request (default: all of yours)");
  add_common(cli, x);
  if (const auto status = parse(cli, "status", std::move(args)))
    return *status;
  auto order = ctl_status_request{x.dvm, {}, x.json};
  if (!x.name.empty())
    order.id = x.name;
  return ctl_order{std::move(order)};
}

} // namespace

std::variant<ctl_order, int> parse_ctl_options(std::vector<std::string> args) {
  const auto name = args.empty() ? std::string{} : args.front();
  if (name == "--help" || name == "-h" || name == "help") {
    std::cout << usage;
    return 0;
  }
  if (!args.empty())
    args.erase(args.begin());
  if (name == "status")
    return parse_status(std::move(args));
  const auto* kind =
    std::find_if(std::begin(commands), std::end(commands),
                 [&](const command& x) { return name == x.name; });
  if (kind == std::end(commands)) {
    std::cerr << notice("troupe ctl",
                        name.empty() ? "a command is missing"
                                     : "there is no command \"" + name + "\"")
              << '\n'
              << usage;
    return usage_error;
  }
  auto x = words{};
  auto cli = CLI::App{kind->description, "troupe ctl " + name};
  kind->add_options(cli, x);
  add_common(cli, x);
  cli.add_option("--id", x.id,
                 "A name for this request, for `status` and `cancel`");
  cli.add_option("--timeout", x.timeout,
                 "Seconds after which the request is given up");
  if (const auto status = parse(cli, name, std::move(args)))
    return *status;
  auto order = read(*kind, x);
  if (!order)
    return complain(name, reason_of(order.error()));
  return std::move(*order);
}

} // namespace troupe
