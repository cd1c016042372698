#include "adapters/wire/requests.hpp"

#include "adapters/wire/long_request.hpp"
#include "adapters/wire/pack_value.hpp"
#include "adapters/wire/unpack_value.hpp"

#include <algorithm>

namespace troupe::wire {

namespace {

// -- parts of requests -------------------------------------------------------

/// Reads the parts of requests, each from PACK calls of its own.
class part_reader {
public:
  /// A `T` that is read.
  template <class T>
  using of = T;

  /// @param has_members Whether the members of a group stand in its destruct.
  part_reader(reader& r, bool has_members) : r_(r), has_members_(has_members) {
    // nop
  }

  /// A number that is as wide as `T`, without a sign.
  template <class T>
  void number(data_type type, T& x) {
    r_.pack_exactly(type, 1);
    if constexpr (sizeof(T) == 1)
      x = static_cast<T>(r_.byte());
    else
      x = static_cast<T>(r_.unsigned_integer(sizeof(T)));
  }

  void code(int32_t& x) {
    r_.pack_exactly(data_type::status, 1);
    x = static_cast<int32_t>(r_.signed_integer(4));
  }

  void code(status& x) {
    auto number = int32_t{};
    code(number);
    x = static_cast<status>(number);
  }

  void text(std::optional<std::string>& x, data_type type = data_type::string) {
    r_.pack_exactly(type, 1);
    x = unpack_string(r_);
  }

  /// The name of a group: one that is too long is for the server to refuse.
  void group_id(std::string& x) {
    r_.pack_exactly(data_type::string, 1);
    x = unpack_string(r_).value_or("");
  }

  /// The key at the end, if there is one.
  void last_key(std::optional<std::string>& x) {
    if (r_.left() == 0)
      return;
    r_.pack_exactly(data_type::string, 1);
    if (const auto key = r_.string()) {
      if (key->size() > max_key_length)
        r_.fail("a key has more than 511 bytes");
      x = std::string{*key};
    }
  }

  /// The number at the end, if there is one.
  void last_size(std::optional<uint64_t>& x) {
    if (r_.left() > 0)
      number(data_type::size, x.emplace());
  }

  std::string_view blob() {
    r_.pack_exactly(data_type::byte_object, 1);
    return r_.blob();
  }

  void blob(std::string& x) {
    x = std::string{blob()};
  }

  /// The bytes at the end, if there are some.
  void last_blob(std::optional<std::string>& x) {
    if (r_.left() > 0)
      blob(x.emplace());
  }

  /// A namespace and a rank.
  void target(proc_id& x) {
    r_.pack_exactly(data_type::string, 1);
    x.nspace = std::string{r_.nspace()};
    number(data_type::proc_rank, x.rank);
  }

  void keys(std::vector<std::string>& xs) {
    const auto n = r_.packed_count(data_type::string);
    r_.at_most(n, max_keys_from_client, "keys");
    xs = unpack_elements(r_, n, [](reader& r) {
      r.pack_exactly(data_type::string, 1);
      return std::string{r.key()};
    });
  }

  void procs(std::vector<proc_id>& xs) {
    xs = unpack_procs(r_);
  }

  void members(std::optional<std::vector<proc_id>>& xs) {
    if (has_members_)
      xs = unpack_procs(r_);
  }

  void one_info(info& x) {
    r_.pack_exactly(data_type::info, 1);
    x = unpack_info(r_);
  }

  void infos(std::vector<info>& xs) {
    xs = unpack_infos(r_);
  }

  /// Infos of which a request may have fewer.
  void published(std::vector<info>& xs) {
    const auto n = r_.packed_count(data_type::info);
    r_.at_most(n, max_published_from_client, "keys to publish");
    if (n > 0)
      r_.pack_exactly(data_type::info, n);
    xs = unpack_elements(r_, n, unpack_info);
  }

