#include "adapters/c_values/c_types.hpp"
#include "c_api/helpers/failure.hpp"

#include <pmix.h>

#include <new>
#include <string>

// Lists of strings that end with a null pointer.

using troupe::c_api::allocate;
using troupe::c_api::duplicate;

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
