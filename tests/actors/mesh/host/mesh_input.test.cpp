// Input of processes on other nodes.

#include "tests/fixtures/stream_mesh.hpp"

using namespace troupe;
using namespace troupe::fixtures;
using namespace troupe::fixtures::streams_of_mesh;

CAF_TEST_FIXTURE_SCOPE(mesh_input_tests, stream_mesh)

CAF_TEST(X41 input comes from the origin of a job or from the root) {
  auto who = attach(1);
  const auto x = ask<spawn_result>(
    1, who,
    job_host::program(6, {with(attr::stdin_tgt, value::rank(rank_wildcard))}));
  CAF_REQUIRE_EQUAL(x->code, status::success);
  forge(2, 0, io_input{nspace, {0}, std::nullopt, "a lie", false});
  CAF_CHECK(mesh[0].launcher->input.empty());
  forge(1, 0, io_input{nspace, {0}, std::nullopt, "text", false});
  CAF_REQUIRE_EQUAL(mesh[0].launcher->input.size(), 1u);
  CAF_CHECK_EQUAL(mesh[0].launcher->input[0].bytes, "text");
}

CAF_TEST(I6 input for all goes to each node once) {
  spawn(6, {with(attr::stdin_tgt, value::rank(rank_wildcard))});
  const auto x = mesh.tell<io_input_taken>(
    0, io_input{nspace, {rank_wildcard}, std::nullopt, "text", true});
  consume_messages();
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(x->value.readers, 6u);
  CAF_CHECK_EQUAL(x->value.offset, 4u);
  CAF_CHECK_EQUAL(count<io_input>(), 2u);
  for (uint32_t node = 0; node < 3; ++node) {
    CAF_CHECK_EQUAL(mesh[node].launcher->input.size(), 2u);
    CAF_CHECK_EQUAL(mesh[node].launcher->input_ends.size(), 2u);
  }
}

CAF_TEST(I9 A46 input that is repeated is not written twice) {
  spawn(6, {with(attr::stdin_tgt, value::rank(4))});
  const auto give = [this](uint64_t offset, std::string bytes) {
    const auto x = mesh.tell<io_input_taken>(
      0, io_input{nspace, {4}, offset, std::move(bytes), false});
    consume_messages();
    CAF_REQUIRE_EQUAL(x->code, status::success);
    return x->value.offset;
  };
  CAF_CHECK_EQUAL(give(0, "0123"), 4u);
  CAF_CHECK_EQUAL(give(2, "2345"), 6u);
  auto all = std::string{};
  for (const auto& x : mesh[2].launcher->input)
    all += x.bytes;
  CAF_CHECK_EQUAL(all, "012345");
}

CAF_TEST(I6 a large input is passed on in pieces and in order) {
  spawn(6, {with(attr::stdin_tgt, value::rank(4))});
  auto bytes = std::string{};
  while (bytes.size() < size_t{1} << 20)
    bytes += std::to_string(bytes.size()) + ",";
  const auto x = mesh.tell<io_input_taken>(
    0, io_input{nspace, {4}, std::nullopt, bytes, true});
  consume_messages();
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(x->value.offset, bytes.size());
  auto all = std::string{};
  for (const auto& y : mesh[2].launcher->input)
    all += y.bytes;
  CAF_CHECK(all == bytes);
  CAF_CHECK_EQUAL(mesh[2].launcher->input_ends.size(), 1u);
}

CAF_TEST(I6 a tool at any node feeds the jobs of its user) {
  spawn(6, {with(attr::stdin_tgt, value::rank(4))});
  const auto tool = attach(1);
  const auto push_as = [this](uint32_t uid) {
    const auto x = fixtures::ask<ack>(
      sys, mesh[1].host, asks({"a tool", 0}, 99, uid),
      io_push_request{{{nspace, 4}}, {}, std::string{"text"}});
    consume_messages();
    return x->code;
  };
  const auto push = [&](std::vector<info> directives = {}) {
    return ask<ack>(1, tool,
                    io_push_request{{{nspace, 4}},
                                    std::move(directives),
                                    std::string{"text"}})
      ->code;
  };
  CAF_CHECK_EQUAL(push(), status::success);
  CAF_CHECK_EQUAL(push_as(our_uid + 1), status::no_permissions);
  // The same once more.
  CAF_CHECK_EQUAL(push({with(io_offset_key, value::uint64(0))}),
                  status::success);
  auto all = std::string{};
  for (const auto& x : mesh[2].launcher->input)
    all += x.bytes;
  CAF_CHECK_EQUAL(all, "text");
}

CAF_TEST_FIXTURE_SCOPE_END()
