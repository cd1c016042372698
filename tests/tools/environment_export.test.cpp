// Which variables of a launcher its processes get.

#include "tools/environment_export.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

const auto launcher =
  environment{{"HOME", "/root"},  {"OMPI_COMM_WORLD_RANK", "3"},
              {"PATH", "/bin"},   {"PMIX_MCA_gds", "hash"},
              {"PMIX_RANK", "3"}, {"V_A", "1"},
              {"V_B", "2"}};

std::string joined(const std::vector<std::string>& list) {
  auto result = std::string{};
  for (const auto& x : list)
    result += (result.empty() ? "" : "|") + x;
  return result;
}

std::string x_of(const std::string& word) {
  const auto result = exported_by(word, launcher);
  return result ? joined(*result) : "error: " + reason_of(result.error());
}

std::string export_of(std::string_view list) {
  const auto result = read_export(list, launcher);
  if (!result)
    return "error: " + reason_of(result.error());
  return (result->has_all ? "all|" : "") + joined(result->variables);
}

std::string tune(std::string_view text) {
  const auto result = read_tune_file(text, "f", launcher);
  return result ? joined(*result) : "error: " + reason_of(result.error());
}

} // namespace

CAF_TEST(HAB-5 a variable is named or given or one of many) {
  CAF_CHECK_EQUAL(x_of("HOME"), "HOME=/root");
  CAF_CHECK_EQUAL(x_of("A=b c"), "A=b c");
  CAF_CHECK_EQUAL(x_of("A="), "A=");
  CAF_CHECK_EQUAL(x_of("V_*"), "V_A=1|V_B=2");
  CAF_CHECK_EQUAL(x_of("NONE_*").substr(0, 6), "error:");
  CAF_CHECK_EQUAL(x_of("NO_SUCH").substr(0, 14), "error: NO_SUCH");
}

CAF_TEST(HAB-5 export is all or none or a list) {
  CAF_CHECK_EQUAL(export_of("ALL"), "all|");
  CAF_CHECK_EQUAL(export_of("NONE"), "");
  CAF_CHECK_EQUAL(export_of("HOME,B=c"), "HOME=/root|B=c");
  CAF_CHECK_EQUAL(export_of("ALL,B=c"), "all|B=c");
  CAF_CHECK_EQUAL(export_of("NONE,B=c").substr(0, 6), "error:");
  CAF_CHECK_EQUAL(export_of("HOME,").substr(0, 6), "error:");
  CAF_CHECK_EQUAL(export_of("").substr(0, 6), "error:");
}

CAF_TEST(HAB-5 marks of a process are not handed on) {
  CAF_CHECK_EQUAL(joined(all_of(launcher)),
                  "HOME=/root|PATH=/bin|PMIX_MCA_gds=hash|V_A=1|V_B=2");
}

CAF_TEST(HAB-5 a tune file has settings and options) {
  CAF_CHECK_EQUAL(tune("# all\n btl = self,vader # fast\n\n"
                       "-x A=b --mca pml \"ob1\"\n--mca c 1\n"),
                  "OMPI_MCA_btl=self,vader|A=b|OMPI_MCA_pml=ob1|OMPI_MCA_c=1");
  CAF_CHECK_EQUAL(tune("btl\n").substr(0, 11), "error: f:1:");
  CAF_CHECK_EQUAL(tune("\n-np 4\n").substr(0, 11), "error: f:2:");
  CAF_CHECK_EQUAL(tune("-x NO_SUCH\n").substr(0, 11), "error: f:1:");
}

CAF_TEST(HAB-5 settings of mpirun itself are told apart) {
  CAF_CHECK_EQUAL(joined(settings_of_mpirun({"OMPI_MCA_btl=self",
                                             "OMPI_MCA_plm_rsh_agent=ssh",
                                             "A=b", "OMPI_MCA_orte_x=1"})),
                  "plm_rsh_agent|orte_x");
}
