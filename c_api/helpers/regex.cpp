#include "adapters/c_values/c_types.hpp"
#include "adapters/c_values/convert.hpp"
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

pmix_status_t PMIx_generate_regex2(const char* input, pmix_info_t*, size_t,
                                   pmix_regex2_t* regex) try {
  if (input == nullptr || regex == nullptr)
    return PMIX_ERR_BAD_PARAM;
  // The list as it is, with its final zero.
  auto raw = std::string{"raw"};
  const auto from = pmix_regex2_t{
    raw.data(), reinterpret_cast<uint8_t*>(const_cast<char*>(input)),
    std::strlen(input) + 1};
  return c_api::copy(PMIX_REGEX2, regex, &from);
} catch (...) {
  return c_api::status_of_exception();
}

// Not supported: a form other than `raw`, which is all that we generate.
pmix_status_t PMIx_parse_regex2(const pmix_regex2_t* regex, pmix_info_t*,
                                size_t, char** output) try {
  if (regex == nullptr || output == nullptr || regex->type == nullptr
      || regex->bytes == nullptr)
    return PMIX_ERR_BAD_PARAM;
  *output = nullptr;
  if (std::strcmp(regex->type, "raw") != 0)
    return PMIX_ERR_NOT_SUPPORTED;
  const auto* text = reinterpret_cast<const char*>(regex->bytes);
  *output = c_api::duplicate({text, strnlen(text, regex->len)});
  return *output != nullptr ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
} catch (...) {
  return c_api::status_of_exception();
}
