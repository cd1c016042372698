#include "actors/mesh/remoting/gateway.hpp"

#include "actors/mesh/remoting/content_reader.hpp"
#include "actors/mesh/remoting/content_writer.hpp"
#include "actors/mesh/remoting/export_table.hpp"
#include "actors/mesh/remoting/foreign_actors.hpp"
#include "actors/mesh/remoting/neighbours.hpp"
#include "actors/mesh/remoting/remote_proxy.hpp"
#include "actors/mesh/remoting/remote_requests.hpp"
#include "base/answer.hpp"
#include "base/sturdy.hpp"

#include <caf/actor_config.hpp>
#include <caf/actor_proxy.hpp>
#include <caf/actor_registry.hpp>
#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/make_actor.hpp>
#include <caf/make_message.hpp>
#include <caf/proxy_registry.hpp>
#include <caf/scoped_execution_unit.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace troupe {

namespace {

/// What those hear who have actors of CAF's middleman and ours.
constexpr auto strange = "an actor that CAF's middleman reaches has no name on"
                         " other nodes: put one of this process before it";

/// Tells the gateway that an actor which others know has ended.
class export_watch final : public caf::attachable {
public:
  export_watch(gateway_actor gateway, caf::actor_id id)
    : gateway_(std::move(gateway)), id_(id) {
    // nop
  }

  static token name_of(const void* gateway) {
    constexpr size_t kind = 0x74726f75;
    return {kind, gateway};
  }

  void actor_exited(const caf::error& why, caf::execution_unit* unit) override {
    gateway_->enqueue(caf::make_mailbox_element(nullptr, caf::make_message_id(),
                                                {}, exported_ended{id_, why}),
                      unit);
  }

  bool matches(const token& what) override {
    const auto mine = name_of(caf::actor_cast<caf::abstract_actor*>(gateway_));
    return what.subtype == mine.subtype && what.ptr == mine.ptr;
  }

private:
  gateway_actor gateway_;
  caf::actor_id id_;
};

/// An actor of another node.
struct proxy_entry {
  caf::strong_actor_ptr handle;

  /// By which its node knows it.
  uint64_t key = 0;

  /// How often it was handed over to us.
  uint64_t given = 0;

  /// Nobody else held it when it was looked at last.
  bool is_idle = false;

  /// It was passed on, and stays until then.
  conversation::time_point keep_until;

  remote_proxy& get() const {
    return *static_cast<remote_proxy*>(handle->get());
  }
};

/// An actor of this process among those of all of its actor systems. Their names
/// are shared by all of their actors.
using local_name = std::pair<const caf::node_id::data*, caf::actor_id>;

local_name name_of(const caf::strong_actor_ptr& x) {
  return {x->nid.operator->(), x->aid};
}

struct remote_node {
  explicit remote_node(conversation x) : talk(std::move(x)) {
    // nop
  }

  member_name name;
  caf::node_id id;

  /// The user that it belongs to, as far as it has proven that.
  std::optional<uint32_t> user;
  conversation talk;
  std::unordered_map<caf::actor_id, proxy_entry> proxies;

  /// Actors of this process that are linked to actors there, until either has
  /// ended.
  std::set<std::pair<local_name, caf::actor_id>> links;

  /// Nodes whose requests were passed on to this one.
  std::set<uint32_t> passed_on_for;

  /// Who waits for room.
  std::vector<answer<ack>> waiters;
};

struct published_actor {
  caf::strong_actor_ptr actor;

  /// By which other nodes know it.
  caf::actor_id id = 0;
  std::vector<std::string> interface;
  actor_audience who;
};

/// A question to one node, or to all.
struct search {
  answer<caf::strong_actor_ptr> reply;
  std::vector<std::string> interface;
  size_t waiting = 0;
};

struct open_question {
  uint32_t rank = 0;
  std::shared_ptr<search> of;
};

struct gateway_counts {
  uint64_t sent = 0;
  uint64_t received = 0;
  uint64_t bundles = 0;
  uint64_t refused_content = 0;
  uint64_t refused_receiver = 0;
  uint64_t refused_full = 0;
  uint64_t late_answers = 0;
  uint64_t conversations_ended = 0;
};

class gateway_desk;

struct gateway_state {
  static inline const char* name = "gateway";

  std::unique_ptr<gateway_desk> desk;

