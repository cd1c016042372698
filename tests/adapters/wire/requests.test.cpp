// Requests: layouts that depend on the release, what a client may not send, and
// round trips of every kind.

#include "adapters/wire/requests.hpp"

#include "adapters/wire/long_request.hpp"
#include "adapters/wire/reader.hpp"
#include "tests/adapters/wire/captures.hpp"
#include "tests/adapters/wire/messages.hpp"
#include "tests/test.hpp"

#include <algorithm>
#include <set>

using namespace troupe;
using namespace troupe::wire;
using namespace troupe::wire::test;

namespace {

dialect rules_of(packing_module x, release peer, bool described = false) {
  auto d = dialect{};
  d.module = x;
  d.peer = peer;
  d.described = described;
  d.expand_strings = false;
  d.signed_data_type = false;
  return d;
}

const auto plain = rules_of(packing_module::v41, {4, 2, 2});

caf::expected<request> decode_hex(const std::string& hex, const dialect& d) {
  const auto bytes = from_hex(hex);
  return decode_request(bytes, d);
}

template <class T>
T as(const caf::expected<request>& x) {
  if (!x)
    CAF_FAIL(reason_of(x.error()));
  return std::get<T>(*x);
}

} // namespace

CAF_TEST(F3 a fence on the whole namespace with data) {
  const auto x = as<fence_request>(decode_hex("0203"
                                              "0201"
                                              "020a70796e7300feffffff0f"
                                              "0201"
                                              "021a706d69782e636f6c6c65637400"
                                              "000101",
                                              plain));
  CAF_CHECK(x.procs == (std::vector<proc_id>{{"pyns", rank_wildcard}}));
  CAF_CHECK(x.directives
            == (std::vector<info>{{"pmix.collect", 0, value::boolean(true)}}));
}

CAF_TEST(F3.10 random requests of every kind survive) {
  const dialect rules[] = {
    rules_of(packing_module::v41, {5, 0, 10}),
    rules_of(packing_module::v41, {5, 0, 10}, true),
    rules_of(packing_module::v61, {6, 1, 0}),
    rules_of(packing_module::v3, {3, 2, 5}),
    rules_of(packing_module::v3, {3, 2, 5}, true),
  };
  for (const auto& d : rules) {
    for (size_t i = 0; i < std::variant_size_v<request>; ++i) {
      // Values that only servers send make the request an error.
      const auto survives = rc::check("request " + std::to_string(i), [&] {
        auto source = value_source{d, false};
        const auto x = any_request(source, i, d);
        auto bytes = std::string{};
        RC_ASSERT(!encode_request(x, d, bytes));
        const auto again = decode_request(bytes, d);
        if (!again) {
          RC_ASSERT(reason_of(again.error()).find("a client sent")
                    != std::string::npos);
          RC_DISCARD();
        }
        RC_ASSERT(*again == x);
        const auto kept =
          decode_long_request("before" + bytes, bytes.size(), d);
        RC_ASSERT(kept && *kept == x);
      });
      CAF_CHECK(survives);
    }
  }
}

CAF_TEST(MND-A4 in a long list each process is named once) {
  auto request = job_control_request{};
  for (uint32_t i = 0; i < 60000; ++i)
    request.targets.push_back({i % 3 == 0 ? "a" : "b", i % 2000});
  auto bytes = std::string{};
  CAF_REQUIRE(!encode_request(request, plain, bytes));
  const auto targets =
    as<job_control_request>(decode_request(bytes, plain)).targets;
  // As 2,000 is no multiple of 3, each rank comes with either name.
  CAF_CHECK_EQUAL(targets.size(), 4000u);
  CAF_CHECK(std::equal(targets.begin(), targets.begin() + 2000,
                       request.targets.begin()));
  CAF_CHECK_EQUAL(std::set<proc_id>(targets.begin(), targets.end()).size(),
                  4000u);
}

