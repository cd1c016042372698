// What a server keeps of job control whatever its host does.

#include "actors/control/local_control.hpp"

#include "actors/mesh/partial_host.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/fixtures/deterministic.hpp"
#include "tests/fixtures/outcome.hpp"
#include "tests/test.hpp"

#include <caf/event_based_actor.hpp>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

/// What the host of a test has seen.
struct seen {
  std::vector<job_control_request> requests;
  std::vector<query_request> queries;
  status outcome = status::success;
  std::vector<cleanup_path> removed;
};

info text_info(std::string_view key, const char* x) {
  return with(key, value::string(x));
}

info methods_of(std::vector<info> xs) {
  return with(attr::job_ctrl_checkpoint_method, value::infos(std::move(xs)));
}

const auto by_signal =
  with(attr::job_ctrl_checkpoint_signal, value::integer(12));
const auto by_event =
  with(attr::job_ctrl_checkpoint_event,
       value::of_status(static_cast<int32_t>(status::jctrl_checkpoint)));

struct fixture : deterministic {
  std::shared_ptr<seen> host = std::make_shared<seen>();
  std::shared_ptr<cleanup_book> book = std::make_shared<cleanup_book>();
  caf::actor uut;

  fixture() {
    auto inner = spawn_partial_host(sys, [x = host](caf::event_based_actor*) {
      return caf::message_handler{
        [x](const requester&,
            const job_control_request& request) -> caf::result<info_result> {
          x->requests.push_back(request);
          if (x->outcome != status::success)
            return make_error(x->outcome);
          return info_result{{text_info("from", "the host")}, true};
        },
        [x](const requester&,
            const query_request& request) -> caf::result<info_result> {
          x->queries.push_back(request);
          return info_result{};
        }};
    });
    auto cleaner = sys.spawn(
      [x = host](cleaner_actor::pointer) -> cleaner_actor::behavior_type {
        return {[x](const remove_paths& request) {
          x->removed.insert(x->removed.end(), request.paths.begin(),
                            request.paths.end());
          return ack{};
        }};
      });
    uut = caf::actor_cast<caf::actor>(
      spawn_local_control(sys, inner, cleaner, book, our_uid));
  }

  ~fixture() override {
    end(uut);
  }

  outcome<info_result> control(std::vector<info> directives,
                               std::vector<proc_id> targets = {},
                               requester who = asks({"job", 3})) {
    const auto x = ask<info_result>(
      sys, uut, std::move(who),
      job_control_request{std::move(targets), std::move(directives)});
    consume_messages();
    return *x;
  }