  /// Infos in a PACK each, until the end.
  void last_infos(std::vector<info>& xs) {
    last(data_type::info, xs, unpack_info);
  }

  void codes(std::vector<status>& xs) {
    xs = unpack_list(r_, data_type::status, unpack_code);
  }

  /// Codes in a PACK each, until the end.
  void last_codes(std::vector<status>& xs) {
    last(data_type::status, xs, unpack_code);
  }

  void topology(std::optional<std::string>& x) {
    r_.pack_exactly(data_type::topology, 1);
    x = unpack_topology(r_);
  }

  template <class T>
  void list(data_type type, std::vector<T>& xs, T (*read)(reader&),
            void (*)(writer&, const T&)) {
    xs = unpack_list(r_, type, read);
  }

  /// Data that a process has posted, until the end.
  void posted(std::vector<posted_data>& xs) {
    while (r_.left() > 0) {
      auto block = posted_data{};
      number(data_type::scope, block.visible_to);
      r_.pack_exactly(data_type::buffer, 1);
      const auto type = r_.byte();
      if (r_.ok() && type != 1 && type != 2)
        r_.fail("a buffer is of no known type");
      const auto size = r_.size();
      r_.within(size, type == 2,
                [&] { block.entries = unpack_key_values(r_); });
      xs.push_back(std::move(block));
    }
  }

private:
  static status unpack_code(reader& r) {
    return static_cast<status>(r.signed_integer(4));
  }

  template <class T>
  void last(data_type type, std::vector<T>& xs, T (*read)(reader&)) {
    while (r_.left() > 0) {
      const auto n = r_.pack(type);
      for (size_t i = 0; i < n && r_.ok(); ++i)
        xs.push_back(read(r_));
    }
  }

  reader& r_;
  bool has_members_;
};

/// Writes the parts that `part_reader` reads.
class part_writer {
public:
  /// A `T` that is written.
  template <class T>
  using of = const T;

  explicit part_writer(writer& w) : w_(w) {
    // nop
  }

  template <class T>
  void number(data_type type, const T& x) {
    w_.pack(type);
    if constexpr (sizeof(T) == 1)
      w_.byte(static_cast<uint8_t>(x));
    else
      w_.unsigned_integer(static_cast<uint64_t>(x), sizeof(T));
  }

  void code(int32_t x) {
    w_.pack(data_type::status);
    w_.signed_integer(x, 4);
  }

  void code(status x) {
    code(static_cast<int32_t>(x));
  }

  void text(const std::optional<std::string>& x,
            data_type type = data_type::string) {
    w_.pack(type);
    w_.string(x);
  }

  void group_id(const std::string& x) {
    w_.pack(data_type::string);
    w_.nspace(x);
  }

  void last_key(const std::optional<std::string>& x) {
    if (x)
      key(*x);
  }

  void last_size(const std::optional<uint64_t>& x) {
    if (x)
      number(data_type::size, *x);
  }

  void blob(const std::string& x) {
    w_.pack(data_type::byte_object);
    w_.blob(x);
  }

  void last_blob(const std::optional<std::string>& x) {
    if (x)
      blob(*x);
  }

  void target(const proc_id& x) {
    w_.pack(data_type::string);
    w_.nspace(x.nspace);
    number(data_type::proc_rank, x.rank);
  }

  void keys(const std::vector<std::string>& xs) {
    w_.packed_size(xs.size());
    for (const auto& x : xs)
      key(x);
  }

  void procs(const std::vector<proc_id>& xs) {
    pack_procs(w_, xs);
  }

  void members(const std::optional<std::vector<proc_id>>& xs) {
    if (xs)
      pack_procs(w_, *xs);
  }

  void one_info(const info& x) {
    w_.pack(data_type::info);
    pack_info(w_, x);
  }

  void infos(const std::vector<info>& xs) {
    pack_infos(w_, xs);
  }

