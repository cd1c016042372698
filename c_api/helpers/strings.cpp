#include "adapters/c_values/c_types.hpp"
#include "adapters/c_values/convert.hpp"
#include "adapters/c_values/structures.hpp"
#include "c_api/helpers/failure.hpp"
#include "messages/attributes.hpp"

#include <pmix.h>

#include <array>
#include <ctime>
#include <exception>
#include <iterator>
#include <memory>
#include <string>

// Structures as text, and the names of types and attributes.

namespace troupe::c_api {

namespace {

/// Appends a value as text: its type and what it is, arrays and structures with
/// a line for each part. Every line begins with `prefix`.
void print(std::string& out, const value& x, const std::string& prefix);

/// The same for an info: its key, its flags and its value.
void print(std::string& out, const info& x, const std::string& prefix);

/// The namespace and the rank, or the name of the rank.
std::string print(const proc_id& x);

template <class... Ts>
std::string format(const char* pattern, Ts... xs) {
  const auto n = std::snprintf(nullptr, 0, pattern, xs...);
  auto result = std::string(n > 0 ? static_cast<size_t>(n) : 0, '\0');
  std::snprintf(result.data(), result.size() + 1, pattern, xs...);
  return result;
}

std::string name_of(data_type x) {
  return PMIx_Data_type_string(static_cast<pmix_data_type_t>(x));
}

std::string or_null(const std::optional<std::string>& x) {
  return x ? *x : "NULL";
}

std::string print_rank(uint32_t x) {
  switch (x) {
    case rank_undef:
      return "PMIX_RANK_UNDEF";
    case rank_wildcard:
      return "PMIX_RANK_WILDCARD";
    case rank_local_node:
      return "PMIX_RANK_LOCAL_NODE";
    case rank_invalid:
      return "PMIX_RANK_INVALID";
    case rank_local_peers:
      return "PMIX_RANK_LOCAL_PEERS";
    default:
      return std::to_string(x);
  }
}

std::string print_time(uint64_t x) {
  const auto seconds = static_cast<time_t>(x);
  auto parts = tm{};
  char buffer[64];
  if (localtime_r(&seconds, &parts) == nullptr
      || std::strftime(std::begin(buffer), std::size(buffer),
                       "%a %b %e %H:%M:%S %Y", &parts)
           == 0)
    return std::to_string(x);
  return std::begin(buffer);
}

std::string print_directives(uint32_t x) {
  const auto text = std::unique_ptr<char, decltype(&std::free)>{
    PMIx_Info_directives_string(x), &std::free};
  return text != nullptr ? text.get() : "";
}

template <class Integer>
std::string print_unsigned(data_type type, Integer x) {
  switch (type) {
    case data_type::byte:
      return format("%x", static_cast<unsigned>(x));
    case data_type::time:
      return print_time(x);
    case data_type::proc_rank:
      return print_rank(static_cast<uint32_t>(x));
    case data_type::persist:
      return PMIx_Persistence_string(static_cast<uint8_t>(x));
    case data_type::scope:
      return PMIx_Scope_string(static_cast<uint8_t>(x));
    case data_type::data_range:
      return PMIx_Data_range_string(static_cast<uint8_t>(x));
    case data_type::proc_state:
      return PMIx_Proc_state_string(static_cast<uint8_t>(x));
    case data_type::job_state:
      return PMIx_Job_state_string(static_cast<uint8_t>(x));
    case data_type::link_state:
      return PMIx_Link_state_string(static_cast<uint8_t>(x));
    case data_type::alloc_directive:
      return PMIx_Alloc_directive_string(static_cast<uint8_t>(x));
    case data_type::alloc_inherit:
      return PMIx_Alloc_inheritance_string(static_cast<uint8_t>(x));
    case data_type::resblock_directive:
      return PMIx_Resource_block_directive_string(static_cast<uint8_t>(x));
    case data_type::data_type:
      return name_of(static_cast<data_type>(x));
    case data_type::iof_channel:
      return PMIx_IOF_channel_string(static_cast<uint16_t>(x));
    case data_type::info_directives:
      return print_directives(static_cast<uint32_t>(x));
    case data_type::device_type:
    case data_type::storage_medium:
    case data_type::storage_accessibility:
    case data_type::storage_persistence:
    case data_type::storage_access_type:
    case data_type::locality:
      return format("0x%llx", static_cast<unsigned long long>(x));
    default:
      return std::to_string(x);
  }
}

std::string print_device(const std::optional<std::string>& uuid,
                         const std::optional<std::string>& os_name,
                         uint64_t type) {
  return or_null(uuid) + '(' + or_null(os_name) + ") "
         + PMIx_Device_type_string(type);
}

/// What stands behind the type. Parts that hold values begin new lines.
class visitor {
public:
  visitor(std::string& out, const value& x, std::string prefix)
    : out_(out), value_(x), prefix_(std::move(prefix)) {
    // nop
  }

