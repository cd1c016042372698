#include "c_api/shared_posts.hpp"

#include "actors/data/get_options.hpp"
#include "adapters/node_store/descriptor_inbox.hpp"
#include "adapters/node_store/shared_job_data.hpp"
#include "adapters/node_store/shared_job_memory.hpp"
#include "adapters/node_store/store_layout.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

#include <unistd.h>

#include <cerrno>
#include <map>
#include <string>
#include <vector>

using namespace troupe;
using namespace troupe::c_api;
using namespace troupe::fixtures;

namespace {

using posting = store_access::posting;

struct fixture {
  fixture() {
    auto why = std::string{};
    server = make_shared_job_memory(4, {1, 2}, 1 << 20, {}, why);
    CAF_REQUIRE(server);
    one.set(server->lend(1), {"job", 1});
    two.set(server->lend(2), {"job", 2});
  }

  std::string find(const std::string& key) {
    const auto x = two.find({"job", 1}, key);
    return x && x->text() != nullptr ? *x->text() : "nothing";
  }

  std::unique_ptr<job_memory> server;
  shared_posts one;
  shared_posts two;
};

/// Posts as a process does that commits this.
posting commit(shared_posts& to, const commit_request& x) {
  struct change {
    const value* val = nullptr;
    uint8_t whose = 0;
  };
  auto gone = std::map<std::string, change>{};
  auto posted = std::map<std::string, change>{};
  for (const auto& block : x.blocks) {
    const auto from = taken_from(block.visible_to);
    const auto is_gone = from != scope::undef;
    for (const auto& entry : block.entries) {
      const auto name = storage_key(entry.key, entry.val);
      auto& y = (is_gone ? gone : posted)[name];
      y.val = is_gone ? nullptr : &entry.val;
      const auto whose = is_gone ? from : block.visible_to;
      y.whose = static_cast<uint8_t>(y.whose | static_cast<uint8_t>(whose));
    }
  }
  auto news = std::vector<process_store::news>{};
  for (const auto* from : {&gone, &posted})
    for (const auto& [name, y] : *from)
      news.push_back({name, y.val, static_cast<scope>(y.whose)});
  return to.post(news);
}

value qualified(const std::string& text, const std::string& by) {
  auto qualifier = with("q", value::string(by));
  qualifier.flags = info_qualifier;
  return value::infos({with("k", value::string(text)), qualifier});
}

} // namespace

CAF_TEST(what is committed is found by others and by the server) {
  fixture x;
  CAF_CHECK_EQUAL(x.find("a"), "nothing");
  CAF_CHECK(
    commit(x.one, {{post(scope::local, "a", "1"),
                    {scope::remote,
                     {{"a", value::string("1")}, {"b", value::uint32(2)}}}}})
    == posting::done);
  CAF_CHECK_EQUAL(x.find("a"), "1");
  CAF_CHECK(!x.two.find({"job", 1}, "b"));
  CAF_CHECK(!x.two.find({"other", 1}, "a"));
  CAF_CHECK(!x.two.find({"job", rank_wildcard}, "a"));
  const auto blocks = x.server->take(1);
  CAF_REQUIRE_EQUAL(blocks.size(), 2u);
  CAF_CHECK(blocks[0].visible_to == scope::global);
  CAF_CHECK_EQUAL(blocks[0].entries.at(0).key, "a");
  CAF_CHECK(blocks[0].entries.at(0).val == value::string("1"));
  CAF_CHECK(blocks[1].visible_to == scope::remote);
  CAF_CHECK(blocks[1].entries.at(0).val == value::uint32(2));
  CAF_CHECK(x.server->take(1).empty());
}

