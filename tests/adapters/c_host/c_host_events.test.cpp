// What a host behind a function table is told of events, and asked about them.

#include "adapters/c_host/c_host.hpp"
#include "adapters/c_host/upcall.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/fixtures/deterministic.hpp"
#include "tests/fixtures/outcome.hpp"

#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

constexpr auto hot = static_cast<status>(-250);
constexpr auto cold = static_cast<status>(-251);
constexpr auto job_code = status::proc_aborted;

/// What the host of a test does and has seen.
struct play {
  pmix_status_t returns = PMIX_SUCCESS;
  int calls_back = 0;
  std::string journal;
  pmix_op_cbfunc_t op = nullptr;
  void* cbdata = nullptr;
};

play host;

void note(const char* what, const pmix_status_t* codes, size_t n) {
  host.journal += what;
  if (codes == nullptr)
    host.journal += " null";
  for (size_t i = 0; i < n; ++i)
    host.journal += " " + std::to_string(codes[i]);
  host.journal += ";";
}

pmix_status_t called(pmix_op_cbfunc_t f, void* cbdata) {
  host.op = f;
  host.cbdata = cbdata;
  for (auto i = 0; i < host.calls_back; ++i)
    f(PMIX_SUCCESS, cbdata);
  return host.returns;
}

pmix_status_t on_register(pmix_status_t* codes, size_t n, const pmix_info_t*,
                          size_t, pmix_op_cbfunc_t f, void* cbdata) {
  note("+", codes, n);
  return called(f, cbdata);
}

pmix_status_t on_deregister(pmix_status_t* codes, size_t n, pmix_op_cbfunc_t f,
                            void* cbdata) {
  note("-", codes, n);
  return called(f, cbdata);
}

pmix_status_t on_notify(pmix_status_t code, const pmix_proc_t* source,
                        pmix_data_range_t range, pmix_info_t info[],
                        size_t ninfo, pmix_op_cbfunc_t f, void* cbdata) {
  CAF_REQUIRE(source != nullptr);
  host.journal += std::string{source->nspace} + ":"
                  + std::to_string(source->rank) + " raises "
                  + std::to_string(code) + " in "
                  + std::to_string(static_cast<int>(range));
  for (size_t i = 0; i < ninfo; ++i) {
    CAF_REQUIRE(info != nullptr);
    CAF_REQUIRE_EQUAL(info[i].value.type, PMIX_STRING);
    host.journal +=
      std::string{" "} + info[i].key + "=" + info[i].value.data.string;
  }
  host.journal += ";";
  return called(f, cbdata);
}

struct fixture : deterministic {
  c_host_settings settings;
  c_host_actor uut;
  const requester who = asks({"job", 3}, 5, 1234);

  fixture() {
    host = play{};
    host.returns = PMIX_OPERATION_SUCCEEDED;
    settings.module.register_events = on_register;
    settings.module.deregister_events = on_deregister;
    settings.module.notify_event = on_notify;
    settings.origin = "here";
  }

  ~fixture() override {
    if (uut)
      end(uut);
    uut = nullptr;
    CAF_CHECK_EQUAL(upcalls::size(), 0u);
  }

  void start() {
    uut = spawn_c_host(sys, settings);
    consume_messages();
  }

  template <class T, class... Us>
  pending<T> call(Us... xs) {
    auto result = ask<T>(sys, uut, std::move(xs)...);
    consume_messages();
    return result;
  }

