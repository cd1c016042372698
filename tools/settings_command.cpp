#include "tools/settings_command.hpp"

#include "adapters/settings/settings_file.hpp"
#include "base/escape.hpp"
#include "messages/status.hpp"
#include "tools/command_line.hpp"
#include "tools/local_node.hpp"
#include "tools/printing.hpp"
#include "tools/report.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <iostream>

namespace troupe {

namespace {

using nlohmann::json;

constexpr auto usage = R"(Usage: troupe config COMMAND [options]

Commands:
  show         show all settings: value, bounds, and where the value comes from
  check FILE   say what is wrong in a file of settings
)";

/// Of a file that is looked at: that is the answer, and no failure.
constexpr int wrong_settings = 1;

const char* name_of(setting_type x) {
  switch (x) {
    case setting_type::flag:
      return "flag";
    case setting_type::number:
      return "number";
    case setting_type::bytes:
      return "bytes";
    default:
      return "time";
  }
}

json to_json(const site_settings& all, const setting_info& x) {
  return {{"name", x.name},
          {"type", name_of(x.type)},
          {"unit", unit_of(x)},
          {"value", all.get(x.id)},
          {"text", text_of(x, all.get(x.id))},
          {"default", text_of(x, x.standard)},
          {"bounds", bounds_of(x)},
          {"from", all.origin_of(x.id)},
          {"variable", variable_of(x)},
          {"description", x.text}};
}

std::string table_of(const site_settings& all) {
  auto rows = std::vector<std::vector<std::string>>{
    {"NAME", "VALUE", "TYPE", "BOUNDS", "FROM"}};
  for (const auto& x : all_settings())
    rows.push_back({std::string{x.name}, text_of(x, all.get(x.id)),
                    name_of(x.type), bounds_of(x),
                    escape_control_characters(all.origin_of(x.id))});
  return align(rows);
}

int show(std::vector<std::string> args) {
  auto words = std::vector<std::string>{};
  auto as_json = false;
  auto cli =
    CLI::App{"Shows the settings that a daemon or launcher started here would "
             "have, and where they come from.",
             "troupe config show"};
  cli.add_option("--set", words, set_help)->allow_extra_args(false);
  cli.add_flag("--json", as_json, "Print an object of JSON (docs/json.md)");
  if (const auto status = parse_arguments(cli, std::move(args)))
    return *status;
  const auto all = load_settings(words);
  if (!all)
    return complain("troupe config show", reason_of(all.error()));
  if (!as_json) {
    std::cout << table_of(*all);
    return 0;
  }
  auto items = json::array();
  for (const auto& x : all_settings())
    items.push_back(to_json(*all, x));
  std::cout << json_document("settings", std::move(items));
  return 0;
}

int check(std::vector<std::string> args) {
  auto file = std::string{};
  auto as_json = false;
  auto cli =
    CLI::App{"Says what is wrong in a file of settings, with its line; "
             "nothing if all is right.",
             "troupe config check"};
  cli.add_option("FILE", file, "The file")->required();
  cli.add_flag("--json", as_json, "Print an object of JSON (docs/json.md)");
  if (const auto status = parse_arguments(cli, std::move(args)))
    return *status;
  auto all = site_settings{};
  auto faults = read_settings_file(file, all);
  // One that is not there sets nothing, but it is not what was meant.
  if (faults.empty() && ::access(file.c_str(), F_OK) != 0)
    faults.push_back(file + ": there is no such file; correct its name");
  if (as_json)
    std::cout << json_document("faults", faults);
  else
    for (const auto& x : faults)
      std::cerr << notice("troupe config check", x);
  return faults.empty() ? 0 : wrong_settings;
}

} // namespace

int settings_command(std::vector<std::string> args) {
  const auto command = take_command(args);
  if (gives_help(command, usage))
    return 0;
  if (command == "show")
    return show(std::move(args));
  if (command == "check")
    return check(std::move(args));
  return refuse_command("troupe config", command, usage);
}

} // namespace troupe
