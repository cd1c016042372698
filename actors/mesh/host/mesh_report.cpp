#include "actors/mesh/host/mesh_report.hpp"

#include "base/lane_kind.hpp"
#include "base/report_values.hpp"

#include <string>
#include <utility>

namespace troupe {

namespace {

template <class Xs, class F>
info list(std::string_view key, const Xs& xs, F make) {
  return {std::string{key}, 0, report_list(xs, make)};
}

value report_of(const node_address& x) {
  return value::infos({report_text("network", x.network),
                       report_text("address", x.address),
                       report_number("port", x.port),
                       report_text("kind", text_of(lane_kind_of(x.address)))});
}

value report_of(const lane_status& x) {
  auto result = std::vector<info>{
    report_number("lane", x.lane),
    report_text("network", x.network),
    report_text("local", x.local),
    report_text("remote", x.remote),
    report_flag("usable", x.is_usable),
    report_number("round_trip_ns",
                  static_cast<uint64_t>(x.round_trip.count()))};
  if (!x.local.empty())
    result.push_back(report_text("kind", text_of(lane_kind_of(x.local))));
  if (x.relay)
    result.push_back(report_number("relay", *x.relay));
  return value::infos(std::move(result));
}

value report_of(const peer_status& x) {
  auto result = std::vector<info>{
    report_number("rank", x.rank),
    report_text("name", x.name),
    report_flag("connected", x.is_connected),
    list("lanes", x.lanes, [](const auto& y) { return report_of(y); }),
    report_number("sent", x.sent),
    report_number("resent", x.resent),
    report_number("delivered", x.delivered),
    report_number("duplicates", x.duplicates),
    report_number("failovers", x.failovers),
    report_number("waiting_bytes", x.waiting_bytes)};
  if (!x.trouble.empty())
    result.push_back(report_text("trouble", x.trouble));
  return value::infos(std::move(result));
}

value report_of(const gauge& x) {
  auto result = std::vector<info>{report_text("name", x.name),
                                  report_number("value", x.value),
                                  report_text("unit", x.unit)};
  if (x.bound > 0)
    result.push_back(report_number("bound", x.bound));
  return value::infos(std::move(result));
}

} // namespace

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
    report_number("rank", x.rank),
    report_text("name", x.name),
    report_number("incarnation", x.incarnation),
    report_number("epoch", x.epoch),
    report_text("duty", text_of(x.duty)),
    list("addresses", x.addresses, [](const auto& y) { return report_of(y); }),
    list("peers", x.peers, [](const auto& y) { return report_of(y); }),
    list("gauges", x.gauges, [](const auto& y) { return report_of(y); })};
  if (x.parent)
    result.push_back(report_number("parent", *x.parent));
  return value::infos(std::move(result));
}

value silent_report(uint32_t rank, const std::string& why) {
  return value::infos(
    {report_number("rank", rank), report_text("trouble", why)});
}

} // namespace troupe
