#pragma once

#include "tools/node_facts.hpp"
#include "tools/node_probe.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// What `troupe doctor` makes of what it has found out. Pure functions on values.

namespace troupe {

/// How bad a finding is.
enum class gravity : uint8_t {
  note,    ///< good to know; nothing fails of it alone
  warning, ///< something may fail, or be slow
  error,   ///< a DVM does not start there, or its jobs fail
};

std::string_view text_of(gravity x);

/// Something that is not as it should be.
struct finding {
  /// What was looked at, such as `clock`.
  std::string check;
  gravity level = gravity::note;

  /// What is the matter, with values.
  std::string text;

  /// What to do about it, with the command if there is one.
  std::string remedy;
};

/// A node that was asked.
struct node_report {
  /// As the list of nodes has it.
  std::string name;

  /// Whether it is the node that we are on.
  bool is_here = false;

  /// The first word of what was started, and whether that is a remote shell.
  std::string command;

  probe_outcome outcome;

  /// The name, as our own node knows it.
  resolved_name address;
};

/// What is to work.
struct diagnosis_wish {
  /// Whether there are other nodes: then a node has to reach others.
  bool has_others = false;

  /// Whether daemons are to take munge's word for who somebody is.
  bool wants_munge = false;

  /// Whether nobody launches the daemons: they find their root by its name.
  bool has_no_launcher = false;
};

/// What is wrong with a node.
/// @param here The report of the node that we are on, with which others are
///             compared; null: it has not answered.
std::vector<finding> diagnose(const node_report& x, const node_report* here,
                              const diagnosis_wish& wish);

/// All of a diagnosis.
struct diagnosed_node {
  node_report report;
  std::vector<finding> findings;
};

/// The worst comes to this exit status: 1 for an error, or for a warning if it is
/// strict; else 0.
int exit_status_of(const std::vector<diagnosed_node>& nodes, bool is_strict);

/// For people: each node with its findings, each with its remedy, and counts. What
/// it quotes cannot command a terminal.
std::string to_text(const std::vector<diagnosed_node>& nodes);

/// For programs; docs/json.md.
nlohmann::json to_json(const std::vector<diagnosed_node>& nodes);

} // namespace troupe
