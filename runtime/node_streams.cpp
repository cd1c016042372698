#include "runtime/node_streams.hpp"

#include "actors/io/io_desk.hpp"
#include "actors/io/io_options.hpp"
#include "adapters/log/output_files.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/loop_system.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "messages/status.hpp"

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

#include <utility>

namespace troupe {

node_streams::node_streams(loop_system& loop, node_streams_options options)
  : threads_(std::make_shared<thread_pool>(loop.loop())) {
  auto& sys = loop.actors();
  auto streams = io_desk_options{};
  streams.node = options.node;
  streams.launcher = std::move(options.input);
  options.settings.give(setting_id::streams_waiting, streams.waiting);
  options.settings.give(setting_id::streams_kept, streams.kept);
  streams.log = options.log;
  auto own = [name = std::move(options.hostname)](const proc_id&) {
    return name;
  };
  streams.open_files =
    output_file_maker(sys, {threads_,
                            std::move(options.log),
                            std::move(own),
                            {},
                            std::move(options.on_unwritten)});
  desk_ = spawn_io_desk(sys, std::move(streams));
}

node_streams::~node_streams() {
  caf::anon_send_exit(desk_, caf::exit_reason::user_shutdown);
}

io_job_begun node_streams::job_of(const register_nspace& what,
                                  const journal& log) {
  auto job = read_io_job(what);
  if (job)
    return std::move(*job);
  if (log)
    log(severity::warning, "output of " + what.nspace
                             + " is forwarded as it comes, and to no file: "
                             + reason_of(job.error()));
  auto plain = io_job_begun{};
  plain.nspace = what.nspace;
  plain.uid = what.owner.uid;
  return plain;
}

} // namespace troupe
