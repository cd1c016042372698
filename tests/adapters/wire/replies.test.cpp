// Replies and pushes: layouts that depend on the release, what old clients are
// spared, and round trips of every kind.

#include "adapters/wire/replies.hpp"

#include "adapters/wire/compression.hpp"
#include "adapters/wire/pushes.hpp"
#include "tests/adapters/wire/captures.hpp"
#include "tests/adapters/wire/messages.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::wire;
using namespace troupe::wire::test;

namespace {

dialect rules_of(packing_module x, release peer, bool described = false) {
  auto d = dialect{};
  d.module = x;
  d.peer = peer;
  d.described = described;
  return d;
}

const auto client_3 = rules_of(packing_module::v3, {3, 2, 5});
const auto client_4 = rules_of(packing_module::v41, {4, 2, 2});
const auto client_5 = rules_of(packing_module::v41, {5, 0, 10});
const auto client_6 = rules_of(packing_module::v61, {6, 1, 0});

template <class T>
std::string encode(const T& x, const dialect& d) {
  auto out = std::string{};
  if (const auto err = encode_reply(x, d, out))
    CAF_FAIL(reason_of(err));
  return out;
}

template <class T>
T decode(command asked, std::string_view bytes, const dialect& d) {
  const auto x = decode_reply(asked, bytes, d);
  if (!x)
    CAF_FAIL(reason_of(x.error()));
  return std::get<T>(x->body);
}

value coord_value() {
  return {data_type::coord, box<coord>{coord{1, {2, 3}}}};
}

} // namespace

CAF_TEST(F3.10 random replies of every kind survive) {
  const dialect rules[] = {
    rules_of(packing_module::v41, {5, 0, 10}),
    rules_of(packing_module::v41, {5, 0, 10}, true),
    rules_of(packing_module::v61, {6, 1, 0}),
    rules_of(packing_module::v3, {3, 2, 5}),
    rules_of(packing_module::v3, {3, 2, 5}, true),
  };
  for (auto d : rules) {
    d.expand_strings = false;
    d.signed_data_type = false;
    for (size_t i = 0; i < std::variant_size_v<reply_body>; ++i) {
      const auto survives = rc::check("reply " + std::to_string(i), [&] {
        auto source = value_source{d};
        const auto x = reply{status::success, any_reply(source, i, d)};
        auto bytes = std::string{};
        RC_ASSERT(!encode_reply(x, d, bytes));
        const auto again = decode_reply(asked_for(i), bytes, d);
        RC_ASSERT(static_cast<bool>(again));
        RC_ASSERT(again->outcome == x.outcome);
        RC_ASSERT(again->body == x.body);
      });
      CAF_CHECK(survives);
    }
  }
}

CAF_TEST(F3 events and output survive) {
  for (const auto& d : {client_3, client_4, client_5, client_6}) {
    const auto x = event{status::lost_connection,
                         {"ns", 3},
                         data_range::session,
                         {{"pmix.evproc", 0, value::of_proc({"ns", 4})}}};
    auto bytes = std::string{};
    CAF_REQUIRE(!encode_event(x, d, bytes));
    CAF_CHECK(decode_event(bytes, d) == x);
    auto without = x;
    without.range = data_range::undef;
    bytes.clear();
    CAF_REQUIRE(!encode_event(x, d, bytes, event_form::without_range));
    CAF_CHECK(decode_event(bytes, d) == without);
    const auto y =
      io_delivery{{"ns", 1}, io_channels::stdout_, 7, {}, "text\n"};
    bytes.clear();
    CAF_REQUIRE(!encode_output(y, d, bytes));
    CAF_CHECK(decode_output(bytes, d) == y);
  }
}

