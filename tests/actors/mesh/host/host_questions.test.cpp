// X41: which way questions may go between the hosts of a DVM.

#include "actors/mesh/host/host_questions.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace troupe;

namespace {

status way(const host_question& what, uint32_t from, uint32_t to) {
  const auto why = check_way(what, from, to);
  return why ? status_of(why) : status::success;
}

query_request asked(std::vector<std::string> keys) {
  auto result = query_request{};
  result.queries.emplace_back().keys = std::move(keys);
  return result;
}

} // namespace

CAF_TEST(X41 what a root decides comes from the root) {
  for (const auto& what : std::vector<host_question>{
         prepare_share{}, start_share{}, end_share{}, procs_gone{},
         forget_job{}, signal_process{}, run_site_hook{}, control_procs{},
         define_process_set{}, delete_process_set{}}) {
    CAF_CHECK(way(what, 0, 0) == status::success);
    CAF_CHECK(way(what, 0, 1) == status::success);
    CAF_CHECK(way(what, 1, 0) == status::no_permissions);
    CAF_CHECK(way(what, 2, 1) == status::no_permissions);
    CAF_CHECK(way(what, 1, 1) == status::no_permissions);
  }
}

CAF_TEST(what only the root knows goes to the root) {
  for (const auto& what : std::vector<host_question>{
         share_progress{}, share_ended{}, locate_job{}, list_jobs{},
         connection_changed{}, node_resources{}, list_nspaces{},
         ask_root{{}, abort_request{}}}) {
    CAF_CHECK(way(what, 0, 0) == status::success);
    CAF_CHECK(way(what, 1, 0) == status::success);
    CAF_CHECK(way(what, 0, 1) == status::bad_param);
    CAF_CHECK(way(what, 2, 1) == status::bad_param);
  }
}

CAF_TEST(news of the environment go by way of the root) {
  for (const auto& what : std::vector<host_question>{environment_interest{},
                                                     environment_event{}}) {
    CAF_CHECK(way(what, 1, 0) == status::success);
    CAF_CHECK(way(what, 0, 1) == status::success);
    CAF_CHECK(way(what, 2, 1) == status::no_permissions);
  }
}

CAF_TEST(TRC-1 LOG-2 each node is asked for its traces and its levels) {
  auto levels = job_control_request{};
  levels.directives = {{"troupe.log.levels", 0, value::string("debug")}};
  for (const auto& what : std::vector<rooted_request>{
         asked({"troupe.trace"}), asked({"troupe.log.levels"}), levels}) {
    CAF_CHECK(way(ask_root{{}, what}, 0, 1) == status::success);
    CAF_CHECK(way(ask_root{{}, what}, 2, 1) == status::success);
  }
  // With anything else it is a question for the root.
  levels.targets = {{"job", 0}};
  for (const auto& what : std::vector<rooted_request>{
         asked({"troupe.trace", "troupe.ps"}), levels})
    CAF_CHECK(way(ask_root{{}, what}, 2, 1) == status::bad_param);
}

CAF_TEST(PAGE-10 each node is asked for its operations under way) {
  CAF_CHECK(way(ask_root{{}, asked({"troupe.waits.node"})}, 0, 1)
            == status::success);
  CAF_CHECK(way(ask_root{{}, asked({"troupe.waits.node"})}, 2, 1)
            == status::success);
  for (const auto& what :
       {asked({"troupe.waits"}), asked({"troupe.waits.node", "troupe.ps"})})
    CAF_CHECK(way(ask_root{{}, what}, 2, 1) == status::bad_param);
}

CAF_TEST(hosts ask each other for the rest) {
  for (const auto& what : std::vector<host_question>{
         collective_part{}, collective_outcome{}, direct_modex{},
         deliver_event{}, io_interest{}, io_fragment{}, io_fetch{}, io_input{},
         list_io{}, submit_event{}, order_events{}, collect_events{},
         get_mesh_status{}, find_procs{}, sample_elsewhere{}, list_groups{}}) {
    CAF_CHECK(way(what, 1, 0) == status::success);
    CAF_CHECK(way(what, 2, 1) == status::success);
  }
}
