#include "actors/control/control_table.hpp"

#include "actors/control/control_directives.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

control_state state_of(const control_result& x) {
  switch (x.code) {
    case status::success:
      return control_state::done;
    case status::partial_success:
      return control_state::partial;
    case status::job_canceled:
      return control_state::cancelled;
    default:
      return control_state::failed;
  }
}

std::string quoted(const std::string& x) {
  return "\"" + x + "\"";
}

} // namespace

std::vector<info> control_result::describe() const {
  auto result = infos;
  if (!reason.empty())
    result.push_back(
      make_info(attr::event_text_message, value::string(reason)));
  if (reached > 0)
    result.push_back(make_info(control_key::reached, value::size(reached)));
  if (!absent.empty())
    result.push_back(make_info(control_key::absent, value::procs(absent)));
  if (!missing.empty())
    result.push_back(make_info(control_key::missing, value::procs(missing)));
  return result;
}

std::string_view to_string(control_state x) {
  switch (x) {
    case control_state::running:
      return "running";
    case control_state::done:
      return "done";
    case control_state::partial:
      return "partial";
    case control_state::failed:
      return "failed";
    case control_state::cancelled:
      return "cancelled";
  }
  return "unknown";
}

control_table::control_table(control_limits bounds) : bounds_(bounds) {
  // nop
}

caf::expected<uint64_t> control_table::open(const control_owner& owner,
                                            std::optional<std::string> id,
                                            std::string what, time now) {
  forget_old(now);
  if (id)
    for (const auto& [number, x] : outstanding_)
      if (x.owner == owner && x.id == id)
        return make_error(status::err_exists,
                          "request " + quoted(*id) + " of "
                            + to_string(owner.proc)
                            + " is outstanding: choose another id, or cancel "
                              "it first");
  const auto of_owner = per_owner_.find(owner);
  if (of_owner != per_owner_.end() && of_owner->second >= bounds_.per_owner)
    return make_error(status::out_of_resource,
                      to_string(owner.proc) + " has "
                        + std::to_string(of_owner->second)
                        + " outstanding requests: cancel some, or wait");
  if (outstanding_.size() >= bounds_.all)
    return make_error(status::out_of_resource,
                      std::to_string(outstanding_.size())
                        + " requests for control are outstanding: wait");
  if (id)
    over_.erase(std::remove_if(over_.begin(), over_.end(),
                               [&](const past& x) {
                                 return x.what.owner == owner
                                        && x.what.id == id;
                               }),
                over_.end());
  const auto number = next_++;
  auto& x = outstanding_[number];
  x.number = number;
  x.owner = owner;
  x.id = std::move(id);
  x.what = std::move(what);
  ++per_owner_[owner];
  return number;
}

void control_table::note(uint64_t number, control_result so_far) {
  const auto i = outstanding_.find(number);
  if (i != outstanding_.end())
    i->second.result = std::move(so_far);
}

void control_table::close(uint64_t number, control_result result, time now) {
  auto node = outstanding_.extract(number);
  if (node.empty())
    return;
  auto& x = node.mapped();
  const auto count = per_owner_.find(x.owner);
  if (--count->second == 0)
    per_owner_.erase(count);
  x.state = state_of(result);
  x.result = std::move(result);
  // Nobody can ask for one without an id later.
  if (x.id)
    over_.push_back({std::move(x), now + bounds_.memory});
  forget_old(now);
}

caf::expected<std::vector<uint64_t>>
control_table::find_outstanding(const control_scope& whose,
                                const std::optional<std::string>& id) const {
  auto result = std::vector<uint64_t>{};
  for (const auto& [number, x] : outstanding_)
    if (whose.has(x.owner) && (!id || x.id == id))
      result.push_back(number);
  if (!id || !result.empty())
    return result;
  const auto is_over =
    std::any_of(over_.begin(), over_.end(), [&](const past& x) {
      return whose.has(x.what.owner) && x.what.id == id;
    });
  return make_error(status::not_found,
                    "request " + quoted(*id)
                      + (is_over ? " is over already" : " is not known"));
}

const control_record* control_table::find(uint64_t number) const {
  const auto i = outstanding_.find(number);
  if (i != outstanding_.end())
    return &i->second;
  for (const auto& x : over_)
    if (x.what.number == number)
      return &x.what;
  return nullptr;
}

std::vector<const control_record*>
control_table::list(const control_scope& whose,
                    const std::optional<std::string>& id, time now) {
  forget_old(now);
  auto result = std::vector<const control_record*>{};
  const auto is_meant = [&](const control_record& x) {
    return whose.has(x.owner) && (!id || x.id == id);
  };
  for (const auto& x : over_)
    if (is_meant(x.what))
      result.push_back(&x.what);
  for (const auto& [number, x] : outstanding_)
    if (is_meant(x))
      result.push_back(&x);
  std::sort(result.begin(), result.end(),
            [](const auto* x, const auto* y) { return x->number < y->number; });
  return result;
}

std::vector<info> control_table::describe(const control_record& x) {
  auto result = std::vector<info>{};
  if (x.id)
    result.push_back(make_info(attr::job_ctrl_id, value::string(*x.id)));
  result.push_back(make_info("requestor", value::of_proc(x.owner.proc)));
  result.push_back(make_info("what", value::string(x.what)));
  result.push_back(
    make_info("state", value::string(std::string{to_string(x.state)})));
  const auto code = x.state == control_state::running
                      ? status::operation_in_progress
                      : x.result.code;
  result.push_back(
    make_info("status", value::of_status(static_cast<int32_t>(code))));
  for (auto& y : x.result.describe())
    result.push_back(std::move(y));
  return result;
}

void control_table::forget_old(time now) {
  while (!over_.empty()
         && (over_.size() > bounds_.remembered || over_.front().until <= now))
    over_.pop_front();
}

} // namespace troupe
