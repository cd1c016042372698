#pragma once

#include "base/journal.hpp"
#include "base/log_levels.hpp"
#include "messages/collective.hpp"
#include "messages/proc_id.hpp"
#include "messages/status.hpp"

#include <caf/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

namespace defaults {

/// Steps of collective operations that a node remembers, and as many of events.
inline constexpr size_t trace_steps = 4096;

/// Names of namespaces and of sets of processes that go with them, and their
/// letters in all.
inline constexpr size_t trace_names = 2048;
inline constexpr size_t trace_letters = size_t{128} << 10;

} // namespace defaults

/// The longest name of an operation or event that is read.
inline constexpr size_t max_trace_id_length = 512;

/// What is traced.
enum class trace_kind : uint8_t {
  fence,
  connect,
  disconnect,

  /// An event in the order of a namespace.
  event,

  /// An event that stands in no order: of this node alone, or of its
  /// environment.
  local_event,
};

/// Names a collective operation or an event by the numbers that its messages
/// carry anyway, alike on all nodes of a DVM.
///
/// As text: `fence:JOB#3` is the third fence of a whole job that other nodes take
/// part in, `fence:JOB/1f2e3d4c#3` one of other processes, `fence:JOB#57@2` one
/// that node 2 has by itself; `event:JOB#7@2` is the seventh event that node 2
/// has put into the order of a namespace, `-` standing for tools;
/// `local_event:JOB#7@2` is one that went nowhere else.
struct trace_id {
  trace_kind kind = trace_kind::fence;

  /// As `node`: all count alike.
  static constexpr uint32_t all_nodes = UINT32_MAX;

  /// Whose number it is.
  uint32_t node = all_nodes;

  /// Stands for the participants, or for the namespace.
  uint64_t name = 0;

  uint64_t number = 0;
};

inline bool operator==(const trace_id& x, const trace_id& y) {
  return x.number == y.number && x.name == y.name && x.node == y.node
         && x.kind == y.kind;
}

/// Reads the text of a name.
/// @returns `bad_param` in a sentence if it is none.
caf::expected<trace_id> read_trace_id(std::string_view text);

/// What has happened.
enum class trace_step : uint8_t {
  // -- of collective operations --
  called,            ///< a process has called it
  gathered,          ///< all of this node have, so many
  part_sent,         ///< what is here goes to a node
  part_received,     ///< what is there has come from a node
  question_sent,     ///< a node is asked what it knows
  question_received, ///< a node asks
  outcome_sent,      ///< a node is told how it ended
  outcome_received,  ///< a node tells how it ended
  answered,          ///< so many calls of this node are answered

  // -- of events --
  raised,              ///< a process has raised it
  submitted,           ///< it goes to the node that gives places
  submission_received, ///< it has come there
  placed,              ///< it is here, with this place in the order
  logged,              ///< the log of this node has it, under this number
  delivered,           ///< a process is handed what has this number
  stable,              ///< all nodes have it, and whoever raised it knows
};

/// One step on the way of an operation or event, at this node.
struct trace_record {
  /// Nanoseconds since 1970.
  int64_t at = 0;
  trace_id id;
  trace_step step = trace_step::called;

  /// How it ended: of outcomes and answers.
  status code = status::success;

  /// The process, by its namespace's number; 0: none.
  uint64_t nspace = 0;

  /// The rank of the process, or the node.
  uint32_t rank = 0;

  /// A count, a place or a number: see `trace_step`.
  uint64_t detail = 0;
};

/// The last steps of collective operations and of events at this node, always
/// written, for whoever asks where one of them has been: two rings of
/// `defaults::trace_steps`. A step costs a look at the clock and a copy of 64
/// bytes; all memory is set aside in the beginning. For the thread of the loop.
class trace_ring {
public:
  /// Nanoseconds since 1970.
  using clock = int64_t (*)();

  /// @param node The rank of this node.
  /// @param size Steps in each of the two rings, at least one.
  trace_ring(clock now, uint32_t node, size_t size = defaults::trace_steps);

