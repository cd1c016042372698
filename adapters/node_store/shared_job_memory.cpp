#include "adapters/node_store/shared_job_memory.hpp"

#include "actors/data/datastore.hpp"
#include "actors/data/get_options.hpp"
#include "adapters/hwloc/allowed_processors.hpp"
#include "adapters/node_store/descriptor_inbox.hpp"
#include "adapters/node_store/node_store.hpp"
#include "adapters/node_store/shared_job_data.hpp"
#include "adapters/node_store/store_values.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <string_view>
#include <utility>

namespace troupe {

namespace {

/// What values take, in the terms of their bytes in the store.
constexpr uint64_t most_expansion = 8;

static_assert(store_view::here == static_cast<uint8_t>(scope::local)
              && store_view::elsewhere == static_cast<uint8_t>(scope::remote));

class shared_job_memory final : public job_memory {
public:
  shared_job_memory(std::unique_ptr<node_store> store, uint64_t most_taken)
    : store_(std::move(store)), most_taken_(most_taken) {
    // nop
  }

  bool has_job() const override {
    return store_->has_job();
  }

  std::string lend(uint32_t rank) override {
    return to_string(store_->lend(rank));
  }

  std::string address() const override {
    return to_string(store_->address());
  }

  int hand(const std::string& inbox) const override {
    const auto at = store_->address();
    return send_descriptors(inbox, ::geteuid(), {at.board, at.posts});
  }

  bool has(uint32_t rank) const override {
    return store_->has(rank);
  }

  void retire(uint32_t rank) override {
    store_->retire(rank);
  }

  void want(uint32_t rank, bool is_wanted) override {
    store_->want(rank, is_wanted);
  }

  std::vector<posted_data> take(uint32_t rank) override {
    auto result = std::vector<posted_data>{};
    auto is_whole = true;
    auto left = most_taken_;
    const auto use = [&](const store_entry& x) {
      // Without a value: it has been taken back.
      const auto is_gone = x.value.empty();
      auto val = !is_whole ? std::nullopt
                 : is_gone ? std::optional{value{}}
                           : unpack_from_store(x.value, wire::origin::client);
      const auto bytes = val ? size_of(*val) : 0;
      if (!val || (x.views & ~most_views) != 0 || bytes > left) {
        is_whole = false;
        return;
      }
      left -= bytes;
      const auto whose = static_cast<scope>(x.views);
      const auto visible_to = is_gone ? taking_from(whose) : whose;
      if (result.empty() || result.back().visible_to != visible_to)
        result.push_back({visible_to, {}});
      // The names of values with qualifiers say all that is needed to find them.
      result.back().entries.push_back(
        {std::string{is_gone ? x.name : posted_key(x.name)}, std::move(*val)});
    };
    store_->take(rank, use);
    if (!is_whole)
      store_->retire(rank);
    return result;
  }

  void bring(uint32_t rank, const std::vector<key_value>& entries) override {
    auto names = std::deque<std::string>{};
    auto values = std::deque<std::string>{};
    auto packed = std::vector<store_entry>{};
    for (const auto& x : entries) {
      const auto& name = names.emplace_back(storage_key(x.key, x.val));
      // Whoever looks for values with qualifiers asks the server.
      if (name != x.key)
        continue;
      auto& bytes = values.emplace_back();
      if (!pack_for_store(x.val, bytes)) {
        store_->drop(rank);
        return;
      }
      packed.push_back({name, bytes, store_view::here});
    }
    store_->bring(rank, packed);
  }

  void drop(uint32_t rank) override {
    store_->drop(rank);
  }

  std::optional<cell_number>
  add_cell(const std::vector<uint32_t>& ranks) override {
    return store_->add_part(ranks);
  }

  void remove_cell(cell_number cell) override {
    store_->parts().remove(cell);
  }

  void leave_cells(uint32_t rank) override {
    store_->leave_parts(rank);
  }

  bool open_fences(cell_number cell) override {
    if (cell != whole_job)
      return store_->parts().open(cell);
    store_->fences().open();
    return true;
  }

  bool has_gathered(uint32_t round) const override {
    return store_->fences().has_gathered(round);
  }

  bool has_collected(uint32_t round) const override {
    return store_->fences().has_collected(round);
  }

  void end_fence(uint32_t round) override {
    store_->fences().end(round);
  }

  bool has_arrivals(cell_number cell) const override {
    return at(cell).has_any_arrived();
  }

  bool has_arrived(cell_number cell, uint32_t place) const override {
    return at(cell).has_arrived(place);
  }

  bool close_fences(cell_number cell) override {
    at(cell).close();
    return has_arrivals(cell);
  }

  uint64_t fences(cell_number cell) const override {
    return at(cell).rounds();
  }

  uint64_t last_beat(uint32_t rank) const override {
    return store_->last_beat(rank);
  }

  void want_beat(uint32_t rank, bool is_wanted) override {
    store_->want_beat(rank, is_wanted);
  }

  void open_groups(const numbers& next) override {
    store_->groups().open(next);
  }

  void close_groups() override {
    store_->groups().close();
  }

  uint32_t group_rounds() const override {
    return store_->groups().rounds();
  }

  uint32_t most_groups() const override {
    return group_log_size;
  }

  bool has_groups() const override {
    return store_->groups().has_news();
  }

  std::optional<std::vector<shared_group>>
  take_groups(const numbers& next) override {
    auto result = std::vector<shared_group>{};
    const auto use = [&](const group_call& x, uint64_t number) {
      const auto has_ended = x.what == group_call::kind::destruct;
      result.push_back(
        {x.id, has_ended,
         x.wants_number && !has_ended ? std::optional{number} : std::nullopt});
    };
    if (!store_->groups().read(use, next))
      return std::nullopt;
    return result;
  }

  uint64_t used() const override {
    return store_->used();
  }

  uint64_t size() const override {
    return store_->size();
  }

private:
  static constexpr uint8_t most_views =
    store_view::here | store_view::elsewhere;

  collective_cell at(cell_number cell) const {
    return cell == whole_job ? store_->fences() : store_->parts().at(cell);
  }

  std::unique_ptr<node_store> store_;

  /// What is taken at once, in bytes of memory: our clients post no more.
  uint64_t most_taken_;
};

} // namespace

std::unique_ptr<job_memory>
make_shared_job_memory(uint32_t ranks, const std::vector<uint32_t>& locals,
                       uint64_t bytes, const job_info& data, std::string& why) {
  if (locals.size() > cell_participants) {
    why = "more than " + std::to_string(cell_participants)
          + " of them are on this node";
    return nullptr;
  }
  // Nobody who has to be waited for loses the processor to one who looks.
  constexpr auto spins = uint32_t{500};
  // A server that ends their rounds needs one, too.
  const auto busy = locals.size() + (locals.size() < ranks ? 1 : 0);
  const auto can_spin = busy <= allowed_processors().size();
  const auto job = pack_shared_job(data);
  auto store = node_store::make(
    {ranks, locals, store_live_part * bytes, can_spin ? spins : 0,
     std::min(store_geometry::most_brought, bytes * 8 * locals.size()),
     job ? std::string_view{*job} : std::string_view{}});
  if (store)
    return std::make_unique<shared_job_memory>(std::move(store),
                                               most_expansion * bytes);
  why = std::strerror(errno);
  return nullptr;
}

} // namespace troupe
