#pragma once

#include "adapters/http/http_message.hpp"

#include <caf/expected.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

struct mg_connection;
struct mg_context;

namespace troupe {

namespace defaults {

/// Connections that are served at a time, each on a thread of its own; and those
/// that wait for one. Others wait in the kernel, or are refused there.
inline constexpr size_t http_threads = 24;
inline constexpr size_t http_waiting = 64;

/// The line and the headers of a request together.
inline constexpr size_t http_request_bytes = size_t{8} << 10;

/// How long the head of a request may take to come, and how long the other end may
/// take nothing of an answer.
inline constexpr auto http_patience = std::chrono::milliseconds{3000};

} // namespace defaults

/// Answers HTTP on the loopback of this node, by civetweb. It serves no files, reads
/// no bodies and keeps no connection for a second request. All else is up to the
/// handler.
class http_server {
public:
  /// Called on the thread of a connection, several at a time.
  using handler = std::function<http_answer(const http_request&)>;

  struct settings {
    /// 127.0.0.0/8, numeric; or `::1`.
    std::string address = "127.0.0.1";

    /// 0: any that is free.
    uint16_t port = 0;
  };

  /// @returns why it cannot listen.
  static caf::expected<std::unique_ptr<http_server>> start(settings x,
                                                           handler answers);

  /// Waits until all threads have ended: whoever is in the handler, or in `more` of
  /// an answer, must not wait for the caller.
  ~http_server();

  http_server(const http_server&) = delete;

  http_server& operator=(const http_server&) = delete;

  /// Where it listens.
  uint16_t port() const {
    return port_;
  }

private:
  http_server() = default;

  static int on_request(mg_connection* from);
  static int on_log(const mg_connection* from, const char* text);

  int answer(mg_connection* to);

  handler answers_;
  mg_context* context_ = nullptr;
  uint16_t port_ = 0;
  std::atomic<bool> is_ending_{false};

  std::mutex mutex_;
  std::string trouble_; // guarded by mutex_
};

} // namespace troupe
