#pragma once

#include <caf/meta/type_name.hpp>

#include <cstdint>
#include <string>
#include <tuple>

namespace troupe {

/// Ranks that stand for several processes or for none.
/// Source: PMIx Standard v5, "Process Structure", reserved rank values.
inline constexpr uint32_t rank_undef = 0xffffffff;
inline constexpr uint32_t rank_wildcard = 0xfffffffe;
inline constexpr uint32_t rank_local_node = 0xfffffffd;
inline constexpr uint32_t rank_invalid = 0xfffffffc;
inline constexpr uint32_t rank_local_peers = 0xfffffffb;

/// The highest rank that names one process.
inline constexpr uint32_t rank_valid_max = 0xfffffff9;

/// The longest namespace and the longest key, in bytes without the final zero.
/// Source: PMIx Standard v5, PMIX_MAX_NSLEN and PMIX_MAX_KEYLEN.
inline constexpr size_t max_nspace_length = 255;
inline constexpr size_t max_key_length = 511;

/// A process, or with a reserved rank a set of processes, of a namespace.
/// Source: PMIx Standard v5, "Process Structure" (`pmix_proc_t`).
struct proc_id {
  std::string nspace;
  uint32_t rank = rank_undef;
};

inline bool operator==(const proc_id& x, const proc_id& y) {
  return x.rank == y.rank && x.nspace == y.nspace;
}

inline bool operator!=(const proc_id& x, const proc_id& y) {
  return !(x == y);
}

inline bool operator<(const proc_id& x, const proc_id& y) {
  return std::tie(x.nspace, x.rank) < std::tie(y.nspace, y.rank);
}

/// Whether `pattern` names `proc`: the same, or the wildcard of its namespace.
inline bool matches(const proc_id& pattern, const proc_id& proc) {
  return pattern.nspace == proc.nspace
         && (pattern.rank == rank_wildcard || pattern.rank == proc.rank);
}

/// Text for logs: `nspace:rank`, with `*` for the wildcard and `?` for the
/// undefined rank.
inline std::string to_string(const proc_id& x) {
  const auto rank = x.rank == rank_wildcard ? std::string{"*"}
                    : x.rank == rank_undef  ? std::string{"?"}
                                            : std::to_string(x.rank);
  return x.nspace + ":" + rank;
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, proc_id& x) {
  return f(caf::meta::type_name("troupe.proc_id"), x.nspace, x.rank);
}

} // namespace troupe
