// What is known of a job: the data its host gives, and what processes post.

#include "actors/data/datastore.hpp"

#include "actors/data/job_data.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

/// Two nodes with two ranks each, two programs.
job_data sample() {
  const auto rank_infos = [](uint32_t rank) {
    return with(
      attr::proc_data,
      value::infos({with(attr::rank, value::rank(rank)),
                    with(attr::local_rank, value::uint16(rank % 2))}));
  };
  const auto node_infos = [](uint32_t id, const char* name) {
    return with(attr::node_info_array,
                value::infos({with(attr::hostname, value::string(name)),
                              with(attr::nodeid, value::uint32(id)),
                              with(attr::local_size, value::uint32(2))}));
  };
  const auto app_infos = [](uint32_t number) {
    return with(attr::app_info_array,
                value::infos({with(attr::appnum, value::uint32(number)),
                              with(attr::app_size, value::uint32(2))}));
  };
  return {"job",
          {with(attr::job_size, value::uint32(4)),
           with(attr::jobid, value::string("job")),
           with(attr::job_info_array,
                value::infos({with(attr::univ_size, value::uint32(8))})),
           with(attr::session_info_array,
                value::infos({with(attr::session_id, value::uint32(9))})),
           node_infos(0, "n0"), node_infos(1, "n1"), app_infos(0), app_infos(1),
           rank_infos(0), rank_infos(1), rank_infos(2), rank_infos(3)}};
}

struct fixture {
  // For two entries, and for little that they say.
  static constexpr auto process_bytes = 100 + 2 * entry_overhead;
  datastore uut{{process_bytes, 150 + 2 * entry_overhead}};

  status commit(uint32_t rank, std::vector<posted_data> blocks) {
    return uut.commit(rank, blocks);
  }

  std::string seen_here(uint32_t rank, const std::string& key) {
    const auto& all = uut.visible_here(rank);
    const auto i = all.find(key);
    return i != all.end() ? *i->second.text() : "nothing";
  }

