#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace troupe {

/// What `troupe page` serves, and where.
struct page_order {
  std::string dvm;

  /// Numeric. Other than loopback only with `certificate`.
  std::string address = "127.0.0.1";

  /// 0: any that is free.
  uint16_t port = 0;

  /// A file in PEM with certificate and key; empty: no TLS.
  std::string certificate;

  /// A file with the key of the page; empty: one is made.
  std::string key_file;

  /// See `page_feed`.
  std::chrono::milliseconds interval{200};

  /// Prints its address as a line of JSON.
  bool json = false;
};

/// Reads the command line of `troupe page`.
/// @returns what to do, or the exit status if there is nothing to do: help was
///          printed, or one line on stderr says what is wrong.
std::variant<page_order, int> parse_page_options(std::vector<std::string> args);

} // namespace troupe
