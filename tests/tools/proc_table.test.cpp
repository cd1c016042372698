// Where the processes of a job are, as tools show it.

#include "tests/test.hpp"
#include "tools/report.hpp"

using namespace troupe;

namespace {

value table() {
  const auto row = [](uint32_t rank, const char* host) {
    auto x = proc_info{};
    x.proc = {"dvm@1", rank};
    x.hostname = host;
    x.executable_name = "prog";
    return value{data_type::proc_info, box<proc_info>{std::move(x)}};
  };
  return value::array(data_type::proc_info, {row(1, "b\n"), row(0, "a")});
}

} // namespace

CAF_TEST(F5.12 a map has a line for each rank with its node) {
  CAF_CHECK_EQUAL(map_text("dvm@1", processes_in(table())),
                  "troupe: job dvm@1: 2 processes on a,b\\n\n"
                  "troupe:   rank 0: prog, node a\n"
                  "troupe:   rank 1: prog, node b\\n\n");
  CAF_CHECK(processes_in(value::string("nothing")).empty());
}
