#include "adapters/c_values/c_types.hpp"
#include "adapters/c_values/convert.hpp"
#include "c_api/helpers/failure.hpp"

#include <pmix.h>

#include <algorithm>
#include <new>
#include <string>

// Keys, namespaces and process identifiers. No function reads more than a key
// or a namespace may have, so that an array without its final zero is safe.

using namespace troupe::c_api;

namespace {

/// Whether a namespace stands for any: it compares equal to all.
/// Source: OpenPMIx, which programs rely on: an empty namespace is a wildcard.
bool is_any(const char* nspace) {
  return nspace_of(nspace).empty();
}

} // namespace

void PMIx_Load_key(pmix_key_t key, const char* src) {
  if (key != nullptr)
    set_text(key, sizeof(pmix_key_t), key_of(src));
}

bool PMIx_Check_key(const char* key, const char* str) {
  return key != nullptr && str != nullptr && key_of(key) == key_of(str);
}

bool PMIx_Check_reserved_key(const char* key) {
  return key != nullptr && std::strncmp(key, "pmix", 4) == 0;
}

void PMIx_Load_nspace(pmix_nspace_t nspace, const char* src) {
  if (nspace != nullptr)
    set_text(nspace, sizeof(pmix_nspace_t), nspace_of(src));
}

bool PMIx_Check_nspace(const char* x, const char* y) {
  return is_any(x) || is_any(y) || nspace_of(x) == nspace_of(y);
}

bool PMIx_Nspace_invalid(const char* nspace) {
  return is_any(nspace);
}

void PMIx_Load_procid(pmix_proc_t* x, const char* nspace, pmix_rank_t rank) {
  if (x == nullptr)
    return;
  PMIx_Load_nspace(x->nspace, nspace);
  x->rank = rank;
}

void PMIx_Proc_load(pmix_proc_t* x, const char* nspace, pmix_rank_t rank) {
  PMIx_Load_procid(x, nspace, rank);
}

void PMIx_Xfer_procid(pmix_proc_t* to, const pmix_proc_t* from) {
  if (to != nullptr && from != nullptr && to != from)
    *to = *from;
}

bool PMIx_Check_rank(pmix_rank_t x, pmix_rank_t y) {
  return x == y || x == PMIX_RANK_WILDCARD || y == PMIX_RANK_WILDCARD;
}

bool PMIx_Rank_valid(pmix_rank_t x) {
  return x < PMIX_RANK_VALID;
}

bool PMIx_Check_procid(const pmix_proc_t* x, const pmix_proc_t* y) {
  return x != nullptr && y != nullptr && PMIx_Check_nspace(x->nspace, y->nspace)
         && PMIx_Check_rank(x->rank, y->rank);
}

bool PMIx_Procid_invalid(const pmix_proc_t* x) {
  return x == nullptr || is_any(x->nspace) || x->rank == PMIX_RANK_INVALID;
}

// A namespace of several clusters is `<cluster>:<namespace>`; one that does not
// fit becomes empty.

void PMIx_Multicluster_nspace_construct(pmix_nspace_t target,
                                        pmix_nspace_t cluster,
                                        pmix_nspace_t nspace) try {
  if (target == nullptr)
    return;
  auto text = std::string{nspace_of(cluster)};
  text += ':';
  text += nspace_of(nspace);
  set_text(target, sizeof(pmix_nspace_t),
           text.size() <= PMIX_MAX_NSLEN ? text : std::string{});
} catch (...) {
  static_cast<void>(status_of_exception());
}

void PMIx_Multicluster_nspace_parse(pmix_nspace_t target, pmix_nspace_t cluster,
                                    pmix_nspace_t nspace) try {
  const auto text = std::string{nspace_of(target)};
  const auto colon = std::min(text.find(':'), text.size());
  if (cluster != nullptr)
    set_text(cluster, sizeof(pmix_nspace_t), text.substr(0, colon));
  if (nspace != nullptr)
    set_text(nspace, sizeof(pmix_nspace_t),
             colon < text.size() ? text.substr(colon + 1) : std::string{});
} catch (...) {
  static_cast<void>(status_of_exception());
}

// -- lists of strings that end with a null pointer ---------------------------

namespace {

size_t count(char* const* xs) {
  auto n = size_t{0};
  if (xs != nullptr)
    while (xs[n] != nullptr)
      ++n;
  return n;
}

/// Makes room for one more in front of place `at`.
pmix_status_t insert(char*** argv, size_t at, const char* text) {
  if (argv == nullptr || text == nullptr)
    return PMIX_ERR_BAD_PARAM;
  const auto n = count(*argv);
  auto* copy = duplicate(text);
  auto** xs =
    copy == nullptr
      ? nullptr
      : static_cast<char**>(std::realloc(*argv, (n + 2) * sizeof(char*)));
  if (xs == nullptr) {
    std::free(copy);
    return PMIX_ERR_NOMEM;
  }
  for (auto i = n; i > at; --i)
    xs[i] = xs[i - 1];
  xs[at] = copy;
  xs[n + 1] = nullptr;
  *argv = xs;
  return PMIX_SUCCESS;
}

} // namespace

