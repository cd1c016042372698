// What a shell offers behind a command line.

#include "tools/completion.hpp"

#include "tests/test.hpp"

#include <map>

using namespace troupe;

namespace {

using words = std::vector<std::string>;

/// What commands print; a DVM with one job of two processes on two nodes.
const auto printed = std::map<std::string, std::string>{
  {"help", "Commands:\n  run        start\n  ctl        signal\n"
           "  attach     show\n  group      groups\n  monitor    watch\n"},
  {"run --help", "Usage: troupe run [OPTIONS]\n\nOptions:\n"
                 "  -n,--np INT                 Number\n"
                 "  --dvm TEXT                  The DVM\n"
                 "  -H,--host TEXT              Nodes\n"
                 "  --json                      JSON\n"
                 "  --security TEXT:{native,munge}\n"
                 "                              one of them\n"},
  {"ctl --help", "Commands:\n  kill TARGET...     end\n"
                 "  signal SIGNAL TARGET...     send\n"},
  {"ctl signal --help",
   "Usage: troupe ctl signal [OPTIONS] SIGNAL TARGET...\n\nOptions:\n"
   "  --dvm TEXT                  The DVM\n"
   "  --id TEXT                   A name\n"},
  {"ctl kill --help", "Usage: troupe ctl kill [OPTIONS] TARGET...\n\nOptions:\n"
                      "  --dvm TEXT                  The DVM\n"},
  {"attach --help", "Usage: troupe attach [OPTIONS] PROCESS\n\nOptions:\n"
                    "  --dvm TEXT                  The DVM\n"},
  {"group --help", "Commands:\n  show       show a group\n"},
  {"group show --help", "Usage: troupe group show [OPTIONS] ID\n"},
  {"monitor --help", "Commands:\n  cancel       no longer\n"},
  {"monitor cancel --help", "Usage: troupe monitor cancel [OPTIONS] NUMBER\n"},
  {"log --help", "Commands:\n  set LEVELS...      set\n"},
  {"log set --help", "Usage: troupe log set [OPTIONS] LEVELS...\n"},
  {"trace --help", "Usage: troupe trace [OPTIONS] [ID]\n"},
  {"trace --json",
   R"({"traces":[{"id":"event:a@1#7@2"},{"id":"fence:a@1#3"}]})"},
  {"jobs --json", R"({"jobs":[{"nspace":"a@1"},{"nspace":"b@2"}]})"},
  {"jobs --json --dvm=other", R"({"jobs":[{"nspace":"far@1"}]})"},
  {"ps --json",
   R"({"processes":[{"nspace":"a@1","rank":0},{"nspace":"a@1","rank":10},)"
   R"({"nspace":"b@2","rank":7}]})"},
  {"nodes --json", R"({"nodes":[{"name":"n1"},{"name":"n2"}]})"},
  {"group list --json", R"({"groups":[{"id":"red"},{"id":"blue"}]})"},
  {"monitor list --json", R"({"monitors":[{"troupe.monitor.number":17}]})"},
};

words offered(const words& line) {
  auto from = completion_sources{};
  from.output_of = [](const words& x) {
    auto key = std::string{};
    for (const auto& word : x)
      key += (key.empty() ? "" : " ") + word;
    const auto i = printed.find(key);
    return i == printed.end() ? std::string{} : i->second;
  };
  from.dvms = [] { return words{"mine", "more"}; };
  from.topics = {"errors", "hang"};
  return candidates(line, from);
}

} // namespace

CAF_TEST(MAN-3 commands and their verbs) {
  CAF_CHECK(offered({""})
            == (words{"run", "ctl", "attach", "group", "monitor", "help"}));
  CAF_CHECK(offered({"c"}) == words{"ctl"});
  CAF_CHECK(offered({"ctl", ""}) == (words{"kill", "signal"}));
  CAF_CHECK(offered({"ctl", "s"}) == words{"signal"});
  CAF_CHECK(offered({}).empty());
  CAF_CHECK(offered({"nothing", ""}).empty());
}

CAF_TEST(MAN-3 help about commands and topics) {
  CAF_CHECK(offered({"help", "h"}) == (words{"help", "hang"}));
  CAF_CHECK(offered({"help", "ctl", "k"}) == words{"kill"});
}

CAF_TEST(MAN-3 options and their values) {
  CAF_CHECK(offered({"run", "--n"}) == words{"--np"});
  CAF_CHECK(offered({"ctl", "signal", "-"}) == (words{"--dvm", "--id"}));
  CAF_CHECK(offered({"run", "--dvm", "m"}) == (words{"mine", "more"}));
  CAF_CHECK(offered({"run", "--dvm=mo"}) == words{"--dvm=more"});
  CAF_CHECK(offered({"run", "--security", "m"}) == words{"munge"});
  CAF_CHECK(offered({"run", "--np", ""}).empty());
  CAF_CHECK(offered({"run", "-H", "n2,n"}) == (words{"n2,n1", "n2,n2"}));
}

CAF_TEST(MAN-3 nothing behind the program) {
  CAF_CHECK(offered({"run", "-n", "2", "./app", "--"}).empty());
  CAF_CHECK(offered({"run", "--json", "--", "-"}).empty());
  CAF_CHECK(offered({"run", "-n", "2", "--j"}) == words{"--json"});
}

CAF_TEST(MAN-3 jobs and behind a colon their processes) {
  CAF_CHECK(offered({"attach", ""}) == (words{"a@1", "b@2"}));
  CAF_CHECK(offered({"attach", "a@1:"}) == (words{"a@1:0", "a@1:10"}));
  CAF_CHECK(offered({"attach", "a@1:1"}) == words{"a@1:10"});
  CAF_CHECK(offered({"attach", "a@1:0", ""}).empty());
  CAF_CHECK(offered({"ctl", "kill", "a@1", "b"}) == words{"b@2"});
  CAF_CHECK(offered({"ctl", "signal", "USR"}) == (words{"USR1", "USR2"}));
  CAF_CHECK(offered({"ctl", "signal", "USR1", "b"}) == words{"b@2"});
}

CAF_TEST(MAN-3 of the DVM that is named) {
  CAF_CHECK(offered({"attach", "--dvm", "other", ""}) == words{"far@1"});
  CAF_CHECK(offered({"attach", "--dvm=other", ""}) == words{"far@1"});
  CAF_CHECK(offered({"attach", "--dvm", "gone", ""}).empty());
}

CAF_TEST(MAN-3 groups and monitors) {
  CAF_CHECK(offered({"group", "show", ""}) == (words{"red", "blue"}));
  CAF_CHECK(offered({"monitor", "cancel", ""}) == words{"17"});
}

CAF_TEST(MAN-3 traces and levels of logs) {
  CAF_CHECK(offered({"trace", "fence:"}) == words{"fence:a@1#3"});
  CAF_CHECK(offered({"log", "set", "e"}) == (words{"error", "events="}));
  CAF_CHECK(offered({"log", "set", "info", "io=d"}) == words{"io=debug"});
  CAF_CHECK(offered({"log", "set", "io=info,n"})
            == (words{"io=info,networks=", "io=info,nodes="}));
  CAF_CHECK(offered({"log", "set", "info,io=w"}) == words{"info,io=warning"});
}