  void operator()(std::monostate) {
    out_ += "\tValue: NULL";
  }

  void operator()(bool x) {
    show(x ? "TRUE" : "FALSE");
  }

  void operator()(int64_t x) {
    show(value_.type == data_type::status
           ? std::string{PMIx_Error_string(static_cast<int32_t>(x))}
           : std::to_string(x));
  }

  void operator()(uint64_t x) {
    show(print_unsigned(value_.type, x));
  }

  void operator()(double x) {
    show(format("%f", x));
  }

  void operator()(const timeval_value& x) {
    show(format("%lld.%06lld", static_cast<long long>(x.seconds),
                static_cast<long long>(x.microseconds)));
  }

  void operator()(const std::string& x) {
    if (storage_of(value_.type) == storage_class::text)
      show(x);
    else if (value_.type == data_type::regex)
      show(x.c_str());
    else
      out_ += "\tSize: " + std::to_string(x.size());
  }

  void operator()(const proc_id& x) {
    show(print(x));
  }

  void operator()(const box<value>& x) {
    line(*x);
  }

  void operator()(const box<info>& x) {
    out_ += '\n';
    print(out_, *x, prefix_);
  }

  void operator()(const box<key_value>& x) {
    out_ += "\tKey: " + x->key;
    line(x->val);
  }

  void operator()(const box<pdata>& x) {
    show(print(x->proc) + " Key: " + x->key);
    line(x->val);
  }

  void operator()(const box<data_array>& x) {
    out_ += "\tType: " + name_of(x->element_type)
            + "\tSize: " + std::to_string(x->elements.size());
    for (const auto& y : x->elements)
      line(y);
  }

  void operator()(const box<app>& x) {
    show(x->cmd);
    for (const auto& y : x->argv)
      part("ARGV: " + y);
    for (const auto& y : x->env)
      part("ENV: " + y);
    part("CWD: " + or_null(x->cwd));
    part("MAXPROCS: " + std::to_string(x->max_procs));
    infos(x->infos);
  }

  void operator()(const box<query>& x) {
    for (const auto& y : x->keys)
      part("Key: " + y);
    infos(x->qualifiers);
  }

  void operator()(const box<proc_info>& x) {
    show(print(x->proc));
    part("Host: " + or_null(x->hostname) + "\tExecutable: "
         + or_null(x->executable_name) + "\tPid: " + std::to_string(x->pid)
         + "\tState: " + PMIx_Proc_state_string(x->state));
  }

  void operator()(const box<envar>& x) {
    out_ += "\tName: " + or_null(x->name) + "\tValue: " + or_null(x->val);
    if (x->separator != 0)
      out_ += std::string{"\tSeparator: "} + static_cast<char>(x->separator);
  }

  void operator()(const box<coord>& x) {
    show(x->view == 1 ? "LOGICAL" : x->view == 2 ? "PHYSICAL" : "UNDEFINED");
    for (const auto y : x->coordinates)
      out_ += ' ' + std::to_string(y);
  }

