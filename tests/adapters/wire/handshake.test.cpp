#include "adapters/wire/handshake.hpp"

#include "adapters/wire/frame.hpp"
#include "tests/adapters/wire/captures.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::wire;
using namespace troupe::wire::test;

namespace {

/// The greeting of a 4.2.2 client, without its header.
const auto golden = from_hex("6e617469766500"     // native
                             "00000008"           // length of the credential
                             "e803000064000000"   // uid 1000, gid 100
                             "00"                 // client
                             "70796e7300"         // pyns
                             "00000007"           // rank 7
                             "342e322e3272633200" // 4.2.2rc2
                             "76343100"           // v41
                             "01"                 // not described
                             "6861736800"         // hash
                             "00");               // the byte too many

hello client() {
  auto x = decode_hello(golden);
  if (!x)
    CAF_FAIL(reason_of(x.error()));
  return *x;
}

std::string payload_of(const hello& x) {
  auto out = std::string{};
  if (const auto err = encode_hello(x, out))
    CAF_FAIL(reason_of(err));
  return out.substr(frame_header_size);
}

/// Whether a greeting with one thing changed is still accepted.
template <class F>
bool accepts(F change) {
  auto x = client();
  change(x);
  auto out = std::string{};
  return !encode_hello(x, out)
         && decode_hello(std::string_view{out}.substr(frame_header_size));
}

/// The golden greeting with the byte at `i` replaced.
bool accepts_byte(size_t i, char byte) {
  auto bytes = golden;
  bytes.at(i) = byte;
  return static_cast<bool>(decode_hello(bytes));
}

constexpr auto flag_offset = 19;
constexpr auto type_offset = 42;

} // namespace

CAF_TEST(F3 a greeting says who and how) {
  const auto x = client();
  CAF_CHECK_EQUAL(x.security, "native");
  const auto credential = parse_native_credential(x.credential);
  CAF_REQUIRE(credential);
  CAF_CHECK_EQUAL(credential->uid, 1000u);
  CAF_CHECK_EQUAL(credential->gid, 100u);
  CAF_CHECK_EQUAL(native_credential(*credential), x.credential);
  CAF_CHECK(x.role == peer_role::client);
  CAF_CHECK(!x.claimed);
  CAF_CHECK(x.proc == (proc_id{"pyns", 7}));
  CAF_CHECK_EQUAL(x.version, "4.2.2rc2");
  CAF_CHECK_EQUAL(x.store, "hash");
  CAF_CHECK(x.extra_byte);
  const auto d = dialect_of(x);
  CAF_CHECK(d.module == packing_module::v41);
  CAF_CHECK(!d.described);
  CAF_CHECK(d.peer == (release{4, 2, 2}));
  CAF_CHECK_EQUAL(to_hex(payload_of(x)), to_hex(golden));
}

CAF_TEST(F3 every role has its fields) {
  for (uint8_t flag = 0; flag <= 10; ++flag) {
    auto x = client();
    x.role = static_cast<peer_role>(flag);
    x.extra_byte = false;
    if (x.role != peer_role::client) {
      x.claimed = credentials{5, 6};
      x.infos = {{"pmix.ppid", 0, value::pid(1)}};
    }
    if (needs_identity(x.role))
      x.proc.reset();
    const auto y = decode_hello(payload_of(x));
    CAF_REQUIRE(y);
    CAF_CHECK(y->role == x.role);
    CAF_CHECK(y->claimed == x.claimed);
    CAF_CHECK(y->proc == x.proc);
    CAF_CHECK(y->infos == x.infos);
    CAF_CHECK_EQUAL(payload_of(*y), payload_of(x));
  }
}

CAF_TEST(F3 a greeting arrives in pieces and is followed by frames) {
  auto out = std::string{};
  CAF_REQUIRE(!encode_hello(client(), out));
  const auto size = out.size();
  out += "next";
  for (size_t step = 1; step <= out.size(); ++step) {
    auto reader = hello_reader{};
    auto done = false;
    auto rest = std::string{};
    for (size_t i = 0; i < out.size(); i += step) {
      const auto bytes = std::string_view{out}.substr(i, step);
      if (done) {
        rest += bytes;
        continue;
      }
      const auto x = reader.push(bytes);
      CAF_REQUIRE(x);
      CAF_CHECK_EQUAL(reader.has_header(), i + bytes.size() >= 16);
      done = x->has_value();
      CAF_CHECK_EQUAL(done, i + bytes.size() >= size);
      if (done)
        rest = reader.take_rest();
    }
    CAF_CHECK(done);
    CAF_CHECK_EQUAL(rest, "next");
  }
}

CAF_TEST(X13 LIM2 a greeting over 131072 bytes is refused at its header) {
  for (const auto* length : {"01000200", "ffffffff", "00000080"}) {
    auto reader = hello_reader{};
    const auto x = reader.push(
      from_hex("ffffffffffffffff" + std::string{length} + "00000000"));
    CAF_CHECK(!x);
  }
  auto reader = hello_reader{};
  CAF_CHECK(reader.push(from_hex("ffffffffffffffff0000020000000000")));
}

CAF_TEST(X19 a connection that begins with another message is refused) {
  auto reader = hello_reader{};
  const auto x = reader.push(from_hex("00000000000000650000000200000000"
                                      "0200"));
  CAF_REQUIRE(!x);
  CAF_CHECK(status_of(x.error()) == status::handshake_failed);
}

