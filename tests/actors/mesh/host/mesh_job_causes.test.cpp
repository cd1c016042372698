// Whoever was killed is the cause of a job's end, on whatever node, and not
// those whose exits the root hears of first.

#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/job_host.hpp"
#include "tests/fixtures/mesh_hosts.hpp"
#include "tests/test.hpp"

#include <csignal>
#include <map>
#include <string>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

const auto nspace = std::string{"server@1"};

struct fixture : deterministic {
  mesh_hosts mesh{*this, 3};
  std::map<uint32_t, peer_ptr> peers;

  /// Starts a job of one process per node, all of them connected.
  void begin(std::vector<info> infos = {}) {
    for (uint32_t node = 0; node < 3; ++node) {
      mesh[node].launcher->keeps_connections = true;
      mesh[node].launcher->fatal = {SIGTERM};
    }
    infos.push_back(with(attr::mapby, value::string("node")));
    mesh.spawn(job_host::program(3, std::move(infos)));
    consume_messages();
    for (uint32_t rank = 0; rank < 3; ++rank)
      peers[rank] = mesh.connect(rank, nspace, rank);
  }

  /// The connection of a process breaks: it may be about to end.
  void lose(uint32_t rank) {
    mesh[rank].uut->lose(peers[rank]);
    consume_messages();
  }

  void end(uint32_t rank, int32_t exit_code, int32_t signal = 0) {
    mesh[rank].launcher->end(rank, exit_code, signal);
    consume_messages();
  }

  bool is_over() {
    return !mesh.observer->ended.empty();
  }

  job_ended outcome() {
    if (mesh.observer->ended.size() != 1)
      CAF_FAIL("the job ended " << mesh.observer->ended.size() << " times");
    return mesh.observer->ended.front();
  }

  bool is_blamed(const std::string& rank, int32_t exit_status) {
    return is_over() && outcome().exit_status == exit_status
           && outcome().reason.rfind("rank " + rank + " ", 0) == 0;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mesh_job_causes_tests, fixture)

CAF_TEST(MND-A11 an exit waits for the end of who was killed on another node) {
  begin();
  lose(2);
  end(1, 3);
  CAF_CHECK(!is_over());
  end(2, 0, SIGKILL);
  CAF_CHECK(is_blamed("2", 137));
}

CAF_TEST(MND-A11 all exits on all nodes wait) {
  begin();
  lose(1);
  end(0, 3);
  end(2, 4);
  CAF_CHECK(!is_over());
  end(1, 0, SIGSEGV);
  CAF_CHECK(is_blamed("1", 139));
}

CAF_TEST(MND-A11 an exit that nobody caused ends the job at once) {
  begin();
  end(1, 3);
  CAF_CHECK(is_blamed("1", 3));
}

CAF_TEST(MND-A11 a process that only lost its way holds up no end for long) {
  begin();
  lose(2);
  end(1, 3);
  elapse(defaults::lost_connection_wait);
  CAF_CHECK(is_blamed("1", 3));
}

CAF_TEST(MND-A11 a node that does not answer holds up no end for long) {
  begin();
  mesh.passes = [](uint32_t from, uint32_t, const host_message&) {
    return from != 2;
  };
  end(1, 3);
  CAF_CHECK(!is_over());
  elapse(2 * defaults::lost_connection_wait);
  mesh.lose(2);
  CAF_CHECK(is_blamed("1", 3));
}

CAF_TEST(MND-A11 the loss of the other node ends the wait) {
  begin();
  mesh.passes = [](uint32_t from, uint32_t, const host_message&) {
    return from != 2;
  };
  end(1, 3);
  mesh.lose(2);
  CAF_CHECK(is_over());
  CAF_CHECK_NOT_EQUAL(outcome().exit_status, 0);
}

CAF_TEST(MND-A11 an exit that waits is judged when the job is ended) {
  begin();
  lose(2);
  end(1, 3);
  auto how = end_job{};
  how.nspace = nspace;
  how.reason = "interrupted";
  how.exit_status = 130;
  how.signal = SIGTERM;
  mesh.tell<ack>(0, how);
  consume_messages();
  CAF_CHECK(is_over());
  CAF_CHECK_EQUAL(outcome().exit_status, 130);
  CAF_CHECK_EQUAL(outcome().reason, "interrupted");
}

CAF_TEST(MND-A11 a job that goes on names who was killed) {
  begin({with(attr::job_recoverable, value::boolean(true))});
  lose(2);
  end(1, 3);
  end(2, 0, SIGKILL);
  CAF_CHECK(!is_over());
  lose(0);
  end(0, 0);
  CAF_CHECK(is_blamed("2", 137));
}

CAF_TEST_FIXTURE_SCOPE_END()
