#include "actors/mesh/remoting/conversation.hpp"

#include "messages/status.hpp"

#include <utility>

namespace troupe {

namespace {

/// What stands beside the content of most frames, at most.
constexpr size_t frame_fields = 1024;

/// About how long the content of a frame is.
size_t content_of(const gateway_frame& x) {
  const auto* message = std::get_if<message_frame>(&x);
  return message != nullptr ? message->content.bytes.size() : 0;
}

} // namespace

void conversation::put(const gateway_frame& x) {
  if (gathered_.empty())
    begin_bundle(gathered_);
  // A few long ones would have it moved with each.
  if (const auto size = content_of(x);
      size > defaults::gateway_bundle / 16
      && gathered_.capacity() - gathered_.size() < size + frame_fields)
    gathered_.reserve(defaults::gateway_bundle + size + frame_fields);
  append_frame(gathered_, x);
  if (!std::holds_alternative<taken_frame>(x))
    gathered_counts_ = true;
  if (gathered_.size() < defaults::gateway_bundle)
    return;
  close_bundle();
  pump();
}

void conversation::flush(time_point now) {
  close_bundle();
  if (waiting_.empty())
    return;
  if (phase_ == phase::silent) {
    greetings_ = 0;
    greet(now);
  }
  pump();
}

void conversation::take(const std::string& bundle, time_point now) {
  const auto header = header_of(bundle);
  if (!header)
    return break_off("it has sent what is no bundle", now);
  const auto is_ours = header->mine == theirs_ && header->yours == mine_;
  if (header->number > 0 && (phase_ != phase::open || !is_ours)) {
    // Of a conversation that is over: the other side hears so when it is
    // greeted, which it has been unless we are silent.
    if (phase_ != phase::greeting)
      break_off("it goes on with a conversation that is over", now);
    return;
  }
  if (header->number > 0 && header->number != received_ + 1)
    return break_off("messages were lost", now);
  auto reader = bundle_reader{bundle};
  if (header->number == 0) {
    auto frame = reader.next();
    const auto* x =
      frame && *frame ? std::get_if<greeting_frame>(&**frame) : nullptr;
    if (x == nullptr || x->mine == 0)
      return break_off("it has sent what is no greeting", now);
    return take_greeting(*x, now);
  }
  ++received_;
  const auto number = mine_;
  auto counts = false;
  auto asks = false;
  // What a frame causes may end the conversation.
  while (number == mine_ && phase_ == phase::open) {
    auto frame = reader.next();
    if (!frame)
      return break_off("it has sent " + reason_of(frame.error()), now);
    if (!*frame)
      break;
    if (const auto* x = std::get_if<taken_frame>(&**frame)) {
      if (x->bytes > sent_bytes_)
        return break_off("it has taken more than was sent", now);
      taken_bytes_ = std::max(taken_bytes_, x->bytes);
      asks = asks || x->asks;
    } else {
      counts = true;
      out_.take(**frame);
    }
  }
  if (number != mine_ || phase_ != phase::open)
    return;
  if (counts)
    received_bytes_ += bundle.size();
  if (asks || received_bytes_ - told_bytes_ >= window_ / 4)
    tell(false);
  pump();
}

void conversation::tick(time_point now) {
  if (phase_ == phase::open
      && (sent_bytes_ != taken_bytes_ || received_bytes_ != told_bytes_))
    tell(sent_bytes_ != taken_bytes_);
  if (phase_ != phase::greeting || now < greet_until_)
    return;
  ++mine_;
  stop("it has no gateway that answers");
  if (greetings_ < defaults::gateway_greetings)
    greet(now);
}

void conversation::tell(bool asks) {
  told_bytes_ = received_bytes_;
  put(taken_frame{received_bytes_, asks});
  close_bundle();
  pump();
}

void conversation::greet(time_point now) {
  phase_ = phase::greeting;
  ++greetings_;
  greet_until_ = now + defaults::gateway_greeting_wait;
  auto bytes = std::string{};
  begin_bundle(bytes);
  append_frame(bytes, greeting_frame{gateway_version, mine_, theirs_});
  put_header(bytes, {mine_, theirs_, 0});
  out_.send(std::make_shared<const std::string>(std::move(bytes)));
}

void conversation::take_greeting(const greeting_frame& x, time_point now) {
  if (x.version != gateway_version)
    return stop("its gateway is of version " + std::to_string(x.version));
  if (x.mine != theirs_) {
    // Also of one that we never heard of: it may have dropped what others wait for.
    if (theirs_ != 0 || x.mine > 1)
      stop("it has begun another conversation");
    theirs_ = x.mine;
  }
  const auto is_known = x.yours == mine_;
  if (!is_known)
    greet(now);
  phase_ = phase::open;
  pump();
}

void conversation::break_off(const std::string& why, time_point now) {
  ++mine_;
  stop(why);
  greetings_ = 0;
  greet(now);
}

void conversation::stop(const std::string& why) {
  phase_ = phase::silent;
  theirs_ = 0;
  sent_ = received_ = 0;
  sent_bytes_ = taken_bytes_ = received_bytes_ = told_bytes_ = 0;
  gathered_.clear();
  gathered_counts_ = false;
  waiting_.clear();
  waiting_bytes_ = 0;
  out_.end(why);
}

void conversation::close_bundle() {
  if (gathered_.empty())
    return;
  waiting_bytes_ += gathered_.size();
  waiting_.push_back(
    {std::make_shared<std::string>(std::exchange(gathered_, {})),
     std::exchange(gathered_counts_, false)});
}

void conversation::pump() {
  while (phase_ == phase::open && !waiting_.empty()) {
    auto& next = waiting_.front();
    const auto size = next.bytes->size();
    const auto on_their_way = sent_bytes_ - taken_bytes_;
    if (next.counts && on_their_way > 0 && on_their_way + size > window_)
      return;
    put_header(*next.bytes, {mine_, theirs_, ++sent_});
    if (next.counts)
      sent_bytes_ += size;
    waiting_bytes_ -= size;
    auto bytes = std::move(next.bytes);
    waiting_.pop_front();
    out_.send(std::move(bytes));
  }
}

} // namespace troupe
