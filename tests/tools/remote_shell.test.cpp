// How daemons are started on other nodes.

#include "tools/remote_shell.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

std::string joined(const std::vector<std::string>& xs) {
  auto result = std::string{};
  for (const auto& x : xs)
    result += "[" + x + "]";
  return result;
}

std::string words(std::string_view text) {
  const auto result = split_words(text, "IT");
  return result ? joined(*result) : reason_of(result.error());
}

std::string command(const std::string& shell, const std::string& program) {
  const auto parsed = parse_remote_shell(shell);
  CAF_REQUIRE(parsed);
  return joined(remote_command(*parsed, "n1", {program, "--join"}));
}

} // namespace

CAF_TEST(words keep what quotes and backslashes protect) {
  CAF_CHECK_EQUAL(words("ssh -x  -o\tBatchMode=yes"),
                  "[ssh][-x][-o][BatchMode=yes]");
  CAF_CHECK_EQUAL(words("a 'b c' \"d 'e\" f\\ g ''"), "[a][b c][d 'e][f g][]");
  CAF_CHECK_EQUAL(words("'a\\b' \"c\\\"d\""), "[a\\b][c\"d]");
}

CAF_TEST(X48 words that are none are refused) {
  CAF_CHECK_EQUAL(words(" "), "IT is empty; name a program");
  CAF_CHECK_EQUAL(words("a 'b"), "IT has a quote that is not closed; add "
                                 "another '");
  CAF_CHECK_EQUAL(words("a\\"), "IT ends with a backslash; remove it");
}

CAF_TEST(words are quoted only for who joins them) {
  CAF_CHECK_EQUAL(command("ssh -x", "/opt/troupe/bin/trouped"),
                  "[ssh][-x][n1][/opt/troupe/bin/trouped][--join]");
  CAF_CHECK_EQUAL(command("/usr/bin/ssh", "/opt/my programs/it's"),
                  "[/usr/bin/ssh][n1]['/opt/my programs/it'\\''s'][--join]");
  CAF_CHECK_EQUAL(command("./run-there", "/opt/my programs/trouped"),
                  "[./run-there][n1][/opt/my programs/trouped][--join]");
}

CAF_TEST(nothing that a shell acts on stays unquoted) {
  for (const auto* x : {"a;b", "$(c)", "`d`", "e|f", "g&h", "i*", "~", "#", "",
                        "!k", "l\nm", "<n>", "{o}", "p\\q"})
    CAF_CHECK_EQUAL(quoted(x), "'" + std::string{x} + "'");
}

CAF_TEST(a step of Slurm is started on its node and kept) {
  const auto shell = slurm_remote_shell();
  CAF_CHECK(shell.stays);
  const auto all = remote_command(shell, "n1", {"trouped", "--join"});
  CAF_REQUIRE(all.size() > 3);
  CAF_CHECK_EQUAL(all.front(), "srun");
  CAF_CHECK_EQUAL(all[all.size() - 3], "--nodelist=n1");
  CAF_CHECK(!default_remote_shell().stays);
  CAF_CHECK(default_remote_shell().joins_words);
}
