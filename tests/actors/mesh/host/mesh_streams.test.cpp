// Streams between the nodes of a DVM: what is wanted crosses once, to whoever
// wants it and may have it.

#include "config/defaults.hpp"
#include "tests/fixtures/stream_mesh.hpp"

using namespace troupe;
using namespace troupe::fixtures;
using namespace troupe::fixtures::streams_of_mesh;

CAF_TEST_FIXTURE_SCOPE(mesh_streams_tests, stream_mesh)

CAF_TEST(I14 I15 streams cost no message before they have a byte) {
  spawn();
  CAF_CHECK_EQUAL(count<io_interest>(), 0u);
  CAF_CHECK_EQUAL(count<io_fragment>(), 0u);
  mesh.write(2, {nspace, 4}, "text");
  CAF_CHECK_EQUAL(count<io_fragment>(), 1u);
  CAF_CHECK_EQUAL(shown_at(0), "text");
}

CAF_TEST(I12 I17 the end of a job costs no message for its streams) {
  spawn();
  mesh.write(2, {nspace, 4}, "text");
  mesh.write(2, {nspace, 4}, "");
  CAF_CHECK_EQUAL(count<io_fragment>(), 2u);
  end_all();
  CAF_CHECK_EQUAL(count_jobs(), 0u);
  CAF_CHECK_EQUAL(count<io_interest>(), 0u);
  CAF_CHECK_EQUAL(count<io_fragment>(), 2u);
}

CAF_TEST(I13 what nobody wants crosses nothing and holds up nobody) {
  spawn(6, {with(attr::fwd_stdout, value::boolean(false))});
  for (auto i = 0; i < 100; ++i)
    CAF_CHECK_EQUAL(
      mesh.write(2, {nspace, 4}, std::string(size_t{64} << 10, 'x'))->code,
      status::success);
  CAF_CHECK_EQUAL(count<io_fragment>(), 0u);
  CAF_CHECK(mesh[0].output->empty());
}

CAF_TEST(I2 I5 IO-5 a tool at any node gets the tail and what follows) {
  spawn(6, {with(attr::fwd_stdout, value::boolean(false))});
  mesh.write(2, {nspace, 4}, "early ");
  const auto tool = attach(1);
  const auto x = pull(1, tool, {{nspace, 4}});
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(seen_by(tool), "early ");
  mesh.write(2, {nspace, 4}, "late");
  mesh.write(2, {nspace, 5}, "another rank");
  mesh.write(2, {nspace, 4}, "another stream", io_channels::stderr_);
  CAF_CHECK_EQUAL(seen_by(tool), "early late");
  CAF_CHECK_EQUAL(tool->wire->output.at(0).handler, 5u);
  CAF_CHECK(tool->wire->output[0].source == (proc_id{nspace, 4}));
}

CAF_TEST(I16 marks on every node have the host and number of the process) {
  spawn(6, {with(attr::fwd_stdout, value::boolean(false))});
  const auto detailed =
    with(attr::iof_tag_detailed_output, value::boolean(true));
  const auto shown = attach(1);
  pull(1, shown, {{nspace, rank_wildcard}}, {detailed});
  const auto told = attach(1);
  pull(1, told, {{nspace, 4}},
       {detailed, with(io_offsets_key, value::boolean(true))});
  mesh.write(2, {nspace, 4}, "far\n");
  mesh.write(1, {nspace, 2}, "near\n");
  const auto of = [&](uint32_t node, uint32_t rank) {
    return "[1," + std::to_string(rank) + "][n" + std::to_string(node) + ":"
           + std::to_string(launcher_script::pid_of(rank)) + "]<stdout>: ";
  };
  CAF_CHECK_EQUAL(seen_by(shown), of(2, 4) + "far\n" + of(1, 2) + "near\n");
  CAF_REQUIRE_EQUAL(seen_by(told), "far\n");
  const auto& infos = told->wire->output.at(0).infos;
  CAF_CHECK_EQUAL(text(infos, attr::hostname).value_or(""), "n2");
  CAF_CHECK(number<uint32_t>(infos, attr::proc_pid)
            == launcher_script::pid_of(4));
}

