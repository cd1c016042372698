#include "adapters/local/listener.hpp"

#include "adapters/local/admission.hpp"
#include "adapters/local/connection.hpp"
#include "adapters/local/local_service.hpp"
#include "adapters/local/newcomer.hpp"
#include "adapters/local/peer_credentials.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/sockets/acceptor.hpp"
#include "adapters/sockets/tcp_socket.hpp"
#include "messages/status.hpp"

#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

#include <chrono>
#include <deque>
#include <map>
#include <utility>

namespace troupe {

class listener::implementation
  : public std::enable_shared_from_this<implementation> {
public:
  implementation(loop_system& sys, server_actor server,
                 listener_options options)
    : service_(std::make_shared<local_service>(sys, std::move(server),
                                               std::move(options))),
      admission_(service_->options.limits, service_->options.awaited,
                 service_->options.registered),
      acceptor_(service_->loop,
                {service_->options.limits.descriptors_in_reserve,
                 service_->options.limits.accept_retry,
                 service_->options.limits.turn_accepts},
                {[this](unique_fd x, size_t) { receive(std::move(x)); },
                 [this] { on_pause(); }}),
      next_turn_(service_->loop, [this] { read_greetings(); }) {
    // nop
  }

  ~implementation() {
    service_->readers.close();
    for (const auto& x : connections_)
      caf::anon_send_exit(x.second, caf::exit_reason::user_shutdown);
  }

  caf::error open() {
    const auto& options = service_->options;
    for (const auto& address : options.addresses) {
      auto fd =
        listen_on_loopback(address, options.port, options.limits.backlog);
      if (!fd)
        return fd.error();
      const auto where = local_address(fd->get());
      wire::server_uri uri;
      uri.server = options.server;
      uri.address = where.address;
      uri.port = where.port;
      uri.is_ipv6 = where.is_ipv6;
      uris_.push_back(std::move(uri));
      acceptor_.add(std::move(*fd));
    }
    if (!acceptor_.has_doors())
      return make_error(status::bad_param, "no address to listen on");
    return caf::none;
  }

  void stop_accepting() {
    acceptor_.close();
    newcomers_.clear();
    readable_.clear();
  }

  const std::vector<wire::server_uri>& uris() const noexcept {
    return uris_;
  }

  const local_statistics& statistics() const noexcept {
    return service_->statistics;
  }

private:
  void on_pause();
  void receive(unique_fd socket);

  /// Refuses the oldest connection of a user that has sent no greeting yet.
  /// @returns whether there was one.
  bool displace_silent(uint32_t uid, const caf::error& why);

  /// Notes that a newcomer of user `uid` has something to read.
  void queue(uint32_t uid, uint64_t id);

  /// Reads from some of them, of each user in turn.
  void read_greetings();

  void refuse(const std::string& source, const std::string& whom,
              const caf::error& why);
  void on_identified(uint64_t id, const std::string& source,
                     const std::string& whom,
                     caf::expected<identified_peer> peer);

  std::shared_ptr<local_service> service_;
  admission admission_;
  peer_credentials credentials_;
  std::vector<wire::server_uri> uris_;
  acceptor acceptor_;

  /// What names newcomers and connections here.
  uint64_t last_id_ = 0;
  std::map<uint64_t, newcomer> newcomers_;
  std::map<uint64_t, connection_actor> connections_;

  /// Newcomers with something to read, by user, and whose turn it was last.
  std::map<uint32_t, std::deque<uint64_t>> readable_;
  uint32_t last_uid_ = 0;
  timer next_turn_;
};

// -- accepting ---------------------------------------------------------------

void listener::implementation::on_pause() {
  ++service_->statistics.accept_pauses;
  service_->log.write("the listener", severity::warning,
                      "accepting waits for free descriptors (L20)");
}

void listener::implementation::receive(unique_fd socket) {
  ++service_->statistics.accepted;
  const auto fd = socket.get();
  const auto from = to_string(remote_address(fd));
  set_no_delay(fd);
  // Before the first byte is read: nobody gets to say who they are.
  const auto owner = credentials_.owner_of(fd);
  if (!owner) {
    refuse("strangers", "connection from " + from, owner.error());
    return;
  }
  const auto uid = owner->uid;
  auto source = "user " + std::to_string(uid);
  auto whom = "connection of " + source + ", " + from;
  auto place = admission_.admit(uid);
  // Who connects now is likelier to speak than who has been silent for longest.
  if (!place && displace_silent(uid, place.error()))
    place = admission_.admit(uid);
  if (!place) {
    refuse(source, whom, place.error());
    return;
  }
  const auto id = ++last_id_;
  newcomers_.try_emplace(
    id, *service_, std::move(socket), *owner, std::move(*place),
    [=](caf::expected<identified_peer> peer) {
      on_identified(id, source, whom, std::move(peer));
    },
    [=] { queue(uid, id); });
}

void listener::implementation::queue(uint32_t uid, uint64_t id) {
  readable_[uid].push_back(id);
  if (!next_turn_.is_running())
    next_turn_.start(std::chrono::nanoseconds::zero());
}

void listener::implementation::read_greetings() {
  auto left = service_->options.limits.turn_greetings;
  while (left > 0 && !readable_.empty()) {
    auto i = readable_.upper_bound(last_uid_);
    if (i == readable_.end())
      i = readable_.begin();
    last_uid_ = i->first;
    const auto id = i->second.front();
    i->second.pop_front();
    if (i->second.empty())
      readable_.erase(i);
    const auto newcomer = newcomers_.find(id);
    if (newcomer == newcomers_.end())
      continue; // Its time was over, or it has been refused.
    --left;
    newcomer->second.read();
  }
  if (!readable_.empty())
    next_turn_.start(std::chrono::nanoseconds::zero());
}

bool listener::implementation::displace_silent(uint32_t uid,
                                               const caf::error& why) {
  for (auto& [id, x] : newcomers_)
    if (x.is_silent(uid)) {
      x.refuse(why);
      return true;
    }
  return false;
}

void listener::implementation::refuse(const std::string& source,
                                      const std::string& whom,
                                      const caf::error& why) {
  ++service_->statistics.refused;
  service_->log.write(source, severity::warning,
                      whom + ": refused: " + reason_of(why));
}

void listener::implementation::on_identified(
  uint64_t id, const std::string& source, const std::string& whom,
  caf::expected<identified_peer> peer) {
  if (peer) {
    auto on_gone = [id, parent = weak_from_this()] {
      if (const auto self = parent.lock())
        self->connections_.erase(id);
    };
    connections_.emplace(
      id, start_connection(service_, std::move(*peer), std::move(on_gone)));
  } else {
    refuse(source, whom, peer.error());
  }
  newcomers_.erase(id);
}

// -- listener ----------------------------------------------------------------

listener::listener(std::shared_ptr<implementation> x)
  : implementation_(std::move(x)) {
  // nop
}

listener::~listener() = default;

caf::expected<std::unique_ptr<listener>>
listener::start(loop_system& sys, server_actor server,
                listener_options options) {
  auto result = std::make_shared<implementation>(sys, std::move(server),
                                                 std::move(options));
  if (auto err = result->open())
    return err;
  return std::unique_ptr<listener>{new listener(std::move(result))};
}

const std::vector<wire::server_uri>& listener::uris() const noexcept {
  return implementation_->uris();
}

void listener::stop_accepting() {
  implementation_->stop_accepting();
}

const local_statistics& listener::statistics() const noexcept {
  return implementation_->statistics();
}

} // namespace troupe
