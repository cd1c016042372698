// Where the output of jobs goes that were asked for on a node.

// A word of the framework that is a name in the header, too.
#undef expect

#include "actors/io/outlets.hpp"

#include "messages/attributes.hpp"
#include "messages/job_keys.hpp"
#include "messages/status.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/fixtures/deterministic.hpp"
#include "tests/test.hpp"

#include <caf/actor_cast.hpp>
#include <caf/event_based_actor.hpp>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

using lines = std::vector<std::string>;

/// What has been done.
struct record {
  lines done;
  std::vector<std::function<void(caf::expected<uint64_t>)>> subscribing;
  std::vector<deliver_event> events;
  std::vector<job_control_request> controls;
};

struct fixture : deterministic {
  class effects final : public outlets::effects {
  public:
    explicit effects(fixture& to) : to_(to) {
      // nop
    }

    void subscribe(io_subscription what, const output_sink_actor& sink,
                   std::function<void(caf::expected<uint64_t>)> then) override {
      to_.to.done.push_back("subscribe " + what.sources.at(0).nspace + " to "
                            + to_.name_of(sink) + " as " + what.name);
      to_.to.subscribing.push_back(std::move(then));
    }

    void unsubscribe(uint64_t subscription) override {
      to_.to.done.push_back("unsubscribe " + std::to_string(subscription));
    }

    output_sink_actor make_gate(tool_output_options options) override {
      return to_.make_sink("gate of " + to_string(options.who.proc));
    }

    void open_gate(const output_sink_actor& gate) override {
      to_.to.done.push_back("open " + to_.name_of(gate));
    }

    void end_gate(const output_sink_actor& gate) override {
      to_.to.done.push_back("end " + to_.name_of(gate));
    }

    void deliver(deliver_event what) override {
      to_.to.events.push_back(std::move(what));
    }

    void control(const requester&, job_control_request what) override {
      to_.to.controls.push_back(std::move(what));
    }

    void log_error(const std::string& line) override {
      to_.to.done.push_back(line);
    }

  private:
    fixture& to_;
  };

  record to;
  std::map<output_sink_actor, std::string> sinks;
  outlets uut{{make_sink("screen"), "launcher on host"},
              std::make_unique<effects>(*this)};

  ~fixture() override {
    for (const auto& [sink, name] : sinks)
      caf::anon_send_exit(sink, caf::exit_reason::kill);
    consume_messages();
  }

  output_sink_actor make_sink(const std::string& name) {
    const auto result =
      caf::actor_cast<output_sink_actor>(sys.spawn([](caf::event_based_actor*) {
        return caf::behavior{[](io_fragment&) { return ack{}; }};
      }));
    sinks[result] = name;
    return result;
  }

  std::string name_of(const output_sink_actor& x) const {
    return sinks.at(x);
  }

  static requester tool(uint32_t index = 7) {
    auto result = asks({"tool", 0}, index);
    result.role = peer_role::tool_with_identity;
    return result;
  }

  bool open(const std::string& nspace, const requester& parent,
            std::vector<info> infos = {}, io_wiring wiring = {}) {
    auto order = prepare_share{};
    order.map.nspace = nspace;
    order.parent = parent;
    order.request.job_infos = std::move(infos);
    return uut.open(order, wiring);
  }

  lines done() {
    return std::exchange(to.done, {});
  }