  void published(const std::vector<info>& xs) {
    pack_infos(w_, xs);
  }

  void last_infos(const std::vector<info>& xs) {
    for (const auto& x : xs)
      one_info(x);
  }

  void codes(const std::vector<status>& xs) {
    pack_list(
      w_, data_type::status, xs, +[](writer& w, const status& x) {
        w.signed_integer(static_cast<int32_t>(x), 4);
      });
  }

  void last_codes(const std::vector<status>& xs) {
    for (const auto x : xs)
      code(x);
  }

  void topology(const std::optional<std::string>& x) {
    w_.pack(data_type::topology);
    pack_topology(w_, x);
  }

  template <class T>
  void list(data_type type, const std::vector<T>& xs, T (*)(reader&),
            void (*write)(writer&, const T&)) {
    pack_list(w_, type, xs, write);
  }

  void posted(const std::vector<posted_data>& xs) {
    for (const auto& x : xs) {
      number(data_type::scope, x.visible_to);
      number(data_type::buffer, w_.rules().described ? uint8_t{2} : uint8_t{1});
      w_.preceded([&] { pack_key_values(w_, x.entries); },
                  [&](size_t n) { w_.size(n); });
    }
  }

private:
  void key(const std::string& x) {
    w_.pack(data_type::string);
    w_.key(x);
  }

