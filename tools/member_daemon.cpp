#include "tools/member_daemon.hpp"

#include "adapters/lane/secure_context.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/fd_watch.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/process/descriptors.hpp"
#include "adapters/process/orphan_guard.hpp"
#include "adapters/settings/settings_file.hpp"
#include "adapters/wire/number_range.hpp"
#include "base/lane_kind.hpp"
#include "messages/status.hpp"
#include "runtime/mesh_member.hpp"
#include "tools/command_line.hpp"
#include "tools/guarded_main.hpp"
#include "tools/local_node.hpp"
#include "tools/printing.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>

namespace troupe {

// -- what the root and a daemon tell each other ------------------------------

namespace {

using nlohmann::json;

constexpr auto mark = std::string_view{"troupe-join " TROUPE_VERSION " "};
constexpr auto answer_mark = std::string_view{"joined "};

/// Most entries of a list.
constexpr size_t most_entries = 256;

json to_json(const node_address& x) {
  return {{"network", x.network}, {"address", x.address}, {"port", x.port}};
}

/// Takes members out of an object and remembers whether one was missing or
/// wrong.
class reader {
public:
  explicit reader(const json& object) : object_(object) {
    // nop
  }

  void read(const char* key, std::string& out) {
    if (const auto* x = find(key); x != nullptr && x->is_string())
      out = x->get<std::string>();
    else
      is_good_ = false;
  }

  template <class T>
  void read(const char* key, T& out) {
    const auto* x = find(key);
    if constexpr (std::is_same_v<T, bool>) {
      if (x != nullptr && x->is_boolean())
        out = x->get<bool>();
      else
        is_good_ = false;
    } else {
      if (x != nullptr && x->is_number_unsigned()
          && x->get<uint64_t>() <= std::numeric_limits<T>::max())
        out = static_cast<T>(x->get<uint64_t>());
      else
        is_good_ = false;
    }
  }

  /// The elements of a list, each given to `one`.
  template <class F>
  void each(const char* key, F one) {
    const auto* x = find(key);
    if (x == nullptr || !x->is_array() || x->size() > most_entries) {
      is_good_ = false;
      return;
    }
    for (const auto& y : *x)
      is_good_ = one(y) && is_good_;
  }

  bool is_good() const {
    return is_good_;
  }

private:
  const json* find(const char* key) const {
    if (!object_.is_object())
      return nullptr;
    const auto i = object_.find(key);
    return i != object_.end() ? &*i : nullptr;
  }

