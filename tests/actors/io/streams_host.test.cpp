// What processes and tools of an embedding daemon pull and push.

#include "actors/io/streams_host.hpp"

#include "actors/io/io_desk.hpp"
#include "actors/io/io_options.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/fixtures/deterministic.hpp"
#include "tests/fixtures/doubles.hpp"
#include "tests/fixtures/outcome.hpp"

#include <caf/actor_cast.hpp>
#include <caf/send.hpp>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

constexpr auto out = io_channels::stdout_;
constexpr auto owner = uint32_t{1000};

/// What has been written to processes; the end is a star.
using inputs = std::map<proc_id, std::string>;

struct fixture : deterministic {
  std::shared_ptr<host_script> inner = std::make_shared<host_script>();
  std::shared_ptr<inputs> written = std::make_shared<inputs>();

  /// What the server has delivered, and to whom.
  std::shared_ptr<std::vector<std::pair<uint32_t, io_delivery>>> delivered =
    std::make_shared<std::vector<std::pair<uint32_t, io_delivery>>>();
  caf::actor server;
  caf::actor writer;
  io_desk_actor desk;
  caf::actor uut;

  fixture() {
    server = sys.spawn([to = delivered](caf::event_based_actor*) {
      return caf::behavior{[to](const requester& who, io_delivery& x) {
        to->emplace_back(who.index, std::move(x));
        return ack{};
      }};
    });
    writer = sys.spawn([to = written](caf::event_based_actor*) {
      return caf::behavior{
        [to](const write_stdin& x) -> caf::result<ack> {
          if (x.proc.rank > 1)
            return make_error(status::not_found, "no such process");
          (*to)[x.proc] += x.bytes;
          return ack{};
        },
        [to](const close_stdin& x) { (*to)[x.proc] += '*'; },
      };
    });
    auto options = io_desk_options{};
    options.launcher = caf::actor_cast<input_writer_actor>(writer);
    desk = spawn_io_desk(sys, std::move(options));
    uut = caf::actor_cast<caf::actor>(
      spawn_streams_host(sys, {spawn_host(sys, inner), desk, {}}));
    caf::anon_send(uut, caf::actor_cast<server_actor>(server),
                   event_cache_actor{});
    add_job("job", owner);
  }

  ~fixture() override {
    for (const auto& x :
         {uut, caf::actor_cast<caf::actor>(desk), server, writer})
      caf::anon_send_exit(x, caf::exit_reason::kill);
    consume_messages();
  }

  void add_job(const std::string& nspace, uint32_t uid) {
    auto what = register_nspace{};
    what.nspace = nspace;
    what.owner = {uid, uid};
    what.local_ranks = {0};
    auto begun = io_job_begun{};
    begun.nspace = nspace;
    caf::anon_send(desk, begun);
    caf::anon_send(uut, what);
    caf::anon_send(uut, register_client{{nspace, 1}, {uid, uid}});
    consume_messages();
  }

  static requester user(uint32_t uid, uint32_t index = 7) {
    auto result = asks({"tool", 0}, index);
    result.creds = {uid, uid};
    return result;
  }

  static io_pull_request pull_of(std::vector<proc_id> procs) {
    auto result = io_pull_request{};
    result.procs = std::move(procs);
    result.channels = out;
    result.handler = 5;
    return result;
  }

  template <class T, class... Ts>
  pending<T> call(Ts... xs) {
    auto result = ask<T>(sys, uut, std::move(xs)...);
    consume_messages();
    return result;
  }

  void write(const proc_id& proc, const std::string& text) {
    caf::anon_send(desk, process_output{proc, out, text, 0, 0});
    consume_messages();
  }

  /// What a reader has got.
  std::string text(uint32_t index = 7) const {
    auto result = std::string{};
    for (const auto& [to, x] : *delivered)
      if (to == index)
        result += x.bytes;
    return result;
  }

  pending<ack> push(uint32_t uid, std::vector<proc_id> targets,
                    std::optional<std::string> bytes) {
    return call<ack>(user(uid),
                     io_push_request{std::move(targets), {}, std::move(bytes)});
  }
};

