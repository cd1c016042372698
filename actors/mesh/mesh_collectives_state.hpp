#pragma once

// The inside of the collectives over nodes: shared by
// actors/mesh_collectives*.cpp only.

#include "actors/mesh/mesh_collectives.hpp"

#include <deque>
#include <map>
#include <set>
#include <tuple>

namespace troupe {

/// One operation that this node knows of and whose outcome it does not know.
struct mesh_collectives::operation {
  mesh_collective_id id;

  /// The nodes that take part; none: a namespace is not known yet.
  std::vector<uint32_t> nodes;

  /// Those of them that are lost.
  std::set<uint32_t> lost;

  /// A bit per node, and what they brought.
  std::vector<bool> joined;
  std::vector<node_data> data;

  /// Who of this node gets the data and who only hears of the end, and whether
  /// its participants have joined.
  completion joiner;
  std::vector<completion> calls;
  bool has_joined = false;

  /// Why participants of some node cannot join.
  status failure = status::success;
  std::string reason;

  /// Nobody with a smaller rank may say any more what the outcome is.
  uint32_t promised = 0;

  bool is_sent = false;

  /// Whether it goes on without those who end or leave, what this node brings
  /// to such an operation, and the root that has got it directly.
  bool is_fault_tolerant = false;
  std::optional<node_data> own;
  std::optional<uint32_t> brought_to;

  /// The root that has been told what this node knows, and of the failure.
  std::optional<uint32_t> reported_to;
  std::optional<uint32_t> failed_to;

  /// At the root: who has been asked, and who knows of no outcome and will
  /// accept none of an earlier root.
  std::set<uint32_t> asked;
  std::set<uint32_t> reports;

  /// Parts that came before the namespaces were known.
  std::vector<std::pair<uint32_t, collective_part>> parked;

  bool is_parked() const {
    return nodes.empty();
  }
};

struct mesh_collectives::state {
  /// Names one operation. Copies share the participants.
  struct key {
    uint64_t generation = 0;
    collective_kind kind = collective_kind::fence;
    std::shared_ptr<const std::vector<proc_id>> procs;

    bool operator<(const key& x) const {
      // Of those that are known together most differ in the first.
      return std::tie(generation, kind) != std::tie(x.generation, x.kind)
               ? std::tie(generation, kind) < std::tie(x.generation, x.kind)
               : procs != x.procs && *procs < *x.procs;
    }
  };

  /// Kind, participants, and the upper half of the generation.
  using signature = std::tuple<collective_kind, std::vector<proc_id>, uint32_t>;

  static signature signature_of(collective_kind kind,
                                const std::vector<proc_id>& procs,
                                uint64_t generation) {
    return {kind, procs, static_cast<uint32_t>(generation >> 32)};
  }

  struct outcome {
    status code = status::success;
    std::string reason;
    uint32_t root = 0;
  };

  uint32_t self = 0;
  const job_locations& places;
  effects out;
  uint32_t radix = 1;

  std::map<key, operation> open;
  std::map<key, outcome> released;

  /// The released ones by their first namespace, oldest first.
  std::map<std::string, std::deque<key>> order;

  /// The largest generation whose outcome has been forgotten.
  std::map<signature, uint64_t> forgotten;

  std::map<std::string, std::set<uint32_t>> gone;
  std::map<std::string, std::set<uint32_t>> lost;

  /// Who has left which group, and what to say of it.
  struct departures {
    std::set<proc_id> procs;
    std::string reason;
  };

  std::map<uint32_t, departures> left;

  const departures* left_of(const operation& x) const {
    const auto i = left.find(static_cast<uint32_t>(x.id.generation >> 32));
    return i != left.end() ? &i->second : nullptr;
  }
  std::set<std::string> locating;
  size_t parked = 0;

  state(uint32_t rank, const job_locations& where, effects fx, uint32_t width)
    : self(rank), places(where), out(std::move(fx)),
      radix(width == 0 ? 1 : width) {
    // nop
  }

  static key key_of(mesh_collective_id& id);

  operation* find(const key& k) {
    const auto i = open.find(k);
    return i != open.end() ? &i->second : nullptr;
  }

  // -- mesh_collectives.cpp --

  operation& begin(const key& k, const mesh_collective_id& id);
  void resolve(operation& x);
  bool is_brought(const operation& x, uint32_t from,
                  const collective_part& part) const;
  void merge(const key& k, uint32_t from, collective_part& part);
  void advance(const key& k);

  // -- the tree, by the places of the nodes in the list --

  static size_t place_of(const operation& x, uint32_t rank);
  bool is_complete(const operation& x) const;
  std::vector<uint32_t> children(const operation& x) const;

  // -- mesh_collectives_outcome.cpp --

  /// The first node that is not lost.
  static uint32_t root_of(const operation& x);

  collective_part part_of(const operation& x, uint32_t root) const;
  void report(operation& x, uint32_t to);
  void bring(operation& x, uint32_t to);
  bool knows_gone(const operation& x) const;
  std::optional<std::string> gone_here(const operation& x) const;
  std::set<proc_id> gone_from(const operation& x) const;
  bool has_nobody(const operation& x) const;
  bool all_have_joined(const operation& x) const;
  void ask_for_gone(operation& x);
  void ask_the_missing(operation& x);
  void lead(const key& k);
  void answer(const key& k, uint32_t to, bool as_root);
  void take_question(const key& k, uint32_t from, const collective_part& part);
  std::string lost_participants(const operation& x) const;

  /// Ends an operation for all, or only here.
  void decide(const key& k, status code, const std::string& reason);
  void release(const key& k, outcome how, const std::vector<node_data>& data);
  std::vector<proc_data> data_of_others(const std::vector<node_data>& data);
  void remember(const key& k, outcome how);
};

} // namespace troupe
