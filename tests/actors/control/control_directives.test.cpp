// All directives of a request are one: what they mean together, how old and new
// peers write them, and what is refused.

#include "actors/control/control_directives.hpp"

#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

#include <csignal>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

control_directives read(std::vector<info> xs) {
  auto x = read_directives(xs);
  if (!x)
    CAF_FAIL("refused: " << reason_of(x.error()));
  return std::move(*x);
}

caf::error refusal(std::vector<info> xs) {
  const auto x = read_directives(xs);
  return x ? caf::error{} : x.error();
}

/// Whether it is refused with a sentence that has the culprit in it.
bool refuses(std::vector<info> xs, status code, const std::string& culprit) {
  const auto why = refusal(std::move(xs));
  CAF_MESSAGE(reason_of(why));
  return status_of(why) == code
         && reason_of(why).find(culprit) != std::string::npos;
}

info required(std::string_view key) {
  return {std::string{key}, info_required, value::boolean(true)};
}

info text(std::string_view key, const std::string& x) {
  return with(key, value::string(x));
}

info number(std::string_view key, int32_t x) {
  return with(key, value::integer(x));
}

using verbs = std::vector<control_verb>;

} // namespace

CAF_TEST(RST-2 processes are restarted in place with or without a checkpoint) {
  const auto fresh = read({with(control_key::in_place)});
  CAF_CHECK(fresh.verbs() == verbs{control_verb::restart});
  CAF_CHECK_EQUAL(fresh.summary(), "restart in place");
  const auto saved =
    read({with(control_key::in_place), text(attr::job_ctrl_restart, "one")});
  CAF_CHECK(saved.in_place);
  CAF_CHECK_EQUAL(saved.summary(), "restart one in place");
  CAF_CHECK(refuses({with(control_key::in_place), with(attr::job_ctrl_kill)},
                    status::bad_param, "kill"));
}

CAF_TEST(J6 J7 J9 J15 J35 each verb is read) {
  CAF_CHECK(read({with(attr::job_ctrl_pause)}).verbs()
            == verbs{control_verb::pause});
  CAF_CHECK(read({with(attr::job_ctrl_resume)}).verbs()
            == verbs{control_verb::resume});
  CAF_CHECK(read({with(attr::job_ctrl_kill)}).verbs()
            == verbs{control_verb::kill});
  CAF_CHECK(read({with(attr::job_ctrl_terminate)}).verbs()
            == verbs{control_verb::terminate});
  const auto x = read({number(attr::job_ctrl_signal, SIGUSR1)});
  CAF_CHECK(x.verbs() == verbs{control_verb::signal});
  CAF_CHECK(x.signal == SIGUSR1);
  CAF_CHECK_EQUAL(x.summary(), "signal 10");
}

CAF_TEST(J19 several directives are one request in one order) {
  const auto x =
    read({with(attr::job_ctrl_kill), number(attr::job_ctrl_signal, SIGUSR1),
          text(attr::job_ctrl_checkpoint, "one"),
          number(attr::job_ctrl_checkpoint_signal, SIGUSR2),
          number(attr::job_ctrl_checkpoint_timeout, 30),
          text(attr::job_ctrl_id, "mine")});
  CAF_CHECK(x.verbs()
            == (verbs{control_verb::checkpoint, control_verb::signal,
                      control_verb::kill}));
  CAF_CHECK(x.checkpoint == std::string{"one"});
  CAF_CHECK(x.checkpoint_by
            == (std::vector<checkpoint_method>{{std::nullopt, SIGUSR2}}));
  CAF_CHECK(x.checkpoint_timeout == 30s);
  CAF_CHECK(x.id == std::string{"mine"});
  CAF_CHECK_EQUAL(x.summary(), "checkpoint one, signal 10, kill");
}

CAF_TEST(J6 a directive that is false asks for nothing) {
  const auto no = value::boolean(false);
  const auto x =
    read({with(attr::job_ctrl_pause, no), with(attr::job_ctrl_kill, no),
          with(attr::job_ctrl_resume)});
  CAF_CHECK(x.verbs() == verbs{control_verb::resume});
}

CAF_TEST(J15 signals are 0 to 64) {
  CAF_CHECK(read({number(attr::job_ctrl_signal, 0)}).signal == 0);
  CAF_CHECK(read({number(attr::job_ctrl_signal, 64)}).signal == 64);
  for (const auto bad : {-1, 65, 77, 1000000})
    CAF_CHECK(refuses({number(attr::job_ctrl_signal, bad)}, status::bad_param,
                      std::to_string(bad)));
  CAF_CHECK(refuses({text(attr::job_ctrl_signal, "USR1")}, status::bad_param,
                    "pmix.jctrl.sig"));
}

CAF_TEST(J19 what contradicts itself is refused) {
  const auto both = [](std::string_view x, std::string_view y) {
    return status_of(refusal({with(x), with(y)}));
  };
  CAF_CHECK_EQUAL(both(attr::job_ctrl_pause, attr::job_ctrl_resume),
                  status::bad_param);
  CAF_CHECK_EQUAL(both(attr::job_ctrl_pause, attr::job_ctrl_kill),
                  status::bad_param);
  CAF_CHECK_EQUAL(both(attr::job_ctrl_pause, attr::job_ctrl_terminate),
                  status::bad_param);
  // Whoever is killed needs no grace.
  CAF_CHECK(
    read({with(attr::job_ctrl_terminate), with(attr::job_ctrl_kill)}).verbs()
    == verbs{control_verb::kill});
  CAF_CHECK(refuses({text(attr::job_ctrl_provision_image, "image")},
                    status::bad_param, "pmix.jctrl.pvn"));
  CAF_CHECK(refuses({number(attr::job_ctrl_checkpoint_signal, 10)},
                    status::bad_param, "pmix.jctrl.ckpt"));
}

