#pragma once

#include "adapters/lane/lane_connector.hpp"
#include "adapters/lane/lane_limits.hpp"
#include "adapters/lane/lane_listener.hpp"
#include "adapters/networks/frame_lane.hpp"
#include "base/journal.hpp"
#include "messages/lane.hpp"

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// The number of an attempt to open a lane; 0 is none.
using dial_id = uint64_t;

/// Hears of the lanes of a network.
class network_owner {
public:
  virtual ~network_owner() = default;

  /// Where the network takes lanes, and where it could not.
  virtual void on_listening(const std::string& network,
                            std::vector<node_address> addresses) = 0;

  /// @param dial 0 if the other end has dialled.
  virtual void on_lane(dial_id dial, lane_opened lane) = 0;

  virtual void on_dial_failed(dial_id dial, caf::error why) = 0;

  virtual void on_frame(lane_id lane, lane_frame frame) = 0;

  /// Comes once for each lane, except after `network::close`.
  virtual void on_lane_end(lane_id lane, const std::string& reason) = 0;
};

struct network_settings {
  /// The network's name: that of its interface.
  std::string name;

  /// 0: the kernel picks one for each address.
  uint16_t port = 0;

  /// Whether an address is one of a node of the DVM.
  std::function<bool(const std::string&)> is_member;

  lane_limits limits;

  /// How long a lane waits for a user.
  std::chrono::milliseconds adoption_time{5000};

  journal log;
};

/// One network of this node: takes and opens lanes there, and carries their
/// frames. A module of its own: it shares nothing with other networks, so that
/// each may have a thread. For the thread of its loop only.
/// Source: requirements O7, O8, O16.
class network {
public:
  /// @param owner Outlives the network, and does not destroy it in a call.
  network(event_loop& loop, std::shared_ptr<const secure_context> context,
          network_settings settings, network_owner& owner);

  /// Cuts all lanes and says nothing.
  ~network();

  network(const network&) = delete;

  network& operator=(const network&) = delete;

  const std::string& name() const noexcept {
    return settings_.name;
  }

  /// Listens on these addresses and no others; answered by `on_listening`, then
  /// and whenever an address that was not free has become so.
  /// @param places With the port to take if it is free, or 0.
  void listen(std::vector<node_address> places);

  /// Answered by `on_lane` or `on_dial_failed`.
  /// @param patience Time to connect.
  void dial(dial_id id, const lane_path& path, node_identity peer,
            std::chrono::milliseconds patience);

  /// Dials no more; not answered.
  void give_up(dial_id id);

  /// Reads from a lane, unless it is paused or the network is held.
  void adopt(lane_id lane);

  /// Reads nothing from a lane, or goes on.
  void pause(lane_id lane, bool is_paused);

  /// Reads nothing from any lane, or goes on.
  void hold(bool is_held);

  void put(lane_id lane, const lane_frame& frame);

  /// Sends what was put and closes; not answered.
  void close(lane_id lane);

  /// Closes at once; not answered.
  void cut(lane_id lane);

private:
  struct lane_entry;

  void listen_on(const node_address& place);
  void listen_where_missing();
  void listen_again();
  void tell_addresses();
  void add_lane(dial_id dial, secure_channel channel);
  void update(lane_entry& x);
  void on_end(lane_id lane, const std::string& reason);

  /// Forgets what must not be destroyed in its own callback.
  void retire(std::unique_ptr<lane_entry> x);
  void retire(std::unique_ptr<lane_connector> x);

  event_loop& loop_;
  std::shared_ptr<const secure_context> context_;
  network_settings settings_;
  network_owner& owner_;

  bool is_held_ = false;
  std::vector<node_address> wanted_;

  /// By address.
  std::map<std::string, std::unique_ptr<lane_listener>> listeners_;

  std::map<dial_id, std::unique_ptr<lane_connector>> dials_;
  std::map<lane_id, std::unique_ptr<lane_entry>> lanes_;

  /// Lanes that send what was put.
  std::list<std::unique_ptr<lane_entry>> closing_;

  std::vector<std::unique_ptr<lane_entry>> retired_lanes_;
  std::vector<std::unique_ptr<lane_connector>> retired_dials_;
  timer sweep_;
  timer listen_again_;

  /// Addresses that cannot be listened on, as has been logged.
  std::set<std::string> untaken_;
};

} // namespace troupe
