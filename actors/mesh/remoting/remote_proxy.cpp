#include "actors/mesh/remoting/remote_proxy.hpp"

#include "messages/remoting.hpp"
#include "messages/status.hpp"

#include <caf/actor_cast.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/make_message.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

} // namespace

bool gateway_mail::enter() {
  if (waiting_.fetch_add(1, relaxed) < most_)
    return true;
  waiting_.fetch_sub(1, relaxed);
  refused_.fetch_add(1, relaxed);
  return false;
}

bool gateway_mail::add(const caf::type_erased_tuple& content,
                       content_size& size) {
  size = {};
  if (waiting() <= defaults::gateway_mail_uncounted)
    return true;
  auto found = count_content(content, most_bytes_);
  // One alone has room: else a large one would keep them all out, for good.
  if (!found.is_whole)
    found.bytes = std::max<uint64_t>(
      found.bytes, std::min(guess_.load(relaxed), most_bytes_));
  // What has no room is not in there for a moment either: others may have some.
  auto before = bytes_.load(relaxed);
  do {
    if (found.bytes > most_bytes_ - before) {
      refused_.fetch_add(1, relaxed);
      return false;
    }
  } while (
    !bytes_.compare_exchange_weak(before, before + found.bytes, relaxed));
  size = found;
  return true;
}

void gateway_mail::leave(const content_size& size) {
  waiting_.fetch_sub(1, relaxed);
  bytes_.fetch_sub(size.bytes, relaxed);
}

void gateway_mail::learn(uint64_t bytes) {
  const auto before = guess_.load(relaxed);
  guess_.store(
    std::max({bytes, before - before / 8, defaults::gateway_mail_guess}),
    relaxed);
}

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
                             "composed actors (caf::actor f * g) have to be on "
                             "one node; ask one after the other"));
  if (!mail_->enter())
    return refuse(make_error(status::out_of_resource,
                             "too many messages wait for the gateway; ask it "
                             "for room first (troupe::await_room)"));
  auto content = what->move_content_to_message();
  auto size = content_size{};
  if (!mail_->add(content, size)) {
    auto why = make_error(status::out_of_resource,
                          "too many bytes wait for the gateway; ask it for "
                          "room first (troupe::await_room)");
    if (!what->mid.is_response()) {
      mail_->leave(size);
      return refuse(std::move(why));
    }
    // Who asked hears why there is no answer.
    content = caf::make_message(std::move(why));
  }
  auto message = proxy_message{};
  message.proxy = ctrl();
  message.from = std::move(what->sender);
  message.mid = what->mid.integer_value();
  message.content = std::move(content);
  message.bytes = size.bytes;
  message.is_whole = size.is_whole;
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
