#include "adapters/http/http_server.hpp"

#include "messages/status.hpp"

#include <civetweb.h>

#include <exception>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

namespace {

std::string text_of(const char* x) {
  return x != nullptr ? std::string{x} : std::string{};
}

/// Whether this release of civetweb has an option; it starts with no other.
bool is_option(const std::string& name) {
  for (const auto* x = mg_get_valid_options(); x->name != nullptr; ++x)
    if (name == x->name)
      return true;
  return false;
}

/// @returns whether all of it was taken.
bool write_all(mg_connection* to, std::string_view bytes) {
  constexpr auto most_at_once = size_t{64} << 10;
  while (!bytes.empty()) {
    const auto part = bytes.substr(0, most_at_once);
    if (mg_write(to, part.data(), part.size()) != static_cast<int>(part.size()))
      return false;
    bytes.remove_prefix(part.size());
  }
  return true;
}

std::string head_of(const http_answer& x) {
  auto result = "HTTP/1.1 " + std::to_string(x.status) + " "
                + http_reason(x.status) + "\r\n";
  const auto add = [&](std::string_view name, std::string_view content) {
    result.append(name).append(": ").append(content).append("\r\n");
  };
  for (const auto& [name, content] : x.headers)
    add(name, content);
  if (!x.type.empty())
    add("Content-Type", x.type);
  if (!x.more)
    add("Content-Length", std::to_string(x.body.size()));
  add("Connection", "close");
  return result + "\r\n";
}

} // namespace

caf::expected<std::unique_ptr<http_server>>
http_server::start(settings x, handler answers) {
  if (!is_loopback(x.address))
    return make_error(status::bad_param,
                      x.address
                        + " is no loopback address; give 127.0.0.1 or ::1, or "
                          "a certificate by --tls");
  auto result = std::unique_ptr<http_server>{new http_server};
  result->answers_ = std::move(answers);
  const auto is_six = x.address.find(':') != std::string::npos;
  const auto where =
    (is_six ? "[" + x.address + "]" : x.address) + ":" + std::to_string(x.port);
  const auto wanted = std::vector<std::pair<std::string, std::string>>{
    {"listening_ports", where},
    {"num_threads", std::to_string(defaults::http_threads)},
    {"connection_queue", std::to_string(defaults::http_waiting)},
    {"max_request_size", std::to_string(defaults::http_request_bytes)},
    {"request_timeout_ms", std::to_string(defaults::http_patience.count())},
    {"enable_keep_alive", "no"},
    {"tcp_nodelay", "1"}};
  auto options = std::vector<const char*>{};
  for (const auto& [name, content] : wanted)
    if (is_option(name)) {
      options.push_back(name.c_str());
      options.push_back(content.c_str());
    }
  options.push_back(nullptr);
  auto callbacks = mg_callbacks{};
  callbacks.begin_request = on_request;
  callbacks.log_message = on_log;
  mg_init_library(MG_FEATURES_DEFAULT);
  result->context_ = mg_start(&callbacks, result.get(), options.data());
  if (result->context_ == nullptr) {
    const auto guard = std::lock_guard{result->mutex_};
    return make_error(
      status::unreach,
      "cannot listen on " + where
        + (result->trouble_.empty() ? std::string{} : ": " + result->trouble_)
        + "; choose another place by --listen");
  }
  auto ports = mg_server_port{};
  if (mg_get_server_ports(result->context_, 1, &ports) != 1)
    return make_error(status::error, "cannot find out the port of " + where
                                       + "; name one by --listen");
  result->port_ = static_cast<uint16_t>(ports.port);
  return result;
}

http_server::~http_server() {
  is_ending_ = true;
  if (context_ != nullptr)
    mg_stop(context_);
  mg_exit_library();
}

int http_server::on_request(mg_connection* from) {
  auto* self =
    static_cast<http_server*>(mg_get_user_data(mg_get_context(from)));
  try {
    return self->answer(from);
  } catch (const std::exception&) {
    // Memory is short: this connection ends, the others go on.
    mg_disable_connection_keep_alive(from);
    return 500;
  }
}

/// What civetweb has to say, which is little but for the start.
int http_server::on_log(const mg_connection* from, const char* text) {
  auto* self =
    static_cast<http_server*>(mg_get_user_data(mg_get_context(from)));
  if (self != nullptr) {
    const auto guard = std::lock_guard{self->mutex_};
    if (self->trouble_.empty())
      self->trouble_ = text_of(text);
  }
  return 1; // It is not to be written anywhere.
}

int http_server::answer(mg_connection* to) {
  // What may follow, such as a body, is not read.
  mg_disable_connection_keep_alive(to);
  const auto* came = mg_get_request_info(to);
  auto request = http_request{};
  request.method = text_of(came->request_method);
  request.path = text_of(came->local_uri);
  request.query = text_of(came->query_string);
  request.host = text_of(mg_get_header(to, "Host"));
  request.authorization = text_of(mg_get_header(to, "Authorization"));
  const auto answer = answers_(request);
  if (!write_all(to, head_of(answer)) || request.method == "HEAD")
    return answer.status;
  if (!write_all(to, answer.body) || !answer.more)
    return answer.status;
  while (!is_ending_) {
    const auto next = answer.more();
    if (!next || !write_all(to, *next))
      break;
  }
  return answer.status;
}

} // namespace troupe
