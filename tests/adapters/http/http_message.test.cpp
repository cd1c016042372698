// Fields of queries, and addresses of loopback.

#include "adapters/http/http_message.hpp"

#include "tests/test.hpp"

using namespace troupe;

namespace {

std::string field(const std::string& query, const std::string& name) {
  return query_field(query, name).value_or("none");
}

} // namespace

CAF_TEST(PAGE-5 fields of a query are read with their escapes) {
  CAF_CHECK_EQUAL(field("job=d%40host%3A1&rank=3", "job"), "d@host:1");
  CAF_CHECK_EQUAL(field("job=d%40host%3A1&rank=3", "rank"), "3");
  CAF_CHECK_EQUAL(field("a=x+y", "a"), "x y");
  CAF_CHECK_EQUAL(field("a=", "a"), "");
  CAF_CHECK_EQUAL(field("a=b=c", "a"), "b=c");
}

CAF_TEST(PAGE-5 what is no field is none) {
  CAF_CHECK_EQUAL(field("", "a"), "none");
  CAF_CHECK_EQUAL(field("ab=1&b=2", "a"), "none");
  CAF_CHECK_EQUAL(field("a", "a"), "none");
  CAF_CHECK_EQUAL(field("&&=&", "a"), "none");
  CAF_CHECK_EQUAL(field("a=1&a=2", "a"), "none");
  CAF_CHECK_EQUAL(field("a=%", "a"), "none");
  CAF_CHECK_EQUAL(field("a=%4", "a"), "none");
  CAF_CHECK_EQUAL(field("a=%4g", "a"), "none");
}

CAF_TEST(PAGE-4 loopback is what the kernel keeps to itself) {
  CAF_CHECK(is_loopback("127.0.0.1"));
  CAF_CHECK(is_loopback("127.8.9.10"));
  CAF_CHECK(is_loopback("::1"));
  CAF_CHECK(!is_loopback("128.0.0.1"));
  CAF_CHECK(!is_loopback("0.0.0.0"));
  CAF_CHECK(!is_loopback("::"));
  CAF_CHECK(!is_loopback("::ffff:10.0.0.1"));
  CAF_CHECK(!is_loopback("localhost"));
  CAF_CHECK(!is_loopback("127.0.0.1.example.org"));
  CAF_CHECK(!is_loopback(std::string{"127.0.0.1\0.example.org", 21}));
  CAF_CHECK(!is_loopback(""));
}
