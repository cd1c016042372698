#include "tools/view_options.hpp"

#include "messages/status.hpp"
#include "tools/event_text.hpp"
#include "tools/notice.hpp"
#include "tools/output_flags.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <map>

namespace troupe {

namespace {

constexpr int usage_error = 2;

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

void add_dvm(CLI::App& cli, words& x) {
  cli.add_option("--dvm", x.dvm,
                 "The DVM or launcher: its name, pid:N, file:PATH or URI "
                 "(default: your only one)");
}

void add_view(CLI::App& cli, words& x, view_order& order) {
  add_dvm(cli, x);
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

template <class F>
int parse(CLI::App& cli, const std::string& command,
          std::vector<std::string> args, F then) {
  std::reverse(args.begin(), args.end());
  try {
    cli.parse(std::move(args));
    then();
    return -1;
  } catch (const CLI::Success& x) {
    return cli.exit(x);
  } catch (const CLI::ParseError& x) {
    std::cerr << notice("troupe " + command, x.what());
    return usage_error;
  }
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
  const auto status = parse(cli, order.command, std::move(args), [&] {
    apply(x, order);
    for (const auto& y : x.processes)
      order.sources.push_back(read_source(y));
    auto& f = order.output.format;
    if (!f.raw && !f.json && !f.xml && !f.tag && !f.tag_detailed
        && !f.tag_fullname && !f.rank)
      f.label = true;
  });
  if (status >= 0)
    return status;
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
  add_dvm(cli, x);
  cli.add_flag("--json", order.json, "Print JSON");
  const auto status = parse(cli, order.command, std::move(args), [&] {
    order.dvm = x.dvm;
    if (!x.process.empty())
      order.whose = read_source(x.process);
  });
  if (status >= 0)
    return status;
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
  const auto status = parse(cli, order.command, std::move(args), [&] {
    apply(x, order);
    order.sources = {read_source(x.process)};
    if (!order.takes_input
        && (order.keeps_open || order.repeats_input || order.is_raw))
      refuse("--keep-open, --resume-input and --raw are about input, which is "
             "passed on with -i");
    if (order.takes_input && order.sources.front().rank == rank_wildcard)
      refuse("-i needs one process that gets the input; write "
             + order.sources.front().nspace + ":RANK");
  });
  if (status >= 0)
    return status;
  return order;
}

std::variant<view_order, list_order, int>
parse_io(std::vector<std::string> args) {
  if (args.empty()) {
    std::cerr << usage;
    return usage_error;
  }
  const auto name = args.front();
  args.erase(args.begin());
  if (name == "list" || name == "offsets")
    return parse_list(name, std::move(args));
  if (name == "follow")
    return parse_follow(std::move(args));
  if (name == "--help" || name == "-h" || name == "help") {
    std::cout << usage;
    return 0;
  }
  std::cerr << notice("troupe io", "there is no command \"" + name + "\"")
            << '\n'
            << usage;
  return usage_error;
}

} // namespace troupe
