// What fences, events, groups and jobs cost over thousands of nodes: the classes
// that decide them, of as many nodes, in one process and in virtual time. Each
// message costs its sender a while, one after the other, and each byte a little;
// then it is on its way. With everything but fences it costs the one that takes
// it as much.
// Source: guarantees, section 7.

#include "actors/mesh/exchange/mesh_collectives.hpp"
#include "bench/scale/orders.hpp"
#include "bench/scale/spawns.hpp"
#include "config/defaults.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace troupe;

using scale::costs;

/// The model of section 7: 40 us to another node, 5 us per message, 25 Gbit/s.
constexpr auto model = costs{};

/// What a message costs the daemons of today at either end: those of eight nodes
/// take 1.8 ms of processor time for the 16 frames of a fence (bench/README.md).
constexpr auto measured = costs{40, 56, 0.00032};

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
  world(uint32_t size, uint32_t radix, const costs& what)
    : costs_(what), sent_(size), bytes_(size), busy_(size) {
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
    busy = std::max(busy, now_) + costs_.message
           + costs_.byte * static_cast<double>(bytes);
    ++sent_[from];
    bytes_[from] += bytes;
    events_.push({busy + costs_.latency, next_++, from, to, std::move(what)});
  }

  costs costs_;
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
  const auto message = model.message + 64 * model.byte;
  return depth * (model.latency + message)
         + depth * (model.latency + radix * message);
}

/// What a simulation may take of a machine of 24 GiB.
constexpr auto most_memory = size_t{20} << 30;

double ratio(uint32_t x, uint32_t y) {
  return static_cast<double>(x) / y;
}

/// A table of an operation on so many nodes: the time by the model and by what
/// is measured, the rest by the model.
class table {
public:
  explicit table(const char* what) : what_(what) {
    std::printf(
      "\n| nodes | %s, us | with messages of today, us | messages per "
      "node | most of one | KiB of one | memory of all, MiB |\n"
      "|--:|--:|--:|--:|--:|--:|--:|\n",
      what);
  }

  /// Whether there is memory for so many nodes, by what it took more of the
  /// more nodes there were; says so if there is not.
  bool fits(uint32_t size) const {
    if (rows_.size() < 2)
      return true;
    const auto& [few, before] = rows_[rows_.size() - 2];
    const auto& [many, last] = rows_.back();
    const auto power =
      std::max(1.0, std::log(last / before) / std::log(ratio(many, few)));
    const auto wanted = last * std::pow(ratio(size, many), power);
    if (wanted <= static_cast<double>(most_memory))
      return true;
    std::printf("\nMore than %u nodes are left out: %s of %u would take %.0f "
                "GiB.\n",
                many, what_, size, wanted / (1 << 30));
    return false;
  }

  /// @param most Messages that a node may have at most.
  void add(uint32_t size, const scale::figures& x, const scale::figures& today,
           size_t most) {
    rows_.emplace_back(size, static_cast<double>(x.memory) + 1);
    std::printf("| %u | %.0f | %.0f | %.2f | %zu | %.1f | %.1f |\n", size,
                x.microseconds, today.microseconds,
                static_cast<double>(x.messages) / size, x.most_messages,
                static_cast<double>(x.most_bytes) / 1024,
                static_cast<double>(x.memory) / (1 << 20));
    std::fflush(stdout);
    if (x.most_messages > most) {
      std::fprintf(stderr, "%s of %u nodes: out of bounds\n", what_, size);
      is_good_ = false;
    }
  }

  bool is_good() const {
    return is_good_;
  }

private:
  const char* what_;
  bool is_good_ = true;

  /// Nodes, and the bytes that they took.
  std::vector<std::pair<uint32_t, double>> rows_;
};

/// What the program was asked for.
struct wish {
  std::vector<uint32_t> sizes{64, 512, 1000, 4096, 10000, 100000};
  std::vector<uint32_t> fence_sizes{64,   512,  1000,  4096,
                                    4681, 8000, 10000, 100000};
  std::vector<std::string> parts;

  bool has(const std::string& part) const {
    return parts.empty()
           || std::find(parts.begin(), parts.end(), part) != parts.end();
  }

  /// The sizes up to a largest one, which stands for those above it.
  std::vector<uint32_t> sizes_to(uint32_t most) const {
    auto result = std::vector<uint32_t>{};
    for (const auto x : sizes)
      if (result.empty() || result.back() < most)
        result.push_back(std::min(x, most));
    return result;
  }
};

