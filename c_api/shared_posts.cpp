#include "c_api/shared_posts.hpp"

#include "actors/data/datastore.hpp"
#include "actors/data/get_options.hpp"
#include "adapters/node_store/store_values.hpp"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>
#include <vector>

namespace troupe::c_api {

namespace {

/// What a value takes in a server, in the terms of what it is packed: numbers in
/// arrays, which packing makes small, go by the socket.
constexpr size_t most_expansion = 4;
constexpr size_t expansion_allowance = 64;

/// Entries as the store keeps them, and their texts.
class packed_commit {
public:
  /// @returns whether all of it can be packed.
  bool add(const commit_request& x) {
    // What is taken back comes first, and has no values.
    auto first = size_t{0};
    for (const auto& block : x.blocks) {
      const auto from = taken_from(block.visible_to);
      const auto views =
        static_cast<uint8_t>(from != scope::undef ? from : block.visible_to);
      constexpr auto all = store_view::here | store_view::elsewhere;
      if (views == 0 || (views & ~all) != 0)
        return false;
      if (from != scope::undef) {
        for (const auto& entry : block.entries)
          posts_.push_back({storage_key(entry.key, entry.val), {}, views});
        first = posts_.size();
        continue;
      }
      // What goes to both stands in two blocks, in the same order.
      auto twin = first;
      const auto before = posts_.size();
      for (const auto& entry : block.entries) {
        auto name = storage_key(entry.key, entry.val);
        while (twin < before && posts_[twin].name < name)
          ++twin;
        if (twin < before && posts_[twin].name == name) {
          posts_[twin].views |= views;
          continue;
        }
        auto fresh = post{std::move(name), {}, views};
        if (!pack_for_store(entry.val, fresh.val) || !is_readable(fresh, entry))
          return false;
        posts_.push_back(std::move(fresh));
      }
    }
    return true;
  }

  std::vector<store_entry> entries() const {
    auto result = std::vector<store_entry>{};
    result.reserve(posts_.size());
    for (const auto& x : posts_)
      result.push_back({x.name, x.val, x.views});
    return result;
  }

private:
  struct post {
    std::string name;
    std::string val;
    uint8_t views;
  };

  /// Whether the server reads it as it would a message, and takes no more memory
  /// for it than it counts on. Bytes and numbers it does.
  static bool is_readable(const post& x, const key_value& of) {
    const auto kind = storage_of(of.val.type);
    if (of.val.type == data_type::byte_object
        || kind == storage_class::unsigned_integer
        || kind == storage_class::signed_integer)
      return true;
    return unpack_from_store(x.val, wire::origin::client)
           && size_of(of.val)
                <= most_expansion * (x.val.size() + expansion_allowance);
  }

  std::vector<post> posts_;
};

} // namespace

void shared_posts::set(std::string where, proc_id self) {
  const auto guard = std::lock_guard{mutex_};
  where_ = std::move(where);
  self_ = std::move(self);
  access_ = nullptr;
  failure_ = 0;
  unseen_ = std::nullopt;
}

bool shared_posts::take(const std::vector<unique_fd>& descriptors) {
  const auto guard = std::lock_guard{mutex_};
  if (!unseen_ || descriptors.size() != 2)
    return false;
  auto where = *unseen_;
  where.pid = 0;
  where.board = descriptors[0].get();
  where.posts = descriptors[1].get();
  access_ = store_access::attach(where, ::geteuid(), self_.rank);
  failure_ = access_ ? 0 : errno;
  return access_ != nullptr;
}

int shared_posts::failure() {
  const auto guard = std::lock_guard{mutex_};
  return failure_;
}

std::shared_ptr<store_access> shared_posts::access() {
  const auto guard = std::lock_guard{mutex_};
  return attached();
}

const std::shared_ptr<store_access>& shared_posts::attached() {
  if (access_ || where_.empty())
    return access_;
  // Once: who cannot see it now never will.
  if (const auto where = parse_store_address(std::exchange(where_, {}))) {
    access_ = store_access::attach(*where, ::geteuid(), self_.rank);
    if (!access_) {
      failure_ = errno;
      unseen_ = where;
    }
  }
  return access_;
}

bool shared_posts::is_of_job(const proc_id& proc) {
  const auto guard = std::lock_guard{mutex_};
  return proc.nspace == self_.nspace;
}

std::optional<value> shared_posts::find(const proc_id& proc,
                                        const std::string& key) {
  auto from = std::shared_ptr<store_access>{};
  {
    const auto guard = std::lock_guard{mutex_};
    if (proc.nspace == self_.nspace)
      from = attached();
  }
  if (!from)
    return std::nullopt;
  const auto bytes = from->find(proc.rank, key);
  return bytes ? unpack_from_store(*bytes, wire::origin::server) : std::nullopt;
}

store_access::posting shared_posts::post(const commit_request& x) {
  const auto to = access();
  auto packed = packed_commit{};
  if (!to || !packed.add(x))
    return store_access::posting::refused;
  return to->post(packed.entries());
}

store_access::posting shared_posts::beat() {
  const auto to = access();
  if (!to)
    return store_access::posting::refused;
  return to->beat([] {
    const std::chrono::nanoseconds now =
      std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<uint64_t>(now.count());
  });
}

} // namespace troupe::c_api
