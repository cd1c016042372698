// Hosts behind a function table, the well-behaved and all others.

#include "adapters/c_host/c_host.hpp"

#include "adapters/c_host/modex_blob.hpp"
#include "adapters/c_host/upcall.hpp"
#include "adapters/c_values/convert.hpp"
#include "base/directives.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/fixtures/deterministic.hpp"
#include "tests/fixtures/outcome.hpp"
#include "tests/test.hpp"

#include <caf/send.hpp>

#include <cstring>
#include <thread>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

/// What the host of a test does and has seen.
struct play {
  pmix_status_t returns = PMIX_SUCCESS;

  /// How often it calls back before it returns, and with what.
  int calls_back = 0;
  pmix_status_t outcome = PMIX_SUCCESS;

  pmix_op_cbfunc_t op = nullptr;
  pmix_modex_cbfunc_t modex = nullptr;
  pmix_info_cbfunc_t infos = nullptr;
  pmix_lookup_cbfunc_t lookup = nullptr;
  pmix_spawn_cbfunc_t spawn = nullptr;
  pmix_tool_connection_cbfunc_t tool = nullptr;
  pmix_credential_cbfunc_t credential = nullptr;
  void* cbdata = nullptr;
  int calls = 0;

  /// Pointers into arguments, as PRRTE keeps them.
  const pmix_info_t* info = nullptr;
  size_t ninfo = 0;
  const pmix_proc_t* procs = nullptr;
  size_t nprocs = 0;
  pmix_proc_t proc{};
  void* object = nullptr;
  std::string bytes;
  bool has_bytes = false;
  int released = 0;
};

play host;

void on_release(void*) {
  ++host.released;
}

bool has_key(const pmix_info_t* info, size_t ninfo, std::string_view key) {
  for (size_t i = 0; i < ninfo; ++i)
    if (key == info[i].key)
      return true;
  return false;
}

pmix_status_t op_called(pmix_op_cbfunc_t f, void* cbdata) {
  ++host.calls;
  host.op = f;
  host.cbdata = cbdata;
  for (auto i = 0; i < host.calls_back; ++i)
    f(host.outcome, cbdata);
  return host.returns;
}

pmix_status_t on_publish(const pmix_proc_t* proc, const pmix_info_t info[],
                         size_t ninfo, pmix_op_cbfunc_t f, void* cbdata) {
  host.proc = *proc;
  host.info = info;
  host.ninfo = ninfo;
  return op_called(f, cbdata);
}

/// Notes the keys of what is required.
void note_required(const pmix_info_t info[], size_t ninfo) {
  for (size_t i = 0; i < ninfo; ++i)
    if ((info[i].flags & PMIX_INFO_REQD) != 0)
      host.bytes += std::string{info[i].key} + " ";
}

pmix_status_t on_session(const pmix_proc_t*, uint32_t, const pmix_info_t info[],
                         size_t ninfo, pmix_info_cbfunc_t f, void* cbdata) {
  note_required(info, ninfo);
  f(PMIX_SUCCESS, nullptr, 0, cbdata, nullptr, nullptr);
  return PMIX_SUCCESS;
}

pmix_status_t on_block(const pmix_proc_t*, pmix_resource_block_directive_t,
                       const char*, const pmix_resource_unit_t*, size_t,
                       const pmix_info_t info[], size_t ninfo,
                       pmix_op_cbfunc_t f, void* cbdata) {
  note_required(info, ninfo);
  f(PMIX_SUCCESS, cbdata);
  return PMIX_SUCCESS;
}

pmix_status_t on_connected(const pmix_proc_t* proc, void* object,
                           pmix_op_cbfunc_t f, void* cbdata) {
  host.proc = *proc;
  host.object = object;
  return op_called(f, cbdata);
}

pmix_status_t on_connected2(const pmix_proc_t* proc, void* object,
                            pmix_info_t info[], size_t ninfo,
                            pmix_op_cbfunc_t f, void* cbdata) {
  CAF_CHECK(has_key(info, ninfo, PMIX_USERID));
  return on_connected(proc, object, f, cbdata);
}

