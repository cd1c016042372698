// A spawn request from the commands of its programs.

#include "adapters/pmi1/command.hpp"
#include "messages/attributes.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::pmi1;

namespace {

struct fixture {
  spawn_builder uut;

  caf::expected<std::optional<spawn_request>>
  add(std::map<std::string, std::string, std::less<>> args) {
    return uut.add(command{"spawn", std::move(args)});
  }

  bool is_refused(std::map<std::string, std::string, std::less<>> args) {
    const auto got = add(std::move(args));
    return !got && status_of(got.error()) == status::bad_param;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(pmi1_spawn_tests, fixture)

CAF_TEST(C6.8 one program with arguments hints and preset data) {
  const auto got = add({{"nprocs", "3"},
                        {"execname", "./child"},
                        {"totspawns", "1"},
                        {"spawnssofar", "1"},
                        {"argcnt", "2"},
                        {"arg1", "-x"},
                        {"arg2", "a b"},
                        {"preput_num", "1"},
                        {"preput_key_0", "PARENT_ROOT_PORT_NAME"},
                        {"preput_val_0", "tag#0$"},
                        {"info_num", "2"},
                        {"info_key_0", "wdir"},
                        {"info_val_0", "/tmp"},
                        {"info_key_1", "unheard"},
                        {"info_val_1", "of"}});
  CAF_REQUIRE(got);
  CAF_REQUIRE(*got);
  const auto& request = **got;
  CAF_REQUIRE_EQUAL(request.apps.size(), 1u);
  const auto& program = request.apps[0];
  CAF_CHECK_EQUAL(program.cmd, "./child");
  CAF_CHECK(program.argv == (std::vector<std::string>{"./child", "-x", "a b"}));
  CAF_CHECK_EQUAL(program.max_procs, 3);
  CAF_CHECK(program.cwd == std::string{"/tmp"});
  const auto* preset = find(request.job_infos, preset_data);
  CAF_REQUIRE(preset != nullptr);
  CAF_CHECK(troupe::text(infos_of(*preset), "PARENT_ROOT_PORT_NAME")
            == std::string{"tag#0$"});
}

CAF_TEST(C6.8 several programs come one after another) {
  const auto part = [](const char* name, const char* number) {
    return std::map<std::string, std::string, std::less<>>{
      {"nprocs", "1"},
      {"execname", name},
      {"totspawns", "2"},
      {"spawnssofar", number}};
  };
  const auto first = add(part("a", "1"));
  CAF_REQUIRE(first);
  CAF_CHECK(!*first);
  const auto second = add(part("b", "2"));
  CAF_REQUIRE(second);
  CAF_REQUIRE(*second);
  CAF_CHECK_EQUAL((**second).apps.size(), 2u);
  CAF_CHECK(is_refused(part("b", "2"))); // Nothing is open any more.
}

CAF_TEST(C6.8 what makes no sense is refused) {
  using args = std::map<std::string, std::string, std::less<>>;
  const auto good = args{{"nprocs", "1"}, {"execname", "a"}};
  CAF_CHECK(add(good));
  const auto bad = std::vector<std::pair<const char*, const char*>>{
    {"nprocs", "0"},          {"nprocs", "-1"},     {"nprocs", "65536"},
    {"nprocs", "x"},          {"execname", ""},     {"argcnt", "1"},
    {"argcnt", "2147483647"}, {"argcnt", "-1"},     {"preput_num", "1"},
    {"preput_num", "-5"},     {"info_num", "9999"}, {"totspawns", "0"},
    {"totspawns", "99999"},   {"spawnssofar", "2"}};
  for (const auto& [key, val] : bad) {
    auto x = good;
    x[key] = val;
    CAF_CHECK(is_refused(x));
  }
  CAF_CHECK(is_refused({}));
}

CAF_TEST(MND-X52 a preset key is as long as a key may be) {
  auto x =
    std::map<std::string, std::string, std::less<>>{{"nprocs", "1"},
                                                    {"execname", "a"},
                                                    {"preput_num", "1"},
                                                    {"preput_val_0", "v"}};
  for (const auto& [size, is_fine] : {std::pair{size_t{1}, true},
                                      {max_key_length, true},
                                      {size_t{0}, false},
                                      {max_key_length + 1, false}}) {
    x["preput_key_0"] = std::string(size, 'k');
    CAF_CHECK_EQUAL(is_refused(x), !is_fine);
  }
}

CAF_TEST_FIXTURE_SCOPE_END()