  trace_ring(const trace_ring&) = delete;
  trace_ring& operator=(const trace_ring&) = delete;

  /// Logs each step, too, while a log takes lines of `debug` about collectives,
  /// or events.
  void echo_to(const journal& log);

  // -- names --

  /// An operation that all nodes of it count alike.
  trace_id collective(collective_kind kind, const std::vector<proc_id>& procs,
                      uint64_t generation);

  /// One that this node has by itself.
  trace_id local_collective(collective_kind kind,
                            const std::vector<proc_id>& procs, uint64_t number);

  /// An event that a node has put into the order of a namespace.
  trace_id event(const std::string& nspace, uint64_t number, uint32_t node);

  /// An event that is in the log of this node only, under this number.
  trace_id local_event(const std::string& nspace, uint64_t number);

  /// As users write it. Of what is long forgotten, the number of its name.
  std::string text_of(const trace_id& x) const;

  // -- steps --

  void note(const trace_id& of, trace_step what, uint64_t detail = 0,
            status code = status::success);

  /// With a node as the other end.
  void note_node(const trace_id& of, trace_step what, uint32_t node,
                 status code = status::success);

  /// With a process.
  void note_proc(const trace_id& of, trace_step what, const proc_id& who,
                 uint64_t detail = 0);

  /// A process is handed the event that this node's log has under a number, which
  /// may be long after it was `logged`.
  void note_delivery(uint64_t number, const proc_id& who);

  // -- questions --

  /// The steps of one operation or event, oldest first.
  std::vector<trace_record> steps_of(const trace_id& x) const;

  /// The operations and events that had steps last, the latest first, each with
  /// its steps.
  std::vector<std::vector<trace_record>> latest(size_t most) const;

  /// In words, such as `job:3 has called it`.
  std::string text_of(const trace_record& x) const;

  /// The process of a step; empty: it has none.
  std::string proc_of(const trace_record& x) const;

  /// Steps that are remembered, and the most.
  size_t size() const noexcept {
    return collectives_.records.size() + events_.records.size();
  }
  size_t bound() const noexcept {
    return 2 * size_;
  }

private:
  struct ring {
    std::vector<trace_record> records;

    /// The oldest, once it is full.
    size_t next = 0;

    template <class F>
    void each(F f) const {
      for (size_t i = 0; i < records.size(); ++i)
        f(records[(next + i) % records.size()]);
    }
  };

  const ring& ring_of(trace_kind x) const {
    return x < trace_kind::event ? collectives_ : events_;
  }

  /// Where the letters of a name are; a number of 0: this place is free.
  struct name_place {
    uint64_t number = 0;
    uint32_t begin = 0;
    uint32_t size = 0;
  };

  uint64_t remember(const std::string& name);
  uint64_t remember(const std::vector<proc_id>& procs);
  bool knows(uint64_t number) const {
    return names_[place_of(number)].number == number;
  }
  void keep(uint64_t number, std::string_view name);
  bool has_room(size_t letters) const;
  void enlarge_names();
  void forget_names();
  size_t place_of(uint64_t number) const;
  std::string name_of(uint64_t number) const;
  void add(const trace_record& x);
  void add_proc(trace_record x, const proc_id& who);

  clock now_;
  uint32_t node_;
  size_t size_;
  ring collectives_;
  ring events_;

  /// By their numbers: each stands where its own leads, or at the next free
  /// place.
  std::vector<name_place> names_;
  size_t known_ = 0;

  /// The letters of all names.
  std::string letters_;

  /// The name that was looked up last.
  std::string last_name_;
  uint64_t last_number_ = 0;

  /// Steps until names may be looked through again.
  size_t until_forgetting_ = 0;

  std::shared_ptr<const log_levels> levels_;
  std::shared_ptr<const log_output> out_;
};

/// A word for programs, such as `part_sent`.
std::string_view text_of(trace_step x);

/// What a step has as `rank`, where it is a node.
bool has_node(trace_step x);

} // namespace troupe
