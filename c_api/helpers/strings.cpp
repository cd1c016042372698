#include "adapters/c_values/c_types.hpp"
#include "adapters/c_values/convert.hpp"
#include "adapters/c_values/structures.hpp"
#include "c_api/helpers/failure.hpp"
#include "c_api/helpers/print.hpp"
#include "messages/attributes.hpp"

#include <pmix.h>

#include <array>
#include <exception>
#include <string>

// Structures as text, and the names of types and attributes.

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
