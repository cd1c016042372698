// Streams between the nodes of a DVM: what is wanted crosses once, to whoever
// wants it and may have it.

#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"
#include "tests/fixtures/job_host.hpp"
#include "tests/fixtures/mesh_hosts.hpp"
#include "tests/test.hpp"
#include "tools/report.hpp"

#include <caf/send.hpp>

#include <nlohmann/json.hpp>

#include <csignal>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

const auto nspace = std::string{"server@1"};

constexpr auto both =
  static_cast<io_channels>(static_cast<uint16_t>(io_channels::stdout_)
                           | static_cast<uint16_t>(io_channels::stderr_));

struct fixture : deterministic {
  mesh_hosts mesh{*this, 3};

  peer_ptr attach(uint32_t node, uint32_t uid = our_uid) {
    auto result = mesh[node].uut->connect(node::tool_greeting(uid));
    consume_messages();
    CAF_REQUIRE_EQUAL(result->code, status::success);
    return result;
  }

  template <class T, class Request>
  pending<T> ask(uint32_t node, const peer_ptr& from, Request x) {
    auto result = mesh[node].uut->ask<T>(from, std::move(x));
    consume_messages();
    return result;
  }

  /// Two processes on each node, started at the root.
  void spawn(int32_t size = 6, std::vector<info> infos = {}) {
    const auto x = mesh.spawn(job_host::program(size, std::move(infos)));
    consume_messages();
    CAF_REQUIRE_EQUAL(x->code, status::success);
  }

  pending<io_pull_result> pull(uint32_t node, const peer_ptr& who,
                               std::vector<proc_id> procs,
                               std::vector<info> directives = {},
                               io_channels channels = io_channels::stdout_) {
    auto what = io_pull_request{};
    what.procs = std::move(procs);
    what.directives = std::move(directives);
    what.channels = channels;
    what.handler = 5;
    return ask<io_pull_result>(node, who, std::move(what));
  }

  /// What a tool has got, of all streams.
  static std::string seen_by(const peer_ptr& who) {
    auto result = std::string{};
    for (const auto& x : who->wire->output)
      result += x.bytes;
    return result;
  }

  std::string shown_at(uint32_t node) {
    auto result = std::string{};
    for (const auto& x : *mesh[node].output)
      result += x.substr(x.find(": ") + 2);
    return result;
  }

  /// How often a question was sent between nodes.
  template <class T>
  size_t count() {
    return mesh.questions[host_question{T{}}.index()];
  }

  /// What a node answers to a question of another that nobody there asked.
  template <class Question>
  void forge(uint32_t from, uint32_t to, Question what) {
    auto call = host_call{};
    call.number = 1 << 20;
    call.what = std::move(what);
    caf::anon_send(mesh[to].host, member_message{from, mesh[from].incarnation,
                                                 std::move(call)});
    consume_messages();
  }

  void end_all() {
    for (uint32_t rank = 0; rank < 6; ++rank)
      mesh[rank / 2].launcher->end(rank);
    consume_messages();
  }