CAF_TEST(F3 an unknown command is told from a damaged message) {
  CAF_CHECK_EQUAL(as<unknown_request>(decode_hex("02c8ff01", plain)).number,
                  200);
  // REQ_SYSINFO and the group commands that no client sends.
  CAF_CHECK_EQUAL(as<unknown_request>(decode_hex("0224", plain)).number, 36);
  CAF_CHECK_EQUAL(as<unknown_request>(decode_hex("0219", plain)).number, 25);
  CAF_CHECK_EQUAL(as<unknown_request>(decode_hex("021a", plain)).number, 26);
  CAF_CHECK(!decode_hex("", plain));
  CAF_CHECK(!decode_hex("02", plain));
  CAF_CHECK(!decode_hex("0400", plain));
}

CAF_TEST(F3 bytes after a request are an error unless the peer is newer) {
  CAF_CHECK(decode_hex("0205", plain));
  CAF_CHECK(!decode_hex("020500", plain));
  CAF_CHECK(decode_hex("020500", rules_of(packing_module::v61, {7, 0, 0})));
}

CAF_TEST(F3.2 F3.5 a group destruct with and without members) {
  // STRING mygrp, no infos: up to 4.2.3.
  const auto without = std::string{"021c020c6d796772700002"
                                   "00"};
  // STRING mygrp, PROC pyns:0, no infos: from 4.2.4 on.
  const auto with = std::string{"021c020c6d79677270000201"
                                "020a70796e730000"
                                "0200"};
  for (auto peer : {release{4, 2, 2}, release{4, 2, 9}, release{6, 1, 0}}) {
    const auto d = rules_of(packing_module::v41, peer);
    const auto x = as<group_destruct_request>(decode_hex(without, d));
    CAF_CHECK_EQUAL(x.id, "mygrp");
    CAF_CHECK(!x.procs);
    // Whatever it claims to be: one info of the same bytes has no such key.
    const auto y = as<group_destruct_request>(decode_hex(with, d));
    CAF_REQUIRE(y.procs);
    CAF_CHECK(*y.procs == (std::vector<proc_id>{{"pyns", 0}}));
  }
}

CAF_TEST(G15 127 the name of a group may be too long for the server to say so) {
  const auto id_in = [](const std::string& bytes) {
    const auto x = decode_request(bytes, plain);
    CAF_REQUIRE(x);
    return std::get<group_construct_request>(*x).id;
  };
  auto bytes = std::string{};
  for (const auto size : {size_t{0}, max_nspace_length}) {
    bytes.clear();
    const auto id = std::string(size, 'x');
    CAF_REQUIRE(
      !encode_request(group_construct_request{id, {}, {}}, plain, bytes));
    CAF_CHECK_EQUAL(id_in(bytes), id);
  }
  // We send no longer one; this is what another library would.
  const auto begin = bytes.find('x');
  bytes.insert(begin, 1, 'x');
  bytes[begin - 2] += 2; // The lowest bits of the length before it, and a sign.
  CAF_CHECK_EQUAL(id_in(bytes), std::string(max_nspace_length + 1, 'x'));
}

CAF_TEST(F3.1 a client of 3 pulls output without the number of its handler) {
  const auto x = as<io_pull_request>(
    decode_hex("02160201020a70796e7300feffffff0f02000206", plain));
  CAF_CHECK(!x.handler);
  const auto y = as<io_pull_request>(
    decode_hex("02160201020a70796e7300feffffff0f020002060201", plain));
  CAF_CHECK(y.handler == uint64_t{1});
}

CAF_TEST(F3 deregistration is not answered) {
  CAF_CHECK(!is_answered(request{deregister_events_request{}}));
  CAF_CHECK(is_answered(request{register_events_request{}}));
}

CAF_TEST(X15 what only servers may send is refused from clients) {
  auto bytes = std::string{};
  auto asked = publish_request{};
  asked.infos = {
    {"key", 0, value{data_type::regex, std::string{"raw:n1\0", 7}}}};
  CAF_REQUIRE(!encode_request(asked, plain, bytes));
  CAF_CHECK(!decode_request(bytes, plain));
}

