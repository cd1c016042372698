#pragma once

#include "adapters/files/directory.hpp"
#include "adapters/wire/uri.hpp"

#include <caf/expected.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// `PMIX_SYSTEM_TMPDIR`, else `TMPDIR`, `TEMP`, `TMP`, else `/tmp`: where tools
/// look, with all that is below.
std::string system_tmpdir();

/// The name of a node as `gethostname` says it.
std::string node_name();

/// The files by which tools find a server.
/// Source: OpenPMIx wire protocol, rendezvous of tools.
enum class rendezvous_kind : uint8_t {
  /// `pmix.sys.<host>`: the server of the node; system directory.
  system,

  /// `pmix.sched.<host>`: the scheduler; system directory.
  scheduler,

  /// `pmix.sysctrlr.<host>`: the system controller; system directory.
  system_controller,

  /// `pmix.<host>.tool`: any server that takes tools; session directory.
  session,

  /// `pmix.<host>.tool.<pid>`; session directory.
  by_pid,

  /// `pmix.<host>.tool.<namespace of the server>`; session directory.
  by_nspace,

  /// The name in the options, for tools that know it; session directory.
  by_own_name,
};

/// Why nothing can be done in `directory`, with the variable that names it, its
/// value, and what helps.
std::string blame_tmpdir(const std::string& directory, const std::string& why);

struct rendezvous_options {
  std::vector<rendezvous_kind> kinds = {rendezvous_kind::session,
                                        rendezvous_kind::by_pid,
                                        rendezvous_kind::by_nspace};

  wire::server_uri uri;

  /// The node's name, as tools on it say it (`gethostname`).
  std::string hostname;

  /// The release that the server behaves like.
  std::string version = "4.2.2";

  std::string system_directory = system_tmpdir();

  std::string session_directory = system_tmpdir();

  /// Of the file `by_own_name`.
  std::string own_name;
};

/// Removes the files that servers of this user which are no more have left in
/// the system directory.
void remove_stale_files(const std::string& system_directory,
                        const std::string& hostname);

/// The rendezvous files of one server, removed when the object goes.
///
/// A file appears under its name complete and at once. A file of the same name
/// that a dead server of the same user left behind is replaced; anything else
/// there (a live server's file, another user's, a link, a directory, a FIFO) is
/// an error that names it, and is neither followed, nor written, nor removed.
/// Source: guarantees, attacks X6 to X9.
class rendezvous_files {
public:
  /// Writes all files, or none.
  /// @returns `exists` for a live server's file, `no_permissions` for what is
  ///          not ours or odd, `in_errno` if the system refuses.
  static caf::expected<rendezvous_files> publish(const rendezvous_options& x);

  rendezvous_files(rendezvous_files&&) noexcept = default;

  rendezvous_files& operator=(rendezvous_files&& other) noexcept;

  /// Removes the files that are still ours.
  ~rendezvous_files();

  /// Whether all files are still there, and ours.
  bool are_in_place() const;

  /// Sets their times to now.
  void touch() const noexcept;

  /// Where the files are, in the order of the kinds.
  std::vector<std::string> paths() const;

private:
  struct entry {
    directory where;
    std::string name;
    file_identity identity;
  };

  rendezvous_files() = default;

  void remove() noexcept;

  std::vector<entry> entries_;
};

} // namespace troupe
