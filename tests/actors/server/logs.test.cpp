// Log requests by channel, and what a query hears is supported.

#include "actors/server/logs.hpp"

#include "actors/server/queries.hpp"
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

/// The names in C of the attributes in an info of `supported`.
std::vector<std::string> names_in(const info& x) {
  std::vector<std::string> result;
  for (const auto& element : x.val.array()->elements)
    result.push_back(
      std::get<box<regattr>>(element.data)->name.value_or("unnamed"));
  return result;
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

// -- what is supported -------------------------------------------------------

CAF_TEST(F4.31 the functions are listed) {
  for (const auto key : {attr::server_functions, attr::host_functions}) {
    const auto found = supported({with(key)});
    CAF_REQUIRE_EQUAL(found.size(), 1u);
    CAF_CHECK_EQUAL(found[0].key, std::string{key});
    const auto* names = found[0].val.text();
    CAF_REQUIRE(names != nullptr);
    for (const auto* name : {"PMIx_Fence", "PMIx_Get", "PMIx_Spawn"})
      CAF_CHECK(names->find(name) != std::string::npos);
  }
}

CAF_TEST(F4.31 the attributes of a function are described) {
  const auto found =
    supported({with(attr::server_attributes, value::string("PMIx_Fence"))});
  CAF_REQUIRE_EQUAL(found.size(), 1u);
  CAF_CHECK_EQUAL(found[0].key, "PMIx_Fence");
  const auto names = names_in(found[0]);
  CAF_CHECK(
    (names == std::vector<std::string>{"PMIX_COLLECT_DATA", "PMIX_TIMEOUT"}));
  const auto& described =
    *std::get<box<regattr>>(found[0].val.array()->elements[0].data);
  CAF_CHECK_EQUAL(described.key, std::string{attr::collect_data});
  CAF_CHECK(described.type == data_type::bool_);
}

CAF_TEST(F4.31 every attribute said to be supported exists) {
  const auto found =
    supported({with(attr::host_attributes, value::string("all"))});
  CAF_CHECK(found.size() > 5);
  for (const auto& x : found)
    for (const auto& name : names_in(x))
      CAF_CHECK(attribute_named(name) != nullptr);
}

CAF_TEST(F4.31 several functions are asked for at once and unknown ones pass) {
  const auto found = supported({with(
    attr::server_attributes, value::string("PMIx_Get,PMIx_Nothing,PMIx_Log"))});
  CAF_REQUIRE_EQUAL(found.size(), 2u);
  CAF_CHECK_EQUAL(found[0].key, "PMIx_Get");
  CAF_CHECK_EQUAL(found[1].key, "PMIx_Log");
  CAF_CHECK(supported({}).empty());
  CAF_CHECK(supported({with("pmix.other")}).empty());
  CAF_CHECK(
    supported({with(attr::server_attributes, value::uint32(1))}).empty());
}
