#pragma once

#include "adapters/link/link.hpp"
#include "messages/io.hpp"

#include <pmix_tool.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

class fd_writer;
class output_formatter;

namespace c_api {

class library;

/// How output is formatted here; null: as it comes.
using output_shape = std::shared_ptr<output_formatter>;

/// How output has to be formatted here because the server does not do it: ours
/// do, those of OpenPMIx leave it to whoever prints.
output_shape shape_for(const library& lib, const std::vector<info>& infos);

/// The handlers of an application for output of others: which it has, and what
/// the server calls them.
class output_handlers {
public:
  struct handler {
    pmix_iof_cbfunc_t call = nullptr;

    /// The server's number; none until it has answered.
    std::optional<uint64_t> subscription;

    output_shape shape;

    /// Whether the server keeps output together for it.
    bool is_buffered = false;
  };

  output_handlers();

  ~output_handlers();

  /// @returns the number of the new handler.
  uint64_t add(pmix_iof_cbfunc_t call, output_shape shape = {},
               bool is_buffered = false);

  void confirm(uint64_t number, uint64_t subscription);

  /// @returns a handler as it is; nothing if there is no such handler.
  std::optional<handler> find(uint64_t number);

  /// @returns what was removed; nothing if there is no such handler.
  std::optional<handler> remove(uint64_t number);

  /// A job is being started whose output is formatted here; it may come before
  /// the job's name does. Edge case 200.
  void expect_job(const output_shape& shape);

  /// It has got a name, or none if it has not been started.
  void name_job(const output_shape& shape, const std::string& nspace);

  /// Hands output over; what nobody asked for, or has no function, goes to our
  /// own standard output and error. What was on its way to a handler that has
  /// been removed is dropped. On the thread of the loop.
  /// @param receipt Kept until the handler has returned, or the bytes are
  ///                written.
  void deliver(const io_delivery& x, const output_receipt& receipt);

  /// Whether something has been written to our standard output or error. On the
  /// thread of the loop.
  bool has_written() const {
    return out_ || err_;
  }

  /// Calls `f` once what waits for our standard output and error is written or
  /// discarded, at once if nothing does; not if the writers are closed earlier.
  /// On the thread of the loop.
  void when_written(const std::function<void()>& f);

  /// On the thread of the loop.
  void close_writers();

private:
  output_shape shape_of_job(const std::string& nspace);
  void hand(pmix_iof_cbfunc_t call, const io_delivery& x,
            const output_receipt& receipt);
  void print(const io_delivery& x, const output_receipt& receipt);

  std::mutex mutex_;
  std::map<uint64_t, handler> handlers_;     // guarded by mutex_
  uint64_t last_ = 0;                        // guarded by mutex_
  std::vector<output_shape> expected_;       // guarded by mutex_
  std::map<std::string, output_shape> jobs_; // guarded by mutex_
  std::unique_ptr<fd_writer> out_;
  std::unique_ptr<fd_writer> err_;
};

/// Waits until what `handlers` have for our standard output and error is
/// written. Not on the thread of the loop.
/// @param patience How long at most.
/// @returns whether it is; otherwise their reader is too slow.
bool await_written(library& lib, output_handlers& handlers,
                   std::chrono::milliseconds patience);

} // namespace c_api

} // namespace troupe
