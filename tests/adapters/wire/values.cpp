#include "tests/adapters/wire/values.hpp"

#include "adapters/wire/compression.hpp"

#include <algorithm>

namespace troupe::wire::test {

namespace {

using t = data_type;

/// The types that hold values themselves.
bool is_nesting(t x) {
  return x == t::value || x == t::app || x == t::info || x == t::pdata
         || x == t::kval || x == t::data_array || x == t::query
         || x == t::info_array;
}

} // namespace

size_t value_source::up_to(size_t n) {
  return *rc::gen::inRange<size_t>(0, n + 1);
}

std::string value_source::text() {
  auto x = *rc::gen::arbitrary<std::string>();
  x.erase(std::remove(x.begin(), x.end(), '\0'), x.end());
  return x;
}

std::optional<std::string> value_source::maybe_text() {
  if (up_to(3) == 0)
    return std::nullopt;
  return text();
}

std::string value_source::bytes() {
  return *rc::gen::arbitrary<std::string>();
}

/// A number that six digits after the point keep.
double value_source::decimal() {
  return static_cast<double>(number<int32_t>()) / 64;
}

proc_id value_source::proc() {
  return {text().substr(0, max_nspace_length), number<uint32_t>()};
}

std::vector<proc_id> value_source::procs() {
  auto result = std::vector<proc_id>(up_to(3));
  for (auto& x : result)
    x = proc();
  return result;
}

std::vector<std::string> value_source::texts() {
  auto result = std::vector<std::string>(up_to(3));
  for (auto& x : result)
    x = text();
  return result;
}

std::vector<info> value_source::infos(int depth) {
  auto result = std::vector<info>(up_to(2));
  for (auto& x : result)
    x = {text(), number<uint32_t>(), any(depth + 1)};
  return result;
}

std::vector<key_value> value_source::entries() {
  auto result = std::vector<key_value>(up_to(3));
  for (auto& x : result)
    x = {text(), any(1)};
  return result;
}

app value_source::any_app(int depth) {
  return {text(),       texts(),           texts(),
          maybe_text(), number<int32_t>(), infos(depth)};
}

query value_source::any_query(int depth) {
  return {texts(), infos(depth)};
}

data_type value_source::any_type(int depth) {
  auto types = std::vector<t>{};
  for (uint16_t i = 1; i < 80; ++i) {
    const auto x = static_cast<t>(i);
    if (supports(rules_, x) && (depth < 3 || !is_nesting(x)))
      types.push_back(x);
  }
  return *rc::gen::elementOf(types);
}

value value_source::any(int depth) {
  if (up_to(20) == 0)
    return {};
  return of(any_type(depth), depth);
}

value::storage value_source::integer(const layout& row) {
  const auto bits = number<uint64_t>() >> up_to(63);
  const auto unused = 64 - 8 * row.width;
  if (row.kind == shape::signed_integer)
    return static_cast<int64_t>(bits << unused) >> unused;
  return bits << unused >> unused;
}

data_array value_source::array(int depth) {
  auto x = data_array{};
  // Libraries of 6 write arrays of no type in a form that has two meanings.
  if (rules_.peer.major < 6 && up_to(8) == 0)
    return x;
  x.element_type = any_type(depth + 1);
  for (auto n = up_to(4); n > 0; --n)
    x.elements.push_back(of(x.element_type, depth + 1));
  return x;
}

value::storage value_source::structure(data_type x, int depth) {
  switch (x) {
    case t::timeval:
      return timeval_value{number<int64_t>(), number<int64_t>()};
    case t::value:
      return box<value>{any(depth + 1)};
    case t::proc:
      return proc();
    case t::app:
      return box<app>{any_app(depth)};
    case t::info:
      return box<info>{info{text(), number<uint32_t>(), any(depth + 1)}};
    case t::pdata:
      return box<pdata>{pdata{proc(), text(), any(depth + 1)}};
    case t::kval:
      return box<key_value>{key_value{text(), any(depth + 1)}};
    case t::buffer:
      return bytes();
    case t::regex:
      return "raw:" + text() + '\0';
    case t::regex2:
      return text() + '\0' + bytes();
    case t::topology:
      if (auto xml = maybe_text(); xml && with_topology_)
        return *xml;
      return std::monostate{};
    case t::proc_info:
      return box<proc_info>{proc_info{proc(), maybe_text(), maybe_text(),
                                      number<uint32_t>(), number<uint8_t>()}};
    case t::data_array:
      return box<data_array>{array(depth)};
    case t::info_array: {
      auto y = data_array{t::info, {}};
      for (auto& z : infos(depth + 1))
        y.elements.push_back({t::info, box<info>{z}});
      return box<data_array>{y};
    }
    case t::query:
      return box<query>{any_query(depth)};
    case t::envar:
      return box<envar>{{maybe_text(), maybe_text(), number<uint8_t>()}};
    case t::coord:
      return box<coord>{
        {number<uint8_t>(), *rc::gen::arbitrary<std::vector<uint32_t>>()}};
    case t::regattr:
      return box<regattr>{
        {maybe_text(), text(), any_type(0), {maybe_text(), maybe_text()}}};
    case t::geometry:
      return box<geometry>{{number<uint64_t>(),
                            maybe_text(),
                            maybe_text(),
                            {coord{1, {2, 3}}, coord{}}}};
    case t::device_distance:
      return box<device_distance>{{maybe_text(), maybe_text(),
                                   number<uint64_t>(), number<uint16_t>(),
                                   number<uint16_t>()}};
    case t::endpoint:
      return box<endpoint>{{maybe_text(), maybe_text(), bytes()}};
    case t::device:
      return box<device>{{maybe_text(), maybe_text(), number<uint64_t>()}};
    case t::resource_unit:
      return box<resource_unit>{{number<uint64_t>(), number<uint64_t>()}};
    case t::node_pid:
      return box<node_pid>{
        {maybe_text(), number<uint32_t>(), number<uint32_t>()}};
    case t::proc_stats: {
      // The share of the processor and the peak size do not travel.
      auto y = proc_stats{};
      y.node = maybe_text();
      y.proc = proc();
      y.pid = number<uint32_t>();
      y.cmd = maybe_text();
      y.state = number<uint8_t>();
      y.time = {number<int64_t>(), number<int64_t>()};
      y.priority = number<int32_t>();
      y.num_threads = number<int16_t>();
      y.pss = decimal();
      y.vsize = decimal();
      y.rss = decimal();
      y.processor = number<uint16_t>();
      y.sample_time = {number<int64_t>(), number<int64_t>()};
      return box<proc_stats>{y};
    }
    case t::disk_stats: {
      const auto u = [this] { return number<uint64_t>(); };
      return box<disk_stats>{
        {maybe_text(), u(), u(), u(), u(), u(), u(), u(), u(), u(), u(), u()}};
    }
    case t::net_stats: {
      const auto u = [this] { return number<uint64_t>(); };
      return box<net_stats>{{maybe_text(), u(), u(), u(), u(), u(), u()}};
    }
    case t::node_stats: {
      auto y = node_stats{};
      y.node = maybe_text();
      for (auto* field :
           {&y.load_average, &y.load_average_5, &y.load_average_15,
            &y.total_memory, &y.free_memory, &y.buffers, &y.cached,
            &y.swap_cached, &y.swap_total, &y.swap_free, &y.mapped})
        *field = decimal();
      y.sample_time = {number<int64_t>(), number<int64_t>()};
      y.disks.resize(up_to(2));
      y.nets.resize(up_to(2));
      for (auto& disk : y.disks)
        disk.num_ios_in_progress = number<uint64_t>();
      for (auto& net : y.nets)
        net.num_send_errors = number<uint64_t>();
      return box<node_stats>{y};
    }
    default:
      RC_FAIL("a structure that the tests do not know");
  }
}

value value_source::of(data_type x, int depth) {
  const auto& row = layout_of(x);
  switch (row.kind) {
    case shape::boolean:
      return {x, number<bool>()};
    case shape::unsigned_integer:
    case shape::signed_integer:
    case shape::unsigned_as_signed:
      return {x, integer(row)};
    case shape::floating_text:
      return {x, decimal()};
    case shape::text:
      if (auto y = maybe_text())
        return {x, x == t::proc_nspace ? y->substr(0, max_nspace_length) : *y};
      return {x, std::monostate{}};
    case shape::bytes:
      return {x, x == t::compressed_string ? deflate_text(text()) : bytes()};
    case shape::structure:
      return {x, structure(x, depth)};
    case shape::nothing:
    case shape::pointer:
    case shape::unknown:
      break;
  }
  return {x, std::monostate{}};
}

} // namespace troupe::wire::test
