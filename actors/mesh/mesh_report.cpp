#include "actors/mesh/mesh_report.hpp"

#include <string>
#include <utility>

namespace troupe {

namespace {

info text(std::string_view key, std::string_view x) {
  return {std::string{key}, 0, value::string(std::string{x})};
}

info number(std::string_view key, uint64_t x) {
  return {std::string{key}, 0, value::uint64(x)};
}

info yes_or_no(std::string_view key, bool x) {
  return {std::string{key}, 0, value::boolean(x)};
}

template <class Xs, class F>
info list(std::string_view key, const Xs& xs, F make) {
  auto items = std::vector<value>{};
  items.reserve(xs.size());
  for (const auto& x : xs)
    items.push_back(make(x));
  return {std::string{key}, 0, report_list(std::move(items))};
}

value report_of(const node_address& x) {
  return value::infos({text("network", x.network), text("address", x.address),
                       number("port", x.port)});
}

value report_of(const lane_status& x) {
  auto result = std::vector<info>{
    number("lane", x.lane),
    text("network", x.network),
    text("local", x.local),
    text("remote", x.remote),
    yes_or_no("usable", x.is_usable),
    number("round_trip_ns", static_cast<uint64_t>(x.round_trip.count()))};
  if (x.relay)
    result.push_back(number("relay", *x.relay));
  return value::infos(std::move(result));
}

value report_of(const peer_status& x) {
  auto result = std::vector<info>{
    number("rank", x.rank),
    text("name", x.name),
    yes_or_no("connected", x.is_connected),
    list("lanes", x.lanes, [](const auto& y) { return report_of(y); }),
    number("sent", x.sent),
    number("resent", x.resent),
    number("delivered", x.delivered),
    number("duplicates", x.duplicates),
    number("waiting_bytes", x.waiting_bytes)};
  if (!x.trouble.empty())
    result.push_back(text("trouble", x.trouble));
  return value::infos(std::move(result));
}

value report_of(const gauge& x) {
  auto result = std::vector<info>{
    text("name", x.name), number("value", x.value), text("unit", x.unit)};
  if (x.bound > 0)
    result.push_back(number("bound", x.bound));
  return value::infos(std::move(result));
}

} // namespace

value report_list(std::vector<value> items) {
  auto result = std::vector<info>{};
  result.reserve(items.size());
  for (auto& x : items)
    result.push_back({std::string{report_item_key}, 0, std::move(x)});
  return value::infos(std::move(result));
}

std::string_view text_of(node_state x) {
  switch (x) {
    case node_state::live:
      return "live";
    case node_state::lost:
      return "lost";
    case node_state::left:
      return "left";
    default:
      return "expected";
  }
}

std::string_view text_of(mesh_duty x) {
  switch (x) {
    case mesh_duty::active:
      return "active";
    case mesh_duty::suspended:
      return "suspended";
    case mesh_duty::fenced:
      return "fenced";
    default:
      return "joining";
  }
}

value net_report(const mesh_status& x) {
  auto result = std::vector<info>{
    number("rank", x.rank),
    text("name", x.name),
    number("incarnation", x.incarnation),
    number("epoch", x.epoch),
    text("duty", text_of(x.duty)),
    list("addresses", x.addresses, [](const auto& y) { return report_of(y); }),
    list("peers", x.peers, [](const auto& y) { return report_of(y); }),
    list("gauges", x.gauges, [](const auto& y) { return report_of(y); })};
  if (x.parent)
    result.push_back(number("parent", *x.parent));
  return value::infos(std::move(result));
}

value silent_report(uint32_t rank, const std::string& why) {
  return value::infos({number("rank", rank), text("trouble", why)});
}

} // namespace troupe
