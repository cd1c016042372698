// Help of commands, taken apart.

#include "tools/help_page.hpp"

#include "tests/test.hpp"

using namespace troupe;

namespace {

using words = std::vector<std::string>;

constexpr auto one_command = R"(Sends a signal to exactly these processes.
Usage: troupe ctl signal [OPTIONS] SIGNAL TARGET...

Positionals:
  SIGNAL TEXT REQUIRED        Its name or number
  TARGET TEXT ... REQUIRED    NAMESPACE

Options:
  -h,--help                   Print this help message and exit
  --leave-session-attached    Daemons stay children of the remote shell
  --no-shared-memory{false}   Have what processes post go by their connections
  --security TEXT:{native,munge}
                              native (default) or munge
  --radix UINT:UINT in [1 - 1024]
                              Children per daemon
  -n,-c,--np INT              Number of processes
)";

constexpr auto several_commands = R"(Usage: troupe ctl COMMAND [options]

Commands:
  kill TARGET...            end processes at once
  status [ID]               show your requests: what they do
                            and what came of them

TARGET is NAMESPACE.
  not a command
)";

} // namespace

CAF_TEST(MAN-2 names of options with and without a value) {
  const auto page = read_help(one_command);
  CAF_REQUIRE_EQUAL(page.options.size(), 6u);
  CAF_CHECK(page.options[0].names == (words{"-h", "--help"}));
  CAF_CHECK(!page.options[0].takes_value);
  const auto* longest = find_option(page, "--leave-session-attached");
  CAF_REQUIRE(longest != nullptr);
  CAF_CHECK(!longest->takes_value);
  const auto* negated = find_option(page, "--no-shared-memory");
  CAF_REQUIRE(negated != nullptr);
  CAF_CHECK(!negated->takes_value);
  CAF_CHECK(page.options[5].names == (words{"-n", "-c", "--np"}));
  CAF_CHECK(page.options[5].takes_value);
  CAF_CHECK(find_option(page, "--nothing") == nullptr);
}

CAF_TEST(MAN-2 values that help lists) {
  const auto page = read_help(one_command);
  const auto* option = find_option(page, "--security");
  CAF_REQUIRE(option != nullptr);
  CAF_CHECK(option->takes_value);
  CAF_CHECK(option->choices == (words{"native", "munge"}));
  option = find_option(page, "--radix");
  CAF_REQUIRE(option != nullptr);
  CAF_CHECK(option->takes_value);
  CAF_CHECK(option->choices.empty());
}

CAF_TEST(MAN-2 arguments that are no options) {
  const auto page = read_help(one_command);
  CAF_CHECK(page.positionals == (words{"SIGNAL", "TARGET"}));
  CAF_CHECK(page.repeats);
  CAF_CHECK(page.commands.empty());
}

CAF_TEST(MAN-2 commands of a verb) {
  const auto page = read_help(several_commands);
  CAF_CHECK(page.commands == (words{"kill", "status"}));
  CAF_CHECK(page.options.empty());
  CAF_CHECK(page.positionals.empty());
}
