#include "adapters/wire/unpack_value.hpp"

#include "messages/fields.hpp"

#include <charconv>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace troupe::wire {

namespace {

using storage = value::storage;

// -- fields ------------------------------------------------------------------

/// FLOAT and DOUBLE travel as decimal text with six digits after the point.
double unpack_double(reader& r) {
  const auto text = r.string_or_empty();
  auto result = 0.0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, result);
  if (r.ok() && (stop != end || error != std::errc{}))
    r.fail("the text of a floating-point number is none");
  return result;
}

/// The type that counts the elements of a list.
template <class T>
constexpr data_type element_type() {
  if constexpr (std::is_same_v<T, info>)
    return data_type::info;
  else if constexpr (std::is_same_v<T, coord>)
    return data_type::coord;
  else if constexpr (std::is_same_v<T, disk_stats>)
    return data_type::disk_stats;
  else if constexpr (std::is_same_v<T, net_stats>)
    return data_type::net_stats;
  else
    return data_type::uint32;
}

/// Reads the fields that it is shown (see messages/fields.hpp).
class unpacker {
public:
  explicit unpacker(reader& r) : r_(r) {
    // nop
  }

  template <class... Ts>
  void operator()(Ts&... xs) {
    (take(xs), ...);
  }

  void key(std::string& x) {
    x = r_.key();
  }

  void nspace(std::string& x) {
    x = r_.nspace();
  }

  void command(std::string& x) {
    x = r_.string_or_empty();
  }

  void strings(std::vector<std::string>& xs) {
    strings(xs, max_strings_from_client, "strings");
  }

  void strings(std::vector<std::optional<std::string>>& xs) {
    xs = unpack_elements(r_, r_.count32(data_type::string), unpack_string);
  }

  void keys(std::vector<std::string>& xs) {
    strings(xs, max_query_keys_from_client, "keys in a query");
  }

  void blob(std::string& x) {
    x = r_.blob();
  }

  void size(uint64_t& x) {
    x = r_.size();
  }

  void pid(uint32_t& x) {
    r_.inner_tag(data_type::pid);
    take(x);
  }

  void as_signed(uint16_t& x) {
    x = static_cast<uint16_t>(r_.signed_integer(2));
  }

  void arguments(std::vector<std::string>& xs) {
    r_.inner_tag(data_type::int_);
    strings(xs);
  }

  void integer(int32_t& x) {
    r_.inner_tag(data_type::int_);
    take(x);
  }

  void unsent(double) {
    // nop
  }

private:
  void strings(std::vector<std::string>& xs, size_t most, const char* what) {
    const auto n = r_.count32(data_type::string);
    r_.at_most(n, most, what);
    xs = unpack_elements(r_, n, [](reader& r) {
      const auto x = r.string();
      if (!x)
        r.fail("a string in a list is null");
      return std::string{x.value_or(std::string_view{})};
    });
  }

  template <class T>
  void take(T& x) {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
      x = static_cast<T>(r_.signed_integer(sizeof(T)));
    else if constexpr (std::is_integral_v<T>)
      x = static_cast<T>(r_.unsigned_integer(sizeof(T)));
    else
      each_field(*this, x, &x);
  }

  void take(double& x) {
    x = unpack_double(r_);
  }

  void take(data_type& x) {
    x = r_.type_tag();
  }

  void take(std::optional<std::string>& x) {
    x = unpack_string(r_);
  }

  void take(value& x) {
    x = unpack_value(r_);
  }

  template <class T>
  void take(std::vector<T>& xs) {
    xs = unpack_elements(r_, r_.count(element_type<T>()), [](reader& r) {
      auto x = T{};
      unpacker{r}(x);
      return x;
    });
  }

  reader& r_;
};

template <class T>
T unpack_fields(reader& r) {
  auto x = T{};
  unpacker{r}(x);
  return x;
}

} // namespace

std::optional<std::string> unpack_string(reader& r) {
  if (const auto x = r.string())
    return std::string{*x};
  return std::nullopt;
}

proc_id unpack_proc(reader& r) {
  return unpack_fields<proc_id>(r);
}

resource_unit unpack_resource_unit(reader& r) {
  return unpack_fields<resource_unit>(r);
}

device_distance unpack_device_distance(reader& r) {
  return unpack_fields<device_distance>(r);
}

