// How long a job may take, in the forms of the field.

#include "tests/test.hpp"
#include "tools/run_options.hpp"

#include <string>
#include <utility>

using namespace troupe;

namespace {

int64_t seconds_of(std::string_view text, int plain = 1) {
  const auto result = parse_time_span(text, std::chrono::seconds{plain});
  return result ? result->count() : -1;
}

} // namespace

CAF_TEST(HAB-4 times have the forms of mpirun and srun) {
  const std::pair<const char*, int64_t> table[] = {{"0", 0},
                                                   {"90", 90},
                                                   {"1m", 60},
                                                   {"1h30m", 5400},
                                                   {"2d", 172800},
                                                   {"90s", 90},
                                                   {"10:00", 600},
                                                   {"1:10:00", 4200},
                                                   {"2-12", 216000},
                                                   {"2-12:30", 217800},
                                                   {"2-12:30:05", 217805},
                                                   {"0-00:00:03", 3}};
  for (const auto& [text, expected] : table)
    CAF_CHECK_EQUAL(seconds_of(text), expected);
  CAF_CHECK_EQUAL(seconds_of("5", 60), 300);
  CAF_CHECK_EQUAL(seconds_of("5:30", 60), 330);
  CAF_CHECK_EQUAL(seconds_of("2147483647"), 2147483647);
}

CAF_TEST(HAB-4 what is no time is refused) {
  for (const auto* text :
       {"", "soon", "1x", "m", "1m5", "-5", "1:", ":5", "1:2:3:4", "1-",
        "1-2:3:4:5", "2147483648", "99999999999999999999", "1.5", " 5"})
    CAF_CHECK_EQUAL(seconds_of(text), -1);
  CAF_CHECK_EQUAL(seconds_of("35791395", 60), -1);
}
