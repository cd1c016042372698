#include "tools/event_options.hpp"

#include "messages/attributes.hpp"
#include "tools/notice.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>

namespace troupe {

namespace {

constexpr int usage_error = 2;

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

void add_dvm(CLI::App& cli, words& x) {
  cli.add_option("--dvm", x.dvm,
                 "The DVM or launcher: its name, pid:N, file:PATH or URI "
                 "(default: your only one)");
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

int complain(const std::string& command, const std::string& why) {
  std::cerr << notice("troupe events " + command, why);
  return usage_error;
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
  const auto command = args.empty() ? std::string{} : args.front();
  if (command == "--help" || command == "-h" || command == "help") {
    std::cout << usage;
    return 0;
  }
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
    std::cerr << notice("troupe events",
                        command.empty()
                          ? "a command is missing"
                          : "there is no command \"" + command + "\"")
              << '\n'
              << usage;
    return usage_error;
  }
  add_dvm(cli, x);
  args.erase(args.begin());
  args = with_marked_codes(std::move(args));
  std::reverse(args.begin(), args.end());
  try {
    cli.parse(std::move(args));
  } catch (const CLI::Success& result) {
    return cli.exit(result);
  } catch (const CLI::ParseError& result) {
    return complain(command, result.what());
  }
  auto order = read(x);
  if (!order)
    return complain(command, reason_of(order.error()));
  return std::move(*order);
}

} // namespace troupe