CAF_TEST(F3 flow control survives) {
  for (const auto& d : {client_4, client_5, client_6}) {
    const auto x = flow_control{{"ns", 1},
                                io_channels::stdin_,
                                true,
                                {{"pmix.timeout", 0, value::uint32(2)}}};
    auto bytes = std::string{};
    CAF_REQUIRE(!encode_flow_control(x, d, bytes));
    CAF_CHECK(decode_flow_control(bytes, d) == x);
    for (size_t n = 0; n < bytes.size(); ++n)
      CAF_CHECK(!decode_flow_control(bytes.substr(0, n), d));
    CAF_CHECK(!decode_flow_control(bytes + "x", d));
  }
  CAF_CHECK(!knows_flow_control({6, 1, 0}));
  CAF_CHECK(knows_flow_control({7, 0, 0}));
}

CAF_TEST(F3 a credit for output survives) {
  for (const auto x : {uint64_t{0}, uint64_t{258}, UINT64_MAX}) {
    auto bytes = std::string{};
    encode_output_credit(x, bytes);
    CAF_CHECK_EQUAL(bytes.size(), 8u);
    const auto again = decode_output_credit(bytes);
    CAF_CHECK(again && *again == x);
    CAF_CHECK(!decode_output_credit(bytes.substr(1)));
    CAF_CHECK(!decode_output_credit(bytes + "x"));
  }
  CAF_CHECK(is_own_library("4.2.9troupe"));
  CAF_CHECK(!is_own_library("troupe"));
  CAF_CHECK(!is_own_library("4.2.9"));
}

CAF_TEST(F4.43 who shares memory says so behind its release) {
  const auto version = "4.2.9" + std::string{sharing_mark};
  CAF_CHECK(can_share_memory(version));
  CAF_CHECK(is_own_library(version));
  CAF_CHECK(parse_release(version) == (release{4, 2, 9}));
  // Ours of before, and others.
  CAF_CHECK(!can_share_memory("4.2.9troupe"));
  CAF_CHECK(!can_share_memory("4.2.9+6troupe"));
  CAF_CHECK(!can_share_memory("4.2.9"));
}

CAF_TEST(F3 a status is one PACK) {
  auto out = std::string{};
  encode_status(status::timeout, client_4, out);
  CAF_CHECK_EQUAL(to_hex(out), "022f");
  out.clear();
  encode_reply(ack{}, client_3, out);
  CAF_CHECK_EQUAL(to_hex(out), "0000000100000000");
  const auto x = decode_reply(command::get, from_hex("022f"), client_4);
  CAF_REQUIRE(x);
  CAF_CHECK(x->outcome == status::timeout);
  CAF_CHECK(x->body == reply_body{ack{}});
}

CAF_TEST(F3 counts are written even if they are 0) {
  CAF_CHECK_EQUAL(to_hex(encode(lookup_result{}, client_4)), "02000200");
  CAF_CHECK_EQUAL(to_hex(encode(info_result{}, client_4)), "02000200");
  CAF_CHECK_EQUAL(to_hex(encode(resolve_peers_result{}, client_4)), "02000200");
  CAF_CHECK_EQUAL(to_hex(encode(device_distances_result{}, client_4)),
                  "02000200");
  CAF_CHECK_EQUAL(to_hex(encode(get_credential_result{"C", {}}, client_4)),
                  "020002014302"
                  "00");
}

CAF_TEST(J4 a denial has its infos after the status as any reply) {
  const auto why =
    std::vector<info>{{"pmix.evtext", 0, value::string("rank 3 is gone")}};
  for (const auto& d : {client_3, client_4, client_5, client_6}) {
    auto out = std::string{};
    CAF_REQUIRE(!encode_denial(status::not_found, why, d, out));
    const auto x = decode_reply(command::job_control, out, d);
    CAF_REQUIRE(x);
    CAF_CHECK(x->outcome == status::not_found);
    CAF_CHECK(std::get<info_result>(x->body).infos == why);
  }
}

