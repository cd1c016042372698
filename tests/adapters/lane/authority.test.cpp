#include "adapters/lane/authority.hpp"

#include "adapters/lane/key_memory.hpp"
#include "adapters/lane/secure_context.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <unistd.h>

#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace troupe;

namespace {

struct fixture {
  static authority make(const std::string& dvm = "dvm-1",
                        certificate_times times = {}) {
    auto result = authority::make(dvm, times);
    if (!result)
      CAF_FAIL("no authority: " << reason_of(result.error()));
    return std::move(*result);
  }

  static node_credentials issue(const authority& from, uint32_t rank,
                                const std::string& name,
                                certificate_times times = {}) {
    auto result = from.issue(rank, name, times);
    if (!result)
      CAF_FAIL("no credentials: " << reason_of(result.error()));
    return std::move(*result);
  }

  static std::string bytes_of(const node_credentials& x) {
    auto result = encode_credentials(x);
    if (!result)
      CAF_FAIL("not encoded: " << reason_of(result.error()));
    return std::string{result->view()};
  }

  authority issuer = make();
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(authority_tests, fixture)

CAF_TEST(MND-A14 private keys have pages of their own and leave none behind) {
  lock_keys();
  lock_keys();
  CAF_REQUIRE(CRYPTO_secure_malloc_initialized() == 1);
  const auto before = CRYPTO_secure_used();
  {
    const auto other = make("dvm-2");
    const auto with_authority = CRYPTO_secure_used();
    CAF_CHECK_GREATER(with_authority, before);
    const auto node = issue(other, 1, "n1");
    CAF_CHECK_GREATER(CRYPTO_secure_used(), with_authority);
    auto copy = decode_credentials(bytes_of(node));
    CAF_REQUIRE(copy);
  }
  CAF_CHECK_EQUAL(CRYPTO_secure_used(), before);
}

CAF_TEST(X40 a certificate names one node and survives its way) {
  const auto bytes = bytes_of(issue(issuer, 7, "n07.cluster"));
  CAF_CHECK(bytes.size() < max_credentials_size);
  auto read = decode_credentials(bytes);
  CAF_REQUIRE(read);
  const auto identity = identity_of(read->certificate.get());
  CAF_REQUIRE(identity);
  CAF_CHECK(*identity == (node_identity{"dvm-1", 7, "n07.cluster"}));
  // The authority is not a node.
  CAF_CHECK(!identity_of(read->authority.get()));
  const auto context = secure_context::make(*read);
  CAF_REQUIRE(context);
  CAF_CHECK(context->get()->self() == *identity);
}

CAF_TEST(ACT-16 a certificate says whose node it is and only the authority does) {
  const auto user_of = [](const node_credentials& x) {
    return identity_of(x.certificate.get())->user;
  };
  const auto none = issue(issuer, 7, "n7");
  CAF_CHECK(!user_of(none));
  for (const auto user : {0U, 1000U, 4294967295U}) {
    auto mine = issuer.issue(7, "n7", {}, user);
    CAF_REQUIRE(mine);
    CAF_CHECK(user_of(*mine) == user);
    // It is called as before.
    CAF_CHECK(*identity_of(mine->certificate.get())
              == *identity_of(none.certificate.get()));
    const auto context = secure_context::make(*mine);
    CAF_REQUIRE(context);
    CAF_CHECK((**context).self().user == user);
  }
  // Any other form is none of a node.
  const auto with = [&](std::vector<std::string> texts) {
    auto x = openssl_ptr<X509>{X509_dup(none.certificate.get())};
    for (const auto& text : texts)
      X509_NAME_add_entry_by_NID(
        X509_get_subject_name(x.get()), NID_userId, MBSTRING_ASC,
        reinterpret_cast<const unsigned char*>(text.data()),
        static_cast<int>(text.size()), -1, 0);
    return identity_of(x.get());
  };
  CAF_CHECK(with({"12"})->user == 12U);
  for (const auto* bad : {"-1", "01", "1x", " 1", "4294967296", "root"})
    CAF_CHECK(!with({bad}));
  CAF_CHECK(!with({"1", "1"}));
}

CAF_TEST(X40 an identity has one text and a text one identity) {
  const auto text = to_string(node_identity{"dvm", 4294967295U, "n_1.x-y"});
  CAF_CHECK_EQUAL(text, "troupe:dvm/4294967295/n_1.x-y");
  CAF_CHECK(parse_node_identity(text));
  for (const auto* bad :
       {"", "troupe:", "troupe:a/1", "troupe:a/1/", "troupe:/1/n",
        "troupe:a//n", "troupe:a/01/n", "troupe:a/-1/n", "troupe:a/+1/n",
        "troupe:a/1x/n", "troupe:a/4294967296/n", "troupe:a/1/n/m",
        "troupe:a/1/n ", "troupe:a/1/n,URI:x", "Troupe:a/1/n", "uri:xx:a/1/n"})
    CAF_CHECK(!parse_node_identity(bad));
  CAF_CHECK(!parse_node_identity(std::string("troupe:a/1/n\0m", 14)));
  CAF_CHECK(!parse_node_identity("troupe:a/1/" + std::string(256, 'n')));
  CAF_CHECK(!parse_node_identity("troupe:" + std::string(65, 'a') + "/1/n"));
}

CAF_TEST(X40 no certificate is made for what is not a name) {
  CAF_CHECK(!authority::make("a/b"));
  CAF_CHECK(!authority::make(""));
  for (const auto* name : {"", "a b", "n,URI:troupe:dvm-1/0/root", "n/1"})
    CAF_CHECK(!issuer.issue(1, name));
}

CAF_TEST(X45 credentials that are cut or longer or mixed are refused) {
  const auto one = issue(issuer, 1, "n1");
  const auto bytes = bytes_of(one);
  for (size_t size = 0; size < bytes.size(); ++size)
    CAF_REQUIRE(!decode_credentials(bytes.substr(0, size)));
  CAF_CHECK(!decode_credentials(bytes + 'x'));
  CAF_CHECK(!decode_credentials(std::string(max_credentials_size + 1, 'x')));
  // Whatever a byte is changed to, the result is refused or can be used.
  for (size_t i = 0; i < bytes.size(); ++i) {
    auto changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x41);
    if (auto read = decode_credentials(changed))
      (void)secure_context::make(*read);
  }
  auto two = issue(issuer, 2, "n2");
  std::swap(two.key, const_cast<node_credentials&>(one).key);
  CAF_CHECK(!decode_credentials(bytes_of(two)));
}

CAF_TEST(X45 a node without whole and valid credentials does not start) {
  CAF_CHECK(!secure_context::make(node_credentials{}));
  auto mine = issue(issuer, 1, "n1");
  mine.authority = nullptr;
  CAF_CHECK(!secure_context::make(mine));
  // Of another authority, even if that has the same name.
  mine.authority = std::move(issue(make(), 1, "n1").authority);
  auto refused = secure_context::make(mine);
  CAF_REQUIRE(!refused);
  CAF_CHECK(status_of(refused.error()) == status::invalid_cred);
  for (const auto times :
       {certificate_times{-2h, -1h}, certificate_times{1h, 2h}}) {
    refused = secure_context::make(issue(issuer, 1, "n1", times));
    CAF_REQUIRE(!refused);
    CAF_CHECK(status_of(refused.error()) == status::invalid_cred);
    CAF_MESSAGE(reason_of(refused.error()));
  }
  const auto old = make("dvm-1", {-2h, -1h});
  CAF_CHECK(!secure_context::make(issue(old, 1, "n1")));
}

CAF_TEST(X45 credentials come through a pipe and only so many bytes) {
  const auto bytes = bytes_of(issue(issuer, 1, "n1"));
  for (const auto limit : {bytes.size(), bytes.size() - 1}) {
    int fds[2];
    CAF_REQUIRE_EQUAL(::pipe2(fds, O_CLOEXEC), 0);
    const auto in = unique_fd{fds[0]};
    auto out = unique_fd{fds[1]};
    CAF_REQUIRE_EQUAL(::write(out.get(), bytes.data(), bytes.size()),
                      static_cast<ssize_t>(bytes.size()));
    out.reset();
    const auto read = read_secret(in.get(), limit);
    CAF_CHECK_EQUAL(static_cast<bool>(read), limit == bytes.size());
    if (read)
      CAF_CHECK(read->view() == bytes);
    else
      CAF_CHECK(status_of(read.error()) == status::bad_param);
  }
  CAF_CHECK(!read_secret(-1));
}

CAF_TEST(X45 a secret that moved on leaves nothing) {
  auto x = secret{4};
  x.data()[0] = 'x';
  auto y = std::move(x);
  CAF_CHECK_EQUAL(x.size(), 0U);
  CAF_CHECK_EQUAL(y.view().front(), 'x');
  y.wipe();
  CAF_CHECK_EQUAL(y.size(), 0U);
}

CAF_TEST(X45 an authority that was kept vouches as before) {
  const auto original = make();
  const auto bytes = original.encode();
  CAF_REQUIRE(bytes);
  const auto kept = authority::decode(bytes->view());
  CAF_REQUIRE(kept);
  CAF_CHECK_EQUAL(kept->dvm(), "dvm-1");
  const auto node = issue(*kept, 3, "n3");
  const auto context = secure_context::make(node);
  CAF_REQUIRE(context);
  CAF_CHECK_EQUAL((**context).self().rank, 3u);
  // Both are the same authority.
  CAF_CHECK_EQUAL(
    X509_cmp(node.authority.get(), issue(original, 4, "n4").authority.get()),
    0);
}

CAF_TEST(X45 a kept authority that was cut or renamed is refused) {
  const auto bytes = make().encode();
  CAF_REQUIRE(bytes);
  const auto text = std::string{bytes->view()};
  for (size_t i = 0; i < text.size(); ++i)
    CAF_CHECK(!authority::decode(std::string_view{text}.substr(0, i)));
  CAF_CHECK(!authority::decode(text + "x"));
  auto renamed = text;
  renamed.replace(renamed.find("dvm-1"), 5, "dvm-2");
  CAF_CHECK(!authority::decode(renamed));
}

CAF_TEST_FIXTURE_SCOPE_END()