CAF_TEST(I5 I13 a stream crosses once however many want it) {
  spawn(6, {with(attr::fwd_stdout, value::boolean(false))});
  const auto one = attach(1);
  const auto two = attach(1);
  pull(1, one, {{nspace, 4}});
  pull(1, two, {{nspace, rank_wildcard}});
  mesh.write(2, {nspace, 4}, "text");
  CAF_CHECK_EQUAL(count<io_fragment>(), 1u);
  CAF_CHECK_EQUAL(seen_by(one), "text");
  CAF_CHECK_EQUAL(seen_by(two), "text");
  mesh.write(1, {nspace, 2}, " near");
  CAF_CHECK_EQUAL(count<io_fragment>(), 1u);
  CAF_CHECK_EQUAL(seen_by(two), "text near");
}

CAF_TEST(I2 I11 a tool that wants no more gets no more) {
  spawn(6, {with(attr::fwd_stdout, value::boolean(false))});
  const auto tool = attach(1);
  const auto x = pull(1, tool, {{nspace, 4}});
  const auto other = attach(1);
  CAF_CHECK_EQUAL(
    ask<ack>(1, other, io_deregister_request{{}, x->value.subscription})->code,
    status::no_permissions);
  mesh.write(2, {nspace, 4}, "one");
  CAF_CHECK_EQUAL(
    ask<ack>(1, tool, io_deregister_request{{}, x->value.subscription})->code,
    status::success);
  const auto crossed = count<io_fragment>();
  mesh.write(2, {nspace, 4}, "two");
  CAF_CHECK_EQUAL(seen_by(tool), "one");
  CAF_CHECK_EQUAL(count<io_fragment>(), crossed);
  CAF_CHECK_EQUAL(ask<ack>(1, tool, io_deregister_request{{}, 99})->code,
                  status::not_found);
}

CAF_TEST(I8 a tool goes on at the byte that it names) {
  spawn(6, {with(attr::fwd_stdout, value::boolean(false))});
  const auto tool = attach(1);
  const auto x = pull(1, tool, {{nspace, 4}});
  mesh.write(2, {nspace, 4}, "0123456789");
  ask<ack>(1, tool, io_deregister_request{{}, x->value.subscription});
  mesh.write(2, {nspace, 4}, "abcdef");
  const auto next = attach(1);
  pull(1, next, {{nspace, 4}},
       {with(io_offset_key, value::uint64(8)),
        with(io_offsets_key, value::boolean(true))});
  CAF_CHECK_EQUAL(seen_by(next), "89abcdef");
  CAF_REQUIRE(!next->wire->output.empty());
  CAF_CHECK(number<uint64_t>(next->wire->output[0].infos, io_offset_key) == 8u);
}

CAF_TEST(I18 LIM14 the nodes of a job share what may wait for a reader) {
  auto windows = std::vector<uint64_t>{};
  mesh.passes = [&](uint32_t, uint32_t, const host_message& what) {
    if (const auto* call = std::get_if<host_call>(&what))
      if (const auto* x = std::get_if<io_interest>(&call->what))
        windows.push_back(x->window);
    return true;
  };
  spawn(6, {with(attr::fwd_stdout, value::boolean(false))});
  const auto tool = attach(1);
  pull(1, tool, {{nspace, 4}});
  CAF_CHECK_EQUAL(windows,
                  std::vector<uint64_t>(2, defaults::io_window_total / 3));
}

CAF_TEST(I5 readers of all jobs get those to come with no message for them) {
  const auto tool = attach(1);
  CAF_REQUIRE_EQUAL(pull(1, tool, {{"", rank_wildcard}})->code,
                    status::success);
  const auto asked = count<io_interest>();
  spawn(6, {with(attr::fwd_stdout, value::boolean(false))});
  mesh.write(2, {nspace, 4}, "far ");
  mesh.write(1, {nspace, 2}, "near");
  CAF_CHECK_EQUAL(seen_by(tool), "far near");
  CAF_CHECK_EQUAL(count<io_interest>(), asked);
  end_all();
  CAF_CHECK_EQUAL(count_jobs(), 0u);
}

CAF_TEST(I5 readers of all jobs get those that run) {
  spawn(6, {with(attr::fwd_stdout, value::boolean(false))});
  mesh.write(2, {nspace, 4}, "early");
  const auto tool = attach(1);
  CAF_REQUIRE_EQUAL(pull(1, tool, {})->code, status::success);
  CAF_CHECK_EQUAL(seen_by(tool), "early");
}