CAF_TEST(C3.16 what is taken back is found by nobody) {
  fixture x;
  CAF_CHECK(
    commit(x.one,
           {{post(scope::local, "a", "1"),
             post(scope::remote, "a", "1"),
             {scope::local,
              {{std::string{attr::qualified_value}, qualified("2", "x")}}}}})
    == posting::done);
  x.server->take(1);
  CAF_CHECK(
    commit(x.one,
           {{{scope::del_global,
              {{"a", {}},
               {std::string{attr::qualified_value}, qualified("2", "x")}}},
             post(scope::local, "b", "3")}})
    == posting::done);
  CAF_CHECK_EQUAL(x.find("a"), "nothing");
  CAF_CHECK_EQUAL(x.find("b"), "3");
  const auto blocks = x.server->take(1);
  CAF_REQUIRE_EQUAL(blocks.size(), 2u);
  CAF_CHECK(blocks[0].visible_to == scope::del_global);
  CAF_CHECK_EQUAL(blocks[0].entries.at(0).key, "a");
  CAF_CHECK_EQUAL(
    blocks[0].entries.at(1).key,
    storage_key(std::string{attr::qualified_value}, qualified("2", "x")));
  CAF_CHECK(blocks[1].visible_to == scope::local);
  // And posted anew.
  CAF_CHECK(commit(x.one, {{post(scope::local, "a", "4")}}) == posting::done);
  CAF_CHECK_EQUAL(x.find("a"), "4");
}

CAF_TEST(what cannot be opened is handed over) {
  fixture x;
  auto where = parse_store_address(x.server->lend(1));
  CAF_REQUIRE(where);
  where->pid = 1 << 22; // No process has a number that high.
  shared_posts uut;
  uut.set(to_string(*where), {"job", 1});
  CAF_CHECK(!uut.access());
  CAF_CHECK_EQUAL(uut.failure(), ENOENT);
  const auto what = commit_request{{post(scope::local, "a", "1")}};
  CAF_CHECK(commit(uut, what) == posting::refused);
  // Nothing, and the memory of another job.
  CAF_CHECK(!uut.take({}));
  const auto inbox = descriptor_inbox{};
  auto why = std::string{};
  const auto other = make_shared_job_memory(4, {1, 2}, 1 << 20, {}, why);
  CAF_REQUIRE(other);
  CAF_CHECK_EQUAL(other->hand(inbox.name()), 0);
  CAF_CHECK(!uut.take(inbox.take()));
  CAF_CHECK_EQUAL(uut.failure(), EINVAL);
  CAF_CHECK_EQUAL(x.server->hand(inbox.name()), 0);
  CAF_CHECK(uut.take(inbox.take()));
  CAF_CHECK_EQUAL(uut.failure(), 0);
  CAF_CHECK(commit(uut, what) == posting::done);
  CAF_CHECK_EQUAL(x.find("a"), "1");
}

CAF_TEST(what we are told again changes nothing) {
  fixture x;
  const auto where = x.server->lend(1);
  const auto access = x.one.access();
  CAF_REQUIRE(access);
  CAF_CHECK(!x.one.set(where, {"job", 1}));
  CAF_CHECK(x.one.access() == access);
  CAF_CHECK(x.one.set(where, {"job", 2}));
  CAF_CHECK(x.one.access() != access);
  CAF_CHECK(x.one.set({}, {"job", 2}));
  CAF_CHECK(!x.one.access());
  CAF_CHECK(x.one.set(where, {"job", 1}));
  CAF_CHECK(x.one.access());
}

CAF_TEST(F4.43 memory with nonsense in it is given up) {
  fixture x;
  const auto where = x.server->lend(1);
  CAF_REQUIRE(x.one.access());
  x.one.give_up();
  CAF_CHECK(!x.one.access());
  CAF_CHECK_EQUAL(x.one.failure(), 0);
  CAF_CHECK(!x.one.set(where, {"job", 1}));
  CAF_CHECK(!x.one.access());
  CAF_CHECK(x.one.beat() == posting::refused);
  // Another one is as good as any.
  CAF_CHECK(x.one.set(x.server->address(), {"job", 1}));
  CAF_CHECK(x.one.access());
}

