#include "tests/adapters/wire/messages.hpp"

namespace troupe::wire::test {

namespace {

/// Fills a message of any type with random data.
struct filler {
  value_source& s;
  const dialect& d;

  std::string text() {
    return s.text().substr(0, max_nspace_length);
  }

  status code() {
    return static_cast<status>(s.number<int32_t>());
  }

  std::vector<status> codes() {
    auto result = std::vector<status>{};
    for (auto n = s.number<uint8_t>() % 4; n > 0; --n)
      result.push_back(code());
    return result;
  }

  std::vector<rank_data> ranks() {
    auto result = std::vector<rank_data>{};
    for (auto n = s.number<uint8_t>() % 3; n > 0; --n)
      result.push_back({s.number<uint32_t>(), s.entries()});
    return result;
  }

  // -- requests
  // ----------------------------------------------------------------

  void operator()(unknown_request& x) {
    x.number = static_cast<uint8_t>(40 + s.number<uint8_t>() % 200);
  }

  void operator()(job_info_request&) {
    // nop
  }

  void operator()(abort_request& x) {
    x = {s.number<int32_t>(), s.maybe_text(), s.procs()};
  }

  void operator()(commit_request& x) {
    for (auto n = s.number<uint8_t>() % 3; n > 0; --n)
      x.blocks.push_back(
        {static_cast<scope>(s.number<uint8_t>() % 8), s.entries()});
  }

  void operator()(fence_request& x) {
    x = {s.procs(), s.infos()};
  }

  void operator()(get_request& x) {
    x = {s.proc(), s.infos(), s.maybe_text()};
  }

  void operator()(finalize_request&) {
    // nop
  }

  void operator()(publish_request& x) {
    x = {s.number<uint32_t>(), s.infos()};
  }

  void operator()(lookup_request& x) {
    x = {s.number<uint32_t>(), s.texts(), s.infos()};
  }

  void operator()(unpublish_request& x) {
    x = {s.number<uint32_t>(), s.texts(), s.infos()};
  }

  void operator()(spawn_request& x) {
    x = {s.infos(), {s.any_app(), s.any_app()}};
  }

  void operator()(connect_procs_request& x) {
    x = {s.procs(), s.infos(), s.infos()};
  }

  void operator()(disconnect_procs_request& x) {
    x = {s.procs(), s.infos()};
  }

  void operator()(notify_request& x) {
    x = {code(), data_range::session, s.infos()};
  }

  void operator()(register_events_request& x) {
    x = {codes(), s.infos()};
  }

  void operator()(deregister_events_request& x) {
    x = {codes()};
  }

  void operator()(query_request& x) {
    x = {{s.any_query(), s.any_query()}};
  }

  void operator()(log_request& x) {
    x = {s.number<uint64_t>(), s.infos(), s.infos()};
  }

  void operator()(allocation_request& x) {
    x = {s.number<uint8_t>(), s.infos()};
  }

  void operator()(job_control_request& x) {
    x = {s.procs(), s.infos()};
  }

  void operator()(monitor_request& x) {
    x = {{text(), s.number<uint32_t>(), s.any(1)}, code(), s.infos()};
  }

  void operator()(get_credential_request& x) {
    x = {s.infos()};
  }

  void operator()(validate_credential_request& x) {
    x = {s.bytes(), s.infos()};
  }

  void operator()(io_pull_request& x) {
    x = {s.procs(), s.infos(), static_cast<io_channels>(s.number<uint16_t>()),
         s.number<uint64_t>()};
  }

  void operator()(io_push_request& x) {
    x = {s.procs(), s.infos(), s.bytes()};
  }

  void operator()(io_deregister_request& x) {
    x = {s.infos(), s.number<uint64_t>()};
  }

  void operator()(group_construct_request& x) {
    x = {text(), s.procs(), s.infos()};
  }

  void operator()(group_destruct_request& x) {
    x.id = text();
    if (destructs_with_members(d.peer))
      x.procs = s.procs();
    x.directives = s.infos();
    // As real ones: by these they are told from members.
    for (auto& y : x.directives)
      y.key = "pmix." + y.key.substr(0, 100);
  }

  void operator()(group_leave_request& x) {
    x = {text(), s.infos()};
  }

  void operator()(fabric_register_request& x) {
    x = {s.infos()};
  }

  void operator()(fabric_update_request& x) {
    x = {s.number<uint64_t>()};
  }

  void operator()(device_distances_request& x) {
    x = {s.maybe_text(), s.maybe_text(), s.infos()};
  }

  void operator()(refresh_cache_request& x) {
    x = {s.proc()};
  }