  static job_ended end_of(const std::string& nspace) {
    auto result = job_ended{};
    result.nspace = nspace;
    return result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(outlets_tests, fixture)

CAF_TEST(I16 the output of a launcher goes where it has said) {
  uut.expect("a", make_sink("file"));
  CAF_CHECK(open("a", requester{}));
  CAF_CHECK_EQUAL(done(), lines{"subscribe a to file as launcher on host"});
  CAF_CHECK(open("b", requester{}));
  CAF_CHECK_EQUAL(done(), lines{"subscribe b to screen as launcher on host"});
  CAF_CHECK(uut.is_open("a"));
  uut.close(end_of("a"));
  CAF_CHECK(!uut.is_open("a"));
  CAF_CHECK(to.events.empty());
  to.subscribing[1](make_error(status::out_of_resource, "too many"));
  CAF_CHECK_EQUAL(done(), lines{"the output of b is not shown: too many"});
  // Its job is over.
  to.subscribing[0](uint64_t{5});
  CAF_CHECK_EQUAL(done(), lines{"unsubscribe 5"});
}

CAF_TEST(IO-4 a tool gets the name of its job before its output) {
  open("a", tool());
  CAF_CHECK_EQUAL(done(),
                  lines{"subscribe a to gate of " + to_string(tool().proc)
                        + " as tool " + to_string(tool().proc)});
  uut.release(tool(), "b");
  CAF_CHECK(done().empty());
  uut.release(tool(), "a");
  uut.release(tool(), "a");
  CAF_CHECK_EQUAL(done().size(), 1u);
}

CAF_TEST(IO-4 a request that fails releases what the tool has) {
  open("a", tool());
  open("b", tool(8));
  done();
  uut.release(tool(), "");
  CAF_CHECK_EQUAL(done(), lines{"open gate of " + to_string(tool().proc)});
}

CAF_TEST(IO-4 a gate ends with a job that forwards nothing or is over) {
  auto wiring = io_wiring{};
  wiring.forward_stdout = wiring.forward_stderr = false;
  CAF_CHECK(open("a", tool(), {}, wiring));
  CAF_CHECK_EQUAL(done(), lines{"end gate of " + to_string(tool().proc)});
  open("b", tool());
  done();
  uut.close(end_of("b"));
  CAF_CHECK_EQUAL(done(), lines{"end gate of " + to_string(tool().proc)});
}

CAF_TEST(F4.28 a tool hears of the end of its job) {
  open("a", tool());
  uut.close(end_of("a"));
  CAF_REQUIRE_EQUAL(to.events.size(), 1u);
  CAF_CHECK(to.events[0].targets == std::vector<proc_id>{tool().proc});
  CAF_CHECK(flag(to.events[0].what.infos, attr::event_non_default));
  CAF_CHECK(find(to.events[0].what.infos, job_family_key) == nullptr);
  open("b", tool());
  uut.forget("b");
  uut.close(end_of("b"));
  CAF_CHECK_EQUAL(to.events.size(), 1u);
}

CAF_TEST(I17 F4.28 a job that a job spawns has the outlet of its parent) {
  open("a", tool(), {with(job_family_key)});
  open("b", asks({"a", 0}));
  open("c", tool());
  open("d", asks({"c", 0}));
  const auto done_so_far = done();
  CAF_REQUIRE_EQUAL(done_so_far.size(), 4u);
  CAF_CHECK_EQUAL(done_so_far[1], "subscribe b to gate of "
                                    + to_string(tool().proc) + " as tool "
                                    + to_string(tool().proc));
  uut.close(end_of("a"));
  CAF_REQUIRE_EQUAL(to.events.size(), 1u);
  const auto* family = find(to.events[0].what.infos, job_family_key);
  CAF_REQUIRE(family != nullptr);
  CAF_CHECK_EQUAL(*family->text(), "b");
  uut.close(end_of("b"));
  CAF_CHECK_EQUAL(to.events.size(), 2u);
  // Its tool stays for its own job only.
  uut.close(end_of("d"));
  CAF_CHECK_EQUAL(to.events.size(), 2u);
}

CAF_TEST(F5.19 the jobs of a tool that is lost end if they are bound to it) {
  open("a", tool(), {with(attr::notify_completion)});
  open("b", tool());
  open("c", tool(8), {with(attr::notify_completion)});
  to.subscribing[0](uint64_t{5});
  done();
  uut.lose_tool(tool());
  const auto gate = to_string(tool().proc);
  CAF_CHECK_EQUAL(done(), (lines{"unsubscribe 5", "end gate of " + gate,
                                 "end gate of " + gate}));
  CAF_REQUIRE_EQUAL(to.controls.size(), 1u);
  CAF_CHECK(to.controls[0].targets
            == (std::vector<proc_id>{{"a", rank_wildcard}}));
  uut.lose_tool(tool());
  CAF_CHECK_EQUAL(to.controls.size(), 1u);
  uut.close(end_of("a"));
  CAF_CHECK(to.events.empty());
  // The desk is late.
  to.subscribing[1](uint64_t{6});
  CAF_CHECK_EQUAL(done(), lines{"unsubscribe 6"});
}

CAF_TEST(F4.28 F5.11 a tool that waits for the end hears why there is no start) {
  auto request = spawn_request{};
  CAF_CHECK(!wants_reason(tool(), request));
  request.job_infos = {with(attr::notify_completion)};
  CAF_CHECK(wants_reason(tool(), request));
  CAF_CHECK(!wants_reason(asks({"a", 0}), request));
  uut.refused(tool(), make_error(status::out_of_resource, "no slots"));
  CAF_REQUIRE_EQUAL(to.events.size(), 1u);
  CAF_CHECK(to.events[0].targets == std::vector<proc_id>{tool().proc});
}

CAF_TEST_FIXTURE_SCOPE_END()