  size_t count_jobs() {
    const auto x = mesh.tell<job_list>(0, list_jobs{});
    consume_messages();
    return x->value.jobs.size();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mesh_streams_tests, fixture)

// -- who gets what
// -------------------------------------------------------------

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

// -- who may
// -------------------------------------------------------------------

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

CAF_TEST(X41 input comes from the origin of a job or from the root) {
  auto who = attach(1);
  const auto x = ask<spawn_result>(
    1, who,
    job_host::program(6, {with(attr::stdin_tgt, value::rank(rank_wildcard))}));
  CAF_REQUIRE_EQUAL(x->code, status::success);
  forge(2, 0, io_input{nspace, {0}, std::nullopt, "a lie", false});
  CAF_CHECK(mesh[0].launcher->input.empty());
  forge(1, 0, io_input{nspace, {0}, std::nullopt, "text", false});
  CAF_REQUIRE_EQUAL(mesh[0].launcher->input.size(), 1u);
  CAF_CHECK_EQUAL(mesh[0].launcher->input[0].bytes, "text");
}

// -- input
// ---------------------------------------------------------------------

CAF_TEST(I6 input for all goes to each node once) {
  spawn(6, {with(attr::stdin_tgt, value::rank(rank_wildcard))});
  const auto x = mesh.tell<io_input_taken>(
    0, io_input{nspace, {rank_wildcard}, std::nullopt, "text", true});
  consume_messages();
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(x->value.readers, 6u);
  CAF_CHECK_EQUAL(x->value.offset, 4u);
  CAF_CHECK_EQUAL(count<io_input>(), 2u);
  for (uint32_t node = 0; node < 3; ++node) {
    CAF_CHECK_EQUAL(mesh[node].launcher->input.size(), 2u);
    CAF_CHECK_EQUAL(mesh[node].launcher->input_ends.size(), 2u);
  }
}

CAF_TEST(I9 A46 input that is repeated is not written twice) {
  spawn(6, {with(attr::stdin_tgt, value::rank(4))});
  const auto give = [this](uint64_t offset, std::string bytes) {
    const auto x = mesh.tell<io_input_taken>(
      0, io_input{nspace, {4}, offset, std::move(bytes), false});
    consume_messages();
    CAF_REQUIRE_EQUAL(x->code, status::success);
    return x->value.offset;
  };
  CAF_CHECK_EQUAL(give(0, "0123"), 4u);
  CAF_CHECK_EQUAL(give(2, "2345"), 6u);
  auto all = std::string{};
  for (const auto& x : mesh[2].launcher->input)
    all += x.bytes;
  CAF_CHECK_EQUAL(all, "012345");
}

CAF_TEST(I6 a large input is passed on in pieces and in order) {
  spawn(6, {with(attr::stdin_tgt, value::rank(4))});
  auto bytes = std::string{};
  while (bytes.size() < size_t{1} << 20)
    bytes += std::to_string(bytes.size()) + ",";
  const auto x = mesh.tell<io_input_taken>(
    0, io_input{nspace, {4}, std::nullopt, bytes, true});
  consume_messages();
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(x->value.offset, bytes.size());
  auto all = std::string{};
  for (const auto& y : mesh[2].launcher->input)
    all += y.bytes;
  CAF_CHECK(all == bytes);
  CAF_CHECK_EQUAL(mesh[2].launcher->input_ends.size(), 1u);
}

CAF_TEST(I6 a tool at any node feeds the jobs of its user) {
  spawn(6, {with(attr::stdin_tgt, value::rank(4))});
  const auto tool = attach(1);
  const auto push_as = [this](uint32_t uid) {
    const auto x = fixtures::ask<ack>(
      sys, mesh[1].host, asks({"a tool", 0}, 99, uid),
      io_push_request{{{nspace, 4}}, {}, std::string{"text"}});
    consume_messages();
    return x->code;
  };
  const auto push = [&](std::vector<info> directives = {}) {
    return ask<ack>(1, tool,
                    io_push_request{{{nspace, 4}},
                                    std::move(directives),
                                    std::string{"text"}})
      ->code;
  };
  CAF_CHECK_EQUAL(push(), status::success);
  CAF_CHECK_EQUAL(push_as(our_uid + 1), status::no_permissions);
  // The same once more.
  CAF_CHECK_EQUAL(push({with(io_offset_key, value::uint64(0))}),
                  status::success);
  auto all = std::string{};
  for (const auto& x : mesh[2].launcher->input)
    all += x.bytes;
  CAF_CHECK_EQUAL(all, "text");
}

// -- lists
// ---------------------------------------------------------------------

CAF_TEST(I1 each stream of all nodes is listed once) {
  spawn();
  mesh.write(2, {nspace, 4}, "12345");
  mesh.write(0, {nspace, 1}, "123", io_channels::stderr_);
  const auto tool = attach(1);
  pull(1, tool, {{nspace, 4}}, {}, both);
  const auto x = mesh.tell<io_list>(1, list_io{});
  consume_messages();
  CAF_REQUIRE_EQUAL(x->code, status::success);
  const auto& streams = x->value.streams;
  CAF_REQUIRE_EQUAL(streams.size(), 2u);
  CAF_CHECK(streams[0].stream.source == (proc_id{nspace, 1}));
  CAF_CHECK(streams[0].stream.channel == io_channels::stderr_);
  CAF_CHECK_EQUAL(streams[0].end, 3u);
  CAF_CHECK(streams[1].stream.source == (proc_id{nspace, 4}));
  CAF_CHECK_EQUAL(streams[1].end, 5u);
  auto sinks = std::string{};
  for (const auto& sink : streams[1].sinks)
    sinks += sink.name + ";";
  CAF_CHECK(sinks.find("tool ") != std::string::npos);
  CAF_CHECK(sinks.find("launcher on n0") != std::string::npos);
}

CAF_TEST(X28 a tool is told of the streams of its own user only) {
  spawn(4); // Of the nodes 0 and 1.
  mesh.write(1, {nspace, 3}, "12345");
  mesh.write(0, {nspace, 1}, "123", io_channels::stderr_);
  const auto tool = attach(2);
  pull(2, tool, {{nspace, 3}});
  const auto listed = [this](uint32_t node, uint32_t uid,
                             std::vector<info> qualifiers = {}) {
    auto what = query_request{};
    what.queries.push_back(
      {{std::string{io_streams_key}}, std::move(qualifiers)});
    const auto x = fixtures::ask<info_result>(
      sys, mesh[node].host, asks({"a tool", 0}, 99, uid), std::move(what));
    consume_messages();
    const auto* found = find(x->value.infos, io_streams_key);
    return found != nullptr ? to_json(*found).dump() : "nothing";
  };
  const auto count = [](const std::string& text, const std::string& what) {
    auto result = 0;
    for (auto i = text.find(what); i != std::string::npos;
         i = text.find(what, i + 1))
      ++result;
    return result;
  };
  const auto row = "\"nspace\":\"" + nspace + "\"";
  for (const auto node : {0u, 1u, 2u}) {
    for (const auto uid : {our_uid, 0u}) {
      const auto text = listed(node, uid);
      CAF_CHECK_EQUAL(count(text, row), 2);
      // What is known on a node that does not run the job.
      CAF_CHECK_EQUAL(count(text, "tool "), 1);
    }
    const auto text = listed(node, our_uid + 1);
    CAF_CHECK_EQUAL(count(text, row), 0);
    CAF_CHECK_EQUAL(count(listed(node, our_uid + 1,
                                 {with(attr::nspace, value::string(nspace))}),
                          row),
                    0);
  }
}

CAF_TEST_FIXTURE_SCOPE_END()
