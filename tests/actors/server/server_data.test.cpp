// What processes read of their jobs and of one another.

#include "actors/data/job_data.hpp"
#include "actors/server/gets.hpp"
#include "actors/server/server.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/node.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

const auto key = std::string{"k"};

info rank_infos(uint32_t rank) {
  return with(attr::proc_data,
              value::infos({with(attr::rank, value::rank(rank)),
                            with(attr::hostname, value::string("node")),
                            with(attr::local_rank,
                                 value::uint16(static_cast<uint16_t>(rank)))}));
}

/// The data of the job `job`, besides its size.
std::vector<info> job_infos() {
  return {with(attr::jobid, value::string("job")),
          with(attr::session_info_array,
               value::infos({with(attr::session_id, value::uint32(9))})),
          with(attr::node_info_array,
               value::infos({with(attr::hostname, value::string("node")),
                             with(attr::local_peers, value::string("0,1,2"))})),
          with(attr::app_info_array,
               value::infos({with(attr::appnum, value::uint32(0)),
                             with(attr::app_size, value::uint32(3))})),
          rank_infos(0),
          rank_infos(1),
          rank_infos(2)};
}

struct fixture : deterministic {
  node uut{*this};
  std::vector<peer_ptr> ranks;
  peer_ptr stranger;

  fixture() {
    uut.add_job("job", 3, our_uid, job_infos());
    uut.add_job("other", 1);
    consume_messages();
    for (uint32_t rank = 0; rank < 3; ++rank)
      ranks.push_back(uut.connect("job", rank));
    stranger = uut.connect("other", 0);
    consume_messages();
  }

  pending<get_result> get(const peer_ptr& from, const proc_id& target,
                          std::optional<std::string> wanted = key,
                          std::vector<info> directives = {}) {
    auto result =
      uut.get(from, target, std::move(wanted), std::move(directives));
    consume_messages();
    return result;
  }

  /// The one process of the job `wide` on this node; there is another elsewhere.
  peer_ptr connect_wide() {
    auto request = register_nspace{};
    request.nspace = "wide";
    request.owner = {our_uid, our_uid};
    request.local_ranks = {0};
    request.infos = {with(attr::job_size, value::uint32(2))};
    uut.tell<ack>(std::move(request));
    auto result = uut.connect("wide", 0);
    consume_messages();
    return result;
  }