  void operator()(resource_block_request& x) {
    x = {s.number<uint8_t>(),
         s.maybe_text(),
         {{s.number<uint64_t>(), s.number<uint64_t>()}},
         s.infos()};
  }

  void operator()(session_control_request& x) {
    x = {s.number<uint32_t>(), s.infos()};
  }

  void operator()(resolve_peers_request& x) {
    x = {s.maybe_text(), s.maybe_text()};
  }

  void operator()(resolve_nodes_request& x) {
    x = {s.maybe_text()};
  }

  // -- replies
  // -------------------------------------------------------------------

  void operator()(ack&) {
    // nop
  }

  void operator()(job_info& x) {
    x = {text(), s.entries(), ranks()};
  }

  // A body of no blocks cannot be told from no body.
  void operator()(get_result& x) {
    x.blocks = {{s.proc(), s.entries()}, {s.proc(), s.entries()}};
  }

  void operator()(lookup_result& x) {
    x.found = {{s.proc(), s.text(), s.any(1)}};
  }

  void operator()(spawn_result& x) {
    x = {text(), s.entries(), ranks()};
  }

  void operator()(connect_procs_result& x) {
    x.jobs = {{text(), s.entries(), ranks()}};
  }

  void operator()(info_result& x) {
    x.infos = s.infos();
  }

  void operator()(get_credential_result& x) {
    x = {s.bytes(), s.infos()};
  }

  void operator()(io_pull_result& x) {
    x.subscription = s.number<uint64_t>();
  }

  void operator()(group_construct_result& x) {
    const auto layout = group_layout_of(d.peer);
    x.members = {s.proc()};
    if (layout == group_layout::members_and_infos) {
      auto more = s.infos();
      more.insert(more.begin(), {"pmix.procid", 0, value::of_proc(s.proc())});
      x.infos = {{"pmix.grp.info", 0, value::infos(std::move(more))}};
    }
    // 0 is none in the layout of old clients.
    if (s.number<bool>())
      x.context_id = s.number<uint64_t>() | 1;
  }

  void operator()(device_distances_result& x) {
    x.distances = {{s.maybe_text(), s.maybe_text(), s.number<uint64_t>(),
                    s.number<uint16_t>(), s.number<uint16_t>()}};
  }

  void operator()(refresh_cache_result& x) {
    x.entries = {{s.text(), s.any(1)}};
  }

  void operator()(resolve_peers_result& x) {
    x.procs = s.procs();
  }

  void operator()(resolve_nodes_result& x) {
    x.nodes = s.text();
  }
};

template <class Variant, size_t... Is>
Variant make_nth(size_t i, std::index_sequence<Is...>) {
  auto x = Variant{};
  ((i == Is ? (void)x.template emplace<Is>() : (void)0), ...);
  return x;
}

template <class Variant>
Variant make_nth(size_t i) {
  return make_nth<Variant>(
    i, std::make_index_sequence<std::variant_size_v<Variant>>{});
}

/// The command that each reply body answers.
struct asker {
  command operator()(const ack&) {
    return command::fence;
  }

  command operator()(const job_info&) {
    return command::job_info;
  }

  command operator()(const get_result&) {
    return command::get;
  }

  command operator()(const lookup_result&) {
    return command::lookup;
  }

  command operator()(const spawn_result&) {
    return command::spawn;
  }

  command operator()(const connect_procs_result&) {
    return command::connect;
  }

  command operator()(const info_result&) {
    return command::query;
  }

  command operator()(const get_credential_result&) {
    return command::get_credential;
  }

  command operator()(const io_pull_result&) {
    return command::io_pull;
  }

  command operator()(const group_construct_result&) {
    return command::group_construct;
  }

  command operator()(const device_distances_result&) {
    return command::device_distances;
  }

  command operator()(const refresh_cache_result&) {
    return command::refresh_cache;
  }

  command operator()(const resolve_peers_result&) {
    return command::resolve_peers;
  }

  command operator()(const resolve_nodes_result&) {
    return command::resolve_nodes;
  }
};

} // namespace

request any_request(value_source& source, size_t i, const dialect& d) {
  auto x = make_nth<request>(i);
  std::visit(filler{source, d}, x);
  return x;
}

reply_body any_reply(value_source& source, size_t i, const dialect& d) {
  auto x = make_nth<reply_body>(i);
  std::visit(filler{source, d}, x);
  return x;
}

command asked_for(size_t i) {
  return std::visit(asker{}, make_nth<reply_body>(i));
}

} // namespace troupe::wire::test
