#include "actors/io/stream_readers.hpp"

#include "actors/io/defaults.hpp"
#include "actors/io/io_options.hpp"
#include "messages/io_keys.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace troupe {

namespace {

bool names_all_jobs(const std::vector<proc_id>& sources) {
  return std::any_of(sources.begin(), sources.end(),
                     [](const proc_id& x) { return x.nspace.empty(); });
}

/// What a reader wants of one job; without sources: nothing.
io_subscription part_of(const io_subscription& what,
                        const std::string& nspace) {
  auto result = what;
  result.sources.clear();
  for (const auto& source : what.sources)
    if (source.nspace == nspace || source.nspace.empty())
      result.sources.push_back({nspace, source.rank});
  return result;
}

caf::error no_subscription(uint64_t number) {
  return make_error(status::not_found, "no subscription "
                                         + std::to_string(number)
                                         + "; name one that has not ended");
}

} // namespace

bool stream_readers::wish::is_standing() const {
  return names_all_jobs(what.sources);
}

caf::expected<stream_readers::wish>
stream_readers::read(const requester& who,
                     const io_pull_request& request) const {
  if (auto why = check_required(io_call::pull, request.directives))
    return why;
  auto what = read_subscription(request);
  if (!what)
    return std::move(what.error());
  auto format = read_output_format(request.directives);
  if (!format)
    return std::move(format.error());
  const auto of_same =
    std::count_if(readers_.begin(), readers_.end(), [&](const auto& x) {
      return x.second.who.index == who.index;
    });
  if (static_cast<size_t>(of_same) >= defaults::io_subscriptions_per_requester
      || readers_.size() >= defaults::io_subscriptions)
    return make_error(status::out_of_resource,
                      "too many subscriptions of output; end some of them with "
                      "PMIx_IOF_deregister");
  return wish{std::move(*what), *format};
}

uint64_t stream_readers::add(const requester& who,
                             const io_pull_request& request, wish what,
                             std::string name, const sink_maker& make_sink) {
  const auto number = ++last_;
  auto options = tool_output_options{};
  options.who = who;
  // Tools and clients of 3.2 know the number that they are given.
  options.handler = request.handler.value_or(number);
  options.format = what.format;
  options.with_offsets = flag(request.directives, io_offsets_key);
  auto& x = readers_[number];
  x.who = who;
  x.is_standing = what.is_standing();
  x.what = std::move(what.what);
  x.what.name = std::move(name);
  x.sink = make_sink(std::move(options));
  return number;
}

const stream_readers::reader* stream_readers::find(uint64_t number) const {
  const auto i = readers_.find(number);
  return i != readers_.end() ? &i->second : nullptr;
}

std::optional<stream_readers::watch>
stream_readers::begin(uint64_t number, reader& x, const std::string& nspace,
                      io_subscription what) {
  for (const auto& source : what.sources)
    if (source.rank == rank_wildcard)
      x.whole.insert(nspace);
  if (!x.at_desk.emplace(nspace, std::nullopt).second)
    return std::nullopt;
  return watch{number, x.who, std::move(what), x.sink};
}

std::optional<stream_readers::watch>
stream_readers::begin(uint64_t number, const std::string& nspace) {
  const auto i = readers_.find(number);
  if (i == readers_.end())
    return std::nullopt;
  auto what = part_of(i->second.what, nspace);
  if (what.sources.empty())
    return std::nullopt;
  return begin(number, i->second, nspace, std::move(what));
}

stream_readers::watch stream_readers::begin(uint64_t number,
                                            std::vector<proc_id> sources) {
  auto& x = readers_.at(number);
  for (const auto& source : sources)
    x.at_desk.emplace(source.nspace, std::nullopt);
  auto what = x.what;
  what.sources = std::move(sources);
  return {number, x.who, std::move(what), x.sink};
}

bool stream_readers::note(uint64_t number, const std::string& nspace,
                          uint64_t subscription) {
  const auto i = readers_.find(number);
  if (i == readers_.end())
    return false;
  const auto place = i->second.at_desk.find(nspace);
  if (place == i->second.at_desk.end())
    return false;
  place->second = subscription;
  return true;
}

caf::expected<std::optional<stream_readers::reader>>
stream_readers::remove(const requester& who, uint64_t number) {
  const auto* x = find(number);
  // It may have gone with its job.
  if (x == nullptr && number > 0 && number <= last_)
    return std::optional<reader>{};
  if (x == nullptr)
    return no_subscription(number);
  if (x->who.index != who.index)
    return make_error(status::no_permissions,
                      "subscription " + std::to_string(number)
                        + " is another's; end your own");
  return remove(number);
}

std::optional<stream_readers::reader> stream_readers::remove(uint64_t number) {
  auto node = readers_.extract(number);
  if (node.empty())
    return std::nullopt;
  return std::move(node.mapped());
}

std::vector<stream_readers::reader>
stream_readers::remove_all_of(const requester& who) {
  auto result = std::vector<reader>{};
  for (auto i = readers_.begin(); i != readers_.end();) {
    if (i->second.who.index != who.index) {
      ++i;
      continue;
    }
    result.push_back(std::move(i->second));
    i = readers_.erase(i);
  }
  return result;
}

stream_readers::heirs stream_readers::job_begun(const std::string& nspace,
                                                uint32_t owner,
                                                const std::string& parent) {
  auto result = heirs{};
  for (auto& [number, x] : readers_) {
    if (!may_watch(x.who, owner))
      continue;
    auto what = io_subscription{};
    if (x.is_standing) {
      what = part_of(x.what, nspace);
    } else if (x.whole.count(parent) > 0) {
      what = x.what;
      what.sources = {{nspace, rank_wildcard}};
      what.start = io_start::tail;
      what.offset = 0;
    }
    if (what.sources.empty())
      continue;
    result.is_wanted = true;
    if (auto y = begin(number, x, nspace, std::move(what)))
      result.watches.push_back(std::move(*y));
  }
  return result;
}

std::vector<uint64_t> stream_readers::job_over(const std::string& nspace) {
  auto result = std::vector<uint64_t>{};
  for (auto i = readers_.begin(); i != readers_.end();) {
    auto& x = i->second;
    const auto subscription = x.at_desk.extract(nspace);
    if (!subscription.empty() && subscription.mapped())
      result.push_back(*subscription.mapped());
    x.whole.erase(nspace);
    const auto is_last =
      !subscription.empty() && x.at_desk.empty() && !x.is_standing;
    i = is_last ? readers_.erase(i) : std::next(i);
  }
  return result;
}

io_channels stream_readers::standing_channels() const {
  auto result = io_channels::none;
  for (const auto& [number, x] : readers_)
    if (x.is_standing)
      result = united(result, x.what.channels);
  return result;
}

} // namespace troupe
