#include "adapters/sockets/local_socket.hpp"

#include "adapters/sockets/socket_kind.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

#include <sys/socket.h>

using namespace troupe;

namespace {

std::string new_name() {
  auto result = make_local_name();
  CAF_REQUIRE(result);
  return *result;
}

} // namespace

CAF_TEST(O16 a name says where it can be reached) {
  const auto x = new_name();
  auto y = new_name();
  CAF_CHECK(x != y);
  CAF_CHECK(is_in_place_of(x, y));
  // The first digit of the place.
  auto& digit = y.at(std::string{"@troupe-lane."}.size());
  digit = digit == '0' ? '1' : '0';
  CAF_CHECK(!is_in_place_of(x, y));
}

CAF_TEST(X44 what is no name is neither listened on nor connected to) {
  const auto good = new_name();
  auto upper = good;
  upper.back() = 'A';
  for (const auto& x :
       {std::string{}, std::string{"@"}, std::string{"/tmp/socket"},
        good.substr(1), good + "0", good.substr(0, good.size() - 1), upper,
        good + ":1", std::string(200, '@')}) {
    CAF_CHECK(!is_in_place_of(good, x));
    const auto door = listen_on_name(x, 1);
    CAF_CHECK(!door && status_of(door.error()) == status::bad_param);
    const auto way = connect_to_name(good, x);
    CAF_CHECK(!way && status_of(way.error()) == status::bad_param);
    const auto back = connect_to_name(x, good);
    CAF_CHECK(!back && status_of(back.error()) == status::bad_param);
  }
}

CAF_TEST(O5 both ends of a local socket have names and a user) {
  const auto here = new_name();
  const auto there = new_name();
  CAF_CHECK(!connect_to_name(here, there)); // Nobody listens yet.
  const auto door = listen_on_name(there, 4);
  CAF_REQUIRE(door);
  CAF_CHECK(!listen_on_name(there, 4)); // It is taken.
  const auto one = connect_to_name(here, there);
  const auto two = connect_to_name(here, there);
  CAF_REQUIRE(one && two);
  const auto first = accept_from(door->get());
  const auto second = accept_from(door->get());
  CAF_REQUIRE(first && second);
  CAF_CHECK_EQUAL(local_name(one->get()).address, here);
  CAF_CHECK_EQUAL(remote_name(one->get()).address, there);
  CAF_CHECK_EQUAL(local_name(first.get()).address, there);
  CAF_CHECK_EQUAL(remote_name(first.get()).address, here);
  // The ports tell the two apart.
  CAF_CHECK(remote_name(first.get()).port != remote_name(second.get()).port);
  for (const auto fd : {one->get(), first.get()}) {
    const auto& kind = socket_kind_of(fd);
    CAF_CHECK(&kind == &socket_kind_of(here));
    CAF_CHECK(&kind != &socket_kind_of(std::string{"127.0.0.1"}));
    CAF_CHECK(!kind.prepare(fd));
    CAF_CHECK(kind.stays_here(fd));
  }
}

CAF_TEST(X36 who has no name of ours is shown without one) {
  int ends[2];
  CAF_REQUIRE_EQUAL(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends),
                    0);
  const auto one = unique_fd{ends[0]};
  const auto two = unique_fd{ends[1]};
  CAF_CHECK_EQUAL(remote_name(one.get()).address, "");
  CAF_CHECK_EQUAL(local_name(two.get()).address, "");
}