  void operator()(const box<regattr>& x) {
    out_ += "\tName: " + or_null(x->name) + "\tString: " + x->key
            + "\tType: " + name_of(x->type);
    for (const auto& y : x->description)
      part(or_null(y));
  }

  void operator()(const box<geometry>& x) {
    show("Fabric: " + std::to_string(x->fabric) + " UUID: " + or_null(x->uuid)
         + " OSName: " + or_null(x->os_name));
    for (const auto& y : x->coordinates)
      line({data_type::coord, box<coord>{y}});
  }

  void operator()(const box<device>& x) {
    show(print_device(x->uuid, x->os_name, x->type));
  }

  void operator()(const box<device_distance>& x) {
    show(print_device(x->uuid, x->os_name, x->type)
         + " Min: " + std::to_string(x->min_distance)
         + " Max: " + std::to_string(x->max_distance));
  }

  void operator()(const box<endpoint>& x) {
    show(or_null(x->uuid) + '(' + or_null(x->os_name)
         + ") Size: " + std::to_string(x->bytes.size()));
  }

  void operator()(const box<resource_unit>& x) {
    show(std::string{PMIx_Device_type_string(x->type)}
         + " Count: " + std::to_string(x->count));
  }

  void operator()(const box<node_pid>& x) {
    show(or_null(x->hostname) + '(' + std::to_string(x->node_id)
         + ") Pid: " + std::to_string(x->pid));
  }

  void operator()(const box<proc_stats>& x) {
    show(print(x->proc) + " Node: " + or_null(x->node)
         + " Pid: " + std::to_string(x->pid) + " Cmd: " + or_null(x->cmd));
    part(format("CPU: %f PSS: %f VSize: %f RSS: %f", x->percent_cpu, x->pss,
                x->vsize, x->rss));
  }

  void operator()(const box<disk_stats>& x) {
    show(or_null(x->disk) + " Reads: " + std::to_string(x->num_reads_completed)
         + " Writes: " + std::to_string(x->num_writes_completed));
  }

  void operator()(const box<net_stats>& x) {
    show(or_null(x->interface_name)
         + " Received: " + std::to_string(x->num_bytes_received)
         + " Sent: " + std::to_string(x->num_bytes_sent));
  }

  void operator()(const box<node_stats>& x) {
    show(or_null(x->node));
    part(format("Load: %f %f %f Memory: %f Free: %f", x->load_average,
                x->load_average_5, x->load_average_15, x->total_memory,
                x->free_memory));
    for (const auto& y : x->disks)
      line({data_type::disk_stats, box<disk_stats>{y}});
    for (const auto& y : x->nets)
      line({data_type::net_stats, box<net_stats>{y}});
  }

private:
  void show(const std::string& text) {
    out_ += "\tValue: ";
    out_ += text;
  }

  /// One more line that belongs to the value.
  void part(const std::string& text) {
    out_ += '\n';
    out_ += prefix_;
    out_ += '\t';
    out_ += text;
  }

  void line(const value& x) {
    out_ += '\n';
    print(out_, x, prefix_ + '\t');
  }

  void infos(const std::vector<info>& xs) {
    for (const auto& x : xs) {
      out_ += '\n';
      print(out_, x, prefix_ + '\t');
    }
  }

  std::string& out_;
  const value& value_;
  std::string prefix_;
};

void print(std::string& out, const value& x, const std::string& prefix) {
  out += prefix;
  out += "Data type: ";
  out += name_of(x.type);
  std::visit(visitor{out, x, prefix}, x.data);
}

void print_heading(std::string& out, const info& x, const std::string& prefix) {
  out += prefix + "KEY: " + PMIx_Get_attribute_name(x.key.c_str()) + '\n';
  out += prefix + "\tDIRECTIVES: " + print_directives(x.flags) + '\n';
}

void print(std::string& out, const info& x, const std::string& prefix) {
  print_heading(out, x, prefix);
  print(out, x.val, prefix + '\t');
}

std::string print(const proc_id& x) {
  return x.nspace + ':' + print_rank(x.rank);
}

} // namespace

} // namespace troupe::c_api

