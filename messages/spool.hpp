#pragma once

#include "messages/inspect.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// What a log keeps on disk for an event.
struct spool_record {
  /// Unique in its log, never used again.
  uint64_t number = 0;

  std::string bytes;
};

TROUPE_MESSAGE(spool_record, x.number, x.bytes)

/// Keeps records on disk. Answered when they are there, all of them or none.
/// Source: guarantees 5.1, "Spool".
struct write_spool {
  /// Distinguishes the logs of this server.
  uint64_t log = 0;

  std::vector<spool_record> records;
};

TROUPE_MESSAGE(write_spool, x.log, x.records)

/// Asks for records.
struct read_spool {
  uint64_t log = 0;
  std::vector<uint64_t> numbers;
};

TROUPE_MESSAGE(read_spool, x.log, x.numbers)

/// The records, in the order asked; those that are damaged or lost are not
/// among them.
struct spool_content {
  std::vector<spool_record> records;
};

TROUPE_MESSAGE(spool_content, x.records)

/// Forgets records. Not answered.
struct erase_spool {
  uint64_t log = 0;

  /// None: all of the log.
  std::vector<uint64_t> numbers;
};

TROUPE_MESSAGE(erase_spool, x.log, x.numbers)

} // namespace troupe
