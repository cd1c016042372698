#include "actors/jobs/job_options.hpp"

#include "actors/io/io_options.hpp"
#include "actors/jobs/number_list.hpp"
#include "actors/jobs/spawn_directives.hpp"
#include "base/timeout.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

namespace {

/// The options that PRRTE's launcher hands over as text, with commas between.
/// @returns `not_supported` for one that says how processes begin, and is not
///          done.
/// Source: PMIX_RUNTIME_OPTIONS; PRRTE's `--runtime-options`.
caf::error read_runtime_options(const std::vector<info>& infos,
                                job_options& options) {
  const auto given = text(infos, attr::runtime_options);
  if (!given)
    return {};
  for (size_t begin = 0; begin <= given->size();) {
    const auto end = std::min(given->find(',', begin), given->size());
    auto name = lower_case(given->substr(begin, end - begin));
    name.resize(std::min(name.find(':'), name.size()));
    auto is_set = true;
    if (const auto sign = name.find('='); sign != std::string::npos) {
      const auto val = name.substr(sign + 1);
      is_set = val != "0" && val != "false" && val != "no";
      name.resize(sign);
    }
    if (name == "recoverable" || name == "continuous")
      options.recoverable = is_set;
    else if (name == "error-nonzero-status")
      options.abort_non_zero = is_set;
    else if (name == "stop-in-init" && is_set)
      options.stops.in_init = rank_wildcard;
    else if (name == "stop-in-app" && is_set)
      options.stops.in_app = rank_wildcard;
    else if (name == "stop-on-exec" && is_set)
      return check_directives(
        {{info{std::string{attr::debug_stop_on_exec}, 0, {}}}, {}});
    begin = end + 1;
  }
  return {};
}

/// Source: PMIx Standard v5, PMIX_MAX_RESTARTS and PMIX_JOB_CONTINUOUS, whose
/// failed processes are "immediately restarted".
caf::error read_restarts(const std::vector<info>& infos, job_options& options) {
  if (flag(infos, attr::job_continuous))
    options.max_restarts = UINT32_MAX;
  const auto* given = find(infos, attr::max_restarts);
  if (given == nullptr)
    return {};
  options.max_restarts = given->number<uint32_t>();
  if (!options.max_restarts)
    return make_error(status::bad_param,
                      "PMIX_MAX_RESTARTS is no number; give 0 or more");
  return {};
}

caf::error check_timeouts(const std::vector<info>& infos) {
  for (const auto& [key, name] :
       {std::pair{attr::timeout, "PMIX_TIMEOUT"},
        std::pair{attr::spawn_timeout, "PMIX_SPAWN_TIMEOUT"},
        std::pair{attr::job_timeout, "PMIX_JOB_TIMEOUT"}})
    if (find(infos, key) != nullptr && !number<int32_t>(infos, key))
      return make_error(status::bad_param,
                        std::string{name}
                          + " is no number of seconds; give 0 or more");
  return {};
}

/// An attribute that says where processes go, taken apart: the value
/// `core:PE=2,OVERSUBSCRIBE` has the name `core` and the words `pe=2` and
/// `oversubscribe`.
class mapping_directive {
public:
  mapping_directive(std::string_view attribute, std::string text);

  /// In lower case.
  const std::string& name() const {
    return name_;
  }

  /// What follows the name; in lower case but for files.
  const std::vector<std::string>& words() const {
    return words_;
  }

  /// Takes the first of the words; empty if there is none.
  std::string take_word();

  /// An error that says the attribute and its value, and `why`.
  caf::error wrong(status code, const std::string& why) const;

  /// The name is none of the policies that are known.
  caf::error unknown_policy(const char* known) const;