using namespace troupe;

namespace {

/// Appends an element of any type.
/// @param prefix In front of every line.
pmix_status_t print_element(std::string& out, pmix_data_type_t type,
                            const void* p, const std::string& prefix) {
  auto r = c_api::c_reader{};
  if (type == PMIX_INFO) {
    auto x = info{};
    r.read(*static_cast<const pmix_info_t*>(p), x);
    c_api::print(out, x, prefix);
  } else if (type == PMIX_VALUE) {
    auto x = value{};
    r.read(*static_cast<const pmix_value_t*>(p), x);
    c_api::print(out, x, prefix);
  } else {
    const auto kind = static_cast<data_type>(type);
    c_api::print(out, value{kind, r.element(kind, p)}, prefix);
  }
  return c_api::to_c(r.failure());
}

/// A new text made by `f`, which appends to a string and gives a status; null
/// on an error.
template <class F>
char* make_text(F f) {
  try {
    auto out = std::string{};
    return f(out) == PMIX_SUCCESS ? c_api::duplicate(out) : nullptr;
  } catch (const std::exception&) {
    return nullptr;
  }
}

/// The names of all types, made once.
const char* type_name(pmix_data_type_t x) {
  static const auto names = [] {
    auto result = std::array<std::string, 76>{};
    for (size_t i = 0; i < result.size(); ++i) {
      const auto type = static_cast<data_type>(i);
      if (storage_of(type) != storage_class::unknown)
        result[i] = "PMIX_" + to_string(type);
    }
    return result;
  }();
  return x < names.size() && !names[x].empty() ? names[x].c_str() : "UNKNOWN";
}

/// Appends a value; of one that cannot be read, since its type is none or its
/// element is missing, the type: programs print what they get. Source: OpenPMIx.
void print_any(std::string& out, const pmix_value_t& from,
               const std::string& prefix) {
  auto r = c_api::c_reader{};
  auto x = value{};
  r.read(from, x);
  if (!r.failure())
    c_api::print(out, x, prefix);
  else
    out += prefix + "Data type: " + type_name(from.type) + '('
           + std::to_string(from.type) + ")\tValue: UNPRINTABLE";
}

void print_any(std::string& out, const pmix_info_t& from,
               const std::string& prefix) {
  auto heading = from;
  heading.value = {};
  auto r = c_api::c_reader{};
  auto x = info{};
  r.read(heading, x);
  c_api::print_heading(out, x, prefix);
  print_any(out, from.value, prefix + '\t');
}

} // namespace

const char* PMIx_Data_type_string(pmix_data_type_t type) {
  return type_name(type);
}

const char* PMIx_Get_version(void) try {
  return "4.2.9 (Troupe " TROUPE_VERSION ", PMIx Standard: 4.2)";
} catch (...) {
  return "";
}

const char* PMIx_Get_attribute_string(const char* name) {
  if (name == nullptr)
    return nullptr;
  const auto* found = attribute_named(name);
  return found != nullptr ? found->key.data() : name;
}

const char* PMIx_Get_attribute_name(const char* key) {
  if (key == nullptr)
    return nullptr;
  const auto* found = attribute_of(key);
  return found != nullptr ? found->c_name.data() : key;
}

char* PMIx_Info_directives_string(pmix_info_directives_t x) try {
  auto text = std::string{"QUALIFIER"};
  if ((x & PMIX_INFO_QUALIFIER) == 0) {
    text = (x & PMIX_INFO_REQD) != 0 ? "REQUIRED" : "OPTIONAL";
    if ((x & PMIX_INFO_REQD_PROCESSED) != 0)
      text += ":PROCESSED";
    if ((x & PMIX_INFO_ARRAY_END) != 0)
      text += ":END";
  }
  return c_api::duplicate(text);
} catch (...) {
  return nullptr;
}

