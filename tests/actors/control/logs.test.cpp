// Log requests by channel.

#include "actors/control/logs.hpp"

#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

log_plan plan(std::vector<info> data, std::vector<info> directives = {}) {
  return plan_log(asks({"job", 3}),
                  {1234, std::move(data), std::move(directives)});
}

value text_value(const char* x) {
  return value::string(x);
}

} // namespace

// -- logs --------------------------------------------------------------------

CAF_TEST(F4.32 F4.33 F4.34 each kind of data has its channel) {
  const auto x = plan({with(attr::log_stdout, text_value("a")),
                       with(attr::log_stderr, text_value("b")),
                       with(attr::log_syslog, text_value("c")),
                       with(attr::log_local_syslog, text_value("d")),
                       with(attr::log_global_syslog, text_value("e"))});
  CAF_CHECK_EQUAL(x.code, status::success);
  CAF_CHECK(!x.once);
  CAF_REQUIRE_EQUAL(x.entries.size(), 5u);
  CAF_CHECK(x.entries[0].channel == log_channel::stdout_);
  CAF_CHECK_EQUAL(x.entries[0].text, "a");
  CAF_CHECK(x.entries[1].channel == log_channel::stderr_);
  CAF_CHECK(x.entries[2].channel == log_channel::local_syslog);
  CAF_CHECK(x.entries[3].channel == log_channel::local_syslog);
  CAF_CHECK(x.entries[4].channel == log_channel::global_syslog);
  CAF_CHECK_EQUAL(x.entries[4].text, "e");
}

CAF_TEST(F4.32 a byte object is text as well) {
  const auto x = plan({with(attr::log_stdout, value::bytes("raw"))});
  CAF_REQUIRE_EQUAL(x.entries.size(), 1u);
  CAF_CHECK_EQUAL(x.entries[0].text, "raw");
}

CAF_TEST(F4.33 the priority is bounded to those of syslog) {
  struct row {
    int32_t given;
    uint8_t used;
  };
  for (const auto& x :
       std::vector<row>{{0, 0}, {3, 3}, {7, 7}, {8, 7}, {-1, 0}}) {
    const auto y = plan({with(attr::log_syslog, text_value("a"))},
                        {with(attr::log_syslog_pri, value::integer(x.given))});
    CAF_REQUIRE_EQUAL(y.entries.size(), 1u);
    CAF_CHECK_EQUAL(y.entries[0].priority, x.used);
  }
}

CAF_TEST(F4.34 a mail has its fields inside or among the directives) {
  const auto address = with(attr::log_email_addr, text_value("a@b"));
  const auto sender = with(attr::log_email_sender_addr, text_value("c@d"));
  const auto subject = with(attr::log_email_subject, text_value("hello"));
  const auto message = with(attr::log_email_msg, text_value("body"));
  const auto inside = plan(
    {with(attr::log_email, value::infos({address, sender, subject, message}))});
  const auto beside = plan({with(attr::log_email, text_value("body"))},
                           {address, sender, subject});
  for (const auto& x : {inside, beside}) {
    CAF_CHECK_EQUAL(x.code, status::success);
    CAF_REQUIRE_EQUAL(x.entries.size(), 1u);
    CAF_CHECK(x.entries[0].channel == log_channel::email);
    CAF_CHECK_EQUAL(x.entries[0].text, "body");
    CAF_CHECK_EQUAL(x.entries[0].envelope.to, "a@b");
    CAF_CHECK(x.entries[0].envelope.from == "c@d");
    CAF_CHECK(x.entries[0].envelope.subject == "hello");
  }
}

CAF_TEST(F4.34 J33 a mail without a subject gets one that names its sender) {
  const auto x =
    plan({with(attr::log_email,
               value::infos({with(attr::log_email_addr, text_value("a@b,c@d")),
                             with(attr::log_email_msg, text_value("body"))}))});
  CAF_REQUIRE_EQUAL(x.entries.size(), 1u);
  CAF_CHECK_EQUAL(x.entries[0].envelope.to, "a@b,c@d");
  CAF_CHECK_EQUAL(x.entries[0].envelope.subject.value_or(""),
                  "Message of job:3");
}

