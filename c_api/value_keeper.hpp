#pragma once

#include "messages/proc_id.hpp"
#include "messages/value.hpp"

#include <pmix_common.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace troupe::c_api {

/// Values that stay the library's after they were shown to a caller.
/// Source: PMIx Standard v5, PMIX_GET_POINTER_VALUES.
class value_keeper {
public:
  value_keeper() = default;

  value_keeper(const value_keeper&) = delete;

  value_keeper& operator=(const value_keeper&) = delete;

  ~value_keeper();

  /// @returns a value that lives as long as this object; the same one for the
  ///          same value of the same key; null without memory.
  pmix_value_t* keep(const proc_id& proc, const std::string& key,
                     const value& x);

private:
  struct entry {
    value val;
    pmix_value_t* shown = nullptr;
  };

  std::mutex mutex_;
  std::map<std::pair<proc_id, std::string>, entry> entries_; // by mutex_
  std::vector<pmix_value_t*> old_;                           // by mutex_
};

} // namespace troupe::c_api
