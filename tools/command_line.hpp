#pragma once

#include "adapters/log/logger.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

// What the command lines of `troupe` have in common.

namespace troupe {

/// The exit status for a wrong command line.
inline constexpr int usage_error = 2;

/// Tells the user what is wrong with a command line.
/// @param who Such as `troupe ctl kill`.
/// @returns `usage_error`.
int complain(const std::string& who, const std::string& why);

/// Makes a command line understand `--dvm`, as `find_dvm` takes it.
void add_dvm_option(CLI::App& cli, std::string& x);

/// Makes one understand `--log-format`, and `--log-json`.
void add_log_format(CLI::App& cli, log_format& x);

/// Reads the arguments of a command, whose name is that of `cli`.
/// @param then Reads what the words mean; may raise `CLI::ParseError`.
/// @returns the exit status if there is nothing to do: help was printed, or one
///          line on stderr says what is wrong.
std::optional<int> parse_arguments(CLI::App& cli, std::vector<std::string> args,
                                   const std::function<void()>& then = {});

/// Takes the name of the command off the arguments of a verb that has several.
/// @returns an empty name if there is none.
std::string take_command(std::vector<std::string>& args);

/// Prints `usage` if a command asks for it.
/// @returns whether it does.
bool gives_help(const std::string& command, const char* usage);

/// Tells the user that a verb has no such command, and which it has.
/// @param verb Such as `troupe ctl`.
/// @returns `usage_error`.
int refuse_command(const char* verb, const std::string& command,
                   const char* usage);

} // namespace troupe
