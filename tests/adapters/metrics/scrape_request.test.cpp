// Heads of HTTP requests: what is understood of them, and what is refused.

#include "adapters/metrics/scrape_request.hpp"

#include "tests/test.hpp"

using namespace troupe;

namespace {

std::optional<scrape_request> parse(const std::string& line,
                                    const std::string& fields = {}) {
  return parse_scrape_request(line + "\r\n" + fields + "\r\n");
}

} // namespace

CAF_TEST(a request has a method and a path and a query) {
  const auto x = parse("GET /metrics?name[]=up HTTP/1.1", "Host: n1\r\n");
  CAF_REQUIRE(x);
  CAF_CHECK_EQUAL(x->method, "GET");
  CAF_CHECK_EQUAL(x->path, "/metrics");
  CAF_CHECK_EQUAL(x->query, "name[]=up");
  CAF_CHECK_EQUAL(x->accept, "");
  const auto y = parse("HEAD / HTTP/1.0");
  CAF_REQUIRE(y);
  CAF_CHECK_EQUAL(y->method, "HEAD");
  CAF_CHECK_EQUAL(y->path, "/");
  CAF_CHECK_EQUAL(y->query, "");
}

CAF_TEST(fields are found by their names however these are written) {
  const auto x = parse("GET / HTTP/1.1", "ACCEPT:  text/plain \r\n"
                                         "Host: n1:9466\r\n"
                                         "accept: application/json;q=0.5\r\n"
                                         "Content-Length: 0\r\n");
  CAF_REQUIRE(x);
  CAF_CHECK_EQUAL(x->accept, "text/plain,application/json;q=0.5");
}

CAF_TEST(what is no request is refused) {
  const char* const lines[] = {
    "",
    "GET",
    "GET /",
    "GET / HTTP/2.0",
    "GET / HTTP/1.1 ",
    "GET / HTTP/1.11",
    "GET  / HTTP/1.1",
    " GET / HTTP/1.1",
    "G\tT / HTTP/1.1",
    "GET metrics HTTP/1.1",
    "GET http://n1/metrics HTTP/1.1",
    "GET /\x01 HTTP/1.1",
    "GET /\x80 HTTP/1.1",
    "\x16\x03\x01",
  };
  for (const auto* line : lines) {
    CAF_MESSAGE(line);
    CAF_CHECK(!parse(line));
  }
  const char* const fields[] = {
    "Host\r\n",
    ": n1\r\n",
    "Ho st: n1\r\n",
    "Host : n1\r\n",
    "Host: n1\r\n folded: line\r\n",
    "Content-Length: 1\r\n",
    "Content-Length: 00\r\n",
    "transfer-encoding: chunked\r\n",
    "Host: n1\r\n\r\nGET / HTTP/1.1\r\n",
  };
  for (const auto* field : fields) {
    CAF_MESSAGE(field);
    CAF_CHECK(!parse("GET / HTTP/1.1", field));
  }
}

CAF_TEST(what a field cannot hold is refused) {
  CAF_CHECK(!parse("GET / HTTP/1.1", "Accept: text/plain\rX: y\r\n"));
  CAF_CHECK(!parse("GET / HTTP/1.1", "Accept: text/plain\nX: y\r\n"));
  CAF_CHECK(!parse("GET / HTTP/1.1", std::string{"Host: n\0001\r\n", 11}));
}

CAF_TEST(every cut of a head is incomplete and no request) {
  const auto head =
    std::string{"GET /metrics HTTP/1.1\r\nHost: n1\r\nAccept: */*\r\n\r\n"};
  for (size_t n = 0; n < head.size(); ++n) {
    CAF_CHECK(!end_of_head(head.substr(0, n)));
    CAF_CHECK(!parse_scrape_request(head.substr(0, n)));
  }
  // In whatever pieces it comes.
  for (size_t n = 0; n < head.size(); ++n)
    CAF_CHECK_EQUAL(end_of_head(head + "more", n).value_or(0), head.size());
  CAF_CHECK(parse_scrape_request(head));
}