  writer& w_;
};

// -- requests ----------------------------------------------------------------

/// Begins the layout of a request: its parts in the order of the wire, for
/// whoever reads or writes them.
#define TROUPE_LAYOUT(request)                                                 \
  template <class Parts>                                                       \
  void layout([[maybe_unused]] Parts& io,                                      \
              [[maybe_unused]] typename Parts::template of<request>& x)

TROUPE_LAYOUT(job_info_request) {
  // nop
}

TROUPE_LAYOUT(abort_request) {
  io.code(x.exit_status);
  io.text(x.message);
  io.procs(x.procs);
}

TROUPE_LAYOUT(commit_request) {
  io.posted(x.blocks);
}

TROUPE_LAYOUT(fence_request) {
  io.procs(x.procs);
  io.infos(x.directives);
}

TROUPE_LAYOUT(get_request) {
  io.target(x.target);
  io.infos(x.directives);
  io.last_key(x.key);
}

TROUPE_LAYOUT(finalize_request) {
  // nop
}

TROUPE_LAYOUT(publish_request) {
  io.number(data_type::uint32, x.uid);
  io.published(x.infos);
}

TROUPE_LAYOUT(lookup_request) {
  io.number(data_type::uint32, x.uid);
  io.keys(x.keys);
  io.infos(x.directives);
}

TROUPE_LAYOUT(unpublish_request) {
  io.number(data_type::uint32, x.uid);
  io.keys(x.keys);
  io.infos(x.directives);
}

TROUPE_LAYOUT(spawn_request) {
  io.infos(x.job_infos);
  io.list(data_type::app, x.apps, unpack_app, pack_app);
}

/// Clients from 6.0 on append their own posted data.
TROUPE_LAYOUT(connect_procs_request) {
  io.procs(x.procs);
  io.infos(x.directives);
  io.last_infos(x.own_data);
}

TROUPE_LAYOUT(disconnect_procs_request) {
  io.procs(x.procs);
  io.infos(x.directives);
}

TROUPE_LAYOUT(notify_request) {
  io.code(x.code);
  io.number(data_type::data_range, x.range);
  io.infos(x.infos);
}

TROUPE_LAYOUT(register_events_request) {
  io.codes(x.codes);
  io.infos(x.directives);
}

TROUPE_LAYOUT(deregister_events_request) {
  io.last_codes(x.codes);
}

TROUPE_LAYOUT(query_request) {
  io.list(data_type::query, x.queries, unpack_query, pack_query);
}

TROUPE_LAYOUT(log_request) {
  io.number(data_type::time, x.timestamp);
  io.infos(x.data);
  io.infos(x.directives);
}

TROUPE_LAYOUT(allocation_request) {
  io.number(data_type::alloc_directive, x.directive);
  io.infos(x.infos);
}

TROUPE_LAYOUT(job_control_request) {
  io.procs(x.targets);
  io.infos(x.directives);
}

TROUPE_LAYOUT(monitor_request) {
  io.one_info(x.monitor);
  io.code(x.error_code);
  io.infos(x.directives);
}

TROUPE_LAYOUT(get_credential_request) {
  io.infos(x.directives);
}

TROUPE_LAYOUT(validate_credential_request) {
  io.blob(x.credential);
  io.infos(x.directives);
}

/// Clients of 3.2 forget their handler's number.
TROUPE_LAYOUT(io_pull_request) {
  io.procs(x.procs);
  io.infos(x.directives);
  io.number(data_type::iof_channel, x.channels);
  io.last_size(x.handler);
}

TROUPE_LAYOUT(io_push_request) {
  io.procs(x.targets);
  io.infos(x.directives);
  io.last_blob(x.bytes);
}

TROUPE_LAYOUT(io_deregister_request) {
  io.infos(x.directives);
  io.number(data_type::size, x.subscription);
}

TROUPE_LAYOUT(group_construct_request) {
  io.group_id(x.id);
  io.procs(x.procs);
  io.infos(x.directives);
}

TROUPE_LAYOUT(group_destruct_request) {
  io.group_id(x.id);
  io.members(x.procs);
  io.infos(x.directives);
}

TROUPE_LAYOUT(group_leave_request) {
  io.group_id(x.id);
  io.infos(x.directives);
}

TROUPE_LAYOUT(fabric_register_request) {
  io.infos(x.directives);
}

TROUPE_LAYOUT(fabric_update_request) {
  io.number(data_type::size, x.index);
}

TROUPE_LAYOUT(device_distances_request) {
  io.topology(x.topology);
  io.text(x.cpuset, data_type::proc_cpuset);
  io.infos(x.directives);
}

TROUPE_LAYOUT(refresh_cache_request) {
  io.target(x.target);
}

TROUPE_LAYOUT(resource_block_request) {
  io.number(data_type::resblock_directive, x.directive);
  io.text(x.block);
  io.list(data_type::resource_unit, x.units, unpack_resource_unit,
          pack_resource_unit);
  io.infos(x.directives);
}

TROUPE_LAYOUT(session_control_request) {
  io.number(data_type::uint32, x.session);
  io.infos(x.directives);
}

TROUPE_LAYOUT(resolve_peers_request) {
  io.text(x.node);
  io.text(x.nspace);
}

TROUPE_LAYOUT(resolve_nodes_request) {
  io.text(x.nspace);
}

#undef TROUPE_LAYOUT

// -- commands ----------------------------------------------------------------

/// The command of each request.
struct command_finder {
  command operator()(const unknown_request& x) {
    return static_cast<command>(x.number);
  }

#define TROUPE_REQUEST(number, name, request, answer)                          \
  command operator()(const request&) {                                         \
    return command::name;                                                      \
  }
#include "messages/requests.def"
};

std::optional<command> unpack_command(reader& r) {
  r.pack_exactly(data_type::command, 1);
  const auto number = r.byte();
  return r.ok() ? std::optional{static_cast<command>(number)} : std::nullopt;
}

/// Reads what follows the command.
template <class T>
request unpack_body(part_reader& io) {
  auto x = T{};
  layout(io, x);
  return x;
}

/// Takes the rest of a request that nobody here can read.
request unpack_unknown(reader& r, command x) {
  r.bytes(r.left());
  return unknown_request{static_cast<uint8_t>(x)};
}

// NOLINTNEXTLINE(readability-function-size): a flat list of commands.
request unpack_body(reader& r, command asked, bool destruct_has_members) {
  auto io = part_reader{r, destruct_has_members};
  switch (asked) {
#define TROUPE_REQUEST(number, name, request, answer)                          \
  case command::name:                                                          \
    return unpack_body<request>(io);
#include "messages/requests.def"
    default:
      return unpack_unknown(r, asked);
  }
}

caf::expected<request> decode(std::string_view payload, const dialect& d,
                              bool destruct_has_members) {
  auto r = reader{payload, d, origin::client};
  const auto asked = unpack_command(r);
  if (!asked)
    return r.failure();
  auto result = unpack_body(r, *asked, destruct_has_members);
  r.expect_end();
  if (!r.ok())
    return r.failure();
  return result;
}

bool is_too_much(const caf::error& x) {
  return status_of(x) == status::out_of_resource;
}

/// Writes the body of each request.
struct body_packer {
  part_writer io;