  caf::error unknown_modifier(const std::string& word, const char* known) const;

private:
  std::string_view attribute_;
  std::string text_;
  std::string name_;
  std::vector<std::string> words_;
};

/// An object of a node by its name, as all launchers of the field have it.
std::optional<resource_kind> object_named(const std::string& name);

bool starts_with(const std::string& text, std::string_view start);

constexpr std::array<std::pair<resource_kind, std::string_view>, 10> kind_names{
  {
    {resource_kind::none, "none"},
    {resource_kind::slot, "slot"},
    {resource_kind::hwthread, "hwthread"},
    {resource_kind::core, "core"},
    {resource_kind::l1, "l1cache"},
    {resource_kind::l2, "l2cache"},
    {resource_kind::l3, "l3cache"},
    {resource_kind::numa, "numa"},
    {resource_kind::package, "package"},
    {resource_kind::node, "node"},
  }};

mapping_directive::mapping_directive(std::string_view attribute,
                                     std::string text)
  : attribute_(attribute), text_(std::move(text)) {
  auto end = std::min(text_.find(':'), text_.size());
  name_ = lower_case(text_.substr(0, end));
  while (end < text_.size()) {
    const auto begin = end + 1;
    // The name of a file may have any character.
    if (lower_case(text_.substr(begin, 5)) == "file=") {
      words_.push_back("file=" + text_.substr(begin + 5));
      return;
    }
    end = std::min(text_.find_first_of(":,", begin), text_.size());
    if (end > begin)
      words_.push_back(lower_case(text_.substr(begin, end - begin)));
  }
}

std::string mapping_directive::take_word() {
  if (words_.empty())
    return {};
  auto result = std::move(words_.front());
  words_.erase(words_.begin());
  return result;
}

caf::error mapping_directive::wrong(status code, const std::string& why) const {
  return make_error(code,
                    std::string{attribute_} + " is \"" + text_ + "\": " + why);
}

caf::error mapping_directive::unknown_policy(const char* known) const {
  return wrong(status::not_supported,
               "\"" + name_ + "\" is no policy; known are " + known);
}

caf::error mapping_directive::unknown_modifier(const std::string& word,
                                               const char* known) const {
  return wrong(status::not_supported,
               "\"" + word + "\" is no modifier; known are " + known);
}

std::optional<resource_kind> object_named(const std::string& name) {
  // Other words of the field for the same things.
  if (name == "socket")
    return resource_kind::package;
  if (name == "cpu")
    return resource_kind::hwthread;
  for (const auto& [kind, text] : kind_names)
    if (text == name)
      return kind;
  return std::nullopt;
}

bool starts_with(const std::string& text, std::string_view start) {
  return text.compare(0, start.size(), start) == 0;
}

constexpr auto map_policies =
  "slot, node, hwthread, core, l1cache, l2cache, l3cache, numa, package (or "
  "socket), ppr:N:OBJECT, seq, rankfile:file=FILE and pe-list=NUMBERS";
constexpr auto map_modifiers =
  "pe=N, span, nolocal, oversubscribe, nooversubscribe, hwtcpus, corecpus, "
  "ordered (with pe-list) and file=FILE (with seq and rankfile)";
constexpr auto rank_policies =
  "slot, node, fill, span, hwthread, core, l1cache, l2cache, l3cache, numa and "
  "package (or socket)";
constexpr auto bind_policies =
  "none, slot, hwthread, core, l1cache, l2cache, l3cache, numa, package (or "
  "socket), board and cpu-list";
constexpr auto bind_modifiers =
  "overload-allowed, no-overload, if-supported, ordered (with cpu-list) and "
  "report";

std::optional<uint32_t> positive(std::string_view text) {
  auto result = uint32_t{0};
  const auto* end = text.data() + text.size();
  const auto [rest, err] = std::from_chars(text.data(), end, result);
  if (err != std::errc{} || rest != end || result == 0 || result > UINT16_MAX)
    return std::nullopt;
  return result;
}

class reader {
public:
  reader(const std::vector<info>& infos, job_options& options)
    : infos_(infos), options_(options) {
    // nop
  }

  caf::error read() {
    if (auto err = read_mapping())
      return err;
    if (auto err = read_ranking())
      return err;
    if (auto err = read_cpus())
      return err;
    if (auto err = read_binding())
      return err;
    if (flag(infos_, attr::no_oversubscribe))
      forbid_oversubscription();
    options_.no_local |= flag(infos_, attr::no_procs_on_head);
    options_.report_bindings |= flag(infos_, attr::report_bindings);
    return check_binding();
  }

private:
  void forbid_oversubscription() {
    options_.oversubscribe = false;
    options_.never_oversubscribe = true;
  }

  // -- mapping

  caf::error read_mapping() {
    if (const auto given = text(infos_, attr::ppr); given && !given->empty()) {
      auto what = mapping_directive{"PMIX_PPR", "ppr:" + *given};
      if (auto err = read_ppr(what))
        return err;
      if (auto err = read_modifiers(what))
        return err;
    }
    const auto given = text(infos_, attr::mapby);
    if (!given || given->empty())
      return {};
    auto what = mapping_directive{"PMIX_MAPBY", *given};
    if (auto err = read_policy(what))
      return err;
    return read_modifiers(what);
  }

