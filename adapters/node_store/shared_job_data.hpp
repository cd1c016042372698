#pragma once

#include "actors/data/packed_ranks.hpp"
#include "messages/data.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Packs the data of a job for the memory that its processes share.
/// @returns nothing if they have to be sent: something of a rank has a key that is
///          not reserved, or they cannot be packed.
std::optional<std::string> pack_shared_job(const job_info& x);

/// The data of a job, as a process finds them in memory.
struct shared_job {
  /// Of the job as a whole.
  std::vector<key_value> entries;

  /// Those of ranks stay where they are until somebody asks for them.
  std::unique_ptr<packed_ranks> ranks;
};

/// Reads the data of a job where they are. What cannot be read of a rank is not
/// there: then the server has to be asked.
/// @param bytes They live as long as `owner`.
/// @returns nothing for bytes that `pack_shared_job` has not written.
std::optional<shared_job> read_shared_job(std::string_view bytes,
                                          std::shared_ptr<const void> owner);

} // namespace troupe
