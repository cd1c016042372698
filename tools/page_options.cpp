#include "tools/page_options.hpp"

#include "adapters/http/http_message.hpp"
#include "tools/command_line.hpp"

#include <CLI/CLI.hpp>

#include <optional>
#include <utility>

namespace troupe {

std::variant<page_order, int>
parse_page_options(std::vector<std::string> args) {
  auto x = page_order{};
  auto seconds = 0.2;
  auto cli = CLI::App{
    "Serves a live page about a DVM to browsers of this node, until it is "
    "interrupted: nodes and processes, jobs, networks, groups, streams, alerts "
    "and events. It only reads. Prints its address, which holds its key; "
    "whoever has that may look.",
    "troupe page"};
  add_dvm_option(cli, x.dvm);
  cli.add_option("--port", x.port, "The port (default: any that is free)");
  cli.add_option("--listen", x.address,
                 "Which address of this node (default 127.0.0.1); others than "
                 "loopback with --tls only");
  cli.add_option("--tls", x.certificate,
                 "Speak TLS, with the certificate, its chain and its key in "
                 "this file (PEM)");
  cli.add_option("--key", x.key_file,
                 "Have the key that is in this file, of this user alone: 32 "
                 "letters and digits or more (default: a new one)");
  cli.add_option("--every", seconds,
                 "Seconds between two questions for jobs and processes "
                 "(default 0.2, at least 0.1)");
  cli.add_flag("--json", x.json, "Print the address as a line of JSON");
  if (const auto status = parse_arguments(cli, std::move(args)))
    return *status;
  constexpr auto shortest = 0.1;
  constexpr auto longest = 60.0;
  if (!(seconds >= shortest && seconds <= longest))
    return complain(cli.get_name(), "--every takes 0.1 to 60 seconds");
  constexpr auto second = 1000.0;
  x.interval =
    std::chrono::milliseconds{static_cast<int64_t>(seconds * second)};
  if (x.certificate.empty() && !is_loopback(x.address))
    return complain(
      cli.get_name(),
      "--listen " + x.address
        + " is no address of this node's loopback, where others could read on "
          "the way: give a certificate by --tls FILE, or leave it and come "
          "by ssh -L");
  return x;
}

} // namespace troupe
