#pragma once

#include "actors/io/tool_output.hpp"
#include "base/may_act_for.hpp"
#include "messages/io.hpp"
#include "messages/io_stream.hpp"

#include <caf/expected.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// The processes and tools of this node that have asked for output: what each
/// wants of which jobs, and by which number it knows that. A plain class: what
/// the desk is to be asked for comes as `watch`.
/// Source: PMIx Standard v5, `PMIx_IOF_pull`, `PMIx_IOF_deregister`.
class stream_readers {
public:
  struct reader {
    requester who;
    io_subscription what;
    output_sink_actor sink;

    /// Whether it is for all jobs that the requester may watch, also for those
    /// to come.
    bool is_standing = false;

    /// Jobs of which it gets all processes: it gets those of their children,
    /// too.
    std::set<std::string> whole;

    /// Numbers of the subscriptions at the desk, by job, as far as the owner
    /// has noted them.
    std::map<std::string, std::optional<uint64_t>> at_desk;
  };

  /// A request that may be carried out.
  struct wish {
    io_subscription what;
    output_format format;

    /// Whether it names all jobs.
    bool is_standing() const;
  };

  /// A subscription that the desk is to be asked for.
  struct watch {
    uint64_t number = 0;
    requester who;
    io_subscription what;
    output_sink_actor sink;
  };

  /// What begins with a job.
  struct heirs {
    /// Whether any reader wants the job.
    bool is_wanted = false;

    std::vector<watch> watches;
  };

  /// Makes the sink of a reader; the options lack what only the owner knows.
  using sink_maker = std::function<output_sink_actor(tool_output_options)>;

  /// Whether a requester may watch a job of a user.
  static bool may_watch(const requester& who, uint32_t owner) {
    return may_act_for(who, owner);
  }

  /// Reads a request; takes nothing yet.
  /// @returns `not_supported` or `bad_param` with the directive;
  ///          `out_of_resource` with too many readers.
  caf::expected<wish> read(const requester& who,
                           const io_pull_request& request) const;

  /// Takes a request. It wants nothing of any job yet.
  /// @param name What the sink is shown as.
  /// @returns the number by which the requester knows the reader.
  uint64_t add(const requester& who, const io_pull_request& request, wish what,
               std::string name, const sink_maker& make_sink);

  const reader* find(uint64_t number) const;

  /// Has a reader watch a job, as it was asked for.
  /// @returns nothing if it does already, or wants nothing of it.
  std::optional<watch> begin(uint64_t number, const std::string& nspace);

  /// Has a reader watch processes, of whatever jobs, in one subscription.
  watch begin(uint64_t number, std::vector<proc_id> sources);

  /// The desk has taken a subscription.
  /// @returns whether it is still wanted.
  bool note(uint64_t number, const std::string& nspace, uint64_t subscription);

  /// The requester wants no more.
  /// @returns the reader, nothing if it has gone with its job; `not_found`,
  ///          `no_permissions` if it is another's.
  caf::expected<std::optional<reader>> remove(const requester& who,
                                              uint64_t number);

  /// The same for whatever reason.
  std::optional<reader> remove(uint64_t number);

  /// A requester is gone.
  std::vector<reader> remove_all_of(const requester& who);

  /// A job begins: readers of all jobs want it, and those of all processes of
  /// its parent.
  /// @param parent Empty: it inherits nothing.
  heirs job_begun(const std::string& nspace, uint32_t owner,
                  const std::string& parent);

  /// A job is over: so are the readers that want nothing else.
  /// @returns the subscriptions of it that have been noted.
  std::vector<uint64_t> job_over(const std::string& nspace);

  /// What readers want of all jobs.
  io_channels standing_channels() const;

private:
  /// @returns nothing if the reader watches its job already.
  std::optional<watch> begin(uint64_t number, reader& x,
                             const std::string& nspace, io_subscription what);

  std::map<uint64_t, reader> readers_;
  uint64_t last_ = 0;
};

} // namespace troupe