CAF_TEST(F4.43 all find the data of the job that the server has packed) {
  auto job = job_info{};
  job.nspace = "job";
  job.entries = {{std::string{attr::job_size}, value::uint32(4)}};
  for (uint32_t rank = 0; rank < 4; ++rank)
    job.ranks.push_back(
      {rank, {{std::string{attr::global_rank}, value::rank(rank)}}});
  auto why = std::string{};
  const auto server = make_shared_job_memory(4, {1, 2}, 1 << 20, job, why);
  CAF_REQUIRE(server);
  CAF_CHECK(server->has_job());
  shared_posts uut;
  uut.set(server->lend(1), {"job", 1});
  auto access = uut.access();
  CAF_REQUIRE(access);
  auto found = read_shared_job(access->job(), access);
  CAF_REQUIRE(found);
  CAF_CHECK(found->entries == job.entries);
  // The memory stays as long as somebody may look there.
  access = nullptr;
  uut.set({}, {"job", 1});
  auto store = process_store{};
  store.set_self({"job", 1}, "here");
  store.add_job({"job", std::move(found->entries), {}},
                std::move(found->ranks));
  const auto number_in = [&](uint32_t rank, std::string_view key) {
    auto result = uint32_t{0};
    store.get({{"job", rank}, key}, {}, [&](const value& x) {
      result = x.number<uint32_t>().value_or(99);
    });
    return result;
  };
  CAF_CHECK_EQUAL(number_in(rank_wildcard, attr::job_size), 4u);
  for (uint32_t rank = 1; rank < 4; ++rank)
    CAF_CHECK_EQUAL(number_in(rank, attr::global_rank), rank);
  // A rank with a key of its host's own has all of them sent.
  job.ranks[0].entries.push_back({"mine", value::uint32(1)});
  const auto other = make_shared_job_memory(4, {1, 2}, 1 << 20, job, why);
  CAF_REQUIRE(other);
  CAF_CHECK(!other->has_job());
}

CAF_TEST(values of all kinds come as they were) {
  fixture x;
  const auto values = std::vector<value>{
    value::boolean(true),
    value::string(""),
    value::bytes(std::string(5000, '\0')),
    value::uint64(UINT64_MAX),
    value::integer(-1),
    value::of_proc({"job", 7}),
    value::procs({{"job", 1}, {"job", rank_wildcard}}),
    value::infos({with("a", value::string("b"))}),
    value::array(data_type::uint32, {value::uint32(1), value::uint32(2)}),
    value{data_type::double_, 0.5}};
  for (const auto& y : values) {
    CAF_REQUIRE(commit(x.one, {{{scope::local, {{"k", y}}}}}) == posting::done);
    const auto found = x.two.find({"job", 1}, "k");
    CAF_REQUIRE(found);
    CAF_CHECK(*found == y);
    const auto blocks = x.server->take(1);
    CAF_REQUIRE(blocks.size() == 1 && blocks[0].entries.size() == 1);
    CAF_CHECK(blocks[0].entries[0].val == y);
  }
}

