#pragma once

#include <caf/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What `troupe doctor` asks of a node, and what the daemon's program says of it
// (`trouped --probe`): a line of JSON on its standard input, a marked line on its
// standard output. What they mean is judged elsewhere.

namespace troupe {

namespace defaults {

/// Bytes of a request, and of an answer with whatever login scripts print.
inline constexpr size_t probe_request_bytes = size_t{256} << 10;
inline constexpr size_t probe_answer_bytes = size_t{4} << 20;

/// Values and names of values in either, and how deep they are within each other: an
/// answer of ours with full lists has half as many.
inline constexpr size_t probe_values = 32768;
inline constexpr int probe_depth = 8;

/// Of a list of names, addresses or places; of interfaces; of settings, and the
/// bytes of one and of all of them.
inline constexpr size_t probe_places = 64;
inline constexpr size_t probe_interfaces = 1024;
inline constexpr size_t probe_settings = 512;
inline constexpr size_t probe_setting_bytes = 4096;
inline constexpr size_t probe_settings_bytes = size_t{256} << 10;

} // namespace defaults

/// Where something listens.
struct network_place {
  /// Numeric.
  std::string address;
  uint16_t port = 0;
};

/// What is to be found out.
struct probe_request {
  /// Which names to resolve, beside the node's own.
  std::vector<std::string> names;

  /// Where to connect to.
  std::vector<network_place> reach;

  /// Where processes would start.
  std::string directory;

  /// Made by munge of another node; empty: there is none.
  std::string credential;

  /// The file of a DVM that nobody launches; empty: there is none. And what it
  /// calls this node; empty: found out.
  std::string bootstrap;
  std::string own_name;
};

/// A name, as the node's name service knows it.
struct resolved_name {
  std::string name;
  std::vector<std::string> addresses;

  /// Why not; empty: it is known.
  std::string trouble;
};

/// An attempt to connect.
struct reached_place {
  network_place place;

  /// Why not; empty: it could.
  std::string trouble;
};

struct directory_fact {
  std::string path;

  /// Why it cannot be used; empty: it can.
  std::string trouble;

  /// Bytes that are free for us; -1: not known.
  int64_t free_bytes = -1;
};

/// A library that is loaded when it is needed, or by programs of jobs.
struct library_fact {
  std::string name;

  /// Of the file; empty: there is none.
  std::string path;

  /// As the library says it; empty: it says none.
  std::string version;

  /// What the loader says of one that is not there.
  std::string trouble;
};

/// A setting of an MPI library or of what it stands on.
struct mpi_setting {
  /// As a variable: `OMPI_MCA_btl`, also if it stands in a file.
  std::string name;
  std::string value;

  /// `environment`, or the file.
  std::string from;

  /// Whether the value is an absolute path of nothing that is there.
  bool is_missing = false;
};

/// What a node is like.
struct node_facts {
  /// Of Troupe and CAF.
  std::string version;
  std::string caf;

  /// The daemon's program.
  std::string program;
  std::string host;
  std::string user;
  uint32_t uid = 0;
  std::string kernel;
  bool has_pidfd = true;
  bool has_proc = true;
  uint32_t cpus = 0;

  /// Of the system's clock, milliseconds since 1970, when the request had come and
  /// when the answer went; and whether something keeps it right.
  int64_t began_ms = 0;
  int64_t time_ms = 0;
  bool clock_is_kept = true;

  /// Limits by the letter that `ulimit` has for them: `n` (the hard one, to which
  /// daemons raise theirs), `u`, `l`, `v`, `f`; files, processes or bytes. -1:
  /// there is none.
  std::map<std::string, int64_t> limits;

  directory_fact shared_memory;
  directory_fact temporary;

  /// Where processes would start; without a path nobody asked.
  directory_fact work;

  /// What is wrong in the settings of this node; empty: nothing.
  std::string settings_trouble;

  /// What the file of a DVM that nobody launches says there, and why a daemon
  /// cannot begin with it; empty: nobody asked, and it can.
  std::string bootstrap_text;
  std::string bootstrap_trouble;

  /// Interfaces that are up, and the addresses of those that lead to other nodes.
  std::vector<std::string> interfaces;
  std::vector<std::string> addresses;

  /// A port that takes connections while the answer is read; 0: none could.
  uint16_t port = 0;
  std::string port_trouble;

  /// Ports that the kernel gives away.
  uint32_t first_port = 0;
  uint32_t last_port = 0;

  /// The node's own first.
  std::vector<resolved_name> names;
  std::vector<reached_place> reached;

  /// Why munge of this node vouches for nobody; empty: it does.
  std::string munge_trouble;

  /// Why it does not take the credential of the other node; empty: it does, or
  /// there was none.
  std::string foreign_munge_trouble;

  std::vector<library_fact> libraries;
  std::vector<mpi_setting> settings;

  /// Variables that tell a process which one of a job it is.
  std::vector<std::string> job_variables;

  /// Whether processes of a user may read each other's memory: the kernel's
  /// `yama/ptrace_scope`; 0 without.
  int32_t ptrace_scope = 0;
};

/// One line of text, with its end.
std::string encode(const probe_request& x);

/// Takes as many names and places as are looked at.
/// @returns `bad_param` in a sentence for anything else.
caf::expected<probe_request> decode_probe_request(std::string_view line);

/// The marked line, with its end.
std::string encode(const node_facts& x);

/// Looks for the answer in what came out of a remote shell, which may have said
/// more. Lists are cut to their bounds.
/// @returns nothing as long as it is not whole, or if it is not understood: also
///          if it has too many values, or a number that is none of its kind.
std::optional<node_facts> find_facts(std::string_view output);

/// Whether a marked line is there, understood or not.
bool has_facts(std::string_view output);

/// Cuts lists and times to their bounds, and leaves out settings that are too long, so
/// that what a node says of itself is understood by whoever asks.
void bound(node_facts& x);

/// The lines `name = value` of a file of settings, `#` before a comment, as
/// variables of that begin.
/// @param prefix Such as `OMPI_MCA_`.
/// @param from   The file.
std::vector<mpi_setting> read_mca_file(std::string_view text,
                                       std::string_view prefix,
                                       const std::string& from);

} // namespace troupe
