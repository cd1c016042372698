#include "actors/io/input_queue.hpp"

#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// The request for a piece: whoever says where the first byte stands means that
/// of the whole, and what ends the input ends it after the last piece.
io_push_request piece_of(const io_push_request& whole, size_t begin,
                         size_t size) {
  auto result = io_push_request{whole.targets, whole.directives, {}};
  if (!whole.bytes)
    return result;
  result.bytes = whole.bytes->substr(begin, size);
  if (begin + size < whole.bytes->size())
    result.directives.erase(
      std::remove_if(result.directives.begin(), result.directives.end(),
                     [](const info& x) { return x.key == attr::iof_complete; }),
      result.directives.end());
  for (auto& x : result.directives)
    if (auto* at = std::get_if<uint64_t>(&x.val.data);
        at != nullptr && x.key == io_offset_key)
      *at += begin;
  return result;
}

} // namespace

input_queue::input_queue(sender send) : send_(std::move(send)) {
  // nop
}

void input_queue::push(io_push_request x, callback done) {
  const auto to = x.targets;
  if (x.bytes && x.bytes->empty())
    x.bytes.reset();
  waiting_[to].push_back({std::move(x), 0, std::move(done)});
  send_next(to);
}

bool input_queue::is_idle(const std::vector<proc_id>& to) const {
  return waiting_.count(to) == 0;
}

void input_queue::send_next(const targets& to) {
  const auto i = waiting_.find(to);
  if (i == waiting_.end() || is_stopped_ || !on_their_way_.insert(to).second)
    return;
  const auto& x = i->second.front();
  const auto left = x.request.bytes ? x.request.bytes->size() - x.position : 0;
  const auto size = std::min(left, defaults::io_fragment_bytes);
  send_(piece_of(x.request, x.position, size),
        [to, size, weak = weak_from_this()](const caf::error& why) {
          if (const auto self = weak.lock())
            self->on_answer(to, size, why);
        });
}

void input_queue::on_answer(const targets& to, size_t size,
                            const caf::error& why) {
  on_their_way_.erase(to);
  const auto i = waiting_.find(to);
  if (i == waiting_.end())
    return;
  const auto is_last_piece = why && status_of(why) == taken_and_stopped;
  const auto has_failed = why && !is_last_piece;
  is_stopped_ = is_stopped_ || is_last_piece;
  auto& first = i->second.front();
  first.position += size;
  if (has_failed || !first.request.bytes
      || first.position == first.request.bytes->size()) {
    const auto done = std::move(first.done);
    i->second.pop_front();
    if (i->second.empty())
      waiting_.erase(i);
    if (done)
      done(has_failed ? why : caf::error{});
  }
  send_next(to);
}

void input_queue::stop() {
  is_stopped_ = true;
}

void input_queue::go_on() {
  is_stopped_ = false;
  auto all = std::vector<targets>{};
  for (const auto& x : waiting_)
    all.push_back(x.first);
  for (const auto& to : all)
    send_next(to);
}

void input_queue::close() {
  for (auto& [to, items] : std::exchange(waiting_, {}))
    for (auto& x : items)
      if (x.done)
        x.done(make_error(status::unreach, "the library is finalized"));
}

} // namespace troupe
