#pragma once

#include <caf/expected.hpp>

#include <string>
#include <string_view>
#include <vector>

// How a command is run on another node. Pure functions on text.

namespace troupe {

/// What runs commands on nodes, called as `COMMAND HOST PROGRAM ARGUMENTS...`.
struct remote_shell {
  /// Its own words, such as `ssh -x -o BatchMode=yes`.
  std::vector<std::string> command;

  /// What stands between the command and the name of the node, in one word, as
  /// `--nodelist=` does; empty: the name is a word of its own.
  std::string host_prefix;

  /// Whether it puts the words after the host together for a shell, as ssh
  /// does, so that they have to be quoted.
  bool joins_words = false;

  /// Whether what it starts ends with it, so that a daemon has to stay its
  /// child.
  bool stays = false;
};

/// Splits at blanks; `'...'`, `"..."` and `\x` keep what is in them.
/// @param source What the text is, for errors.
caf::expected<std::vector<std::string>> split_words(std::string_view text,
                                                    const std::string& source);

/// The word as a shell has to read it to get it back.
std::string quoted(const std::string& word);

/// What `--remote-shell` says; a command whose program is called ssh or rsh is
/// taken to join words.
caf::expected<remote_shell> parse_remote_shell(std::string_view text);

/// What is used if nothing is said, outside and inside an allocation of Slurm.
remote_shell default_remote_shell();

remote_shell slurm_remote_shell();

/// The words that run `program` on `host`.
std::vector<std::string>
remote_command(const remote_shell& shell, const std::string& host,
               const std::vector<std::string>& program);

} // namespace troupe
