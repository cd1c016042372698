#pragma once

#include "adapters/wire/dialect.hpp"
#include "messages/data.hpp"

#include <caf/expected.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

namespace troupe {

/// Keeps the packed data of jobs for the next client of the same job: all of
/// them ask for it when they start, most in the same dialect.
class job_info_cache {
public:
  /// Jobs and dialects to remember.
  static constexpr size_t max_entries = 8;

  /// The longest payload to remember, in bytes.
  static constexpr size_t max_payload = size_t{8} << 20;

  /// The payload of the reply that carries `info`.
  caf::expected<std::shared_ptr<const std::string>>
  packed(const std::shared_ptr<const job_info>& info, const wire::dialect& d);

private:
  struct entry {
    std::weak_ptr<const job_info> info;
    wire::dialect dialect;
    std::shared_ptr<const std::string> payload;
  };

  std::deque<entry> entries_; // the oldest first
};

} // namespace troupe