std::optional<std::string> unpack_topology(reader& r) {
  auto xml = unpack_string(r);
  if (xml)
    r.bytes(topology_support_size);
  return xml;
}

namespace {

// -- scalars -----------------------------------------------------------------

/// Whatever is not 0 is true. Source: OpenPMIx, whose programs send what they have
/// not set (prun of PRRTE 4.1).
bool unpack_bool(reader& r) {
  return r.byte() != 0;
}

storage unpack_text(reader& r, data_type x) {
  const auto text = r.string();
  if (!text)
    return std::monostate{};
  if (x == data_type::proc_nspace && text->size() > max_nspace_length)
    r.fail("a namespace has more than 255 bytes");
  return std::string{*text};
}

// -- bytes that need a look --------------------------------------------------

std::string unpack_buffer(reader& r) {
  const auto type = r.byte();
  if (type != 1 && type != 2)
    r.fail("a buffer is of no known type");
  return std::string{r.blob()};
}

/// A REGEX has no length: its beginning says how to find its end.
std::string unpack_regex(reader& r) {
  if (r.from() == origin::client) {
    r.fail("a client sent a REGEX");
    return {};
  }
  constexpr auto size_prefix = std::string_view{"size="};
  auto result = std::string{r.up_to_zero()};
  if (result != std::string_view{"blob:\0", 6})
    return result;
  result += r.up_to_zero();
  const auto size = r.up_to_zero();
  // `size=<n>:` and a zero.
  auto n = size_t{0};
  auto is_size = size.size() > size_prefix.size() + 2
                 && size.substr(0, size_prefix.size()) == size_prefix;
  if (is_size) {
    const auto* end = size.data() + size.size() - 2;
    is_size =
      *end == ':'
      && std::from_chars(size.data() + size_prefix.size(), end, n).ptr == end;
  }
  if (!is_size) {
    r.fail("the size of a REGEX is none");
    return {};
  }
  result += size;
  result += r.bytes(n);
  return result;
}

std::string unpack_regex2(reader& r) {
  auto result = std::string{r.string_or_empty()};
  result += '\0';
  result += r.blob();
  return result;
}

// -- arrays ------------------------------------------------------------------

/// Lists of processes from here on are looked through for repetitions.
constexpr size_t long_list = 1024;

/// Drops processes that have been named before: that says nothing new, and
/// whoever names one 60,000 times shall cost those behind us no more than if it
/// did so once.
void keep_each_once(std::vector<proc_id>& xs) {
  auto seen = std::unordered_map<std::string, std::unordered_set<uint32_t>>{};
  // Those of a namespace mostly follow each other. Elements stay where they are
  // when others come.
  decltype(seen)::pointer last = nullptr;
  const auto is_again = [&](const proc_id& x) {
    if (last == nullptr || last->first != x.nspace)
      last = &*seen.try_emplace(x.nspace).first;
    return !last->second.insert(x.rank).second;
  };
  auto end = xs.begin();
  for (auto& x : xs)
    if (!is_again(x)) {
      if (&*end != &x)
        *end = std::move(x);
      ++end;
    }
  xs.erase(end, xs.end());
}

/// Whether `x` may stand in front of a value.
bool check_type(reader& r, data_type x) {
  if (r.ok() && x != data_type::undef && !may_send(r.rules(), x))
    r.fail("a type that the peer's packing module does not have",
           status::unknown_data_type);
  return r.ok();
}

value unpack_element(reader& r, data_type x) {
  auto result = value{x, std::monostate{}};
  if (r.enter())
    result.data = unpack_data(r, x);
  r.leave();
  return result;
}

/// An array of no type is a tag and a size of 0. Libraries of 6 write a null
/// array as the tag alone; no other field begins like that size does.
data_array unpack_undefined_array(reader& r) {
  const auto size =
    r.is_fixed() ? std::string_view{"\0\x0f", 2} : std::string_view{"\0", 1};
  if (r.rules().peer.major < 6 || r.next_is(size))
    if (r.size() != 0)
      r.fail("an array of no type has elements");
  return {};
}

data_array unpack_data_array(reader& r) {
  auto x = data_array{};
  x.element_type = r.type_tag();
  if (!check_type(r, x.element_type))
    return x;
  if (x.element_type == data_type::undef)
    return unpack_undefined_array(r);
  const auto n = r.count(x.element_type);
  if (n > 0)
    r.inner_tag(x.element_type);
  x.elements = unpack_elements(r, n, [type = x.element_type](reader& r) {
    return unpack_element(r, type);
  });
  return x;
}

data_array unpack_info_array(reader& r) {
  auto x = data_array{};
  x.element_type = data_type::info;
  const auto n = r.count(data_type::info);
  x.elements = unpack_elements(
    r, n, [](reader& r) { return unpack_element(r, data_type::info); });
  return x;
}

storage unpack_structure(reader& r, data_type x) {
  switch (x) {
    case data_type::timeval:
      return unpack_fields<timeval_value>(r);
    case data_type::proc:
      return unpack_proc(r);
    case data_type::buffer:
      return unpack_buffer(r);
    case data_type::data_array:
      return box<data_array>{unpack_data_array(r)};
    case data_type::info_array:
      return box<data_array>{unpack_info_array(r)};
    case data_type::regex:
      return unpack_regex(r);
    case data_type::regex2:
      return unpack_regex2(r);
    case data_type::topology: {
      auto xml = unpack_topology(r);
      if (!xml)
        return std::monostate{};
      // Clients of release 6 send all they know of themselves when they
      // connect. Peers would hand the text to hwloc: it goes no further.
      if (r.from() == origin::client)
        return std::monostate{};
      return std::move(*xml);
    }
    default: {
      auto result = storage{};
      if (!visit_structure(x, [&](auto tag) {
            using type = typename decltype(tag)::type;
            result = box<type>{unpack_fields<type>(r)};
          }))
        r.fail("a type without an encoding", status::unknown_data_type);
      return result;
    }
  }
}

} // namespace