  caf::error read_policy(mapping_directive& what) {
    const auto& name = what.name();
    if (name.empty())
      return {};
    if (options_.nodes == node_policy::ppr && name != "ppr")
      return what.wrong(status::bad_param,
                        "PMIX_PPR says something else; give one of them");
    options_.map_given = true;
    if (name == "ppr")
      return read_ppr(what);
    if (name == "node") {
      options_.nodes = node_policy::node;
      options_.rank_by = rank_policy::node;
    } else if (name == "seq" || name == "rankfile") {
      return read_file(what);
    } else if (starts_with(name, "pe-list=")) {
      return read_list(what, name.substr(8));
    } else if (name == "none") {
      return what.wrong(status::bad_param,
                        "processes have to be somewhere; known are "
                          + std::string{map_policies});
    } else if (const auto kind =
                 object_named(name == "board" ? "slot" : name)) {
      options_.map_by = *kind;
    } else {
      return what.unknown_policy(map_policies);
    }
    return {};
  }

  /// Reads `N:node`.
  /// Source: PRRTE's `--map-by ppr:N:resource`.
  caf::error read_ppr(mapping_directive& what) {
    const auto count = positive(what.take_word());
    const auto kind = object_named(what.take_word());
    if (!count || !kind || *kind == resource_kind::none
        || *kind == resource_kind::slot)
      return what.wrong(status::bad_param,
                        "write ppr:N:OBJECT with N above 0, such as ppr:N:node;"
                        " objects are node, package (or socket), numa, l3cache,"
                        " l2cache, l1cache, core and hwthread");
    options_.map_given = true;
    options_.nodes = node_policy::ppr;
    options_.per_object = *count;
    options_.ppr_object = *kind;
    return {};
  }

  caf::error read_file(mapping_directive& what) {
    const auto is_seq = what.name() == "seq";
    options_.nodes = is_seq ? node_policy::seq : node_policy::rank_file;
    const auto& words = what.words();
    const auto has_file =
      std::any_of(words.begin(), words.end(),
                  [](const std::string& x) { return starts_with(x, "file="); });
    const auto content = text(infos_, mapping_file_key);
    if (!has_file && is_seq)
      return {};
    if (!has_file)
      return what.wrong(status::bad_param,
                        "there is no rank file; write rankfile:file=FILE");
    if (!content)
      return what.wrong(status::bad_param,
                        "the file is read by launchers, and this one has not "
                        "sent its text as "
                          + std::string{mapping_file_key} + "; use troupe run");
    if (is_seq) {
      options_.sequence = parse_sequence(*content);
      if (options_.sequence.empty())
        return what.wrong(status::bad_param,
                          "the file names no node; name one a line");
      return {};
    }
    auto ranks = parse_rank_file(*content);
    if (!ranks)
      return what.wrong(status::bad_param, reason_of(ranks.error()));
    options_.ranks = std::move(*ranks);
    return {};
  }

  caf::error read_list(const mapping_directive& what, const std::string& list) {
    auto numbers = parse_numbers(list);
    if (!numbers)
      return what.wrong(status::bad_param, reason_of(numbers.error()));
    options_.cpu_list = std::move(*numbers);
    return {};
  }

  caf::error read_modifiers(const mapping_directive& what) {
    for (const auto& x : what.words())
      if (auto err = read_modifier(what, x))
        return err;
    return {};
  }

  caf::error read_modifier(const mapping_directive& what,
                           const std::string& word) {
    const auto is_listed = options_.nodes == node_policy::seq
                           || options_.nodes == node_policy::rank_file;
    if (starts_with(word, "pe=")) {
      const auto count = positive(std::string_view{word}.substr(3));
      if (!count)
        return what.wrong(status::bad_param,
                          "\"" + word
                            + "\" is no number of processors; write "
                              "pe=N with N above 0");
      options_.cpus_per_proc = *count;
    } else if (word == "span") {
      options_.spans = true;
    } else if (word == "nolocal") {
      options_.no_local = true;
    } else if (word == "oversubscribe") {
      options_.oversubscribe = true;
    } else if (word == "nooversubscribe") {
      forbid_oversubscription();
    } else if (word == "hwtcpus") {
      options_.threads_are_cpus = true;
    } else if (word == "corecpus") {
      options_.threads_are_cpus = false;
    } else if (word == "ordered" && !options_.cpu_list.empty()) {
      options_.is_list_ordered = true;
    } else if (!starts_with(word, "file=") || !is_listed) {
      return what.unknown_modifier(word, map_modifiers);
    }
    return {};
  }

  // -- ranking

