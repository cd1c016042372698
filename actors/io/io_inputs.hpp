#pragma once

#include "messages/io_stream.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// How far the input of a process has come. What repeats is left out, what is
/// missing is refused, so that a process reads each byte once whoever writes
/// it. Plain data. Source: A46; guarantees 5.7, "stdin".
class process_input {
public:
  /// What to do with input.
  struct step {
    /// Leading bytes that the process has been given already.
    size_t skip = 0;

    /// Whether the end is to be told, after the rest.
    bool ends = false;

    /// Where the process stands when all of it has been written.
    uint64_t target = 0;
  };

  /// @param window Most bytes that wait to be written, unless they come at
  /// once.
  explicit process_input(size_t window) : window_(window) {
    // nop
  }

  /// Takes input of `size` bytes.
  /// @param offset Where it begins; without: after what was given.
  /// @returns `bad_param` if bytes before it are missing, `out_of_resource` if
  ///          too much waits already.
  caf::expected<step> take(std::optional<uint64_t> offset, size_t size,
                           bool is_end);

  /// What was given has been written, so much of it.
  void note_written(size_t size);

  /// Nobody reads any more.
  void close();

  /// Bytes that have been written to the process.
  uint64_t written() const noexcept {
    return written_;
  }

  /// Whether bytes that come now would be read by nobody.
  bool is_closed() const noexcept {
    return closed_ || ended_;
  }

  /// Whether the process has stopped to read of itself.
  bool has_left() const noexcept {
    return closed_;
  }

private:
  size_t window_;
  uint64_t given_ = 0;
  uint64_t written_ = 0;
  bool ended_ = false;
  bool closed_ = false;
};

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
