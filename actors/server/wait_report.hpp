#pragma once

#include "actors/data/job_locations.hpp"
#include "messages/collective.hpp"
#include "messages/value.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// Collective operations that are under way: who has called them, and who is waited
// for. Each server knows that of its own node; a host puts together what all say.
// Source: docs/json.md, "jobs --waits"; PMIx Standard v5, `PMIx_Fence`,
// `PMIx_Connect`.

namespace troupe {

/// Asks for the operations of all nodes: a list of objects, as
/// base/report_values.hpp says; docs/json.md has their members. The longest
/// under way first.
inline constexpr std::string_view waits_key = "troupe.waits";

/// How many more there are; not there if there are none.
inline constexpr std::string_view waits_left_out_key = "troupe.waits.left_out";

/// Asks one server for those of its node.
inline constexpr std::string_view node_waits_key = "troupe.waits.node";

namespace defaults {

/// Operations that a node tells of, and that are told of all, those first that are
/// under way for the longest time.
inline constexpr size_t waits_told = 64;

/// Operations that a server looks at for that: all fences in memory, then the
/// oldest of the others until there are as many.
inline constexpr size_t waits_looked_at = 256;

/// Processes that are named as missing in one of them.
inline constexpr size_t waits_missing = 8;

/// Jobs that take part in one, and letters of their ranks; of what takes more, the
/// participants are not told.
inline constexpr size_t waits_jobs = 8;
inline constexpr size_t waits_letters = 1024;

/// Participants that are looked for, in all operations together, on nodes of which
/// nobody has come; and those of one that are read.
inline constexpr size_t waits_ranks = 65536;

} // namespace defaults

std::string_view text_of(collective_kind x);

/// A collective operation as one node sees it.
struct wait_part {
  /// As `troupe trace` takes it; empty: it is not traced.
  std::string id;

  collective_kind kind = collective_kind::fence;

  /// See `host_collective::generation`; 0: it is one of this node alone.
  uint64_t generation = 0;

  /// As `participants_of` writes them; empty: they take too many letters.
  std::vector<std::string> participants;

  /// Of all nodes.
  uint64_t size = 0;

  /// Processes of this node that have called it, those that have not, and some
  /// of these.
  uint64_t joined = 0;
  uint64_t missing = 0;
  std::vector<proc_id> named;

  /// Since the first call on this node, or since it was seen first.
  std::chrono::milliseconds age{0};

  /// Whether nobody knows when it has begun: the processes meet in memory.
  bool is_at_least = false;
};

/// The participants of an operation in few letters: `JOB:*` or `JOB:0-3,7`, one for
/// each job.
std::vector<std::string> participants_of(const std::vector<proc_id>& procs);

/// Reads them; nothing if they are none, or more than `defaults::waits_ranks`.
std::vector<proc_id> read_participants(const std::vector<std::string>& texts);

/// What answers `node_waits_key`.
/// @param parts Are cut to `defaults::waits_told`.
value wait_parts_report(std::vector<wait_part> parts);

/// Reads it; what is no such thing is left out.
std::vector<wait_part> read_wait_parts(const value& x);

/// Puts together what nodes say of their operations.
class wait_list {
public:
  /// What a node says. Of those that do not answer nothing is known.
  void add(uint32_t node, std::vector<wait_part> parts);

  /// One process of each job that takes part.
  std::vector<proc_id> jobs() const;

  /// What answers `waits_key`. Processes of a node that has answered and does not
  /// know an operation have not called it.
  /// @param places Where processes run, as far as that is known.
  std::vector<info> report(const job_locations& places) const;

private:
  struct operation {
    wait_part sum;

    /// The nodes that know it.
    std::set<uint32_t> nodes;
  };

  uint64_t add_absent(operation& x, const job_locations& places,
                      uint64_t& budget) const;

  value describe(operation x, const job_locations& places,
                 uint64_t& budget) const;

  /// By what is the same on all nodes.
  std::map<std::string, operation> operations_;
  std::set<uint32_t> answered_;
};

} // namespace troupe
