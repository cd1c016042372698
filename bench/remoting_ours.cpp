// Handles over our mesh, for bench/remoting.
//
//   remoting_ours tls|plain
//
// Two nodes of a DVM on loopback, each a process with the mesh in it. `plain` has
// no certificates: everybody is who it says.

#include "adapters/lane/authority.hpp"
#include "adapters/lane/secure_context.hpp"
#include "messages/status.hpp"
#include "runtime/mesh_member.hpp"
#include "runtime/remoting.hpp"

#define REMOTING_LOAD_FIRST_ID caf::id_block::troupe_actors::end
#include "bench/remoting_load.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <future>
#include <thread>

using namespace troupe;

namespace {

template <class T>
T value_of(caf::expected<T> x) {
  if (!x)
    load::fail(reason_of(x.error()));
  return std::move(*x);
}

/// A port of loopback that nobody uses now.
uint16_t free_port() {
  const auto fd = ::socket(AF_INET, SOCK_STREAM, 0);
  auto where = sockaddr_in{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto size = socklen_t{sizeof(where)};
  auto* address = reinterpret_cast<sockaddr*>(&where);
  if (fd < 0 || ::bind(fd, address, size) != 0
      || ::getsockname(fd, address, &size) != 0)
    load::fail("no port");
  ::close(fd);
  return ntohs(where.sin_port);
}

/// One of the two nodes.
struct node {
  loop_system sys;
  std::unique_ptr<mesh_member> member;
  std::unique_ptr<remoting> remote;

  node(uint32_t rank, uint16_t port,
       std::shared_ptr<const secure_context> context) {
    auto options = mesh_member_options{};
    options.context = std::move(context);
    options.networks = {"lo"};
    options.lanes = {"tcp"}; // As CAF's.
    if (rank == 0) {
      options.names = {"n0", "n1"};
      options.port = port;
    } else {
      options.root_name = "n0";
      options.root_addresses = {{"lo", "127.0.0.1", port}};
    }
    member = value_of(mesh_member::start(sys, std::move(options)));
    auto alone = remoting_options{};
    alone.is_alone = true;
    remote = remoting::start(sys, *member, std::move(alone));
    remote->accept<load::worker_actor, load::counter_actor>();
  }
};

using context_ptr = std::shared_ptr<const secure_context>;

void serve(uint16_t port, const context_ptr& context) {
  node mine{0, port, context};
  mine.remote->publish(mine.sys.actors().spawn(load::worker), "worker");
  mine.sys.run();
}

/// The worker, as soon as both are members.
load::worker_actor find_worker(remoting& remote) {
  for (auto i = 0; i < 1000; ++i) {
    auto found = remote.remote_lookup<load::worker_actor>(0, "worker");
    if (found)
      return *found;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  load::fail("the other node is not there");
}

void measure(uint16_t port, const context_ptr& context) {
  node mine{1, port, context};
  auto progress = std::thread{[&] { mine.sys.run(); }};
  std::promise<load::figures> result;
  {
    auto driver =
      mine.sys.actors().spawn(load::driver, find_worker(*mine.remote),
                              [&](const auto& x) { result.set_value(x); });
    caf::anon_send(driver, load::begin{});
    load::print(result.get_future().get());
    caf::anon_send_exit(driver, caf::exit_reason::user_shutdown);
  }
  mine.sys.stop();
  progress.join();
}

context_ptr context_of(const authority& issuer, uint32_t rank, bool is_secure) {
  const auto name = "n" + std::to_string(rank);
  if (!is_secure)
    return value_of(secure_context::make_insecure({issuer.dvm(), rank, name}));
  return value_of(secure_context::make(value_of(issuer.issue(rank, name))));
}

} // namespace

int main(int argc, char** argv) {
  const auto kind = std::string{argc == 2 ? argv[1] : ""};
  if (kind != "tls" && kind != "plain")
    load::fail("tls or plain");
  const auto issuer = value_of(authority::make("bench"));
  const auto first = context_of(issuer, 0, kind == "tls");
  const auto second = context_of(issuer, 1, kind == "tls");
  const auto port = free_port();
  load::run_both([&] { serve(port, first); }, [&] { measure(port, second); });
}
