#include "adapters/lane/node_credentials.hpp"

#include "adapters/loop/read_write.hpp"
#include "adapters/sockets/system_error.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

namespace troupe {

// -- identity ----------------------------------------------------------------

namespace {

constexpr std::string_view scheme = "troupe:";

constexpr size_t max_dvm_size = 64;

constexpr size_t max_name_size = 255;

bool is_word(std::string_view x, size_t max_size) {
  return !x.empty() && x.size() <= max_size
         && std::all_of(x.begin(), x.end(), [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
                     || (c >= '0' && c <= '9') || c == '.' || c == '_'
                     || c == '-';
            });
}

/// Cuts off what stands before the next `/`.
std::string_view next_part(std::string_view& text) {
  const auto size = std::min(text.find('/'), text.size());
  const auto result = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return result;
}

} // namespace

std::string to_string(const node_identity& x) {
  return std::string{scheme} + x.dvm + '/' + std::to_string(x.rank) + '/'
         + x.name;
}

caf::expected<node_identity> parse_node_identity(std::string_view text) {
  node_identity result;
  auto rest = text.substr(std::min(scheme.size(), text.size()));
  result.dvm = next_part(rest);
  const auto rank = next_part(rest);
  std::from_chars(rank.data(), rank.data() + rank.size(), result.rank);
  result.name = rest;
  if (!is_word(result.dvm, max_dvm_size) || !is_word(result.name, max_name_size)
      || to_string(result) != text)
    return make_error(status::bad_param, "not the identity of a node");
  return result;
}

// -- credentials -------------------------------------------------------------

namespace {

// The bytes: `TROUPE1\n`, then the authority's certificate, the node's and the
// node's key, each as DER behind its length in four bytes, high byte first.

constexpr std::string_view magic = "TROUPE1\n";

constexpr size_t length_size = 4;

using encoder = int (*)(const void* x, unsigned char** out);

struct part {
  const void* value;
  encoder encode;
};

int encode_certificate(const void* x, unsigned char** out) {
  return i2d_X509(static_cast<const X509*>(x), out);
}

int encode_key(const void* x, unsigned char** out) {
  return i2d_PrivateKey(static_cast<const EVP_PKEY*>(x), out);
}

/// Cuts off the next part.
/// @returns nothing if it is not all there.
std::optional<std::string_view> take_part(std::string_view& rest) {
  if (rest.size() < length_size)
    return std::nullopt;
  size_t size = 0;
  for (const auto c : rest.substr(0, length_size))
    size = size << 8 | static_cast<unsigned char>(c);
  rest.remove_prefix(length_size);
  if (size == 0 || size > rest.size())
    return std::nullopt;
  const auto result = rest.substr(0, size);
  rest.remove_prefix(size);
  return result;
}

/// Decodes all of the next part, by `decode(nullptr, &first, size)`.
template <class T, class F>
openssl_ptr<T> take(std::string_view& rest, F decode) {
  const auto bytes = take_part(rest);
  if (!bytes)
    return nullptr;
  const auto* first = reinterpret_cast<const unsigned char*>(bytes->data());
  const auto* next = first;
  auto result =
    openssl_ptr<T>{decode(nullptr, &next, static_cast<long>(bytes->size()))};
  if (next != first + bytes->size())
    return nullptr;
  return result;
}

} // namespace

caf::expected<secret> encode_credentials(const node_credentials& x) {
  const part parts[] = {{x.authority.get(), encode_certificate},
                        {x.certificate.get(), encode_certificate},
                        {x.key.get(), encode_key}};
  auto total = magic.size();
  for (const auto& y : parts) {
    const auto size = y.value != nullptr ? y.encode(y.value, nullptr) : 0;
    if (size <= 0)
      return openssl_error("encode credentials");
    total += length_size + static_cast<size_t>(size);
  }
  if (total > max_credentials_size)
    return make_error(status::bad_param, "credentials are too long");
  auto result = secret{total};
  auto* out = std::copy(magic.begin(), magic.end(), result.data());
  for (const auto& y : parts) {
    const auto size = static_cast<uint32_t>(y.encode(y.value, nullptr));
    for (auto shift = 24; shift >= 0; shift -= 8)
      *out++ = static_cast<unsigned char>(size >> shift);
    y.encode(y.value, &out);
  }
  return result;
}

caf::expected<node_credentials> decode_credentials(std::string_view bytes) {
  const auto refusal =
    make_error(status::bad_param, "not a node's credentials");
  if (bytes.size() > max_credentials_size
      || bytes.substr(0, magic.size()) != magic)
    return refusal;
  bytes.remove_prefix(magic.size());
  node_credentials result;
  result.authority = take<X509>(bytes, d2i_X509);
  result.certificate = take<X509>(bytes, d2i_X509);
  result.key = take<EVP_PKEY>(bytes, d2i_AutoPrivateKey);
  const auto is_whole =
    result.authority && result.certificate && result.key && bytes.empty()
    && X509_check_private_key(result.certificate.get(), result.key.get()) == 1;
  take_openssl_error();
  if (!is_whole)
    return refusal;
  return result;
}

caf::expected<secret> read_secret(int fd, size_t limit) {
  auto room = secret{limit + 1};
  const auto size = read_into(fd, room.data(), room.size());
  if (!size)
    return system_error("read credentials");
  if (*size > limit)
    return make_error(status::bad_param, "more than " + std::to_string(limit)
                                           + " bytes of credentials");
  auto result = secret{*size};
  std::memcpy(result.data(), room.data(), *size);
  return result;
}

} // namespace troupe
