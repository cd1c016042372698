#pragma once

// Who forwards the standard streams of processes.

#include "messages/connection.hpp"
#include "messages/deadline.hpp"
#include "messages/fwd.hpp"
#include "messages/gauge.hpp"
#include "messages/host.hpp"
#include "messages/io.hpp"
#include "messages/io_stream.hpp"
#include "messages/io_wiring.hpp"
#include "messages/process.hpp"

#include <caf/typed_actor.hpp>

namespace troupe {

/// The OUTPUT RECEIVER interface: takes what the processes of a node write.
using output_receiver_actor = caf::typed_actor<
  // Answered when the bytes have been taken; until then the writer keeps at
  // most a window of further bytes and then stops reading the pipe.
  caf::replies_to<process_output>::with<ack>>;

/// The INPUT WRITER interface: writes the standard input of the processes of a
/// node. The PROCESS LAUNCHER is one.
using input_writer_actor = caf::typed_actor<
  // Input for a process; answered when it has been written, `not_found` for
  // one that is not known, `lost_connection` if nobody reads it any more.
  caf::replies_to<write_stdin>::with<ack>,
  // The input is at its end.
  caf::reacts_to<close_stdin>>;

/// The PROCESS PIPES interface: an INPUT WRITER that reads output as well.
using process_pipes_actor = input_writer_actor::extend<
  // The processes of a job have ended: answered when all that they wrote has
  // been taken.
  caf::replies_to<io_job_over>::with<ack>,
  // Its streams are closed.
  caf::reacts_to<deregister_nspace>,
  // INTERNAL: there are streams that have not been opened.
  caf::reacts_to<deadline>>;

/// The OUTPUT SINK interface: a terminal, file, tool or node that gets streams.
using output_sink_actor = caf::typed_actor<
  // Answered when the bytes have been taken; until then further ones of the
  // stream wait, at most a window of them.
  caf::replies_to<io_fragment>::with<ack>>;

/// The BUFFERED SINK interface: an OUTPUT SINK that keeps output for a while if
/// it is told to. Source: PMIx Standard v5, PMIX_IOF_BUFFERING_TIME.
using buffered_sink_actor = output_sink_actor::extend<
  // INTERNAL: what is kept has waited long enough.
  caf::reacts_to<deadline>>;

/// The I/O MESH interface: the streams of other nodes.
using io_mesh_actor = caf::typed_actor<
  // What is wanted on this node of the streams of a job, or of all jobs
  // (without a namespace), in place of what was wanted before.
  caf::replies_to<io_interest>::with<ack>,
  // A fragment for another node; answered when the sinks there have taken it.
  caf::replies_to<uint32_t, io_fragment>::with<ack>,
  // What the node of the process still has of a stream.
  caf::replies_to<io_fetch>::with<io_fragment>>;

/// The I/O CHANNEL interface: one output stream of a process.
using io_channel_actor = output_receiver_actor::extend<
  // From the node of the process, when it is another one.
  caf::replies_to<io_fragment>::with<ack>,
  // A sink, by the number of its subscription; it ends with the sink.
  caf::reacts_to<uint64_t, io_subscription, output_sink_actor>,
  // It wants no more.
  caf::reacts_to<io_unsubscription>,
  // What is still there.
  caf::replies_to<io_fetch>::with<io_fragment>,
  // Less, or more, is kept for later sinks.
  caf::reacts_to<io_keep>,
  // No sink will come any more, and no bytes: answered when all sinks have
  // everything.
  caf::replies_to<io_job_over>::with<ack>,
  // Its sinks.
  caf::replies_to<list_io>::with<io_stream_status>>;

/// The I/O DESK interface: the streams of the processes of a node, and those of
/// other nodes that somebody on this one wants.
using io_desk_actor = output_receiver_actor::extend<
  // How the streams of a job are wired; before the first byte.
  caf::replies_to<io_job_begun>::with<ack>,
  // No more streams of it will come.
  caf::replies_to<io_job_over>::with<ack>,
  // A sink of this node; it ends with the sink.
  caf::replies_to<io_subscription, output_sink_actor>::with<io_pull_result>,
  // It wants no more.
  caf::replies_to<io_unsubscription>::with<ack>,
  // Input for processes of this node.
  caf::replies_to<io_input>::with<io_input_taken>,
  // The streams that this node knows.
  caf::replies_to<list_io>::with<io_list>,
  // Who reaches other nodes.
  caf::reacts_to<io_mesh_actor>,
  // What another node wants.
  caf::replies_to<uint32_t, io_interest>::with<ack>,
  // From another node.
  caf::replies_to<uint32_t, io_fragment>::with<ack>,
  // What is still there of a stream of this node.
  caf::replies_to<io_fetch>::with<io_fragment>,
  // A node is gone.
  caf::reacts_to<io_node_lost>,
  // How much there is, and has been.
  caf::replies_to<get_gauges>::with<gauge_list>,
  // INTERNAL: a wait has lasted long enough.
  caf::reacts_to<deadline>>;

} // namespace troupe
