#include "tools/page_service.hpp"

#include "adapters/wire/number_range.hpp"
#include "tools/page_text.hpp"

#include <sys/random.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace troupe {

namespace {

using nlohmann::json;

constexpr auto json_type = "application/json; charset=utf-8";

/// Bytes of a number that is used once.
constexpr size_t nonce_bytes = 16;

/// Takes as long whatever differs.
bool are_same(std::string_view x, std::string_view y) {
  if (x.size() != y.size())
    return false;
  auto different = 0U;
  for (size_t i = 0; i < x.size(); ++i)
    different |=
      static_cast<unsigned char>(x[i]) ^ static_cast<unsigned char>(y[i]);
  return different == 0;
}

http_answer refuse(int status, const std::string& why) {
  auto result = http_answer{};
  result.status = status;
  result.type = json_type;
  result.body = json_text({{"error", why}}) + "\n";
  return result;
}

http_answer tell(const std::string& text) {
  auto result = http_answer{};
  result.type = json_type;
  result.body = text + "\n";
  return result;
}

/// The page, whose script and style alone may run, once.
http_answer page() {
  const auto nonce = random_digits(nonce_bytes);
  if (nonce.empty())
    return refuse(
      503,
      "the system gives no random numbers; see whether it allows getrandom");
  constexpr auto mark = std::string_view{"@NONCE@"};
  auto result = http_answer{};
  result.type = "text/html; charset=utf-8";
  result.body = page_text;
  for (auto i = result.body.find(mark); i != std::string::npos;
       i = result.body.find(mark, i))
    result.body.replace(i, mark.size(), nonce);
  result.headers.emplace_back(
    "Content-Security-Policy",
    "default-src 'none'; script-src 'nonce-" + nonce + "'; style-src 'nonce-"
      + nonce
      + "'; connect-src 'self'; img-src data:; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'");
  return result;
}

} // namespace

std::string random_digits(size_t bytes) {
  auto room = std::vector<unsigned char>(bytes);
  if (::getrandom(room.data(), room.size(), 0)
      != static_cast<ssize_t>(room.size()))
    return {};
  constexpr auto digits = std::string_view{"0123456789abcdef"};
  auto result = std::string{};
  for (const auto x : room) {
    result += digits[x >> 4];
    result += digits[x & 15];
  }
  return result;
}

bool names_loopback(std::string_view host) {
  if (!host.empty() && host.front() == '[')
    return host.substr(0, host.find(']') + 1) == "[::1]";
  const auto name = host.substr(0, host.find(':'));
  if (name == "localhost")
    return true;
  constexpr auto block = std::string_view{"127."};
  return name.substr(0, block.size()) == block
         && name.find_first_not_of("0123456789.") == std::string_view::npos;
}

page_service::page_service(page_board& board, settings x)
  : board_(board), settings_(std::move(x)) {
  // nop
}

http_answer page_service::answer(const http_request& x) const {
  auto result = find_answer(x);
  const auto add = [&](const char* name, const char* content) {
    result.headers.emplace_back(name, content);
  };
  if (result.type == json_type || result.more)
    add("Content-Security-Policy",
        "default-src 'none'; frame-ancestors 'none'");
  add("Cache-Control", "no-store");
  add("Cross-Origin-Opener-Policy", "same-origin");
  add("Cross-Origin-Resource-Policy", "same-origin");
  add("Referrer-Policy", "no-referrer");
  add("X-Content-Type-Options", "nosniff");
  add("X-Frame-Options", "DENY");
  return result;
}

http_answer page_service::find_answer(const http_request& x) const {
  if (x.method != "GET" && x.method != "HEAD") {
    auto result = refuse(405, "this page only reads; ask by GET or HEAD");
    result.headers.emplace_back("Allow", "GET, HEAD");
    return result;
  }
  if (!settings_.has_tls && !names_loopback(x.host))
    return refuse(421, "this page is at localhost or 127.0.0.1; open the "
                       "address that troupe page has printed");
  if (x.path == "/")
    return page();
  constexpr auto scheme = std::string_view{"Bearer "};
  const auto given = std::string_view{x.authorization};
  if (given.substr(0, scheme.size()) != scheme
      || !are_same(given.substr(scheme.size()), settings_.key)) {
    auto result = refuse(401, "the key of the page is missing or wrong; open "
                              "the address that troupe page has printed");
    result.headers.emplace_back("WWW-Authenticate", "Bearer");
    return result;
  }
  if (x.path == "/live")
    return live();
  if (x.path == "/state")
    return tell(board_.whole());
  if (x.path == "/lines")
    return of_process(x, settings_.ask.lines);
  if (x.path == "/usage")
    return of_process(x, settings_.ask.usage);
  if (x.path == "/stack")
    return of_process(x, settings_.ask.stack);
  return refuse(
    404,
    "there is nothing here; open the address that troupe page has printed");
}

http_answer page_service::live() const {
  auto watcher = std::shared_ptr<page_board::watcher>{board_.watch()};
  if (!watcher)
    return refuse(503, std::to_string(defaults::page_watchers)
                         + " browsers watch already; close one");
  auto result = http_answer{};
  result.type = "text/event-stream; charset=utf-8";
  result.more = [watcher = std::move(watcher)] {
    return watcher->next(defaults::page_pulse);
  };
  return result;
}

http_answer
page_service::of_process(const http_request& x,
                         const std::function<json(const proc_id&)>& ask) const {
  const auto job = query_field(x.query, "job");
  const auto rank = query_field(x.query, "rank");
  if (!job || job->empty() || job->size() > max_nspace_length || !rank)
    return refuse(400, "write ?job=NAMESPACE&rank=N");
  const auto number = wire::parse_number(*rank);
  if (!number || *number > rank_valid_max)
    return refuse(400, "the rank is no rank; write ?job=NAMESPACE&rank=N");
  return tell(json_text(ask({*job, static_cast<uint32_t>(*number)})));
}

} // namespace troupe
