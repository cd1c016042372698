#pragma once

#include "messages/io.hpp"
#include "messages/io_stream.hpp"
#include "messages/status.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace troupe {

/// A push of input to processes of several jobs: what has become of it is told
/// once, when all jobs have answered. Plain data.
class push_round {
public:
  /// Gets nothing, or why.
  using completion = std::function<void(const caf::error&)>;

  push_round(const io_push_request& request, completion done);

  /// One more job will answer.
  void expect() {
    ++left_;
  }

  /// What a job says. Who does not read any more does not keep the others from
  /// reading.
  void take(const caf::expected<io_input_taken>& x);

  /// Nobody else will be expected.
  void close() {
    finish_one();
  }

private:
  void finish_one();

  completion done_;
  bool is_end_;
  uint32_t readers_ = 0;
  caf::error why_;
  size_t left_ = 1;
};

} // namespace troupe