CAF_TEST(what was packed before does not stay with the next) {
  fixture x;
  const auto large = value::bytes(std::string(70'000, 'x'));
  CAF_CHECK(commit(x.one, {{post(scope::local, "a", "1"),
                            {scope::local, {{"b", large}}}}})
            == posting::done);
  CAF_CHECK(x.two.find({"job", 1}, "b") == large);
  // Nothing of one that cannot be packed, nor of what came before it.
  CAF_CHECK(commit(x.one, {{post(scope::local, "c", "2"),
                            post(scope::local, "d", std::string("x\0y", 3))}})
            == posting::refused);
  CAF_CHECK_EQUAL(x.find("c"), "nothing");
  CAF_CHECK(commit(x.one, {{post(scope::local, "a", "3")}}) == posting::done);
  CAF_CHECK_EQUAL(x.find("a"), "3");
  CAF_CHECK(x.two.find({"job", 1}, "b") == large);
}

CAF_TEST(values that differ by their qualifiers stay apart) {
  fixture x;
  const auto key = std::string{attr::qualified_value};
  CAF_CHECK(
    commit(x.one,
           {{{scope::local,
              {{key, qualified("1", "a")}, {key, qualified("2", "b")}}},
             {scope::remote,
              {{key, qualified("1", "a")}, {key, qualified("2", "b")}}}}})
    == posting::done);
  const auto blocks = x.server->take(1);
  CAF_REQUIRE(blocks.size() == 1 && blocks[0].entries.size() == 2);
  CAF_CHECK(blocks[0].visible_to == scope::global);
  CAF_CHECK_EQUAL(blocks[0].entries[0].key, key);
  CAF_CHECK(blocks[0].entries[1].val == qualified("2", "b"));
}

CAF_TEST(what comes from another node is found by all) {
  fixture x;
  const auto far = [&](const std::string& key) {
    return x.one.find({"job", 3}, key);
  };
  const auto special = std::string{attr::qualified_value};
  CAF_CHECK(!far("a"));
  x.server->bring(3, {{"a", value::uint32(1)},
                      {"b", value::string("text")},
                      {special, qualified("2", "b")}});
  CAF_CHECK(far("a") == value::uint32(1));
  CAF_CHECK(far("b") == value::string("text"));
  CAF_CHECK(x.two.find({"job", 3}, "a") == value::uint32(1));
  CAF_CHECK(!x.one.find({"job", 0}, "a"));
  // Who looks for what has qualifiers, or for another one, asks.
  CAF_CHECK(!far(special));
  CAF_CHECK(!far("k"));
  x.server->bring(3, {{"a", value::uint32(2)}});
  CAF_CHECK(far("a") == value::uint32(2));
  CAF_CHECK(far("b") == value::string("text"));
  // A value that cannot be written there may have replaced another one.
  x.server->bring(3,
                  {{"a", value::string(std::string(size_t{70} << 20, 'x'))}});
  CAF_CHECK(!far("a"));
  x.server->bring(3, {{"a", value::uint32(3)}});
  CAF_CHECK(far("a") == value::uint32(3));
  CAF_CHECK(!far("b"));
  x.server->drop(3);
  CAF_CHECK(!far("a"));
}

CAF_TEST(without memory all goes to the server) {
  shared_posts none;
  CAF_CHECK(commit(none, {{post(scope::local, "a", "1")}}) == posting::refused);
  CAF_CHECK(!none.find({"job", 1}, "a"));
  // That of a server in another container.
  none.set("1 1 1000000 1000001 1 1 0", {"job", 1});
  CAF_CHECK(commit(none, {{post(scope::local, "a", "1")}}) == posting::refused);
  none.set("nonsense", {"job", 1});
  CAF_CHECK(!none.find({"job", 1}, "a"));
  fixture x;
  x.server->retire(1);
  CAF_CHECK(commit(x.one, {{post(scope::local, "a", "1")}})
            == posting::refused);
}

CAF_TEST(what makes no sense is given up) {
  fixture x;
  const auto where = parse_store_address(x.server->lend(1));
  CAF_REQUIRE(where);
  const auto mad = store_access::attach(*where, ::geteuid(), 1);
  CAF_REQUIRE(mad);
  // Bytes that go past the end, and those of which some are left over.
  for (const auto bytes : {"\x1b\x05xy", "\x1b\x01xy"}) {
    CAF_CHECK(mad->post({{"k", bytes, store_view::here}}) == posting::done);
    CAF_CHECK(!x.two.find({"job", 1}, "k"));
  }
  CAF_CHECK(mad->post({{"k", "\x1b\x02xy", store_view::here}})
            == posting::done);
  CAF_CHECK(x.two.find({"job", 1}, "k") == value::bytes("xy"));
  CAF_CHECK(mad->post({{"k", "no value", store_view::here}}) == posting::done);
  CAF_CHECK_EQUAL(x.find("k"), "nothing");
  CAF_CHECK(x.server->take(1).empty());
  CAF_CHECK(!x.server->has(1));
}

CAF_TEST(what the server would not read or keep goes to it) {
  fixture x;
  const auto array = [](size_t n) {
    auto elements = std::vector<value>(n, value::uint32(1));
    return value::array(data_type::uint32, std::move(elements));
  };
  const auto refused = [&](value val) {
    return commit(x.one,
                  {{posted_data{scope::global, {{"k", std::move(val)}}}}})
           == posting::refused;
  };
  CAF_CHECK(!refused(array(2)));
  // Twenty times as large in a server as it is packed.
  CAF_CHECK(refused(array(1000)));
  // More elements than a client may send.
  CAF_CHECK(refused(array(40000)));
  CAF_CHECK(!refused(value::string(std::string(1000, 'x'))));
}
