// What a fence costs over thousands of nodes: the collectives of as many nodes
// in one process, in virtual time. Each message costs its sender a while, one
// after the other, and each byte a little; then it is on its way.
// Source: guarantees, section 7.

#include "actors/mesh/exchange/mesh_collectives.hpp"
#include "config/defaults.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <queue>
#include <string>
#include <vector>

namespace {

using namespace troupe;

/// In microseconds, as in the model of section 7: 40 us to another node, 5 us
/// per message, 25 Gbit/s.
constexpr auto latency = 40.0;
constexpr auto overhead = 5.0;
constexpr auto per_byte = 0.00032;

constexpr auto job = "job";

struct figures {
  double microseconds = 0;
  size_t messages = 0;

  /// By the node that sends most.
  size_t most_messages = 0;
  size_t most_bytes = 0;
  size_t peers = 0;
  size_t operations_left = 0;
};

class world {
public:
  world(uint32_t size, uint32_t radix)
    : sent_(size), bytes_(size), busy_(size) {
    auto map = job_map{};
    map.nspace = job;
    map.number = 1;
    for (auto rank = uint32_t{0}; rank < size; ++rank)
      map.shares.push_back({rank, "n" + std::to_string(rank), {{rank, 0, {}}}});
    places_.add(map);
    for (auto rank = uint32_t{0}; rank < size; ++rank) {
      auto effects = mesh_collectives::effects{};
      effects.tell = [this, rank](uint32_t to, host_question what) {
        send(rank, to, std::move(what));
      };
      effects.locate = [](const std::string&) {};
      effects.is_live = [](uint32_t) { return true; };
      nodes_.push_back(std::make_unique<mesh_collectives>(
        rank, places_, std::move(effects), radix));
    }
  }

  /// All processes fence, with `bytes` of data each.
  figures fence(uint64_t generation, size_t bytes) {
    const auto begin = now_;
    auto done = size_t{0};
    std::fill(sent_.begin(), sent_.end(), 0);
    std::fill(bytes_.begin(), bytes_.end(), 0);
    for (auto rank = uint32_t{0}; rank < nodes_.size(); ++rank) {
      auto call = host_collective{};
      call.procs = {{job, rank_wildcard}};
      call.generation = generation;
      if (bytes > 0) {
        auto entry = proc_data{};
        entry.proc = {job, rank};
        entry.entries.push_back(
          {"key", value::string(std::string(bytes, 'x'))});
        call.data.push_back(std::move(entry));
      }
      nodes_[rank]->join(std::move(call), [&](auto outcome) {
        if (!outcome) {
          std::fprintf(stderr, "a fence of %zu nodes failed\n", nodes_.size());
          std::exit(1);
        }
        ++done;
      });
    }
    while (!events_.empty()) {
      auto x = std::move(const_cast<event&>(events_.top()));
      events_.pop();
      now_ = x.at;
      if (auto* part = std::get_if<collective_part>(&x.what))
        nodes_[x.to]->take(x.from, std::move(*part));
      else if (auto* end = std::get_if<collective_outcome>(&x.what))
        nodes_[x.to]->take(x.from, std::move(*end));
    }
    if (done != nodes_.size()) {
      std::fprintf(stderr, "%zu of %zu nodes have an outcome\n", done,
                   nodes_.size());
      std::exit(1);
    }
    auto result = figures{};
    result.microseconds = now_ - begin;
    for (const auto x : sent_) {
      result.messages += x;
      result.most_messages = std::max(result.most_messages, x);
    }
    result.most_bytes = *std::max_element(bytes_.begin(), bytes_.end());
    for (const auto& x : nodes_)
      result.operations_left += x->open();
    return result;
  }

private:
  struct event {
    double at = 0;
    uint64_t order = 0;
    uint32_t from = 0;
    uint32_t to = 0;
    host_question what;
  };

  struct later {
    bool operator()(const event& x, const event& y) const {
      return x.at != y.at ? x.at > y.at : x.order > y.order;
    }
  };

  static size_t size_of(const host_question& what) {
    auto result = size_t{64};
    const auto add = [&](const std::vector<node_data>& data) {
      for (const auto& x : data)
        result += x.procs.size() + 8;
    };
    if (const auto* part = std::get_if<collective_part>(&what)) {
      add(part->data);
      result += part->joined.size() / 8;
    } else if (const auto* end = std::get_if<collective_outcome>(&what))
      add(end->data);
    return result;
  }

  void send(uint32_t from, uint32_t to, host_question what) {
    auto& busy = busy_[from];
    const auto bytes = size_of(what);
    busy =
      std::max(busy, now_) + overhead + per_byte * static_cast<double>(bytes);
    ++sent_[from];
    bytes_[from] += bytes;
    events_.push({busy + latency, next_++, from, to, std::move(what)});
  }

  job_locations places_;
  std::vector<std::unique_ptr<mesh_collectives>> nodes_;
  std::vector<size_t> sent_;
  std::vector<size_t> bytes_;
  std::vector<double> busy_;
  std::priority_queue<event, std::vector<event>, later> events_;
  double now_ = 0;
  uint64_t next_ = 0;
};

/// Steps from the root to the node that is deepest.
uint32_t depth_of(uint32_t size, uint32_t radix) {
  auto result = uint32_t{0};
  for (auto x = size - 1; x > 0; x = (x - 1) / radix)
    ++result;
  return result;
}

/// What the model says of a barrier: up the tree, where each sends once, and
/// down again.
double expected(uint32_t size, uint32_t radix) {
  const auto depth = depth_of(size, radix);
  const auto message = overhead + 64 * per_byte;
  return depth * (latency + message) + depth * (latency + radix * message);
}

} // namespace

int main(int argc, char** argv) {
  constexpr auto radix = defaults::tree_radix;
  auto sizes =
    std::vector<uint32_t>{64, 512, 1000, 4096, 4681, 8000, 10000, 100000};
  if (argc > 1 && std::string{argv[1]} == "--quick")
    sizes = {8, 9, 64, 72, 73, 512, 1000};
  std::printf("| nodes | fence, us | model, us | us per log2 N | messages per "
              "node | most of one | bytes of it | fence of 64 B each, us |\n"
              "|--:|--:|--:|--:|--:|--:|--:|--:|\n");
  auto broken = 0;
  for (const auto size : sizes) {
    auto all = world{size, radix};
    all.fence(1, 0);
    const auto plain = all.fence(2, 0);
    const auto with_data = size <= 1000 ? all.fence(3, 64).microseconds : 0.0;
    const auto model = expected(size, radix);
    std::printf("| %u | %.0f | %.0f | %.1f | %.2f | %zu | %zu | %s |\n", size,
                plain.microseconds, model, plain.microseconds / std::log2(size),
                static_cast<double>(plain.messages) / size, plain.most_messages,
                plain.most_bytes,
                with_data > 0
                  ? std::to_string(static_cast<int>(with_data)).c_str()
                  : "-");
    const auto off = std::abs(plain.microseconds - model) / model;
    if (off > 0.15 || plain.most_messages > 2 * (radix + 1)
        || plain.messages > 2 * (size_t{size} + radix)
        || plain.operations_left > 0) {
      std::fprintf(stderr, "%u nodes: out of bounds\n", size);
      broken = 1;
    }
  }
  return broken;
}