// -- values ------------------------------------------------------------------

storage unpack_data(reader& r, data_type x) {
  const auto& row = layout_of(x);
  switch (row.kind) {
    case shape::nothing:
      return std::monostate{};
    case shape::boolean:
      return unpack_bool(r);
    case shape::unsigned_integer:
      return r.unsigned_integer(row.width);
    case shape::signed_integer:
      return r.signed_integer(row.width);
    case shape::unsigned_as_signed:
      return uint64_t{static_cast<uint32_t>(r.signed_integer(row.width))};
    case shape::floating_text:
      return unpack_double(r);
    case shape::text:
      return unpack_text(r, x);
    case shape::bytes:
      return std::string{r.blob()};
    case shape::pointer:
      if (r.byte() != 1)
        r.fail("a pointer is not marked as one");
      return std::monostate{};
    case shape::structure:
      return unpack_structure(r, x);
    case shape::unknown:
      break;
  }
  r.fail("a type without an encoding", status::unknown_data_type);
  return std::monostate{};
}

value unpack_value(reader& r) {
  auto result = value{};
  if (r.enter()) {
    result.type = r.type_tag();
    if (check_type(r, result.type)) {
      r.inner_tag(result.type);
      result.data = unpack_data(r, result.type);
    }
  }
  r.leave();
  return result;
}

info unpack_info(reader& r) {
  return unpack_fields<info>(r);
}

key_value unpack_key_value(reader& r) {
  return unpack_fields<key_value>(r);
}

pdata unpack_pdata(reader& r) {
  return unpack_fields<pdata>(r);
}

app unpack_app(reader& r) {
  return unpack_fields<app>(r);
}

query unpack_query(reader& r) {
  return unpack_fields<query>(r);
}

// -- lists -------------------------------------------------------------------

std::vector<info> unpack_infos(reader& r) {
  return unpack_list(r, data_type::info, unpack_info);
}

std::vector<proc_id> unpack_procs(reader& r) {
  auto result = unpack_list(r, data_type::proc, unpack_proc);
  if (r.from() == origin::client && result.size() > long_list)
    keep_each_once(result);
  return result;
}

std::vector<key_value> unpack_key_values(reader& r) {
  auto result = std::vector<key_value>{};
  // Each comes in a pack of its own; a rank's data are about as many.
  if (r.left() > 0)
    result.reserve(12);
  while (r.left() > 0) {
    const auto n = r.pack(data_type::kval);
    for (size_t i = 0; i < n && r.ok(); ++i)
      result.push_back(unpack_key_value(r));
  }
  return result;
}

} // namespace troupe::wire
