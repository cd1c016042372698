// What Open MPI's mpirun called the options of output.

#include "tests/test.hpp"
#include "tools/run_flags.hpp"

using namespace troupe;

namespace {

std::vector<std::string> outputs_of(std::vector<std::string> args) {
  auto result = std::vector<std::string>{};
  auto cli = CLI::App{};
  add_former_options(cli, result);
  std::reverse(args.begin(), args.end());
  cli.parse(std::move(args));
  return result;
}

} // namespace

CAF_TEST(I16 former options are words of the list) {
  const auto expected =
    std::vector<std::string>{"tag", "merge", "timestamp", "xml", "dir=out"};
  const auto found =
    outputs_of({"--tag-output", "--merge-stderr-to-stdout",
                "--timestamp-output", "--xml", "--output-directory", "out"});
  CAF_CHECK(std::is_permutation(found.begin(), found.end(), expected.begin(),
                                expected.end()));
  CAF_CHECK(outputs_of({}).empty());
}

CAF_TEST(I16 what means two things is not guessed) {
  try {
    outputs_of({"--output-filename", "out"});
    CAF_FAIL("it was taken");
  } catch (const CLI::ValidationError& x) {
    const auto why = std::string{x.what()};
    CAF_CHECK(why.find("--output dir=out") != std::string::npos);
    CAF_CHECK(why.find("--output file=out") != std::string::npos);
  }
}