// Edge case 199.
CAF_TEST(I5 whoever watches a job gets the output of those that it spawns) {
  spawn(5);
  const auto tool = attach(1);
  pull(1, tool, {{nspace, rank_wildcard}});
  const auto parent = mesh.connect(2, nspace, 4);
  const auto x = ask<spawn_result>(2, parent, job_host::program(1));
  CAF_REQUIRE_EQUAL(x->code, status::success);
  const auto child = proc_id{x->value.nspace, 0};
  for (uint32_t node = 0; node < 3; ++node)
    for (const auto& y : mesh[node].launcher->processes)
      if (y.sink && y.spec.proc == child)
        mesh.write(node, child, "child");
  CAF_CHECK_EQUAL(seen_by(tool), "child");
  CAF_CHECK_EQUAL(shown_at(0), "child");
}

// Edge case 200.
CAF_TEST(IO-4 output that is there before the name of its job waits for it) {
  const auto tool = attach(1);
  mesh[2].launcher->holds_starts = true;
  auto asked = ask<spawn_result>(1, tool, job_host::program(6));
  CAF_CHECK(asked->is_pending());
  const auto x = mesh.write(0, {nspace, 0}, "early");
  CAF_CHECK_EQUAL(seen_by(tool), "");
  mesh[2].launcher->holds_starts = false;
  mesh[2].launcher->release();
  consume_messages();
  CAF_REQUIRE_EQUAL(asked->code, status::success);
  CAF_CHECK_EQUAL(x->code, status::success);
  mesh.write(0, {nspace, 0}, " late");
  CAF_CHECK_EQUAL(seen_by(tool), "early late");
}

CAF_TEST(IO-1 IO-4 what waits for the name of its job does not depend on the tail) {
  const auto tool = attach(1);
  mesh[2].launcher->holds_starts = true;
  auto asked =
    ask<spawn_result>(1, tool,
                      job_host::program(6, {{std::string{attr::iof_cache_size},
                                             0, value::uint64(0)}}));
  const auto x = mesh.write(0, {nspace, 0}, "early");
  mesh.write(1, {nspace, 2}, " and of its own node");
  mesh[2].launcher->holds_starts = false;
  mesh[2].launcher->release();
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(seen_by(tool), "early and of its own node");
}

CAF_TEST(IO-4 I18 output of a job that does not start holds up nobody) {
  const auto tool = attach(1);
  mesh[2].launcher->refused[4] = status::job_exe_not_found;
  mesh[0].launcher->holds_starts = true;
  auto asked = ask<spawn_result>(1, tool, job_host::program(6));
  const auto x = mesh.write(0, {nspace, 0}, "early");
  mesh[0].launcher->holds_starts = false;
  mesh[0].launcher->release();
  consume_messages();
  CAF_CHECK_EQUAL(asked->code, status::job_exe_not_found);
  CAF_CHECK_EQUAL(x->code, status::success);
}

// Edge case 201.
CAF_TEST(I5 the output of two jobs never crosses) {
  mesh_hosts wide{*this, 3, 16};
  auto tools = std::vector<peer_ptr>{};
  for (auto i = 0; i < 2; ++i) {
    tools.push_back(wide[1].uut->connect(node::tool_greeting()));
    consume_messages();
    const auto x =
      wide[1].uut->ask<spawn_result>(tools.back(), job_host::program(6));
    consume_messages();
    CAF_REQUIRE_EQUAL(x->code, status::success);
    wide.write(0, {x->value.nspace, 0}, "of " + x->value.nspace);
  }
  CAF_CHECK_EQUAL(seen_by(tools[0]), "of server@1");
  CAF_CHECK_EQUAL(seen_by(tools[1]), "of server@2");
}

