#include "tests/c_api/structures.hpp"

#include "adapters/c_values/c_types.hpp"
#include "tests/adapters/wire/values.hpp"

#include <pmix.h>

namespace troupe::c_api::test {

namespace {

void each_info(std::vector<info>& xs, const std::function<void(value&)>& f) {
  for (auto& x : xs)
    each_value(x.val, f);
}

double to_float(double x) {
  return static_cast<float>(x);
}

/// What happens to the data of one value; those inside have been seen to.
void pass_through(value& x) {
  if (x.type == data_type::info_array)
    x.type = data_type::data_array;
  if (x.type == data_type::float_)
    x.data = to_float(std::get<double>(x.data));
  if (std::holds_alternative<std::monostate>(x.data)
      && (x.type == data_type::proc_nspace
          || storage_of(x.type) == storage_class::bytes))
    x.data = std::string{};
  if (auto* y = std::get_if<box<info>>(&x.data))
    (*y)->flags &= ~info_persistent;
  if (auto* y = std::get_if<box<app>>(&x.data))
    for (auto& z : (*y)->infos)
      z.flags &= ~info_persistent;
  if (auto* y = std::get_if<box<query>>(&x.data))
    for (auto& z : (*y)->qualifiers)
      z.flags &= ~info_persistent;
  if (auto* y = std::get_if<box<regattr>>(&x.data))
    for (auto& z : (*y)->description)
      z = z.value_or("");
  if (auto* y = std::get_if<box<proc_stats>>(&x.data))
    for (auto* z : {&(*y)->percent_cpu, &(*y)->pss, &(*y)->vsize, &(*y)->rss,
                    &(*y)->peak_vsize})
      *z = to_float(*z);
  if (auto* y = std::get_if<box<node_stats>>(&x.data)) {
    auto& s = **y;
    for (auto* z : {&s.load_average, &s.load_average_5, &s.load_average_15,
                    &s.total_memory, &s.free_memory, &s.buffers, &s.cached,
                    &s.swap_cached, &s.swap_total, &s.swap_free, &s.mapped})
      *z = to_float(*z);
  }
}

} // namespace

void each_value(value& x, const std::function<void(value&)>& f) {
  if (auto* y = std::get_if<box<value>>(&x.data))
    each_value(**y, f);
  if (auto* y = std::get_if<box<info>>(&x.data))
    each_value((*y)->val, f);
  if (auto* y = std::get_if<box<pdata>>(&x.data))
    each_value((*y)->val, f);
  if (auto* y = std::get_if<box<key_value>>(&x.data))
    each_value((*y)->val, f);
  if (auto* y = std::get_if<box<app>>(&x.data))
    each_info((*y)->infos, f);
  if (auto* y = std::get_if<box<query>>(&x.data))
    each_info((*y)->qualifiers, f);
  if (auto* y = std::get_if<box<data_array>>(&x.data))
    for (auto& z : (*y)->elements)
      each_value(z, f);
  f(x);
}

bool has_form(value x) {
  auto result = true;
  each_value(x, [&](value& y) {
    if (y.type != data_type::undef && y.type != data_type::info_array
        && c_type_of(y.type).size == 0)
      result = false;
    const auto* array = std::get_if<box<data_array>>(&y.data);
    if (array != nullptr && (*array)->element_type != data_type::undef
        && c_type_of((*array)->element_type).size == 0)
      result = false;
  });
  return result;
}

value random_value(data_type type) {
  auto rules = wire::dialect{};
  rules.peer = {5, 0, 0};
  rules.all_types = true;
  auto x = wire::test::value_source{rules}.of(type);
  // Processors and topologies are no random texts.
  each_value(x, [](value& y) {
    if (y.type == data_type::proc_cpuset
        && std::holds_alternative<std::string>(y.data))
      y.data = std::string{"0-3,7"};
    if (y.type == data_type::topology)
      y.data = std::monostate{};
  });
  RC_PRE(has_form(x));
  return x;
}

value through_c(value x) {
  each_value(x, pass_through);
  return x;
}

c_value::~c_value() {
  PMIx_Value_destruct(&x);
}

const std::vector<data_type>& c_types() {
  static const auto result = [] {
    auto xs = std::vector<data_type>{};
    for (uint16_t i = 1; i < 80; ++i)
      if (c_type_of(pmix_data_type_t{i}).size != 0)
        xs.push_back(static_cast<data_type>(i));
    return xs;
  }();
  return result;
}

} // namespace troupe::c_api::test