int PMIx_Argv_count(char** argv) {
  return static_cast<int>(count(argv));
}

pmix_status_t PMIx_Argv_append_nosize(char*** argv, const char* arg) {
  return insert(argv, argv != nullptr ? count(*argv) : 0, arg);
}

pmix_status_t PMIx_Argv_prepend_nosize(char*** argv, const char* arg) {
  return insert(argv, 0, arg);
}

pmix_status_t PMIx_Argv_append_unique_nosize(char*** argv,
                                             const char* arg) try {
  if (argv == nullptr || arg == nullptr)
    return PMIX_ERR_BAD_PARAM;
  for (size_t i = 0, n = count(*argv); i < n; ++i)
    if (std::strcmp((*argv)[i], arg) == 0)
      return PMIX_SUCCESS;
  return PMIx_Argv_append_nosize(argv, arg);
} catch (...) {
  return troupe::c_api::status_of_exception();
}

void PMIx_Argv_free(char** argv) {
  for (size_t i = 0, n = count(argv); i < n; ++i)
    std::free(argv[i]);
  std::free(argv);
}

char** PMIx_Argv_split_inter(const char* text, int delimiter,
                             bool include_empty) try {
  if (text == nullptr)
    return nullptr;
  // Twice over the text: to count, then to copy.
  const auto each = [&](auto f) {
    auto n = size_t{0};
    for (const auto* p = text; *p != '\0';) {
      const auto* end = p;
      while (*end != '\0' && *end != static_cast<char>(delimiter))
        ++end;
      if (end > p || include_empty)
        f(n++, std::string_view{p, static_cast<size_t>(end - p)});
      p = *end != '\0' ? end + 1 : end;
    }
    return n;
  };
  const auto n = each([](size_t, std::string_view) {});
  if (n == 0)
    return nullptr;
  auto** result = allocate<char*>(n + 1);
  if (result == nullptr)
    return nullptr;
  auto ok = true;
  each([&](size_t i, std::string_view part) {
    ok = ok && (result[i] = duplicate(part)) != nullptr;
  });
  if (ok)
    return result;
  PMIx_Argv_free(result);
  return nullptr;
} catch (...) {
  return nullptr;
}

char** PMIx_Argv_split(const char* text, int delimiter) {
  return PMIx_Argv_split_inter(text, delimiter, false);
}

char** PMIx_Argv_split_with_empty(const char* text, int delimiter) {
  return PMIx_Argv_split_inter(text, delimiter, true);
}

char* PMIx_Argv_join(char** argv, int delimiter) {
  const auto n = count(argv);
  auto size = size_t{1};
  for (size_t i = 0; i < n; ++i)
    size += std::strlen(argv[i]) + 1;
  auto* result = allocate<char>(size);
  if (result == nullptr)
    return nullptr;
  auto* p = result;
  for (size_t i = 0; i < n; ++i) {
    if (i > 0)
      *p++ = static_cast<char>(delimiter);
    const auto length = std::strlen(argv[i]);
    std::memcpy(p, argv[i], length);
    p += length;
  }
  return result;
}

char** PMIx_Argv_copy(char** argv) {
  if (argv == nullptr)
    return nullptr;
  const auto n = count(argv);
  auto** result = allocate<char*>(n + 1);
  for (size_t i = 0; i < n && result != nullptr; ++i) {
    result[i] = duplicate(argv[i]);
    if (result[i] == nullptr) {
      PMIx_Argv_free(result);
      return nullptr;
    }
  }
  return result;
}

pmix_status_t PMIx_Setenv(const char* name, const char* value, bool overwrite,
                          char*** env) try {
  if (env == nullptr || name == nullptr || *name == '\0'
      || std::strchr(name, '=') != nullptr)
    return PMIX_ERR_BAD_PARAM;
  if (*env == environ) {
    const auto result = value == nullptr
                          ? unsetenv(name)
                          : setenv(name, value, overwrite ? 1 : 0);
    return result == 0 ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
  }
  auto entry = std::string{};
  try {
    entry = std::string{name} + '=' + (value != nullptr ? value : "");
  } catch (const std::bad_alloc&) {
    return PMIX_ERR_NOMEM;
  }
  const auto length = std::strlen(name) + 1;
  for (size_t i = 0, n = count(*env); i < n; ++i) {
    if (std::strncmp((*env)[i], entry.c_str(), length) != 0)
      continue;
    if (!overwrite)
      return PMIX_ERR_EXISTS;
    auto* copy = duplicate(entry);
    if (copy == nullptr)
      return PMIX_ERR_NOMEM;
    std::free((*env)[i]);
    (*env)[i] = copy;
    return PMIX_SUCCESS;
  }
  return PMIx_Argv_append_nosize(env, entry.c_str());
} catch (...) {
  return troupe::c_api::status_of_exception();
}
