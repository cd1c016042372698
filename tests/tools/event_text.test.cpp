// What users write and read of events.

#include "tools/event_text.hpp"

#include "messages/attributes.hpp"
#include "tests/test.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace troupe;

namespace {

template <class T>
std::string reason(const caf::expected<T>& x) {
  return x ? std::string{} : reason_of(x.error());
}

status code_of(const std::string& text) {
  const auto x = read_event_code(text);
  return x ? *x : status::success;
}

numbered_event example() {
  auto x = numbered_event{};
  x.what.code = status::proc_aborted_by_sig;
  x.what.source = {"", rank_undef};
  x.what.range = data_range::nspace;
  x.what.infos = {
    {std::string{attr::event_affected_proc}, 0, value::of_proc({"job", 3})},
    {std::string{attr::exit_code}, 0, value::integer(137)},
    {std::string{attr::event_text_message}, 0,
     value::string("gone\x1b[31m\n")}};
  return x;
}

} // namespace

CAF_TEST(E54 codes are numbers or names with or without what they begin with) {
  for (const auto* text :
       {"-7", "PMIX_ERR_PROC_ABORTED", "ERR_PROC_ABORTED", "PROC_ABORTED",
        "proc-aborted", "pmix_err_proc_aborted"})
    CAF_CHECK(code_of(text) == status::proc_aborted);
  CAF_CHECK(code_of("job-end") == status::job_end);
  CAF_CHECK(code_of("-2147483647") == static_cast<status>(-2147483647));
}

CAF_TEST(what is no code is refused in a sentence that quotes it) {
  for (const auto* text : {"", "0", "7", "-2147483648", "-99999999999", "-",
                           "--1", "PMIX_SUCCESS", "nothing", "a\nb"}) {
    const auto x = read_event_code(text);
    CAF_CHECK(!x);
    CAF_CHECK(reason(x).find('\n') == std::string::npos);
  }
  CAF_CHECK(reason(read_event_code("frob")).find("\"frob\"")
            != std::string::npos);
}

CAF_TEST(ranges have the names of the Standard) {
  CAF_CHECK(read_event_range("session") == data_range::session);
  CAF_CHECK(read_event_range("namespace") == data_range::nspace);
  CAF_CHECK(!read_event_range("custom"));
  CAF_CHECK(!read_event_range("everywhere"));
}

CAF_TEST(processes are a namespace and a rank) {
  CAF_CHECK(read_proc("a:3") == (proc_id{"a", 3}));
  CAF_CHECK(read_proc("a:b:3") == (proc_id{"a:b", 3}));
  CAF_CHECK(read_proc("a:*") == (proc_id{"a", rank_wildcard}));
  CAF_CHECK(read_proc("a") == (proc_id{"a", rank_wildcard}));
  for (const auto& text : {std::string{}, std::string{":3"}, std::string{"a:"},
                           std::string{"a:x"}, std::string{"a:-1"},
                           std::string{"a:4294967295"}, std::string(256, 'n')})
    CAF_CHECK(!read_proc(text));
}

CAF_TEST(information has a type) {
  const auto read = [](const char* text) {
    const auto x = read_event_info(text);
    return x ? x->val : value{};
  };
  CAF_CHECK(read("k=v") == value::string("v"));
  CAF_CHECK(read("k=") == value::string(""));
  CAF_CHECK(read("k=a=b") == value::string("a=b"));
  CAF_CHECK(read("k:int=-3") == value::integer(-3));
  CAF_CHECK(read("k:bool=true") == value::boolean(true));
  CAF_CHECK(read("k:uint64=9") == value::uint64(9));
  CAF_CHECK(read("k:status=PMIX_ERR_TIMEOUT") == value::of_status(-24));
  for (const auto* text : {"", "k", "=v", ":int=3", "k:int=x", "k:bool=1",
                           "k:uint32=-1", "k:float=1", "k:int=99999999999"})
    CAF_CHECK(!read_event_info(text));
}

CAF_TEST(default handlers are helped by names of all codes) {
  const auto all = named_event_codes();
  const auto has = [&](status x) {
    return std::count(all.begin(), all.end(), x) == 1;
  };
  CAF_CHECK(has(status::proc_aborted));
  CAF_CHECK(has(status::event_node_down));
  CAF_CHECK(!has(status::success));
  CAF_CHECK(!has(status::action_complete));
}

CAF_TEST(X31 an event is a line that cannot reach the terminal) {
  const auto x = to_text(example());
  CAF_CHECK_EQUAL(x.find("PMIX_ERR_PROC_ABORTED_BY_SIG (-402) from the resource"
                         " manager to namespace, about job:3 "),
                  0u);
  CAF_CHECK(x.find("pmix.exit.code=137") != std::string::npos);
  CAF_CHECK(x.find('\x1b') == std::string::npos);
  CAF_CHECK(x.find('\n') == std::string::npos);
}

CAF_TEST(an event as JSON has all that it holds) {
  auto x = example();
  const auto got = to_json(x);
  CAF_CHECK_EQUAL(got["code"], -402);
  CAF_CHECK_EQUAL(got["name"], "PMIX_ERR_PROC_ABORTED_BY_SIG");
  CAF_CHECK(got["source"].is_null());
  CAF_CHECK_EQUAL(got["range"], "namespace");
  CAF_CHECK_EQUAL(got["affected"],
                  nlohmann::json::parse(R"([{"nspace": "job", "rank": 3}])"));
  CAF_CHECK_EQUAL(got["infos"]["pmix.exit.code"], 137);
  CAF_CHECK(!got.contains("number"));
  x.number = 5;
  x.nspace = "job";
  x.what.source = {"other", rank_wildcard};
  const auto kept = to_json(x);
  CAF_CHECK_EQUAL(kept["number"], 5);
  CAF_CHECK_EQUAL(kept["source"]["rank"], "*");
}

CAF_TEST(what a server keeps is read in its order) {
  const auto entry = [](uint64_t number, status code) {
    return info{
      "job", 0,
      value::infos(
        {{"troupe.event.number", 0, value::uint64(number)},
         {"troupe.event.code", 0, value::of_status(static_cast<int32_t>(code))},
         {std::string{attr::procid}, 0, value::of_proc({"job", 1})},
         {"troupe.event.range", 0,
          value::uint32(static_cast<uint32_t>(data_range::session))},
         {"my.key", 0, value::integer(3)},
         // One of the event's own.
         {std::string{attr::procid}, 0, value::of_proc({"job", 2})}})};
  };
  const auto got = read_retained(
    value::infos({entry(4, status::timeout), entry(7, status::job_end)}));
  CAF_REQUIRE_EQUAL(got.size(), 2u);
  CAF_CHECK_EQUAL(got[0].number, 4u);
  CAF_CHECK_EQUAL(got[1].nspace, "job");
  CAF_CHECK_EQUAL(got[1].what.code, status::job_end);
  CAF_CHECK(got[1].what.source == (proc_id{"job", 1}));
  CAF_CHECK(got[1].what.range == data_range::session);
  CAF_CHECK_EQUAL(got[1].what.infos.size(), 2u);
  CAF_CHECK(read_retained(value::boolean(true)).empty());
}
