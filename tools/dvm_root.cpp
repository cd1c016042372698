#include "tools/dvm_root.hpp"

#include "adapters/lane/secure_context.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/process/orphan_guard.hpp"
#include "base/lane_kind.hpp"
#include "tools/metrics_option.hpp"
#include "tools/tool_session.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace troupe {

namespace {

using namespace std::chrono_literals;

/// How long and how often the root asks its networks where they listen.
constexpr auto address_delay = 20ms;
constexpr auto address_attempts = 250;

/// Whether daemons can come: over TCP, as long as there is to be any.
bool takes_lanes(const std::vector<node_address>& places,
                 const std::vector<std::string>& wanted) {
  const auto kinds = read_lane_kinds(wanted);
  return std::any_of(places.begin(), places.end(), [&](const auto& x) {
    return (kinds && !kinds->tcp) || lane_kind_of(x.address) == lane_kind::tcp;
  });
}

/// How long jobs, and then daemons, have to end. A daemon gives its processes
/// `kill_grace`.
constexpr auto end_of_jobs = 20s;
constexpr auto end_of_daemons = 15s;
constexpr auto end_of_shells = 3s;

/// The longest name of a DVM, and its characters; those of `node_identity`.
constexpr size_t longest_name = 64;
constexpr auto name_characters = std::string_view{
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"};

secret joined(const std::string& settings, const secret& credentials) {
  auto result = secret{settings.size() + credentials.size()};
  std::memcpy(result.data(), settings.data(), settings.size());
  std::memcpy(result.data() + settings.size(), credentials.view().data(),
              credentials.size());
  return result;
}

} // namespace

std::string default_dvm_name() {
  auto host = node_name();
  for (auto& x : host)
    if (name_characters.find(x) == std::string_view::npos)
      x = '-';
  const auto end = "-" + std::to_string(::getpid());
  const auto begin = std::string{"troupe-"};
  host.resize(std::min(host.size(), longest_name - begin.size() - end.size()));
  return begin + host + end;
}

caf::error check_dvm_name(const std::string& name) {
  if (name.empty() || name.size() > longest_name
      || name.find_first_not_of(name_characters) != std::string::npos)
    return make_error(status::bad_param,
                      "'" + name
                        + "' is no name of a DVM; use up to 64 letters, "
                          "digits, '_' and '-'");
  return {};
}

// -- the beginning -----------------------------------------------------------

caf::expected<std::unique_ptr<dvm_root>> dvm_root::start(settings x) {
  if (x.name.empty())
    x.name = default_dvm_name();
  if (auto err = check_dvm_name(x.name))
    return err;
  // Before there are keys.
  if (!x.node.guard)
    x.node.guard = orphan_guard::start();
  auto result = std::unique_ptr<dvm_root>{new dvm_root{std::move(x)}};
  if (auto err = result->make_node())
    return err;
  return result;
}

dvm_root::~dvm_root() {
  // What refers to the loop.
  starter_.reset();
  limit_.reset();
}

caf::error dvm_root::make_member(mesh_member_options& x) {
  const auto& plan = settings_.plan;
  hide_memory();
  authority_ = std::move(settings_.vouching);
  if (!authority_) {
    auto made = authority::make(settings_.name);
    if (!made)
      return std::move(made.error());
    authority_ = std::move(*made);
  }
  auto mine = authority_->issue(0, plan.nodes.front().name, {}, ::geteuid());
  if (!mine)
    return std::move(mine.error());
  auto context = secure_context::make(*mine);
  if (context && settings_.options.is_insecure)
    context = secure_context::make_insecure(node_identity{(**context).self()});
  if (!context)
    return std::move(context.error());
  x.context = std::move(*context);
  x.radix = settings_.options.radix;
  x.networks = plan.networks;
  x.lanes = plan.lanes;
  x.port = settings_.port;
  for (const auto& node : plan.nodes)
    x.names.push_back(node.name);
  return {};
}

caf::error dvm_root::make_node() {
  const auto& plan = settings_.plan;
  auto& node = settings_.node;
  node.id = {settings_.name, 0};
  node.hostname = plan.nodes.front().name;
  slots_.resize(plan.nodes.size());
  auto part = dvm_part{};
  for (const auto& x : plan.nodes)
    part.nodes.push_back({x.name, x.slots, x.max_slots});
  part.on_terminate = settings_.on_terminate;
  part.on_member = [this](const member_changed& x) { on_member(x); };
  if (plan.nodes.size() > 1)
    if (auto err = make_member(part.member))
      return err;
  node.dvm = std::move(part);
  if (auto err = check_dvm_is_new(settings_.name))
    return err;
  node.own_file = dvm_file(settings_.name, settings_.is_for_a_job);
  auto started = local_node::start(node);
  if (!started)
    return std::move(started.error());
  node_ = std::move(*started);
  auto& loop = node_->loop().loop();
  limit_ = std::make_unique<timer>(loop, [] {});
  loop.post([this] {
    if (settings_.plan.nodes.size() == 1)
      look_whether_ready();
    else
      ask_addresses(address_attempts);
  });
  return {};
}

/// The root knows where it takes lanes a moment after it has started.
void dvm_root::ask_addresses(int attempts) {
  node_->loop().actors().spawn([this, attempts](caf::event_based_actor* self) {
    self->request(node_->member(), 5s, get_mesh_status{})
      .then(
        [this, attempts](const mesh_status& x) {
          if (is_ending_ || has_failed_)
            return;
          if (takes_lanes(x.addresses, settings_.plan.lanes)) {
            if (settings_.launches)
              start_daemons(x.addresses);
            else
              look_whether_ready();
          } else if (attempts == 0) {
            fail("this node cannot take connections on any network"
                 + (settings_.port != 0
                      ? ", at port " + std::to_string(settings_.port)
                      : std::string{})
                 + "; see ss -tln, ip address and --networks (DVMPort and "
                   "DVMNetworks of a bootstrap file)");
          } else {
            limit_ =
              std::make_unique<timer>(node_->loop().loop(), [this, attempts] {
                ask_addresses(attempts - 1);
              });
            limit_->start(address_delay);
          }
        },
        [this](const caf::error& err) {
          fail("this node is no member of its own DVM: " + reason_of(err));
        });
  });
}

void dvm_root::start_daemons(const std::vector<node_address>& contacts) {
  const auto& plan = settings_.plan;
  const auto& options = settings_.options;
  auto program = plan.agent;
  program.emplace_back("--join");
  if (plan.shell.stays)
    program.emplace_back("--attached");
  auto starts = std::vector<node_start>{};
  for (uint32_t rank = 1; rank < plan.nodes.size(); ++rank) {
    const auto& name = plan.nodes[rank].name;
    auto tell = join_settings{};
    tell.dvm = settings_.name;
    tell.rank = rank;
    tell.name = name;
    tell.root = plan.nodes.front().name;
    tell.root_host = node_name();
    tell.contacts = contacts;
    tell.radix = options.radix;
    tell.networks = plan.networks;
    tell.lanes = plan.lanes;
    tell.patience = options.patience;
    tell.log_level = settings_.node.log_level;
    tell.logs_as = settings_.node.logs_as;
    tell.sensors = settings_.node.sensors;
    tell.hooks = settings_.node.hooks;
    tell.monitors = settings_.node.monitors;
    tell.share_memory = settings_.node.share_memory;
    tell.settings = options.settings;
    // Daemons of a job leave the ports to those that are there for all jobs.
    tell.metrics = settings_.is_for_a_job
                     ? "off"
                     : metrics_for_others(settings_.node.metrics);
    tell.is_insecure = options.is_insecure;
    if (!options.log_directory.empty())
      tell.log_file = options.log_directory + "/trouped." + name + ".log";
    // Whoever starts a daemon gives it the key: it acts for the same user.
    auto credentials = authority_->issue(rank, name, {}, ::geteuid());
    if (!credentials) {
      fail(reason_of(credentials.error()));
      return;
    }
    auto bytes = encode_credentials(*credentials);
    if (!bytes) {
      fail(reason_of(bytes.error()));
      return;
    }
    auto& next = starts.emplace_back();
    next.rank = rank;
    next.host = name;
    next.command = remote_command(plan.shell, name, program);
    next.input = joined(encode(tell), *bytes);
  }
  auto how = node_starter::settings{};
  // The daemon's own time-out comes first, and says more.
  how.patience = std::chrono::seconds{options.patience} + 2s;
  how.stays = plan.shell.stays;
  how.on_outcome = [this](const node_outcome& x) { on_outcome(x); };
  how.on_end = [this](uint32_t rank) {
    if (is_ending_)
      await_shells();
    else
      caf::anon_send(
        node_->member(),
        declare_member_lost{rank, false, "its remote shell has ended"});
  };
  starter_ =
    std::make_unique<node_starter>(node_->loop().loop(), std::move(how));
  starter_->start(std::move(starts));
}

void dvm_root::on_outcome(const node_outcome& x) {
  if (is_ending_ || has_failed_)
    return;
  if (!x.joined) {
    fail(x.failure);
    return;
  }
  joined_.insert(x.rank);
  slots_[x.rank] = x.joined->slots;
  look_whether_ready();
}

void dvm_root::on_member(const member_changed& x) {
  if (x.state == node_state::live) {
    live_.insert(x.rank);
    look_whether_ready();
    return;
  }
  live_.erase(x.rank);
  show_members();
  if (!is_ready_ && !is_ending_ && settings_.launches)
    fail("the daemon on " + x.name
         + " ended before the DVM was ready; see its log, and troupe doctor");
}

void dvm_root::look_whether_ready() {
  const auto others = settings_.plan.nodes.size() - 1;
  live_.insert(0);
  show_members();
  // Daemons that come by themselves may do so much later.
  if (!settings_.launches && !is_ending_ && !has_failed_)
    node_->service().set_ready();
  if (is_ready_ || is_ending_ || has_failed_
      || (settings_.launches && joined_.size() < others)
      || live_.size() < others + 1)
    return;
  is_ready_ = true;
  node_->service().set_ready();
  settings_.on_ready();
}

/// What a service manager shows of the DVM.
void dvm_root::show_members() {
  if (!is_ending_)
    node_->service().set_status(
      "root of " + settings_.name + ": " + std::to_string(live_.size()) + " of "
      + std::to_string(settings_.plan.nodes.size()) + " nodes");
}

void dvm_root::fail(const std::string& reason) {
  if (is_ready_ || is_ending_ || has_failed_)
    return;
  has_failed_ = true;
  node_->give_up_mesh();
  if (starter_)
    starter_->give_up();
  settings_.on_failed(reason);
}

uint32_t dvm_root::slots() const {
  const auto& nodes = settings_.plan.nodes;
  auto result = uint32_t{0};
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto all = i == 0 ? node_->slots() : slots_[i];
    const auto slots = nodes[i].slots.value_or(all);
    result +=
      nodes[i].max_slots > 0 ? std::min(slots, nodes[i].max_slots) : slots;
  }
  return result;
}