  outcome<info_result> query_of(proc_id proc, std::vector<std::string> keys) {
    auto question = query{};
    question.keys = std::move(keys);
    question.qualifiers = {with(attr::procid, value::of_proc(std::move(proc)))};
    const auto x = ask<info_result>(sys, uut, asks({"tool", 0}),
                                    query_request{{std::move(question)}});
    consume_messages();
    return *x;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(local_control_tests, fixture)

CAF_TEST(J35 what a job registers for cleanup is removed when it is over) {
  CAF_CHECK_EQUAL(
    control({text_info(attr::register_cleanup, "/tmp/a,/tmp/b")}).code,
    status::success);
  CAF_CHECK_EQUAL(control({text_info(attr::register_cleanup_dir, "/tmp/d"),
                           with(attr::cleanup_recursive, value::boolean(true))})
                    .code,
                  status::success);
  CAF_CHECK(host->requests.empty());
  CAF_CHECK(host->removed.empty());
  caf::anon_send(uut, deregister_nspace{"other"});
  consume_messages();
  CAF_CHECK(host->removed.empty());
  caf::anon_send(uut, deregister_nspace{"job"});
  consume_messages();
  CAF_REQUIRE_EQUAL(host->removed.size(), 3u);
  CAF_CHECK_EQUAL(host->removed[1].path, "/tmp/b");
  CAF_CHECK(host->removed[2].recursive);
  CAF_CHECK(book->take_all().empty());
}

CAF_TEST(J35 what is left at the end of the server is known to it) {
  control({text_info(attr::register_cleanup, "/tmp/a")});
  CAF_CHECK_EQUAL(book->take_all().size(), 1u);
  CAF_CHECK(book->take_all().empty());
}

CAF_TEST(J35 X7 no user has another users files removed) {
  const auto x = control({text_info(attr::register_cleanup, "/etc/passwd")}, {},
                         asks({"job", 3}, 1, our_uid + 1));
  CAF_CHECK_EQUAL(x.code, status::not_supported);
  CAF_CHECK(book->take_all().empty());
  CAF_CHECK_EQUAL(
    control({text_info(attr::register_cleanup, "/tmp/../etc")}).code,
    status::bad_param);
}

CAF_TEST(J35 a job may not register more than its bound) {
  auto list = std::string{"/tmp/x"};
  for (int i = 1; i < 4096; ++i)
    list += ",/tmp/x";
  CAF_CHECK_EQUAL(
    control({text_info(attr::register_cleanup, list.c_str())}).code,
    status::success);
  CAF_CHECK_EQUAL(control({text_info(attr::register_cleanup, "/tmp/y")}).code,
                  status::out_of_resource);
}

CAF_TEST(J19 J35 the rest of a request goes to the host) {
  const auto x = control({text_info(attr::register_cleanup, "/tmp/a"),
                          with(attr::job_ctrl_pause, value::boolean(true))});
  CAF_CHECK_EQUAL(x.code, status::success);
  CAF_REQUIRE_EQUAL(host->requests.size(), 1u);
  CAF_REQUIRE_EQUAL(host->requests.front().directives.size(), 1u);
  CAF_CHECK_EQUAL(host->requests.front().directives.front().key,
                  attr::job_ctrl_pause);
  CAF_CHECK_EQUAL(text(x.value.infos, "from").value_or(""), "the host");
}

CAF_TEST(J18 J30 the local server keeps methods that the host does not take) {
  host->outcome = status::not_supported;
  const auto x =
    control({with(attr::job_ctrl_preemptible, value::boolean(true)),
             methods_of({by_signal, by_event})});
  CAF_CHECK_EQUAL(x.code, status::success);
  CAF_CHECK_EQUAL(host->requests.size(), 1u);
  const auto known =
    query_of({"job", 3}, {std::string{attr::job_ctrl_preemptible},
                          std::string{attr::job_ctrl_checkpoint_method}});
  CAF_CHECK_EQUAL(known.code, status::success);
  CAF_CHECK(flag(known.value.infos, attr::job_ctrl_preemptible));
  const auto* methods =
    find(known.value.infos, attr::job_ctrl_checkpoint_method);
  CAF_REQUIRE(methods != nullptr);
  CAF_CHECK((infos_of(*methods) == std::vector<info>{by_signal, by_event}));
  CAF_CHECK(host->queries.empty());
}

CAF_TEST(J30 a host that refuses otherwise is heard) {
  host->outcome = status::no_permissions;
  CAF_CHECK_EQUAL(control({methods_of({by_signal})}).code,
                  status::no_permissions);
}

CAF_TEST(J31 a checkpoint that does not say how gets the first method) {
  control({methods_of({by_signal, by_event})});
  host->requests.clear();
  const auto name = text_info(attr::job_ctrl_checkpoint, "one");
  control({name}, {{"job", rank_wildcard}}, asks({"tool", 0}));
  control({name, by_event}, {{"job", 3}}, asks({"tool", 0}));
  control({name}, {{"other", 3}}, asks({"tool", 0}));
  CAF_REQUIRE_EQUAL(host->requests.size(), 3u);
  CAF_CHECK(
    (host->requests[0].directives == std::vector<info>{name, by_signal}));
  CAF_CHECK(
    (host->requests[1].directives == std::vector<info>{name, by_event}));
  CAF_CHECK((host->requests[2].directives == std::vector<info>{name}));
}

CAF_TEST(J30 94 a process that ends or declares again takes its methods back) {
  const auto name = text_info(attr::job_ctrl_checkpoint, "one");
  control({methods_of({by_signal})});
  control({methods_of({by_event})});
  control({name}, {{"job", 3}});
  CAF_CHECK(
    (host->requests.back().directives == std::vector<info>{name, by_event}));
  caf::anon_send(uut, client_lost{asks({"job", 3})});
  consume_messages();
  control({name}, {{"job", 3}});
  CAF_CHECK((host->requests.back().directives == std::vector<info>{name}));
}

CAF_TEST(J23 what means nothing here may mean something to the host) {
  const auto x = control({text_info("site.own.directive", "x")});
  CAF_CHECK_EQUAL(x.code, status::success);
  CAF_CHECK_EQUAL(host->requests.size(), 1u);
  CAF_CHECK_EQUAL(query_of({"job", 3}, {"site.own.key"}).code, status::success);
  CAF_CHECK_EQUAL(host->queries.size(), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()
