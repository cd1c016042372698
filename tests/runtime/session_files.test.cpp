#include "runtime/session_files.hpp"

#include "messages/status.hpp"
#include "tests/adapters/local/files.hpp"

#include <filesystem>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

struct fixture {
  fixture() {
    settings.system_directory = tmp.path;
    settings.kinds = {rendezvous_kind::system, rendezvous_kind::session};
    settings.own_name = "name";
    uri.server = {"server", 0};
    uri.address = "127.0.0.1";
    uri.port = 4711;
  }

  std::string user_directory() const {
    return tmp / "troupe-" + std::to_string(::geteuid());
  }

  std::string system_file() const {
    return tmp / "pmix.sys." + node_name();
  }

  scratch tmp;
  session_files::settings settings;
  wire::server_uri uri;
};

bool is_calm(const session_files::report& x) {
  return !x.failure && x.warnings.empty();
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(session_files_tests, fixture)

CAF_TEST(DIR-1 what is removed of a server comes back) {
  session_files uut{settings};
  CAF_CHECK(is_calm(uut.open()));
  CAF_CHECK(is_calm(uut.publish(uri)));
  const auto directory = uut.directory();
  const auto text = read_file(directory + "/name");
  CAF_CHECK(is_calm(uut.renew()));
  std::filesystem::remove_all(user_directory());
  std::filesystem::remove(system_file());
  const auto said = uut.renew();
  CAF_CHECK(!said.failure);
  CAF_CHECK_EQUAL(said.warnings.size(), 1u);
  CAF_CHECK_EQUAL(uut.directory(), directory);
  const auto before = wire::parse_rendezvous(text);
  const auto after = wire::parse_rendezvous(read_file(directory + "/name"));
  CAF_REQUIRE(before);
  CAF_REQUIRE(after);
  CAF_CHECK_EQUAL(before->uri.port, after->uri.port);
  CAF_CHECK(exists(directory + "/pmix." + node_name() + ".tool"));
  CAF_CHECK(exists(system_file()));
  CAF_CHECK(is_calm(uut.renew()));
}

CAF_TEST(DIR-1 after its end nothing comes back) {
  session_files uut{settings};
  CAF_CHECK(is_calm(uut.open()));
  CAF_CHECK(is_calm(uut.publish(uri)));
  uut.withdraw();
  CAF_CHECK(!exists(system_file()));
  CAF_CHECK(exists(uut.directory()));
  uut.close();
  CAF_CHECK(!exists(uut.directory()));
  CAF_CHECK(is_calm(uut.renew()));
  CAF_CHECK(!exists(uut.directory()));
  CAF_CHECK_EQUAL(tmp.entries(), 1u); // The user's directory stays.
}

CAF_TEST(DIR-1 what cannot be made anew is told) {
  session_files uut{settings};
  CAF_CHECK(is_calm(uut.open()));
  CAF_CHECK(is_calm(uut.publish(uri)));
  // Made before the file goes: it must not get the number of that.
  const auto other = tmp / "other";
  ::mkdir(other.c_str(), 0700);
  std::filesystem::remove(system_file());
  std::filesystem::rename(other, system_file());
  const auto said = uut.renew();
  CAF_REQUIRE(said.failure);
  CAF_CHECK(reason_of(said.failure).find(system_file()) != std::string::npos);
  ::rmdir(system_file().c_str());
  CAF_CHECK(is_calm(uut.renew()));
  CAF_CHECK(exists(system_file()));
}

CAF_TEST(DIR-3 whose name is taken may go without it) {
  ::mkdir(system_file().c_str(), 0700);
  session_files strict{settings};
  CAF_CHECK(is_calm(strict.open()));
  CAF_CHECK(strict.publish(uri).failure);
  settings.may_lack_files = true;
  session_files uut{settings};
  CAF_CHECK(is_calm(uut.open()));
  const auto said = uut.publish(uri);
  CAF_CHECK(!said.failure);
  CAF_CHECK_EQUAL(said.warnings.size(), 1u);
  CAF_CHECK(is_calm(uut.renew()));
}

CAF_TEST(DIR-4 a base that is missing is told) {
  settings.system_directory = tmp / "missing";
  session_files uut{settings};
  const auto said = uut.open();
  CAF_REQUIRE(said.failure);
  CAF_CHECK(reason_of(said.failure).find(tmp / "missing") != std::string::npos);
  CAF_CHECK(!uut.has_any());
}

CAF_TEST_FIXTURE_SCOPE_END()