  void operator()(const unknown_request&) {
    // nop
  }

  template <class T>
  void operator()(const T& x) {
    layout(io, x);
  }
};

} // namespace

command command_of(const request& x) {
  return std::visit(command_finder{}, x);
}

bool is_answered(const request& x) {
  return !std::holds_alternative<deregister_events_request>(x);
}

caf::error encode_request(const request& x, const dialect& d,
                          std::string& out) {
  auto w = writer{out, d};
  w.pack(data_type::command);
  w.byte(static_cast<uint8_t>(command_of(x)));
  std::visit(body_packer{part_writer{w}}, x);
  return w.finish();
}

std::optional<command> command_in(std::string_view payload, const dialect& d) {
  auto r = reader{payload, d, origin::client};
  return unpack_command(r);
}

bool can_be_refused(command x) {
  return x != command::deregister_events && x != command::job_info;
}

namespace {

/// Whether what was read as the members of a group is processes: a list of
/// attributes reads as one now and then, and the other way round.
bool names_members(const caf::expected<request>& x) {
  const auto* found = x ? std::get_if<group_destruct_request>(&*x) : nullptr;
  const auto is_namespace = [](const proc_id& y) {
    return !y.nspace.empty() && y.nspace.compare(0, 5, "pmix.") != 0;
  };
  return found != nullptr && found->procs && !found->procs->empty()
         && std::all_of(found->procs->begin(), found->procs->end(),
                        is_namespace);
}

} // namespace

caf::expected<request> decode_request(std::string_view payload,
                                      const dialect& d) {
  if (command_in(payload, d) != command::group_destruct)
    return decode(payload, d, false);
  // Which patch release began to send the members is known from the source of
  // some releases only, and our library does whatever it claims to be: members
  // are what reads as such.
  auto with = decode(payload, d, true);
  if (names_members(with) || destructs_with_members(d.peer))
    if (with || is_too_much(with.error()))
      return with;
  auto without = decode(payload, d, false);
  if (without || is_too_much(without.error()))
    return without;
  return with || destructs_with_members(d.peer) ? with : without;
}

caf::expected<request> decode_long_request(std::string memory, size_t size,
                                           const dialect& d) {
  const auto payload = std::string_view{memory}.substr(memory.size() - size);
  auto r = reader{payload, d, origin::client};
  if (unpack_command(r) != command::io_push)
    return decode_request(payload, d);
  auto x = io_push_request{};
  auto io = part_reader{r, false};
  io.procs(x.targets);
  io.infos(x.directives);
  const auto bytes = r.left() > 0 ? std::optional{io.blob()} : std::nullopt;
  r.expect_end();
  if (!r.ok())
    return r.failure();
  if (bytes && bytes->empty()) {
    x.bytes.emplace();
  } else if (bytes) {
    const auto length = bytes->size();
    memory.erase(0, static_cast<size_t>(bytes->data() - memory.data()));
    memory.resize(length);
    x.bytes = std::move(memory);
  }
  return x;
}

} // namespace troupe::wire
