#include "c_api/shared_posts.hpp"

#include "actors/data/datastore.hpp"
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

/// Room that is kept from one commit to the next: bytes, and entries.
constexpr size_t kept_bytes = size_t{64} << 10;
constexpr size_t kept_entries = 1024;

/// Whether the server reads it as it would a message, and takes no more memory
/// for it than it counts on. Bytes, texts and numbers it does.
bool is_readable(std::string_view packed, const value& of) {
  const auto kind = storage_of(of.type);
  if (of.type == data_type::byte_object || of.type == data_type::string
      || kind == storage_class::unsigned_integer
      || kind == storage_class::signed_integer)
    return true;
  return unpack_from_store(packed, wire::origin::client)
         && size_of(of)
              <= most_expansion * (packed.size() + expansion_allowance);
}

} // namespace

bool shared_posts::packed_commit::pack(
  const std::vector<process_store::news>& xs) {
  bytes_.clear();
  ends_.clear();
  entries_.clear();
  for (const auto& x : xs) {
    const auto views = static_cast<uint8_t>(x.whose);
    constexpr auto all = store_view::here | store_view::elsewhere;
    if (views == 0 || (views & ~all) != 0)
      return false;
    const auto begin = bytes_.size();
    if (x.val != nullptr
        && (!pack_for_store(*x.val, bytes_)
            || !is_readable(std::string_view{bytes_}.substr(begin), *x.val)))
      return false;
    entries_.push_back({x.name, {}, views});
    ends_.push_back(bytes_.size());
  }
  // From now on the bytes stay where they are.
  auto begin = size_t{0};
  for (size_t i = 0; i < ends_.size(); ++i) {
    entries_[i].value =
      std::string_view{bytes_}.substr(begin, ends_[i] - begin);
    begin = ends_[i];
  }
  return true;
}

void shared_posts::packed_commit::trim() {
  if (bytes_.capacity() <= kept_bytes && entries_.capacity() <= kept_entries)
    return;
  bytes_.clear();
  bytes_.shrink_to_fit();
  ends_ = std::vector<size_t>{};
  entries_ = std::vector<store_entry>{};
}

bool shared_posts::set(std::string where, proc_id self) {
  const auto guard = std::lock_guard{mutex_};
  if (where == told_ && self == self_)
    return false;
  told_ = where;
  where_ = std::move(where);
  self_ = std::move(self);
  access_ = nullptr;
  failure_ = 0;
  unseen_ = std::nullopt;
  return true;
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

void shared_posts::give_up() {
  const auto guard = std::lock_guard{mutex_};
  where_.clear();
  access_ = nullptr;
  unseen_ = std::nullopt;
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
  auto bytes = from->find(proc.rank, key);
  return bytes ? take_from_store(std::move(*bytes), wire::origin::server)
               : std::nullopt;
}

store_access::posting
shared_posts::post(const std::vector<process_store::news>& xs) {
  const auto guard = std::lock_guard{mutex_};
  const auto& to = attached();
  if (!to)
    return store_access::posting::refused;
  const auto result = packed_.pack(xs) ? to->post(packed_.entries())
                                       : store_access::posting::refused;
  packed_.trim();
  return result;
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
