// What processes post in memory that they share with their server.

#include "actors/data/job_data.hpp"
#include "actors/server/server.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "messages/query.hpp"
#include "tests/fixtures/node.hpp"
#include "tests/test.hpp"

#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <utility>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

const auto key = std::string{"k"};

/// What the memory of a job is told, and what is in it.
struct script {
  uint32_t ranks = 0;
  std::vector<uint32_t> locals;
  std::vector<key_value> data;
  bool has_job = false;
  std::set<uint32_t> retired;
  std::set<uint32_t> wanted;
  std::map<uint32_t, std::vector<posted_data>> news;
  std::map<uint32_t, std::map<std::string, value>> brought;
  std::map<uint32_t, uint64_t> beats;
  std::set<uint32_t> beats_wanted;
  bool is_open = false;
  bool somebody_waits = false;
  uint64_t fences = 0;
  std::optional<uint32_t> gathered;
  bool is_collecting = false;
  std::vector<uint32_t> ended;
};

class scripted_memory final : public job_memory {
public:
  explicit scripted_memory(std::shared_ptr<script> play)
    : play_(std::move(play)) {
    // nop
  }

  bool has_job() const override {
    return play_->has_job;
  }

  std::string lend(uint32_t rank) override {
    return "region of " + std::to_string(rank);
  }

  std::string address() const override {
    return "to read";
  }

  int hand(const std::string& inbox) const override {
    return inbox == "good" ? 0 : ECONNREFUSED;
  }

  bool has(uint32_t rank) const override {
    return play_->retired.count(rank) == 0;
  }

  void retire(uint32_t rank) override {
    play_->retired.insert(rank);
  }

  void want(uint32_t rank, bool is_wanted) override {
    if (is_wanted)
      play_->wanted.insert(rank);
    else
      play_->wanted.erase(rank);
  }

  std::vector<posted_data> take(uint32_t rank) override {
    return std::exchange(play_->news[rank], {});
  }

  void bring(uint32_t rank, const std::vector<key_value>& entries) override {
    auto& shown = play_->brought[rank];
    for (const auto& x : entries)
      shown[x.key] = x.val;
  }

  void drop(uint32_t rank) override {
    play_->brought.erase(rank);
  }

  std::optional<cell_number> add_cell(const std::vector<uint32_t>&) override {
    return std::nullopt;
  }

  void remove_cell(cell_number) override {
    // nop
  }

  void leave_cells(uint32_t) override {
    // nop
  }

  bool open_fences(cell_number) override {
    CAF_CHECK(!std::exchange(play_->is_open, true));
    return true;
  }

  bool has_arrivals(cell_number) const override {
    return play_->somebody_waits;
  }

  bool has_arrived(cell_number, uint32_t) const override {
    return play_->somebody_waits;
  }

  bool has_gathered(uint32_t round) const override {
    return play_->gathered == round;
  }

  bool has_collected(uint32_t round) const override {
    return play_->gathered == round && play_->is_collecting;
  }

  void end_fence(uint32_t round) override {
    play_->ended.push_back(round);
  }

  bool close_fences(cell_number) override {
    CAF_CHECK(std::exchange(play_->is_open, false));
    return std::exchange(play_->somebody_waits, false);
  }

  void open_groups(const numbers&) override {
    // nop
  }

  void close_groups() override {
    // nop
  }

  uint32_t group_rounds() const override {
    return 0;
  }

  uint32_t most_groups() const override {
    return 1;
  }

  bool has_groups() const override {
    return false;
  }

  std::optional<std::vector<shared_group>>
  take_groups(const numbers&) override {
    return std::vector<shared_group>{};
  }

  uint64_t fences(cell_number) const override {
    return play_->fences;
  }

  uint64_t last_beat(uint32_t rank) const override {
    const auto i = play_->beats.find(rank);
    return i != play_->beats.end() ? i->second : 0;
  }

  void want_beat(uint32_t rank, bool is_wanted) override {
    if (is_wanted)
      play_->beats_wanted.insert(rank);
    else
      play_->beats_wanted.erase(rank);
  }

  uint64_t used() const override {
    return 1000;
  }

  uint64_t size() const override {
    return 2000;
  }

private:
  std::shared_ptr<script> play_;
};