CAF_TEST(X15 a topology that a client sends is read and goes no further) {
  auto bytes = std::string{};
  auto asked = publish_request{};
  asked.infos = {
    {"key", 0, value{data_type::topology, std::string{"<topology/>"}}},
    {"next", 0, value::uint32(1)}};
  CAF_REQUIRE(!encode_request(asked, plain, bytes));
  const auto x = as<publish_request>(decode_request(bytes, plain));
  CAF_REQUIRE_EQUAL(x.infos.size(), 2u);
  CAF_CHECK(x.infos[0].val == (value{data_type::topology, {}}));
  CAF_CHECK(x.infos[1] == asked.infos[1]);
}

CAF_TEST(X15 types that a module does not have are refused) {
  // An INFO with a value of type 70 (DEVICE), which came with 6.
  const auto hex = std::string{"0206"
                               "0200"
                               "0201"
                               "02046b000046000002"};
  const auto x = decode_hex(hex, plain);
  CAF_REQUIRE(!x);
  CAF_CHECK(status_of(x.error()) == status::unknown_data_type);
  // And types that nobody has.
  for (uint16_t type : {29, 74, 76, 200, 65535}) {
    auto bytes = std::string{};
    auto asked = publish_request{};
    asked.infos = {{"key", 0, value{static_cast<data_type>(type), {}}}};
    const auto err = encode_request(asked, plain, bytes);
    CAF_REQUIRE(err);
    CAF_CHECK(status_of(err) == status::unknown_data_type);
    CAF_CHECK(bytes.empty());
  }
}

CAF_TEST(X15 described messages with another type for a value are refused) {
  const auto d = rules_of(packing_module::v41, {4, 2, 2}, true);
  CAF_CHECK(decode_hex("09022205", d));
  CAF_CHECK(!decode_hex("09022105", d)); // DATA_RANGE instead of COMMAND
  CAF_CHECK(!decode_hex("0a022205", d)); // INT64 for the count
  CAF_CHECK(!decode_hex("0205", d));
}

CAF_TEST(X14 counts beyond the bytes that are there are refused) {
  // FENCENB with 2^40 processes, and a PACK of 2^31 - 1.
  CAF_CHECK(!decode_hex("020302808080808020", plain));
  CAF_CHECK(!decode_hex("02030201feffffff0f0a70796e7300", plain));
  // A negative count.
  CAF_CHECK(!decode_hex("02030201"
                        "01"
                        "0a70796e7300feffffff0f0200",
                        plain));
  // PROC[n] with another n than the SIZE before.
  CAF_CHECK(!decode_hex("02030201"
                        "040a70796e7300000a70796e730000"
                        "0200",
                        plain));
}

CAF_TEST(MND-A4 L4 LIM4 requests with lists that nobody needs are refused) {
  const auto many = [](size_t n, auto x) {
    return std::vector<decltype(x)>(n, x);
  };
  const auto refused = [](const request& x) {
    auto bytes = std::string{};
    if (const auto err = encode_request(x, plain, bytes))
      CAF_FAIL(reason_of(err));
    CAF_CHECK(can_be_refused(*command_in(bytes, plain)));
    const auto result = decode_request(bytes, plain);
    return !result && status_of(result.error()) == status::out_of_resource;
  };
  const auto proc = proc_id{"x", 1};
  const auto flag = info{"k", 0, value::boolean(true)};
  const auto key = std::string{"k"};
  auto commit = commit_request{};
  auto entries = std::vector<key_value>{{key, flag.val}};
  for (const auto is_more : {false, true}) {
    const auto n = size_t{is_more};
    const auto procs = many(max_procs_from_client + n, proc);
    CAF_CHECK_EQUAL(refused(fence_request{procs, {}}), is_more);
    CAF_CHECK_EQUAL(refused(connect_procs_request{procs, {}, {}}), is_more);
    CAF_CHECK_EQUAL(refused(group_construct_request{"g", procs, {}}), is_more);
    CAF_CHECK_EQUAL(refused(group_destruct_request{"g", procs, {}}), is_more);
    CAF_CHECK_EQUAL(refused(job_control_request{procs, {}}), is_more);
    CAF_CHECK_EQUAL(
      refused(fence_request{{}, many(max_infos_from_client + n, flag)}),
      is_more);
    CAF_CHECK_EQUAL(
      refused(publish_request{0, many(max_published_from_client + n, flag)}),
      is_more);
    CAF_CHECK_EQUAL(
      refused(lookup_request{0, many(max_keys_from_client + n, key), {}}),
      is_more);
    CAF_CHECK_EQUAL(
      refused(unpublish_request{0, many(max_keys_from_client + n, key), {}}),
      is_more);
    CAF_CHECK_EQUAL(
      refused(query_request{many(max_queries_from_client + n, query{})}),
      is_more);
    CAF_CHECK_EQUAL(refused(query_request{
                      {query{many(max_query_keys_from_client + n, key), {}}}}),
                    is_more);
    CAF_CHECK_EQUAL(
      refused(spawn_request{{}, many(max_apps_from_client + n, app{})}),
      is_more);
    auto codes = register_events_request{};
    codes.codes = many(max_codes_from_client + n, status::proc_aborted);
    CAF_CHECK_EQUAL(refused(codes), is_more);
    // Each key of a commit is a PACK of its own.
    commit.blocks = {
      {scope::global, many(max_entries_from_client + n, entries.front())}};
    CAF_CHECK_EQUAL(refused(commit), is_more);
  }
}