CAF_TEST(F3.2 F3.3 F3.4 F3.5 a group construct is answered in the layout of the release) {
  const auto x = group_construct_result{{{"ns", 0}}, 42, {}};
  // Up to the context id; 4.2.2 leaves what follows.
  CAF_CHECK_EQUAL(to_hex(encode(x, client_4)), "0200022a"
                                               "020102066e730000"
                                               "0200");
  CAF_CHECK_EQUAL(to_hex(encode(x, client_5)), "0200"
                                               "020102066e730000"
                                               "022a");
  CAF_CHECK_EQUAL(to_hex(encode(x, client_6)), "0200"
                                               "020102066e730000"
                                               "0201"
                                               "022a"
                                               "0200");
  auto d = client_4;
  for (uint16_t patch : {3, 4}) {
    d.peer = {4, 2, patch};
    CAF_CHECK_EQUAL(encode(x, d).size(), patch == 3 ? 14u : 12u);
  }
}

CAF_TEST(G24 our own library hears who is a member) {
  auto x = group_construct_result{{{"ns", 2}, {"ns", 0}}, std::nullopt, {}};
  for (const auto id :
       {std::optional<uint64_t>{}, std::optional<uint64_t>{7}}) {
    x.context_id = id;
    const auto y = decode<group_construct_result>(
      command::group_construct, encode(x, client_4), client_4);
    CAF_CHECK(y.members == x.members);
    CAF_CHECK(y.context_id == id);
  }
  // A server of 4.2 says no more than the context id.
  const auto y = decode<group_construct_result>(command::group_construct,
                                                from_hex("0200022a"), client_4);
  CAF_CHECK(y.members.empty());
  CAF_CHECK(y.context_id == uint64_t{42});
}

CAF_TEST(G18 clients of 6 are not told that a group is smaller by the status) {
  auto x = group_construct_result{{{"ns", 0}}, 42, {}};
  x.outcome = status::partial_success;
  for (const auto& d : {client_4, client_5}) {
    const auto y = decode_reply(command::group_construct, encode(x, d), d);
    CAF_REQUIRE(y);
    CAF_CHECK_EQUAL(y->outcome, status::partial_success);
    CAF_CHECK_EQUAL(std::get<group_construct_result>(y->body).outcome,
                    status::partial_success);
  }
  // They would leave the members unread.
  const auto y =
    decode_reply(command::group_construct, encode(x, client_6), client_6);
  CAF_REQUIRE(y);
  CAF_CHECK_EQUAL(y->outcome, status::success);
  CAF_CHECK_EQUAL(std::get<group_construct_result>(y->body).members.size(), 1u);
}

CAF_TEST(G60 clients of 6 get what is posted for a group and nothing else) {
  const auto of_proc = [](std::string key) {
    return info{std::move(key), 0,
                value::infos({{"pmix.procid", 0, value::of_proc({"ns", 1})},
                              {"pmix.grp.lclid", 0, value::size(7)}})};
  };
  auto x = group_construct_result{{{"ns", 0}}, 42, {}};
  x.infos = {
    of_proc("pmix.grp.info"),
    // Whatever is no array, or does not say whose it is, would end them.
    {"pmix.grp.info", 0, value::size(1)},
    {"pmix.grp.info", 0, value::infos({})},
    {"pmix.grp.infoarray", 0, value::size(1)},
    {"pmix.grp.infoarray", 0, value::infos({{"a", 0, value::size(1)}})},
    {"site.note", 0, value::string("hello")},
    {"pmix.grp.infoarray", 0, value::infos({of_proc("pmix.grp.info")})},
  };
  const auto y = decode<group_construct_result>(command::group_construct,
                                                encode(x, client_6), client_6);
  CAF_REQUIRE_EQUAL(y.infos.size(), 2u);
  CAF_CHECK(y.infos[0] == x.infos.front());
  CAF_CHECK(y.infos[1] == x.infos.back());
}