struct fixture : deterministic {
  std::shared_ptr<script> memory = std::make_shared<script>();
  std::string failure;
  int made = 0;
  node uut{*this, [this](uint32_t ranks, const std::vector<uint32_t>& locals,
                         uint64_t, const job_info& data, std::string& why) {
             ++made;
             memory->data = data.entries;
             memory->ranks = ranks;
             memory->locals = locals;
             why = failure;
             return failure.empty() ? std::make_unique<scripted_memory>(memory)
                                    : nullptr;
           }};

  fixture() {
    uut.add_job("job", 3);
    consume_messages();
  }

  peer_ptr connect(uint32_t rank, bool can_share,
                   peer_role role = peer_role::client) {
    auto request = node::greeting({"job", rank});
    request.can_share = can_share;
    request.role = role;
    auto result = uut.connect(std::move(request));
    consume_messages();
    return result;
  }

  pending<get_result> get(const peer_ptr& from, uint32_t rank) {
    auto result = uut.get(from, {"job", rank}, key);
    consume_messages();
    return result;
  }

  /// Lines of the log with these words.
  int said(const char* words) const {
    auto result = 0;
    for (const auto& line : *uut.lines)
      result += line.find(words) != std::string::npos ? 1 : 0;
    return result;
  }

  void commit(const peer_ptr& from, std::vector<posted_data> blocks) {
    uut.commit(from, std::move(blocks));
    consume_messages();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(server_memory_tests, fixture)

CAF_TEST(it is made for the first process that can share it) {
  CAF_CHECK_EQUAL(connect(0, false)->accepted.shared, "");
  CAF_CHECK_EQUAL(made, 0);
  const auto one = connect(1, true);
  CAF_CHECK_EQUAL(one->accepted.shared, "region of 1");
  CAF_CHECK_EQUAL(memory->ranks, 3u);
  CAF_CHECK(memory->locals == (std::vector<uint32_t>{0, 1, 2}));
  // A forked child only reads, until the first one has gone.
  CAF_CHECK_EQUAL(connect(1, true)->accepted.shared, "to read");
  uut.lose(one);
  consume_messages();
  CAF_CHECK_EQUAL(connect(2, true)->accepted.shared, "region of 2");
  CAF_CHECK_EQUAL(made, 1);
}

CAF_TEST(one that comes after another has its region) {
  const auto first = connect(1, true);
  uut.lose(first, true);
  consume_messages();
  CAF_CHECK_EQUAL(connect(1, true)->accepted.shared, "region of 1");
}

CAF_TEST(where it cannot be made the log says why once) {
  failure = "no memory";
  CAF_CHECK_EQUAL(connect(0, true)->accepted.shared, "");
  CAF_CHECK_EQUAL(connect(1, true)->accepted.shared, "");
  CAF_CHECK_EQUAL(made, 1);
  CAF_CHECK_EQUAL(said("no memory"), 1);
}

CAF_TEST(processes of another user than the servers share nothing) {
  uut.add_job("theirs", 1, our_uid + 1);
  consume_messages();
  auto request = node::greeting({"theirs", 0}, our_uid + 1);
  request.can_share = true;
  const auto x = uut.connect(std::move(request));
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(x->accepted.shared, "");
  CAF_CHECK_EQUAL(said("of user"), 1);
}

CAF_TEST(a job that wants none has none and the log says nothing) {
  uut.add_job("alone", 2, our_uid,
              {make_info(no_shared_memory_key, value::boolean(true))});
  consume_messages();
  for (const auto rank : {0u, 1u}) {
    auto request = node::greeting({"alone", rank});
    request.can_share = true;
    const auto x = uut.connect(std::move(request));
    consume_messages();
    CAF_CHECK_EQUAL(x->code, status::success);
    CAF_CHECK_EQUAL(x->accepted.shared, "");
  }
  CAF_CHECK_EQUAL(made, 0);
  CAF_CHECK_EQUAL(said("memory"), 0);
  CAF_CHECK_EQUAL(connect(0, true)->accepted.shared, "region of 0");
}

CAF_TEST(one that does not see it is handed it) {
  const auto tell = [&](const peer_ptr& x, const char* inbox) {
    const auto outcome = uut.ask<ack>(
      x, log_request{0,
                     {make_info(unseen_memory_key, value::integer(EACCES)),
                      make_info(memory_inbox_key, value::string(inbox))},
                     {}});
    consume_messages();
    return outcome->code;
  };
  const auto zero = connect(0, true);
  CAF_CHECK_EQUAL(tell(zero, "good"), status::success);
  CAF_CHECK_EQUAL(said("share no memory"), 0);
  CAF_CHECK(memory->retired.empty());
  CAF_CHECK_EQUAL(tell(zero, "bad"), status::not_found);
  CAF_CHECK_EQUAL(said("job:0 may not open"), 1);
  CAF_CHECK(memory->retired == (std::set<uint32_t>{0}));
}

CAF_TEST(of those that do not see it the log tells once for a job) {
  const auto tell = [&](const peer_ptr& x, int code) {
    const auto outcome = uut.ask<ack>(
      x,
      log_request{0, {make_info(unseen_memory_key, value::integer(code))}, {}});
    consume_messages();
    CAF_CHECK_EQUAL(outcome->code, status::success);
  };
  const auto zero = connect(0, true);
  const auto one = connect(1, true);
  tell(zero, EACCES);
  tell(one, ENOENT);
  CAF_CHECK_EQUAL(said("share no memory"), 1);
  CAF_CHECK_EQUAL(said("job:0 may not open"), 1);
  CAF_CHECK(memory->retired == (std::set<uint32_t>{0, 1}));
  // What it posts comes by its connection, and that is said already.
  commit(zero, {post(scope::global, key, "1")});
  CAF_CHECK_EQUAL(text_in(get(connect(2, true), 0)->value, key), "1");
  CAF_CHECK_EQUAL(said("by its connection"), 0);
  CAF_CHECK(uut.log_play->written.empty());
}

CAF_TEST(F4.43 the log tells of one that finds nonsense there) {
  const auto zero = connect(0, true);
  const auto outcome = uut.ask<ack>(
    zero, log_request{
            0, {make_info(unseen_memory_key, value::integer(EBADMSG))}, {}});
  consume_messages();
  CAF_CHECK_EQUAL(outcome->code, status::success);
  CAF_CHECK_EQUAL(said("job:0 finds nothing there that makes sense"), 1);
  CAF_CHECK(memory->retired == (std::set<uint32_t>{0}));
}

namespace {

/// Whether an answer says that the data of the job are in memory.
bool is_in_memory(const job_info_reply& x) {
  CAF_REQUIRE(x.info);
  const auto* where = find(x.info->entries, job_in_memory_key);
  CAF_CHECK((where != nullptr)
            == (find(x.info->entries, attr::job_size) == nullptr));
  return where != nullptr;
}

} // namespace

CAF_TEST(F4.43 who has the memory is told that the data of its job are there) {
  memory->has_job = true;
  const auto ask = [&](const peer_ptr& x) {
    const auto told = uut.ask<job_info_reply>(x, job_info_request{});
    consume_messages();
    CAF_REQUIRE_EQUAL(told->code, status::success);
    CAF_CHECK_EQUAL(told->value.info->nspace, "job");
    return is_in_memory(told->value);
  };
  const auto zero = connect(0, true);
  CAF_CHECK(find(memory->data, attr::job_size) != nullptr);
  CAF_CHECK(ask(zero));
  CAF_CHECK(ask(connect(1, true)));
  // Another library, and a child that comes by its name.
  CAF_CHECK(!ask(connect(2, false)));
  CAF_CHECK(!ask(connect(0, true)));
  // One that does not see it.
  const auto outcome = uut.ask<ack>(
    zero,
    log_request{0, {make_info(unseen_memory_key, value::integer(EACCES))}, {}});
  consume_messages();
  CAF_CHECK_EQUAL(outcome->code, status::success);
  CAF_CHECK(!ask(zero));
}

CAF_TEST(F4.43 all are told so by what is packed once) {
  memory->has_job = true;
  const auto told = [&](uint32_t rank) {
    const auto x =
      uut.ask<job_info_reply>(connect(rank, true), job_info_request{});
    consume_messages();
    CAF_REQUIRE_EQUAL(x->code, status::success);
    return x->value.info;
  };
  const auto first = told(0);
  CAF_CHECK(is_in_memory({first}));
  CAF_CHECK(told(1) == first);
}

CAF_TEST(F4.43 without room for them they are sent) {
  const auto told =
    uut.ask<job_info_reply>(connect(0, true), job_info_request{});
  consume_messages();
  CAF_REQUIRE_EQUAL(told->code, status::success);
  CAF_CHECK(!is_in_memory(told->value));
}

CAF_TEST(F4.43 data that have come since are sent) {
  memory->has_job = true;
  const auto zero = connect(0, true);
  auto again = register_nspace{};
  again.nspace = "job";
  again.owner = {our_uid, our_uid};
  again.local_ranks = {0, 1, 2};
  again.clients_follow = true;
  again.infos = {make_info(attr::job_size, value::uint32(3)),
                 make_info("later", value::boolean(true))};
  uut.tell<ack>(std::move(again));
  consume_messages();
  const auto told = uut.ask<job_info_reply>(zero, job_info_request{});
  consume_messages();
  CAF_REQUIRE_EQUAL(told->code, status::success);
  CAF_CHECK(!is_in_memory(told->value));
  CAF_CHECK(find(told->value.info->entries, "later") != nullptr);
}

CAF_TEST(what is posted there is found by those that ask the server) {
  connect(0, true);
  const auto other = connect(1, false);
  memory->news[0] = {post(scope::local, key, "1")};
  const auto x = get(other, 0);
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(text_in(x->value, key), "1");
  memory->news[0] = {post(scope::local, key, "2")};
  CAF_CHECK_EQUAL(text_in(get(other, 0)->value, key), "2");
  CAF_CHECK(memory->wanted.empty());
}

CAF_TEST(who waits is answered when an empty commit comes) {
  const auto zero = connect(0, true);
  const auto other = connect(1, false);
  const auto x = get(other, 0);
  CAF_CHECK(x->is_pending());
  CAF_CHECK(memory->wanted.count(0) == 1);
  memory->news[0] = {post(scope::local, key, "1")};
  commit(zero, {});
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(text_in(x->value, key), "1");
  CAF_CHECK(memory->wanted.empty());
  CAF_CHECK(memory->retired.empty());
}

CAF_TEST(who asked before there was memory is answered as well) {
  const auto modex = uut.tell<get_result>(direct_modex{{"job", 0}, {}});
  const auto unheard = uut.tell<get_result>(direct_modex{{"later", 0}, {}});
  const auto other = connect(1, false);
  const auto x = get(other, 2);
  const auto zero = connect(0, true);
  CAF_CHECK(memory->wanted == (std::set<uint32_t>{0, 2}));
  memory->news[0] = {post(scope::global, key, "1")};
  commit(zero, {});
  CAF_REQUIRE_EQUAL(modex->code, status::success);
  CAF_CHECK_EQUAL(text_in(modex->value, key), "1");
  CAF_CHECK(memory->wanted == (std::set<uint32_t>{2}));
  const auto two = connect(2, true);
  memory->news[2] = {post(scope::local, key, "2")};
  commit(two, {});
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(text_in(x->value, key), "2");
  // Asked for before its namespace was known.
  uut.lose(zero);
  memory->retired.clear();
  uut.add_job("later", 1);
  auto request = node::greeting({"later", 0});
  request.can_share = true;
  const auto late = uut.connect(std::move(request));
  consume_messages();
  CAF_CHECK(memory->wanted == (std::set<uint32_t>{0}));
  memory->news[0] = {post(scope::remote, key, "3")};
  commit(late, {});
  CAF_REQUIRE_EQUAL(unheard->code, status::success);
  CAF_CHECK_EQUAL(text_in(unheard->value, key), "3");
}

CAF_TEST(what comes by a connection is there for good) {
  const auto zero = connect(0, true);
  const auto other = connect(1, false);
  memory->news[0] = {post(scope::local, key, "1")};
  commit(zero, {post(scope::local, "l", "2")});
  CAF_CHECK(memory->retired.count(0) == 1);
  CAF_CHECK_EQUAL(text_in(get(other, 0)->value, key), "1");
  CAF_CHECK_EQUAL(text_in(get(other, 0)->value, "l"), "2");
  commit(other, {post(scope::local, key, "3")});
  CAF_CHECK(memory->retired.count(1) == 1);
  CAF_CHECK(memory->retired.count(2) == 0);
}

CAF_TEST(COLL-3 they meet by themselves once all of them share memory) {
  const auto zero = connect(0, true);
  const auto one = connect(1, true);
  const auto early = uut.fence(zero);
  consume_messages();
  const auto two = connect(2, true);
  // One of them waits for us.
  CAF_CHECK(!memory->is_open);
  uut.fence(one);
  const auto last = uut.fence(two);
  consume_messages();
  CAF_CHECK_EQUAL(last->code, status::success);
  CAF_CHECK_EQUAL(early->code, status::success);
  CAF_CHECK(memory->is_open);
  // Fences of some of them, and what is no fence, have nothing to do with it.
  uut.fence(zero, {{"job", 0}, {"job", 1}});
  consume_messages();
  CAF_CHECK(memory->is_open);
  // Who asks us has the others ask us, by whatever name, for one fence.
  uut.fence(zero, {{"job", 2}, {"job", 1}, {"job", 0}});
  consume_messages();
  CAF_CHECK(!memory->is_open);
  uut.fence(one);
  uut.fence(two, {{"job", rank_wildcard}});
  consume_messages();
  CAF_CHECK(memory->is_open);
}

CAF_TEST(COLL-3 they do not meet if one of them cannot) {
  connect(0, true);
  connect(1, true);
  connect(2, false);
  CAF_CHECK(!memory->is_open);
}

CAF_TEST(COLL-3 they do not meet if one of them is on another node) {
  auto job = register_nspace{};
  job.nspace = "wide";
  job.owner = {our_uid, our_uid};
  job.local_ranks = {0};
  job.infos = {make_info(attr::job_size, value::uint32(2))};
  uut.tell<ack>(std::move(job));
  consume_messages();
  auto request = node::greeting({"wide", 0});
  request.can_share = true;
  const auto x = uut.connect(std::move(request));
  consume_messages();
  CAF_CHECK_EQUAL(x->accepted.shared, "region of 0");
  CAF_CHECK(!memory->is_open);
}

CAF_TEST(COLL-2 one asks for all of its node if others take part) {
  uut.add_job("wide", 2, our_uid, {}, 1);
  consume_messages();
  const auto connect_wide = [&](uint32_t rank) {
    auto request = node::greeting({"wide", rank});
    request.can_share = true;
    auto result = uut.connect(std::move(request));
    consume_messages();
    return result;
  };
  const auto of_round = [](uint32_t x) {
    return std::vector<info>{make_info(fence_round, value::uint32(x))};
  };
  const auto zero = connect_wide(0);
  CAF_CHECK(!memory->is_open);
  const auto one = connect_wide(1);
  CAF_REQUIRE(memory->is_open);
  auto& host = *uut.host_play;
  host.holds_collectives = true;
  memory->gathered = 7;
  memory->is_collecting = true;
  const auto last = uut.fence(one, {}, of_round(7));
  consume_messages();
  CAF_REQUIRE_EQUAL(host.joined.size(), 1u);
  CAF_CHECK(flag(host.joined[0].directives, attr::collect_data));
  CAF_CHECK_EQUAL(host.joined[0].data.size(), 2u);
  CAF_CHECK_EQUAL(host.joined[0].generation, 1u);
  // Who has waited for long asks for the same one.
  const auto impatient = uut.fence(zero, {}, of_round(7));
  consume_messages();
  CAF_CHECK_EQUAL(host.joined.size(), 1u);
  CAF_CHECK(memory->ended.empty());
  host.release();
  consume_messages();
  CAF_CHECK_EQUAL(last->code, status::success);
  CAF_CHECK_EQUAL(impatient->code, status::success);
  CAF_CHECK_EQUAL(memory->ended, std::vector<uint32_t>{7});
  CAF_CHECK(memory->is_open);
  // One that fails has all of them ask.
  memory->gathered = 9;
  host.collectives = status::lost_connection;
  const auto failing = uut.fence(zero, {}, of_round(9));
  consume_messages();
  CAF_REQUIRE_EQUAL(host.joined.size(), 2u);
  CAF_CHECK_EQUAL(host.joined[1].generation, 2u);
  host.release();
  consume_messages();
  CAF_CHECK_EQUAL(failing->code, status::lost_connection);
  CAF_CHECK(!memory->is_open);
  CAF_CHECK_EQUAL(memory->ended.size(), 1u);
  const auto late = uut.fence(one, {}, of_round(9));
  consume_messages();
  CAF_CHECK_EQUAL(late->code, status::lost_connection);
  CAF_CHECK_EQUAL(host.joined.size(), 2u);
}

CAF_TEST(COLL-3 who says that all have come where they have not joins alone) {
  uut.add_job("wide", 2, our_uid, {}, 1);
  consume_messages();
  auto all = std::vector<peer_ptr>{};
  for (uint32_t rank = 0; rank < 2; ++rank) {
    auto request = node::greeting({"wide", rank});
    request.can_share = true;
    all.push_back(uut.connect(std::move(request)));
    consume_messages();
  }
  CAF_REQUIRE(memory->is_open);
  const auto round =
    std::vector<info>{make_info(fence_round, value::uint32(5))};
  const auto first = uut.fence(all[0], {}, round);
  consume_messages();
  CAF_CHECK(first->is_pending());
  CAF_CHECK(!memory->is_open);
  // Nor is what it says believed of the others later.
  memory->gathered = 5;
  uut.fence(all[1], {}, round);
  consume_messages();
  CAF_CHECK_EQUAL(first->code, status::success);
  CAF_REQUIRE_EQUAL(uut.host_play->joined.size(), 1u);
  CAF_CHECK(memory->ended.empty());
  CAF_CHECK(memory->is_open);
}

CAF_TEST(COLL-3 one that the host registers later is waited for) {
  uut.add_job("wide", 2, our_uid, {}, 2);
  consume_messages();
  auto all = std::vector<peer_ptr>{};
  const auto connect_wide = [&](uint32_t rank) {
    auto request = node::greeting({"wide", rank});
    request.can_share = true;
    all.push_back(uut.connect(std::move(request)));
    consume_messages();
  };
  connect_wide(0);
  connect_wide(1);
  CAF_REQUIRE(memory->is_open);
  uut.tell<ack>(register_client{{"wide", 2}, {our_uid, our_uid}});
  consume_messages();
  // In the memory nobody is missing.
  memory->gathered = 5;
  const auto round =
    std::vector<info>{make_info(fence_round, value::uint32(5))};
  const auto first = uut.fence(all[0], {}, round);
  const auto second = uut.fence(all[1], {}, round);
  consume_messages();
  CAF_CHECK(first->is_pending());
  CAF_CHECK(second->is_pending());
  CAF_CHECK(uut.host_play->joined.empty());
  connect_wide(2);
  uut.fence(all[2]);
  consume_messages();
  CAF_CHECK_EQUAL(first->code, status::success);
  CAF_CHECK_EQUAL(second->code, status::success);
  CAF_CHECK(memory->ended.empty());
}

CAF_TEST(COLL-4 those who meet hear of the death of another) {
  const auto zero = connect(0, true);
  const auto one = connect(1, true);
  const auto two = connect(2, true);
  CAF_REQUIRE(memory->is_open);
  memory->somebody_waits = true;
  uut.lose(two);
  consume_messages();
  CAF_CHECK(!memory->is_open);
  // Their fence had begun when it was there.
  const auto x = uut.fence(zero);
  const auto y = uut.fence(one);
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::lost_connection);
  CAF_CHECK_EQUAL(y->code, status::lost_connection);
  CAF_CHECK(!memory->is_open);
  // One that begins later waits: it may come back.
  const auto later = uut.fence(zero);
  uut.fence(one);
  consume_messages();
  CAF_CHECK(later->is_pending());
  uut.end_process({"job", 2});
  consume_messages();
  CAF_CHECK_EQUAL(later->code, status::lost_connection);
}

CAF_TEST(COLL-3 a child that comes by its parents rank ends it for good) {
  const auto zero = connect(0, true);
  const auto one = connect(1, true);
  const auto two = connect(2, true);
  CAF_REQUIRE(memory->is_open);
  const auto child = connect(1, true);
  CAF_CHECK_EQUAL(child->accepted.shared, "to read");
  CAF_CHECK(!memory->is_open);
  uut.lose(child, true);
  for (const auto& x : {zero, one, two})
    uut.fence(x);
  consume_messages();
  CAF_CHECK(!memory->is_open);
}

CAF_TEST(COLL-3 who never comes there is not waited for there again and again) {
  const auto zero = connect(0, true);
  const auto one = connect(1, true);
  const auto two = connect(2, true);
  auto times = 0;
  for (; memory->is_open && times < 100; ++times) {
    for (const auto& x : {zero, one, two})
      uut.fence(x);
    consume_messages();
  }
  CAF_CHECK_EQUAL(times, 8);
}

CAF_TEST(COLL-4 the end of the job ends it) {
  const auto zero = connect(0, true);
  connect(1, true);
  connect(2, true);
  CAF_REQUIRE(memory->is_open);
  uut.tell<ack>(deregister_nspace{"job"});
  consume_messages();
  CAF_CHECK(!memory->is_open);
}

CAF_TEST(who is let go posts nothing there any more) {
  connect(0, true);
  memory->news[0] = {post(scope::local, key, "1")};
  uut.tell<ack>(deregister_client{{"job", 0}});
  consume_messages();
  CAF_CHECK(memory->retired.count(0) == 1);
  CAF_CHECK(memory->news[0].empty());
}

CAF_TEST(F4.21 what comes from other nodes is shown there) {
  auto job = register_nspace{};
  job.nspace = "wide";
  job.owner = {our_uid, our_uid};
  job.local_ranks = {0};
  job.infos = {make_info(attr::job_size, value::uint32(3))};
  uut.tell<ack>(std::move(job));
  consume_messages();
  auto request = node::greeting({"wide", 0});
  request.can_share = true;
  const auto zero = uut.connect(std::move(request));
  consume_messages();
  const auto collect = [&](const std::string& text) {
    uut.host_play->remote_data.data = {
      {{"wide", 1}, {{key, value::string(text)}}}};
    const auto fenced = uut.fence(
      zero, {}, {make_info(attr::collect_data, value::boolean(true))});
    consume_messages();
    CAF_CHECK_EQUAL(fenced->code, status::success);
  };
  collect("far");
  CAF_CHECK(memory->brought[1][key] == value::string("far"));
  collect("farther");
  CAF_CHECK(memory->brought[1][key] == value::string("farther"));
  // So is what one of them has asked for.
  uut.host_play->remote_data.data.clear();
  uut.host_play->modex = get_result{{{{"wide", 2}, {{key, value::uint32(2)}}}}};
  const auto x = uut.get(zero, {"wide", 2}, key);
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK(memory->brought[2][key] == value::uint32(2));
  // What is of this node is not from elsewhere.
  CAF_CHECK_EQUAL(memory->brought.count(0), 0u);
  memory->brought[0][key] = value::uint32(0);
  commit(zero, {{scope::global, {{key, value::uint32(1)}}}});
  CAF_CHECK_EQUAL(memory->brought.count(0), 0u);
}

CAF_TEST(its size is accounted for) {
  connect(0, true);
  const auto x = uut.tell<gauge_list>(get_gauges{});
  consume_messages();
  auto found = false;
  for (const auto& gauge : x->value.gauges)
    if (gauge.name == "server.shared_memory") {
      found = true;
      CAF_CHECK_EQUAL(gauge.value, 1000u);
      CAF_CHECK_EQUAL(gauge.bound, 2000u);
    }
  CAF_CHECK(found);
}

CAF_TEST(MON-5 who monitors beats finds them until the job is over) {
  connect(0, false);
  memory->beats[1] = 7;
  CAF_CHECK_EQUAL(uut.beats->last({"job", 1}), 0u);
  connect(1, true);
  CAF_CHECK_EQUAL(uut.beats->last({"job", 1}), 7u);
  CAF_CHECK_EQUAL(uut.beats->last({"job", 2}), 0u);
  CAF_CHECK_EQUAL(uut.beats->last({"other", 1}), 0u);
  uut.beats->want({"job", 1}, true);
  CAF_CHECK(memory->beats_wanted == (std::set<uint32_t>{1}));
  uut.tell<ack>(deregister_nspace{"job"});
  consume_messages();
  CAF_CHECK_EQUAL(uut.beats->last({"job", 1}), 0u);
}

CAF_TEST_FIXTURE_SCOPE_END()
