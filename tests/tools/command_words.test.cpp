// Command lines as users of mpirun and srun type them, in our own words.

#include "tools/command_words.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"
#include "tools/run_flags.hpp"

using namespace troupe;

namespace {

struct vocabulary {
  vocabulary() {
    add_job_flags(cli, job, nodes);
    add_app_flags(cli, app);
  }

  CLI::App cli;
  job_flags job;
  app_flags app;
  dvm_options nodes;
};

/// Options, then `|` and the program; programs after `:`.
std::string read(const std::vector<std::string>& args) {
  const auto known = vocabulary{};
  const auto words = read_words(args, known.cli);
  if (!words)
    return "error: " + reason_of(words.error());
  auto result = std::string{};
  for (const auto& segment : words->segments) {
    result += result.empty() ? "" : " : ";
    for (const auto& x : segment.options)
      result += x + " ";
    result += "|";
    for (const auto& x : segment.command)
      result += " " + x;
  }
  for (const auto& x : words->left_out)
    result += " left out " + x;
  return result;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

CAF_TEST(HAB-1 long names may have one dash) {
  CAF_CHECK_EQUAL(read({"-np", "2", "-host", "a:2", "./x"}),
                  "--np=2 --host=a:2 | ./x");
  CAF_CHECK_EQUAL(read({"-hostfile", "f", "-wdir", "/", "x"}),
                  "--hostfile=f --wdir=/ | x");
  CAF_CHECK_EQUAL(read({"-machinefile=g", "x"}), "--hostfile=g | x");
  CAF_CHECK_EQUAL(read({"-tag-output", "-mca", "btl", "self", "x"}),
                  "--tag-output -xOMPI_MCA_btl=self | x");
  CAF_CHECK_EQUAL(read({"-rf", "r", "x"}), "--map-by=rankfile:file=r | x");
}

CAF_TEST(HAB-1 short names take values and stand together) {
  CAF_CHECK_EQUAL(read({"-n4", "-N", "2", "-lq", "x"}),
                  "--np=4 --npernode=2 --label --quiet | x");
  CAF_CHECK_EQUAL(read({"-xA=b", "-x", "C", "-t5", "x"}),
                  "-xA=b -xC --time=5 | x");
  CAF_CHECK(has(read({"-lw2", "x"}), "error: -lw2 is no option"));
}

CAF_TEST(HAB-1 options end with two dashes or with the program) {
  CAF_CHECK_EQUAL(read({"-n", "1", "--", "-prog", "-n", "2"}),
                  "--np=1 | -prog -n 2");
  CAF_CHECK_EQUAL(read({"x", "-np", "--help", "--"}), "| x -np --help --");
  CAF_CHECK_EQUAL(read({"-n", "1", "a", "b", ":", "-np", "2", "c"}),
                  "--np=1 | a b : --np=2 | c");
}

CAF_TEST(HAB-1 a DVM without a name does not swallow the program) {
  CAF_CHECK_EQUAL(read({"--dvm", "name", "-n", "1", "x"}),
                  "--dvm=name --np=1 | x");
  CAF_CHECK_EQUAL(read({"--dvm", "x"}), "--dvm | x");
  CAF_CHECK_EQUAL(read({"--dvm", "./x", "y"}), "--dvm | ./x y");
  CAF_CHECK_EQUAL(read({"--dvm", "file:/tmp/uri", "x"}),
                  "--dvm=file:/tmp/uri | x");
  CAF_CHECK_EQUAL(read({"--dvm", "-n", "1", "x"}), "--dvm --np=1 | x");
}

CAF_TEST(HAB-3 words of others are translated or left out or refused) {
  CAF_CHECK_EQUAL(read({"--bynode", "--nolocal", "--cpus-per-task=2", "x"}),
                  "--map-by=node --map-modifier=NOLOCAL --map-modifier=PE=2 "
                  "| x");
  CAF_CHECK_EQUAL(read({"--prtemca", "a", "b", "-allow-run-as-root",
                        "--allow-run-as-root", "--prtemca", "c", "d", "x"}),
                  "| x left out --prtemca left out -allow-run-as-root left out "
                  "--allow-run-as-root");
  CAF_CHECK(has(read({"-xterm", "1", "x"}), "error: -xterm is not done here"));
  CAF_CHECK(has(read({"-p", "debug", "x"}), "salloc"));
}

CAF_TEST(HAB-6 what is wrong is named as it was typed) {
  CAF_CHECK(has(read({"--mapby", "slot", "x"}),
                "--mapby is no option of troupe run; did you mean --map-by?"));
  CAF_CHECK(has(read({"-np"}), "error: -np has no value"));
  CAF_CHECK(has(read({"-mca", "btl"}), "error: -mca takes a name and a value"));
  CAF_CHECK(has(read({"-np", "2", "-n", "3", "x"}),
                "error: -n 3: there is -np 2 before"));
  CAF_CHECK_EQUAL(read({"-np", "2", "-n", "2", "x"}), "--np=2 | x");
}

CAF_TEST(HAB-6 errors of CLI11 get the typed name) {
  auto segment = command_segment{};
  segment.given = {{"--np", "-np", "two", "-np two"}};
  CAF_CHECK_EQUAL(in_typed_words("--np: two is no number", segment),
                  "-np: two is no number");
  CAF_CHECK_EQUAL(in_typed_words("--host: x", segment), "--host: x");
}

CAF_TEST(HAB-7 help and version are asked for before the program) {
  const auto known = vocabulary{};
  const auto topic = [&](const std::vector<std::string>& args) {
    const auto words = read_words(args, known.cli);
    return words && words->wants_help      ? "help " + words->topic
           : words && words->wants_version ? std::string{"version"}
                                           : std::string{"none"};
  };
  CAF_CHECK_EQUAL(topic({"--help"}), "help ");
  CAF_CHECK_EQUAL(topic({"-n", "2", "-h", "map-by"}), "help map-by");
  CAF_CHECK_EQUAL(topic({"-V"}), "version");
  CAF_CHECK_EQUAL(topic({"x", "--help"}), "none");
}
