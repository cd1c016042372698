#include "adapters/local/local_service.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/loop_system.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/wire/frame.hpp"
#include "adapters/wire/pushes.hpp"
#include "adapters/wire/replies.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

thread_pool::limits one_thread() {
  auto result = thread_pool::limits{};
  result.threads = 1;
  return result;
}

} // namespace

local_service::local_service(loop_system& sys, server_actor server,
                             listener_options x)
  : loop(sys.loop()), pool(sys.pool()), readers(sys.loop(), one_thread()),
    actors(sys.actors()), server(std::move(server)), options(std::move(x)),
    log(options.log, options.limits.log_lines),
    unfinished({options.limits.unfinished_per_namespace,
                options.limits.unfinished_per_node}) {
  // nop
}

// -- events ------------------------------------------------------------------

namespace {

event_frames::frames pack(const event_batch& x, const wire::dialect& d) {
  auto result = event_frames::frames{};
  auto& out = result.bytes;
  result.ends.reserve(x.events.size());
  for (const auto& what : x.events) {
    const auto start = wire::begin_frame(out, wire::tag_event);
    auto err = wire::encode_event(*what, d, out);
    if (!err)
      err = wire::end_frame(out, start);
    if (err) {
      out.resize(start);
      result.failures.push_back(std::move(err));
    }
    result.ends.push_back(out.size());
  }
  return result;
}

} // namespace

std::shared_ptr<const event_frames::frames>
event_frames::of(const event_batch& x, const wire::dialect& d) {
  for (const auto& y : entries_)
    if (y.events.events == x.events && y.dialect == d)
      return y.packed;
  auto packed = std::make_shared<const frames>(pack(x, d));
  if (packed->bytes.size() > max_bytes)
    return packed;
  if (entries_.size() == max_entries)
    entries_.pop_front();
  entries_.push_back({x, d, packed});
  return packed;
}

// -- data of jobs ------------------------------------------------------------

caf::expected<std::shared_ptr<const std::string>>
job_info_cache::packed(const std::shared_ptr<const job_info>& info,
                       const wire::dialect& d) {
  // An entry whose job is gone must go too: another may get its address.
  const auto is_gone = [](const entry& x) { return x.info.expired(); };
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(), is_gone),
                 entries_.end());
  for (const auto& x : entries_)
    if (x.info.lock() == info && x.dialect == d)
      return x.payload;
  auto payload = std::make_shared<std::string>();
  if (auto err = wire::encode_reply(*info, d, *payload))
    return err;
  if (payload->size() > max_payload)
    return std::shared_ptr<const std::string>{std::move(payload)};
  if (entries_.size() == max_entries)
    entries_.pop_front();
  entries_.push_back({info, d, std::move(payload)});
  return entries_.back().payload;
}

} // namespace troupe
