#include "bench/scale/network.hpp"

#include "messages/mesh_payload.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

namespace {

size_t used = 0;
size_t most_used = 0;

} // namespace

// What the program has on the heap is counted as it comes and goes.
void* operator new(size_t size) {
  auto* result = std::malloc(size);
  if (result == nullptr)
    throw std::bad_alloc{};
  used += malloc_usable_size(result);
  most_used = std::max(most_used, used);
  return result;
}

void operator delete(void* x) noexcept {
  if (x != nullptr)
    used -= malloc_usable_size(x);
  std::free(x);
}

void operator delete(void* x, size_t) noexcept {
  operator delete(x);
}

namespace troupe::scale {

namespace {

/// Lengths, numbers and seals of what goes around a message.
constexpr size_t frame_bytes = 64;

} // namespace

size_t size_of(const host_question& what) {
  return frame_bytes
         + to_payload(host_message{host_call{1, 0, 0, {}, {}, what}}).size();
}

size_t size_of(const host_reply& what) {
  return frame_bytes
         + to_payload(host_message{host_answer{1, what, {}}}).size();
}

size_t memory_now() {
  return used;
}

size_t memory_peak() {
  return most_used;
}

void mark_memory() {
  most_used = used;
}

network::network(uint32_t size, const costs& what)
  : costs_(what), busy_(size), messages_(size), bytes_(size) {
  // nop
}

double network::occupy(uint32_t node, size_t bytes) {
  auto& busy = busy_[node];
  busy = std::max(busy, now_) + costs_.message
         + costs_.byte * static_cast<double>(bytes);
  ++messages_[node];
  bytes_[node] += bytes;
  return busy;
}

void network::push(double at, action what) {
  events_.push({at, next_++, std::move(what)});
}

void network::send(uint32_t from, uint32_t to, size_t bytes, action arrive) {
  const auto leaves = occupy(from, bytes);
  push(leaves + costs_.latency,
       [this, to, bytes, arrive = std::move(arrive)]() mutable {
         push(occupy(to, bytes), std::move(arrive));
       });
}

void network::ask(
  uint32_t from, uint32_t to, host_question what,
  std::function<void(host_question&, std::function<void(host_reply)>)>
    carry_out,
  std::function<void(host_reply)> then) {
  const auto bytes = size_of(what);
  const auto keep = std::make_shared<host_question>(std::move(what));
  send(from, to, bytes,
       [this, from, to, keep, carry_out = std::move(carry_out),
        then = std::move(then)] {
         carry_out(*keep, [this, from, to, then](host_reply x) {
           const auto bytes = size_of(x);
           send(to, from, bytes,
                [then, x = std::move(x)]() mutable { then(std::move(x)); });
         });
       });
}

void network::after(double delay, action what) {
  push(now_ + delay, std::move(what));
}

void network::run() {
  while (!events_.empty()) {
    auto x = std::move(const_cast<event&>(events_.top()));
    events_.pop();
    now_ = x.at;
    x.what();
  }
}

void network::start() {
  begin_ = end_ = now_;
  std::fill(messages_.begin(), messages_.end(), 0);
  std::fill(bytes_.begin(), bytes_.end(), 0);
  mark_memory();
  memory_ = memory_now();
}

figures network::count() const {
  auto result = figures{};
  result.microseconds = end_ - begin_;
  for (const auto x : messages_)
    result.messages += x;
  // Each has been sent and taken.
  result.messages /= 2;
  result.most_messages = *std::max_element(messages_.begin(), messages_.end());
  result.most_bytes = *std::max_element(bytes_.begin(), bytes_.end());
  result.memory = memory_peak() - memory_;
  return result;
}

} // namespace troupe::scale
