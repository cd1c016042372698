// Lists of the streams of all nodes.

#include "tests/fixtures/stream_mesh.hpp"

using namespace troupe;
using namespace troupe::fixtures;
using namespace troupe::fixtures::streams_of_mesh;

CAF_TEST_FIXTURE_SCOPE(mesh_io_list_tests, stream_mesh)

CAF_TEST(I1 each stream of all nodes is listed once) {
  spawn();
  mesh.write(2, {nspace, 4}, "12345");
  mesh.write(0, {nspace, 1}, "123", io_channels::stderr_);
  const auto tool = attach(1);
  pull(1, tool, {{nspace, 4}}, {}, both);
  const auto x = mesh.tell<io_list>(1, list_io{});
  consume_messages();
  CAF_REQUIRE_EQUAL(x->code, status::success);
  const auto& streams = x->value.streams;
  CAF_REQUIRE_EQUAL(streams.size(), 2u);
  CAF_CHECK(streams[0].stream.source == (proc_id{nspace, 1}));
  CAF_CHECK(streams[0].stream.channel == io_channels::stderr_);
  CAF_CHECK_EQUAL(streams[0].end, 3u);
  CAF_CHECK(streams[1].stream.source == (proc_id{nspace, 4}));
  CAF_CHECK_EQUAL(streams[1].end, 5u);
  auto sinks = std::string{};
  for (const auto& sink : streams[1].sinks)
    sinks += sink.name + ";";
  CAF_CHECK(sinks.find("tool ") != std::string::npos);
  CAF_CHECK(sinks.find("launcher on n0") != std::string::npos);
}

CAF_TEST(X28 a tool is told of the streams of its own user only) {
  spawn(4); // Of the nodes 0 and 1.
  mesh.write(1, {nspace, 3}, "12345");
  mesh.write(0, {nspace, 1}, "123", io_channels::stderr_);
  const auto tool = attach(2);
  pull(2, tool, {{nspace, 3}});
  const auto listed = [this](uint32_t node, uint32_t uid,
                             std::vector<info> qualifiers = {}) {
    auto what = query_request{};
    what.queries.push_back(
      {{std::string{io_streams_key}}, std::move(qualifiers)});
    const auto x = fixtures::ask<info_result>(
      sys, mesh[node].host, asks({"a tool", 0}, 99, uid), std::move(what));
    consume_messages();
    const auto* found = find(x->value.infos, io_streams_key);
    return found != nullptr ? to_json(*found).dump() : "nothing";
  };
  const auto count = [](const std::string& text, const std::string& what) {
    auto result = 0;
    for (auto i = text.find(what); i != std::string::npos;
         i = text.find(what, i + 1))
      ++result;
    return result;
  };
  const auto row = "\"nspace\":\"" + nspace + "\"";
  for (const auto node : {0u, 1u, 2u}) {
    for (const auto uid : {our_uid, 0u}) {
      const auto text = listed(node, uid);
      CAF_CHECK_EQUAL(count(text, row), 2);
      // What is known on a node that does not run the job.
      CAF_CHECK_EQUAL(count(text, "tool "), 1);
    }
    const auto text = listed(node, our_uid + 1);
    CAF_CHECK_EQUAL(count(text, row), 0);
    CAF_CHECK_EQUAL(count(listed(node, our_uid + 1,
                                 {with(attr::nspace, value::string(nspace))}),
                          row),
                    0);
  }
}

CAF_TEST_FIXTURE_SCOPE_END()
