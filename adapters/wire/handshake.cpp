#include "adapters/wire/handshake.hpp"

#include "adapters/wire/frame.hpp"
#include "adapters/wire/pack_value.hpp"
#include "adapters/wire/unpack_value.hpp"

#include <algorithm>
#include <cstring>

namespace troupe::wire {

namespace {

/// A namespace in a connect reply is padded to this size with zeros.
constexpr size_t padded_nspace_size = max_nspace_length + 1;

constexpr size_t credential_size = 8;

constexpr auto no_module = "the peer's packing module is not supported";

bool names_itself(peer_role x) {
  return x == peer_role::client || x == peer_role::tool_with_identity
         || x == peer_role::tool_client
         || x == peer_role::launcher_with_identity
         || x == peer_role::launcher_client || x == peer_role::singleton
         || x == peer_role::scheduler;
}

/// Namespaces become part of paths and of log lines.
bool is_tame(std::string_view nspace) {
  return !nspace.empty() && nspace.size() <= max_nspace_length
         && std::all_of(nspace.begin(), nspace.end(), [](char c) {
              const auto byte = static_cast<unsigned char>(c);
              return byte > 0x1f && byte != 0x7f && c != '/';
            });
}

/// The fields in front of the infos are not packed: texts end with a zero byte,
/// numbers are big endian. The rules of the fixed family read them.
constexpr auto plain_rules = dialect{packing_module::v3, false, {}, true, true};

std::string read_text(reader& r) {
  auto x = r.up_to_zero();
  if (!x.empty())
    x.remove_suffix(1);
  return std::string{x};
}

/// Most letters of a word in a greeting, such as a release: it is kept as long
/// as the connection, and shown.
constexpr size_t max_word = 255;

/// @param refusal What is said of one that is longer.
std::string read_word(reader& r, const char* refusal) {
  auto result = read_text(r);
  if (r.ok() && result.size() > max_word)
    r.fail(refusal, status::invalid_length);
  return result;
}

uint32_t read_number(reader& r) {
  return static_cast<uint32_t>(r.unsigned_integer(4));
}

void write_text(writer& w, std::string_view x) {
  if (x.find('\0') != std::string_view::npos)
    w.fail("a text of a greeting has a zero byte inside", status::bad_param);
  w.bytes(x);
  w.byte(0);
}

// -- reading a greeting ------------------------------------------------------

void read_identity(reader& r, hello& x) {
  const auto flag = r.byte();
  if (flag > static_cast<uint8_t>(peer_role::scheduler))
    r.fail("a greeting has an unknown flag");
  x.role = static_cast<peer_role>(flag);
  if (x.role != peer_role::client) {
    const auto uid = read_number(r);
    x.claimed = credentials{uid, read_number(r)};
  }
  if (names_itself(x.role)) {
    auto nspace = read_text(r);
    if (r.ok() && !is_tame(nspace))
      r.fail("a namespace is empty, too long, or has characters of a path");
    x.proc = proc_id{std::move(nspace), read_number(r)};
  }
}

void read_abilities(reader& r, hello& x) {
  x.version = read_word(r, "the peer's release has more than 255 letters");
  const auto name = read_word(r, "the peer's module has more than 255 letters");
  if (const auto packing = parse_module(name))
    x.module = *packing;
  else if (r.ok())
    r.fail(no_module, status::not_supported);
  const auto type = r.byte();
  if (r.ok() && type != 1 && type != 2)
    r.fail("a greeting has an unknown buffer type");
  x.described = type == 2;
  x.store = read_word(r, "the peer's stores have more than 255 letters");
}

/// Reads the infos at the end of a greeting. Libraries of 3.2 write the PACK of
/// the infos even if there are none.
void read_infos(reader& r, hello& x) {
  const auto n = r.packed_count(data_type::info);
  r.at_most(n, max_infos_of_greeting, "infos");
  if (n > 0 || x.module == packing_module::v3) {
    r.pack_exactly(data_type::info, n);
    x.infos = unpack_elements(r, n, unpack_info);
  }
  x.extra_byte = r.left() == 1;
}

} // namespace

// -- greeting ----------------------------------------------------------------

dialect dialect_of(const hello& x) {
  auto result = dialect{};
  result.module = x.module;
  result.described = x.described;
  result.peer = parse_release(x.version);
  return result;
}

caf::expected<hello> decode_hello(std::string_view payload) {
  auto x = hello{};
  auto r = reader{payload, plain_rules, origin::client};
  if (payload.size() > max_hello_size)
    r.fail("a greeting has more than 131072 bytes", status::invalid_length);
  x.security = read_word(r, "the peer's security has more than 255 letters");
  const auto credential_length = read_number(r);
  x.credential = std::string{r.bytes(credential_length)};
  read_identity(r, x);
  read_abilities(r, x);
  if (!r.ok())
    return r.failure();
  // A rest of one byte is the one that is too many.
  x.extra_byte = r.left() == 1;
  if (r.left() > 1) {
    const auto rest = payload.substr(payload.size() - r.left());
    auto packed = reader{rest, dialect_of(x), origin::client};
    read_infos(packed, x);
    if (!packed.ok())
      return packed.failure();
  }
  return x;
}

caf::error encode_hello(const hello& x, std::string& out) {
  const auto start = out.size();
  out.append(frame_header_size, '\0');
  {
    auto w = writer{out, plain_rules};
    write_text(w, x.security);
    w.unsigned_integer(x.credential.size(), 4);
    w.bytes(x.credential);
    w.byte(static_cast<uint8_t>(x.role));
    if (x.role != peer_role::client) {
      const auto claimed = x.claimed.value_or(credentials{});
      w.unsigned_integer(claimed.uid, 4);
      w.unsigned_integer(claimed.gid, 4);
    }
    if (names_itself(x.role)) {
      const auto proc = x.proc.value_or(proc_id{});
      if (!is_tame(proc.nspace))
        w.fail("a namespace is empty, too long, or has characters of a path",
               status::bad_param);
      write_text(w, proc.nspace);
      w.unsigned_integer(proc.rank, 4);
    }
    write_text(w, x.version);
    write_text(w, to_string(x.module));
    w.byte(x.described ? 2 : 1);
    write_text(w, x.store);
    if (auto err = w.finish()) {
      out.resize(start);
      return err;
    }
  }
  if (!x.infos.empty() || x.role != peer_role::client) {
    const auto rules = dialect_of(x);
    auto w = writer{out, rules};
    pack_infos(w, x.infos);
    if (x.infos.empty() && x.module == packing_module::v3)
      w.pack(data_type::info, 0);
    if (auto err = w.finish()) {
      out.resize(start);
      return err;
    }
  }
  if (x.extra_byte)
    out.push_back('\0');
  const auto length = out.size() - start - frame_header_size;
  if (length > max_hello_size) {
    out.resize(start);
    return make_error(status::invalid_length,
                      "a greeting has more than 131072 bytes");
  }
  const auto header = encode_header(
    {-1, tag_hello, static_cast<uint32_t>(length)}, byte_order::host);
  std::copy(header.begin(), header.end(),
            out.begin() + static_cast<std::ptrdiff_t>(start));
  return caf::none;
}

caf::expected<std::optional<hello>> hello_reader::push(std::string_view bytes) {
  buffer_.append(bytes);
  if (!has_header())
    return std::optional<hello>{};
  const auto header = decode_header(buffer_, byte_order::host);
  if (header.tag != tag_hello)
    return make_error(status::handshake_failed,
                      "a connection does not begin with a greeting");
  if (header.length > max_hello_size)
    return make_error(status::invalid_length,
                      "a greeting of " + std::to_string(header.length)
                        + " bytes is over the limit of 131072");
  const auto end = frame_header_size + header.length;
  if (buffer_.size() < end)
    return std::optional<hello>{};
  end_ = end;
  auto result = decode_hello(
    std::string_view{buffer_}.substr(frame_header_size, header.length));
  if (!result)
    return std::move(result.error());
  return std::optional<hello>{std::move(*result)};
}

bool hello_reader::has_header() const {
  return buffer_.size() >= frame_header_size;
}

std::string hello_reader::take_rest() {
  buffer_.erase(0, end_);
  end_ = 0;
  return std::move(buffer_);
}

// -- credentials -------------------------------------------------------------

std::string native_credential(const credentials& x) {
  auto result = std::string(credential_size, '\0');
  std::memcpy(result.data(), &x.uid, 4);
  std::memcpy(result.data() + 4, &x.gid, 4);
  return result;
}

std::optional<credentials> parse_native_credential(std::string_view bytes) {
  if (bytes.size() != credential_size)
    return std::nullopt;
  auto x = credentials{};
  std::memcpy(&x.uid, bytes.data(), 4);
  std::memcpy(&x.gid, bytes.data() + 4, 4);
  return x;
}

// -- the answer --------------------------------------------------------------

namespace {

void write_identity(writer& w, const std::optional<proc_id>& proc) {
  const auto x = proc.value_or(proc_id{{}, 0});
  const auto nspace = x.nspace.substr(0, max_nspace_length);
  w.bytes(nspace);
  for (auto i = nspace.size(); i < padded_nspace_size; ++i)
    w.byte(0);
  w.unsigned_integer(x.rank, 4);
}

proc_id read_padded_identity(reader& r) {
  const auto padded = r.bytes(padded_nspace_size);
  const auto length = padded.find('\0');
  if (r.ok() && length == std::string_view::npos)
    r.fail("a namespace does not end");
  auto nspace = std::string{padded.substr(0, length)};
  return {std::move(nspace), read_number(r)};
}

status read_status(reader& r) {
  return static_cast<status>(r.signed_integer(4));
}

} // namespace

connect_reply_form connect_reply_form_of(peer_role role, const release& peer) {
  switch (role) {
    case peer_role::client:
      return connect_reply_form::client;
    case peer_role::singleton:
      return peer < release{5, 0, 0} ? connect_reply_form::tool
                                     : connect_reply_form::client;
    case peer_role::tool_needs_identity:
    case peer_role::launcher_needs_identity:
      return connect_reply_form::tool_with_identity;
    default:
      return connect_reply_form::tool;
  }
}

size_t connect_reply_size(connect_reply_form form) {
  constexpr auto identity_size = padded_nspace_size + 4;
  switch (form) {
    case connect_reply_form::client:
      return 8;
    case connect_reply_form::tool:
      return 4 + identity_size + 4;
    default:
      return 4 + 2 * identity_size + 4;
  }
}

void encode_connect_reply(const connect_accepted& x, connect_reply_form form,
                          std::string& out) {
  encode_connect_reply(
    {status::success, x.index, x.proc, x.server, status::success}, form, out);
}

void encode_connect_reply(const connect_reply& x, connect_reply_form form,
                          std::string& out) {
  auto w = writer{out, plain_rules};
  w.signed_integer(static_cast<int32_t>(x.outcome), 4);
  if (form == connect_reply_form::client) {
    w.unsigned_integer(x.index, 4);
    return;
  }
  if (form == connect_reply_form::tool_with_identity)
    write_identity(w, x.assigned);
  write_identity(w, x.server);
  w.signed_integer(static_cast<int32_t>(x.security), 4);
}

caf::expected<connect_reply> decode_connect_reply(std::string_view bytes,
                                                  connect_reply_form form) {
  auto x = connect_reply{};
  auto r = reader{bytes, plain_rules, origin::server};
  x.outcome = read_status(r);
  if (r.ok() && x.outcome != status::success && r.left() == 0)
    return x;
  if (form == connect_reply_form::client) {
    x.index = read_number(r);
  } else {
    if (form == connect_reply_form::tool_with_identity)
      x.assigned = read_padded_identity(r);
    x.server = read_padded_identity(r);
    x.security = read_status(r);
  }
  r.expect_end();
  if (!r.ok())
    return r.failure();
  return x;
}

} // namespace troupe::wire
