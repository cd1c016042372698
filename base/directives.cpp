#include "base/directives.hpp"

#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace troupe {

namespace {

/// Every attribute's place in the table of them: rows name them so.
enum class attribute_place : uint16_t {
#define TROUPE_ATTRIBUTE(name, c_name, key, type) name,
#include "messages/attributes.def"
#undef TROUPE_ATTRIBUTE
};

bool is_ours(std::string_view key) {
  constexpr auto prefix = std::string_view{"troupe."};
  return key.substr(0, prefix.size()) == prefix;
}

void append(std::string& list, std::string_view x) {
  if (!list.empty())
    list += ',';
  list += x;
}

template <class Predicate>
std::string names_of(Predicate is_wanted) {
  auto result = std::string{};
  for (const auto& x : all_calls())
    if (is_wanted(x.part))
      append(result, x.function);
  return result;
}

/// Whether clients and tools ask their server.
bool is_asked(call_part x) {
  return x == call_part::server;
}

/// Which functions a qualifier asks about, and whether for their attributes.
struct question {
  std::string_view functions;
  std::string_view attributes;
  bool (*is_about)(call_part);
};

constexpr question questions[] = {
  {attr::client_functions, attr::client_attributes,
   [](call_part x) { return x == call_part::client || is_asked(x); }},
  {attr::tool_functions, attr::tool_attributes,
   [](call_part x) { return x == call_part::tool || is_asked(x); }},
  {attr::server_functions, attr::server_attributes,
   [](call_part x) { return x == call_part::host || is_asked(x); }},
  {attr::host_functions, attr::host_attributes, is_asked},
};

std::vector<std::string_view> done_by(pmix_call call) {
  auto result = std::vector<std::string_view>{};
  for (const auto& x : all_directives())
    if (x.call == call && x.how == treatment::done)
      result.push_back(x.c_name);
  return result;
}

// Constants: as code, each row was 90 bytes of it. With their texts inside:
// pointers to them the loader would write at every start of a process, nine
// pages, and few processes ever look here.

struct call_constant {
  pmix_call call;
  call_part part;
  char function[38];
};

constexpr call_constant calls[] = {
#define TROUPE_CALL(name, function, part)                                      \
  {pmix_call::name, call_part::part, #function},
#include "base/directives.def"
};

struct directive_constant {
  attribute_place attribute;
  pmix_call call;
  treatment how;
  bool is_query_key;
  char test[39];
};

constexpr directive_constant rows[] = {
#define TROUPE_DIRECTIVE(call, attribute, how, test)                           \
  {attribute_place::attribute, pmix_call::call, treatment::how, false, test},
#define TROUPE_QUERY_KEY(attribute, how, test)                                 \
  {attribute_place::attribute, pmix_call::query_info, treatment::how, true,    \
   test},
#include "base/directives.def"
};

std::vector<call_row> make_calls() {
  auto result = std::vector<call_row>{};
  result.reserve(std::size(calls));
  for (const auto& x : calls)
    result.push_back({x.call, x.function, x.part});
  return result;
}

std::vector<directive_row> make_directives() {
  auto count = size_t{0};
  const auto* attributes = all_attributes(count);
  auto result = std::vector<directive_row>{};
  result.reserve(std::size(rows));
  for (const auto& x : rows) {
    const auto& known = attributes[static_cast<size_t>(x.attribute)];
    result.push_back(
      {x.call, known.c_name, known.key, x.how, x.is_query_key, x.test});
  }
  return result;
}

} // namespace

const std::vector<call_row>& all_calls() {
  static const auto& result = *new auto(make_calls());
  return result;
}

const std::vector<directive_row>& all_directives() {
  static const auto& result = *new auto(make_directives());
  return result;
}

std::optional<treatment> treatment_of(pmix_call call, std::string_view key) {
  auto count = size_t{0};
  const auto* attributes = all_attributes(count);
  for (const auto& x : rows)
    if (x.call == call && !x.is_query_key
        && attributes[static_cast<size_t>(x.attribute)].key == key)
      return x.how;
  return std::nullopt;
}

bool may_be_required(pmix_call call, std::string_view key, next_host host) {
  if (is_ours(key))
    return true;
  const auto how = treatment_of(call, key).value_or(treatment::host);
  return how == treatment::done
         || (how == treatment::host && host == next_host::foreign);
}

caf::error find_unmet(pmix_call call, const std::vector<info>& infos,
                      next_host host) {
  for (const auto& x : infos) {
    if ((x.flags & info_required) == 0 || (x.flags & info_qualifier) != 0
        || may_be_required(call, x.key, host))
      continue;
    const auto* known = attribute_of(x.key);
    return make_error(
      status::not_supported,
      std::string{known != nullptr ? known->c_name : x.key}
        + " is required, but "
        + std::string{all_calls()[static_cast<size_t>(call)].function}
        + " does not act upon it; leave it out, or do not require it");
  }
  return {};
}

std::string names_of_done(pmix_call call) {
  auto result = std::string{};
  for (const auto x : done_by(call))
    append(result, x);
  return result;
}

namespace {

std::string keys_of_queries(bool is_query_key) {
  auto result = std::string{};
  for (const auto& x : all_directives())
    if (x.call == pmix_call::query_info && x.how == treatment::done
        && x.is_query_key == is_query_key)
      append(result, x.key);
  return result;
}

} // namespace

std::string supported_keys() {
  return keys_of_queries(true);
}

std::string supported_qualifiers() {
  return keys_of_queries(false);
}

info describe_attributes(std::string_view function,
                         const std::vector<std::string_view>& names,
                         std::string_view words) {
  auto elements = std::vector<value>{};
  for (const auto name : names) {
    auto described = regattr{};
    // Older tools do not survive an attribute without a description.
    described.description = {std::string{words}};
    described.name = std::string{name};
    if (const auto* known = attribute_named(name)) {
      described.key = std::string{known->key};
      described.type = known->type;
    }
    elements.push_back({data_type::regattr, box<regattr>{described}});
  }
  return make_info(function,
                   value::array(data_type::regattr, std::move(elements)));
}

bool names_function(std::string_view list, std::string_view function) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    const auto part = list.substr(0, comma);
    if (part == "all" || part == function)
      return true;
    list = comma == std::string_view::npos ? std::string_view{}
                                           : list.substr(comma + 1);
  }
  return false;
}

std::vector<info> supported(const std::vector<info>& qualifiers) {
  auto result = std::vector<info>{};
  for (const auto& x : qualifiers)
    for (const auto& what : questions) {
      if (x.key == what.functions)
        result.push_back({x.key, 0, value::string(names_of(what.is_about))});
      const auto* wanted = x.key == what.attributes ? x.val.text() : nullptr;
      if (wanted == nullptr)
        continue;
      auto found = std::vector<info>{};
      for (const auto& call : all_calls()) {
        auto names = done_by(call.call);
        if (what.is_about(call.part) && names_function(*wanted, call.function)
            && !names.empty())
          found.push_back(describe_attributes(call.function, names,
                                              "acted upon by this server"));
      }
      // pattrs of OpenPMIx 4.2 reads of each as many as the first one has.
      const auto fewest = std::min_element(
        found.begin(), found.end(), [](const info& y, const info& z) {
          return y.val.array()->elements.size()
                 < z.val.array()->elements.size();
        });
      if (fewest != found.end())
        std::rotate(found.begin(), fewest, fewest + 1);
      result.insert(result.end(), std::make_move_iterator(found.begin()),
                    std::make_move_iterator(found.end()));
    }
  return result;
}

} // namespace troupe
