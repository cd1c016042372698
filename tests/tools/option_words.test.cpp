// Words of other launchers, and names that are nearly right.

#include "tests/test.hpp"
#include "tools/command_words.hpp"

#include <set>

using namespace troupe;

CAF_TEST(HAB-3 a word stands for options of ours with its values) {
  CAF_CHECK(translate(*find_word("--npersocket"), {"2"})
            == std::vector<std::string>{"--map-by=ppr:2:package"});
  CAF_CHECK(translate(*find_word("--mca"), {"btl", "self,tcp"})
            == std::vector<std::string>{"-xOMPI_MCA_btl=self,tcp"});
  CAF_CHECK(translate(*find_word("--bynode"), {})
            == std::vector<std::string>{"--map-by=node"});
}

CAF_TEST(HAB-3 each word is there once and says what becomes of it) {
  auto names = std::set<std::string_view>{};
  for (const auto& x : all_words()) {
    CAF_CHECK(names.insert(x.name).second);
    CAF_CHECK(!x.text.empty());
    CAF_CHECK(x.name.size() == 2 ? x.name[0] == '-' && x.name[1] != '-'
                                 : x.name.substr(0, 2) == "--");
    CAF_CHECK(x.values >= only_attached && x.values <= 2);
  }
  CAF_CHECK(find_word("--no-such-word") == nullptr);
}

CAF_TEST(HAB-6 a near name is found and a far one is not) {
  const auto names =
    std::vector<std::string>{"--map-by", "--bind-to", "--np", "--hostfile"};
  CAF_CHECK(nearest_name("--mapby", names) == "--map-by");
  CAF_CHECK(nearest_name("--bidn-to", names) == "--bind-to");
  CAF_CHECK(nearest_name("--hostfiles", names) == "--hostfile");
  CAF_CHECK(!nearest_name("--nonsense", names));
  CAF_CHECK(!nearest_name("--xy", names));
  CAF_CHECK(!nearest_name("--", names));
}
