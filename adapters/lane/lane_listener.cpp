#include "adapters/lane/lane_listener.hpp"

#include "adapters/sockets/acceptor.hpp"
#include "adapters/sockets/local_log.hpp"
#include "adapters/sockets/socket_kind.hpp"
#include "messages/status.hpp"

#include <map>
#include <utility>

namespace troupe {

namespace {

/// Connections to take in one pass of the loop: a crowd of strangers must not
/// fill the queue of the socket before a member.
constexpr size_t turn_accepts = 32;

} // namespace

class lane_listener::implementation {
public:
  implementation(event_loop& loop,
                 std::shared_ptr<const secure_context> context,
                 lane_listener_options options)
    : loop_(loop), context_(std::move(context)), options_(std::move(options)),
      log_(options_.log, options_.limits.log_lines),
      acceptor_(loop,
                {options_.limits.descriptors_in_reserve,
                 options_.limits.accept_retry, turn_accepts},
                {[this](unique_fd x, size_t network) {
                   receive(std::move(x), network);
                 },
                 [this] { on_pause(); }}) {
    // nop
  }

  caf::error open() {
    for (const auto& network : options_.networks) {
      const auto& kind = socket_kind_of(network.address);
      auto fd = kind.listen(network, options_.port, options_.limits.backlog);
      if (!fd)
        return std::move(fd.error());
      addresses_.push_back(kind.local_end(fd->get()));
      acceptor_.add(std::move(*fd));
    }
    if (!acceptor_.has_doors())
      return make_error(status::bad_param, "no network to listen on");
    return caf::none;
  }

  const std::vector<tcp_address>& addresses() const noexcept {
    return addresses_;
  }

  lane_listener_statistics statistics() const noexcept {
    auto result = statistics_;
    result.half_open = newcomers_.size();
    return result;
  }

private:
  /// A connection in the middle of its handshake.
  struct newcomer {
    tcp_address from;
    bool is_member = false;
    std::unique_ptr<secure_handshake> handshake;
  };

  void on_pause();
  void receive(unique_fd socket, size_t network);

  /// Finds a place for one more, if need be at the cost of the oldest that has
  /// been silent so far.
  caf::error make_room(const newcomer& x);

  void refuse(const newcomer& x, const caf::error& why);
  void on_outcome(uint64_t id, size_t network,
                  caf::expected<secure_channel> channel);

  event_loop& loop_;
  std::shared_ptr<const secure_context> context_;
  lane_listener_options options_;
  local_log log_;
  lane_listener_statistics statistics_;
  std::vector<tcp_address> addresses_;
  acceptor acceptor_;

  /// By age; bounded by `lane_limits::half_open`, twice.
  std::map<uint64_t, newcomer> newcomers_;
  uint64_t last_id_ = 0;
};

// -- accepting ---------------------------------------------------------------

void lane_listener::implementation::on_pause() {
  ++statistics_.accept_pauses;
  log_.write("the listener", severity::warning,
             "accepting lanes waits for free descriptors (L20)");
}

void lane_listener::implementation::receive(unique_fd socket, size_t network) {
  ++statistics_.accepted;
  newcomer x;
  const auto& kind = socket_kind_of(socket.get());
  x.from = kind.remote_end(socket.get());
  x.is_member = options_.is_member && options_.is_member(x.from.address);
  auto err = kind.prepare(socket.get());
  if (!err)
    err = make_room(x);
  if (err) {
    refuse(x, err);
    return;
  }
  const auto id = ++last_id_;
  x.handshake = std::make_unique<secure_handshake>(
    loop_, *context_, std::move(socket), options_.admit, options_.limits,
    [=](caf::expected<secure_channel> channel) {
      on_outcome(id, network, std::move(channel));
    });
  newcomers_.emplace(id, std::move(x));
}

caf::error lane_listener::implementation::make_room(const newcomer& x) {
  const auto& limits = options_.limits;
  size_t of_kind = 0;
  size_t of_address = 0;
  for (const auto& [id, y] : newcomers_) {
    of_kind += y.is_member == x.is_member ? 1 : 0;
    of_address += y.from.address == x.from.address ? 1 : 0;
  }
  const auto address_is_full = of_address >= limits.half_open_per_address;
  if (!address_is_full && of_kind < limits.half_open)
    return caf::none;
  const auto limit =
    address_is_full ? limits.half_open_per_address : limits.half_open;
  auto why = make_error(status::out_of_resource,
                        "limit of " + std::to_string(limit)
                          + " connections without a handshake (L1)");
  // Who connects now is likelier to speak than who has been silent for longest.
  for (auto& [id, y] : newcomers_)
    if (y.handshake->is_silent()
        && (address_is_full ? y.from.address == x.from.address
                            : y.is_member == x.is_member)) {
      y.handshake->refuse(std::move(why));
      return caf::none;
    }
  return why;
}

void lane_listener::implementation::refuse(const newcomer& x,
                                           const caf::error& why) {
  ++statistics_.refused;
  // Strangers share their lines: their addresses would cost memory.
  log_.write(
    x.is_member ? "node at " + x.from.address : "strangers", severity::warning,
    "lane from "
      + (x.from.address.empty() ? "a socket without a name" : to_string(x.from))
      + ": refused: " + reason_of(why));
}

void lane_listener::implementation::on_outcome(
  uint64_t id, size_t network, caf::expected<secure_channel> channel) {
  // What calls us ends with its newcomer, so both end last.
  const auto node = newcomers_.extract(id);
  if (!channel) {
    refuse(node.mapped(), channel.error());
    return;
  }
  ++statistics_.lanes;
  options_.on_lane(std::move(*channel), network);
}

// -- lane_listener -----------------------------------------------------------

lane_listener::lane_listener(std::unique_ptr<implementation> x)
  : implementation_(std::move(x)) {
  // nop
}

lane_listener::~lane_listener() = default;

caf::expected<std::unique_ptr<lane_listener>>
lane_listener::start(event_loop& loop,
                     std::shared_ptr<const secure_context> context,
                     lane_listener_options options) {
  auto result = std::make_unique<implementation>(loop, std::move(context),
                                                 std::move(options));
  if (auto err = result->open())
    return err;
  return std::unique_ptr<lane_listener>{new lane_listener(std::move(result))};
}

const std::vector<tcp_address>& lane_listener::addresses() const noexcept {
  return implementation_->addresses();
}

lane_listener_statistics lane_listener::statistics() const noexcept {
  return implementation_->statistics();
}

} // namespace troupe
