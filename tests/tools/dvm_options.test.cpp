// Which nodes a DVM gets, and how they are reached.

#include "tools/dvm_options.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

#include <CLI/CLI.hpp>

using namespace troupe;

namespace {

dvm_surroundings surroundings(environment variables = {}) {
  return {std::move(variables),
          [](const std::string& path) -> caf::expected<std::string> {
            if (path == "hosts")
              return std::string{"here slots=2\nn2\n"};
            return make_error(status::not_found, path + " is not there");
          },
          this_host{"here", {}}, "/opt/bin"};
}

/// Names with slots, the remote shell's first word, and the agent's.
std::string planned(const dvm_options& x, environment variables = {}) {
  const auto plan = plan_dvm(x, surroundings(std::move(variables)));
  if (!plan)
    return reason_of(plan.error());
  if (!*plan)
    return "none";
  auto result = std::string{};
  for (const auto& node : (**plan).nodes)
    result +=
      node.name + ":" + (node.slots ? std::to_string(*node.slots) : "*") + " ";
  return result + "by " + (**plan).shell.command.front() + " "
         + (**plan).agent.front() + ((**plan).shell.stays ? " stays" : "");
}

dvm_options parsed(const std::string& line) {
  auto result = dvm_options{};
  auto cli = CLI::App{};
  add_dvm_options(cli, result);
  cli.parse(line);
  return result;
}

} // namespace

CAF_TEST(nobody names nodes) {
  CAF_CHECK_EQUAL(planned({}), "none");
}

CAF_TEST(options name nodes and what runs there) {
  CAF_CHECK_EQUAL(planned(parsed("--host n[1-2]:3,here:1")),
                  "here:1 n1:3 n2:3 by ssh /opt/bin/trouped");
  CAF_CHECK_EQUAL(planned(parsed("--hostfile hosts")),
                  "here:2 n2:* by ssh /opt/bin/trouped");
  CAF_CHECK_EQUAL(planned(parsed("--host n1 --remote-shell 'pdsh -w' "
                                 "--launch-agent /x/trouped "
                                 "--leave-session-attached")),
                  "here:0 n1:1 by pdsh /x/trouped stays");
}

CAF_TEST(an allocation counts if it has more than this node) {
  const auto slurm = environment{{"SLURM_JOB_ID", "1"},
                                 {"SLURM_JOB_NODELIST", "here,n2"},
                                 {"SLURM_TASKS_PER_NODE", "4(x2)"}};
  CAF_CHECK_EQUAL(planned({}, slurm),
                  "here:4 n2:4 by srun /opt/bin/trouped stays");
  auto alone = slurm;
  alone["SLURM_JOB_NODELIST"] = "here";
  alone["SLURM_TASKS_PER_NODE"] = "4";
  CAF_CHECK_EQUAL(planned({}, alone), "none");
  CAF_CHECK_EQUAL(planned(parsed("--host n3:2"), slurm),
                  "here:0 n3:2 by srun /opt/bin/trouped stays");
  CAF_CHECK_EQUAL(planned(parsed("--host n3:2 --remote-shell ssh"), slurm),
                  "here:0 n3:2 by ssh /opt/bin/trouped");
}

CAF_TEST(X48 what makes no sense is refused) {
  CAF_CHECK(planned(parsed("--host a --hostfile hosts")).find("give one")
            != std::string::npos);
  CAF_CHECK_EQUAL(planned(parsed("--hostfile nowhere")),
                  "nowhere is not there");
  CAF_CHECK(planned(parsed("--host a[")).find("--host") != std::string::npos);
  CAF_CHECK_EQUAL(planned(parsed("--host a --networks eth0,,eth1")),
                  "--networks has an empty name; write eth0,eth1");
  CAF_CHECK_EQUAL(planned(parsed("--host a --lanes tcp,udp")),
                  "--lanes: there are no lanes of kind \"udp\"; write unix, "
                  "tcp, or unix,tcp");
  // Whether there is to be a DVM or not.
  CAF_CHECK(planned(parsed("--lanes udp")).find("--lanes") == 0);
  for (const auto* x : {"--radix 0", "--radix x", "--join-timeout 0"}) {
    auto is_refused = false;
    try {
      parsed(x);
    } catch (const CLI::ParseError&) {
      is_refused = true;
    }
    CAF_CHECK(is_refused);
  }
}