  const json& object_;
  bool is_good_ = true;
};

bool read_address(const json& x, std::vector<node_address>& out) {
  auto from = reader{x};
  auto& to = out.emplace_back();
  from.read("network", to.network);
  from.read("address", to.address);
  from.read("port", to.port);
  return from.is_good();
}

} // namespace

std::string encode(const join_settings& x) {
  auto contacts = json::array();
  for (const auto& y : x.contacts)
    contacts.push_back(to_json(y));
  const auto all = json{{"dvm", x.dvm},
                        {"rank", x.rank},
                        {"name", x.name},
                        {"root", x.root},
                        {"root_host", x.root_host},
                        {"contacts", std::move(contacts)},
                        {"radix", x.radix},
                        {"networks", x.networks},
                        {"lanes", x.lanes},
                        {"sensors", x.sensors},
                        {"hooks", x.hooks},
                        {"monitors", x.monitors},
                        {"settings", x.settings},
                        {"metrics", x.metrics},
                        {"share_memory", x.share_memory},
                        {"insecure", x.is_insecure},
                        {"patience", x.patience},
                        {"log_level", static_cast<unsigned>(x.log_level)},
                        {"log_format", static_cast<unsigned>(x.logs_as)},
                        {"log_file", x.log_file},
                        {"directory", x.directory}};
  return std::string{mark}
         + all.dump(-1, ' ', true, json::error_handler_t::replace) + "\n";
}

caf::expected<join_settings> decode_join_settings(std::string_view bytes,
                                                  std::string_view& rest) {
  const auto end = bytes.substr(0, max_join_settings).find('\n');
  if (end == std::string_view::npos
      || bytes.substr(0, std::min(mark.size(), mark.find(' ') + 1))
           != mark.substr(0, mark.find(' ') + 1))
    return make_error(status::bad_param,
                      "what came on standard input is not from a troupe that "
                      "starts a daemon; use troupe up");
  if (bytes.substr(0, mark.size()) != mark)
    return make_error(status::bad_param,
                      "this is trouped " TROUPE_VERSION
                      ", and the troupe that starts it is another release; "
                      "install the same on all nodes");
  const auto line = bytes.substr(mark.size(), end - mark.size());
  const auto object = json::parse(line.begin(), line.end(), nullptr, false);
  auto result = join_settings{};
  auto from = reader{object};
  auto level = uint8_t{0};
  auto format = uint8_t{0};
  from.read("dvm", result.dvm);
  from.read("rank", result.rank);
  from.read("name", result.name);
  from.read("root", result.root);
  from.read("root_host", result.root_host);
  from.each("contacts",
            [&](const json& x) { return read_address(x, result.contacts); });
  from.read("radix", result.radix);
  const auto texts_into = [](std::vector<std::string>& out) {
    return [&out](const json& x) {
      if (!x.is_string())
        return false;
      out.push_back(x.get<std::string>());
      return true;
    };
  };
  from.each("networks", texts_into(result.networks));
  from.each("lanes", texts_into(result.lanes));
  from.each("sensors", texts_into(result.sensors));
  from.each("hooks", texts_into(result.hooks));
  from.each("monitors", texts_into(result.monitors));
  from.each("settings", texts_into(result.settings));
  from.read("metrics", result.metrics);
  from.read("share_memory", result.share_memory);
  from.read("insecure", result.is_insecure);
  from.read("patience", result.patience);
  from.read("log_level", level);
  from.read("log_format", format);
  from.read("log_file", result.log_file);
  from.read("directory", result.directory);
  if (!from.is_good() || level > static_cast<uint8_t>(severity::error)
      || format > static_cast<uint8_t>(log_format::journald))
    return make_error(status::bad_param,
                      "the settings on standard input are damaged; start the "
                      "daemon by troupe up");
  result.log_level = static_cast<severity>(level);
  result.logs_as = static_cast<log_format>(format);
  rest = bytes.substr(end + 1);
  return result;
}

std::string encode(const join_answer& x) {
  return std::string{answer_mark} + std::to_string(x.slots) + "\n";
}

std::optional<join_answer> find_join_answer(std::string_view output) {
  while (!output.empty()) {
    const auto end = output.find('\n');
    const auto line = output.substr(0, end);
    if (line.substr(0, answer_mark.size()) == answer_mark)
      if (const auto slots =
            wire::parse_number(line.substr(answer_mark.size()));
          slots && *slots <= UINT32_MAX)
        return join_answer{static_cast<uint32_t>(*slots)};
    if (end == std::string_view::npos)
      break;
    output.remove_prefix(end + 1);
  }
  return std::nullopt;
}

// -- the daemon --------------------------------------------------------------

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
  caf::error start(site_settings settings);
  int fail(int status, const std::string& reason);
  void on_duty(const mesh_duty_changed& x);
  void on_late();
  void give_up(const std::string& why);
  void leave(const std::string& reason);
  void show(const std::string& what);

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

caf::error daemon::start(site_settings settings) {
  auto options = local_node_options{};
  options.settings = std::move(settings);
  options.guard = guard_;
  options.id = {settings_.dvm, settings_.rank};
  options.hostname = settings_.name;
  options.log_level = settings_.log_level;
  options.logs_as = settings_.logs_as;
  options.directory = settings_.directory;
  options.sensors = settings_.sensors;
  options.hooks = settings_.hooks;
  options.monitors = settings_.monitors;
  options.metrics = settings_.metrics;
  options.share_memory = settings_.share_memory;
  // What a root has started is no service of its own.
  options.is_service = keeps_streams_;
  // Tools of the root's node find the root alone.
  options.tools = settings_.root_host != node_name();
  auto part = dvm_part{};
  part.member.context = context_;
  part.member.root_name = settings_.root;
  part.member.root_addresses = settings_.contacts;
  part.member.radix = settings_.radix;
  part.member.networks = settings_.networks;
  part.member.lanes = settings_.lanes;
  part.on_duty = [this](const mesh_duty_changed& x) { on_duty(x); };
  part.on_fenced = [this](const std::string&) { node_->loop().stop(); };
  options.dvm = std::move(part);
  auto node = local_node::start(std::move(options));
  if (!node)
    return std::move(node.error());
  node_ = std::move(*node);
  show("looks for its root " + settings_.root);
  node_->service().set_ready();
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

/// Tells a service manager what this daemon does.
void daemon::show(const std::string& what) {
  node_->service().set_status("node " + settings_.name + " of " + settings_.dvm
                              + ": " + what);
}

void daemon::on_duty(const mesh_duty_changed& x) {
  if (x.now == mesh_duty::active)
    show("serves");
  else if (x.now == mesh_duty::suspended)
    show("takes no work: " + x.reason);
  if (x.now == mesh_duty::active && !has_joined_) {
    has_joined_ = true;
    limit_->cancel();
    waiter_.reset();
    self_.report(0, encode(join_answer{node_->slots()}));
    if (!self_.is_in_background() && !keeps_streams_)
      redirect_standard_streams(settings_.log_file);
  } else if (x.now == mesh_duty::fenced) {
    show("ends: " + x.reason);
    node_->service().set_stopping();
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
    if (lane_kind_of(x.address) == lane_kind::tcp)
      where += (where.empty() ? "" : ", ") + x.address + " port "
               + std::to_string(x.port);
  if (where.empty())
    where = "its local socket";
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
  auto settings = load_settings(settings_.settings);
  if (!settings)
    return fail(usage_error, reason_of(settings.error()));
  if (auto err = start(std::move(*settings)))
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

// -- joining -----------------------------------------------------------------

namespace {

struct invitation {
  join_settings settings;
  std::shared_ptr<const secure_context> context;
};

caf::expected<invitation> read_invitation() {
  auto input =
    read_secret(STDIN_FILENO, max_join_settings + max_credentials_size);
  if (!input)
    return std::move(input.error());
  auto rest = std::string_view{};
  auto settings = decode_join_settings(input->view(), rest);
  if (!settings)
    return std::move(settings.error());
  const auto credentials = decode_credentials(rest);
  if (!credentials)
    return make_error(status::bad_param,
                      "the credentials on standard input are damaged; start "
                      "the daemon by troupe up");
  auto context = secure_context::make(*credentials);
  if (!context)
    return std::move(context.error());
  const auto& me = (**context).self();
  if (me.dvm != settings->dvm || me.rank != settings->rank
      || me.name != settings->name)
    return make_error(status::no_permissions,
                      "the credentials are those of " + to_string(me)
                        + ", not of this node; start the daemon by troupe up");
  if (settings->is_insecure)
    context = secure_context::make_insecure(node_identity{me});
  if (!context)
    return std::move(context.error());
  return invitation{std::move(*settings), std::move(*context)};
}

} // namespace

int join(bool stays_attached) {
  auto self = stays_attached ? detached::none() : detached::split();
  // Before there are keys.
  auto guard = orphan_guard::start();
  hide_memory();
  auto found = read_invitation();
  if (!found) {
    const auto status = failure_status(found.error());
    self.report(status, notice("trouped", reason_of(found.error())));
    return status;
  }
  return run_member(std::move(found->settings), std::move(found->context),
                    std::move(self), false, std::move(guard));
}

} // namespace troupe
