#include "actors/data/datastore.hpp"

#include "actors/data/get_options.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

namespace {

/// The names of refused keys that are kept for a rank; a rank with more has
/// been refused all that it has not posted.
constexpr size_t most_refused = 64;

/// What a process may have posted so that an answer brings all of it.
constexpr size_t most_at_once = size_t{4} << 20;

size_t cost(const std::string& key, const value& val) {
  return key.size() + size_of(val) + entry_overhead;
}

bool goes_here(scope x) {
  return x == scope::local || x == scope::global;
}

bool goes_elsewhere(scope x) {
  return x == scope::remote || x == scope::global;
}

/// Whose view of a key a block changes, whether it posts or takes back.
scope changed_by(const posted_data& x) {
  const auto from = taken_from(x.visible_to);
  return from != scope::undef ? from : x.visible_to;
}

} // namespace

size_t size_of(const value& x) {
  auto result = size_t{16};
  if (const auto* text = std::get_if<std::string>(&x.data))
    result += text->size();
  else if (const auto* array = x.array())
    for (const auto& element : array->elements)
      result += size_of(element);
  else if (const auto* entry = std::get_if<box<info>>(&x.data))
    result += (*entry)->key.size() + size_of((*entry)->val);
  return result;
}

bool datastore::views::is_shared() const {
  return here != nullptr && elsewhere != nullptr
         && (here == elsewhere || *here == *elsewhere);
}

datastore::views datastore::seen_of(const posted& x, const std::string& name) {
  auto result = views{};
  if (const auto i = x.here.find(name); i != x.here.end())
    result.here = &i->second;
  if (x.shared.count(name) > 0)
    result.elsewhere = result.here;
  else if (const auto i = x.elsewhere.find(name); i != x.elsewhere.end())
    result.elsewhere = &i->second;
  return result;
}

size_t datastore::cost_of(const std::string& name, const views& x) {
  auto result = x.here != nullptr ? cost(name, *x.here) : 0;
  if (x.elsewhere != nullptr && !x.is_shared())
    result += cost(name, *x.elsewhere);
  return result;
}

void datastore::keep(posted& to, const std::string& name, const views& x) {
  const auto before = seen_of(to, name);
  to.size_bytes -= cost_of(name, before);
  to.size_bytes += cost_of(name, x);
  // What is seen elsewhere may stand in `here`: it goes first.
  if (x.is_shared()) {
    if (x.here != before.here)
      to.here.insert_or_assign(name, value{*x.here});
    to.elsewhere.erase(name);
    to.shared.insert(name);
    return;
  }
  if (x.elsewhere != nullptr
      && (x.elsewhere != before.elsewhere || to.shared.count(name) > 0))
    to.elsewhere.insert_or_assign(name, value{*x.elsewhere});
  to.shared.erase(name);
  if (x.here != nullptr && x.here != before.here)
    to.here.insert_or_assign(name, value{*x.here});
}

void datastore::follow(news_of news, std::function<void(size_t)> on_growth,
                       std::function<void(uint32_t)> on_refusal) {
  news_ = std::move(news);
  on_growth_ = std::move(on_growth);
  on_refusal_ = std::move(on_refusal);
}

void datastore::tell_of_remote(
  std::function<void(uint32_t, const std::vector<key_value>&)> on_remote,
  std::function<void(uint32_t)> on_forgotten) {
  on_remote_ = std::move(on_remote);
  on_forgotten_ = std::move(on_forgotten);
}

void datastore::refresh(uint32_t rank) const {
  if (!news_)
    return;
  const auto blocks = news_(rank);
  if (blocks.empty())
    return;
  const auto before = size_bytes_;
  // To those who look it has been there all the time.
  auto& self = const_cast<datastore&>(*this);
  if (self.merge(rank, blocks) != status::success) {
    // What fits is not lost with what does not.
    for (const auto& x : blocks)
      self.merge(rank, {x});
    on_refusal_(rank);
  }
  if (size_bytes_ > before)
    on_growth_(size_bytes_ - before);
}

status datastore::commit(uint32_t rank,
                         const std::vector<posted_data>& blocks) {
  refresh(rank);
  return merge(rank, blocks);
}