CAF_TEST(F3.1 F3.5 clients of 3 get no entry that they cannot read) {
  auto job = job_info{};
  job.nspace = "ns";
  job.entries = {
    {"a", value::uint32(1)},
    {"b", coord_value()},
    {"c", {data_type::pointer, {}}},
    {"d",
     value::infos({{"e", 0, value::boolean(true)}, {"f", 0, coord_value()}})},
    {"g", value::array(data_type::coord, {coord_value()})},
  };
  job.ranks = {{0, {{"h", coord_value()}, {"i", value::uint16(2)}}}};
  auto expected = job;
  expected.entries = {
    {"a", value::uint32(1)},
    {"d", value::infos({{"e", 0, value::boolean(true)}})},
  };
  expected.ranks = {{0, {{"i", value::uint16(2)}}}};
  CAF_CHECK(decode<job_info>(command::job_info, encode(job, client_3), client_3)
            == expected);
  CAF_CHECK(decode<job_info>(command::job_info, encode(job, client_4), client_4)
            == job);
  // The same in other replies and in events.
  const auto got = get_result{{{{"ns", 0}, job.entries}}};
  CAF_CHECK(decode<get_result>(command::get, encode(got, client_3), client_3)
              .blocks[0]
              .entries
            == expected.entries);
  const auto found = lookup_result{
    {{{"ns", 0}, "a", value::uint32(1)}, {{"ns", 0}, "b", coord_value()}}};
  CAF_CHECK_EQUAL(
    decode<lookup_result>(command::lookup, encode(found, client_3), client_3)
      .found.size(),
    1u);
  auto raised = event{};
  raised.infos = {{"b", 0, coord_value()}, {"a", 0, value::uint32(1)}};
  auto bytes = std::string{};
  CAF_REQUIRE(!encode_event(raised, client_3, bytes));
  CAF_CHECK_EQUAL(decode_event(bytes, client_3)->infos.size(), 1u);
  // A request must not lose a directive.
  auto asked = fence_request{};
  asked.directives = raised.infos;
  bytes = "before";
  CAF_CHECK(encode_request(asked, client_3, bytes));
  CAF_CHECK_EQUAL(bytes, "before");
}

CAF_TEST(F3.7 compressed strings reach clients as plain ones) {
  const auto text = std::string(5000, 'x');
  const auto compressed =
    value{data_type::compressed_string, deflate_text(text)};
  const auto got = get_result{
    {{{"ns", 0},
      {{"long", compressed},
       {"list", value::array(data_type::compressed_string, {compressed})},
       {"damaged", {data_type::compressed_string, "xyz"}}}}}};
  for (const auto& d : {client_3, client_4, client_5, client_6}) {
    const auto entries =
      decode<get_result>(command::get, encode(got, d), d).blocks[0].entries;
    CAF_REQUIRE_EQUAL(entries.size(), 2u);
    CAF_CHECK(entries[0].val == value::string(text));
    CAF_CHECK(entries[1].val
              == value::array(data_type::string, {value::string(text)}));
  }
  // Only a client of 5 or later may keep them, and only if told to.
  auto d = client_5;
  d.expand_strings = false;
  CAF_CHECK(
    decode<get_result>(command::get, encode(got, d), d).blocks[0].entries
    == got.blocks[0].entries);
  d.peer = {4, 2, 9};
  CAF_CHECK(
    decode<get_result>(command::get, encode(got, d), d).blocks[0].entries[0].val
    == value::string(text));
}

CAF_TEST(F3 the data of a rank is packed alone) {
  const auto x = rank_data{3, {{"pmix.lrank", value::uint16(1)}}};
  const auto hex = std::string{"0203"
                               "0216706d69782e6c72616e6b000d01"};
  CAF_CHECK(decode_rank_data(from_hex(hex), client_4) == x);
  const auto job = to_hex(encode(job_info{"n", {}, {x}}, client_4));
  CAF_REQUIRE(job.size() > hex.size());
  CAF_CHECK_EQUAL(job.substr(job.size() - hex.size()), hex);
}

