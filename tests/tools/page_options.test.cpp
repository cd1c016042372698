// The command line of `troupe page`.

#include "tools/page_options.hpp"

#include "tests/test.hpp"

using namespace troupe;

namespace {

int status_of_line(std::vector<std::string> args) {
  const auto x = parse_page_options(std::move(args));
  const auto* status = std::get_if<int>(&x);
  return status != nullptr ? *status : 0;
}

page_order order_of(std::vector<std::string> args) {
  auto x = parse_page_options(std::move(args));
  CAF_REQUIRE(std::holds_alternative<page_order>(x));
  return std::get<page_order>(x);
}

} // namespace

CAF_TEST(PAGE-4 without options the page is on loopback at a free port) {
  const auto x = order_of({});
  CAF_CHECK_EQUAL(x.address, "127.0.0.1");
  CAF_CHECK_EQUAL(x.port, 0u);
  CAF_CHECK_EQUAL(x.dvm, "");
  CAF_CHECK(x.certificate.empty());
  CAF_CHECK_EQUAL(x.interval.count(), 200);
}

CAF_TEST(PAGE-4 other addresses need TLS) {
  CAF_CHECK_EQUAL(status_of_line({"--listen", "0.0.0.0"}), 2);
  CAF_CHECK_EQUAL(status_of_line({"--listen", "192.0.2.7"}), 2);
  CAF_CHECK_EQUAL(status_of_line({"--listen", "node7"}), 2);
  const auto x = order_of({"--listen", "192.0.2.7", "--tls", "cert.pem"});
  CAF_CHECK_EQUAL(x.address, "192.0.2.7");
  CAF_CHECK_EQUAL(x.certificate, "cert.pem");
  CAF_CHECK_EQUAL(order_of({"--listen", "::1"}).address, "::1");
}

CAF_TEST(PAGE-4 wrong options are refused) {
  CAF_CHECK_EQUAL(status_of_line({"--every", "0.01"}), 2);
  CAF_CHECK_EQUAL(status_of_line({"--every", "61"}), 2);
  CAF_CHECK_EQUAL(status_of_line({"--port", "65536"}), 2);
  CAF_CHECK_EQUAL(status_of_line({"--port", "x"}), 2);
  CAF_CHECK_EQUAL(status_of_line({"--write"}), 2);
  const auto x = order_of({"--dvm", "d", "--port", "8723", "--every", "1.5"});
  CAF_CHECK_EQUAL(x.dvm, "d");
  CAF_CHECK_EQUAL(x.port, 8723u);
  CAF_CHECK_EQUAL(x.interval.count(), 1500);
}

CAF_TEST(MAN-5 the address is JSON if asked for) {
  CAF_CHECK(!order_of({}).json);
  CAF_CHECK(order_of({"--json"}).json);
}
