#include "adapters/wire/pack_value.hpp"

#include "adapters/wire/compression.hpp"
#include "adapters/wire/unpack_value.hpp"
#include "messages/fields.hpp"

#include <charconv>

namespace troupe::wire {

namespace {

using storage = value::storage;

// -- fields ------------------------------------------------------------------

/// FLOAT and DOUBLE travel as decimal text with six digits after the point.
void pack_double(writer& w, double x) {
  // The longest finite number has 309 digits before the point and six after.
  char buffer[352];
  const auto result = std::to_chars(std::begin(buffer), std::end(buffer), x,
                                    std::chars_format::fixed, 6);
  w.string({buffer, static_cast<size_t>(result.ptr - buffer)});
}

/// Released readers of the flex family take a DATA_TYPE for a signed number.
void pack_data_type(writer& w, uint64_t x) {
  if (w.rules().signed_data_type && !w.is_fixed() && x <= UINT16_MAX)
    w.signed_integer(static_cast<int16_t>(x), 2);
  else
    w.unsigned_integer(x, 2);
}

/// Writes the fields that it is shown (see messages/fields.hpp).
class packer {
public:
  explicit packer(writer& w) : w_(w) {
    // nop
  }

  template <class... Ts>
  void operator()(const Ts&... xs) {
    (put(xs), ...);
  }

  void key(const std::string& x) {
    w_.key(x);
  }

  void nspace(const std::string& x) {
    w_.nspace(x);
  }

  void command(const std::string& x) {
    if (x.empty())
      w_.null_string();
    else
      w_.string(std::string_view{x});
  }

  void strings(const std::vector<std::string>& xs) {
    count32(xs.size());
    for (const auto& x : xs)
      w_.string(std::string_view{x});
  }

  void strings(const std::vector<std::optional<std::string>>& xs) {
    count32(xs.size());
    for (const auto& x : xs)
      w_.string(x);
  }

  void keys(const std::vector<std::string>& xs) {
    strings(xs);
  }

  void blob(const std::string& x) {
    w_.blob(x);
  }

  void size(uint64_t x) {
    w_.size(x);
  }

  void pid(uint32_t x) {
    w_.inner_tag(data_type::pid);
    w_.unsigned_integer(x, 4);
  }

  void as_signed(uint16_t x) {
    w_.signed_integer(static_cast<int16_t>(x), 2);
  }

  void arguments(const std::vector<std::string>& xs) {
    w_.inner_tag(data_type::int_);
    strings(xs);
  }

  void integer(int32_t x) {
    w_.inner_tag(data_type::int_);
    put(x);
  }

  void unsent(double) {
    // nop
  }

private:
  void count32(size_t n) {
    w_.signed_integer(static_cast<int64_t>(n), 4);
  }

  template <class T>
  void put(const T& x) {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
      w_.signed_integer(x, sizeof(T));
    else if constexpr (std::is_integral_v<T>)
      w_.unsigned_integer(x, sizeof(T));
    else
      each_field(*this, x, &x);
  }

  void put(double x) {
    pack_double(w_, x);
  }

  void put(data_type x) {
    pack_data_type(w_, static_cast<uint16_t>(x));
  }

  void put(const std::optional<std::string>& x) {
    w_.string(x);
  }

  void put(const value& x) {
    pack_value(w_, x);
  }

  template <class T>
  void put(const std::vector<T>& xs) {
    w_.size(xs.size());
    for (const auto& x : xs)
      put(x);
  }

  /// Infos may be left out.
  void put(const std::vector<info>& xs) {
    auto n = size_t{0};
    w_.preceded(
      [&] {
        for (const auto& x : xs)
          n += w_.entry([&] { put(x); }) ? 1 : 0;
      },
      [&](size_t) { w_.size(n); });
  }