CAF_TEST(I18 a reader that is slow holds up the writer on another node) {
  spawn();
  *mesh[0].holds_output = true;
  const auto x = mesh.write(2, {nspace, 4}, "text");
  CAF_CHECK(x->is_pending());
  // Not those whom it does not read.
  CAF_CHECK_EQUAL(mesh.write(2, {nspace, 4}, "", io_channels::stddiag)->code,
                  status::success);
  mesh[0].held_output->front()();
  mesh[0].held_output->pop_front();
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(I18 a lost node holds up no writer) {
  spawn(6, {with(attr::fwd_stdout, value::boolean(false))});
  const auto tool = attach(1);
  pull(1, tool, {{nspace, 4}});
  mesh.passes = [](uint32_t, uint32_t to, const host_message&) {
    return to != 1;
  };
  const auto x = mesh.write(2, {nspace, 4}, "text");
  CAF_CHECK(x->is_pending());
  mesh.lose(1);
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(mesh.write(2, {nspace, 4}, "more")->code, status::success);
}

CAF_TEST(I9 a lost tool holds up no writer) {
  spawn(6, {with(attr::fwd_stdout, value::boolean(false))});
  const auto tool = attach(1);
  pull(1, tool, {{nspace, 4}});
  mesh.write(2, {nspace, 4}, "text");
  mesh[1].uut->lose(tool);
  consume_messages();
  const auto crossed = count<io_fragment>();
  CAF_CHECK_EQUAL(mesh.write(2, {nspace, 4}, "more")->code, status::success);
  CAF_CHECK_EQUAL(count<io_fragment>(), crossed);
}

CAF_TEST(IO-3 IO-4 a job is over when its output has been taken) {
  spawn();
  *mesh[0].holds_output = true;
  const auto x = mesh.write(2, {nspace, 4}, "last words");
  const auto y = mesh.write(2, {nspace, 4}, "");
  CAF_CHECK(x->is_pending());
  CAF_CHECK(y->is_pending());
  while (!mesh[0].held_output->empty()) {
    mesh[0].held_output->front()();
    mesh[0].held_output->pop_front();
    consume_messages();
  }
  CAF_CHECK_EQUAL(y->code, status::success);
  *mesh[0].holds_output = false;
  end_all();
  CAF_CHECK_EQUAL(shown_at(0), "last words");
  CAF_CHECK_EQUAL(count_jobs(), 0u);
}

CAF_TEST(P-I1 IO-1 whoever started a job gets the rest of it however late) {
  spawn(6, {with(attr::iof_drop_oldest, value::boolean(true))});
  *mesh[0].holds_output = true;
  CAF_CHECK_EQUAL(mesh.write(2, {nspace, 4}, "last ")->code, status::success);
  CAF_CHECK_EQUAL(mesh.write(2, {nspace, 4}, "words")->code, status::success);
  end_all();
  advance_time(2 * defaults::io_end_wait);
  consume_messages();
  CAF_CHECK_EQUAL(count_jobs(), 1u);
  *mesh[0].holds_output = false;
  while (!mesh[0].held_output->empty()) {
    mesh[0].held_output->front()();
    mesh[0].held_output->pop_front();
    consume_messages();
  }
  CAF_CHECK_EQUAL(shown_at(0), "last words");
  CAF_CHECK_EQUAL(count_jobs(), 0u);
}

// -- who may ------------------------------------------------------------------

CAF_TEST(X28 output is for the owner of a job and the administrator) {
  spawn(6, {with(attr::fwd_stdout, value::boolean(false))});
  const auto pull_as = [this](uint32_t uid, std::vector<proc_id> procs) {
    auto what = io_pull_request{};
    what.procs = std::move(procs);
    what.channels = io_channels::stdout_;
    const auto x = fixtures::ask<io_pull_result>(
      sys, mesh[1].host, asks({"a tool", 0}, 99, uid), std::move(what));
    consume_messages();
    return x->code;
  };
  CAF_CHECK_EQUAL(pull_as(our_uid + 1, {{nspace, 4}}), status::no_permissions);
  mesh.write(2, {nspace, 4}, "text");
  CAF_CHECK_EQUAL(count<io_fragment>(), 0u);
  // Of all jobs it gets its own, which it has not.
  CAF_CHECK_EQUAL(pull_as(our_uid + 1, {}), status::success);
  CAF_CHECK_EQUAL(count<io_fragment>(), 0u);
  CAF_CHECK_EQUAL(pull_as(0, {{nspace, 4}}), status::success);
  CAF_CHECK_EQUAL(count<io_fragment>(), 1u);
}

CAF_TEST(I5 processes that are not there cannot be read) {
  spawn();
  const auto tool = attach(1);
  CAF_CHECK_EQUAL(pull(1, tool, {{"server@9", 0}})->code, status::not_found);
  CAF_CHECK_EQUAL(pull(1, tool, {{nspace, 6}})->code, status::not_found);
  CAF_CHECK_EQUAL(pull(1, tool, {{nspace, 1}}, {}, io_channels::stdin_)->code,
                  status::bad_param);
}

CAF_TEST(X41 a node sends output of its own processes only) {
  spawn();
  auto lie = io_fragment{};
  lie.stream = {{nspace, 4}, io_channels::stdout_};
  lie.bytes = "a lie";
  forge(1, 0, lie);
  CAF_CHECK_EQUAL(shown_at(0), "");
  lie.stream.source.rank = 3;
  lie.stream.channel = io_channels::stdin_;
  forge(1, 0, lie);
  CAF_CHECK_EQUAL(shown_at(0), "");
}

CAF_TEST_FIXTURE_SCOPE_END()