CAF_TEST(F4.34 a mail without an address is refused) {
  const auto x = plan({with(attr::log_email, text_value("body"))});
  CAF_CHECK_EQUAL(x.code, status::bad_param);
  CAF_CHECK(x.entries.empty());
  CAF_CHECK(x.reason.find("PMIX_LOG_EMAIL_ADDR") != std::string::npos);
}

CAF_TEST(F4.32 tag and time go before the text) {
  const auto data = std::vector<info>{with(attr::log_stdout, text_value("a"))};
  const auto text_with = [&](std::vector<info> directives) {
    return plan(data, std::move(directives)).entries.at(0).text;
  };
  CAF_CHECK_EQUAL(text_with({with(attr::log_tag_output)}), "[job:3] a");
  CAF_CHECK_EQUAL(text_with({with(attr::log_timestamp_output)}), "1234 a");
  CAF_CHECK_EQUAL(text_with({with(attr::log_timestamp_output),
                             with(attr::log_timestamp, value::uint64(5)),
                             with(attr::log_tag_output)}),
                  "5 [job:3] a");
  CAF_CHECK_EQUAL(
    text_with({with(attr::log_tag_output, value::boolean(false))}), "a");
}

CAF_TEST(F4.32 a time that is generated is that of the call) {
  const auto data = std::vector<info>{with(attr::log_stdout, text_value("a"))};
  const auto at = [&](uint64_t called, std::vector<info> directives) {
    return plan_log(asks({"job", 3}), {called, data, std::move(directives)})
      .entries.at(0)
      .text;
  };
  const auto generated = with(attr::log_generate_timestamp);
  const auto given = with(attr::log_timestamp, value::uint64(5));
  CAF_CHECK_EQUAL(at(1234, {generated}), "1234 a");
  CAF_CHECK_EQUAL(at(1234, {generated, given}), "1234 a");
  CAF_CHECK_EQUAL(at(1234, {given}), "a");
  // Libraries that have generated none send one of these.
  CAF_CHECK_EQUAL(at(0, {with(attr::log_timestamp_output)}), "a");
  CAF_CHECK_EQUAL(at(UINT64_MAX, {with(attr::log_timestamp_output)}), "a");
}

CAF_TEST(J33 a mail by another server is refused if that is required) {
  const auto mail_by = [](uint32_t flags) {
    auto server = with(attr::log_email_server, text_value("smtp.example.org"));
    server.flags = flags;
    return plan({with(attr::log_email, text_value("body"))},
                {with(attr::log_email_addr, text_value("a@b")), server});
  };
  CAF_CHECK_EQUAL(mail_by(0).code, status::success);
  const auto refused = mail_by(info_required);
  CAF_CHECK_EQUAL(refused.code, status::not_supported);
  CAF_CHECK(refused.drops);
  CAF_CHECK(refused.entries.empty());
}

CAF_TEST(F4.32 what no channel takes is not supported and the rest is logged) {
  const auto x = plan({with("pmix.log.nowhere", text_value("a")),
                       with(attr::log_stdout, text_value("b")),
                       with(attr::log_stderr, value::uint32(7))});
  CAF_CHECK_EQUAL(x.code, status::not_supported);
  CAF_CHECK(x.reason.find("pmix.log.nowhere") != std::string::npos);
  CAF_REQUIRE_EQUAL(x.entries.size(), 1u);
  CAF_CHECK_EQUAL(x.entries[0].text, "b");
}

CAF_TEST(F4.32 a value that is no text is refused) {
  const auto x = plan({with(attr::log_stderr, value::uint32(7))});
  CAF_CHECK_EQUAL(x.code, status::bad_param);
  CAF_CHECK(x.entries.empty());
  CAF_CHECK(x.reason.find("UINT32") != std::string::npos);
}

CAF_TEST(F4.32 a request without data is refused) {
  CAF_CHECK_EQUAL(plan({}).code, status::bad_param);
}

CAF_TEST(F4.32 once is passed on) {
  CAF_CHECK(
    plan({with(attr::log_stdout, text_value("a"))}, {with(attr::log_once)})
      .once);
}
