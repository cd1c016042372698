// Against a munged that the test starts for itself.

#include "adapters/local/security_policy.hpp"
#include "tests/adapters/local/files.hpp"
#include "tests/adapters/local/world.hpp"

#include <munge.h>
#include <spawn.h>

#include <csignal>
#include <optional>

extern char** environ;

using namespace troupe;
using namespace troupe::fixtures;

namespace {

/// A munge daemon of our own: its socket, key and files in a scratch directory.
class munge_daemon {
public:
  munge_daemon() {
    ::chmod(tmp.path.c_str(), 0711); // Everybody may reach the socket.
    write_file(tmp / "key", std::string(128, 'k'));
    ::chmod((tmp / "key").c_str(), 0600);
    // It puts itself into the background once its socket listens.
    is_running_ = run("--socket=" + socket()) == 0;
  }

  ~munge_daemon() {
    if (is_running_)
      run("--stop");
  }

  explicit operator bool() const {
    return is_running_;
  }

  std::string socket() const {
    return tmp / "socket";
  }

  /// A credential of the user that runs the test.
  std::string credential() const {
    auto* const ctx = munge_ctx_create();
    munge_ctx_set(ctx, MUNGE_OPT_SOCKET, socket().c_str());
    char* text = nullptr;
    munge_encode(&text, ctx, nullptr, 0);
    munge_ctx_destroy(ctx);
    auto result = std::string{text == nullptr ? "" : text};
    std::free(text);
    return result;
  }

private:
  int run(const std::string& what) {
    const auto args = std::vector<std::string>{"/usr/sbin/munged",
                                               "--force",
                                               "--socket=" + socket(),
                                               "--key-file=" + (tmp / "key"),
                                               "--pid-file=" + (tmp / "pid"),
                                               "--log-file=" + (tmp / "log"),
                                               "--seed-file=" + (tmp / "seed"),
                                               what};
    std::vector<char*> argv;
    for (const auto& x : args)
      argv.push_back(const_cast<char*>(x.c_str()));
    argv.push_back(nullptr);
    pid_t pid = 0;
    if (::posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), environ)
        != 0)
      return -1;
    int state = 0;
    ::waitpid(pid, &state, 0);
    return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
  }

  scratch tmp;
  bool is_running_ = false;
};

} // namespace

CAF_TEST(munge vouches for a credential once) {
  const munge_daemon munged;
  if (!munged) {
    CAF_MESSAGE("there is no munged");
    return;
  }
  const auto text = munged.credential();
  const auto who = decode_munge(munged.socket(), text);
  CAF_REQUIRE(who);
  CAF_CHECK(*who == (credentials{::geteuid(), ::getegid()}));
  const auto replayed = decode_munge(munged.socket(), text);
  CAF_REQUIRE(!replayed);
  CAF_CHECK(status_of(replayed.error()) == status::invalid_cred);
  CAF_CHECK(!decode_munge(munged.socket(), "MUNGE:nonsense:"));
  CAF_CHECK(!decode_munge(munged.socket(), ""));
}

CAF_TEST(a munged that is not there is an error) {
  const auto who = decode_munge("/nonexistent/socket", "MUNGE:x:");
  CAF_REQUIRE(!who);
  CAF_CHECK(status_of(who.error()) == status::unreach);
}

CAF_TEST(X4 F4.7 a server with munge serves those whom munge knows) {
  const munge_daemon munged;
  if (!munged) {
    CAF_MESSAGE("there is no munged");
    return;
  }
  listener_options options;
  options.security.mechanism = security_mechanism::munge;
  options.security.munge_socket = munged.socket();
  world uut{options};
  auto x = greeting();
  x.security = "munge";
  x.credential = munged.credential() + '\0'; // As OpenPMIx sends it.
  peer client{uut.port()};
  client.send(bytes_of(x));
  CAF_CHECK_EQUAL(client.receive(8).size(), 8u);
  CAF_CHECK(uut.on_loop([&] { return uut.play.connects.front().actual; })
            == (credentials{::geteuid(), ::getegid()}));
  // The same credential a second time.
  peer thief{uut.port()};
  thief.send(bytes_of(x));
  CAF_CHECK(thief.is_closed());
  CAF_CHECK(uut.logged("munge: Replayed credential"));
  peer native{uut.port()};
  native.send(bytes_of(greeting()));
  CAF_CHECK(native.is_closed());
}

CAF_TEST(X3 a credential that somebody else made is refused) {
  const munge_daemon munged;
  if (!munged || me() != 0) {
    CAF_MESSAGE("needs root and munged");
    return;
  }
  listener_options options;
  options.security.mechanism = security_mechanism::munge;
  options.security.munge_socket = munged.socket();
  world uut{options};
  auto x = greeting();
  x.security = "munge";
  x.credential = munged.credential(); // Of root.
  const auto bytes = bytes_of(x);
  const auto port = uut.port();
  const auto got = as_user(65534, [&] {
    const auto fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::connect(fd, reinterpret_cast<sockaddr*>(&where), sizeof(where));
    ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    char c;
    return static_cast<int>(::recv(fd, &c, 1, 0));
  });
  CAF_CHECK_EQUAL(got, 0);
  CAF_CHECK(uut.logged("made by user 0 and is 65534"));
}
