#pragma once

#include "actors/io/output_file.hpp"
#include "actors/io/output_formatter.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "base/journal.hpp"
#include "messages/actors.hpp"

#include <caf/fwd.hpp>

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace troupe {

class thread_pool;

/// Files that output of processes goes to. Opens them, and the folders that
/// they need, when something comes for them; what cannot be written is left
/// out, counted, and told in the file where it is missing as soon as there is
/// room. A file that nobody else writes begins anew.
///
/// Blocks as long as the disk does: for a thread of its own, one at a time.
class output_file_set {
public:
  using write_function = std::function<ssize_t(int, const char*, size_t)>;

  /// Why something could not be written: in words, and what to do about it.
  struct failure {
    std::string reason;
    std::string remedy;
  };

  struct outcome {
    /// Bytes that have not been written.
    uint64_t lost = 0;

    /// Empty: all is well.
    failure why;
  };

  /// @param most_open Files that are open at a time; the one that was written
  ///                  longest ago is closed for another.
  /// @param write     `::write`, or what a test puts in its place.
  explicit output_file_set(size_t most_open, write_function write = {});

  /// Adds text at the end of a file. Never follows a link below the folder
  /// that the user named; writes to regular files only, and only to those of
  /// this user that have no other name.
  outcome append(const output_file& file, std::string_view text);

  /// Nothing more is expected for a file; if it comes, it is added.
  /// @returns what the system finds out only now: then some of what was
  ///          written may be missing.
  failure close(const output_file& file);

  /// Files that are open.
  size_t open() const noexcept {
    return open_;
  }

private:
  struct entry {
    unique_fd fd;
    bool was_open = false;
    bool is_within_line = false;
    uint64_t used = 0;

    /// Missing at its end, and why.
    uint64_t lost = 0;
    std::string reason;
  };

  failure open(entry& x, const output_file& file);
  void close_oldest();
  bool add_notice(entry& x, const output_file& file);
  size_t write_all(entry& x, std::string_view text, int& error);

  size_t most_open_;
  write_function write_;
  std::map<std::string, entry> entries_;
  size_t open_ = 0;
  uint64_t clock_ = 0;
};

struct output_files_settings {
  /// Does what blocks. Threads of their own: a disk that hangs keeps one for
  /// each job that writes to it. Once they are gone, nothing is written.
  std::weak_ptr<thread_pool> pool = {};

  journal log = {};

  /// The hosts of processes, for `output_format::tag_detailed`.
  output_formatter::hosts host_of = {};

  /// `::write`, or what a test puts in its place; called on a thread.
  output_file_set::write_function write = {};

  /// Called when something could not be written, before whoever wrote it hears
  /// of it; not only the first time.
  std::function<void()> on_unwritten = {};
};

/// Makes the OUTPUT SINK that writes the streams of a job to files, see
/// `file_of`, in the format of the job. A fragment is answered when it has been
/// written, or left out because that is not possible: the job goes on, one
/// warning names the file and the remedy, the last says how much is missing.
/// A slow disk holds up the processes whose files it has, and nobody else.
/// For the thread of the loop.
output_sink_actor spawn_output_files(caf::actor_system& sys,
                                     const io_job_begun& job,
                                     output_files_settings settings);

/// What an I/O DESK makes its files with.
std::function<output_sink_actor(const io_job_begun&)>
output_file_maker(caf::actor_system& sys, output_files_settings settings);

} // namespace troupe
