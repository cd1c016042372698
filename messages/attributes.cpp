#include "messages/attributes.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace troupe {

namespace {

/// With its texts inside. Pointers to them the loader would write at every start
/// of a process, seven pages, and few processes ever look here.
struct row {
  char c_name[38];
  char key[24];
  data_type type;
};

constexpr row rows[] = {
#define TROUPE_ATTRIBUTE(name, c_name, key, type)                              \
  {c_name, key, data_type::type},
#include "messages/attributes.def"
#undef TROUPE_ATTRIBUTE
};

using attribute_table = std::array<attribute, std::size(rows)>;

/// No constant: the compiler would make what it returns part of the library.
attribute_table make_table() noexcept {
  auto result = attribute_table{};
  std::transform(std::begin(rows), std::end(rows), result.begin(),
                 [](const row& x) {
                   return attribute{x.c_name, x.key, x.type};
                 });
  return result;
}

/// Made when somebody looks.
const attribute_table& table() noexcept {
  static const auto result = make_table();
  return result;
}

template <class Predicate>
const attribute* find_attribute(Predicate predicate) {
  const auto& all = table();
  const auto* i = std::find_if(all.begin(), all.end(), predicate);
  return i != all.end() ? i : nullptr;
}

} // namespace

const attribute* attribute_named(std::string_view c_name) {
  return find_attribute([=](const attribute& x) { return x.c_name == c_name; });
}

const attribute* attribute_of(std::string_view key) {
  return find_attribute([=](const attribute& x) { return x.key == key; });
}

const attribute* all_attributes(size_t& count) {
  count = table().size();
  return table().data();
}

} // namespace troupe