const auto p0 = proc_id{"job", 0};
const auto p1 = proc_id{"job", 1};
const auto all = proc_id{"job", rank_wildcard};

} // namespace

CAF_TEST_FIXTURE_SCOPE(streams_host_tests, fixture)

CAF_TEST(I6 I8 I15 a pull gets what was kept and what comes) {
  write(p0, "before ");
  const auto x = call<io_pull_result>(user(owner), pull_of({all}));
  CAF_CHECK_EQUAL(x->code, status::success);
  write(p1, "after");
  CAF_CHECK_EQUAL(text(), "before after");
  CAF_CHECK_EQUAL(delivered->front().second.handler, 5u);
}

CAF_TEST(I11 it ends when it is deregistered by whoever has it) {
  const auto x = call<io_pull_result>(user(owner), pull_of({all}));
  auto end = io_deregister_request{};
  end.subscription = x->value.subscription;
  CAF_CHECK_EQUAL(call<ack>(user(owner, 8), end)->code, status::no_permissions);
  CAF_CHECK_EQUAL(call<ack>(user(owner), end)->code, status::success);
  write(p0, "unheard");
  CAF_CHECK_EQUAL(text(), "");
  CAF_CHECK_EQUAL(call<ack>(user(owner), end)->code, status::success);
  end.subscription = 99;
  CAF_CHECK_EQUAL(call<ack>(user(owner), end)->code, status::not_found);
}

CAF_TEST(I16 what is kept together comes before the end) {
  auto wanted = pull_of({all});
  wanted.directives = {with(attr::iof_buffering_size, value::uint32(1000))};
  const auto x = call<io_pull_result>(user(owner), wanted);
  write(p0, "kept");
  CAF_CHECK_EQUAL(text(), "");
  const auto end =
    io_deregister_request{{with(io_flush_key)}, x->value.subscription};
  CAF_CHECK_EQUAL(call<ack>(user(owner), end)->code, status::success);
  CAF_CHECK_EQUAL(text(), "kept");
  write(p0, "unheard");
  CAF_CHECK_EQUAL(text(), "kept");
}

CAF_TEST(I6 I9 what is required is acted upon or refused) {
  auto wanted = pull_of({all});
  wanted.directives = {with(attr::iof_redirect)};
  wanted.directives[0].flags = info_required;
  CAF_CHECK_EQUAL(call<io_pull_result>(user(owner), wanted)->code,
                  status::not_supported);
  auto what = io_push_request{{p0}, {with(attr::iof_complete)}, "last"};
  what.directives[0].flags = info_required;
  CAF_CHECK_EQUAL(call<ack>(user(owner), what)->code, status::success);
  CAF_CHECK_EQUAL((*written)[p0], "last*");
  what.directives[0].key = "somebody.elses";
  CAF_CHECK_EQUAL(call<ack>(user(owner), what)->code, status::not_supported);
}

CAF_TEST(I18 streams of this node are listed and the host is asked the rest) {
  write(p0, "four");
  const auto list = [this](uint32_t uid, std::vector<std::string> keys) {
    auto what = query{};
    what.keys = std::move(keys);
    return call<info_result>(user(uid), query_request{{what}});
  };
  const auto streams = std::string{io_streams_key};
  const auto seen = [](const pending<info_result>& x) {
    const auto* found = find(x->value.infos, io_streams_key);
    CAF_REQUIRE(found != nullptr);
    auto result = std::string{};
    for (const auto& item : infos_of(*found)) {
      const auto fields = infos_of(item.val);
      result += troupe::text(fields, "stream").value_or("?") + " "
                + std::to_string(number<uint64_t>(fields, "end").value_or(99))
                + " ";
    }
    return result;
  };
  CAF_CHECK_EQUAL(seen(list(0, {streams})), "stdout 4 ");
  CAF_CHECK_EQUAL(seen(list(2000, {streams})), "");
  inner->query.infos = {with("of.the.host", value::integer(7))};
  const auto both = list(0, {"of.the.host", streams});
  CAF_CHECK_EQUAL(seen(both), "stdout 4 ");
  CAF_CHECK(number<int32_t>(both->value.infos, "of.the.host") == 7);
  const auto other = list(0, {"of.the.host"});
  CAF_CHECK_EQUAL(other->value.infos.size(), 1u);
}

