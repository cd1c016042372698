// The page of a DVM: a process of its own, so that neither the DVM's root nor its
// daemons speak HTTP. `troupe page` starts it.

#include "adapters/http/http_server.hpp"
#include "adapters/http/tls_front.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/read_write.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "adapters/process/descriptors.hpp"
#include "adapters/sockets/system_error.hpp"
#include "messages/status.hpp"
#include "tools/command_line.hpp"
#include "tools/guarded_main.hpp"
#include "tools/page_board.hpp"
#include "tools/page_feed.hpp"
#include "tools/page_options.hpp"
#include "tools/page_service.hpp"
#include "tools/printing.hpp"
#include "tools/signals.hpp"

#include <caf/expected.hpp>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace troupe {

namespace {

/// Bytes of a key that is made, and letters of one that is given.
constexpr size_t key_bytes = 16;
constexpr size_t shortest_key = 32;
constexpr size_t longest_key = 256;

int fail(const std::string& why) {
  std::cerr << notice("troupe page", why);
  return 1;
}

/// The key in a file.
/// @returns what is wrong with it, and the remedy.
caf::expected<std::string> read_key(const std::string& path) {
  const auto fd =
    unique_fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat found {};
  if (!fd || ::fstat(fd.get(), &found) != 0)
    return system_error("cannot read " + path);
  constexpr auto others = S_IRWXG | S_IRWXO;
  if (!S_ISREG(found.st_mode) || found.st_uid != ::geteuid()
      || (found.st_mode & others) != 0)
    return make_error(status::no_permissions,
                      path + " is no file for this user alone: chmod 600 "
                        + path);
  auto result = read_up_to(fd.get(), longest_key + 1);
  if (!result)
    return system_error("cannot read " + path);
  while (!result->empty() && (result->back() == '\n' || result->back() == '\r'))
    result->pop_back();
  const auto is_fine = [](unsigned char x) { return std::isalnum(x) != 0; };
  if (result->size() < shortest_key || result->size() > longest_key
      || !std::all_of(result->begin(), result->end(), is_fine))
    return make_error(status::bad_param,
                      path
                        + " holds no key of 32 to 256 letters and digits; "
                          "make one by openssl rand -hex 16 >"
                        + path);
  return std::move(*result);
}

int serve(const page_order& order) {
  auto key = order.key_file.empty()
               ? caf::expected<std::string>{random_digits(key_bytes)}
               : read_key(order.key_file);
  if (!key)
    return fail(reason_of(key.error()));
  if (key->empty())
    return fail("the system gives no random numbers for a key; name a file "
                "with one by --key");
  page_board board;
  auto exit_status = 0;
  auto* loop = static_cast<loop_system*>(nullptr);
  auto source = page_feed::settings{};
  source.dvm = order.dvm;
  source.interval = order.interval;
  source.on_lost = [&] {
    exit_status = fail("the DVM has ended, or the connection to it is lost; "
                       "see troupe nodes on its node");
    if (loop != nullptr)
      loop->stop();
  };
  auto feed = page_feed::open(std::move(source), board);
  if (!feed)
    return fail(reason_of(feed.error()));
  loop = &(**feed).loop();
  auto how = page_service::settings{};
  how.key = *key;
  how.has_tls = !order.certificate.empty();
  how.ask = (**feed).questions();
  const auto service = page_service{board, std::move(how)};
  auto inner = http_server::settings{};
  if (order.certificate.empty()) {
    inner.address = order.address;
    inner.port = order.port;
  }
  auto server = http_server::start(
    inner, [&](const http_request& x) { return service.answer(x); });
  if (!server)
    return fail(reason_of(server.error()));
  auto front = std::unique_ptr<tls_front>{};
  if (!order.certificate.empty()) {
    auto started = tls_front::start(
      {order.address, order.port, order.certificate, (**server).port()});
    if (!started)
      return fail(reason_of(started.error()));
    front = std::move(*started);
  }
  on_interrupt(loop->loop(), [&](int) { loop->stop(); });
  (**feed).start();
  const auto is_six = order.address.find(':') != std::string::npos;
  const auto address =
    (front ? "https://" : "http://")
    + (is_six ? "[" + order.address + "]" : order.address) + ":"
    + std::to_string(front ? front->port() : (**server).port()) + "/#" + *key;
  std::cout << (order.json ? json_line({{"type", "ready"},
                                        {"address", address},
                                        {"pid", ::getpid()}})
                           : address + "\n")
            << std::flush;
  // Nobody can come: guarded_main tells why.
  if (!std::cout)
    return 0;
  loop->run();
  // The loop goes on until whoever is in a question has had an answer.
  board.close();
  auto rest = std::thread{[&] { loop->run(); }};
  front.reset();
  server->reset();
  loop->stop();
  rest.join();
  return exit_status;
}

int run(std::vector<std::string> args) {
  auto order = parse_page_options(std::move(args));
  if (const auto* status = std::get_if<int>(&order))
    return *status;
  return serve(std::get<page_order>(order));
}

} // namespace

} // namespace troupe

int main(int argc, char** argv) {
  return troupe::guarded_main("troupe page", [&] {
    // Browsers go when they like.
    troupe::ignore_broken_pipes();
    // It starts no programs.
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return troupe::run({argv + std::min(argc, 1), argv + argc});
  });
}