CAF_TEST(J8 J21 a cancel of one or of all is written in many ways) {
  const auto id_of = [](value x) {
    return read({with(attr::job_ctrl_cancel, std::move(x))}).cancel->id;
  };
  CAF_CHECK(id_of(value::string("mine")) == std::string{"mine"});
  CAF_CHECK(!id_of({data_type::string, std::monostate{}}));
  CAF_CHECK(!id_of({data_type::pointer, std::monostate{}}));
  CAF_CHECK(!id_of({data_type::undef, std::monostate{}}));
  CAF_CHECK(!id_of(value::boolean(true)));
  const auto x = read({with(attr::job_ctrl_cancel, value::boolean(false)),
                       with(attr::job_ctrl_pause)});
  CAF_CHECK(!x.cancel);
  CAF_CHECK(refuses({with(attr::job_ctrl_cancel, value::uint32(7))},
                    status::bad_param, "pmix.jctrl.cancel"));
}

CAF_TEST(J14 the first number of the shared key is the signal) {
  const auto ckpt = text(attr::job_ctrl_checkpoint, "c");
  const auto shared = [](int32_t x) {
    return with("pmix.jctrl.ckptsig", value::integer(x));
  };
  const auto both = read({ckpt, shared(10), shared(5)});
  CAF_CHECK(both.checkpoint_by
            == (std::vector<checkpoint_method>{{std::nullopt, 10}}));
  CAF_CHECK(both.checkpoint_timeout == 5s);
  const auto large = read({ckpt, shared(120)});
  CAF_CHECK(large.checkpoint_by.empty());
  CAF_CHECK(large.checkpoint_timeout == 120s);
  const auto own =
    read({ckpt, shared(12), number(attr::job_ctrl_checkpoint_timeout, 7)});
  CAF_CHECK(own.checkpoint_timeout == 7s);
  CAF_CHECK_EQUAL(own.checkpoint_by.size(), 1u);
  CAF_CHECK(refuses({ckpt, shared(-2)}, status::bad_param, "ckptsig"));
}

CAF_TEST(J12 the event of a checkpoint is a status or true) {
  const auto by = [](value x) {
    return read({text(attr::job_ctrl_checkpoint, "c"),
                 with(attr::job_ctrl_checkpoint_event, std::move(x))})
      .checkpoint_by;
  };
  const auto code = static_cast<int32_t>(status::jctrl_checkpoint);
  CAF_CHECK(by(value::of_status(-1234)).at(0).event
            == static_cast<status>(-1234));
  CAF_CHECK(by(value::of_status(code)).at(0).event == status::jctrl_checkpoint);
  CAF_CHECK(by(value::boolean(true)).at(0).event == status::jctrl_checkpoint);
  CAF_CHECK(by(value::boolean(false)).empty());
}

CAF_TEST(J18 J30 what a process declares of itself) {
  auto methods = value::infos(
    {number(attr::job_ctrl_checkpoint_signal, SIGUSR2),
     with(attr::job_ctrl_checkpoint_event,
          value::of_status(static_cast<int32_t>(status::jctrl_checkpoint)))});
  const auto x =
    read({with(attr::job_ctrl_preemptible),
          with(attr::job_ctrl_checkpoint_method, std::move(methods))});
  CAF_CHECK(x.verbs().empty());
  CAF_CHECK(x.declares());
  CAF_CHECK(x.preemptible == true);
  CAF_REQUIRE(x.methods.has_value());
  CAF_CHECK(
    (*x.methods
     == std::vector<checkpoint_method>{
       {std::nullopt, SIGUSR2}, {status::jctrl_checkpoint, std::nullopt}}));
  CAF_CHECK(refuses({with(attr::job_ctrl_checkpoint_method,
                          value::infos({with("some.method")}))},
                    status::bad_param, "some.method"));
  CAF_CHECK(refuses({with(attr::job_ctrl_checkpoint_method, value::uint32(1))},
                    status::bad_param, "pmix.jctrl.ckmethod"));
}

CAF_TEST(J23 unknown directives are refused only if they are required) {
  CAF_CHECK(refuses({with(attr::job_ctrl_pause), required("site.special")},
                    status::not_supported, "site.special"));
  const auto x = read({with(attr::job_ctrl_pause), with("site.special")});
  CAF_CHECK(x.ignored == std::vector<std::string>{"site.special"});
  CAF_CHECK(
    refuses({with("site.special")}, status::not_supported, "site.special"));
  CAF_CHECK_EQUAL(status_of(refusal({})), status::not_supported);
}

CAF_TEST(J35 directives of cleanup and identity are left to others) {
  const auto x =
    read({text(attr::register_cleanup, "/tmp/x"),
          with(attr::userid, value::uint32(7)), with(attr::job_ctrl_resume)});
  CAF_CHECK(x.ignored.empty());
  CAF_CHECK(x.verbs() == verbs{control_verb::resume});
}

CAF_TEST(J5 ids and times have bounds) {
  const auto pause = with(attr::job_ctrl_pause);
  CAF_CHECK(refuses({pause, text(attr::job_ctrl_id, std::string(512, 'x'))},
                    status::bad_param, "pmix.jctrl.id"));
  CAF_CHECK(
    refuses({pause, text(attr::job_ctrl_id, "")}, status::bad_param, "id"));
  CAF_CHECK(read({pause, number(control_key::grace, 250)}).grace == 250ms);
  CAF_CHECK(refuses({pause, number(control_key::grace, -1)}, status::bad_param,
                    "troupe.control.grace"));
  CAF_CHECK(read({pause, number(attr::timeout, 3)}).timeout == 3s);
}
