// A node that only opens lanes, for tests in network namespaces:
//
//   lane_node --make FOLDER COUNT     credentials of nodes n1, n2 ... of a DVM
//   lane_node CREDENTIALS [INTERFACE,...]
//
// It prints what it hears, a line each, with the monotonic time in
// milliseconds, and takes commands: `reach RANK NETWORK ADDRESS PORT ...`,
// `release RANK`, `quit`.

#include "adapters/lane/authority.hpp"
#include "adapters/lane/secure_context.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/fd_watch.hpp"
#include "adapters/loop/loop_system.hpp"
#include "adapters/networks/frame_codec.hpp"
#include "adapters/networks/networks.hpp"
#include "messages/mesh_payload.hpp"
#include "messages/status.hpp"

#include <caf/all.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

using namespace troupe;

namespace {

void say(const std::string& text) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  std::printf("%.3f %s\n",
              std::chrono::duration<double, std::milli>(now).count(),
              text.c_str());
  std::fflush(stdout);
}

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "lane_node: %s\n", why.c_str());
  std::exit(1);
}

template <class T>
T value_of(caf::expected<T> x) {
  if (!x)
    fail(reason_of(x.error()));
  return std::move(*x);
}

void make(const std::string& folder, uint32_t count) {
  const auto issuer = value_of(authority::make("lane-test"));
  for (uint32_t i = 1; i <= count; ++i) {
    const auto name = "n" + std::to_string(i);
    const auto mine = value_of(issuer.issue(i, name));
    const auto bytes = value_of(encode_credentials(mine));
    std::ofstream{folder + '/' + name} << bytes.view();
  }
}

struct node {
  loop_system sys;
  networks_actor networks;
  lane_user_actor user;
  std::string input;
};

lane_user_actor::behavior_type use(lane_user_actor::pointer) {
  return {[](const lane_frame_arrived& x) {
            const auto* data = std::get_if<data_frame>(&x.frame);
            say("frame " + std::to_string(x.lane) + ' '
                + std::to_string(data != nullptr ? data->payload.size : 0));
          },
          [](const lane_closed& x) {
            say("closed " + std::to_string(x.lane) + ' ' + x.reason);
          }};
}

lane_owner_actor::behavior_type own(lane_owner_actor::pointer, node* parent) {
  return {[parent](const lane_opened& x) {
            say("opened " + std::to_string(x.lane) + ' '
                + std::to_string(x.rank) + ' ' + x.network + ' ' + x.local + ' '
                + x.remote + (x.is_dialled ? " dialled" : " taken"));
            caf::anon_send(parent->networks, x.lane, parent->user);
            data_frame frame;
            frame.payload =
              make_payload(std::make_shared<const std::string>(100, 'x'));
            caf::anon_send(parent->networks,
                           put_lane_frame{x.lane, lane_frame{frame}});
          },
          [](const lane_closed& x) {
            say("closed " + std::to_string(x.lane) + ' ' + x.reason);
          },
          [](const lane_failed& x) {
            say("failed " + std::to_string(x.rank) + ' ' + x.address + ' '
                + x.reason);
          },
          [](const networks_changed& x) {
            std::string line = "networks";
            for (const auto& y : x.addresses)
              line += ' ' + y.network + ' ' + y.address + ' '
                      + std::to_string(y.port);
            say(line);
          }};
}

void obey(node& self, const std::string& line) {
  std::istringstream in{line};
  std::string command;
  in >> command;
  if (command == "quit") {
    self.sys.stop();
  } else if (command == "reach") {
    reach_node x;
    in >> x.rank;
    x.name = "n" + std::to_string(x.rank);
    node_address y;
    while (in >> y.network >> y.address >> y.port)
      x.addresses.push_back(y);
    caf::anon_send(self.networks, std::move(x));
  } else if (command == "release") {
    release_node x;
    in >> x.rank;
    caf::anon_send(self.networks, x);
  } else {
    fail("no command: " + line);
  }
}

void read_commands(node& self) {
  char chunk[4096];
  const auto got = ::read(STDIN_FILENO, chunk, sizeof(chunk));
  if (got <= 0) {
    self.sys.stop();
    return;
  }
  self.input.append(chunk, static_cast<size_t>(got));
  for (auto end = self.input.find('\n'); end != std::string::npos;
       end = self.input.find('\n')) {
    obey(self, self.input.substr(0, end));
    self.input.erase(0, end + 1);
  }
}

void run(const std::string& file, const std::string& interfaces) {
  const auto fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const auto bytes = value_of(read_secret(fd));
  ::close(fd);
  const auto mine = value_of(decode_credentials(bytes.view()));
  const auto context = value_of(secure_context::make(mine));
  node self;
  self.user = self.sys.actors().spawn(use);
  networks_options options;
  options.owner = self.sys.actors().spawn(own, &self);
  std::istringstream names{interfaces};
  for (std::string x; std::getline(names, x, ',');)
    options.interfaces.include.push_back(x);
  options.random = [] { return static_cast<uint64_t>(std::rand()); };
  options.log = [](severity, const std::string& x) { say("log " + x); };
  self.networks =
    self.sys.actors().spawn(networks, &self.sys.loop(), context, options);
  {
    fd_watch input{self.sys.loop(), STDIN_FILENO, [&] { read_commands(self); }};
    input.enable_read();
    self.sys.run();
  }
  caf::anon_send_exit(self.networks, caf::exit_reason::user_shutdown);
  self.networks = nullptr;
  self.user = nullptr;
}

} // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string{argv[1]} == "--make")
    make(argv[2], static_cast<uint32_t>(std::atoi(argv[3])));
  else if (argc == 2 || argc == 3)
    run(argv[1], argc == 3 ? argv[2] : "");
  else
    fail("usage: lane_node --make FOLDER COUNT | CREDENTIALS [INTERFACE,...]");
}