  caf::error read_ranking() {
    const auto given = text(infos_, attr::rankby);
    if (!given || given->empty())
      return {};
    const auto what = mapping_directive{"PMIX_RANKBY", *given};
    const auto& name = what.name();
    if (!what.words().empty())
      return what.wrong(status::not_supported,
                        "\"" + what.words().front()
                          + "\" is no modifier; it has none");
    if (name == "slot")
      options_.rank_by = rank_policy::slot;
    else if (name == "node" || name == "board")
      options_.rank_by = rank_policy::node;
    else if (name == "fill")
      options_.rank_by = rank_policy::fill;
    else if (name == "span")
      options_.rank_by = rank_policy::span;
    else if (const auto kind = object_named(name);
             kind && *kind != resource_kind::none) {
      options_.rank_by = rank_policy::object;
      options_.rank_object = *kind;
    } else {
      return what.unknown_policy(rank_policies);
    }
    return {};
  }

  // -- processors

  caf::error read_cpus() {
    if (const auto* given = find(infos_, attr::cpus_per_proc)) {
      const auto count = given->number<uint32_t>();
      if (!count || *count == 0 || *count > UINT16_MAX)
        return make_error(status::bad_param,
                          "PMIX_CPUS_PER_PROC is no number of processors; give "
                          "one above 0");
      options_.cpus_per_proc = *count;
    }
    if (const auto given = text(infos_, attr::cpu_list);
        given && !given->empty())
      return read_list(mapping_directive{"PMIX_CPU_LIST", *given}, *given);
    return {};
  }

  // -- binding

  caf::error read_binding() {
    const auto given = text(infos_, attr::bindto);
    if (!given || given->empty())
      return {};
    const auto what = mapping_directive{"PMIX_BINDTO", *given};
    const auto& name = what.name();
    if (name == "cpu-list") {
      if (options_.cpu_list.empty())
        return what.wrong(status::bad_param,
                          "there is no list; give PMIX_CPU_LIST, too");
    } else if (!name.empty()) {
      const auto kind = object_named(name == "board" ? "node" : name);
      if (!kind)
        return what.unknown_policy(bind_policies);
      options_.bind_to = *kind;
      options_.bind_given = true;
    }
    for (const auto& x : what.words()) {
      if (x == "overload-allowed")
        options_.overload = true;
      else if (x == "no-overload")
        options_.overload = false;
      else if (x == "if-supported")
        options_.bind_if_possible = true;
      else if (x == "report")
        options_.report_bindings = true;
      else if (x == "ordered" && name == "cpu-list")
        options_.is_list_ordered = true;
      else
        return what.unknown_modifier(x, bind_modifiers);
    }
    return {};
  }

  caf::error check_binding() const {
    const auto bind = options_.bind_to;
    const auto is_single = bind == resource_kind::core
                           || bind == resource_kind::slot
                           || bind == resource_kind::hwthread;
    const auto says = "PMIX_BINDTO is \"" + to_string(bind) + "\", but ";
    if (options_.bind_given && bind != resource_kind::none && !is_single) {
      if (options_.cpus_per_proc > 0)
        return make_error(status::bad_param,
                          says + "each process is to have "
                            + std::to_string(options_.cpus_per_proc)
                            + " processors of its own (pe, "
                              "PMIX_CPUS_PER_PROC); bind to core or hwthread");
      if (options_.is_list_ordered)
        return make_error(status::bad_param,
                          says
                            + "each process is to have one processor of an "
                              "ordered list; leave out one of them");
    }
    if (options_.is_list_ordered && options_.cpus_per_proc > 1)
      return make_error(status::bad_param,
                        "an ordered list gives each process one processor; "
                        "leave out pe or PMIX_CPUS_PER_PROC");
    return {};
  }

  const std::vector<info>& infos_;
  job_options& options_;
};

} // namespace

