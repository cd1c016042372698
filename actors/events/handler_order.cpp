#include "actors/events/handler_order.hpp"

#include "messages/attributes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace troupe {

namespace {

std::vector<status> distinct(const std::vector<status>& codes) {
  auto result = std::vector<status>{};
  for (const auto code : codes)
    if (std::find(result.begin(), result.end(), code) == result.end())
      result.push_back(code);
  return result;
}

/// The processes that an event affects, or that a handler asks about.
/// Source: PMIx Standard v5, PMIX_EVENT_AFFECTED_PROC and ..._PROCS.
std::vector<proc_id> affected_procs(const std::vector<info>& infos) {
  auto result = std::vector<proc_id>{};
  for (const auto& x : infos)
    if (x.key == attr::event_affected_proc
        || x.key == attr::event_affected_procs)
      for (auto& proc : procs_of(x.val))
        result.push_back(std::move(proc));
  return result;
}

/// Whether an event is of the environment: nobody's process raised it, and it
/// names none. Source: RFC0002, "Description"; requirements, reading A9.
bool concerns_environment(const event& what,
                          const std::vector<proc_id>& affected) {
  return what.source.nspace.empty() && affected.empty()
         && is_of_environment(what.code);
}

/// The name by which a code goes today. Those before it told who was lost.
/// Source: requirements, reading A14.
status newer_name(status code) {
  switch (code) {
    case status::lost_connection_to_server:
    case status::lost_connection_to_client:
    case status::lost_peer_connection:
      return status::lost_connection;
    default:
      return code;
  }
}

bool has_code(const handler_order::entry& x, status code) {
  return std::find(x.codes.begin(), x.codes.end(), code) != x.codes.end();
}

/// Which classes of events a handler asks for.
/// Source: RFC0002, "Event Registration"; requirements, readings A7 and A8.
void read_levels(const std::vector<info>& directives,
                 handler_order::entry& to) {
  const auto* job = find(directives, attr::event_job_level);
  const auto* environment = find(directives, attr::event_enviro_level);
  const auto only_job = job != nullptr && job->truth();
  const auto only_environment = environment != nullptr && environment->truth();
  to.wants_job = job != nullptr ? only_job : !only_environment;
  to.wants_environment =
    environment != nullptr
      ? only_environment
      : !only_job
          && std::any_of(to.codes.begin(), to.codes.end(), is_of_environment);
}

bool is_known(data_range x) {
  return x <= data_range::proc_local;
}

handler_order::entry entry_of(const register_handler& request) {
  auto result = handler_order::entry{};
  const auto& directives = request.directives;
  result.name = text(directives, attr::event_hdlr_name).value_or("");
  result.codes = distinct(request.codes);
  result.is_oneshot = flag(directives, attr::event_oneshot);
  result.affected = affected_procs(directives);
  if (const auto range = number<uint8_t>(directives, attr::range))
    result.sources = static_cast<data_range>(*range);
  if (const auto* custom = find(directives, attr::event_custom_range)) {
    result.custom_sources = procs_of(*custom);
    result.sources = data_range::custom;
  }
  read_levels(directives, result);
  return result;
}

/// Why there cannot be such a handler.
caf::error fault_of(const handler_order::entry& x) {
  if (!is_known(x.sources))
    return make_error(status::bad_param,
                      "PMIX_RANGE "
                        + std::to_string(static_cast<unsigned>(x.sources))
                        + " of an event handler is not a range; see"
                          " pmix_data_range_t");
  if (!x.wants_job && !x.wants_environment)
    return make_error(status::bad_param,
                      "an event handler wants events neither of jobs nor of"
                      " the environment; ask for one of the two");
  return caf::none;
}

bool wants_code(const handler_order::entry& x, const event& what) {
  if (x.codes.empty())
    return !flag(what.infos, attr::event_non_default);
  return has_code(x, what.code) || has_code(x, newer_name(what.code));
}

bool wants_level(const handler_order::entry& x, const event& what,
                 const std::vector<proc_id>& affected) {
  return concerns_environment(what, affected) ? x.wants_environment
                                              : x.wants_job;
}

bool wants_source(const handler_order::entry& x, const proc_id& source,
                  const proc_id& self) {
  switch (x.sources) {
    case data_range::proc_local:
      return source == self;
    case data_range::nspace:
      return source.nspace == self.nspace;
    case data_range::rm:
      return source.nspace.empty();
    case data_range::custom:
      return std::any_of(
        x.custom_sources.begin(), x.custom_sources.end(),
        [&](const proc_id& pattern) { return matches(pattern, source); });
    default:
      return true;
  }
}

/// An event that names nobody may concern everybody.
bool wants_affected(const handler_order::entry& x,
                    const std::vector<proc_id>& affected) {
  if (x.affected.empty() || affected.empty())
    return true;
  for (const auto& wanted : x.affected)
    for (const auto& proc : affected)
      if (matches(wanted, proc) || matches(proc, wanted))
        return true;
  return false;
}

bool wants(const handler_order::entry& x, const event& what,
           const std::vector<proc_id>& affected, const proc_id& self) {
  return wants_code(x, what) && wants_source(x, what.source, self)
         && wants_affected(x, affected) && wants_level(x, what, affected);
}

} // namespace