  gateway_state();
  ~gateway_state();
};

TROUPE_SELF_POINTER(gateway_actor, gateway_state);

class gateway_desk final : public content_writer::giver,
                           public caf::proxy_registry::backend {
public:
  gateway_desk(self_pointer self, gateway_settings settings);
  ~gateway_desk() override;

  // -- messages -----------------------------------------------------------------

  void send(proxy_message& x);
  void link(const proxy_linked& x);
  void take(const actor_bundle& x);
  void flush();
  void end_exported(const exported_ended& x);
  void change(const member_changed& x);
  void tick();
  void publish(publish_actor& x);
  void unpublish(const std::string& name);
  caf::result<caf::strong_actor_ptr> look_up(lookup_actor& x);
  caf::result<caf::strong_actor_ptr> spawn(spawn_actor& x);
  void add_kind(register_actor_kind& x);
  caf::result<ack> await(const await_room& x);
  gauge_list gauges() const;

  void add_types(const allow_types& x) {
    types_.add(x.types);
  }

  /// Whether it is of a node of CAF's middleman, in another actor system of this
  /// process: that system alone can name it.
  bool is_strange(const caf::strong_actor_ptr& x) const {
    return is_beside(x) && is_proxy(x);
  }

  /// Every node is as if it were lost.
  void stop();

  // -- handles in messages -------------------------------------------------------

  wire_handle give(const member_name& node, caf::actor_id id) override;
  std::optional<wire_handle> give_foreign(const caf::node_id& node,
                                          caf::actor_id id) override;
  caf::strong_actor_ptr make_proxy(caf::node_id node,
                                   caf::actor_id id) override;
  void set_last_hop(caf::node_id*) override {
    // Handles say where they are from.
  }

private:
  using time_point = conversation::time_point;

  time_point now() const {
    return self_->clock().now();
  }

  /// As others know us.
  member_name own_name() const {
    return {settings_.rank, settings_.incarnation};
  }

  bool is_own(const caf::strong_actor_ptr& x) const {
    return !x->nid || x->nid == own_node_;
  }

  /// Whether another actor system of this process has it.
  bool is_beside(const caf::strong_actor_ptr& x) const {
    if (is_own(x))
      return false;
    const auto name = member_of(x->nid);
    return !name || name->rank == no_rank;
  }

  static bool is_proxy(const caf::strong_actor_ptr& x) {
    return dynamic_cast<const caf::actor_proxy*>(x->get()) != nullptr;
  }

  /// Whether it is of this process: ours, or of another actor system.
  bool is_here(const caf::strong_actor_ptr& x) const {
    return is_own(x) || (is_beside(x) && !is_proxy(x));
  }

  void note(severity level, const std::string& what) const {
    if (settings_.log)
      settings_.log(level, "gateway: " + what);
  }

  remote_node* find_node(const member_name& x);
  remote_node* obtain_node(const member_name& name);
  proxy_entry* find_proxy(const caf::strong_actor_ptr& x, remote_node*& node);
  void schedule_flush();
  void schedule_tick();
  void put(remote_node& to, const gateway_frame& x);

  // -- sending ------------------------------------------------------------------

  caf::actor_id id_of(const caf::strong_actor_ptr& x);
  std::optional<caf::actor_id> known_id(const caf::strong_actor_ptr& x) const;
  void add_foreign(const caf::strong_actor_ptr& x, caf::actor_id id);
  void settle_foreign();
  uint64_t give_own(caf::actor_id id);
  uint64_t key_for(caf::actor_id id);
  template <class Frame>
  caf::error write(remote_node& to, const caf::type_erased_tuple& content,
                   Frame& frame);
  void reply_to(const caf::strong_actor_ptr& who, caf::message_id mid,
                caf::error why);
  bool is_told_by_down(const proxy_message& x, remote_node& node);
  far_handle pass_on(const caf::strong_actor_ptr& x);
  void announce(const caf::type_erased_tuple& content);
  void tell_interface(const member_name& node, caf::actor_id id,
                      const known_interface& x);

  // -- receiving ----------------------------------------------------------------

  void take(remote_node& from, message_frame& x);
  void take(remote_node& from, const watch_frame& x);
  void take(remote_node& from, const refused_watch_frame& x);
  void take(remote_node& from, const release_frame& x);
  void take(remote_node& from, const down_frame& x);
  void take(remote_node& from, const link_frame& x);
  void take(remote_node& from, const moved_frame& x);
  void take(remote_node& from, const lost_way_frame& x);
  void take(remote_node& from, const ask_frame& x);
  void take(remote_node& from, answer_frame& x);
  void take(remote_node&, const greeting_frame&) {
    // Greetings come in bundles of their own.
  }
  void take(remote_node&, const taken_frame&) {
    // Of the conversation.
  }

  void accept(remote_node& from, const std::vector<given_handle>& given);
  template <class Frame>
  caf::expected<caf::message> read(remote_node& from, const Frame& frame);
  void learn(const std::vector<typed_handle>& typed);
  known_interface interface_of(const caf::strong_actor_ptr& x) const;
  caf::error check_handles(const caf::message& content) const;
  caf::strong_actor_ptr obtain(remote_node& node, caf::actor_id id,
                               uint64_t key);
  caf::strong_actor_ptr resolve(const wire_handle& x);
  caf::strong_actor_ptr make(caf::node_id node, caf::actor_id id);
  caf::strong_actor_ptr make_dead(const wire_handle& x);

  // -- asking --------------------------------------------------------------------

  void ask(uint32_t rank, bool is_spawn, const std::string& name,
           const caf::message& arguments, const std::shared_ptr<search>& of);
  void settle(search& x, caf::expected<caf::strong_actor_ptr> found);

  /// Whether a node may have what is for these; null: this node.
  bool admits(const actor_audience& who, const remote_node* node) const {
    return node == nullptr
             ? who.has(settings_.rank, true)
             : who.has(node->name.rank,
                       node->user && node->user == settings_.user);
  }

  caf::expected<caf::strong_actor_ptr>
  find_published(const std::string& name, const remote_node* asker,
                 std::vector<std::string>& interface);
  caf::expected<caf::strong_actor_ptr>
  spawn_here(const std::string& kind, const remote_node* asker,
             const caf::message& arguments,
             std::vector<std::string>& interface);

  // -- ends ----------------------------------------------------------------------

  void fail(const std::vector<remote_requests::request>& lost,
            const std::string& why);
  void end_contact(remote_node& node, const std::string& why);
  void drop(proxy_entry& x, caf::error why);
  void serve_waiters(remote_node& node);

  self_pointer self_;
  gateway_settings settings_;
  caf::node_id own_node_;
  type_table types_;
  caf::scoped_execution_unit unit_;
  caf::proxy_registry registry_;
  export_table exports_;
  remote_requests requests_;
  std::shared_ptr<gateway_mail> mail_;

  /// Other members, by rank.
  std::map<uint32_t, uint64_t> live_;

  /// Those of them with which there was any contact.
  std::map<uint32_t, std::unique_ptr<remote_node>> nodes_;

  std::map<std::string, published_actor> published_;
  std::map<std::string, register_actor_kind> kinds_;
  std::map<uint64_t, open_question> questions_;
  uint64_t last_question_ = 0;

  /// Actors that CAF's registry has since their handles were in messages.
  std::unordered_set<caf::actor_id> registered_;

  /// Those of other systems of this process that other nodes know; and one whose
  /// handle is being written that was not among them.
  foreign_actors foreign_;

  struct foreign_handle {
    held_neighbour system;

    /// Its id there, and here.
    caf::actor_id theirs = 0;
    caf::actor_id ours = 0;
    bool was_registered = false;
  };

  std::optional<foreign_handle> written_foreign_;

  /// Whose message is being written or read, what it gives away of ours, and what
  /// it says of the interfaces of actors.
  remote_node* peer_ = nullptr;
  std::vector<given_handle> given_;
  std::vector<typed_handle> typed_;
  bool has_read_handles_ = false;

  /// Content that is being written.
  std::string scratch_;

  /// Nodes with something to send, and whether a flush is on its way.
  std::set<uint32_t> dirty_;
  bool is_flush_sent_ = false;
  bool is_tick_sent_ = false;

  gateway_counts counts_;
};

gateway_state::gateway_state() = default;
gateway_state::~gateway_state() = default;

void watch_end(self_pointer self, const caf::strong_actor_ptr& x,
               caf::actor_id id) {
  x->get()->attach(
    caf::attachable_ptr{new export_watch{gateway_actor{self}, id}});
}

void unwatch_end(self_pointer self, const caf::strong_actor_ptr& x) {
  x->get()->detach(
    export_watch::name_of(static_cast<const caf::abstract_actor*>(self)));
}

/// Those of other systems are watched as long as they have an id here.
export_table::effects export_effects(self_pointer self,
                                     std::unordered_set<caf::actor_id>& names,
                                     const foreign_actors& foreign,
                                     std::function<uint64_t()> random) {
  auto out = export_table::effects{};
  out.random = std::move(random);
  out.watch = [self, &foreign](caf::actor_id id,
                               const caf::strong_actor_ptr& x) {
    if (!foreign.has(id))
      watch_end(self, x, id);
  };
  out.forget = [self, &names, &foreign](caf::actor_id id,
                                        const caf::strong_actor_ptr& x) {
    if (foreign.has(id))
      return;
    unwatch_end(self, x);
    if (names.erase(id) > 0)
      self->home_system().registry().erase(id);
  };
  return out;
}

gateway_desk::gateway_desk(self_pointer self, gateway_settings settings)
  : self_(self), settings_(std::move(settings)),
    own_node_(make_member_node({settings_.rank, settings_.incarnation})),
    unit_(&self->home_system()), registry_(self->home_system(), *this),
    exports_(export_effects(self, registered_, foreign_, settings_.random)),
    mail_(
      std::make_shared<gateway_mail>(settings_.mail, settings_.mail_bytes)) {
  unit_.proxy_registry_ptr(&registry_);
}

gateway_desk::~gateway_desk() {
  forget_proxies(registry_);
}

// -- nodes --------------------------------------------------------------------

remote_node* gateway_desk::find_node(const member_name& x) {
  const auto i = nodes_.find(x.rank);
  return i == nodes_.end() || i->second->name != x ? nullptr : i->second.get();
}

proxy_entry* gateway_desk::find_proxy(const caf::strong_actor_ptr& x,
                                      remote_node*& node) {
  const auto name = member_of(x->nid);
  node = name ? find_node(*name) : nullptr;
  if (node == nullptr)
    return nullptr;
  const auto i = node->proxies.find(x->aid);
  return i == node->proxies.end() || i->second.handle != x ? nullptr
                                                           : &i->second;
}

void gateway_desk::put(remote_node& to, const gateway_frame& x) {
  to.talk.put(x);
  dirty_.insert(to.name.rank);
  schedule_flush();
}

void gateway_desk::schedule_flush() {
  if (!std::exchange(is_flush_sent_, true))
    self_->send(gateway_actor{self_}, flush_gateway{});
}

void gateway_desk::flush() {
  is_flush_sent_ = false;
  for (const auto rank : std::exchange(dirty_, {}))
    if (const auto i = nodes_.find(rank); i != nodes_.end()) {
      i->second->talk.flush(now());
      serve_waiters(*i->second);
    }
  schedule_tick();
}

void gateway_desk::schedule_tick() {
  const auto has_work = [](const auto& x) {
    return x.second->talk.is_unsettled() || !x.second->proxies.empty();
  };
  if (is_tick_sent_ || std::none_of(nodes_.begin(), nodes_.end(), has_work))
    return;
  is_tick_sent_ = true;
  self_->delayed_send(gateway_actor{self_}, defaults::gateway_sweep,
                      deadline{});
}

/// Ends what nobody holds, and notices what was lost.
void gateway_desk::tick() {
  is_tick_sent_ = false;
  for (auto& [rank, node] : nodes_) {
    node->talk.tick(now());
    auto& proxies = node->proxies;
    for (auto i = proxies.begin(); i != proxies.end();) {
      auto& x = i->second;
      const auto is_idle = x.handle->strong_refs == 1 && !x.get().is_watched()
                           && x.keep_until <= now();
      if (!std::exchange(x.is_idle, is_idle) || !is_idle) {
        ++i;
        continue;
      }
      put(*node, release_frame{i->first, x.given});
      drop(x, caf::exit_reason::unreachable);
      i = proxies.erase(i);
    }
  }
  schedule_tick();
}

void gateway_desk::change(const member_changed& x) {
  const auto is_live = x.state == node_state::live;
  if (x.rank == settings_.rank) {
    // A later incarnation of ours: to the others we have begun anew.
    if (is_live && x.incarnation != settings_.incarnation) {
      settings_.incarnation = x.incarnation;
      for (auto& [rank, node] : nodes_)
        end_contact(*node, "this node has begun anew");
    }
    return;
  }
  const auto known = live_.find(x.rank);
  const auto is_known = known != live_.end() && known->second == x.incarnation;
  if (is_known == is_live)
    return;
  // One that is live takes the place of another incarnation.
  if (const auto i = nodes_.find(x.rank); i != nodes_.end()) {
    end_contact(*i->second, "node " + std::to_string(x.rank) + " is lost");
    nodes_.erase(x.rank);
  }
  if (is_live)
    live_[x.rank] = x.incarnation;
  else
    live_.erase(known);
}

/// What is known of a member from the first contact on.
/// @returns null if it is none.
remote_node* gateway_desk::obtain_node(const member_name& name) {
  if (auto* node = find_node(name))
    return node;
  const auto known = live_.find(name.rank);
  if (known == live_.end() || known->second != name.incarnation)
    return nullptr;
  auto out = conversation::effects{};
  out.send = [this, name](std::shared_ptr<const std::string> bytes) {
    ++counts_.bundles;
    self_->send(settings_.node,
                actor_bundle{name.rank, name.incarnation, std::move(bytes)});
  };
  out.take = [this, name](gateway_frame& frame) {
    if (auto* node = find_node(name))
      std::visit([&](auto& y) { take(*node, y); }, frame);
  };
  out.end = [this, name](const std::string& why) {
    ++counts_.conversations_ended;
    if (auto* node = find_node(name))
      end_contact(*node, "node " + std::to_string(name.rank) + ": " + why);
  };
  auto node = std::make_unique<remote_node>(
    conversation{settings_.window, std::move(out)});
  node->name = name;
  node->id = make_member_node(name);
  auto& place = nodes_[name.rank];
  place = std::move(node);
  return place.get();
}

/// Requests that nobody will answer.
void gateway_desk::fail(const std::vector<remote_requests::request>& lost,
                        const std::string& why) {
  for (const auto& x : lost)
    reply_to(x.who, x.mid, make_error(caf::sec::remote_linking_failed, why));
}

/// What the node holds of ours, and we of it, is void.
void gateway_desk::end_contact(remote_node& node, const std::string& why) {
  note(severity::debug, why);
  const auto rank = node.name.rank;
  node.links.clear();
  for (auto& [id, x] : std::exchange(node.proxies, {}))
    drop(x, caf::exit_reason::remote_link_unreachable);
  fail(requests_.drop_node(rank), why);
  // Now that those have heard of it who are there for the node alone.
  exports_.drop_node(rank);
  for (const auto other : std::exchange(node.passed_on_for, {}))
    if (const auto i = nodes_.find(other); i != nodes_.end() && other != rank)
      put(*i->second, lost_way_frame{rank});
  for (auto i = questions_.begin(); i != questions_.end();) {
    if (i->second.rank != rank) {
      ++i;
      continue;
    }
    const auto of = i->second.of;
    i = questions_.erase(i);
    settle(*of, make_error(caf::sec::cannot_connect_to_node, why));
  }
  for (auto& x : std::exchange(node.waiters, {}))
    x.give({});
}

void gateway_desk::drop(proxy_entry& x, caf::error why) {
  x.get().kill_proxy(self_->context(), std::move(why));
}

void gateway_desk::stop() {
  for (auto& [rank, node] : nodes_)
    end_contact(*node, "the gateway ends");
  nodes_.clear();
  live_.clear();
  published_.clear();
  exports_.clear();
  for (const auto& x : foreign_.all())
    unwatch_end(self_, x);
}

// -- sending ------------------------------------------------------------------

wire_handle gateway_desk::give(const member_name& node, caf::actor_id id) {
  settle_foreign();
  auto result = wire_handle{node, id, 0};
  if (node == *member_of(own_node_)) {
    result.node = own_name();
    result.key = give_own(id);
  } else if (auto* owner = find_node(node)) {
    const auto i = owner->proxies.find(id);
    if (i == owner->proxies.end())
      return result;
    if (owner != peer_) {
      i->second.keep_until = now() + defaults::gateway_handover;
      tell_interface(node, id, i->second.get().interface());
    }
    result.key = i->second.key;
  }
  return result;
}

/// By which other nodes know an actor of this process; nothing if they do not.
std::optional<caf::actor_id>
gateway_desk::known_id(const caf::strong_actor_ptr& x) const {
  return is_own(x) ? x->aid : foreign_.find(x->nid, x->aid);
}

/// The same, and they may from now on.
caf::actor_id gateway_desk::id_of(const caf::strong_actor_ptr& x) {
  if (const auto known = known_id(x))
    return *known;
  const auto result = self_->home_system().next_actor_id();
  add_foreign(x, result);
  return result;
}

/// It has the id until it ends.
void gateway_desk::add_foreign(const caf::strong_actor_ptr& x,
                               caf::actor_id id) {
  foreign_.add(x, id);
  watch_end(self_, x, id);
}

/// A handle is written as a number and the name of a system. Whose it is shows in
/// the registry of that system, where CAF puts the actor when it has written both.
std::optional<wire_handle> gateway_desk::give_foreign(const caf::node_id& node,
                                                      caf::actor_id id) {
  settle_foreign();
  if (const auto known = foreign_.find(node, id))
    return wire_handle{own_name(), *known, key_for(*known)};
  auto system = held_neighbour{node};
  const auto ours = self_->home_system().next_actor_id();
  if (system.get() == nullptr) {
    // It has ended with its system, or is of a node of CAF's middleman.
    if (member_of(node))
      return wire_handle{own_name(), ours, 0};
    return std::nullopt;
  }
  auto& registry = system.get()->registry();
  const auto is_there = registry.get<caf::strong_actor_ptr>(id) != nullptr;
  unit_.system_ptr(system.get());
  written_foreign_.emplace(
    foreign_handle{std::move(system), id, ours, is_there});
  return wire_handle{own_name(), ours, key_for(ours)};
}

/// CAF has put the last of them into its registry, from which it goes unless a
/// middleman may want it there.
void gateway_desk::settle_foreign() {
  if (!written_foreign_)
    return;
  unit_.system_ptr(&self_->home_system());
  auto actor = caf::strong_actor_ptr{};
  const auto ours = written_foreign_->ours;
  {
    const auto x = std::move(*written_foreign_);
    written_foreign_.reset();
    auto& registry = x.system.get()->registry();
    actor = registry.get<caf::strong_actor_ptr>(x.theirs);
    if (!x.was_registered && !x.system.get()->has_middleman())
      registry.erase(x.theirs);
  }
  if (actor)
    add_foreign(actor, ours);
}

/// An actor of ours stands in the message that is being written. CAF registers it
/// when it has written it.
uint64_t gateway_desk::give_own(caf::actor_id id) {
  registered_.insert(id);
  return key_for(id);
}

/// The message that is being written gives away an actor of this process.
uint64_t gateway_desk::key_for(caf::actor_id id) {
  const auto i = std::find_if(given_.begin(), given_.end(),
                              [=](const auto& x) { return x.id == id; });
  if (i != given_.end())
    return i->key;
  const auto key = exports_.key_of(id);
  return given_.emplace_back(given_handle{id, key ? *key : settings_.random()})
    .key;
}

/// Typed handles of ours in a message: those whom it goes to may hear what their
/// actors understand.
void gateway_desk::announce(const caf::type_erased_tuple& content) {
  types_.find_handles(content, [this](const caf::strong_actor_ptr& x,
                                      const handle_interface& type) {
    if (const auto id = known_id(x))
      exports_.announce(*id, type.digests);
  });
}

/// The message that is being written says what an actor understands, once.
void gateway_desk::tell_interface(const member_name& node, caf::actor_id id,
                                  const known_interface& x) {
  const auto is_same = [&](const typed_handle& y) {
    return y.id == id && y.rank == node.rank;
  };
  if (!x.digests().empty()
      && std::none_of(typed_.begin(), typed_.end(), is_same))
    typed_.push_back({node.rank, node.incarnation, id, x.digests()});
}

/// Writes content for a node, and hands over what stands in it.
/// @returns why it cannot go; then nothing is handed over.
template <class Frame>
caf::error gateway_desk::write(remote_node& to,
                               const caf::type_erased_tuple& content,
                               Frame& frame) {
  peer_ = &to;
  given_.clear();
  typed_.clear();
  scratch_.clear();
  auto writer =
    content_writer{&unit_, types_, *this, scratch_, settings_.message_bytes};
  auto failure = caf::error{};
  try {
    failure = writer.write(content);
  } catch (const std::exception& x) {
    failure = make_error(caf::sec::runtime_error, x.what());
  }
  settle_foreign();
  auto& registry = self_->home_system().registry();
  for (const auto& x : given_) {
    auto actor = foreign_.get(x.id);
    if (!actor)
      actor = registry.get<caf::strong_actor_ptr>(x.id);
    if (actor && !failure) {
      exports_.give(x.id, actor, to.name.rank, x.key);
      frame.given.push_back(x);
    } else if (!exports_.key_of(x.id)) {
      // Nobody has it, or it has ended: so it is for the receiver.
      registered_.erase(x.id);
      registry.erase(x.id);
    }
  }
  frame.content.bytes = scratch_;
  if (failure) {
    ++counts_.refused_content;
    return failure;
  }
  if (!frame.given.empty())
    announce(content);
  for (const auto& x : frame.given)
    if (const auto* known = exports_.interface_of(x.id))
      tell_interface(own_name(), x.id, *known);
  frame.typed = std::exchange(typed_, {});
  return failure;
}

/// Answers a request that goes no further.
void gateway_desk::reply_to(const caf::strong_actor_ptr& who,
                            caf::message_id mid, caf::error why) {
  if (who && mid.is_request())
    who->enqueue(nullptr, mid.response_id(), caf::make_message(std::move(why)),
                 self_->context());
}

/// Whether a message says that a linked actor has ended: the other node hears of
/// that by itself.
bool gateway_desk::is_told_by_down(const proxy_message& x, remote_node& node) {
  return x.from && x.content.match_elements<caf::exit_msg>()
         && x.content.get_as<caf::exit_msg>(0).source == x.from
         && x.from->get()->getf(caf::abstract_actor::is_terminated_flag)
         && node.links.erase({name_of(x.from), x.proxy->aid}) > 0;
}

far_handle gateway_desk::pass_on(const caf::strong_actor_ptr& x) {
  const auto name = member_of(x->nid).value_or(member_name{});
  const auto handle = give(name, x->aid);
  return {name.rank, name.incarnation, x->aid, handle.key};
}

void gateway_desk::send(proxy_message& x) {
  mail_->leave({x.bytes, x.is_whole});
  const auto mid = caf::make_message_id(x.mid);
  remote_node* node = nullptr;
  auto* proxy = find_proxy(x.proxy, node);
  if (proxy == nullptr)
    return reply_to(x.from, mid, caf::sec::request_receiver_down);
  if (is_told_by_down(x, *node))
    return;
  if (x.from && is_strange(x.from)) {
    if (mid.is_request())
      return reply_to(x.from, mid, make_error(status::not_supported, strange));
    x.from = nullptr;
  }
  const auto is_ours = x.from && is_here(x.from);
  const auto asks_for_us = mid.is_request() && is_ours;
  if (node->talk.waiting() >= settings_.queue_bytes
      || (asks_for_us && requests_.size() >= defaults::gateway_requests)) {
    ++counts_.refused_full;
    return reply_to(x.from, mid,
                    make_error(status::out_of_resource,
                               "node " + std::to_string(node->name.rank)
                                 + " takes less than it is sent"));
  }
  auto frame = message_frame{};
  auto err = write(*node, x.content, frame);
  if (!x.is_whole)
    mail_->learn(scratch_.size());
  if (err) {
    if (!mid.is_response())
      return reply_to(x.from, mid, std::move(err));
    // Who asked hears why there is no answer.
    if (write(*node, caf::make_message(std::move(err)), frame))
      return;
  }
  proxy->is_idle = false;
  frame.to = x.proxy->aid;
  frame.mid = x.mid;
  if (is_ours) {
    frame.from = id_of(x.from);
    frame.key = exports_.give(frame.from, x.from, node->name.rank);
  } else if (x.from) {
    peer_ = node;
    frame.far_from = pass_on(x.from);
  }
  if (asks_for_us)
    requests_.add(frame.from, x.from, mid, node->name.rank);
  ++counts_.sent;
  put(*node, frame);
  if (!mid.is_request() || !frame.far_from)
    return;
  // The node of who asked waits for another one now.
  remote_node* asker = nullptr;
  if (find_proxy(x.from, asker) != nullptr && asker != node) {
    node->passed_on_for.insert(asker->name.rank);
    put(*asker, moved_frame{x.from->aid, x.mid, node->name.rank});
  }
}

void gateway_desk::link(const proxy_linked& x) {
  remote_node* node = nullptr;
  if (find_proxy(x.proxy, node) == nullptr || !is_here(x.local))
    return;
  const auto pair = std::pair{name_of(x.local), x.proxy->aid};
  if (x.is_linked ? !node->links.insert(pair).second
                  : node->links.erase(pair) == 0)
    return;
  const auto id = id_of(x.local);
  const auto key =
    x.is_linked ? exports_.give(id, x.local, node->name.rank) : uint64_t{0};
  put(*node, link_frame{x.proxy->aid, id, key, x.is_linked});
}

void gateway_desk::end_exported(const exported_ended& x) {
  for (const auto rank : exports_.remove(x.id))
    if (const auto i = nodes_.find(rank); i != nodes_.end())
      put(*i->second, make_down(x.id, x.reason));
  requests_.drop_actor(x.id);
  foreign_.remove(x.id);
  for (auto i = published_.begin(); i != published_.end();)
    i = i->second.id == x.id ? published_.erase(i) : std::next(i);
}

// -- receiving ----------------------------------------------------------------

void gateway_desk::take(const actor_bundle& x) {
  if (auto* node = obtain_node({x.rank, x.incarnation})) {
    node->user = x.user;
    node->talk.take(*x.bytes, now());
    // It may have taken what kept others waiting.
    serve_waiters(*node);
    schedule_tick();
  }
}

caf::strong_actor_ptr gateway_desk::make(caf::node_id node, caf::actor_id id) {
  auto config = caf::actor_config{};
  return caf::make_actor<remote_proxy, caf::strong_actor_ptr>(
    id, std::move(node), &self_->home_system(), config, gateway_actor{self_},
    mail_);
}

caf::strong_actor_ptr gateway_desk::make_dead(const wire_handle& x) {
  auto result = make(make_member_node(x.node), x.id);
  static_cast<remote_proxy*>(result->get())
    ->kill_proxy(self_->context(), caf::exit_reason::unknown);
  return result;
}

/// A handle of a node's own actor, which it hands over.
caf::strong_actor_ptr gateway_desk::obtain(remote_node& node, caf::actor_id id,
                                           uint64_t key) {
  auto i = node.proxies.find(id);
  if (i == node.proxies.end()) {
    if (node.proxies.size() >= defaults::gateway_proxies)
      return make_dead({node.name, id, key});
    i = node.proxies.emplace(id, proxy_entry{}).first;
    i->second.handle = make(node.id, id);
  }
  i->second.key = key;
  ++i->second.given;
  i->second.is_idle = false;
  return i->second.handle;
}

/// What a message hands over, whether it is taken or not.
void gateway_desk::accept(remote_node& from,
                          const std::vector<given_handle>& given) {
  for (const auto& x : given)
    obtain(from, x.id, x.key);
}

/// A handle within a message.
caf::strong_actor_ptr gateway_desk::resolve(const wire_handle& x) {
  if (x.node == own_name()) {
    auto result = exports_.find_by_key(x.id, x.key);
    return result ? result : make_dead(x);
  }
  auto* node = obtain_node(x.node);
  if (node == nullptr)
    return make_dead(x);
  if (const auto i = node->proxies.find(x.id); i != node->proxies.end())
    return i->second.handle;
  // Its own node has handed it over before, or it has ended.
  if (node == peer_)
    return make_dead(x);
  auto result = obtain(*node, x.id, x.key);
  put(*node, watch_frame{x.id, x.key});
  return result;
}

caf::strong_actor_ptr gateway_desk::make_proxy(caf::node_id node,
                                               caf::actor_id id) {
  has_read_handles_ = true;
  const auto handle = handle_of(node, id);
  return handle ? resolve(*handle) : nullptr;
}

/// What a message says of the interfaces of actors of others.
void gateway_desk::learn(const std::vector<typed_handle>& typed) {
  for (const auto& x : typed) {
    auto* node = find_node({x.rank, x.incarnation});
    if (node == nullptr)
      continue;
    if (const auto i = node->proxies.find(x.id); i != node->proxies.end())
      i->second.get().learn(x.digests);
  }
}

known_interface
gateway_desk::interface_of(const caf::strong_actor_ptr& x) const {
  if (const auto id = known_id(x)) {
    const auto* known = exports_.interface_of(*id);
    return known != nullptr ? *known : known_interface{};
  }
  auto* proxy = dynamic_cast<remote_proxy*>(x->get());
  return proxy != nullptr ? proxy->interface() : known_interface{};
}

/// CAF builds typed handles of whatever actor they name.
/// @returns why one in a message must not be what its type says.
caf::error gateway_desk::check_handles(const caf::message& content) const {
  auto missing = std::string{};
  auto failure = types_.find_handles(
    content, [&](const caf::strong_actor_ptr& x, const handle_interface& type) {
      if (!missing.empty())
        return;
      if (const auto* first = interface_of(x).find_missing(type))
        missing = *first;
    });
  if (failure || missing.empty())
    return failure;
  return make_error(caf::sec::unexpected_actor_messaging_interface,
                    "a handle in the message is not what its type says: its "
                    "actor does not understand "
                      + missing + "; send one that does");
}

template <class Frame>
caf::expected<caf::message> gateway_desk::read(remote_node& from,
                                               const Frame& frame) {
  peer_ = &from;
  auto reader = content_reader{&unit_, types_, frame.content.bytes};
  auto result = reader.read();
  learn(frame.typed);
  if (std::exchange(has_read_handles_, false)) {
    forget_proxies(registry_);
    if (result)
      if (auto err = check_handles(*result))
        result = std::move(err);
  }
  if (!result)
    ++counts_.refused_content;
  return result;
}

void gateway_desk::take(remote_node& from, message_frame& x) {
  ++counts_.received;
  accept(from, x.given);
  const auto mid = caf::make_message_id(x.mid);
  auto sender = caf::strong_actor_ptr{};
  if (x.far_from) {
    const auto& far = *x.far_from;
    peer_ = &from;
    sender = resolve({{far.rank, far.incarnation}, far.id, far.key});
    // Our own request comes back to us: we answer it.
    if (sender && mid.is_request() && is_here(sender))
      requests_.end(far.id, mid);
  } else if (x.from != 0) {
    sender = obtain(from, x.from, x.key);
  }
  const auto target = exports_.find(x.to, from.name.rank);
  if (!target || mid.is_stream_message()) {
    ++counts_.refused_receiver;
    return reply_to(sender, mid, caf::sec::request_receiver_down);
  }
  if (mid.is_response() && !requests_.end(x.to, mid)) {
    ++counts_.late_answers;
    return;
  }
  auto content = read(from, x);
  if (!content) {
    note(severity::warning, "a message of node "
                              + std::to_string(from.name.rank)
                              + " is refused: " + reason_of(content.error()));
    if (!mid.is_response())
      return reply_to(sender, mid, std::move(content.error()));
    content = caf::make_message(std::move(content.error()));
  }
  target->enqueue(
    caf::make_mailbox_element(std::move(sender), mid, {}, std::move(*content)),
    self_->context());
}

void gateway_desk::take(remote_node& from, const watch_frame& x) {
  const auto is_barred = [&](const auto& y) {
    return y.second.id == x.id && !admits(y.second.who, &from);
  };
  if (std::any_of(published_.begin(), published_.end(), is_barred)
      || !exports_.claim(x.id, x.key, from.name.rank)) {
    ++counts_.refused_receiver;
    put(from, refused_watch_frame{x.id});
  }
}

void gateway_desk::take(remote_node& from, const refused_watch_frame& x) {
  const auto i = from.proxies.find(x.id);
  if (i == from.proxies.end())
    return;
  // It may have been handed over by its node meanwhile.
  if (i->second.given > 1)
    --i->second.given;
  else
    take(from, make_down(x.id, caf::exit_reason::unknown));
}

void gateway_desk::take(remote_node& from, const release_frame& x) {
  exports_.release(x.id, from.name.rank, x.count);
}

void gateway_desk::take(remote_node& from, const down_frame& x) {
  const auto i = from.proxies.find(x.id);
  if (i == from.proxies.end())
    return;
  auto entry = std::move(i->second);
  from.proxies.erase(i);
  for (auto j = from.links.begin(); j != from.links.end();)
    j = j->second == x.id ? from.links.erase(j) : std::next(j);
  drop(entry, error_of(x));
}

void gateway_desk::take(remote_node& from, const link_frame& x) {
  const auto mine = exports_.find(x.theirs, from.name.rank);
  if (x.is_linked)
    obtain(from, x.mine, x.key);
  const auto i = from.proxies.find(x.mine);
  if (i == from.proxies.end() || !mine)
    return;
  if (x.is_linked)
    i->second.get().link_by_remote(mine->get());
  else
    i->second.get().unlink_by_remote(mine->get());
}

void gateway_desk::take(remote_node& from, const moved_frame& x) {
  const auto lost =
    requests_.move(x.from, caf::make_message_id(x.mid), from.name.rank, x.rank);
  if (lost)
    fail({*lost}, "node " + std::to_string(x.rank) + " was lost");
}

void gateway_desk::take(remote_node& from, const lost_way_frame& x) {
  fail(requests_.drop_way(from.name.rank, x.rank),
       "what node " + std::to_string(from.name.rank) + " passed on is lost");
}

// -- names and kinds ----------------------------------------------------------

void gateway_desk::publish(publish_actor& x) {
  unpublish(x.name);
  const auto id = id_of(x.actor);
  exports_.keep(id, x.actor);
  exports_.announce(id, handle_interface{x.interface}.digests);
  published_[x.name] = {std::move(x.actor), id, std::move(x.interface),
                        std::move(x.who)};
}

void gateway_desk::unpublish(const std::string& name) {
  const auto i = published_.find(name);
  if (i == published_.end())
    return;
  const auto id = i->second.id;
  published_.erase(i);
  exports_.unkeep(id);
}

caf::expected<caf::strong_actor_ptr>
gateway_desk::find_published(const std::string& name, const remote_node* asker,
                             std::vector<std::string>& interface) {
  const auto i = published_.find(name);
  if (i == published_.end() || !admits(i->second.who, asker))
    return make_error(caf::sec::no_actor_published_at_port,
                      "nobody has published " + name
                        + " for this node; publish it first");
  interface = i->second.interface;
  return i->second.actor;
}

caf::expected<caf::strong_actor_ptr>
gateway_desk::spawn_here(const std::string& kind, const remote_node* asker,
                         const caf::message& arguments,
                         std::vector<std::string>& interface) {
  const auto i = kinds_.find(kind);
  if (i == kinds_.end() || !admits(i->second.who, asker))
    return make_error(caf::sec::no_actor_published_at_port,
                      "nobody has registered the kind " + kind
                        + " for this node; register it first");
  auto result = caf::strong_actor_ptr{};
  try {
    result = i->second.make(arguments);
  } catch (const std::exception& x) {
    return make_error(caf::sec::cannot_spawn_actor_from_arguments, x.what());
  }
  if (!result)
    return make_error(caf::sec::cannot_spawn_actor_from_arguments,
                      "the kind " + kind + " takes other arguments");
  interface = i->second.interface;
  return result;
}

caf::error check_interface(const std::vector<std::string>& has,
                           const std::vector<std::string>& needed) {
  const auto is_there = [&](const std::string& x) {
    return std::find(has.begin(), has.end(), x) != has.end();
  };
  // An actor without types may understand anything.
  if (has.empty())
    return caf::none;
  const auto i = std::find_if_not(needed.begin(), needed.end(), is_there);
  if (i == needed.end())
    return caf::none;
  return make_error(caf::sec::unexpected_actor_messaging_interface,
                    "the actor does not understand " + *i
                      + "; ask for one that does");
}

void gateway_desk::settle(search& x,
                          caf::expected<caf::strong_actor_ptr> found) {
  --x.waiting;
  if (found)
    x.reply.give(std::move(*found));
  else if (x.waiting == 0)
    x.reply.fail(std::move(found.error()));
}

void gateway_desk::ask(uint32_t rank, bool is_spawn, const std::string& name,
                       const caf::message& arguments,
                       const std::shared_ptr<search>& of) {
  const auto i = live_.find(rank);
  if (i == live_.end())
    return settle(
      *of, make_error(caf::sec::cannot_connect_to_node,
                      "node " + std::to_string(rank) + " is no member now"));
  auto& node = *obtain_node({rank, i->second});
  auto frame = ask_frame{};
  if (auto err = write(node, arguments, frame))
    return settle(*of, std::move(err));
  frame.number = ++last_question_;
  frame.is_spawn = is_spawn;
  frame.name = name;
  questions_[frame.number] = {rank, of};
  put(node, frame);
}

caf::result<caf::strong_actor_ptr> gateway_desk::look_up(lookup_actor& x) {
  auto promise = self_->make_response_promise<caf::strong_actor_ptr>();
  auto of = std::make_shared<search>();
  of->reply = answer<caf::strong_actor_ptr>{promise};
  of->interface = std::move(x.interface);
  of->waiting = x.rank ? 1 : live_.size() + 1;
  if (x.rank && *x.rank != settings_.rank) {
    ask(*x.rank, false, x.name, {}, of);
    return promise;
  }
  auto interface = std::vector<std::string>{};
  auto found = find_published(x.name, nullptr, interface);
  if (found)
    if (auto err = check_interface(interface, of->interface))
      found = std::move(err);
  const auto is_done = x.rank || found;
  settle(*of, std::move(found));
  if (!is_done)
    for (const auto& [rank, incarnation] : live_)
      ask(rank, false, x.name, {}, of);
  return promise;
}

caf::result<caf::strong_actor_ptr> gateway_desk::spawn(spawn_actor& x) {
  auto promise = self_->make_response_promise<caf::strong_actor_ptr>();
  auto of = std::make_shared<search>();
  of->reply = answer<caf::strong_actor_ptr>{promise};
  of->interface = std::move(x.interface);
  of->waiting = 1;
  if (x.rank != settings_.rank) {
    ask(x.rank, true, x.kind, x.arguments, of);
    return promise;
  }
  auto interface = std::vector<std::string>{};
  auto made = spawn_here(x.kind, nullptr, x.arguments, interface);
  if (made)
    if (auto err = check_interface(interface, of->interface))
      made = std::move(err);
  settle(*of, std::move(made));
  return promise;
}

void gateway_desk::add_kind(register_actor_kind& x) {
  auto name = x.name;
  kinds_.insert_or_assign(std::move(name), std::move(x));
}

void gateway_desk::take(remote_node& from, const ask_frame& x) {
  accept(from, x.given);
  auto frame = answer_frame{};
  frame.number = x.number;
  auto found = caf::expected<caf::strong_actor_ptr>{caf::sec::none};
  if (x.is_spawn) {
    auto arguments = read(from, x);
    if (arguments)
      found = spawn_here(x.name, &from, *arguments, frame.interface);
    else
      found = std::move(arguments.error());
  } else {
    found = find_published(x.name, &from, frame.interface);
  }
  const auto actor = found ? *found : caf::strong_actor_ptr{};
  auto content =
    found ? caf::make_message(actor) : caf::make_message(found.error());
  if (write(from, content, frame))
    return;
  // One that was spawned is known to others from now on.
  if (const auto id = actor ? known_id(actor) : std::nullopt)
    exports_.announce(*id, handle_interface{frame.interface}.digests);
  put(from, frame);
}

void gateway_desk::take(remote_node& from, answer_frame& x) {
  accept(from, x.given);
  const auto i = questions_.find(x.number);
  if (i == questions_.end() || i->second.rank != from.name.rank)
    return;
  const auto of = i->second.of;
  questions_.erase(i);
  auto content = read(from, x);
  auto found = caf::expected<caf::strong_actor_ptr>{
    make_error(caf::sec::unexpected_response, "no answer")};
  if (!content)
    found = std::move(content.error());
  else if (content->match_elements<caf::error>())
    found = content->get_mutable_as<caf::error>(0);
  else if (content->match_elements<caf::strong_actor_ptr>())
    found = content->get_as<caf::strong_actor_ptr>(0);
  if (found)
    if (auto err = check_interface(x.interface, of->interface))
      found = std::move(err);
  if (found && *found)
    if (auto* proxy = dynamic_cast<remote_proxy*>((*found)->get()))
      proxy->learn(handle_interface{std::move(x.interface)}.digests);
  settle(*of, std::move(found));
}

// -- room and gauges -----------------------------------------------------------

caf::result<ack> gateway_desk::await(const await_room& x) {
  auto promise = self_->make_response_promise<ack>();
  auto reply = answer<ack>{promise};
  const auto i = nodes_.find(x.rank);
  // Half of the queue: who waits shall not be refused at once.
  if (i == nodes_.end()
      || i->second->talk.waiting() <= settings_.queue_bytes / 2)
    reply.give({});
  else
    i->second->waiters.push_back(std::move(reply));
  return promise;
}

void gateway_desk::serve_waiters(remote_node& node) {
  if (node.waiters.empty() || node.talk.waiting() > settings_.queue_bytes / 2)
    return;
  for (auto& x : std::exchange(node.waiters, {}))
    x.give({});
}

gauge_list gateway_desk::gauges() const {
  size_t proxies = 0;
  size_t waiting = 0;
  size_t links = 0;
  for (const auto& [rank, node] : nodes_) {
    proxies += node->proxies.size();
    waiting += node->talk.waiting();
    links += node->links.size();
  }
  auto result = gauge_list{};
  const auto add = [&](const char* name, uint64_t value, uint64_t bound,
                       const char* unit) {
    result.gauges.push_back(
      {std::string{"gateway."} + name, value, bound, unit});
  };
  add("proxies", proxies, defaults::gateway_proxies * nodes_.size(), "actors");
  add("exported", exports_.size(), 0, "actors");
  add("foreign", foreign_.size(), 0, "actors");
  add("published", published_.size(), 0, "names");
  add("links", links, 0, "links");
  add("requests", requests_.size(), defaults::gateway_requests, "requests");
  add("questions", questions_.size(), 0, "requests");
  add("waiting", waiting, settings_.queue_bytes * nodes_.size(), "bytes");
  add("mail", mail_->waiting(), mail_->most(), "messages");
  add("mail_bytes", mail_->bytes(), mail_->most_bytes(), "bytes");
  add("sent", counts_.sent, 0, "messages");
  add("received", counts_.received, 0, "messages");
  add("bundles", counts_.bundles, 0, "bundles");
  add("refused_content", counts_.refused_content, 0, "messages");
  add("refused_receiver", counts_.refused_receiver, 0, "messages");
  add("refused_full", counts_.refused_full + mail_->refused(), 0, "messages");
  add("late_answers", counts_.late_answers, 0, "messages");
  add("conversations_ended", counts_.conversations_ended, 0, "conversations");
  return result;
}

// -- everything ----------------------------------------------------------------

gateway_actor::behavior_type behavior(self_pointer self,
                                      const gateway_settings& settings) {
  self->state.desk = std::make_unique<gateway_desk>(self, settings);
  auto* desk = self->state.desk.get();
  self->set_exit_handler([self, desk](caf::exit_msg& x) {
    desk->stop();
    self->quit(std::move(x.reason));
  });
  auto handlers = gateway_actor::behavior_type{
    [=](proxy_message& x) { desk->send(x); },
    [=](const actor_bundle& x) { desk->take(x); },
    [=](flush_gateway) { desk->flush(); },
    [=](const proxy_linked& x) { desk->link(x); },
    [=](const exported_ended& x) { desk->end_exported(x); },
    [=](const member_changed& x) { desk->change(x); },
    [=](publish_actor& x) -> caf::result<ack> {
      if (!x.actor)
        return caf::sec::cannot_publish_invalid_actor;
      if (desk->is_strange(x.actor))
        return make_error(status::not_supported, strange);
      desk->publish(x);
      return ack{};
    },
    [=](const unpublish_actor& x) {
      desk->unpublish(x.name);
      return ack{};
    },
    [=](lookup_actor& x) { return desk->look_up(x); },
    [=](spawn_actor& x) { return desk->spawn(x); },
    [=](register_actor_kind& x) {
      desk->add_kind(x);
      return ack{};
    },
    [=](const allow_types& x) { desk->add_types(x); },
    [=](const await_room& x) { return desk->await(x); },
    [=](get_gauges) { return desk->gauges(); },
    [=](const deadline&) { desk->tick(); },
  };
  return sturdy(self, std::move(handlers));
}

} // namespace

gateway_actor spawn_gateway(caf::actor_system& sys, gateway_settings settings) {
  return sys.spawn(behavior, std::move(settings));
}

} // namespace troupe