  std::string journal() {
    return std::exchange(host.journal, {});
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(c_host_events_tests, fixture)

CAF_TEST(E4 E42 a host is asked for codes and told that they are not wanted) {
  start();
  const auto x = call<ack>(who, register_events_request{{hot, cold}, {}});
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(journal(), "+ -250 -251;");
  caf::anon_send(uut, who, deregister_events_request{{hot}});
  consume_messages();
  CAF_CHECK_EQUAL(journal(), "- -250;");
}

CAF_TEST(E6 E42 a null list asks a host for all codes) {
  start();
  call<ack>(who, register_events_request{{}, {}});
  caf::anon_send(uut, who, deregister_events_request{{default_events}});
  caf::anon_send(uut, who, deregister_events_request{{hot, default_events}});
  consume_messages();
  CAF_CHECK_EQUAL(journal(), "+ null;- null;- null;- -250;");
}

// 4.1, 24.
CAF_TEST(E42 a registration is answered once however the host answers) {
  start();
  CAF_CHECK_EQUAL(call<ack>(who, register_events_request{{hot}, {}})->code,
                  status::success);
  host.returns = PMIX_SUCCESS;
  const auto later = call<ack>(who, register_events_request{{hot}, {}});
  CAF_CHECK(later->is_pending());
  host.op(PMIX_SUCCESS, host.cbdata);
  host.op(PMIX_ERROR, host.cbdata);
  consume_messages();
  CAF_CHECK_EQUAL(later->code, status::success);
  host.calls_back = 2;
  CAF_CHECK_EQUAL(call<ack>(who, register_events_request{{hot}, {}})->code,
                  status::success);
  host.returns = PMIX_ERR_NOT_AVAILABLE;
  host.calls_back = 0;
  CAF_CHECK_EQUAL(call<ack>(who, register_events_request{{hot}, {}})->code,
                  status::not_available);
}

// 4.1, 25.
CAF_TEST(E42 a host without the entry does not support environment events) {
  settings.module.register_events = nullptr;
  settings.module.deregister_events = nullptr;
  start();
  CAF_CHECK_EQUAL(call<ack>(who, register_events_request{{hot}, {}})->code,
                  status::not_supported);
  caf::anon_send(uut, who, deregister_events_request{{hot}});
  consume_messages();
  CAF_CHECK_EQUAL(journal(), "");
}

CAF_TEST(E1 E38 E57 the event of a client goes to the host as it was raised) {
  start();
  const auto infos = std::vector<info>{
    {std::string{attr::event_text_message}, 0, value::string("hello")}};
  const auto x =
    call<ack>(who, notify_request{job_code, data_range::global, infos});
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(journal(), "job:3 raises "
                               + std::to_string(static_cast<int>(job_code))
                               + " in 5 pmix.evtext=hello"
                                 " troupe.event.origin=here;");
}

CAF_TEST(E57 the word of the host is the answer to the notifier) {
  start();
  host.returns = PMIX_ERR_NOT_SUPPORTED;
  CAF_CHECK_EQUAL(
    call<ack>(who, notify_request{job_code, data_range::global, {}})->code,
    status::not_supported);
  host.returns = PMIX_SUCCESS;
  const auto x =
    call<ack>(who, notify_request{job_code, data_range::session, {}});
  CAF_CHECK(x->is_pending());
  host.op(PMIX_ERR_UNREACH, host.cbdata);
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::unreach);
}

CAF_TEST(E40 an event for the resource manager reaches the handlers of its host) {
  auto heard = std::vector<event>{};
  settings.on_manager_event = [&](const event& x) {
    heard.push_back(x);
    return x.code == job_code;
  };
  start();
  call<ack>(who, notify_request{job_code, data_range::global, {}});
  CAF_CHECK(heard.empty());
  journal();
  const auto x = call<ack>(who, notify_request{job_code, data_range::rm, {}});
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_REQUIRE_EQUAL(heard.size(), 1u);
  CAF_CHECK(heard[0].source == who.proc);
  CAF_CHECK(journal().find("in 1 troupe.event.origin=here;")
            != std::string::npos);
}

// 4.2, 42 and 44.
CAF_TEST(C12.8 E1 E40 what nobody in the host hears is not supported) {
  settings.module.notify_event = nullptr;
  settings.on_manager_event = [](const event& x) { return x.code == job_code; };
  start();
  const auto answer = [&](status code, data_range range) {
    return call<ack>(who, notify_request{code, range, {}})->code;
  };
  CAF_CHECK_EQUAL(answer(job_code, data_range::rm), status::success);
  CAF_CHECK_EQUAL(answer(hot, data_range::rm), status::not_supported);
  CAF_CHECK_EQUAL(answer(job_code, data_range::global), status::not_supported);
}

CAF_TEST_FIXTURE_SCOPE_END()
