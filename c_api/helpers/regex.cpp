#include "adapters/c_values/c_types.hpp"
#include "adapters/c_values/convert.hpp"
#include "adapters/wire/compression.hpp"
#include "adapters/wire/node_map.hpp"
#include "c_api/helpers/failure.hpp"
#include "c_api/helpers/regex_text.hpp"

#include <pmix.h>
#include <pmix_server.h>

#include <exception>

// Lists of nodes, and of the ranks on each, in a compact form. We never write
// the compressed form of OpenPMIx: its clients before 5 cannot read it.

using namespace troupe;

namespace {

/// Writes `input` with `format`, or as it is if that refuses it.
template <class Format>
pmix_status_t generate(const char* input, char** output, Format format) {
  if (input == nullptr || output == nullptr)
    return PMIX_ERR_BAD_PARAM;
  *output = nullptr;
  try {
    auto text = format(std::string_view{input});
    if (text.empty())
      text = std::string{"raw:"} + input;
    *output = c_api::duplicate(text);
  } catch (const std::exception&) {
    return PMIX_ERR_NOMEM;
  }
  return *output != nullptr ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

std::string format_nodes(std::string_view input) {
  const auto nodes = wire::parse_node_map(input);
  if (!nodes || nodes->empty())
    return {};
  auto result = wire::format_node_map(*nodes, wire::map_form::ranges);
  return result ? std::move(*result) : std::string{};
}

std::string format_ranks(std::string_view input) {
  const auto ranks = wire::parse_proc_map(input);
  if (!ranks || ranks->empty())
    return {};
  auto result = wire::format_proc_map(*ranks, wire::map_form::ranges);
  // As OpenPMIx does: not if that is longer than the list itself.
  return result.size() <= input.size() ? result : std::string{};
}

/// Whether the bytes at `p` are `word` with its final zero.
bool has_word(const char* p, std::string_view word) {
  return std::strcmp(p, word.data()) == 0;
}

} // namespace

size_t c_api::regex_size(const char* x) {
  // `blob:`, `component=<name>:` and `size=<n>:` each end with a zero; then n
  // bytes follow.
  auto size = std::strlen(x) + 1;
  if (!has_word(x, "blob:"))
    return size;
  size += std::strlen(x + size) + 1;
  const auto* count = x + size;
  size += std::strlen(count) + 1;
  constexpr auto prefix = std::string_view{"size="};
  if (std::strncmp(count, prefix.data(), prefix.size()) == 0)
    size += std::strtoul(count + prefix.size(), nullptr, 10);
  return size;
}

pmix_status_t PMIx_generate_regex(const char* input, char** regex) try {
  return generate(input, regex, format_nodes);
} catch (...) {
  return c_api::status_of_exception();
}

pmix_status_t PMIx_generate_ppn(const char* input, char** ppn) try {
  return generate(input, ppn, format_ranks);
} catch (...) {
  return c_api::status_of_exception();
}

// -- the form of OpenPMIx after 6 ---------------------------------------------

namespace {

// Forms: the list as it is with its final zero, and a compressed string.
// Source: OpenPMIx 7, its components of regular expressions.
constexpr auto raw_form = "raw";
constexpr auto compressed_form = "compress";

/// A list that is not longer goes as it is.
constexpr size_t least_compressed = 4096;

} // namespace

pmix_status_t PMIx_generate_regex2(const char* input, pmix_info_t*, size_t,
                                   pmix_regex2_t* regex) try {
  if (input == nullptr || regex == nullptr)
    return PMIX_ERR_BAD_PARAM;
  const auto size = std::strlen(input);
  auto form = std::string{raw_form};
  auto bytes = std::string{input, size + 1};
  // What nobody would expand is not made.
  if (size > least_compressed && size <= wire::max_inflated_size)
    if (auto shorter = wire::deflate_text({input, size});
        shorter.size() < size && wire::inflate_text(shorter)) {
      form = compressed_form;
      bytes = std::move(shorter);
    }
  const auto from = pmix_regex2_t{
    form.data(), reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()};
  return c_api::copy(PMIX_REGEX2, regex, &from);
} catch (...) {
  return c_api::status_of_exception();
}

// Not supported: a form other than `raw` and `compress`.
pmix_status_t PMIx_parse_regex2(const pmix_regex2_t* regex, pmix_info_t*,
                                size_t, char** output) try {
  if (regex == nullptr || output == nullptr || regex->type == nullptr
      || regex->bytes == nullptr)
    return PMIX_ERR_BAD_PARAM;
  *output = nullptr;
  const auto* bytes = reinterpret_cast<const char*>(regex->bytes);
  if (std::strcmp(regex->type, compressed_form) == 0) {
    const auto text = wire::inflate_text({bytes, regex->len});
    if (!text)
      return PMIX_ERR_BAD_PARAM;
    *output = c_api::duplicate(*text);
  } else if (std::strcmp(regex->type, raw_form) == 0) {
    *output = c_api::duplicate({bytes, strnlen(bytes, regex->len)});
  } else {
    return PMIX_ERR_NOT_SUPPORTED;
  }
  return *output != nullptr ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
} catch (...) {
  return c_api::status_of_exception();
}
