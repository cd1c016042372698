// What the page answers to whom.

#include "tools/page_service.hpp"

#include "tests/test.hpp"

#include <nlohmann/json.hpp>

using namespace troupe;

namespace {

using nlohmann::json;

const auto key = std::string(32, 'k');

struct fixture {
  fixture() {
    board.update([](page_state& x) { x.take_dvm({{"name", "secret"}}); });
  }

  page_service::settings settings() {
    auto result = page_service::settings{};
    result.key = key;
    result.has_tls = has_tls;
    const auto note = [this](const char* what) {
      return [this, what](const proc_id& x) {
        asked.push_back(what + (" " + to_string(x)));
        return json{{"what", what}};
      };
    };
    result.ask.lines = note("lines");
    result.ask.usage = note("usage");
    result.ask.stack = note("stack");
    return result;
  }

  http_answer answer(const std::string& path, const std::string& query = {},
                     const std::string& with_key = key) {
    auto x = http_request{};
    x.method = method;
    x.path = path;
    x.query = query;
    x.host = host;
    x.authorization = with_key.empty() ? "" : "Bearer " + with_key;
    return page_service{board, settings()}.answer(x);
  }

  int status(const std::string& path, const std::string& query = {},
             const std::string& with_key = key) {
    return answer(path, query, with_key).status;
  }