CAF_TEST(I17 it ends with its process) {
  call<io_pull_result>(user(owner), pull_of({all}));
  call<io_pull_result>(user(owner, 8), pull_of({all}));
  caf::anon_send(uut, client_lost{user(owner)});
  call<ack>(client_finalized{user(owner, 8)});
  write(p0, "unheard");
  CAF_CHECK_EQUAL(text(7) + text(8), "");
  CAF_CHECK_EQUAL(inner->lost.size(), 1u);
  CAF_CHECK_EQUAL(inner->finalized.size(), 1u);
}

CAF_TEST(I6 X41 other users neither read nor write) {
  CAF_CHECK_EQUAL(call<io_pull_result>(user(2000), pull_of({all}))->code,
                  status::no_permissions);
  CAF_CHECK_EQUAL(push(2000, {p0}, "x")->code, status::no_permissions);
  CAF_CHECK(written->empty());
  CAF_CHECK_EQUAL(call<io_pull_result>(user(0), pull_of({all}))->code,
                  status::success);
  CAF_CHECK_EQUAL(
    call<io_pull_result>(user(owner), pull_of({{"other", 0}}))->code,
    status::not_found);
}

CAF_TEST(I6 who pulls everything gets the jobs of its user and those to come) {
  write(p0, "old ");
  call<io_pull_result>(user(owner), pull_of({}));
  add_job("foreign", 2000);
  write({"foreign", 0}, "secret");
  add_job("new", owner);
  write({"new", 1}, "new");
  CAF_CHECK_EQUAL(text(), "old new");
}

CAF_TEST(I6 I9 input goes to whom it is for and ends) {
  CAF_CHECK_EQUAL(push(owner, {p1}, "one")->code, status::success);
  CAF_CHECK_EQUAL(push(owner, {all}, "all")->code, status::success);
  CAF_CHECK_EQUAL(push(owner, {p0}, std::nullopt)->code, status::success);
  CAF_CHECK_EQUAL((*written)[p0], "all*");
  CAF_CHECK_EQUAL((*written)[p1], "oneall");
  CAF_CHECK_EQUAL(push(owner, {{"job", 2}}, "x")->code, status::iof_complete);
  CAF_CHECK_EQUAL(push(owner, {{"over", 0}}, "x")->code, status::iof_complete);
  CAF_CHECK_EQUAL(push(owner, {}, "x")->code, status::bad_param);
}

CAF_TEST(I17 the end of a job ends what was for it alone) {
  const auto x = call<io_pull_result>(user(owner), pull_of({all}));
  write(p0, "last");
  caf::anon_send(uut, deregister_nspace{"job"});
  consume_messages();
  CAF_CHECK_EQUAL(text(), "last");
  CAF_CHECK_EQUAL(push(owner, {p0}, "x")->code, status::iof_complete);
  auto end = io_deregister_request{};
  end.subscription = x->value.subscription;
  CAF_CHECK_EQUAL(call<ack>(user(owner), end)->code, status::success);
}

CAF_TEST(I6 with a mesh input takes its way) {
  auto seen = std::make_shared<std::vector<io_input>>();
  auto mesh = sys.spawn([seen](caf::event_based_actor*) {
    return caf::behavior{[seen](const io_input& x) {
      seen->push_back(x);
      return io_input_taken{x.bytes.size(), {}, 1};
    }};
  });
  caf::anon_send(uut, caf::actor_cast<io_mesh_actor>(mesh));
  CAF_CHECK_EQUAL(push(owner, {all}, "far")->code, status::success);
  CAF_REQUIRE_EQUAL(seen->size(), 1u);
  CAF_CHECK(seen->front().ranks == std::vector<uint32_t>{rank_wildcard});
  CAF_CHECK(written->empty());
  end(mesh);
}

CAF_TEST(C5.1 all else is for the other host) {
  call<ack>(user(owner), abort_request{});
  CAF_CHECK_EQUAL(inner->requests.size(), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()
