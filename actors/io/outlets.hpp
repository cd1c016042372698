#pragma once

#include "actors/io/tool_output.hpp"
#include "messages/io_stream.hpp"
#include "messages/io_wiring.hpp"
#include "messages/mesh.hpp"

#include <caf/expected.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace troupe {

/// Name of a requester as the owner of a sink.
std::string name_of_sink(const requester& who);

/// Where the output of jobs goes that were asked for on this node: to whoever
/// asked. A tool gets the name of its job first, then its output, and hears of
/// the end if it wants to. A plain class: what it wants done are calls of
/// `effects`, which may call back at once.
class outlets {
public:
  struct effects {
    virtual ~effects() = default;

    /// Gives streams to a sink; gets the number of the subscription.
    virtual void
    subscribe(io_subscription what, const output_sink_actor& sink,
              std::function<void(caf::expected<uint64_t>)> then) = 0;
    virtual void unsubscribe(uint64_t subscription) = 0;

    /// Makes the sink of a tool behind a gate, see `output_gate.hpp`; the
    /// options lack what only the owner knows.
    virtual output_sink_actor make_gate(tool_output_options options) = 0;

    /// Holds output back no longer.
    virtual void open_gate(const output_sink_actor& gate) = 0;

    /// What it owes keeps a gate alive that has not been opened.
    virtual void end_gate(const output_sink_actor& gate) = 0;

    /// Tells a tool of this node.
    virtual void deliver(deliver_event what) = 0;

    /// Has jobs ended in the name of a tool that is gone; they may be over
    /// already.
    virtual void control(const requester& who, job_control_request what) = 0;

    virtual void log_error(const std::string& line) = 0;
  };

  struct settings {
    /// Takes the output that nobody else wants.
    output_sink_actor sink;

    /// The name of that sink.
    std::string name;
  };

  outlets(settings how, std::unique_ptr<effects> out)
    : settings_(std::move(how)), out_(std::move(out)) {
    // nop
  }

  /// A launcher of this process has asked for a job that is not there yet.
  void expect(const std::string& nspace, const output_sink_actor& sink) {
    outlets_[nspace].sink = sink;
  }

  /// Decides where the output of a job goes whose origin is here.
  /// @returns whether anybody gets it.
  bool open(const prepare_share& order, const io_wiring& wiring);

  bool is_open(const std::string& nspace) const {
    return outlets_.count(nspace) > 0;
  }

  /// Tells a tool why its job has not been started: an answer has only a
  /// status.
  void refused(const requester& who, const caf::error& why);

  /// Gives what is held back, once the tool has its answer: first the name of
  /// the job, then its output.
  /// @param nspace Empty: none has begun.
  void release(const requester& who, const std::string& nspace);

  /// A job is over: tells the tool that started it.
  void close(const job_ended& outcome);

  /// Forgets a job, without a word.
  void forget(const std::string& nspace) {
    outlets_.erase(nspace);
  }

  /// A tool of this node is gone: so are its jobs.
  void lose_tool(const requester& who);

private:
  /// Where the output of a job goes.
  struct outlet {
    /// Takes it; none: nobody.
    output_sink_actor sink;

    /// Number of the subscription at the desk.
    std::optional<uint64_t> subscription;

    /// The sink, a gate, as long as it holds the output back until the tool has
    /// the name of its job: it shows it as it was asked to for that job.
    output_sink_actor holder;

    /// A tool of this node that started the job.
    std::optional<requester> tool;

    /// Whether the tool wants to hear of the end.
    bool notify = false;

    /// Whether the job ends when the tool vanishes.
    bool is_bound = false;

    /// Whether the tool stays for the jobs that this one starts: it hears of
    /// their ends, too.
    bool has_family = false;
  };

  void open_tool(const prepare_share& order, outlet& to);
  void connect(const std::string& nspace, io_subscription what,
               const output_sink_actor& sink);
  void release(outlet& x);
  void end_holder(outlet& x);
  std::string family_of(const std::string& nspace, const outlet& of) const;

  settings settings_;
  std::unique_ptr<effects> out_;
  std::map<std::string, outlet> outlets_; // by namespace
};

/// Whether a requester of a job hears why it has not been started.
bool wants_reason(const requester& who, const spawn_request& request);

} // namespace troupe
