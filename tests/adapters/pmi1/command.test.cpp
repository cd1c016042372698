// Lines of PMI-1: what is a command, what is not, and where it ends.

#include "adapters/pmi1/command.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::pmi1;

namespace {

struct fixture {
  command_reader uut;

  command take() {
    auto got = uut.next();
    CAF_REQUIRE(got);
    CAF_REQUIRE(*got);
    return std::move(**got);
  }

  bool is_empty() {
    const auto got = uut.next();
    return got && !*got;
  }

  status refused() {
    const auto got = uut.next();
    return got ? status::success : status_of(got.error());
  }
};

std::string text(const command& x) {
  auto result = x.name;
  for (const auto& [key, val] : x.args)
    result += " " + key + "=" + val;
  return result;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(pmi1_command_tests, fixture)

CAF_TEST(C6.8 a line is a command with arguments) {
  uut.push("cmd=init pmi_version=1 pmi_subversion=1\ncmd=get_maxes\n");
  const auto first = take();
  CAF_CHECK_EQUAL(text(first), "init pmi_subversion=1 pmi_version=1");
  CAF_CHECK(first.number("pmi_version") == 1);
  CAF_CHECK(first.find("nothing") == nullptr);
  CAF_CHECK_EQUAL(text(take()), "get_maxes");
  CAF_CHECK(is_empty());
}

CAF_TEST(C6.8 bytes may come in pieces of any size) {
  const auto bytes = std::string{"cmd=put kvsname=job key=k value=v\n"
                                 "mcmd=spawn\nnprocs=2\nendcmd\n"
                                 "cmd=barrier_in\n"};
  for (size_t size = 1; size < bytes.size(); ++size) {
    auto seen = std::string{};
    for (size_t i = 0; i < bytes.size(); i += size) {
      uut.push(bytes.substr(i, size));
      for (auto got = uut.next(); got && *got; got = uut.next())
        seen += text(**got) + ";";
    }
    CAF_CHECK_EQUAL(seen, "put key=k kvsname=job value=v;spawn nprocs=2;"
                          "barrier_in;");
  }
}

CAF_TEST(C6.8 a value runs to the end of its line) {
  uut.push("cmd=put key=k value=a b=c  d\ncmd=publish_name service=s port=x y\n"
           "cmd=put key=k value=\n");
  CAF_CHECK_EQUAL(*take().find("value"), "a b=c  d");
  CAF_CHECK_EQUAL(*take().find("port"), "x y");
  CAF_CHECK_EQUAL(*take().find("value"), "");
}

CAF_TEST(C6.8 an argument of several lines holds all but an end of line) {
  uut.push("mcmd=spawn\narg1=a b=c\narg2=\nendcmd\n");
  const auto got = take();
  CAF_CHECK_EQUAL(*got.find("arg1"), "a b=c");
  CAF_CHECK_EQUAL(*got.find("arg2"), "");
}

CAF_TEST(C6.8 what is no command is refused) {
  for (const auto* line : {"\n", "nonsense\n", "key=value\n", "cmd=\n",
                           "cmd=put loose\n", "=x\n", "mcmd=spawn\nloose\n"}) {
    uut = {};
    uut.push(line);
    CAF_CHECK(refused() == status::bad_param);
  }
}

CAF_TEST(C6.8 lines and commands have a limit) {
  const auto part = std::string(max_line, 'x');
  uut.push("cmd=");
  uut.push(part);
  CAF_CHECK(refused() == status::bad_param);
  uut = {};
  uut.push("mcmd=spawn\n");
  auto outcome = status::success;
  auto bytes = size_t{0};
  while (outcome == status::success && bytes < 2 * max_command) {
    uut.push("arg1=" + part.substr(0, max_line / 2) + "\n");
    bytes += max_line / 2;
    outcome = refused();
  }
  CAF_CHECK(outcome == status::bad_param);
  CAF_CHECK(bytes <= max_command + max_line);
}

CAF_TEST(C6.8 numbers have 32 bits and nothing after them) {
  uut.push("cmd=x a=12 b=-3 c=1x d= e=99999999999 f=0x10\n");
  const auto got = take();
  CAF_CHECK(got.number("a") == 12);
  CAF_CHECK(got.number("b") == -3);
  for (const auto* key : {"c", "d", "e", "f", "g"})
    CAF_CHECK(!got.number(key));
}

CAF_TEST(C6.8 an answer is a line) {
  CAF_CHECK_EQUAL(format("barrier_out"), "cmd=barrier_out\n");
  CAF_CHECK_EQUAL(format("get_result", {{"rc", "0"}, {"value", "a b"}}),
                  "cmd=get_result rc=0 value=a b\n");
  CAF_CHECK(is_printable("a b"));
  CAF_CHECK(!is_printable("a\nb"));
}

CAF_TEST_FIXTURE_SCOPE_END()
