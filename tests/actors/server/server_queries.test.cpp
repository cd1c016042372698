// Questions to the server, and what it writes to logs.

#include "actors/server/server.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/node.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

struct fixture : deterministic {
  node uut{*this};
  peer_ptr client;

  fixture() {
    uut.add_job("job", 2, our_uid,
                {with(attr::node_list, value::string("node,far"))});
    uut.add_job("other", 1);
    consume_messages();
    client = uut.connect("job", 0);
    consume_messages();
  }

  template <class T, class Request>
  pending<T> ask(Request x) {
    auto result = uut.ask<T>(client, std::move(x));
    consume_messages();
    return result;
  }

  pending<info_result> query(std::vector<std::string_view> keys,
                             std::vector<info> qualifiers = {}) {
    troupe::query x;
    for (const auto key : keys)
      x.keys.emplace_back(key);
    x.qualifiers = std::move(qualifiers);
    return ask<info_result>(query_request{{std::move(x)}});
  }

  pending<ack> log(std::vector<info> data, std::vector<info> directives = {}) {
    return ask<ack>(log_request{0, std::move(data), std::move(directives)});
  }

  std::string written() {
    std::string result;
    for (const auto& x : uut.log_play->written)
      result += x.text + ";";
    return result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(server_queries_tests, fixture)

// -- peers and nodes ---------------------------------------------------------

CAF_TEST(F4.27 the peers on a node are resolved) {
  using procs = std::vector<proc_id>;
  const auto job = procs{{"job", 0}, {"job", 1}};
  auto x = ask<resolve_peers_result>(resolve_peers_request{"node", "job"});
  CAF_CHECK(x->value.procs == job);
  x = ask<resolve_peers_result>(resolve_peers_request{{}, "job"});
  CAF_CHECK(x->value.procs == job);
  x = ask<resolve_peers_result>(resolve_peers_request{"node", {}});
  CAF_CHECK((x->value.procs == procs{{"job", 0}, {"job", 1}, {"other", 0}}));
  x = ask<resolve_peers_result>(resolve_peers_request{"elsewhere", "job"});
  CAF_CHECK_EQUAL(x->code, status::not_found);
  x = ask<resolve_peers_result>(resolve_peers_request{"node", "unknown"});
  CAF_CHECK_EQUAL(x->code, status::invalid_namespace);
}

CAF_TEST(F4.27 the nodes of a namespace are resolved) {
  auto x = ask<resolve_nodes_result>(resolve_nodes_request{"job"});
  CAF_CHECK_EQUAL(x->value.nodes, "node,far");
  x = ask<resolve_nodes_result>(resolve_nodes_request{"other"});
  CAF_CHECK_EQUAL(x->value.nodes, "node");
  x = ask<resolve_nodes_result>(resolve_nodes_request{});
  CAF_CHECK_EQUAL(x->value.nodes, "node");
  x = ask<resolve_nodes_result>(resolve_nodes_request{"unknown"});
  CAF_CHECK_EQUAL(x->code, status::invalid_namespace);
}

CAF_TEST(F4.27 tools are peers of nobody) {
  uut.connect(node::tool_greeting());
  consume_messages();
  const auto x = ask<resolve_peers_result>(resolve_peers_request{});
  CAF_CHECK_EQUAL(x->value.procs.size(), 3u);
}

// -- queries -----------------------------------------------------------------

CAF_TEST(F4.29 the namespaces are listed) {
  uut.connect(node::tool_greeting());
  consume_messages();
  const auto x = query({attr::query_namespaces});
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK(x->value.complete);
  CAF_CHECK(text(x->value.infos, attr::query_namespaces) == "job,other");
}

CAF_TEST(F4.29 the namespaces are described) {
  const auto x = query({attr::query_namespace_info});
  const auto* described = find(x->value.infos, attr::query_namespace_info);
  CAF_REQUIRE(described != nullptr);
  const auto jobs = infos_of(*described);
  CAF_REQUIRE_EQUAL(jobs.size(), 2u);
  const auto job = infos_of(jobs[0].val);
  CAF_CHECK_EQUAL(job.front().key, std::string{attr::nspace});
  CAF_CHECK(text(job, attr::nspace) == "job");
  CAF_CHECK(number<uint32_t>(job, attr::job_size) == 2u);
}

CAF_TEST(F4.31 versions are known) {
  const auto x =
    query({attr::query_stable_abi_version, attr::query_provisional_abi_version,
           attr::version_info});
  CAF_CHECK(text(x->value.infos, attr::query_stable_abi_version) == "0.0");
  CAF_CHECK(text(x->value.infos, attr::query_provisional_abi_version) == "0.0");
  CAF_CHECK(text(x->value.infos, attr::version_info)->find("Troupe")
            != std::string::npos);
}

CAF_TEST(F4.31 what is supported is known) {
  const auto x =
    query({attr::query_attribute_support}, {with(attr::server_functions)});
  CAF_REQUIRE_EQUAL(x->code, status::success);
  const auto found = infos_of(x->value.infos.at(0).val);
  CAF_CHECK(text(found, attr::server_functions)->find("PMIx_Fence")
            != std::string::npos);
}

CAF_TEST(F4.31 the use of memory is measured) {
  uut.usage_play->bytes = uint64_t{3} << 20;
  const auto x = query({attr::query_memory_usage});
  CAF_REQUIRE_EQUAL(x->code, status::success);
  const auto found = infos_of(x->value.infos.at(0).val);
  CAF_CHECK(*find(found, attr::daemon_memory)
            == (value{data_type::float_, 3.0}));
  uut.usage_play->code = status::not_available;
  CAF_CHECK_EQUAL(query({attr::query_memory_usage})->code, status::not_found);
}

CAF_TEST(F4.30 the host is asked for what the server does not know) {
  uut.host_play->query.infos = {with("my.key", value::uint32(7))};
  const auto x = query({"my.key", attr::query_namespaces});
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK(x->value.complete);
  CAF_CHECK(number<uint32_t>(x->value.infos, "my.key") == 7u);
  CAF_CHECK(text(x->value.infos, attr::query_namespaces) == "job,other");
  CAF_CHECK(uut.host_play->requests.at(0).first.proc == (proc_id{"job", 0}));
}

CAF_TEST(F4.29 an answer that is not complete says so) {
  const auto x = query({"unknown", attr::query_namespaces});
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK(!x->value.complete);
  CAF_CHECK_EQUAL(x->value.infos.size(), 1u);
  CAF_CHECK_EQUAL(query({"unknown"})->code, status::not_found);
}

CAF_TEST(F4.29 several queries are one request) {
  troupe::query first;
  first.keys = {std::string{attr::query_namespaces}};
  troupe::query second;
  second.keys = {std::string{attr::version_info}};
  const auto x = ask<info_result>(query_request{{first, second}});
  CAF_CHECK_EQUAL(x->value.infos.size(), 2u);
  CAF_CHECK_EQUAL(ask<info_result>(query_request{})->code, status::success);
}

// -- logs --------------------------------------------------------------------

CAF_TEST(F4.32 F4.33 texts go to their channels in order) {
  const auto x = log({with(attr::log_stderr, value::string("a")),
                      with(attr::log_syslog, value::string("b"))});
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(written(), "a;b;");
  CAF_CHECK(uut.log_play->written[1].channel == log_channel::local_syslog);
}

CAF_TEST(F4.32 the tag names who really writes) {
  log({with(attr::log_stdout, value::string("a"))},
      {with(attr::log_tag_output)});
  CAF_CHECK_EQUAL(written(), "[job:0] a;");
}

CAF_TEST(F4.32 a channel that cannot be used is said so) {
  uut.log_play->refused[log_channel::stderr_] = status::not_supported;
  CAF_CHECK_EQUAL(log({with(attr::log_stderr, value::string("a"))})->code,
                  status::not_supported);
  const auto x = log({with(attr::log_stderr, value::string("a")),
                      with(attr::log_stdout, value::string("b"))});
  CAF_CHECK_EQUAL(x->code, status::partial_success);
  CAF_CHECK_EQUAL(written(), "b;");
}

CAF_TEST(F4.32 one channel is enough where once is asked for) {
  const auto data =
    std::vector<info>{with(attr::log_stderr, value::string("a")),
                      with(attr::log_stdout, value::string("b")),
                      with(attr::log_syslog, value::string("c"))};
  uut.log_play->refused[log_channel::stderr_] = status::not_supported;
  CAF_CHECK_EQUAL(log(data, {with(attr::log_once)})->code, status::success);
  CAF_CHECK_EQUAL(written(), "b;");
}

CAF_TEST(F4.32 what cannot be logged is refused) {
  uut.host_play->others = status::not_supported;
  CAF_CHECK_EQUAL(log({})->code, status::bad_param);
  CAF_CHECK_EQUAL(written(), "");
}

CAF_TEST(F4.32 the host is asked for channels that this node lacks) {
  CAF_CHECK_EQUAL(log({with("my.log", value::string("a"))})->code,
                  status::success);
  CAF_REQUIRE_EQUAL(uut.host_play->requests.size(), 1u);
  CAF_CHECK_EQUAL(uut.host_play->requests[0].second, "log");
  uut.host_play->others = status::not_supported;
  CAF_CHECK_EQUAL(log({with("my.log", value::string("a"))})->code,
                  status::not_supported);
  CAF_CHECK_EQUAL(written(), "");
}

CAF_TEST_FIXTURE_SCOPE_END()