status datastore::merge(uint32_t rank, const std::vector<posted_data>& blocks) {
  // In the order of their names: then each is looked up once, beside the one
  // before it. There may be thousands, and tens of thousands that are there.
  struct posting {
    std::string name;
    scope visible_to;

    /// Null: it is taken back.
    const value* val;
  };
  auto postings = std::vector<posting>{};
  for (const auto& block : blocks) {
    const auto whose = changed_by(block);
    const auto takes_back = whose != block.visible_to;
    if (goes_here(whose) || goes_elsewhere(whose))
      for (const auto& entry : block.entries)
        if (!is_given_by_host(entry.key))
          postings.push_back({storage_key(entry.key, entry.val), whose,
                              takes_back ? nullptr : &entry.val});
  }
  std::stable_sort(
    postings.begin(), postings.end(),
    [](const posting& x, const posting& y) { return x.name < y.name; });
  auto first = posted{};
  const auto known = ranks_.find(rank);
  auto& mine = known != ranks_.end() ? known->second : first;
  struct change {
    const std::string& name;
    views before;
    views after;

    /// Its places, or those that it would have.
    std::map<std::string, value>::iterator here;
    std::set<std::string>::iterator shared;
  };
  auto changes = std::vector<change>{};
  changes.reserve(postings.size());
  auto old_cost = size_t{0};
  for (const auto& x : postings) {
    if (changes.empty() || changes.back().name != x.name) {
      auto y = change{x.name,
                      {},
                      {},
                      mine.here.lower_bound(x.name),
                      mine.shared.lower_bound(x.name)};
      if (y.here != mine.here.end() && y.here->first == x.name)
        y.before.here = &y.here->second;
      if (y.shared != mine.shared.end() && *y.shared == x.name)
        y.before.elsewhere = y.before.here;
      else if (const auto i = mine.elsewhere.find(x.name);
               i != mine.elsewhere.end())
        y.before.elsewhere = &i->second;
      y.after = y.before;
      old_cost += cost_of(x.name, y.before);
      changes.push_back(y);
    }
    if (goes_here(x.visible_to))
      changes.back().after.here = x.val;
    if (goes_elsewhere(x.visible_to))
      changes.back().after.elsewhere = x.val;
  }
  auto new_cost = size_t{0};
  for (const auto& x : changes)
    new_cost += cost_of(x.name, x.after);
  if (new_cost > old_cost) {
    const auto more = new_cost - old_cost;
    if (mine.size_bytes + more > bounds_.process_bytes
        || size_bytes_ + more > bounds_.namespace_bytes) {
      auto& names = refused_[rank];
      for (const auto& x : changes)
        if (names.size() < most_refused)
          names.emplace(x.name);
      return status::out_of_resource;
    }
  }
  const auto refused = refused_.find(rank);
  for (const auto& x : changes) {
    const auto was_shared =
      x.before.here != nullptr && x.before.here == x.before.elsewhere;
    const auto is_shared = x.after.is_shared();
    // What is seen elsewhere may stand in `here`: it goes first.
    if (!is_shared && x.after.elsewhere != nullptr
        && (was_shared || x.after.elsewhere != x.before.elsewhere))
      mine.elsewhere.insert_or_assign(x.name, value{*x.after.elsewhere});
    else if (x.after.elsewhere == nullptr)
      mine.elsewhere.erase(x.name);
    // A place for what is not there yet is before the next name, which is looked
    // at later.
    if (x.before.here != nullptr && x.after.here == nullptr)
      mine.here.erase(x.here);
    else if (x.before.here == nullptr && x.after.here != nullptr)
      mine.here.emplace_hint(x.here, x.name, *x.after.here);
    else if (x.after.here != x.before.here)
      x.here->second = *x.after.here;
    if (is_shared && !was_shared) {
      mine.shared.emplace_hint(x.shared, x.name);
      mine.elsewhere.erase(x.name);
    } else if (was_shared && !is_shared) {
      mine.shared.erase(x.shared);
    }
    if (refused != refused_.end())
      refused->second.erase(x.name);
  }
  if (refused != refused_.end() && refused->second.empty())
    refused_.erase(refused);
  // The old cost is part of what there is.
  mine.size_bytes += new_cost;
  mine.size_bytes -= old_cost;
  size_bytes_ += new_cost;
  size_bytes_ -= old_cost;
  if (known == ranks_.end())
    ranks_.emplace(rank, std::move(first));
  return status::success;
}

void datastore::store_remote(uint32_t rank, std::vector<key_value> entries) {
  auto& theirs = ranks_[rank];
  const auto before = theirs.size_bytes;
  for (const auto& entry : entries) {
    const auto name = storage_key(entry.key, entry.val);
    auto seen = seen_of(theirs, name);
    seen.here = &entry.val;
    keep(theirs, name, seen);
  }
  size_bytes_ += theirs.size_bytes - before;
  if (on_remote_)
    on_remote_(rank, entries);
}

void datastore::store_fenced(uint32_t rank, std::vector<key_value> entries) {
  if (has_others(rank, entries))
    forget_remote(rank);
  store_exchanged(rank, std::move(entries));
}

