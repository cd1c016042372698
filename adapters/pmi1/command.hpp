#pragma once

#include "messages/spawn.hpp"

#include <caf/expected.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The PMI-1 wire protocol, as MPICH's clients speak it: lines of text,
//
//     cmd=put kvsname=job key=address value=tcp://...
//
// or, for spawning, one argument a line:
//
//     mcmd=spawn
//     nprocs=2
//     endcmd
//
// Pure functions on bytes. Source: MPICH, PMI version 1.1.

namespace troupe::pmi1 {

/// The longest line, and the most bytes of a command of several lines.
inline constexpr size_t max_line = size_t{64} << 10;
inline constexpr size_t max_command = size_t{1} << 20;

/// The longest names and values, as clients are told, with the final zero.
inline constexpr size_t max_kvsname = 256;
inline constexpr size_t max_key = 64;
inline constexpr size_t max_value = 1024;

/// What a client asks.
struct command {
  std::string name;
  std::map<std::string, std::string, std::less<>> args;

  /// An argument; null if it is not given.
  const std::string* find(std::string_view key) const;

  /// An argument that is a number within 32 bits.
  std::optional<int32_t> number(std::string_view key) const;
};

/// Cuts what a client sends into commands.
class command_reader {
public:
  /// Takes bytes.
  void push(std::string_view bytes);

  /// Takes the next command out.
  /// @returns nothing if it is not complete yet; `bad_param` if the bytes are
  ///          no command or exceed a limit: there is no way on from there.
  caf::expected<std::optional<command>> next();

private:
  caf::expected<std::optional<std::string_view>> next_line();

  std::string buffer_;
  size_t start_ = 0;

  /// How far has been searched for the end of the line.
  size_t searched_ = 0;

  /// A command of several lines that has begun, and its bytes.
  std::optional<command> open_;
  size_t open_bytes_ = 0;
};

/// An answer: `cmd=<name>` and its arguments, a line.
std::string format(
  std::string_view name,
  const std::vector<std::pair<std::string_view, std::string_view>>& args = {});

/// Whether a value can stand in an answer: it must not end the line.
bool is_printable(std::string_view x);

/// Puts a spawn request together: one command for each program, numbered.
/// Source: MPICH, PMI version 1.1, PMI_Spawn_multiple.
class spawn_builder {
public:
  /// Takes the command of one program.
  /// @returns the request when it is complete; `bad_param` if the command makes
  ///          no sense, and then the request is dropped.
  caf::expected<std::optional<spawn_request>> add(const command& x);

private:
  caf::expected<std::optional<spawn_request>> refuse(const std::string& why);

  std::optional<spawn_request> open_;
  size_t bytes_ = 0;
};

} // namespace troupe::pmi1