caf::expected<job_options> read_options(const spawn_request& request) {
  if (auto why = check_directives(request))
    return why;
  auto result = job_options{};
  auto infos = request.job_infos;
  // Launchers give a job's directives with its first program, too.
  if (!request.apps.empty())
    infos.insert(infos.end(), request.apps.front().infos.begin(),
                 request.apps.front().infos.end());
  if (auto err = read_mapping_words(infos, result))
    return err;
  auto stops = read_debug_stops(request);
  if (!stops)
    return std::move(stops.error());
  result.stops = *stops;
  if (auto err = read_runtime_options(infos, result))
    return err;
  if (find(infos, attr::job_recoverable) != nullptr)
    result.recoverable = flag(infos, attr::job_recoverable);
  if (const auto* x = find(infos, attr::abort_non_zero_term))
    result.abort_non_zero = x->truth();
  result.is_dry = flag(infos, dry_run_key);
  if (auto err = check_timeouts(infos))
    return err;
  result.timeout = timeout_of(infos, attr::job_timeout);
  result.spawn_timeout = timeout_of(infos, attr::spawn_timeout);
  if (!result.spawn_timeout)
    result.spawn_timeout = timeout_of(infos, attr::timeout);
  if (auto err = read_restarts(infos, result))
    return err;
  if (result.stops.any() && result.max_restarts)
    return make_error(status::not_supported,
                      "a job whose processes wait for a debugger does not "
                      "start them again: leave out PMIX_DEBUG_STOP_IN_INIT and "
                      "_IN_APP, or PMIX_MAX_RESTARTS and PMIX_JOB_CONTINUOUS");
  result.display_map = flag(infos, attr::display_map);
  result.index_argv = flag(infos, attr::index_argv);
  auto wiring = read_io_wiring(request);
  if (!wiring)
    return std::move(wiring.error());
  result.io = std::move(*wiring);
  return result;
}

void settle(job_options& options, uint32_t job_size) {
  constexpr auto few = uint32_t{2};
  const auto single =
    options.threads_are_cpus ? resource_kind::hwthread : resource_kind::core;
  const auto usual = job_size <= few ? single : resource_kind::numa;
  const auto is_listed = options.nodes == node_policy::seq
                         || options.nodes == node_policy::rank_file;
  if (!options.map_given && !is_listed)
    options.map_by = options.cpus_per_proc > 1 ? resource_kind::slot : usual;
  if (options.bind_given)
    return;
  if (options.cpus_per_proc > 0 || options.is_list_ordered)
    options.bind_to = single;
  else if (options.map_by == resource_kind::slot
           || options.map_by == resource_kind::node)
    options.bind_to = usual;
  else
    options.bind_to = options.map_by;
}

bool needs_topology(const job_options& options) {
  return options.bind_to != resource_kind::none || !options.cpu_list.empty()
         || options.nodes == node_policy::rank_file;
}

bool is_binding_required(const job_options& options) {
  return options.bind_given || options.cpus_per_proc > 0
         || !options.cpu_list.empty()
         || options.nodes == node_policy::rank_file;
}

resource_kind counted_objects(const job_options& options) {
  if (options.nodes == node_policy::ppr
      && options.ppr_object != resource_kind::node)
    return options.ppr_object;
  const auto is_whole = options.map_by == resource_kind::slot
                        || options.map_by == resource_kind::node;
  if (!is_whole && (options.spans || options.rank_by == rank_policy::span))
    return options.map_by;
  return resource_kind::none;
}

bool counts_processes(const job_options& options) {
  return options.nodes == node_policy::ppr || options.nodes == node_policy::seq
         || options.nodes == node_policy::rank_file;
}

std::string ranking_of(const job_options& options) {
  switch (options.rank_by) {
    case rank_policy::node:
      return "node";
    case rank_policy::fill:
      return "fill";
    case rank_policy::span:
      return "span";
    case rank_policy::object:
      return to_string(options.rank_object);
    default:
      return "slot";
  }
}

std::string mapping_of(const job_options& options) {
  auto result = std::string{};
  if (options.nodes == node_policy::ppr)
    result = "ppr:" + std::to_string(options.per_object) + ":"
             + to_string(options.ppr_object);
  else if (options.nodes == node_policy::seq)
    result = "seq";
  else if (options.nodes == node_policy::rank_file)
    result = "rankfile";
  else if (options.nodes == node_policy::node)
    result = "node";
  else
    result = to_string(options.map_by);
  if (options.cpus_per_proc > 0)
    result += ":pe=" + std::to_string(options.cpus_per_proc);
  if (options.spans)
    result += ":span";
  return result;
}

std::string lower_case(std::string text) {
  for (auto& c : text)
    c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return text;
}

std::string to_string(resource_kind kind) {
  for (const auto& [x, text] : kind_names)
    if (x == kind)
      return std::string{text};
  return "slot";
}

caf::error read_mapping_words(const std::vector<info>& infos,
                              job_options& options) {
  return reader{infos, options}.read();
}

std::string mapping_file_of(const spawn_request& request) {
  const auto given = text(request.job_infos, attr::mapby);
  if (!given)
    return {};
  const auto what = mapping_directive{"PMIX_MAPBY", *given};
  for (const auto& x : what.words())
    if (starts_with(x, "file="))
      return x.substr(5);
  return {};
}

} // namespace troupe