pmix_status_t on_notify(pmix_status_t, const pmix_proc_t* source,
                        pmix_data_range_t, pmix_info_t[], size_t,
                        pmix_op_cbfunc_t f, void* cbdata) {
  CAF_REQUIRE(source != nullptr);
  host.proc = *source;
  return op_called(f, cbdata);
}

pmix_status_t on_fence(const pmix_proc_t procs[], size_t nprocs,
                       const pmix_info_t info[], size_t ninfo, char* data,
                       size_t ndata, pmix_modex_cbfunc_t f, void* cbdata) {
  ++host.calls;
  host.procs = procs;
  host.nprocs = nprocs;
  host.info = info;
  host.ninfo = ninfo;
  host.has_bytes = data != nullptr;
  if (data != nullptr)
    host.bytes.assign(data, ndata);
  std::free(data); // It is the host's, as Open MPI has it.
  host.modex = f;
  host.cbdata = cbdata;
  return host.returns;
}

pmix_status_t on_job_control(const pmix_proc_t*, const pmix_proc_t targets[],
                             size_t ntargets, const pmix_info_t info[],
                             size_t ninfo, pmix_info_cbfunc_t f, void* cbdata) {
  ++host.calls;
  host.procs = targets;
  host.nprocs = ntargets;
  host.info = info;
  host.ninfo = ninfo;
  host.infos = f;
  host.cbdata = cbdata;
  for (auto i = 0; i < host.calls_back; ++i)
    f(host.outcome, nullptr, 0, cbdata, on_release, nullptr);
  return host.returns;
}

pmix_status_t on_lookup(const pmix_proc_t*, char** keys, const pmix_info_t[],
                        size_t, pmix_lookup_cbfunc_t f, void* cbdata) {
  ++host.calls;
  host.bytes = keys[0];
  CAF_CHECK(keys[1] == nullptr);
  host.lookup = f;
  host.cbdata = cbdata;
  return host.returns;
}

pmix_status_t on_spawn(const pmix_proc_t*, const pmix_info_t[], size_t,
                       const pmix_app_t apps[], size_t napps,
                       pmix_spawn_cbfunc_t f, void* cbdata) {
  ++host.calls;
  CAF_CHECK_EQUAL(napps, 1u);
  host.bytes = apps[0].cmd;
  host.spawn = f;
  host.cbdata = cbdata;
  return host.returns;
}

void on_tool(pmix_info_t* info, size_t ninfo, pmix_tool_connection_cbfunc_t f,
             void* cbdata) {
  ++host.calls;
  host.info = info;
  host.ninfo = ninfo;
  host.tool = f;
  host.cbdata = cbdata;
}

pmix_status_t on_credential(const pmix_proc_t*, const pmix_info_t[], size_t,
                            pmix_credential_cbfunc_t f, void* cbdata) {
  ++host.calls;
  host.credential = f;
  host.cbdata = cbdata;
  return host.returns;
}

struct fixture : deterministic {
  c_host_settings settings;
  c_host_actor uut;
  std::vector<std::string> lines;
  const requester who = asks({"job", 3}, 5, 1234);

  fixture() {
    host = play{};
    settings.log = [this](severity, const std::string& x) {
      lines.push_back(x);
    };
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
    if (!uut)
      start();
    auto result = ask<T>(sys, uut, std::move(xs)...);
    consume_messages();
    return result;
  }

  pending<ack> publish() {
    settings.module.publish = on_publish;
    return call<ack>(who,
                     publish_request{1234, {with("k", value::integer(1))}});
  }