status handler_order::entry::code_of(const event& what) const {
  const auto newer = newer_name(what.code);
  return codes.empty() || has_code(*this, newer) ? newer : what.code;
}

caf::expected<uint64_t> handler_order::add(const register_handler& request) {
  if (index_.size() >= settings_.capacity)
    return make_error(status::out_of_resource,
                      std::to_string(index_.size())
                        + " event handlers are the most; deregister some");
  const auto& directives = request.directives;
  auto x = slot{entry_of(request), place::middle};
  if (auto err = fault_of(x.what))
    return err;
  const auto id = next_;
  x.what.id = id;
  for (const auto& [key, seat] : {std::pair{attr::event_hdlr_first, &first_},
                                  std::pair{attr::event_hdlr_last, &last_}}) {
    if (!flag(directives, key))
      continue;
    if (!seat->empty())
      return make_error(
        status::event_registration,
        "handler " + std::to_string(seat->front().what.id) + " is the "
          + (seat == &first_ ? "first" : "last")
          + " of all already; deregister it or ask for another place");
    seat->push_back(std::move(x));
    index_[id] = {seat, seat->begin()};
    ++next_;
    return id;
  }
  // A code given twice makes a registration for several codes all the same.
  insert(std::move(x),
         request.codes.empty()      ? any_code
         : request.codes.size() > 1 ? several_codes
                                    : single_code,
         directives);
  ++next_;
  return id;
}

void handler_order::insert(slot x, size_t home,
                           const std::vector<info>& directives) {
  const auto id = x.what.id;
  const auto put = [&](category& in, category::iterator at) {
    index_[id] = {&in, in.insert(at, std::move(x))};
  };
  auto& own = categories_[home];
  // From the ends: those in between are many, those that insist are few.
  const auto behind_fronts = [&] {
    return std::find_if(own.begin(), own.end(),
                        [](const slot& y) { return y.where != place::front; });
  };
  const auto before_backs = [&] {
    return std::find_if(own.rbegin(), own.rend(),
                        [](const slot& y) { return y.where != place::back; })
      .base();
  };
  if (flag(directives, attr::event_hdlr_first_in_category)) {
    x.where = place::front;
    put(own, own.begin());
    return;
  }
  if (flag(directives, attr::event_hdlr_last_in_category)) {
    x.where = place::back;
    put(own, own.end());
    return;
  }
  auto prepend =
    flag(directives, attr::event_hdlr_prepend)
    || (settings_.newest_first && !flag(directives, attr::event_hdlr_append));
  const auto before = text(directives, attr::event_hdlr_before);
  const auto after = text(directives, attr::event_hdlr_after);
  if (before || after) {
    // A neighbour of another category takes the handler along to its own.
    const auto neighbour = find_name(before ? *before : *after);
    if (neighbour.in != nullptr && neighbour.in != &first_
        && neighbour.in != &last_) {
      x.where = neighbour.at->where;
      put(*neighbour.in, before ? neighbour.at : std::next(neighbour.at));
      return;
    }
    if (neighbour.in != nullptr)
      prepend = neighbour.in == &first_;
  }
  put(own, prepend ? behind_fronts() : before_backs());
}

handler_order::position handler_order::find_name(const std::string& name) {
  const auto look = [&](category& in) {
    const auto at = std::find_if(
      in.begin(), in.end(), [&](const slot& x) { return x.what.name == name; });
    return at != in.end() ? position{&in, at} : position{nullptr, {}};
  };
  if (name.empty())
    return {nullptr, {}};
  for (auto* in : {&first_, &categories_[single_code],
                   &categories_[several_codes], &categories_[any_code], &last_})
    if (const auto found = look(*in); found.in != nullptr)
      return found;
  return {nullptr, {}};
}

bool handler_order::remove(uint64_t id) {
  const auto node = index_.extract(id);
  if (node.empty())
    return false;
  node.mapped().in->erase(node.mapped().at);
  return true;
}

const handler_order::entry* handler_order::find(uint64_t id) const {
  const auto i = index_.find(id);
  return i != index_.end() ? &i->second.at->what : nullptr;
}

std::vector<uint64_t> handler_order::match(const event& what,
                                           const proc_id& self) const {
  auto result = std::vector<uint64_t>{};
  const auto affected = affected_procs(what.infos);
  for (const auto* in :
       {&first_, &categories_[single_code], &categories_[several_codes],
        &categories_[any_code], &last_})
    for (const auto& x : *in)
      if (wants(x.what, what, affected, self))
        result.push_back(x.what.id);
  return result;
}

bool handler_order::matches(uint64_t id, const event& what,
                            const proc_id& self) const {
  const auto* x = find(id);
  return x != nullptr && wants(*x, what, affected_procs(what.infos), self);
}

} // namespace troupe
