#pragma once

#include "base/journal.hpp"
#include "config/settings.hpp"
#include "messages/actors.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace troupe {

class loop_system;
class thread_pool;

struct node_streams_options {
  /// Which node this is in its DVM.
  uint32_t node = 0;

  /// Writes the input of processes; none: input is refused.
  input_writer_actor input = {};

  /// What the node is called in marks on output in files; empty: unknown.
  std::string hostname = {};

  /// What the site has set; what it has not has its default.
  site_settings settings = {};

  journal log = {};

  /// Called when output could not be written to a file.
  std::function<void()> on_unwritten = {};
};

/// The standard streams of the processes of a node: its I/O DESK, and the
/// threads on which files of output are written. For the thread of the loop, or
/// for any while nobody is in `run`.
class node_streams {
public:
  /// @param loop Must outlive this.
  node_streams(loop_system& loop, node_streams_options options);

  /// Ends the desk.
  ~node_streams();

  node_streams(const node_streams&) = delete;
  node_streams& operator=(const node_streams&) = delete;

  const io_desk_actor& desk() const noexcept {
    return desk_;
  }

  /// What the desk is told of a job that a resource manager has registered.
  /// What is wrong with it is logged and left out: the job runs all the same.
  static io_job_begun job_of(const register_nspace& what, const journal& log);

private:
  /// Write the files of jobs, and may hang with their disks.
  std::shared_ptr<thread_pool> threads_;
  io_desk_actor desk_;
};

} // namespace troupe
