#pragma once

#include "adapters/local/rendezvous.hpp"
#include "adapters/local/session_directory.hpp"

#include <caf/error.hpp>

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// What a server keeps on disk while it runs: its session directory and the
/// files by which tools find it. What somebody removes of it is made anew.
///
/// One thread at a time makes and removes; file systems may hang, so whoever
/// renews does so on a thread that nobody waits for.
class session_files {
public:
  struct settings {
    /// An existing directory that stays. Empty: one is made below
    /// `system_directory`.
    std::string session_directory;
    std::string system_directory;

    /// The files by which tools find the server.
    std::vector<rendezvous_kind> kinds;

    /// The name of one more, `by_own_name`; empty: none.
    std::string own_name;

    /// Whether those whose names are taken may be missing.
    bool may_lack_files = false;
  };

  /// What somebody ought to know, in sentences.
  struct report {
    caf::error failure;
    std::vector<std::string> warnings;
  };

  explicit session_files(settings x) : settings_(std::move(x)) {
    // nop
  }

  ~session_files();

  session_files(const session_files&) = delete;
  session_files& operator=(const session_files&) = delete;

  /// Makes the session directory, if it is ours.
  report open();

  /// Makes the files, and removes what dead servers have left.
  report publish(const wire::server_uri& uri);

  /// Whether there is anything that somebody could remove.
  bool has_any() const noexcept {
    return session_ || !files_.empty();
  }

  /// Makes anew what somebody has removed.
  report renew();

  /// Sets all times to now, so that who removes what is old leaves it.
  void touch();

  /// Tools are not to find the server any more. As `close`.
  void withdraw();

  /// Removes everything, and makes nothing more. Waits a moment for whoever is
  /// renewing; then that thread removes it.
  void close();

  /// Empty before `open`. Not while somebody renews.
  const std::string& directory() const noexcept {
    return settings_.session_directory;
  }

private:
  struct published_file {
    rendezvous_kind kind;
    rendezvous_files file;

    /// Whether it could not be made anew.
    bool is_missing = false;
  };

  caf::expected<rendezvous_files> make(rendezvous_kind kind) const;
  caf::error blame(const caf::error& why) const;
  void remove_all();

  settings settings_;
  wire::server_uri uri_;
  std::timed_mutex mutex_;
  std::optional<session_directory> session_;
  std::vector<published_file> files_;
  std::atomic<bool> is_closed_{false};
};

} // namespace troupe