  page_board board;
  std::vector<std::string> asked;
  std::string method = "GET";
  std::string host = "localhost:8723";
  bool has_tls = false;
};

std::string header(const http_answer& x, const std::string& name) {
  for (const auto& y : x.headers)
    if (y.first == name)
      return y.second;
  return {};
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(page_service_tests, fixture)

CAF_TEST(PAGE-4 whoever has no key sees nothing of the DVM) {
  for (const auto* path : {"/live", "/state", "/lines", "/usage", "/stack"}) {
    CAF_CHECK_EQUAL(status(path, "job=d&rank=0", ""), 401);
    CAF_CHECK_EQUAL(status(path, "job=d&rank=0", key + "k"), 401);
    CAF_CHECK_EQUAL(status(path, "job=d&rank=0", std::string(32, 'x')), 401);
    CAF_CHECK_EQUAL(status(path, "job=d&rank=0&key=" + key, "x"), 401);
  }
  CAF_CHECK(asked.empty());
  CAF_CHECK_EQUAL(header(answer("/state", {}, ""), "WWW-Authenticate"),
                  "Bearer");
  CAF_CHECK_EQUAL(board.watchers(), 0u);
  const auto page = answer("/", {}, "");
  CAF_CHECK_EQUAL(page.status, 200);
  CAF_CHECK_EQUAL(page.body.find("secret"), std::string::npos);
  CAF_CHECK_EQUAL(page.body.find(key), std::string::npos);
}

CAF_TEST(PAGE-4 it only reads) {
  for (const auto* x : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"}) {
    method = x;
    const auto got = answer("/state");
    CAF_CHECK_EQUAL(got.status, 405);
    CAF_CHECK_EQUAL(header(got, "Allow"), "GET, HEAD");
  }
  method = "HEAD";
  CAF_CHECK_EQUAL(status("/state"), 200);
}

CAF_TEST(PAGE-4 a name of somebody else does not lead here) {
  for (const auto* x : {"evil.example", "evil.example:8723", "localhost.evil",
                        "127.0.0.1.evil.example", "", "[::2]:1"}) {
    host = x;
    CAF_CHECK_EQUAL(status("/"), 421);
  }
  for (const auto* x :
       {"localhost", "127.0.0.1:8723", "[::1]:8723", "127.1.2.3"}) {
    host = x;
    CAF_CHECK_EQUAL(status("/"), 200);
  }
  host = "node7.example:8723";
  has_tls = true;
  CAF_CHECK_EQUAL(status("/"), 200);
}

CAF_TEST(PAGE-6 the page runs its own script alone and asks nobody else) {
  const auto first = answer("/");
  const auto second = answer("/");
  const auto policy = header(first, "Content-Security-Policy");
  CAF_CHECK_EQUAL(policy.find("default-src 'none'; script-src 'nonce-"), 0u);
  CAF_CHECK_NOT_EQUAL(policy.find("connect-src 'self'"), std::string::npos);
  CAF_CHECK_EQUAL(policy.find("unsafe"), std::string::npos);
  CAF_CHECK_NOT_EQUAL(policy, header(second, "Content-Security-Policy"));
  CAF_CHECK_EQUAL(first.body.find("@NONCE@"), std::string::npos);
  const auto begin = policy.find("nonce-") + 6;
  const auto nonce = policy.substr(begin, policy.find('\'', begin) - begin);
  CAF_CHECK_EQUAL(nonce.size(), 32u);
  CAF_CHECK_NOT_EQUAL(first.body.find("<script nonce=\"" + nonce + "\">"),
                      std::string::npos);
  // But for the name of SVG, which nobody asks for.
  auto text = first.body;
  const auto svg = std::string{"\"http://www.w3.org/2000/svg\""};
  const auto at = text.find(svg);
  CAF_REQUIRE_NOT_EQUAL(at, std::string::npos);
  text.erase(at, svg.size());
  for (const auto* x : {"http://", "https://", "//cdn", "document.cookie",
                        "localStorage", "innerHTML", "eval("})
    CAF_CHECK_EQUAL(text.find(x), std::string::npos);
  for (const auto& x : {first, answer("/state"), answer("/nothing")}) {
    CAF_CHECK_EQUAL(header(x, "X-Content-Type-Options"), "nosniff");
    CAF_CHECK_EQUAL(header(x, "Cache-Control"), "no-store");
    CAF_CHECK_EQUAL(header(x, "Referrer-Policy"), "no-referrer");
    CAF_CHECK(header(x, "Set-Cookie").empty());
    CAF_CHECK(header(x, "Access-Control-Allow-Origin").empty());
    CAF_CHECK(!header(x, "Content-Security-Policy").empty());
  }
}

CAF_TEST(PAGE-1 all of it is told at once) {
  const auto got = answer("/state");
  CAF_CHECK_EQUAL(got.type, "application/json; charset=utf-8");
  CAF_CHECK_EQUAL(json::parse(got.body).at("dvm").at("dvm").dump(),
                  "{\"name\":\"secret\"}");
}

CAF_TEST(PAGE-8 a process is asked for by job and rank) {
  CAF_CHECK_EQUAL(answer("/lines", "job=d%401&rank=3").body,
                  "{\"what\":\"lines\"}\n");
  CAF_CHECK_EQUAL(status("/usage", "rank=0&job=d"), 200);
  CAF_CHECK_EQUAL(status("/stack", "job=d&rank=4294967289"), 200);
  CAF_CHECK_EQUAL(asked.size(), 3u);
  CAF_CHECK_EQUAL(asked.front(), "lines d@1:3");
}

CAF_TEST(PAGE-5 what names no process and no part of the page is refused) {
  for (const auto* x :
       {"", "job=d", "rank=1", "job=&rank=1", "job=d&rank=", "job=d&rank=-1",
        "job=d&rank=x", "job=d&rank=4294967294", "job=d&job=e&rank=1",
        "job=%zz&rank=1"})
    CAF_CHECK_EQUAL(status("/lines", x), 400);
  CAF_CHECK_EQUAL(status("/lines", "job=" + std::string(256, 'x') + "&rank=1"),
                  400);
  for (const auto* x : {"/etc/passwd", "/../etc/passwd", "//", "/state/", "",
                        "/index.html", "/State"})
    CAF_CHECK_EQUAL(status(x), 404);
  CAF_CHECK(asked.empty());
}

CAF_TEST(PAGE-5 so many browsers watch and no more) {
  auto all = std::vector<http_answer>{};
  for (size_t i = 0; i < defaults::page_watchers; ++i)
    all.push_back(answer("/live"));
  CAF_CHECK_EQUAL(all.back().type, "text/event-stream; charset=utf-8");
  CAF_CHECK_EQUAL(board.watchers(), defaults::page_watchers);
  CAF_CHECK_EQUAL(status("/live"), 503);
  all.pop_back();
  CAF_CHECK_EQUAL(status("/live"), 200);
  const auto next = all.front().more();
  CAF_REQUIRE(next.has_value());
  CAF_CHECK_EQUAL(next->find("event: whole\ndata: {\"dvm\":"), 0u);
  board.close();
  CAF_CHECK(!all.front().more().has_value());
  CAF_CHECK_EQUAL(status("/live"), 503);
}

CAF_TEST_FIXTURE_SCOPE_END()
