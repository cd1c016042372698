// What people are told of what others have written.

#include "tests/test.hpp"
#include "tools/dvm_options.hpp"
#include "tools/printing.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>

using namespace troupe;

CAF_TEST(MND-A7 a notice is one line whatever its text holds) {
  CAF_CHECK_EQUAL(notice("troupe", "rank 0 called PMIx_Abort"),
                  "troupe: rank 0 called PMIx_Abort\n");
  CAF_CHECK_EQUAL(notice("troupe", "x\ntroupe: all is well\r\n"),
                  "troupe: x\\ntroupe: all is well\\x0d\\n\n");
  CAF_CHECK_EQUAL(notice("troupe", "\x1b]0;title\x07 \xc2\x9b"
                                   "31m \xff"),
                  "troupe: \\x1b]0;title\\x07 \\xc2\\x9b31m \\xff\n");
  CAF_CHECK_EQUAL(notice("troupe ctl \x1b[2J", "é\tü"),
                  "troupe ctl \\x1b[2J: é\tü\n");
}

CAF_TEST(MND-A7 names of nodes reach no terminal) {
  CAF_CHECK_EQUAL(allocation_text({{"n\x1b[2J\n0", 2u, 0}}),
                  "troupe: allocation of 1 node\n"
                  "troupe:   n\\x1b[2J\\n0: 2 slots\n");
}

CAF_TEST(MND-A7 JSON holds no control character) {
  const auto text = std::string{"\x1b]0;\x07 \x7f \xc2\x9b"
                                "31m \xc2\xa0é"};
  auto object = nlohmann::json::object();
  object["name"] = text;
  const auto line = json_line(std::move(object));
  for (const auto* control : {"\x1b", "\x07", "\x7f", "\xc2\x9b"})
    CAF_CHECK_EQUAL(line.find(control), std::string::npos);
  const auto back = nlohmann::json::parse(line);
  CAF_CHECK_EQUAL(back["name"].get<std::string>(), text);
}