CAF_TEST(MND-A4 what has no status for an answer closes the connection) {
  CAF_CHECK(!can_be_refused(command::deregister_events));
  CAF_CHECK(!can_be_refused(command::job_info));
  CAF_CHECK(!command_in("", plain));
}

CAF_TEST(X14 LIM4 F3.16 values nest to a depth of 16) {
  auto nest = [](int levels) {
    auto x = value::boolean(true);
    for (auto i = 1; i < levels; ++i)
      x = value::array(x.type, {x});
    auto result = publish_request{};
    result.infos = {{"k", 0, x}};
    return result;
  };
  auto bytes = std::string{};
  CAF_CHECK(!encode_request(nest(16), plain, bytes));
  CAF_CHECK(as<publish_request>(decode_request(bytes, plain)) == nest(16));
  bytes.clear();
  CAF_CHECK(encode_request(nest(17), plain, bytes));
  // By hand: 10^5 arrays of one array.
  bytes = from_hex("0206020002010204") + "k" + from_hex("000027");
  for (auto i = 0; i < 100000; ++i)
    bytes += from_hex("2701");
  const auto x = decode_request(bytes, plain);
  CAF_REQUIRE(!x);
  CAF_CHECK(status_of(x.error()) == status::out_of_resource);
}

CAF_TEST(X18 keys of 511 bytes pass and of 512 do not) {
  for (size_t n : {511, 512}) {
    auto asked = lookup_request{};
    asked.keys = {std::string(n, 'k')};
    auto bytes = std::string{};
    const auto err = encode_request(asked, plain, bytes);
    CAF_CHECK_EQUAL(static_cast<bool>(err), n == 512);
    if (!err)
      CAF_CHECK(as<lookup_request>(decode_request(bytes, plain)) == asked);
  }
  // By hand: 512 bytes and the zero make a length of 513.
  const auto hex = std::string{"0207"
                               "0200"
                               "0201"
                               "02"
                               "8208"};
  const auto bytes = from_hex(hex) + std::string(512, 'k')
                     + std::string(1, '\0') + from_hex("0200");
  CAF_CHECK(!decode_request(bytes, plain));
}

CAF_TEST(X18 strings without end or with a zero byte inside are refused) {
  // RESOLVE_NODE of a namespace.
  CAF_CHECK(decode_hex("0226020661620000", plain)
            == decode_hex("0226020661620000", plain));
  CAF_CHECK(decode_hex("0226"
                       "0206616200",
                       plain));
  CAF_CHECK(!decode_hex("0226"
                        "0206616263",
                        plain));
  CAF_CHECK(!decode_hex("0226"
                        "0206610000",
                        plain));
  CAF_CHECK(!decode_hex("0226"
                        "0208616200",
                        plain));
  CAF_CHECK(!decode_hex("0226"
                        "0205616200",
                        plain));
}

CAF_TEST(X15 an error names the reason and the place) {
  const auto x = decode_hex("02030201030a", plain);
  CAF_REQUIRE(!x);
  CAF_CHECK_EQUAL(reason_of(x.error()), "a count is negative (at byte 5)");
}