CAF_TEST(F3 plain data of ranks may stay packed) {
  auto job = job_info{};
  job.nspace = "ns";
  job.entries = {{"a", value::uint32(1)}};
  job.ranks = {{3,
                {{"pmix.hname", value::string("here")},
                 {"pmix.lrank", value::uint16(1)},
                 {"pmix.note", value::boolean(true)},
                 {"pmix.bytes", value::bytes(std::string(3, '\0'))},
                 {"pmix.int", value::integer(-1)},
                 {"pmix.uint", {data_type::uint, uint64_t{7}}},
                 {"pmix.none", {data_type::string, {}}}}},
               {3, {{"pmix.lrank", value::uint16(2)}}},
               {0, {}}};
  const auto is_reserved = [](std::string_view key) {
    return key.substr(0, 4) == "pmix";
  };
  for (const auto& d : {client_3, client_4, client_5, client_6,
                        rules_of(packing_module::v41, {5, 0, 10}, true),
                        rules_of(packing_module::v3, {3, 2, 5}, true)}) {
    const auto bytes = encode(job, d);
    auto packed = std::vector<packed_rank>{};
    const auto x = decode_job_info(bytes, d, is_reserved, packed);
    CAF_REQUIRE(x);
    CAF_CHECK_EQUAL(x->nspace, "ns");
    CAF_CHECK(x->entries == job.entries);
    CAF_CHECK(x->ranks.empty());
    CAF_REQUIRE_EQUAL(packed.size(), 3u);
    for (size_t i = 0; i < packed.size(); ++i) {
      CAF_CHECK_EQUAL(packed[i].rank, job.ranks[i].rank);
      CAF_CHECK(decode_rank_data(packed[i].bytes, d) == job.ranks[i]);
    }
    // What is cut short, or has a byte too many, is as wrong as ever.
    for (size_t n = 0; n < bytes.size(); ++n) {
      const auto part = std::string_view{bytes}.substr(0, n);
      const auto y = decode_job_info(part, d, is_reserved, packed);
      const auto z = decode_reply(command::job_info, part, d);
      CAF_REQUIRE_EQUAL(static_cast<bool>(y), static_cast<bool>(z));
      if (!y)
        CAF_CHECK_EQUAL(reason_of(y.error()), reason_of(z.error()));
      packed.clear();
    }
  }
  // One that is not plain, or whose key may not wait, and none stays packed.
  for (const auto& odd :
       {key_value{"pmix.x", coord_value()},
        key_value{"pmix.x", value::of_proc({"ns", 1})},
        key_value{"pmix.x", {data_type::compressed_string, "damaged"}},
        key_value{"pmix.x", {data_type::proc_nspace, std::string{"ns"}}},
        key_value{"mine", value::uint32(1)}}) {
    auto other = job;
    other.ranks.back().entries.push_back(odd);
    auto d = client_5;
    d.expand_strings = false;
    auto packed = std::vector<packed_rank>{};
    const auto x = decode_job_info(encode(other, d), d, is_reserved, packed);
    CAF_CHECK(packed.empty());
    CAF_CHECK(x == other);
  }
}

CAF_TEST(X50 replies that a server may not make are errors) {
  // A count without its elements, a byte object with bytes left over, a
  // namespace of 256 bytes, nothing at all.
  CAF_CHECK(!decode_reply(command::lookup, from_hex("02000205"), client_4));
  CAF_CHECK(!decode_reply(command::get,
                          from_hex("020002080206"
                                   "6e73000000"),
                          client_4));
  CAF_CHECK(!decode_reply(command::job_info,
                          from_hex("028204") + std::string(256, 'n')
                            + std::string(1, '\0'),
                          client_4));
  CAF_CHECK(!decode_reply(command::fence, "", client_4));
  CAF_CHECK(!decode_event("", client_4));
  CAF_CHECK(!decode_output("", client_4));
}
