#include "messages/attributes.hpp"

#include <algorithm>
#include <iterator>

namespace troupe {

namespace {

constexpr attribute table[] = {
#define TROUPE_ATTRIBUTE(name, c_name, key, type)                              \
  {c_name, key, data_type::type},
#include "messages/attributes.def"
#undef TROUPE_ATTRIBUTE
};

template <class Predicate>
const attribute* find_attribute(Predicate predicate) {
  const auto* i = std::find_if(std::begin(table), std::end(table), predicate);
  return i != std::end(table) ? i : nullptr;
}

} // namespace

const attribute* attribute_named(std::string_view c_name) {
  return find_attribute([=](const attribute& x) { return x.c_name == c_name; });
}

const attribute* attribute_of(std::string_view key) {
  return find_attribute([=](const attribute& x) { return x.key == key; });
}

const attribute* all_attributes(size_t& count) {
  count = std::size(table);
  return std::begin(table);
}

} // namespace troupe