  status commit(const peer_ptr& from, std::vector<posted_data> blocks) {
    const auto result = uut.commit(from, std::move(blocks));
    consume_messages();
    return result->code;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(server_data_tests, fixture)

// -- job data ----------------------------------------------------------------

CAF_TEST(F4.14 a process gets all of its own job) {
  const auto x = uut.ask<job_info_reply>(ranks[1], job_info_request{});
  consume_messages();
  CAF_REQUIRE_EQUAL(x->code, status::success);
  const auto& job = *x->value.info;
  CAF_CHECK_EQUAL(job.nspace, "job");
  CAF_CHECK_EQUAL(job.ranks.size(), 3u);
  CAF_REQUIRE(find(job.entries, attr::job_size) != nullptr);
  CAF_CHECK(*find(job.entries, attr::job_size) == value::uint32(3));
}

CAF_TEST(F4.22 the wildcard rank reads job data) {
  const auto x =
    get(ranks[0], {"job", rank_wildcard}, std::string{attr::jobid});
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(text_in(x->value, std::string{attr::jobid}), "job");
  CAF_CHECK_EQUAL(x->value.blocks.at(0).proc.rank, rank_wildcard);
  CAF_CHECK_EQUAL(
    get(ranks[0], {"job", rank_wildcard}, std::string{"unknown"})->code,
    status::not_found);
  CAF_CHECK_EQUAL(get(ranks[0], {"job", rank_wildcard}, std::nullopt)->code,
                  status::success);
}

CAF_TEST(F4.14 an empty namespace is the own one) {
  const auto x = get(ranks[0], {"", rank_wildcard}, std::string{attr::jobid});
  CAF_CHECK_EQUAL(text_in(x->value, std::string{attr::jobid}), "job");
}

CAF_TEST(F4.14 the data of a node and an application and a session is read) {
  const auto hostname = std::string{attr::hostname};
  const auto target = proc_id{"job", rank_wildcard};
  CAF_CHECK_EQUAL(
    text_in(get(ranks[0], target, hostname, {with(attr::node_info)})->value,
            hostname),
    "node");
  CAF_CHECK_EQUAL(get(ranks[0], target, hostname,
                      {with(attr::node_info),
                       with(attr::hostname, value::string("elsewhere"))})
                    ->code,
                  status::not_found);
  const auto app =
    get(ranks[0], target, std::string{attr::app_size},
        {with(attr::app_info), with(attr::appnum, value::uint32(0))});
  CAF_REQUIRE_EQUAL(app->code, status::success);
  CAF_CHECK(*find(app->value.blocks.at(0).entries, attr::app_size)
            == value::uint32(3));
  const auto session = get(ranks[0], target, std::string{attr::session_id},
                           {with(attr::session_info)});
  CAF_REQUIRE_EQUAL(session->code, status::success);
  CAF_CHECK(*find(session->value.blocks.at(0).entries, attr::session_id)
            == value::uint32(9));
  CAF_CHECK_EQUAL(
    get(ranks[0], target, std::string{attr::session_id},
        {with(attr::session_info), with(attr::session_id, value::uint32(8))})
      ->code,
    status::not_found);
  CAF_CHECK_EQUAL(
    get(ranks[0], target, std::string{"unknown"}, {with(attr::session_info)})
      ->code,
    status::not_found);
}

CAF_TEST(F4.14 the data of a rank is read) {
  const auto x = get(ranks[0], {"job", 2}, std::string{attr::local_rank});
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK(*find(x->value.blocks.at(0).entries, attr::local_rank)
            == value::uint16(2));
}

// -- posted data -------------------------------------------------------------

CAF_TEST(F4.15 what is committed is seen by peers on the node) {
  CAF_CHECK_EQUAL(commit(ranks[0], {post(scope::local, "l", "1"),
                                    post(scope::remote, "r", "2"),
                                    post(scope::global, "g", "3")}),
                  status::success);
  CAF_CHECK_EQUAL(text_in(get(ranks[1], {"job", 0}, "l")->value, "l"), "1");
  CAF_CHECK_EQUAL(text_in(get(ranks[1], {"job", 0}, "g")->value, "g"), "3");
  CAF_CHECK_EQUAL(get(ranks[1], {"job", 0}, "r", {with(attr::optional)})->code,
                  status::not_found);
}

CAF_TEST(F4.15 without a key all that a rank posted is read) {
  commit(ranks[0],
         {post(scope::global, "a", "1"), post(scope::global, "b", "2")});
  const auto x = get(ranks[1], {"job", 0}, std::nullopt);
  CAF_CHECK_EQUAL(text_in(x->value, "a"), "1");
  CAF_CHECK_EQUAL(text_in(x->value, "b"), "2");
}

CAF_TEST(F4.15 one commits for oneself only) {
  commit(ranks[0], {post(scope::global, key, "mine")});
  CAF_CHECK_EQUAL(get(ranks[1], {"job", 1}, key, {with(attr::optional)})->code,
                  status::not_found);
  CAF_CHECK_EQUAL(text_in(get(ranks[1], {"job", 0})->value, key), "mine");
}

CAF_TEST(F4.26 a rank of another job comes with that job) {
  commit(ranks[1], {post(scope::global, key, "v")});
  const auto x = get(stranger, {"job", 1});
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_REQUIRE_EQUAL(x->value.blocks.size(), 2u);
  CAF_CHECK_EQUAL(x->value.blocks[0].proc.rank, rank_wildcard);
  CAF_CHECK(find(x->value.blocks[0].entries, attr::job_size) != nullptr);
  // The ranks as arrays, as clients of other jobs expect them.
  size_t arrays = 0;
  for (const auto& entry : x->value.blocks[0].entries)
    arrays += entry.key == attr::proc_data ? 1 : 0;
  CAF_CHECK_EQUAL(arrays, 3u);
  CAF_CHECK_EQUAL(text_in(x->value, key), "v");
  CAF_CHECK(find(x->value.blocks[1].entries, attr::local_rank) != nullptr);
}

CAF_TEST(X26 posting without end meets the quota) {
  const auto piece = std::string(size_t{1} << 20, 'x');
  auto outcome = status::success;
  auto rounds = 0;
  for (; rounds < 40 && outcome == status::success; ++rounds)
    outcome = commit(ranks[0],
                     {post(scope::local, "k" + std::to_string(rounds), piece)});
  CAF_CHECK_EQUAL(outcome, status::out_of_resource);
  CAF_CHECK_EQUAL(rounds, 16);
  CAF_CHECK_EQUAL(commit(ranks[1], {post(scope::local, key, "small")}),
                  status::success);
  auto logged = false;
  for (const auto& line : *uut.lines)
    logged = logged || line.find("job:0 posted more") != std::string::npos;
  CAF_CHECK(logged);
}

CAF_TEST(MND-A3 whoever waits for what was refused hears of it) {
  const auto early = get(ranks[1], {"job", 0});
  const auto other = get(ranks[1], {"job", 0}, "other");
  CAF_CHECK(early->is_pending());
  const auto much = std::string(size_t{17} << 20, 'x');
  CAF_CHECK_EQUAL(commit(ranks[0], {post(scope::global, key, much)}),
                  status::out_of_resource);
  CAF_CHECK_EQUAL(early->code, status::out_of_resource);
  CAF_CHECK_EQUAL(get(ranks[2], {"job", 0})->code, status::out_of_resource);
  CAF_CHECK(other->is_pending());
  commit(ranks[0], {post(scope::global, "other", "v")});
  CAF_CHECK_EQUAL(other->code, status::success);
  commit(ranks[0], {post(scope::global, key, "small")});
  CAF_CHECK_EQUAL(get(ranks[2], {"job", 0})->code, status::success);
}

// -- waiting -----------------------------------------------------------------

CAF_TEST(F4.21 a get waits until the key is committed) {
  const auto x = get(ranks[1], {"job", 0});
  CAF_CHECK(x->is_pending());
  elapse(1h);
  CAF_CHECK(x->is_pending());
  commit(ranks[0], {post(scope::global, key, "late")});
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(text_in(x->value, key), "late");
}

CAF_TEST(F4.21 who is gone with its job waits for nobody) {
  const auto waiting = [this] {
    for (const auto& x : request<gauge_list>(uut.server, get_gauges{}).gauges)
      if (x.name == "server.gets")
        return x.value;
    return uint64_t{99};
  };
  // Its socket closes when its job is gone already.
  stranger->wire->session = nullptr;
  const auto x = get(stranger, {"job", 0});
  CAF_CHECK(x->is_pending());
  CAF_CHECK_EQUAL(waiting(), 1u);
  uut.tell<ack>(deregister_nspace{"other"});
  consume_messages();
  uut.lose(stranger);
  consume_messages();
  CAF_CHECK_EQUAL(waiting(), 0u);
}

CAF_TEST(F4.21 another key does not wake it) {
  const auto x =
    get(ranks[1], {"job", 0}, key, {with(attr::timeout, value::integer(10))});
  commit(ranks[0], {post(scope::global, "other", "v")});
  commit(ranks[2], {post(scope::global, key, "v")});
  CAF_CHECK(x->is_pending());
  commit(ranks[0], {post(scope::global, key, "late")});
  CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(F4.21 several wait for one key) {
  const auto x = get(ranks[1], {"job", 0});
  const auto y = get(ranks[2], {"job", 0});
  const auto z = get(stranger, {"job", 0});
  commit(ranks[0], {post(scope::global, key, "late")});
  for (const auto& each : {x, y, z})
    CAF_CHECK_EQUAL(each->code, status::success);
}

CAF_TEST(F4.21 a get ends with its time-out) {
  const auto x =
    get(ranks[1], {"job", 0}, key, {with(attr::timeout, value::integer(3))});
  elapse(2999ms);
  CAF_CHECK(x->is_pending());
  elapse(1ms);
  CAF_CHECK_EQUAL(x->code, status::timeout);
  CAF_CHECK(x->reason.find("k of job:0") != std::string::npos);
  commit(ranks[0], {post(scope::global, key, "too late")});
  CAF_CHECK_EQUAL(x->code, status::timeout);
}

CAF_TEST(F4.21 who has committed is waited for a short while) {
  commit(ranks[0], {post(scope::global, "other", "v")});
  const auto x = get(ranks[1], {"job", 0});
  CAF_CHECK(x->is_pending());
  elapse(defaults::get_wait);
  CAF_CHECK_EQUAL(x->code, status::not_found);
}

CAF_TEST(F4.20 an immediate or optional get answers at once) {
  for (const auto directive : {attr::immediate, attr::optional}) {
    CAF_CHECK_EQUAL(get(ranks[1], {"job", 0}, key, {with(directive)})->code,
                    status::not_found);
    CAF_CHECK(
      get(ranks[1], {"job", 0}, key, {with(directive, value::boolean(false))})
        ->is_pending());
  }
  commit(ranks[0], {post(scope::global, key, "there")});
  for (const auto directive : {attr::immediate, attr::optional})
    CAF_CHECK_EQUAL(
      text_in(get(ranks[1], {"job", 0}, key, {with(directive)})->value, key),
      "there");
}

CAF_TEST(C6.8 without a rank a key is found wherever it is) {
  const auto anywhere = proc_id{"job", rank_undef};
  CAF_CHECK_EQUAL(get(ranks[0], anywhere, key)->code, status::not_found);
  commit(ranks[1], {post(scope::global, key, "there")});
  const auto x = get(ranks[0], anywhere, key);
  CAF_CHECK_EQUAL(text_in(x->value, key), "there");
  CAF_CHECK(x->value.blocks.at(0).proc == (proc_id{"job", 1}));
  const auto size = get(ranks[0], anywhere, std::string{attr::job_size});
  CAF_CHECK_EQUAL(size->code, status::success);
}

CAF_TEST(F4.21 a reserved key is never waited for) {
  CAF_CHECK_EQUAL(get(ranks[1], {"job", 0}, "pmix.never")->code,
                  status::not_found);
}

CAF_TEST(F4.22 a rank that does not exist is not waited for) {
  CAF_CHECK_EQUAL(get(ranks[1], {"job", 3})->code, status::not_found);
  CAF_CHECK_EQUAL(get(ranks[1], {"job", rank_invalid})->code,
                  status::not_found);
}

CAF_TEST(F4.21 X35 a get ends when the process that it waits for ends) {
  const auto x = get(ranks[1], {"job", 0});
  const auto y = get(ranks[1], {"job", 2});
  uut.end_process({"job", 0});
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::not_found);
  CAF_CHECK(x->reason.find("ended") != std::string::npos);
  CAF_CHECK(y->is_pending());
  CAF_CHECK_EQUAL(get(ranks[1], {"job", 0})->code, status::not_found);
}

CAF_TEST(F4.15 what a process posted outlives it) {
  commit(ranks[0], {post(scope::global, key, "legacy")});
  uut.end_process({"job", 0});
  consume_messages();
  CAF_CHECK_EQUAL(text_in(get(ranks[1], {"job", 0})->value, key), "legacy");
}

CAF_TEST(F4.21 a get ends when the job that it asks about ends) {
  const auto x = get(stranger, {"job", 0});
  uut.tell<ack>(deregister_nspace{"job"});
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::not_found);
}

// -- foreign namespaces ------------------------------------------------------

CAF_TEST(F4.22 the host is asked for what is not on this node) {
  uut.host_play->modex.blocks = {{{"far", 7}, {{key, value::string("away")}}}};
  const auto x =
    get(ranks[0], {"far", 7}, key, {with(attr::timeout, value::integer(5))});
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(text_in(x->value, key), "away");
  CAF_REQUIRE_EQUAL(uut.host_play->asked.size(), 1u);
  CAF_CHECK(uut.host_play->asked[0].target == (proc_id{"far", 7}));
  CAF_CHECK(number<int32_t>(uut.host_play->asked[0].directives, attr::timeout)
            == 5);
}

CAF_TEST(X28 F4.22 a namespace that nobody knows is not found) {
  CAF_CHECK_EQUAL(get(ranks[0], {"far", 7})->code, status::not_found);
  CAF_CHECK_EQUAL(uut.host_play->asked.size(), 1u);
  CAF_CHECK_EQUAL(get(ranks[0], {"far", 7}, key, {with(attr::immediate)})->code,
                  status::not_found);
  CAF_CHECK_EQUAL(uut.host_play->asked.size(), 1u); // Not asked again.
}

CAF_TEST(F4.21 data that a fence brings from other nodes wakes gets) {
  const auto local = connect_wide();
  commit(local,
         {post(scope::remote, "mine", "1"), post(scope::local, "hidden", "2")});
  const auto x = get(local, {"wide", 1});
  CAF_CHECK(x->is_pending());
  uut.host_play->remote_data.data = {
    {{"wide", 1}, {{key, value::string("far")}}}};
  const auto fenced = uut.fence(local, {}, {with(attr::collect_data)});
  consume_messages();
  CAF_CHECK_EQUAL(fenced->code, status::success);
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(text_in(x->value, key), "far");
  // The host got what others may see.
  const auto& given = uut.host_play->joined.at(0).data;
  CAF_REQUIRE_EQUAL(given.size(), 1u);
  CAF_CHECK(find(given[0].entries, "mine") != nullptr);
  CAF_CHECK(find(given[0].entries, "hidden") == nullptr);
}

CAF_TEST(F4.21 an answer that a fence has overtaken is old) {
  const auto local = connect_wide();
  auto& host = *uut.host_play;
  const auto bring = [&](std::string what) {
    host.remote_data.data = {{{"wide", 1}, {{key, value::string(what)}}}};
    uut.fence(local, {}, {with(attr::collect_data)});
    consume_messages();
  };
  // The answer is on its way when a fence brings what was posted after it.
  host.holds = true;
  host.modex.blocks = {{{"wide", 1}, {{key, value::string("old")}}}};
  const auto x = get(local, {"wide", 1});
  CAF_CHECK(x->is_pending());
  host.holds = false;
  bring("new");
  CAF_CHECK_EQUAL(text_in(x->value, key), "new");
  host.release();
  consume_messages();
  CAF_CHECK_EQUAL(text_in(get(local, {"wide", 1})->value, key), "new");
  // One that waits for what the fence has not brought asks once more.
  host.holds = true;
  const auto y = get(local, {"wide", 1}, "other");
  host.holds = false;
  host.modex.blocks = {{{"wide", 1}, {{"other", value::string("1")}}}};
  bring("newer");
  CAF_CHECK(y->is_pending());
  const auto asked = host.asked.size();
  host.release();
  consume_messages();
  CAF_CHECK_EQUAL(host.asked.size(), asked + 1);
  CAF_CHECK_EQUAL(text_in(y->value, "other"), "1");
  CAF_CHECK_EQUAL(text_in(get(local, {"wide", 1})->value, key), "newer");
  // Who wants it fresh asks the host.
  host.modex.blocks = {{{"wide", 1}, {{key, value::string("newest")}}}};
  CAF_CHECK_EQUAL(
    text_in(
      get(local, {"wide", 1}, key, {with(attr::get_refresh_cache)})->value,
      key),
    "newest");
  host.modex.blocks = {{{"wide", 1}, {{key, value::string("freshest")}}}};
  const auto all =
    uut.ask<refresh_cache_result>(local, refresh_cache_request{{"wide", 1}});
  consume_messages();
  CAF_REQUIRE_EQUAL(all->value.entries.size(), 1u);
  CAF_CHECK_EQUAL(*all->value.entries[0].val.text(), "freshest");
  // A fence may overtake that, too.
  host.holds = true;
  const auto late =
    uut.ask<refresh_cache_result>(local, refresh_cache_request{{"wide", 1}});
  consume_messages();
  host.holds = false;
  bring("last");
  host.release();
  consume_messages();
  CAF_REQUIRE_EQUAL(late->value.entries.size(), 1u);
  CAF_CHECK_EQUAL(*late->value.entries[0].val.text(), "last");
}

CAF_TEST(F4.21 fences do not keep a get from ending) {
  const auto local = connect_wide();
  auto& host = *uut.host_play;
  const auto fence = [&](std::string what) {
    host.holds = false;
    host.remote_data.data = {{{"wide", 1}, {{key, value::string(what)}}}};
    uut.fence(local, {}, {with(attr::collect_data)});
    consume_messages();
    host.holds = true;
  };
  host.modex.blocks = {{{"wide", 1}, {{key, value::string("0")}}}};
  host.holds = true;
  CAF_REQUIRE_EQUAL(defaults::get_wait, 2s);
  const auto x = get(local, {"wide", 1}, "never");
  for (auto n = 0; n < 4; ++n) {
    fence(std::to_string(n));
    host.release();
    consume_messages();
    CAF_CHECK(x->is_pending());
    elapse(499ms);
  }
  fence("4");
  elapse(3ms);
  CAF_CHECK(x->is_pending());
  elapse(1ms);
  CAF_CHECK_EQUAL(x->code, status::not_found);
  CAF_CHECK(x->reason.find("never of wide:1 was not posted in time")
            != std::string::npos);
}

CAF_TEST(F4.21 a question after a fence is another than one before it) {
  const auto local = connect_wide();
  auto& host = *uut.host_play;
  const auto number = [&] {
    const auto* x = find(host.asked.back().directives, question_number);
    return x != nullptr ? x->number<uint64_t>() : std::nullopt;
  };
  host.holds = true;
  get(local, {"wide", 1});
  CAF_CHECK(!number());
  host.holds = false;
  host.remote_data.data = {{{"wide", 1}, {{"other", value::string("1")}}}};
  uut.fence(local, {}, {with(attr::collect_data)});
  consume_messages();
  host.holds = true;
  get(local, {"wide", 1});
  const auto first = number();
  CAF_CHECK(first);
  for (auto n = 0; n < 2; ++n) {
    const auto before = number();
    uut.ask<refresh_cache_result>(local, refresh_cache_request{{"wide", 1}});
    consume_messages();
    CAF_CHECK(number() && number() != before);
  }
}

CAF_TEST(F4.21 what cannot be refreshed stays as it was) {
  const auto local = connect_wide();
  auto& host = *uut.host_play;
  host.modex.blocks = {{{"wide", 1}, {{key, value::string("1")}}}};
  CAF_CHECK_EQUAL(text_in(get(local, {"wide", 1})->value, key), "1");
  host.modex.blocks.clear();
  const auto all =
    uut.ask<refresh_cache_result>(local, refresh_cache_request{{"wide", 1}});
  consume_messages();
  CAF_REQUIRE_EQUAL(all->value.entries.size(), 1u);
  CAF_CHECK_EQUAL(*all->value.entries[0].val.text(), "1");
  const auto refresh = with(attr::get_refresh_cache);
  CAF_CHECK_EQUAL(text_in(get(local, {"wide", 1}, key, {refresh})->value, key),
                  "1");
  // Who does not wait for keys waits for the answer.
  host.modex.blocks = {{{"wide", 1}, {{key, value::string("2")}}}};
  CAF_CHECK_EQUAL(
    text_in(
      get(local, {"wide", 1}, key, {refresh, with(attr::immediate)})->value,
      key),
    "2");
  // What the process has taken back is gone.
  host.modex.blocks = {{{"wide", 1}, {{"other", value::string("3")}}}};
  CAF_CHECK_EQUAL(
    get(local, {"wide", 1}, key, {refresh, with(attr::immediate)})->code,
    status::not_found);
  // Nobody is asked of what nobody has posted, however far.
  const auto asked = host.asked.size();
  CAF_CHECK_EQUAL(get(local, {"wide", 4'000'000'000}, key, {refresh})->code,
                  status::not_found);
  CAF_CHECK_EQUAL(host.asked.size(), asked);
}

CAF_TEST(fresh data of a process is read anew) {
  commit(ranks[0], {post(scope::global, key, "v")});
  const auto ask = [this](const proc_id& target) {
    auto result =
      uut.ask<refresh_cache_result>(ranks[1], refresh_cache_request{target});
    consume_messages();
    return result;
  };
  const auto x = ask({"job", 0});
  CAF_REQUIRE_EQUAL(x->value.entries.size(), 1u);
  CAF_CHECK(ask({"job", 2})->value.entries.empty());
  CAF_CHECK_EQUAL(ask({"far", 0})->code, status::not_found);
}

CAF_TEST_FIXTURE_SCOPE_END()