// -- the end -----------------------------------------------------------------

void dvm_root::end(std::function<void()> done) {
  if (is_ending_)
    return;
  is_ending_ = true;
  node_->service().set_stopping();
  done_ = std::move(done);
  if (starter_)
    starter_->give_up();
  auto request = end_job{};
  request.reason = "the DVM ends";
  node_->loop().actors().spawn([this, request](caf::event_based_actor* self) {
    self->request(node_->host(), end_of_jobs, request)
      .then([this](ack) { leave(); }, [this](const caf::error&) { leave(); });
  });
}

void dvm_root::leave() {
  if (!node_->member()) {
    finish();
    return;
  }
  node_->loop().actors().spawn([this](caf::event_based_actor* self) {
    const auto next = [this] {
      limit_ =
        std::make_unique<timer>(node_->loop().loop(), [this] { finish(); });
      limit_->start(end_of_shells);
      await_shells();
    };
    self->request(node_->member(), end_of_daemons, leave_mesh{})
      .then([next](ack) { next(); }, [next](const caf::error&) { next(); });
  });
}

/// Remote shells that stay end after their daemons.
void dvm_root::await_shells() {
  if (!starter_ || starter_->is_idle())
    finish();
}

void dvm_root::finish() {
  if (auto done = std::exchange(done_, {}))
    done();
}

} // namespace troupe