char* PMIx_Value_string(const pmix_value_t* x) try {
  return make_text([x](std::string& out) -> pmix_status_t {
    if (x == nullptr)
      return PMIX_ERR_BAD_PARAM;
    out = " PMIX_VALUE: ";
    print_any(out, *x, "");
    return PMIX_SUCCESS;
  });
} catch (...) {
  return nullptr;
}

char* PMIx_Info_string(const pmix_info_t* x) try {
  return make_text([x](std::string& out) -> pmix_status_t {
    if (x == nullptr)
      return PMIX_ERR_BAD_PARAM;
    print_any(out, *x, " ");
    out += '\n';
    return PMIX_SUCCESS;
  });
} catch (...) {
  return nullptr;
}

char* PMIx_Proc_string(const pmix_proc_t* x) try {
  return make_text([x](std::string& out) -> pmix_status_t {
    if (x == nullptr)
      return PMIX_ERR_BAD_PARAM;
    out = c_api::print(c_api::to_proc(*x));
    return PMIX_SUCCESS;
  });
} catch (...) {
  return nullptr;
}

char* PMIx_Resource_unit_string(const pmix_resource_unit_t* x) try {
  return make_text([x](std::string& out) -> pmix_status_t {
    if (x == nullptr)
      return PMIX_ERR_BAD_PARAM;
    out = std::string{"TYPE: "} + PMIx_Device_type_string(x->type)
          + "  COUNT: " + std::to_string(x->count);
    return PMIX_SUCCESS;
  });
} catch (...) {
  return nullptr;
}

char* PMIx_App_string(const pmix_app_t* x) try {
  return make_text([x](std::string& out) -> pmix_status_t {
    if (x == nullptr)
      return PMIX_ERR_BAD_PARAM;
    const auto list = [&out](const char* name, char* const* xs) {
      out += std::string{"\n    "} + name + ':';
      if (xs == nullptr)
        out += "\n        NONE";
      for (size_t i = 0; xs != nullptr && xs[i] != nullptr; ++i)
        out += std::string{"\n        "} + name + '[' + std::to_string(i)
               + "]: " + xs[i];
    };
    out = std::string{"CMD: "} + (x->cmd != nullptr ? x->cmd : "NULL");
    list("ARGV", x->argv);
    list("ENV", x->env);
    out += std::string{"\n    CWD: "} + (x->cwd != nullptr ? x->cwd : "NULL");
    out += "\n    MAXPROCS: " + std::to_string(x->maxprocs);
    out += x->info == nullptr ? "\n    INFO: NONE" : "\n    INFO:";
    for (size_t i = 0; x->info != nullptr && i < x->ninfo; ++i) {
      out += '\n';
      print_any(out, x->info[i], "        ");
    }
    return PMIX_SUCCESS;
  });
} catch (...) {
  return nullptr;
}

pmix_status_t PMIx_Data_print(char** output, char* prefix, void* src,
                              pmix_data_type_t type) try {
  if (output == nullptr || src == nullptr)
    return PMIX_ERR_BAD_PARAM;
  *output = nullptr;
  if (c_api::c_type_of(type).size == 0 || type == PMIX_UNDEF)
    return PMIX_ERR_UNKNOWN_DATA_TYPE;
  // The argument for a text is the text itself.
  const auto* element = type == PMIX_STRING || type == PMIX_REGEX
                          ? static_cast<const void*>(&src)
                          : src;
  const auto kind = type == PMIX_REGEX ? pmix_data_type_t{PMIX_STRING} : type;
  auto code = pmix_status_t{PMIX_ERR_NOMEM};
  *output = make_text([&](std::string& out) {
    code = print_element(out, kind, element, prefix != nullptr ? prefix : " ");
    return code;
  });
  return code == PMIX_SUCCESS && *output == nullptr ? PMIX_ERR_NOMEM : code;
} catch (...) {
  return c_api::status_of_exception();
}