  std::string seen_elsewhere(uint32_t rank, const std::string& key) {
    const auto all = uut.visible_elsewhere(rank);
    const auto* x = find(all, key);
    return x != nullptr ? *x->text() : "nothing";
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(life_tests, fixture)

CAF_TEST(RST-1 nothing is left of what a former life has posted) {
  commit(0, {post(scope::global, "key", "old")});
  commit(1, {post(scope::global, "key", "other")});
  uut.forget_life(0);
  CAF_CHECK(!uut.has_committed(0));
  CAF_CHECK_EQUAL(seen_here(0, "key"), "nothing");
  CAF_CHECK_EQUAL(seen_here(1, "key"), "other");
  commit(0, {post(scope::global, "key", "new")});
  CAF_CHECK_EQUAL(seen_here(0, "key"), "new");
}

CAF_TEST(RST-1 what a fence has brought of a former life is asked for anew) {
  uut.store_fenced(7, {{"key", value::string("old")}});
  const auto age = uut.age_of(7);
  uut.forget_life(7);
  CAF_CHECK(uut.age_of(7) != age);
  CAF_CHECK_EQUAL(seen_here(7, "key"), "nothing");
}

CAF_TEST_FIXTURE_SCOPE_END()

CAF_TEST(RST-1 lives of a process are counted) {
  auto uut = sample();
  const auto before = uut.all();
  CAF_CHECK_EQUAL(uut.count_restart(2), 1u);
  CAF_CHECK_EQUAL(uut.count_restart(2), 2u);
  const auto* x = find(*uut.of_rank(2), attr::reincarnation);
  CAF_REQUIRE(x != nullptr);
  CAF_CHECK(x->number<uint32_t>() == 2u);
  CAF_CHECK(find(*uut.of_rank(1), attr::reincarnation) == nullptr);
  // Who reads what there was is not disturbed.
  CAF_CHECK(find(before->ranks[2].entries, attr::reincarnation) == nullptr);
  CAF_CHECK_EQUAL(uut.count_restart(99), 0u);
}

// -- job data ----------------------------------------------------------------

CAF_TEST(F4.14 job level data is what stands outside of ranks) {
  const auto uut = sample();
  CAF_CHECK_EQUAL(uut.all()->nspace, "job");
  CAF_CHECK(uut.job_size() == 4u);
  CAF_REQUIRE(uut.find(attr::jobid) != nullptr);
  CAF_CHECK(*uut.find(attr::jobid) == value::string("job"));
  // The content of a job array is job level, too.
  CAF_REQUIRE(uut.find(attr::univ_size) != nullptr);
  CAF_CHECK(*uut.find(attr::univ_size) == value::uint32(8));
  CAF_CHECK(uut.find(attr::local_rank) == nullptr);
}

CAF_TEST(F4.14 ranks have their own data) {
  const auto uut = sample();
  CAF_CHECK_EQUAL(uut.all()->ranks.size(), 4u);
  const auto* third = uut.of_rank(2);
  CAF_REQUIRE(third != nullptr);
  CAF_REQUIRE(find(*third, attr::local_rank) != nullptr);
  CAF_CHECK(*find(*third, attr::local_rank) == value::uint16(0));
  CAF_CHECK(find(*third, attr::rank) == nullptr); // Said by its place.
  CAF_CHECK(uut.of_rank(4) == nullptr);
}

CAF_TEST(F4.14 nodes are found by name or number) {
  const auto uut = sample();
  const auto by_name = uut.of_node({with(attr::hostname, value::string("n1"))});
  CAF_CHECK(number<uint32_t>(by_name, attr::nodeid) == 1u);
  const auto by_number = uut.of_node({with(attr::nodeid, value::uint16(1))});
  CAF_CHECK(text(by_number, attr::hostname) == "n1");
  CAF_CHECK(uut.of_node({with(attr::hostname, value::string("n2"))}).empty());
  CAF_CHECK(uut
              .of_node({with(attr::hostname, value::string("n0")),
                        with(attr::nodeid, value::uint32(1))})
              .empty());
  CAF_CHECK(text(uut.of_node({}), attr::hostname) == "n0");
}

CAF_TEST(F4.14 applications and sessions are found) {
  const auto uut = sample();
  const auto second = uut.of_app({with(attr::appnum, value::uint32(1))});
  CAF_CHECK(number<uint32_t>(second, attr::appnum) == 1u);
  CAF_CHECK(uut.of_app({with(attr::appnum, value::uint32(2))}).empty());
  CAF_CHECK(number<uint32_t>(uut.of_session(), attr::session_id) == 9u);
}

CAF_TEST(job data without a rank or a size is taken as it is) {
  const auto uut = job_data{
    "job", {with(attr::proc_data, value::infos({with("a")})), with("b")}};
  CAF_CHECK(uut.all()->ranks.empty());
  CAF_CHECK(uut.find("b") != nullptr);
  CAF_CHECK(!uut.job_size());
  CAF_CHECK(uut.of_session().empty());
  CAF_CHECK(job_data{}.of_rank(0) == nullptr);
}

// -- posted data -------------------------------------------------------------

CAF_TEST_FIXTURE_SCOPE(datastore_tests, fixture)

CAF_TEST(F4.15 the scope says where a key is seen) {
  uut = datastore{{1000, 1000}};
  CAF_CHECK_EQUAL(
    commit(0, {post(scope::local, "l", "1"), post(scope::remote, "r", "2"),
               post(scope::global, "g", "3"), post(scope::internal, "i", "4")}),
    status::success);
  CAF_CHECK_EQUAL(seen_here(0, "l"), "1");
  CAF_CHECK_EQUAL(seen_here(0, "r"), "nothing");
  CAF_CHECK_EQUAL(seen_here(0, "g"), "3");
  CAF_CHECK_EQUAL(seen_here(0, "i"), "nothing");
  CAF_CHECK_EQUAL(seen_elsewhere(0, "l"), "nothing");
  CAF_CHECK_EQUAL(seen_elsewhere(0, "r"), "2");
  CAF_CHECK_EQUAL(seen_elsewhere(0, "g"), "3");
  CAF_CHECK_EQUAL(seen_elsewhere(0, "i"), "nothing");
}

CAF_TEST(F4.15 what one rank posts is not what another posts) {
  commit(0, {post(scope::global, "k", "zero")});
  commit(1, {post(scope::global, "k", "one")});
  CAF_CHECK_EQUAL(seen_here(0, "k"), "zero");
  CAF_CHECK_EQUAL(seen_here(1, "k"), "one");
  CAF_CHECK_EQUAL(seen_here(2, "k"), "nothing");
}

CAF_TEST(F4.15 a key posted again replaces the old value) {
  commit(0,
         {post(scope::global, "k", "old"), post(scope::global, "m", "kept")});
  const auto before = uut.size_bytes();
  commit(0, {post(scope::global, "k", "new")});
  CAF_CHECK_EQUAL(seen_here(0, "k"), "new");
  CAF_CHECK_EQUAL(seen_elsewhere(0, "k"), "new");
  CAF_CHECK_EQUAL(seen_here(0, "m"), "kept");
  CAF_CHECK_EQUAL(uut.size_bytes(), before);
}

CAF_TEST(C3.16 F4.15 a key is taken back from those of a scope) {
  commit(0, {post(scope::global, "g", "1"), post(scope::local, "l", "2")});
  const auto all = uut.size_bytes();
  commit(0, {{scope::del_remote, {{"g", {}}, {"l", {}}, {"none", {}}}}});
  CAF_CHECK_EQUAL(seen_here(0, "g"), "1");
  CAF_CHECK_EQUAL(seen_elsewhere(0, "g"), "nothing");
  CAF_CHECK_EQUAL(seen_here(0, "l"), "2");
  CAF_CHECK_EQUAL(uut.size_bytes(), all);
  commit(0, {post(scope::global, "g", "3")});
  commit(0, {{scope::del_local, {{"g", {}}}}});
  CAF_CHECK_EQUAL(seen_here(0, "g"), "nothing");
  CAF_CHECK_EQUAL(seen_elsewhere(0, "g"), "3");
  CAF_CHECK(*uut.find(0, "g") == value::string("3"));
  // What is posted in the same commit comes after it.
  commit(0, {{scope::del_global, {{"g", {}}, {"l", {}}}},
             post(scope::local, "l", "4")});
  CAF_CHECK(uut.find(0, "g") == nullptr);
  CAF_CHECK_EQUAL(seen_here(0, "l"), "4");
  CAF_CHECK_LESS(uut.size_bytes(), all);
  commit(0, {{scope::del_local, {{"l", {}}}}});
  CAF_CHECK_EQUAL(uut.size_bytes(), 0u);
  CAF_CHECK(uut.has_committed(0));
}

CAF_TEST(C3.16 F4.16 what a fence does not bring any more is forgotten) {
  auto kept = std::map<std::string, std::string>{};
  uut.tell_of_remote(
    [&](uint32_t, const std::vector<key_value>& entries) {
      for (const auto& x : entries)
        kept[x.key] = *x.val.text();
    },
    [&](uint32_t rank) {
      CAF_CHECK_EQUAL(rank, 5u);
      kept.clear();
    });
  uut.store_fenced(5, {{"a", value::string("1")}, {"b", value::string("2")}});
  uut.store_fenced(5, {{"b", value::string("3")}});
  CAF_CHECK_EQUAL(seen_here(5, "a"), "nothing");
  CAF_CHECK_EQUAL(seen_here(5, "b"), "3");
  CAF_CHECK_EQUAL(kept.size(), 1u);
  uut.store_fenced(5, {});
  CAF_CHECK_EQUAL(seen_here(5, "b"), "nothing");
  CAF_CHECK(kept.empty());
  CAF_CHECK(uut.has_committed(5));
}

CAF_TEST(G26 C3.16 what a process has given to groups outlives its fences) {
  uut.store_fenced(5, {{"a", value::string("1")}});
  uut.store_given(5, {{"cid", value::string("7")}});
  uut.store_fenced(5, {{"b", value::string("2")}});
  CAF_CHECK_EQUAL(seen_here(5, "a"), "nothing");
  CAF_CHECK_EQUAL(seen_here(5, "b"), "2");
  CAF_CHECK_EQUAL(seen_here(5, "cid"), "7");
  CAF_CHECK(uut.forget_fenced(5, 1));
  CAF_CHECK_EQUAL(seen_here(5, "b"), "nothing");
  CAF_CHECK_EQUAL(seen_here(5, "cid"), "7");
  uut.forget_life(5);
  CAF_CHECK_EQUAL(seen_here(5, "cid"), "nothing");
  CAF_CHECK_EQUAL(uut.size_bytes(), 0u);
}

CAF_TEST(G26 what a group brings takes nothing away) {
  uut.store_fenced(5, {{"a", value::string("1")}, {"b", value::string("2")}});
  uut.store_exchanged(5, {{"a", value::string("3")}});
  CAF_CHECK_EQUAL(seen_here(5, "a"), "3");
  CAF_CHECK_EQUAL(seen_here(5, "b"), "2");
}

CAF_TEST(F4.15 a rank that committed nothing has committed all the same) {
  CAF_CHECK(!uut.has_committed(0));
  commit(0, {});
  CAF_CHECK(uut.has_committed(0));
  CAF_CHECK(!uut.has_committed(1));
}

CAF_TEST(F4.15 data of other nodes is seen here and not sent back) {
  uut.store_remote(5, {{"k", value::string("far")}});
  CAF_CHECK_EQUAL(seen_here(5, "k"), "far");
  CAF_CHECK_EQUAL(seen_elsewhere(5, "k"), "nothing");
  CAF_CHECK(uut.has_committed(5));
}

CAF_TEST(F4.21 somebody hears of what comes from other nodes) {
  auto heard = std::string{};
  uut.tell_of_remote(
    [&](uint32_t rank, const std::vector<key_value>& entries) {
      for (const auto& x : entries)
        heard += std::to_string(rank) + "." + x.key + "=" + *x.val.text() + " ";
      CAF_CHECK_EQUAL(seen_here(rank, "k"), *entries.back().val.text());
    },
    nullptr);
  uut.store_remote(5, {{"k", value::string("1")}});
  commit(0, {post(scope::global, "k", "here")});
  uut.store_remote(6, {{"k", value::string("2")}, {"k", value::string("3")}});
  CAF_CHECK_EQUAL(heard, "5.k=1 6.k=2 6.k=3 ");
}

CAF_TEST(X26 LIM15 a process that posts too much is refused and keeps the rest) {
  CAF_CHECK_EQUAL(commit(0, {post(scope::local, "a", "small")}),
                  status::success);
  const auto before = uut.size_bytes();
  CAF_CHECK_EQUAL(commit(0, {post(scope::local, "b", "small"),
                             post(scope::local, "c", std::string(200, 'x'))}),
                  status::out_of_resource);
  CAF_CHECK_EQUAL(seen_here(0, "a"), "small");
  CAF_CHECK_EQUAL(seen_here(0, "b"), "nothing");
  CAF_CHECK_EQUAL(uut.size_bytes(), before);
}

CAF_TEST(X26 posting again and again meets the bound) {
  auto outcome = status::success;
  auto rounds = 0;
  for (; rounds < 100 && outcome == status::success; ++rounds)
    outcome = commit(
      0, {post(scope::local, "k" + std::to_string(rounds), "some text")});
  CAF_CHECK_EQUAL(outcome, status::out_of_resource);
  CAF_CHECK(uut.size_bytes() <= process_bytes);
}

CAF_TEST(X26 the same key may be posted for ever) {
  for (int i = 0; i < 1000; ++i)
    CAF_REQUIRE(commit(0, {post(scope::local, "k", "some text")})
                == status::success);
  CAF_CHECK(uut.size_bytes() <= process_bytes);
}

CAF_TEST(X26 a namespace that posts too much is refused) {
  const auto text = std::string(60, 'x');
  CAF_CHECK_EQUAL(commit(0, {post(scope::local, "k", text)}), status::success);
  CAF_CHECK_EQUAL(commit(1, {post(scope::local, "k", text)}),
                  status::out_of_resource);
  CAF_CHECK_EQUAL(seen_here(1, "k"), "nothing");
  CAF_CHECK_EQUAL(commit(1, {post(scope::local, "k", "x")}), status::success);
}

CAF_TEST(C3.16 X26 each set of qualifiers has its place and counts) {
  const auto name = std::string{attr::qualified_value};
  const auto qualified = [](const char* text, uint32_t x) {
    auto mark = with("q", value::uint32(x));
    mark.flags = info_qualifier;
    return value::infos({with("k", value::string(text)), mark});
  };
  const auto post_one = [&](const char* text, uint32_t x) {
    return uut.commit(0, {{scope::global, {{name, qualified(text, x)}}}});
  };
  uut = datastore{{2000, 2000}};
  CAF_CHECK_EQUAL(post_one("a", 1), status::success);
  CAF_CHECK_EQUAL(post_one("b", 2), status::success);
  const auto size = uut.size_bytes();
  CAF_CHECK_EQUAL(post_one("c", 1), status::success);
  CAF_CHECK_EQUAL(uut.size_bytes(), size);
  const auto seen = uut.visible_elsewhere(0);
  CAF_REQUIRE_EQUAL(seen.size(), 2u);
  CAF_CHECK_EQUAL(seen[0].key, name);
  CAF_CHECK(seen[0].val == qualified("c", 1));
  CAF_CHECK(seen[1].val == qualified("b", 2));
  auto outcome = status::success;
  for (uint32_t i = 3; i < 1000 && outcome == status::success; ++i)
    outcome = post_one("d", i);
  CAF_CHECK_EQUAL(outcome, status::out_of_resource);
}

CAF_TEST(MND-A3 what all may see counts once) {
  uut = datastore{{1000, 1000}};
  const auto text = std::string(600, 'x');
  const auto block = [](scope where, const std::string& x) {
    return post(where, "k", x);
  };
  // As clients send it: once for this node and once for others.
  CAF_CHECK_EQUAL(
    commit(0, {block(scope::local, text), block(scope::remote, text)}),
    status::success);
  CAF_CHECK(uut.size_bytes() < 1000);
  CAF_CHECK_EQUAL(seen_here(0, "k"), text);
  CAF_CHECK_EQUAL(seen_elsewhere(0, "k"), text);
  // Another value for this node: two of them are too much.
  CAF_CHECK_EQUAL(commit(0, {block(scope::local, std::string(600, 'y'))}),
                  status::out_of_resource);
  CAF_CHECK_EQUAL(commit(0, {block(scope::local, "y")}), status::success);
  CAF_CHECK_EQUAL(seen_here(0, "k"), "y");
  CAF_CHECK_EQUAL(seen_elsewhere(0, "k"), text);
  const auto both = uut.size_bytes();
  CAF_CHECK_EQUAL(commit(0, {block(scope::remote, "y")}), status::success);
  CAF_CHECK_EQUAL(seen_elsewhere(0, "k"), "y");
  CAF_CHECK(uut.size_bytes() + 600 < both);
  CAF_CHECK_EQUAL(commit(0, {block(scope::global, "z")}), status::success);
  CAF_CHECK_EQUAL(seen_here(0, "k"), "z");
  CAF_CHECK_EQUAL(seen_elsewhere(0, "k"), "z");
  CAF_CHECK_EQUAL(uut.visible_elsewhere(0).size(), 1u);
}

CAF_TEST(MND-A3 which keys were refused is known until they are posted) {
  const auto k = std::string{"k"};
  const auto other = std::string{"other"};
  CAF_CHECK_EQUAL(commit(0, {post(scope::local, k, std::string(600, 'x'))}),
                  status::out_of_resource);
  CAF_CHECK(uut.was_refused(0, &k));
  CAF_CHECK(uut.was_refused(0, nullptr));
  CAF_CHECK(!uut.was_refused(0, &other));
  CAF_CHECK(!uut.was_refused(1, &k));
  CAF_CHECK(!uut.has_committed(0));
  commit(0, {post(scope::local, other, "x")});
  CAF_CHECK(uut.was_refused(0, &k));
  commit(0, {post(scope::local, k, "x")});
  CAF_CHECK(!uut.was_refused(0, nullptr));
}

CAF_TEST(MND-A3 a commit is cut into parts) {
  const auto x = commit_request{
    {{scope::local,
      {{"a", value::string(std::string(300, 'x'))}, {"b", {}}, {"c", {}}}},
     {scope::remote, {{"a", value::string(std::string(300, 'x'))}}}}};
  const auto names = [](const commit_request& part) {
    auto result = std::string{};
    for (const auto& block : part.blocks)
      for (const auto& entry : block.entries)
        result += entry.key + (block.visible_to == scope::local ? "l" : "r");
    return result;
  };
  auto all = std::string{};
  for (const auto& part : parts_of(x, 400))
    all += names(part) + " ";
  CAF_CHECK_EQUAL(all, "al blcl ar ");
  CAF_CHECK_EQUAL(parts_of(x, 100000).size(), 1u);
  CAF_CHECK_EQUAL(parts_of(x, 1).size(), 4u);
  CAF_CHECK(parts_of({}, 1).empty());
}

CAF_TEST(MND-SMALL no process says what only the host knows) {
  uut = datastore{{1000, 1000}};
  const auto size = std::string{attr::job_size};
  const auto cpuset = std::string{attr::cpuset};
  CAF_CHECK_EQUAL(commit(0, {post(scope::global, size, "1000"),
                             post(scope::global, cpuset, "0-3"),
                             post(scope::global, "mine", "x")}),
                  status::success);
  CAF_CHECK_EQUAL(seen_here(0, size), "nothing");
  CAF_CHECK_EQUAL(seen_elsewhere(0, size), "nothing");
  CAF_CHECK_EQUAL(seen_here(0, cpuset), "0-3");
  CAF_CHECK_EQUAL(seen_here(0, "mine"), "x");
}

CAF_TEST(X26 nested values count in full) {
  const auto inner = value::infos({with("key", value::string("text"))});
  CAF_CHECK(size_of(inner) > size_of(value::string("text")));
  CAF_CHECK(size_of(value::infos({with("k", inner), with("k", inner)}))
            > 2 * size_of(inner));
  CAF_CHECK_EQUAL(
    commit(0, {{scope::local,
                {{"k", value::infos({with(
                         "a", value::string(std::string(200, 'x')))})}}}}),
    status::out_of_resource);
}

CAF_TEST(F4.16 what a fence brings makes older answers old) {
  CAF_CHECK_EQUAL(uut.age_of(5), 0u);
  uut.store_fenced(5, {{"k", value::string("1")}});
  const auto first = uut.age_of(5);
  CAF_CHECK_NOT_EQUAL(first, 0u);
  uut.store_remote(5, {{"k", value::string("2")}});
  CAF_CHECK_EQUAL(uut.age_of(5), first);
  const auto size = uut.size_bytes();
  CAF_CHECK(uut.forget_fenced(5, 7));
  CAF_CHECK_NOT_EQUAL(uut.age_of(5), first);
  CAF_CHECK(uut.visible_here(5).empty());
  CAF_CHECK(!uut.has_committed(5));
  CAF_CHECK_LESS(uut.size_bytes(), size);
  uut.store_remote(5, {{"k", value::string("3")}});
  // The same once more: nothing has been posted since.
  CAF_CHECK(!uut.forget_fenced(5, 7));
  CAF_CHECK_EQUAL(uut.visible_here(5).size(), 1u);
  CAF_CHECK(uut.forget_fenced(5, 8));
  // A fence that brings all forgets the number.
  uut.store_fenced(5, {{"k", value::string("4")}});
  CAF_CHECK(uut.forget_fenced(5, 8));
}

CAF_TEST_FIXTURE_SCOPE_END()

// -- what is posted elsewhere --------------------------------------------------

CAF_TEST(news are asked for before anything is said or taken) {
  auto uut = datastore{{}};
  auto news = std::vector<posted_data>{};
  auto grown = size_t{0};
  uut.follow(
    [&](uint32_t rank) {
      return rank == 1 ? std::exchange(news, {}) : std::vector<posted_data>{};
    },
    [&](size_t bytes) { grown += bytes; },
    [](uint32_t) { CAF_ERROR("nothing is refused"); });
  const auto text = [&](uint32_t rank) {
    const auto& all = uut.visible_here(rank);
    const auto i = all.find("k");
    return i != all.end() ? *i->second.text() : "nothing";
  };
  CAF_CHECK(!uut.has_committed(1));
  news = {post(scope::global, "k", "1")};
  CAF_CHECK(!uut.has_committed(0));
  CAF_CHECK(uut.has_committed(1));
  CAF_CHECK_EQUAL(text(1), "1");
  CAF_CHECK_EQUAL(grown, uut.size_bytes());
  news = {post(scope::local, "k", "2")};
  CAF_CHECK_EQUAL(text(1), "2");
  CAF_CHECK_EQUAL(*uut.visible_elsewhere(1).at(0).val.text(), "1");
  // What has come before a commit is older than that.
  news = {post(scope::global, "k", "3")};
  CAF_CHECK(uut.commit(1, {post(scope::global, "k", "4")}) == status::success);
  CAF_CHECK_EQUAL(text(1), "4");
  news = {post(scope::global, "k", "5")};
  CAF_CHECK_EQUAL(*uut.visible_elsewhere(1).at(0).val.text(), "5");
}

CAF_TEST(news that are too much are refused as a commit is) {
  auto uut = datastore{{1000, 1000}};
  auto news =
    std::vector<posted_data>{post(scope::global, "k", std::string(2000, 'x'))};
  auto refused = std::vector<uint32_t>{};
  uut.follow([&](uint32_t) { return std::exchange(news, {}); }, [](size_t) {},
             [&](uint32_t rank) { refused.push_back(rank); });
  const auto key = std::string{"k"};
  CAF_CHECK(uut.was_refused(0, &key));
  CAF_CHECK(uut.visible_here(0).empty());
  CAF_CHECK(refused == (std::vector<uint32_t>{0}));
  // What fits is not lost with it.
  news = {post(scope::global, "small", "1"),
          post(scope::local, "k", std::string(2000, 'x'))};
  CAF_CHECK_EQUAL(uut.visible_here(0).count("small"), 1u);
  CAF_CHECK(uut.was_refused(0, &key));
  CAF_CHECK_EQUAL(refused.size(), 2u);
}
