#include "tools/node_facts.hpp"

#include "messages/status.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

namespace troupe {

// -- as JSON -----------------------------------------------------------------

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(network_place, address, port)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(probe_request, names, reach,
                                                directory, credential,
                                                bootstrap, own_name)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(resolved_name, name, addresses,
                                                trouble)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(reached_place, place, trouble)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(directory_fact, path, trouble,
                                                free_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(library_fact, name, path,
                                                version, trouble)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(mpi_setting, name, value, from,
                                                is_missing)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(
  node_facts, version, caf, program, host, user, uid, kernel, has_pidfd,
  has_proc, cpus, began_ms, time_ms, clock_is_kept, limits, shared_memory,
  temporary, work, settings_trouble, bootstrap_text, bootstrap_trouble,
  interfaces, addresses, port, port_trouble, first_port, last_port, names,
  reached, munge_trouble, foreign_munge_trouble, libraries, settings,
  job_variables, ptrace_scope)

namespace {

using nlohmann::json;

/// What the answer begins with; a number tells releases apart.
constexpr auto mark = std::string_view{"troupe-probe-1 "};

std::string line_of(const json& x) {
  return x.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

/// The marked line without its mark and its end; empty if there is none.
std::string_view marked(std::string_view output) {
  for (auto at = output.find(mark); at != std::string_view::npos;
       at = output.find(mark, at + 1)) {
    if (at > 0 && output[at - 1] != '\n')
      continue;
    const auto begin = at + mark.size();
    const auto end = output.find('\n', begin);
    return end == std::string_view::npos ? std::string_view{}
                                         : output.substr(begin, end - begin);
  }
  return {};
}

/// Reads what came from outside: no numbers with a fraction, none that an integer
/// does not hold, and neither depth nor memory without bound.
/// @returns a discarded value for anything else.
json parsed(std::string_view text) {
  auto is_good = true;
  auto values = size_t{0};
  const auto look = [&](int depth, json::parse_event_t event, json& x) {
    const auto is_beyond =
      x.is_number_float()
      || (x.is_number_unsigned() && x.get<uint64_t>() > uint64_t{INT64_MAX});
    if (depth > defaults::probe_depth || ++values > defaults::probe_values
        || (event == json::parse_event_t::value && is_beyond))
      is_good = false;
    return is_good;
  };
  auto result = json::parse(text, look, false);
  return is_good ? std::move(result) : json(json::value_t::discarded);
}

/// Whether numbers have come as they went: the library cuts them to the size of
/// their members.
bool is_whole(const json& said, const json& understood) {
  if (said.is_number())
    return said == understood;
  if (said.is_array() && understood.is_array())
    return std::equal(said.begin(), said.end(), understood.begin(),
                      understood.end(), is_whole);
  if (!said.is_object() || !understood.is_object())
    return true;
  for (auto i = said.begin(); i != said.end(); ++i) {
    const auto its = understood.find(i.key());
    if (its != understood.end() && !is_whole(*i, *its))
      return false;
  }
  return true;
}

template <class T>
std::optional<T> decoded(std::string_view text) {
  try {
    const auto said = parsed(text);
    if (said.is_discarded())
      return std::nullopt;
    auto result = said.get<T>();
    if (!is_whole(said, json(result)))
      return std::nullopt;
    return result;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

template <class T>
void keep(std::vector<T>& list, size_t most) {
  if (list.size() > most)
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(most), list.end());
}

/// Part of a value would mean something else.
void leave_out_long(std::vector<mpi_setting>& settings) {
  auto room = defaults::probe_settings_bytes;
  const auto is_long = [&](const mpi_setting& x) {
    const auto size = x.name.size() + x.value.size() + x.from.size();
    if (size > defaults::probe_setting_bytes || size > room)
      return true;
    room -= size;
    return false;
  };
  settings.erase(std::remove_if(settings.begin(), settings.end(), is_long),
                 settings.end());
}

std::string_view trimmed(std::string_view x) {
  constexpr auto blanks = std::string_view{" \t\r"};
  const auto begin = x.find_first_not_of(blanks);
  if (begin == std::string_view::npos)
    return {};
  return x.substr(begin, x.find_last_not_of(blanks) - begin + 1);
}

} // namespace

std::string encode(const probe_request& x) {
  return line_of(json(x));
}

caf::expected<probe_request> decode_probe_request(std::string_view line) {
  auto result = decoded<probe_request>(line);
  if (!result)
    return make_error(status::bad_param,
                      "standard input is no request of troupe doctor, which "
                      "alone is to use --probe; run troupe doctor");
  keep(result->names, defaults::probe_places);
  keep(result->reach, defaults::probe_places);
  return std::move(*result);
}

std::string encode(const node_facts& x) {
  return std::string{mark} + line_of(json(x));
}

std::optional<node_facts> find_facts(std::string_view output) {
  const auto line = marked(output);
  if (line.empty())
    return std::nullopt;
  auto result = decoded<node_facts>(line);
  if (result)
    bound(*result);
  return result;
}

void bound(node_facts& x) {
  // Times that can be subtracted from each other.
  for (auto* time : {&x.began_ms, &x.time_ms})
    *time = std::clamp<int64_t>(*time, 0, INT64_MAX / 2);
  while (x.limits.size() > defaults::probe_places)
    x.limits.erase(std::prev(x.limits.end()));
  keep(x.interfaces, defaults::probe_interfaces);
  keep(x.addresses, defaults::probe_places);
  keep(x.names, defaults::probe_places + 1);
  for (auto& y : x.names)
    keep(y.addresses, defaults::probe_places);
  keep(x.reached, defaults::probe_places);
  keep(x.libraries, defaults::probe_places);
  leave_out_long(x.settings);
  keep(x.settings, defaults::probe_settings);
  keep(x.job_variables, defaults::probe_places);
}

bool has_facts(std::string_view output) {
  return !marked(output).empty();
}

std::vector<mpi_setting> read_mca_file(std::string_view text,
                                       std::string_view prefix,
                                       const std::string& from) {
  auto result = std::vector<mpi_setting>{};
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    const auto sign = line.find('=');
    if (sign == std::string_view::npos)
      continue;
    const auto name = trimmed(line.substr(0, sign));
    if (!name.empty())
      result.push_back({std::string{prefix} + std::string{name},
                        std::string{trimmed(line.substr(sign + 1))}, from,
                        false});
  }
  return result;
}

} // namespace troupe
