#include "actors/mesh/remoting/remote_proxy.hpp"

#include "messages/remoting.hpp"
#include "messages/status.hpp"

#include <caf/actor_cast.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/make_message.hpp>
#include <caf/send.hpp>

namespace troupe {

remote_proxy::remote_proxy(caf::actor_config& cfg, gateway_actor gateway,
                           std::shared_ptr<gateway_mail> mail)
  : caf::actor_proxy(cfg), gateway_(std::move(gateway)),
    mail_(std::move(mail)) {
  // nop
}

const char* remote_proxy::name() const {
  return "remote-proxy";
}

void remote_proxy::enqueue(caf::mailbox_element_ptr what,
                           caf::execution_unit* unit) {
  const auto refuse = [&](caf::error why) {
    if (what->mid.is_request() && what->sender)
      what->sender->enqueue(nullptr, what->mid.response_id(),
                            caf::make_message(std::move(why)), unit);
  };
  if (getf(is_terminated_flag))
    return refuse(caf::sec::request_receiver_down);
  if (!what->stages.empty())
    return refuse(make_error(status::not_supported,
                             "composed actors have to be on one node"));
  if (mail_->waiting.fetch_add(1, std::memory_order_relaxed) >= mail_->most) {
    mail_->waiting.fetch_sub(1, std::memory_order_relaxed);
    mail_->refused.fetch_add(1, std::memory_order_relaxed);
    return refuse(make_error(status::out_of_resource,
                             "too many messages wait for the gateway"));
  }
  auto content = what->move_content_to_message();
  auto message = proxy_message{ctrl(), std::move(what->sender),
                               what->mid.integer_value(), std::move(content)};
  gateway_->enqueue(caf::make_mailbox_element(nullptr, caf::make_message_id(),
                                              {}, std::move(message)),
                    unit);
}

bool remote_proxy::add_backlink(caf::abstract_actor* x) {
  if (!monitorable_actor::add_backlink(x))
    return false;
  tell_link(x, true);
  return true;
}

bool remote_proxy::remove_backlink(caf::abstract_actor* x) {
  if (!monitorable_actor::remove_backlink(x))
    return false;
  tell_link(x, false);
  return true;
}

void remote_proxy::kill_proxy(caf::execution_unit* unit, caf::error why) {
  cleanup(std::move(why), unit);
}

void remote_proxy::link_by_remote(caf::abstract_actor* x) {
  exclusive_critical_section([&] { monitorable_actor::add_backlink(x); });
}

void remote_proxy::unlink_by_remote(caf::abstract_actor* x) {
  exclusive_critical_section([&] { monitorable_actor::remove_backlink(x); });
}

bool remote_proxy::is_watched() {
  return shared_critical_section([&] { return attachables_head_ != nullptr; });
}

void remote_proxy::learn(const std::vector<uint64_t>& digests) {
  exclusive_critical_section([&] { interface_.add(digests); });
}

known_interface remote_proxy::interface() {
  return shared_critical_section([&] { return interface_; });
}

void remote_proxy::tell_link(caf::abstract_actor* x, bool is_linked) {
  caf::anon_send(gateway_, proxy_linked{ctrl(), x->ctrl(), is_linked});
}

} // namespace troupe