bool fences(const std::vector<uint32_t>& sizes) {
  constexpr auto radix = defaults::tree_radix;
  std::printf("| nodes | fence, us | model, us | us per log2 N | with messages "
              "of today, us | messages per node | most of one | bytes of it | "
              "memory of all, MiB | fence of 64 B each, us |\n"
              "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
  auto result = true;
  for (const auto size : sizes) {
    auto all = world{size, radix, model};
    all.fence(1, 0);
    const auto before = scale::memory_now();
    scale::mark_memory();
    const auto plain = all.fence(2, 0);
    const auto memory = scale::memory_peak() - before;
    const auto with_data = size <= 1000 ? all.fence(3, 64).microseconds : 0.0;
    const auto today = world{size, radix, measured}.fence(1, 0);
    const auto should = expected(size, radix);
    std::printf(
      "| %u | %.0f | %.0f | %.1f | %.0f | %.2f | %zu | %zu | %.1f | %s |\n",
      size, plain.microseconds, should, plain.microseconds / std::log2(size),
      today.microseconds, static_cast<double>(plain.messages) / size,
      plain.most_messages, plain.most_bytes,
      static_cast<double>(memory) / (1 << 20),
      with_data > 0 ? std::to_string(static_cast<int>(with_data)).c_str()
                    : "-");
    std::fflush(stdout);
    const auto off = std::abs(plain.microseconds - should) / should;
    if (off > 0.15 || plain.most_messages > 2 * (radix + 1)
        || plain.messages > 2 * (size_t{size} + radix)
        || plain.operations_left > 0) {
      std::fprintf(stderr, "%u nodes: out of bounds\n", size);
      result = false;
    }
  }
  return result;
}

/// An event of the last node goes to the home, and from there down a tree; the
/// answers come up.
bool events(const wish& what) {
  auto result = table{"event to all"};
  const auto notify = [](uint32_t size, const costs& cost) {
    auto all = scale::orders{size, cost};
    all.notify(0);
    return all.notify(size - 1);
  };
  for (const auto size : what.sizes) {
    if (!result.fits(size))
      break;
    result.add(size, notify(size, model), notify(size, measured),
               2 * (defaults::tree_radix + 2));
  }
  return result.is_good();
}

/// What each node calls goes up a tree, as one with what those below it call; the
/// entry comes down it. All of it is answered.
bool groups(const wish& what) {
  auto result = table{"group construct"};
  for (const auto size : what.sizes) {
    if (!result.fits(size))
      break;
    result.add(size, scale::orders{size, model}.construct(),
               scale::orders{size, measured}.construct(),
               4 * (size_t{defaults::tree_radix} + 1));
  }
  return result.is_good();
}

/// The root asks each node twice to start, and hears from each.
bool starts(const wish& what) {
  auto result = table{"spawn"};
  for (const auto size : what.sizes_to(scale::spawns::most_nodes)) {
    if (!result.fits(size))
      return result.is_good();
    result.add(size, scale::spawns{size, model}.spawn(),
               scale::spawns{size, measured}.spawn(), size_t{6} * size);
  }
  if (what.sizes.back() > scale::spawns::most_nodes)
    std::printf(
      "\nMore than %u nodes are left out: no job has more processes.\n",
      scale::spawns::most_nodes);
  return result.is_good();
}

/// The root hears the end of each process, and tells all nodes.
bool ends(const wish& what) {
  auto result = table{"end of the job"};
  const auto end = [](uint32_t size, const costs& cost) {
    auto all = scale::spawns{size, cost};
    all.spawn();
    return all.end();
  };
  for (const auto size : what.sizes_to(scale::spawns::most_that_end))
    result.add(size, end(size, model), end(size, measured), size_t{32} * size);
  if (what.sizes.back() > scale::spawns::most_that_end)
    std::printf(
      "\nMore than %u nodes are left out: their ends are a square over "
      "them.\n",
      scale::spawns::most_that_end);
  return result.is_good();
}

} // namespace

int main(int argc, char** argv) {
  auto what = wish{};
  for (auto i = 1; i < argc; ++i) {
    const auto word = std::string{argv[i]};
    if (word == "--quick") {
      what.fence_sizes = {8, 9, 64, 72, 73, 512, 1000};
      what.sizes = {8, 9, 73};
    } else if (word == "--most" && i + 1 < argc && std::atoi(argv[i + 1]) > 1) {
      what.sizes = what.sizes_to(static_cast<uint32_t>(std::atoi(argv[++i])));
    } else if (word == "fence" || word == "event" || word == "group"
               || word == "spawn") {
      what.parts.push_back(word);
    } else {
      std::fprintf(stderr,
                   "mesh_scale [--quick] [--most NODES] [fence] [event] "
                   "[group] [spawn]\n");
      return 2;
    }
  }
  auto is_good = true;
  if (what.has("fence"))
    is_good &= fences(what.fence_sizes);
  if (what.has("event"))
    is_good &= events(what);
  if (what.has("group"))
    is_good &= groups(what);
  if (what.has("spawn")) {
    is_good &= starts(what);
    is_good &= ends(what);
  }
  return is_good ? 0 : 1;
}
