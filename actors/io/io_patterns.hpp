#pragma once

#include "messages/io_stream.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace troupe {

/// Whether `pattern` names `proc`: its rank may be `rank_wildcard`, and an
/// empty namespace is any. Source: RFC notes on I/O forwarding, masks ALL,
/// JOBID, VPID and NONE.
bool covers(const proc_id& pattern, const proc_id& proc);

/// What processes write: everything that a subscription can be for.
inline constexpr auto output_channels = static_cast<io_channels>(
  uint16_t(io_channels::stdout_) | uint16_t(io_channels::stderr_)
  | uint16_t(io_channels::stddiag));

inline bool is_output(io_channels x) {
  return x == io_channels::stdout_ || x == io_channels::stderr_
         || x == io_channels::stddiag;
}

inline bool has(io_channels set, io_channels x) {
  return (static_cast<uint16_t>(set) & static_cast<uint16_t>(x)) != 0;
}

/// Who wants which streams, by patterns of names. Plain data.
/// Source: PMIx Standard v5, `PMIx_IOF_pull`.
class io_patterns {
public:
  /// @param id Not in use.
  void add(uint64_t id, std::vector<proc_id> sources, io_channels channels);

  void remove(uint64_t id);

  /// Takes out what names a job.
  /// @returns who wanted nothing else, and is removed.
  std::vector<uint64_t> forget(const std::string& nspace);

  /// @returns who wants a stream, each once, in the order of their numbers.
  std::vector<uint64_t> of(const io_stream& stream) const;

  /// @returns whether anybody wants a stream.
  bool wants(const io_stream& stream) const;

  /// @returns what all together want of a job, or, without a namespace, of all
  ///          jobs: all channels that anybody wants of any of its processes.
  io_interest wanted(const std::string& nspace) const;

  /// @returns the namespaces that `wanted` has something for.
  std::vector<std::string> nspaces() const;

  size_t size() const noexcept {
    return entries_.size();
  }

private:
  struct entry {
    std::vector<proc_id> sources;
    io_channels channels = io_channels::none;
  };

  /// Those that name the same, and how many of them want each channel.
  struct slot {
    std::map<uint64_t, io_channels> ids;
    std::array<size_t, 16> counts = {};
  };

  using slots = std::map<uint32_t, slot>;

  void unlink(uint64_t id, const proc_id& source, io_channels channels);

  template <class F>
  void visit(const io_stream& stream, F f) const;

  std::map<uint64_t, entry> entries_;
  std::map<std::string, slots> index_;
};

} // namespace troupe