CAF_TEST(X15 what a greeting may not say) {
  CAF_CHECK(accepts([](hello&) {}));
  CAF_CHECK(accepts_byte(flag_offset, 0));
  CAF_CHECK(!accepts_byte(flag_offset, 11));
  CAF_CHECK(!accepts_byte(flag_offset, '\xff'));
  CAF_CHECK(accepts_byte(type_offset, 2));
  CAF_CHECK(!accepts_byte(type_offset, 0));
  CAF_CHECK(!accepts_byte(type_offset, 3));
  // Modules of 1.2 and 2.0, and one that nobody has.
  for (const auto* name : {"v12", "v20", "v99"}) {
    auto bytes = golden;
    bytes.replace(type_offset - 4, 3, name);
    const auto x = decode_hello(bytes);
    CAF_REQUIRE(!x);
    CAF_CHECK(status_of(x.error()) == status::not_supported);
  }
}

CAF_TEST(X18 names in a greeting are whole and tame) {
  for (const auto& nspace :
       {std::string{}, std::string{"a/b"}, std::string{"a\nb"},
        std::string{"a\x7f"}, std::string(256, 'n')})
    CAF_CHECK(!accepts([&](hello& x) { x.proc = proc_id{nspace, 0}; }));
  CAF_CHECK(accepts([](hello& x) {
    x.proc = proc_id{std::string(255, 'n'), 0};
  }));
  // No zero byte at the end of the store's name.
  CAF_CHECK(!decode_hello(std::string_view{golden}.substr(0, 47)));
  // A credential longer than the message.
  CAF_CHECK(!accepts_byte(7, '\x7f'));
}

CAF_TEST(MND-S1 no word of a greeting is longer than 255 letters) {
  const auto change = [](std::string hello::*word, size_t size) {
    return accepts([=](hello& x) { x.*word = std::string(size, '4'); });
  };
  for (const auto word : {&hello::version, &hello::store, &hello::security}) {
    CAF_CHECK(change(word, 255));
    CAF_CHECK(!change(word, 256));
    CAF_CHECK(!change(word, 5000));
  }
}

CAF_TEST(X18 a version is read without running past its end) {
  CAF_CHECK(parse_release("4.2.2rc2") == (release{4, 2, 2}));
  CAF_CHECK(parse_release("3.2.5a1") == (release{3, 2, 5}));
  CAF_CHECK(parse_release("v6.1.0") == (release{6, 1, 0}));
  CAF_CHECK(parse_release("5") == (release{5, 0, 0}));
  CAF_CHECK(parse_release("5.") == (release{5, 0, 0}));
  CAF_CHECK(parse_release("") == (release{0, 0, 0}));
  CAF_CHECK(parse_release("x") == (release{0, 0, 0}));
  CAF_CHECK(parse_release("4..2") == (release{4, 0, 0}));
  CAF_CHECK(parse_release("99999999999.1.1") == (release{65535, 1, 1}));
}

CAF_TEST(F3 the answer has the form that the peer waits for) {
  using form = connect_reply_form;
  const auto old = release{4, 2, 2};
  const auto young = release{5, 0, 0};
  for (auto peer : {old, young}) {
    CAF_CHECK(connect_reply_form_of(peer_role::client, peer) == form::client);
    CAF_CHECK(connect_reply_form_of(peer_role::tool_needs_identity, peer)
              == form::tool_with_identity);
    CAF_CHECK(connect_reply_form_of(peer_role::launcher_needs_identity, peer)
              == form::tool_with_identity);
    for (auto role : {peer_role::tool_with_identity, peer_role::tool_client,
                      peer_role::launcher_with_identity,
                      peer_role::launcher_client, peer_role::scheduler})
      CAF_CHECK(connect_reply_form_of(role, peer) == form::tool);
  }
  CAF_CHECK(connect_reply_form_of(peer_role::singleton, old) == form::tool);
  CAF_CHECK(connect_reply_form_of(peer_role::singleton, young) == form::client);
  const auto accepted = connect_accepted{{"tool", 1}, {"server", 2}, 77};
  for (auto x : {form::client, form::tool, form::tool_with_identity}) {
    auto out = std::string{};
    encode_connect_reply(accepted, x, out);
    CAF_CHECK_EQUAL(out.size(), connect_reply_size(x));
    const auto y = decode_connect_reply(out, x);
    CAF_REQUIRE(y);
    CAF_CHECK(y->outcome == status::success);
    CAF_CHECK_EQUAL(y->index, x == form::client ? 77u : 0u);
    CAF_CHECK_EQUAL(y->server.has_value(), x != form::client);
    CAF_CHECK_EQUAL(y->assigned.has_value(), x == form::tool_with_identity);
    if (y->server)
      CAF_CHECK(*y->server == accepted.server);
    if (y->assigned)
      CAF_CHECK(*y->assigned == accepted.proc);
    for (size_t n = 0; n < out.size(); ++n)
      CAF_CHECK(!decode_connect_reply(std::string_view{out}.substr(0, n), x));
  }
}

CAF_TEST(F3 a server that refuses may send a status alone) {
  const auto x =
    decode_connect_reply(from_hex("fffffff3"), connect_reply_form::tool);
  CAF_REQUIRE(x);
  CAF_CHECK(x->outcome == status::handshake_failed);
}

CAF_TEST(X50 a server name without end is an error) {
  auto out = std::string{};
  encode_connect_reply(connect_accepted{{}, {"s", 0}, 0},
                       connect_reply_form::tool, out);
  std::fill_n(out.begin() + 4, 256, 'x');
  CAF_CHECK(!decode_connect_reply(out, connect_reply_form::tool));
}
