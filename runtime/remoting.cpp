#include "runtime/remoting.hpp"

#include "actors/mesh/remoting/gateway.hpp"
#include "actors/mesh/remoting/member_node.hpp"
#include "actors/mesh/remoting/remote_proxy.hpp"
#include "adapters/hwloc/allowed_processors.hpp"
#include "adapters/loop/event_loop.hpp"
#include "messages/memory_source.hpp"
#include "runtime/loop_wait.hpp"
#include "runtime/mesh_member.hpp"
#include "runtime/mesh_sources.hpp"

#include <caf/actor_registry.hpp>
#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

namespace {

struct lone_user_state {
  static inline const char* name = "lone-user";
};

/// For a member that runs nothing: whoever is lost has run nothing.
mesh_user_actor::behavior_type
lone_user(mesh_user_actor::stateful_pointer<lone_user_state>) {
  return {
    [](const member_message&) {},
    [](const member_changed&) {},
    [](const member_fenced&) {},
    [](const mesh_duty_changed&) {},
  };
}

} // namespace

std::unique_ptr<remoting> remoting::start(loop_system& loop,
                                          const mesh_member& member,
                                          remoting_options options) {
  auto settings = gateway_settings{};
  settings.rank = member.rank();
  settings.incarnation = member.incarnation();
  settings.user = member.user();
  settings.node = member.node();
  settings.random = random_number;
  settings.queue_bytes = options.queue_bytes;
  settings.message_bytes = options.message_bytes;
  settings.log = std::move(options.log);
  auto result = std::unique_ptr<remoting>{new remoting};
  result->loop_ = &loop;
  result->gateway_ = spawn_gateway(loop.actors(), std::move(settings));
  loop.actors().registry().put(gateway_source, result->gateway_);
  caf::anon_send(member.node(), result->gateway_);
  if (options.is_alone) {
    caf::anon_send(member.node(), loop.actors().spawn(lone_user));
    if (allowed_processors().size() > 1) {
      loop.loop().set_look(options.look);
      result->looks_ = true;
    }
  }
  return result;
}

remoting::~remoting() {
  loop_->actors().registry().erase(gateway_source);
  caf::anon_send_exit(gateway_, caf::exit_reason::user_shutdown);
  if (!looks_)
    return;
  auto& loop = loop_->loop();
  const auto look_no_more = [&loop] { loop.set_look({}); };
  if (loop.turns() % 2 == 0 || loop.in_loop_thread())
    look_no_more();
  else
    loop.post(look_no_more);
}

void remoting::accept(std::vector<wire_type> types) {
  caf::anon_send(gateway_, allow_types{std::move(types)});
}

void remoting::publish(publish_actor what) {
  caf::anon_send(gateway_, std::move(what));
}

void remoting::unpublish(std::string name) {
  caf::anon_send(gateway_, unpublish_actor{std::move(name)});
}

void remoting::register_kind(register_actor_kind what) {
  caf::anon_send(gateway_, std::move(what));
}

caf::error remoting::check(const caf::strong_actor_ptr& x,
                           const handle_interface& needed) {
  auto* proxy = x ? dynamic_cast<remote_proxy*>(x->get()) : nullptr;
  return proxy != nullptr ? proxy->interface().check(needed) : caf::error{};
}

template <class Question>
caf::expected<caf::strong_actor_ptr>
remoting::ask_gateway(Question what, std::chrono::nanoseconds wait) {
  if (loop_->loop().in_loop_thread())
    return make_error(status::would_block,
                      "the thread of the loop must not block: ask gateway()");
  auto result = caf::expected<caf::strong_actor_ptr>{caf::sec::none};
  auto self = caf::scoped_actor{loop_->actors()};
  auto reply = self->request(gateway_, caf::duration{wait}, std::move(what));
  if (auto why = await_mail(self, *loop_))
    return why;
  reply.receive([&](caf::strong_actor_ptr& x) { result = std::move(x); },
                [&](caf::error& x) { result = std::move(x); });
  return result;
}

caf::expected<caf::strong_actor_ptr>
remoting::ask(lookup_actor what, std::chrono::nanoseconds wait) {
  return ask_gateway(std::move(what), wait);
}

caf::expected<caf::strong_actor_ptr>
remoting::ask(spawn_actor what, std::chrono::nanoseconds wait) {
  return ask_gateway(std::move(what), wait);
}

std::optional<uint32_t> rank_of(const caf::node_id& node) {
  const auto name = member_of(node);
  if (!name)
    return std::nullopt;
  return name->rank;
}

} // namespace troupe
