#include "actors/mesh/exchange/publish_desk.hpp"

#include "base/timeout.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace troupe {

namespace {

/// Source: PMIx Standard v5, PMIX_WAIT: how many keys to wait for; 0, or true,
/// for all.
std::optional<size_t> keys_to_wait_for(const lookup_request& request) {
  const auto* wait = find(request.directives, attr::wait);
  if (wait == nullptr)
    return std::nullopt;
  const auto all = request.keys.size();
  if (wait->type == data_type::bool_ || wait->type == data_type::undef)
    return wait->truth() ? std::optional<size_t>{all} : std::nullopt;
  const auto count = wait->number<uint32_t>().value_or(0);
  return count == 0 ? all : std::min<size_t>(count, all);
}

} // namespace

std::optional<lookup_result>
publish_desk::try_look_up(const requester& who, const lookup_request& request,
                          size_t enough) {
  if (data_.count(who, request) < enough)
    return std::nullopt;
  return lookup_result{data_.look_up(who, request)};
}

void publish_desk::look_up(const requester& who, lookup_request request,
                           completion then, const timer& after) {
  const auto wanted = keys_to_wait_for(request);
  if (auto found = try_look_up(who, request, wanted.value_or(1))) {
    then(std::move(*found));
    return;
  }
  if (!wanted) {
    then(make_error(status::not_found,
                    "none of the keys is published; wait for them with "
                    "PMIX_WAIT"));
    return;
  }
  if (lookups_.size() >= most_lookups_) {
    then(
      make_error(status::out_of_resource,
                 "more than " + std::to_string(most_lookups_)
                   + " lookups wait for keys; wait until some are answered"));
    return;
  }
  const auto id = next_lookup_++;
  const auto timeout = timeout_of(request.directives);
  lookups_.emplace(id, lookup{who, std::move(request), std::move(then)});
  if (timeout)
    after(*timeout, [this, id] {
      auto node = lookups_.extract(id);
      if (!node.empty())
        node.mapped().then(make_error(status::timeout,
                                      "the keys were not published in time; "
                                      "wait longer with PMIX_TIMEOUT"));
    });
}

status publish_desk::publish(const requester& who,
                             const publish_request& request) {
  const auto outcome = data_.publish(who, request);
  if (outcome != status::success)
    return outcome;
  auto answers = std::vector<std::pair<completion, lookup_result>>{};
  for (auto i = lookups_.begin(); i != lookups_.end();) {
    auto& x = i->second;
    auto found =
      try_look_up(x.who, x.request, keys_to_wait_for(x.request).value_or(1));
    if (found) {
      answers.emplace_back(std::move(x.then), std::move(*found));
      i = lookups_.erase(i);
    } else {
      ++i;
    }
  }
  for (auto& [then, found] : answers)
    then(std::move(found));
  return outcome;
}

void publish_desk::proc_ended(const proc_id& proc) {
  auto over = std::vector<completion>{};
  for (auto i = lookups_.begin(); i != lookups_.end();) {
    if (i->second.who.proc == proc) {
      over.push_back(std::move(i->second.then));
      i = lookups_.erase(i);
    } else {
      ++i;
    }
  }
  data_.proc_ended(proc);
  for (const auto& then : over)
    then(make_error(status::unreach, to_string(proc) + " is gone"));
}

// -- of a DVM --

namespace {

/// Whether a request is for data that stays on its node.
bool stays_on_node(const std::vector<info>& directives) {
  const auto range = number<uint8_t>(directives, attr::range);
  return range && static_cast<data_range>(*range) == data_range::local;
}

caf::expected<ack> outcome(status code) {
  if (code != status::success)
    return make_error(code);
  return ack{};
}

} // namespace

void dvm_publishing::publish(const requester& who, publish_request& request,
                             completion<ack> done) {
  if (stays_on_node(request.infos))
    done(outcome(here_.publish(who, request)));
  else
    calls_.ask_root_for(who, std::move(request), std::move(done));
}

void dvm_publishing::look_up(const requester& who, lookup_request& request,
                             completion<lookup_result> done) {
  if (stays_on_node(request.directives)) {
    here_.look_up(who, std::move(request), std::move(done), call_later_);
    return;
  }
  auto found = here_.look_up_now(who, request);
  auto& keys = request.keys;
  for (const auto& x : found.found)
    keys.erase(std::remove(keys.begin(), keys.end(), x.key), keys.end());
  if (keys.empty()) {
    done(std::move(found));
    return;
  }
  calls_.ask_root_for<lookup_result>(
    who, std::move(request),
    [done = std::move(done),
     found = std::move(found)](caf::expected<lookup_result> more) {
      if (found.found.empty()
          || (!more && status_of(more.error()) != status::not_found)) {
        done(std::move(more));
        return;
      }
      auto all = found;
      if (more)
        std::move(more->found.begin(), more->found.end(),
                  std::back_inserter(all.found));
      done(std::move(all));
    });
}

void dvm_publishing::unpublish(const requester& who, unpublish_request& request,
                               completion<ack> done) {
  const auto here = here_.unpublish(who, request);
  const auto is_done = here == status::success && !request.keys.empty();
  if (is_done || stays_on_node(request.directives))
    done(outcome(here));
  else
    calls_.ask_root_for(who, std::move(request), std::move(done));
}

caf::expected<ack>
dvm_publishing::publish_for_all(const requester& who,
                                const publish_request& request) {
  return outcome(for_all_.publish(who, request));
}

caf::expected<ack>
dvm_publishing::unpublish_for_all(const requester& who,
                                  const unpublish_request& request) {
  return outcome(for_all_.unpublish(who, request));
}

} // namespace troupe