void datastore::store_exchanged(uint32_t rank, std::vector<key_value> entries) {
  auto& x = fenced_[rank];
  ++x.age;
  x.digest.reset();
  store_remote(rank, std::move(entries));
}

void datastore::store_given(uint32_t rank, std::vector<key_value> entries) {
  auto& names = ranks_[rank].given;
  for (const auto& x : entries)
    names.insert(storage_key(x.key, x.val));
  store_remote(rank, std::move(entries));
}

/// Whether other posted keys of a rank are seen here than these.
bool datastore::has_others(uint32_t rank,
                           const std::vector<key_value>& entries) const {
  const auto i = ranks_.find(rank);
  if (i == ranks_.end())
    return false;
  const auto& here = i->second.here;
  const auto& given = i->second.given;
  auto known = given.size();
  if (known >= here.size())
    return false;
  for (const auto& x : entries) {
    const auto name = storage_key(x.key, x.val);
    if (here.count(name) > 0 && given.count(name) == 0)
      ++known;
  }
  return known < here.size();
}

void datastore::forget_remote(uint32_t rank) {
  auto given = std::vector<key_value>{};
  if (const auto i = ranks_.find(rank); i != ranks_.end())
    for (const auto& name : i->second.given)
      if (const auto x = i->second.here.find(name); x != i->second.here.end())
        given.push_back({std::string{posted_key(name)}, x->second});
  forget_all_of(rank);
  if (!given.empty())
    store_given(rank, std::move(given));
}

void datastore::forget_all_of(uint32_t rank) {
  if (on_forgotten_)
    on_forgotten_(rank);
  const auto i = ranks_.find(rank);
  if (i == ranks_.end())
    return;
  size_bytes_ -= i->second.size_bytes;
  ranks_.erase(i);
}

bool datastore::forget_fenced(uint32_t rank, uint64_t digest) {
  auto& x = fenced_[rank];
  if (x.digest == digest)
    return false;
  x.digest = digest;
  ++x.age;
  forget_remote(rank);
  return true;
}

void datastore::forget_life(uint32_t rank) {
  refresh(rank);
  forget_all_of(rank);
  refused_.erase(rank);
  auto& x = fenced_[rank];
  x.digest.reset();
  ++x.age;
}

uint64_t datastore::age_of(uint32_t rank) const {
  const auto i = fenced_.find(rank);
  return i != fenced_.end() ? i->second.age : 0;
}

bool datastore::has_committed(uint32_t rank) const {
  refresh(rank);
  return ranks_.count(rank) > 0;
}

bool datastore::was_refused(uint32_t rank, const std::string* key) const {
  refresh(rank);
  const auto i = refused_.find(rank);
  return i != refused_.end()
         && (key == nullptr || i->second.size() >= most_refused
             || i->second.count(*key) > 0);
}

bool datastore::is_large(uint32_t rank) const {
  refresh(rank);
  const auto i = ranks_.find(rank);
  return i != ranks_.end() && i->second.size_bytes > most_at_once;
}

const std::map<std::string, value>&
datastore::visible_here(uint32_t rank) const {
  static const auto nothing = std::map<std::string, value>{};
  refresh(rank);
  const auto i = ranks_.find(rank);
  return i != ranks_.end() ? i->second.here : nothing;
}

const value* datastore::find(uint32_t rank, const std::string& name) const {
  refresh(rank);
  const auto i = ranks_.find(rank);
  if (i == ranks_.end())
    return nullptr;
  const auto seen = seen_of(i->second, name);
  return seen.here != nullptr ? seen.here : seen.elsewhere;
}

std::vector<key_value> datastore::visible_elsewhere(uint32_t rank) const {
  refresh(rank);
  auto result = std::vector<key_value>{};
  const auto i = ranks_.find(rank);
  if (i == ranks_.end())
    return result;
  const auto& theirs = i->second;
  auto names = theirs.shared;
  for (const auto& [name, unused] : theirs.elsewhere)
    names.insert(name);
  for (const auto& name : names)
    result.push_back(
      {std::string{posted_key(name)}, *seen_of(theirs, name).elsewhere});
  return result;
}

std::vector<commit_request> parts_of(commit_request x, size_t bytes) {
  auto result = std::vector<commit_request>{};
  auto size = size_t{0};
  for (auto& block : x.blocks)
    for (auto& entry : block.entries) {
      const auto more = cost(entry.key, entry.val);
      if (result.empty() || (size > 0 && size + more > bytes)) {
        result.emplace_back();
        size = 0;
      }
      size += more;
      auto& blocks = result.back().blocks;
      if (blocks.empty() || blocks.back().visible_to != block.visible_to)
        blocks.push_back({block.visible_to, {}});
      blocks.back().entries.push_back(std::move(entry));
    }
  return result;
}

} // namespace troupe