  writer& w_;
};

template <class T>
void pack_fields(writer& w, const T& x) {
  packer{w}(x);
}

} // namespace

void pack_proc(writer& w, const proc_id& x) {
  pack_fields(w, x);
}

void pack_resource_unit(writer& w, const resource_unit& x) {
  pack_fields(w, x);
}

void pack_device_distance(writer& w, const device_distance& x) {
  pack_fields(w, x);
}

void pack_topology(writer& w, const std::optional<std::string>& xml) {
  w.string(xml);
  if (xml)
    for (size_t i = 0; i < topology_support_size; ++i)
      w.byte(0);
}

namespace {

/// Calls `f` with the `T` in `data`; a value must be kept as its type says.
template <class T, class F>
void with(writer& w, const storage& data, F f) {
  if (const auto* x = std::get_if<T>(&data))
    f(*x);
  else
    w.fail("a value is not kept as its type says", status::bad_param);
}

/// The same for structures, which are kept in boxes.
template <class T>
void pack_box(writer& w, const storage& data, void (*f)(writer&, const T&)) {
  with<box<T>>(w, data, [&](const box<T>& x) { f(w, *x); });
}

// -- scalars -----------------------------------------------------------------

void pack_text(writer& w, data_type x, const storage& data) {
  if (std::holds_alternative<std::monostate>(data)) {
    w.null_string();
    return;
  }
  with<std::string>(w, data, [&](const std::string& text) {
    if (x == data_type::proc_nspace)
      w.nspace(text);
    else
      w.string(std::string_view{text});
  });
}

void pack_bytes(writer& w, const storage& data) {
  if (std::holds_alternative<std::monostate>(data))
    w.blob({});
  else
    with<std::string>(w, data, [&](const std::string& x) { w.blob(x); });
}

void pack_unsigned(writer& w, data_type x, unsigned width,
                   const storage& data) {
  with<uint64_t>(w, data, [&](uint64_t number) {
    if (x == data_type::data_type)
      pack_data_type(w, number);
    else
      w.unsigned_integer(number, width);
  });
}

void pack_unsigned_as_signed(writer& w, uint64_t x) {
  if (x > UINT32_MAX)
    w.fail("an integer does not fit its type");
  w.signed_integer(static_cast<int32_t>(static_cast<uint32_t>(x)), 4);
}

// -- bytes that need a look --------------------------------------------------

void pack_buffer(writer& w, const std::string& x) {
  w.byte(w.rules().described ? 2 : 1);
  w.blob(x);
}

void pack_regex2(writer& w, const std::string& x) {
  const auto zero = x.find('\0');
  if (zero == std::string::npos) {
    w.fail("a REGEX2 has no type", status::bad_param);
    return;
  }
  w.string(std::string_view{x}.substr(0, zero));
  w.blob(std::string_view{x}.substr(zero + 1));
}

// -- arrays ------------------------------------------------------------------

/// Whether a value of type `x` has to be turned into a plain string.
bool is_expanded(const writer& w, data_type x) {
  return x == data_type::compressed_string
         && (w.rules().expand_strings || w.rules().peer.major < 5);
}

void pack_expanded(writer& w, const storage& data) {
  with<std::string>(w, data, [&](const std::string& compressed) {
    if (const auto text = inflate_text(compressed))
      w.string(std::string_view{*text});
    else
      w.fail("a compressed string is damaged or too long");
  });
}

/// Writes the tag of a type that the peer must know.
void pack_type(writer& w, data_type x) {
  if (x != data_type::undef && !supports(w.rules(), x))
    w.fail("the peer cannot read a value of this type",
           status::unknown_data_type);
  w.type_tag(x);
}

void pack_element(writer& w, data_type x, const value& element) {
  if (element.type != x)
    w.fail("an array has elements of several types", status::bad_param);
  if (w.enter()) {
    if (is_expanded(w, x))
      pack_expanded(w, element.data);
    else
      pack_data(w, x, element.data);
  }
  w.leave();
}

/// Writes the number of elements and the elements. Only infos may be left out:
/// the places of other elements may mean something.
void pack_elements(writer& w, const data_array& x) {
  const auto type = x.element_type;
  if (type == data_type::info) {
    auto n = size_t{0};
    w.preceded(
      [&] {
        for (const auto& y : x.elements)
          n += w.entry([&] { pack_element(w, type, y); }) ? 1 : 0;
      },
      [&](size_t) { w.size(n); });
    return;
  }
  w.size(x.elements.size());
  if (!x.elements.empty())
    w.inner_tag(type);
  for (const auto& y : x.elements) {
    if (!w.ok())
      return;
    pack_element(w, type, y);
  }
}

void pack_undefined_array(writer& w) {
  w.type_tag(data_type::undef);
  // Libraries of 6 read the tag only, older ones the size as well.
  if (w.rules().peer.major < 6)
    w.size(0);
}

void pack_data_array(writer& w, const data_array& x) {
  if (x.element_type == data_type::undef) {
    if (!x.elements.empty())
      w.fail("an array of no type has elements", status::bad_param);
    pack_undefined_array(w);
    return;
  }
  pack_type(w, is_expanded(w, x.element_type) ? data_type::string
                                              : x.element_type);
  pack_elements(w, x);
}

void pack_structure(writer& w, data_type x, const storage& data) {
  switch (x) {
    case data_type::timeval:
      with<timeval_value>(w, data, [&](const auto& y) { pack_fields(w, y); });
      break;
    case data_type::proc:
      with<proc_id>(w, data, [&](const auto& y) { pack_fields(w, y); });
      break;
    case data_type::buffer:
      with<std::string>(w, data, [&](const auto& y) { pack_buffer(w, y); });
      break;
    case data_type::data_array:
      if (std::holds_alternative<std::monostate>(data))
        pack_undefined_array(w);
      else
        pack_box<data_array>(w, data, pack_data_array);
      break;
    case data_type::info_array:
      pack_box<data_array>(w, data, pack_elements);
      break;
    case data_type::regex:
      with<std::string>(w, data, [&](const auto& y) { w.bytes(y); });
      break;
    case data_type::regex2:
      with<std::string>(w, data, [&](const auto& y) { pack_regex2(w, y); });
      break;
    case data_type::topology:
      if (const auto* xml = std::get_if<std::string>(&data))
        pack_topology(w, *xml);
      else
        pack_topology(w, std::nullopt);
      break;
    default:
      if (!visit_structure(x, [&](auto tag) {
            using type = typename decltype(tag)::type;
            pack_box<type>(w, data, pack_fields<type>);
          }))
        w.fail("a type without an encoding", status::unknown_data_type);
  }
}

} // namespace

// -- values ------------------------------------------------------------------

void pack_data(writer& w, data_type x, const storage& data) {
  const auto& row = layout_of(x);
  switch (row.kind) {
    case shape::nothing:
      break;
    case shape::boolean:
      with<bool>(w, data, [&](bool y) { w.byte(y ? 1 : 0); });
      break;
    case shape::unsigned_integer:
      pack_unsigned(w, x, row.width, data);
      break;
    case shape::signed_integer:
      with<int64_t>(w, data,
                    [&](int64_t y) { w.signed_integer(y, row.width); });
      break;
    case shape::unsigned_as_signed:
      with<uint64_t>(w, data,
                     [&](uint64_t y) { pack_unsigned_as_signed(w, y); });
      break;
    case shape::floating_text:
      with<double>(w, data, [&](double y) { pack_double(w, y); });
      break;
    case shape::text:
      pack_text(w, x, data);
      break;
    case shape::bytes:
      pack_bytes(w, data);
      break;
    case shape::pointer:
      w.byte(1);
      break;
    case shape::structure:
      pack_structure(w, x, data);
      break;
    case shape::unknown:
      w.fail("a type without an encoding", status::unknown_data_type);
      break;
  }
}

void pack_value(writer& w, const value& x) {
  if (w.enter()) {
    if (is_expanded(w, x.type)) {
      w.type_tag(data_type::string);
      pack_expanded(w, x.data);
    } else {
      pack_type(w, x.type);
      w.inner_tag(x.type);
      pack_data(w, x.type, x.data);
    }
  }
  w.leave();
}

void pack_info(writer& w, const info& x) {
  pack_fields(w, x);
}

void pack_key_value(writer& w, const key_value& x) {
  pack_fields(w, x);
}

void pack_pdata(writer& w, const pdata& x) {
  pack_fields(w, x);
}

void pack_app(writer& w, const app& x) {
  pack_fields(w, x);
}

void pack_query(writer& w, const query& x) {
  pack_fields(w, x);
}

// -- lists -------------------------------------------------------------------

void pack_infos(writer& w, const std::vector<info>& xs) {
  if (!w.leaves_out()) {
    pack_list(w, data_type::info, xs, pack_info);
    return;
  }
  auto n = size_t{0};
  w.preceded(
    [&] {
      for (const auto& x : xs)
        n += w.entry([&] { pack_info(w, x); }) ? 1 : 0;
    },
    [&](size_t) {
      w.packed_size(n);
      if (n > 0)
        w.pack(data_type::info, n);
    });
}

void pack_procs(writer& w, const std::vector<proc_id>& xs) {
  pack_list(w, data_type::proc, xs, pack_proc);
}

void pack_key_values(writer& w, const std::vector<key_value>& xs) {
  for (const auto& x : xs)
    w.entry([&] {
      w.pack(data_type::kval);
      pack_key_value(w, x);
    });
}

} // namespace troupe::wire
