#pragma once

#include "actors/io/process_input.hpp"
#include "messages/io_stream.hpp"

#include <caf/error.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// The input of the processes of a node, each at its own position: a part for
/// several of them is answered when all have been written to, or read no more.
/// Plain data: what is to be done comes out as effects.
/// Source: guarantees 5.7; PMIx Standard v5, `PMIx_IOF_push`.
class io_inputs {
public:
  struct effects {
    /// Writes to a process; `note_written` or `note_failed` tells what became
    /// of it.
    std::function<void(const proc_id&, std::string bytes)> write;

    /// Closes the standard input of a process.
    std::function<void(const proc_id&)> close;
  };

  /// Gets the answer to a part, once.
  using completion = std::function<void(io_input_taken)>;

  explicit io_inputs(effects out = {});

  /// Takes a part for all the processes that it names, or for none of them.
  /// @returns `bad_param` if it names none, and what `process_input::take` says
  ///          of the first that cannot take it; then `done` is not called.
  caf::error take(io_input& what, completion done);

  /// The process has so many bytes more.
  void note_written(const proc_id& proc, size_t bytes);

  /// The process could not be written to: it is not there (`not_found`), or
  /// reads no more.
  void note_failed(const proc_id& proc, const caf::error& why);

  /// A job is over: whoever waits for its processes is answered.
  void forget(const std::string& nspace);

  /// Adds a line for each process that `sources` cover and whose namespace
  /// `may_see` lets through.
  void list(const std::vector<proc_id>& sources,
            const std::function<bool(const std::string& nspace)>& may_see,
            io_list& result) const;

private:
  /// A part on its way to several processes.
  struct call {
    std::string nspace;
    std::vector<uint32_t> ranks;
    completion done;

    /// How many have not been written to.
    size_t left = 0;

    /// Those that have not been there, or would not read.
    std::set<uint32_t> closed;
  };

  using call_ptr = std::shared_ptr<call>;

  /// The input of one process, and who waits for it.
  struct input {
    process_input position;

    /// Whether there was no such process: it may come yet, or be gone.
    bool is_missing = false;
    std::multimap<uint64_t, call_ptr> waiting;

    input();
  };

  void finish(const call& x) const;
  void count_down(const call_ptr& x) const;
  void release(input& x);

  effects out_;
  std::map<proc_id, input> inputs_;
};

} // namespace troupe
