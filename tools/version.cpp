#include "tools/version.hpp"

#include "tools/command_line.hpp"
#include "tools/printing.hpp"

#include <caf/config.hpp>

#include <CLI/CLI.hpp>
#include <event2/event.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <openssl/opensslv.h>
#include <sqlite3.h>
#include <zlib.h>

#include <iostream>

// The release of the PMIx Standard that libpmix.so.2 has; cmake/install.cmake
// reads it from the header.
#ifndef TROUPE_PMIX_VERSION
#  define TROUPE_PMIX_VERSION ""
#endif

namespace troupe {

namespace {

using nlohmann::json;

/// Of a number such as 90100.
std::string dotted(int number) {
  return std::to_string(number / 10000) + "."
         + std::to_string(number / 100 % 100) + "."
         + std::to_string(number % 100);
}

/// By their headers: those that a program is linked to may be newer.
json libraries() {
  return {{"caf", dotted(CAF_VERSION)},   {"fmt", dotted(FMT_VERSION)},
          {"libevent", LIBEVENT_VERSION}, {"openssl", OPENSSL_VERSION_TEXT},
          {"sqlite", SQLITE_VERSION},     {"zlib", ZLIB_VERSION}};
}

} // namespace

int version(std::vector<std::string> args) {
  auto as_json = false;
  auto cli = CLI::App{"Prints the version.", "troupe version"};
  cli.add_flag("--json", as_json,
               "Print an object of JSON, with what it was built with");
  if (const auto status = parse_arguments(cli, std::move(args)))
    return *status;
  if (!as_json) {
    std::cout << "troupe " TROUPE_VERSION "\n";
    return 0;
  }
  std::cout << json_document({{"troupe", TROUPE_VERSION},
                              {"pmix", TROUPE_PMIX_VERSION},
                              {"compiler", __VERSION__},
                              {"libraries", libraries()}});
  return 0;
}

} // namespace troupe
