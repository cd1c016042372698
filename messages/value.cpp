#include "messages/value.hpp"

#include <tuple>
#include <utility>

namespace troupe {

value::value() = default;

value::value(data_type type, storage data) : type(type), data(std::move(data)) {
  // nop
}

value::value(const value& other) = default;

value::value(value&& other) noexcept = default;

value& value::operator=(const value& other) = default;

value& value::operator=(value&& other) noexcept = default;

value::~value() = default;

// -- makers ------------------------------------------------------------------

value value::boolean(bool x) {
  return {data_type::bool_, x};
}

value value::string(std::string x) {
  return {data_type::string, std::move(x)};
}

value value::uint16(uint16_t x) {
  return {data_type::uint16, uint64_t{x}};
}

value value::uint32(uint32_t x) {
  return {data_type::uint32, uint64_t{x}};
}

value value::uint64(uint64_t x) {
  return {data_type::uint64, x};
}

value value::size(uint64_t x) {
  return {data_type::size, x};
}

value value::integer(int32_t x) {
  return {data_type::int_, int64_t{x}};
}

value value::pid(uint32_t x) {
  return {data_type::pid, uint64_t{x}};
}

value value::rank(uint32_t x) {
  return {data_type::proc_rank, uint64_t{x}};
}

value value::of_status(int32_t x) {
  return {data_type::status, int64_t{x}};
}

value value::of_proc(proc_id x) {
  return {data_type::proc, std::move(x)};
}

value value::bytes(std::string x) {
  return {data_type::byte_object, std::move(x)};
}

value value::infos(std::vector<info> xs) {
  auto elements = std::vector<value>{};
  elements.reserve(xs.size());
  for (auto& x : xs)
    elements.push_back({data_type::info, box<info>{std::move(x)}});
  return array(data_type::info, std::move(elements));
}

value value::procs(std::vector<proc_id> xs) {
  auto elements = std::vector<value>{};
  elements.reserve(xs.size());
  for (auto& x : xs)
    elements.push_back(of_proc(std::move(x)));
  return array(data_type::proc, std::move(elements));
}

value value::array(data_type element_type, std::vector<value> xs) {
  return {data_type::data_array,
          box<data_array>{data_array{element_type, std::move(xs)}}};
}

// -- readers -----------------------------------------------------------------

const std::string* value::text() const {
  if (storage_of(type) != storage_class::text)
    return nullptr;
  return std::get_if<std::string>(&data);
}

const proc_id* value::proc() const {
  return std::get_if<proc_id>(&data);
}

const data_array* value::array() const {
  const auto* x = std::get_if<box<data_array>>(&data);
  return x != nullptr ? &**x : nullptr;
}

bool value::truth() const {
  if (type == data_type::undef)
    return true;
  if (const auto* x = text())
    return !x->empty()
           && std::string_view{"tTyY1"}.find(x->front())
                != std::string_view::npos;
  if (const auto x = number<int64_t>())
    return *x != 0;
  return number<uint64_t>().value_or(0) != 0;
}

// -- comparison --------------------------------------------------------------

namespace {

/// Compares the fields that it is shown with those of another structure.
template <class... Ts>
struct second_fields {
  using result_type = bool;

  template <class Name>
  bool operator()(const Name&, Ts&... xs) const {
    return first == std::tie(xs...);
  }

  std::tuple<Ts&...> first;
};

/// Takes the fields of the first of two structures to those of the second.
template <class T>
struct first_fields {
  using result_type = bool;

  template <class Name, class... Ts>
  bool operator()(const Name&, Ts&... xs) const {
    auto f = second_fields<Ts...>{std::tie(xs...)};
    return inspect(f, second);
  }

  T& second;
};

/// Whether all fields are equal that the inspector lists.
template <class T>
bool equal(const T& l, const T& r) {
  // Inspectors take what they might change; these only look.
  auto f = first_fields<T>{const_cast<T&>(r)};
  return inspect(f, const_cast<T&>(l));
}

} // namespace

bool operator==(const value& l, const value& r) {
  return l.type == r.type && l.data == r.data;
}

#define TROUPE_EQUALITY(type)                                                  \
  bool operator==(const type& l, const type& r) {                              \
    return equal(l, r);                                                        \
  }

TROUPE_EQUALITY(data_array)

#define TROUPE_STRUCTURE(type, ...) TROUPE_EQUALITY(type)
#include "messages/fields.def"

#undef TROUPE_EQUALITY

// -- lists of infos ----------------------------------------------------------

const value* find(const std::vector<info>& infos, std::string_view key) {
  for (const auto& x : infos)
    if (x.key == key)
      return &x.val;
  return nullptr;
}

bool flag(const std::vector<info>& infos, std::string_view key) {
  const auto* x = find(infos, key);
  return x != nullptr && x->truth();
}

std::optional<std::string> text(const std::vector<info>& infos,
                                std::string_view key) {
  if (const auto* x = find(infos, key))
    if (const auto* str = x->text())
      return *str;
  return std::nullopt;
}

std::vector<info> infos_of(const value& x) {
  auto result = std::vector<info>{};
  if (const auto* array = x.array()) {
    result.reserve(array->elements.size());
    for (const auto& element : array->elements)
      if (const auto* y = std::get_if<box<info>>(&element.data))
        result.push_back(**y);
  }
  return result;
}

std::vector<proc_id> procs_of(const value& x) {
  auto result = std::vector<proc_id>{};
  if (const auto* proc = x.proc()) {
    result.push_back(*proc);
  } else if (const auto* array = x.array()) {
    for (const auto& element : array->elements)
      if (const auto* y = element.proc())
        result.push_back(*y);
  }
  return result;
}

} // namespace troupe