  pending<ack> connect() {
    if (settings.module.client_connected2 == nullptr)
      settings.module.client_connected = on_connected;
    return call<ack>(client_connected{who});
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(c_host_tests, fixture)

// -- returns and callbacks ---------------------------------------------------

CAF_TEST(C4.3 a callback after the return answers) {
  auto x = publish();
  CAF_CHECK(x->is_pending());
  host.op(PMIX_SUCCESS, host.cbdata);
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(C4.3 a callback before the return answers) {
  host.calls_back = 1;
  CAF_CHECK_EQUAL(publish()->code, status::success);
}

CAF_TEST(C4.3 an operation that succeeded needs no callback) {
  host.returns = PMIX_OPERATION_SUCCEEDED;
  CAF_CHECK_EQUAL(publish()->code, status::success);
}

CAF_TEST(C4.3 an error that is returned is the answer) {
  host.returns = PMIX_ERR_DUPLICATE_KEY;
  CAF_CHECK_EQUAL(publish()->code, status::duplicate_key);
}

CAF_TEST(C4.3 an error in the callback is the answer) {
  host.calls_back = 1;
  host.outcome = PMIX_ERR_NO_PERMISSIONS;
  CAF_CHECK_EQUAL(publish()->code, status::no_permissions);
}

CAF_TEST(C4.3 whoever calls back and returns an error is taken at the first) {
  host.calls_back = 1;
  host.returns = PMIX_ERROR;
  CAF_CHECK_EQUAL(publish()->code, status::success);
}

CAF_TEST(C4.3 whoever calls back twice is taken at the first) {
  host.calls_back = 2;
  auto x = publish();
  CAF_CHECK_EQUAL(x->code, status::success);
  host.op(PMIX_ERROR, host.cbdata);
  host.op(PMIX_ERROR, host.cbdata);
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(C4.3 a callback after an error was returned does nothing) {
  host.returns = PMIX_ERR_NOT_FOUND;
  auto x = publish();
  host.op(PMIX_SUCCESS, host.cbdata);
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::not_found);
}

CAF_TEST(C4.3 nonsense for cbdata does nothing) {
  auto x = publish();
  int anything = 0;
  host.op(PMIX_SUCCESS, nullptr);
  host.op(PMIX_SUCCESS, &anything);
  host.op(PMIX_SUCCESS, reinterpret_cast<void*>(~uintptr_t{0}));
  consume_messages();
  CAF_CHECK(x->is_pending());
}

CAF_TEST(C4.3 the callback of another kind does nothing) {
  auto x = publish();
  upcalls::on_spawn(PMIX_SUCCESS, nullptr, host.cbdata);
  upcalls::on_tool(PMIX_SUCCESS, nullptr, host.cbdata);
  upcalls::on_info(PMIX_SUCCESS, nullptr, 3, host.cbdata, nullptr, nullptr);
  consume_messages();
  CAF_CHECK(x->is_pending());
  host.op(PMIX_SUCCESS, host.cbdata);
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(C4.3 many threads answer at once and one counts) {
  auto x = publish();
  auto threads = std::vector<std::thread>{};
  for (auto i = 0; i < 8; ++i)
    threads.emplace_back([] { host.op(PMIX_SUCCESS, host.cbdata); });
  for (auto& thread : threads)
    thread.join();
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(C4.3 a callback after the end of the host does nothing) {
  auto x = publish();
  end(uut);
  CAF_CHECK(x->code == status::unreach);
  host.op(PMIX_SUCCESS, host.cbdata);
  consume_messages();
  CAF_CHECK_EQUAL(upcalls::size(), 0u);
}

// -- arguments ---------------------------------------------------------------

CAF_TEST(C4.2 arguments live until the host answers) {
  settings.module.job_control = on_job_control;
  auto x = call<info_result>(
    who, job_control_request{{{"job", 7}},
                             {with("some.key", value::string("text"))}});
  consume_messages();
  CAF_CHECK_EQUAL(host.nprocs, 1u);
  CAF_CHECK_EQUAL(std::string{host.procs[0].nspace}, "job");
  CAF_CHECK_EQUAL(host.procs[0].rank, 7u);
  CAF_CHECK_EQUAL(std::string{host.info[0].key}, "some.key");
  CAF_CHECK_EQUAL(std::string{host.info[0].value.data.string}, "text");
  host.infos(PMIX_SUCCESS, nullptr, 0, host.cbdata, on_release, nullptr);
  CAF_CHECK_EQUAL(host.released, 0); // Not inside of the callback.
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(host.released, 1);
}

CAF_TEST(C4.2 arguments outlive a time-out until the host answers after all) {
  settings.module.job_control = on_job_control;
  auto x = call<info_result>(
    who, job_control_request{{{"job", 7}}, {with("some.key")}});
  elapse(defaults::host_call + std::chrono::seconds{1});
  CAF_CHECK_EQUAL(x->code, status::timeout);
  CAF_CHECK_EQUAL(upcalls::size(), 1u);
  CAF_CHECK_EQUAL(std::string{host.info[0].key}, "some.key");
  host.infos(PMIX_SUCCESS, nullptr, 0, host.cbdata, on_release, nullptr);
  consume_messages();
  CAF_CHECK_EQUAL(upcalls::size(), 0u);
  CAF_CHECK_EQUAL(host.released, 1);
}

CAF_TEST(C4.2 the host learns user and group of whoever asks) {
  publish();
  CAF_CHECK(has_key(host.info, host.ninfo, PMIX_USERID));
  CAF_CHECK(has_key(host.info, host.ninfo, PMIX_GRPID));
  CAF_CHECK_EQUAL(host.proc.rank, 3u);
}

CAF_TEST(C4.2 what nobody waits for is given back at once) {
  upcalls::on_info(PMIX_SUCCESS, nullptr, 0, nullptr, on_release, nullptr);
  CAF_CHECK_EQUAL(host.released, 1);
}

CAF_TEST(C4.2 results are copied and released even if they come twice) {
  settings.module.job_control = on_job_control;
  host.calls_back = 2;
  CAF_CHECK_EQUAL(call<info_result>(who, job_control_request{{}, {}})->code,
                  status::success);
  CAF_CHECK_EQUAL(host.released, 2);
}

CAF_TEST(C4.2 booleans that say no are not shown to a fence) {
  settings.module.fence_nb = on_fence;
  auto fence = host_collective{};
  fence.procs = {{"job", rank_wildcard}};
  fence.directives = {with(attr::collect_data, value::boolean(false)),
                      with("yes", value::boolean(true))};
  auto x = call<host_collective_result>(fence);
  CAF_CHECK(!has_key(host.info, host.ninfo, PMIX_COLLECT_DATA));
  CAF_CHECK(has_key(host.info, host.ninfo, "yes"));
  CAF_CHECK(!host.has_bytes);
  host.modex(PMIX_SUCCESS, nullptr, 0, host.cbdata, nullptr, nullptr);
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(C4.2 an event without a source has one with an empty namespace) {
  settings.module.notify_event = on_notify;
  host.calls_back = 1;
  auto nobody = who;
  nobody.proc = {};
  CAF_CHECK_EQUAL(call<ack>(nobody, notify_request{})->code, status::success);
  CAF_CHECK_EQUAL(host.proc.nspace[0], '\0');
  CAF_CHECK_EQUAL(host.proc.rank, PMIX_RANK_UNDEF);
}

// -- data --------------------------------------------------------------------

CAF_TEST(C4.8 a fence carries data to the host and back) {
  settings.module.fence_nb = on_fence;
  auto fence = host_collective{};
  fence.procs = {{"job", rank_wildcard}};
  fence.data = {{{"job", 0}, {{"k", value::string("v")}}}};
  auto x = call<host_collective_result>(fence);
  CAF_REQUIRE(host.has_bytes);
  const auto all =
    host.bytes + *to_modex_blob({{{"job", 9}, {{"r", value::uint32(1)}}}});
  host.modex(PMIX_SUCCESS, all.data(), all.size(), host.cbdata, on_release,
             nullptr);
  consume_messages();
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(x->value.data.size(), 2u);
  CAF_CHECK_EQUAL(x->value.data[1].proc.rank, 9u);
  CAF_CHECK_EQUAL(host.released, 1);
}

CAF_TEST(C4.8 nonsense that a fence brings fails it) {
  settings.module.fence_nb = on_fence;
  auto fence = host_collective{};
  fence.procs = {{"job", rank_wildcard}};
  auto x = call<host_collective_result>(fence);
  host.modex(PMIX_SUCCESS, "junk", 4, host.cbdata, nullptr, nullptr);
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::unpack_failure);
}

CAF_TEST(C4.3 lookup and spawn and tool and credential give their values) {
  settings.module.lookup = on_lookup;
  settings.module.spawn = on_spawn;
  settings.module.tool_connected = on_tool;
  settings.module.get_credential = on_credential;
  auto found = call<lookup_result>(who, lookup_request{1234, {"key"}, {}});
  CAF_CHECK_EQUAL(host.bytes, "key");
  auto data = c_api::to_c_pdatas({{{"job", 1}, "key", value::uint32(5)}});
  host.lookup(PMIX_SUCCESS, data->data(), 1, host.cbdata);
  consume_messages();
  CAF_REQUIRE_EQUAL(found->code, status::success);
  CAF_CHECK_EQUAL(found->value.found.size(), 1u);

  auto request = spawn_request{};
  request.apps.resize(1);
  request.apps[0].cmd = "a.out";
  auto job = call<spawn_result>(who, request);
  CAF_CHECK_EQUAL(host.bytes, "a.out");
  char name[PMIX_MAX_NSLEN + 1] = "child";
  host.spawn(PMIX_SUCCESS, name, host.cbdata);
  consume_messages();
  CAF_CHECK_EQUAL(job->value.nspace, "child");

  auto tool = call<proc_id>(tool_connected{who, {}});
  CAF_CHECK(has_key(host.info, host.ninfo, PMIX_USERID));
  auto identity = pmix_proc_t{};
  std::strcpy(identity.nspace, "tools");
  host.tool(PMIX_SUCCESS, &identity, host.cbdata);
  consume_messages();
  CAF_CHECK_EQUAL(tool->value.nspace, "tools");

  auto secret = call<get_credential_result>(who, get_credential_request{});
  char text[] = "abc";
  auto bytes = pmix_byte_object_t{text, 3};
  host.credential(PMIX_SUCCESS, &bytes, nullptr, 0, host.cbdata);
  consume_messages();
  CAF_CHECK_EQUAL(secret->value.credential, "abc");
}

CAF_TEST(C4.3 a tool without an identity is refused) {
  settings.module.tool_connected = on_tool;
  auto tool = call<proc_id>(tool_connected{who, {}});
  host.tool(PMIX_SUCCESS, nullptr, host.cbdata);
  consume_messages();
  CAF_CHECK_EQUAL(tool->code, status::bad_param);
}

// -- hosts that never answer -------------------------------------------------

CAF_TEST(C4.4 a host that never answers is named and the call ends) {
  auto x = publish();
  elapse(defaults::host_call - std::chrono::seconds{1});
  CAF_CHECK(x->is_pending());
  elapse(std::chrono::seconds{2});
  CAF_CHECK_EQUAL(x->code, status::timeout);
  CAF_REQUIRE_EQUAL(lines.size(), 1u);
  CAF_CHECK(lines[0].find("publish for job:3") != std::string::npos);
}

CAF_TEST(C4.4 a fence waits for ever unless it has a time-out) {
  settings.module.fence_nb = on_fence;
  auto fence = host_collective{};
  fence.procs = {{"job", rank_wildcard}};
  auto patient = call<host_collective_result>(fence);
  fence.directives = {with(attr::timeout, value::integer(5))};
  auto hasty = call<host_collective_result>(fence);
  elapse(std::chrono::hours{1});
  CAF_CHECK(patient->is_pending());
  CAF_CHECK_EQUAL(hasty->code, status::timeout);
}

CAF_TEST(C4.4 too many calls without an answer are refused) {
  settings.module.publish = on_publish;
  auto all = std::vector<pending<ack>>{};
  for (size_t i = 0; i < defaults::host_calls_in_flight; ++i)
    all.push_back(publish());
  CAF_CHECK_EQUAL(publish()->code, status::out_of_resource);
  host.op(PMIX_SUCCESS, host.cbdata);
  consume_messages();
  CAF_CHECK_EQUAL(all.back()->code, status::success);
  CAF_CHECK(publish()->is_pending());
}

CAF_TEST(C4.4 a client is let in by a host that says yes and never calls back) {
  auto first = connect();
  CAF_CHECK(first->is_pending());
  elapse(defaults::host_connect_grace);
  CAF_CHECK_EQUAL(first->code, status::success);
  // From then on it is known.
  CAF_CHECK_EQUAL(connect()->code, status::success);
}

CAF_TEST(C4.4 a host of release 6 has longer to call back) {
  settings.module_size = sizeof(pmix_server_module_t);
  auto x = connect();
  elapse(defaults::host_connect_grace_6 - std::chrono::milliseconds{1});
  CAF_CHECK(x->is_pending());
  host.op(PMIX_ERR_NO_PERMISSIONS, host.cbdata);
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::no_permissions);
}

CAF_TEST(C4.3 a client is refused by what the host returns or calls back) {
  host.returns = PMIX_ERR_NO_PERMISSIONS;
  CAF_CHECK_EQUAL(connect()->code, status::no_permissions);
  host.returns = PMIX_SUCCESS;
  host.calls_back = 1;
  host.outcome = PMIX_ERR_NOT_FOUND;
  CAF_CHECK_EQUAL(connect()->code, status::not_found);
}

CAF_TEST(C4.6 a host gets its object back and the newer entry is preferred) {
  int object = 0;
  settings.objects->set({"job", 3}, &object);
  settings.module.client_connected2 = on_connected2;
  host.returns = PMIX_OPERATION_SUCCEEDED;
  CAF_CHECK_EQUAL(connect()->code, status::success);
  CAF_CHECK_EQUAL(host.object, &object);
}

CAF_TEST(F4.41 what the table leaves to hosts is required of them) {
  settings.module.session_control = on_session;
  settings.module.resource_block = on_block;
  auto rows = 0;
  for (const auto& row : all_directives()) {
    const auto is_session = row.call == pmix_call::session_control;
    if (!is_session && row.call != pmix_call::resource_block)
      continue;
    ++rows;
    auto what = with(row.key, value::integer(1));
    what.flags = info_required;
    CAF_CHECK(check_required(row.call, {what}, next_host::ours));
    CAF_CHECK(!check_required(row.call, {what}, next_host::foreign));
    host.bytes.clear();
    if (is_session) {
      auto request = session_control_request{};
      request.directives = {what};
      CAF_CHECK_EQUAL(call<info_result>(who, request)->code, status::success);
    } else {
      auto request = resource_block_request{};
      request.directives = {what};
      CAF_CHECK_EQUAL(call<ack>(who, request)->code, status::success);
    }
    CAF_CHECK_EQUAL(host.bytes, std::string{row.key} + " ");
  }
  CAF_CHECK(rows > 10);
}

// -- entries that are missing ------------------------------------------------

CAF_TEST(C4.5 without an entry the error is that of the Standard) {
  const auto none = status::not_supported;
  CAF_CHECK_EQUAL(call<ack>(who, publish_request{})->code, none);
  CAF_CHECK_EQUAL(call<lookup_result>(who, lookup_request{})->code, none);
  CAF_CHECK_EQUAL(call<ack>(who, unpublish_request{})->code, none);
  CAF_CHECK_EQUAL(call<spawn_result>(who, spawn_request{})->code, none);
  CAF_CHECK_EQUAL(call<ack>(who, abort_request{})->code, none);
  CAF_CHECK_EQUAL(call<ack>(who, notify_request{})->code, none);
  CAF_CHECK_EQUAL(call<ack>(who, register_events_request{})->code, none);
  CAF_CHECK_EQUAL(call<ack>(who, log_request{})->code, none);
  CAF_CHECK_EQUAL(call<info_result>(who, query_request{})->code, none);
  CAF_CHECK_EQUAL(call<info_result>(who, job_control_request{})->code, none);
  CAF_CHECK_EQUAL(call<info_result>(who, monitor_request{})->code, none);
  CAF_CHECK_EQUAL(call<info_result>(who, allocation_request{})->code, none);
  CAF_CHECK_EQUAL(call<info_result>(who, session_control_request{})->code,
                  none);
  CAF_CHECK_EQUAL(call<ack>(who, resource_block_request{})->code, none);
  CAF_CHECK_EQUAL(
    call<get_credential_result>(who, get_credential_request{})->code, none);
  CAF_CHECK_EQUAL(call<info_result>(who, validate_credential_request{})->code,
                  none);
  CAF_CHECK_EQUAL(call<info_result>(who, fabric_register_request{})->code,
                  none);
  CAF_CHECK_EQUAL(call<info_result>(who, fabric_update_request{})->code, none);
  CAF_CHECK_EQUAL(call<info_result>(host_group{})->code, none);
  CAF_CHECK_EQUAL(call<proc_places>(locate_procs{})->code, none);
  CAF_CHECK_EQUAL(call<ack>(order_group_entry{})->code, none);
  CAF_CHECK_EQUAL(call<io_pull_result>(who, io_pull_request{})->code, none);
  CAF_CHECK_EQUAL(call<ack>(who, io_push_request{})->code, none);
  CAF_CHECK_EQUAL(call<proc_id>(tool_connected{who, {}})->code, none);
  CAF_CHECK_EQUAL(call<get_result>(direct_modex{{"job", 1}, {}})->code,
                  status::not_found);
}

CAF_TEST(C4.5 without entries clients come and go and local fences end) {
  CAF_CHECK_EQUAL(call<ack>(client_connected{who})->code, status::success);
  CAF_CHECK_EQUAL(call<ack>(client_finalized{who})->code, status::success);
  auto fence = host_collective{};
  fence.is_local = true;
  CAF_CHECK_EQUAL(call<host_collective_result>(fence)->code, status::success);
  fence.is_local = false;
  CAF_CHECK_EQUAL(call<host_collective_result>(fence)->code,
                  status::not_supported);
  fence.kind = collective_kind::connect;
  CAF_CHECK_EQUAL(call<host_collective_result>(fence)->code,
                  status::not_supported);
}

CAF_TEST(C4.5 a fence of local processes does not bother the host) {
  settings.module.fence_nb = on_fence;
  auto fence = host_collective{};
  fence.is_local = true;
  CAF_CHECK_EQUAL(call<host_collective_result>(fence)->code, status::success);
  CAF_CHECK_EQUAL(host.calls, 0);
}

CAF_TEST(C4.5 connecting local processes needs no entry of the host) {
  auto connect = host_collective{};
  connect.is_local = true;
  for (const auto kind :
       {collective_kind::connect, collective_kind::disconnect}) {
    connect.kind = kind;
    CAF_CHECK_EQUAL(call<host_collective_result>(connect)->code,
                    status::success);
  }
}

CAF_TEST(C3.14 the library hears of a client that lost its connection) {
  auto lost = std::vector<requester>{};
  settings.on_lost = [&](const requester& x) { lost.push_back(x); };
  start();
  caf::anon_send(uut, client_lost{who});
  // A tool that was not let in.
  auto nobody = who;
  nobody.proc = {};
  caf::anon_send(uut, client_lost{nobody});
  consume_messages();
  CAF_REQUIRE_EQUAL(lost.size(), 1u);
  CAF_CHECK(lost.front().proc == who.proc);
}

CAF_TEST_FIXTURE_SCOPE_END()
