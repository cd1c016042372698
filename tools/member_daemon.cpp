#include "tools/member_daemon.hpp"

#include "adapters/lane/secure_context.hpp"
#include "adapters/loop/fd_watch.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/process/descriptors.hpp"
#include "adapters/process/orphan_guard.hpp"
#include "tools/guarded_main.hpp"
#include "tools/local_node.hpp"
#include "tools/notice.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>

namespace troupe {

namespace {

using namespace std::chrono_literals;

constexpr int local_failure = 1;
constexpr int join_failure = 3;

/// How long a node that has been fenced may take to end by itself.
constexpr auto end_limit = 20s;

/// How often a daemon that nobody waits for says that it finds no root.
constexpr std::chrono::seconds most_patience = 1h;

/// A daemon of a DVM, from its first instruction to its last.
class daemon {
public:
  daemon(join_settings settings, std::shared_ptr<const secure_context> context,
         detached self, bool keeps_streams, std::shared_ptr<orphan_guard> guard)
    : self_(std::move(self)), settings_(std::move(settings)),
      context_(std::move(context)), keeps_streams_(keeps_streams),
      guard_(std::move(guard)), patience_(settings_.patience) {
    // nop
  }

  int run();

private:
  caf::error start();
  int fail(int status, const std::string& reason);
  void on_duty(const mesh_duty_changed& x);
  void on_late();
  void give_up(const std::string& why);
  void leave(const std::string& reason);

  detached self_;
  join_settings settings_;
  std::shared_ptr<const secure_context> context_;
  bool keeps_streams_;
  std::shared_ptr<orphan_guard> guard_;
  std::unique_ptr<local_node> node_;
  std::unique_ptr<timer> limit_;

  /// Sees that nobody waits for us any more.
  std::unique_ptr<fd_watch> waiter_;
  bool has_joined_ = false;
  bool is_leaving_ = false;
  int exit_status_ = 0;

  /// How long it looks for the root before it says so.
  std::chrono::seconds patience_;
};

int daemon::fail(int status, const std::string& reason) {
  waiter_.reset();
  self_.report(status, notice("trouped", reason));
  return status;
}

caf::error daemon::start() {
  auto options = local_node_options{};
  options.guard = guard_;
  options.id = {settings_.dvm, settings_.rank};
  options.hostname = settings_.name;
  options.log_level = settings_.log_level;
  options.log_json = settings_.log_json;
  options.directory = settings_.directory;
  options.sensors = settings_.sensors;
  options.hooks = settings_.hooks;
  options.monitors = settings_.monitors;
  // Tools of the root's node find the root alone.
  options.tools = settings_.root_host != node_name();
  auto part = dvm_part{};
  part.member.context = context_;
  part.member.root_name = settings_.root;
  part.member.root_addresses = settings_.contacts;
  part.member.radix = settings_.radix;
  part.member.networks = settings_.networks;
  part.on_duty = [this](const mesh_duty_changed& x) { on_duty(x); };
  part.on_fenced = [this](const std::string&) { node_->loop().stop(); };
  options.dvm = std::move(part);
  auto node = local_node::start(std::move(options));
  if (!node)
    return std::move(node.error());
  node_ = std::move(*node);
  auto& loop = node_->loop().loop();
  limit_ = std::make_unique<timer>(loop, [this] {
    if (has_joined_ || is_leaving_ || exit_status_ != 0)
      node_->loop().stop();
    else
      on_late();
  });
  limit_->start(patience_);
  if (self_.fd() >= 0) {
    waiter_ = std::make_unique<fd_watch>(loop, self_.fd(), [this] {
      waiter_->disable_read();
      exit_status_ = local_failure;
      node_->loop().stop();
    });
    waiter_->enable_read();
  }
  for (const auto number : {SIGINT, SIGTERM, SIGHUP})
    loop.on_signal(number, [this, number] {
      leave("ended by signal " + std::to_string(number));
    });
  return {};
}

void daemon::on_duty(const mesh_duty_changed& x) {
  if (x.now == mesh_duty::active && !has_joined_) {
    has_joined_ = true;
    limit_->cancel();
    waiter_.reset();
    self_.report(0, encode(join_answer{node_->slots()}));
    if (!self_.is_in_background() && !keeps_streams_)
      redirect_standard_streams(settings_.log_file);
  } else if (x.now == mesh_duty::fenced) {
    if (!has_joined_ && !is_leaving_)
      exit_status_ =
        fail(join_failure, "the root does not take this node: " + x.reason);
    limit_->start(end_limit);
  }
}

/// Nobody has taken us yet: looks for what is known of why.
void daemon::on_late() {
  node_->loop().actors().spawn([this](caf::event_based_actor* self) {
    self->request(node_->member(), 2s, get_mesh_status{})
      .then(
        [this](const mesh_status& x) {
          const auto root = std::find_if(
            x.peers.begin(), x.peers.end(),
            [](const peer_status& peer) { return peer.rank == 0; });
          give_up(root != x.peers.end() ? root->trouble : std::string{});
        },
        [this](const caf::error&) { give_up({}); });
  });
}

/// Says that there is no way to the root, and ends; or, if nobody waits for us,
/// goes on looking.
void daemon::give_up(const std::string& why) {
  if (has_joined_ || is_leaving_)
    return;
  auto where = std::string{};
  for (const auto& x : settings_.contacts)
    where += (where.empty() ? "" : ", ") + x.address + " port "
             + std::to_string(x.port);
  const auto reason = "cannot reach the root " + settings_.root + " at " + where
                      + " within " + std::to_string(patience_.count()) + " s"
                      + (why.empty() ? "" : ": " + why)
                      + "; check networks and firewalls, or choose by ";
  if (keeps_streams_) {
    std::cerr << notice("trouped", reason + "DVMNetworks; still trying")
              << std::flush;
    patience_ = std::min(2 * patience_, most_patience);
    limit_->start(patience_);
    return;
  }
  exit_status_ = fail(join_failure, reason + "--networks");
  node_->loop().stop();
}

/// Ends processes and says good-bye, as if the root had given us up.
void daemon::leave(const std::string& reason) {
  is_leaving_ = true;
  limit_->start(end_limit);
  caf::anon_send(node_->host(), mesh_duty_changed{mesh_duty::fenced, reason});
}

int daemon::run() {
  ignore_broken_pipes();
  if (self_.is_in_background()
      && !redirect_standard_streams(settings_.log_file))
    return fail(cannot_work, "cannot write the log " + settings_.log_file + ": "
                               + std::strerror(errno)
                               + "; correct --log-directory");
  if (auto err = start())
    return fail(failure_status(err), reason_of(err));
  node_->loop().run();
  if (node_->has_failed())
    exit_status_ = cannot_work;
  waiter_.reset();
  limit_.reset();
  node_.reset();
  return exit_status_;
}

} // namespace

int run_member(join_settings settings,
               std::shared_ptr<const secure_context> context, detached self,
               bool keeps_streams, std::shared_ptr<orphan_guard> guard) {
  return daemon{std::move(settings), std::move(context), std::move(self),
                keeps_streams, std::move(guard)}
    .run();
}

} // namespace troupe
