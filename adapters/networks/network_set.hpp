#pragma once

#include "actors/watches.hpp"
#include "adapters/networks/network_runner.hpp"
#include "adapters/networks/networks.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// What the NETWORKS actor does: which networks there are, which lanes, and who
/// uses them. For the thread of the loop only.
class network_set : public network_owner {
public:
  using actor_pointer = networks_actor::stateful_pointer<networks_state>;

  network_set(actor_pointer self, event_loop& loop,
              std::shared_ptr<const secure_context> context,
              networks_options options);

  ~network_set() override;

  /// Begins to listen.
  caf::error start();

  void reach(const reach_node& node);
  void release(uint32_t rank);
  void adopt(lane_id lane, const lane_user_actor& user);
  void put(const put_lane_frame& x);
  void drop(const drop_lane& x);

  /// An actor that uses lanes has ended.
  void abandon(const caf::actor_addr& user);

  // -- from the networks
  // -------------------------------------------------------

  void on_listening(const std::string& network,
                    std::vector<node_address> addresses) override;
  void on_lane(dial_id dial, lane_opened lane) override;
  void on_dial_failed(dial_id dial, caf::error why) override;
  void on_frame(lane_id lane, lane_frame frame) override;
  void on_lane_end(lane_id lane, const std::string& reason) override;

private:
  using clock = std::chrono::steady_clock;

  struct lane_entry {
    std::string network;
    std::string local;
    std::string remote;
    uint32_t rank = 0;
    clock::time_point since;

    /// Nobody before it is adopted.
    lane_user_actor user;

    /// Bytes given to the user since it was last asked whether it keeps up, and
    /// questions it has not answered.
    size_t unasked = 0;
    size_t unanswered = 0;
    bool is_paused = false;
  };

  void look_again();
  void compare(std::vector<own_network> now);
  void add_network(const own_network& x);
  void tell_addresses();
  uint16_t port_of(const std::string& address) const;
  reach_table::means means();
  bool may_dial(uint32_t rank, const reach_path& path) const;
  size_t lanes_to(uint32_t rank) const;
  bool is_ours(const lane_opened& x) const;
  void note_members();

  /// Calls `f` on the network's loop, if there is such a network.
  void with(const std::string& name, std::function<void(network&)> f);

  void end_lane(lane_id id, const std::string& reason);
  void ask_user(lane_id id, lane_entry& x, lane_frame_arrived frame);
  void on_user_answer(lane_id id);
  void log(severity weight, const std::string& line);

  actor_pointer self_;
  event_loop& loop_;
  std::shared_ptr<const secure_context> context_;
  networks_options options_;
  std::vector<own_network> own_;

  /// Addresses of nodes of the DVM; read by the threads of networks.
  class member_addresses;
  std::shared_ptr<member_addresses> members_;

  std::map<std::string, std::vector<node_address>> listening_;

  /// Networks that have not said yet where they listen.
  std::set<std::string> awaited_;

  /// Whether the owner knows where we listen.
  bool is_told_ = false;

  /// The port that an address had, to take it again when it comes back: other
  /// nodes dial there.
  std::map<std::string, uint16_t> ports_;

  std::map<lane_id, lane_entry> lanes_;

  /// The users of lanes: each has many of them in its life.
  watches watched_;
  reach_table reach_;
  std::map<std::string, std::unique_ptr<network_runner>> networks_;

  /// The kernel often says several things at once.
  timer look_again_;
  bool is_comparing_ = false;
};

} // namespace troupe
