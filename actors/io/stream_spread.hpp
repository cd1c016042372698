#pragma once

#include "actors/data/job_locations.hpp"
#include "messages/io_stream.hpp"
#include "messages/io_wiring.hpp"
#include "messages/mesh.hpp"

#include <caf/expected.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// The output streams of jobs between the nodes of a DVM: each stream goes to
/// each node that wants it, once. The desks of all nodes say what they want;
/// what the origin of a job wants, and nodes that watch all jobs, is told with
/// the job. The root hears of everything that is wanted, for the jobs to come.
///
/// A plain class: what it wants done are calls of `effects`, which may call
/// back at once.
class stream_spread {
public:
  template <class T>
  using completion = std::function<void(caf::expected<T>)>;

  struct effects {
    virtual ~effects() = default;

    // -- other nodes, and this one by its number --

    virtual void tell(uint32_t node, io_interest what,
                      completion<ack> done) = 0;

    /// Answered when the node has taken it, or is lost: nobody holds up a
    /// process for ever.
    virtual void send(uint32_t node, io_fragment what,
                      completion<ack> done) = 0;
    virtual void fetch(uint32_t node, io_fetch what,
                       completion<io_fragment> done) = 0;

    /// Answered soon, or not at all.
    virtual void list(uint32_t node, list_io what,
                      completion<io_list> done) = 0;

    /// Makes the locations know a job; gets an empty error once they do.
    virtual void locate(const std::string& nspace,
                        std::function<void(const caf::error&)> then) = 0;

    /// The members that can be asked; this node among them.
    virtual std::vector<uint32_t> live() const = 0;

    // -- the desk of this node --

    virtual void begin_at_desk(io_job_begun what) = 0;
    virtual void tell_desk(uint32_t node, io_interest what,
                           completion<ack> done) = 0;
    virtual void give_desk(uint32_t node, io_fragment what,
                           completion<ack> done) = 0;
    virtual void fetch_at_desk(io_fetch what, completion<io_fragment> done) = 0;
    virtual void list_at_desk(list_io what, completion<io_list> done) = 0;
    virtual void lose_at_desk(io_node_lost what) = 0;

    // -- jobs --

    /// Whether processes of a job run on this node.
    virtual bool runs_here(const std::string& nspace) const = 0;

    /// At the root: whether there is such a job.
    virtual bool is_job(const std::string& nspace) const = 0;
  };

  /// A job that this node runs, or wants something of.
  struct job {
    /// The user whose job it is; none: not known here.
    std::optional<uint32_t> owner;

    /// The node where it was asked for, from which its input comes.
    std::optional<uint32_t> origin;
    uint32_t stdin_target = rank_undef;
  };

  /// @param self This node's rank; the root is 0.
  /// @param places Where jobs run; outlives this.
  stream_spread(uint32_t self, const job_locations& places,
                std::unique_ptr<effects> out)
    : self_(self), places_(places), out_(std::move(out)) {
    // nop
  }

  // -- jobs

  /// A job begins, here or elsewhere; its place is known.
  /// @returns how its streams are wired.
  io_wiring begin(const prepare_share& order);

  /// Nobody here has asked for a job that has begun, unless all are wanted: its
  /// nodes are told so.
  void want_nothing(const std::string& nspace);

  /// Somebody here wants something of a job that has begun long ago.
  /// @param owner The user whose job it is, if that is known.
  void know(const std::string& nspace, std::optional<uint32_t> owner);

  /// @returns nullptr if the job has not begun here.
  const job* find(const std::string& nspace) const;

  /// A job is over everywhere.
  /// @returns whether it had begun here.
  bool end(const std::string& nspace);

  /// At the root: who watches a new job beside its origin; noted until `close`.
  /// @param parent The job that asked for it.
  std::vector<io_watcher> watchers_of(const std::string& nspace,
                                      const std::string& parent,
                                      const spawn_request& request);

  /// At the root: a job is over and forgotten.
  void close(const std::string& nspace) {
    watchers_.erase(nspace);
  }

  // -- from this node

  /// What its desk wants, of a job or of all of them.
  void want(io_interest& what, completion<ack> done);

  /// What its readers want of all jobs. Answered when the root knows.
  void want_all(io_channels channels, completion<ack> done);

  /// From its desk to another node.
  void send(uint32_t to, io_fragment& what, completion<ack> done) {
    out_->send(to, std::move(what), std::move(done));
  }

  /// What the node of a process still has.
  void fetch(io_fetch& what, completion<io_fragment> done);

  /// The streams that all nodes know, each once.
  void list_all(const list_io& what, const completion<io_list>& done);

  // -- from other nodes

  /// What another node wants.
  void take(uint32_t from, io_interest& what, completion<ack> done);

  /// Output for the desk.
  /// @pre The process runs on that node.
  void take(uint32_t from, io_fragment& what, completion<ack> done);

  void take(io_fetch& what, completion<io_fragment> done);

  void take(list_io& what, completion<io_list> done) {
    out_->list_at_desk(std::move(what), std::move(done));
  }

  /// A node is lost.
  void lose_node(uint32_t node);

private:
  struct known_job : job {
    /// What other nodes want of the processes here.
    std::map<uint32_t, io_interest> wanted;

    /// What the desk wants of processes elsewhere, and what their nodes have
    /// been told.
    io_interest ours;
    io_interest told;
  };

  uint64_t window_of(const std::string& nspace) const;
  void note_watcher(const std::string& nspace, uint32_t node,
                    const io_interest& what);
  void update(const std::string& nspace, completion<ack> done);
  void set_ours(io_interest what, completion<ack> done);
  void tell_standing(completion<ack> done);

  uint32_t self_;
  const job_locations& places_;
  std::unique_ptr<effects> out_;
  std::map<std::string, known_job> jobs_;

  /// What the desk and the readers want of all jobs, and what the root has been
  /// told.
  io_interest standing_;
  io_channels of_readers_ = io_channels::none;
  io_interest standing_told_;

  // -- at the root --

  /// What nodes want of all jobs.
  std::map<uint32_t, io_interest> standing_of_;

  /// Nodes that want the streams of all processes of a job: they want those of
  /// the jobs that it spawns, too.
  std::map<std::string, std::map<uint32_t, io_channels>> watchers_;
};

} // namespace troupe
