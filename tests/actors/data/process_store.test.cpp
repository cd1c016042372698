// PMIx_Get of what is in the process: which key is found where.

#include "actors/data/process_store.hpp"

#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

key_value entry(std::string_view key, value x) {
  return {std::string{key}, std::move(x)};
}

/// Two nodes with two ranks each; ranks 0 and 1 here, 2 and 3 there. Two
/// programs: even and odd ranks.
job_info sample() {
  auto x = job_info{};
  x.nspace = "job";
  x.entries.push_back(entry(attr::job_size, value::uint32(4)));
  x.entries.push_back(entry(attr::jobid, value::string("job")));
  x.entries.push_back(entry(attr::node_list, value::string("here,there")));
  x.entries.push_back(
    entry(attr::session_info_array,
          value::infos({with(attr::session_id, value::uint32(9)),
                        with(attr::univ_size, value::uint32(8))})));
  const auto node = [&](const char* name, uint32_t id, const char* peers) {
    x.entries.push_back(
      entry(attr::node_info_array,
            value::infos({with(attr::hostname, value::string(name)),
                          with(attr::nodeid, value::uint32(id)),
                          with(attr::local_peers, value::string(peers)),
                          with(attr::local_size, value::uint32(id + 2))})));
  };
  node("here", 0, "0,1");
  node("there", 1, "2,3");
  for (uint32_t app = 0; app < 2; ++app)
    x.entries.push_back(
      entry(attr::app_info_array,
            value::infos({with(attr::appnum, value::uint32(app)),
                          with(attr::app_size, value::uint32(20 + app))})));
  for (uint32_t rank = 0; rank < 4; ++rank)
    x.ranks.push_back(
      {rank,
       {entry(attr::local_rank, value::uint16(rank % 2)),
        entry(attr::appnum, value::uint32(rank % 2)),
        entry(attr::hostname, value::string(rank < 2 ? "here" : "there"))}});
  return x;
}

/// What a get finds: a number, the text, or `-` for nothing.
std::string look_into(const process_store& where, const proc_id& proc,
                      std::string_view key,
                      const std::vector<info>& directives = {}) {
  auto result = std::string{"-"};
  where.get({proc, key}, get_options_of(directives), [&](const value& x) {
    if (const auto* text = x.text())
      result = *text;
    else if (const auto number = x.number<uint64_t>())
      result = std::to_string(*number);
    else
      result = "?";
  });
  return result;
}

struct fixture {
  process_store uut;

  fixture() {
    uut.set_self({"job", 1}, "here");
    uut.add_job(sample());
  }

  std::string look(const proc_id& proc, std::string_view key,
                   const std::vector<info>& directives = {}) const {
    return look_into(uut, proc, key, directives);
  }

  std::vector<info> all(const proc_id& proc,
                        const std::vector<info>& directives = {}) const {
    auto result = std::vector<info>{};
    uut.get({proc, std::nullopt}, get_options_of(directives),
            [&](const value& x) { result = infos_of(x); });
    return result;
  }
};

/// Data of ranks, and how often somebody has asked for them.
class kept_ranks : public packed_ranks {
public:
  kept_ranks(std::vector<rank_data> xs, int& asked)
    : data_(std::move(xs)), asked_(asked) {
    // nop
  }

  std::vector<key_value> of(uint32_t rank) const override {
    for (const auto& x : data_)
      if (x.rank == rank) {
        ++asked_;
        return x.entries;
      }
    return {};
  }

  void drop(uint32_t rank) override {
    data_.erase(
      std::remove_if(data_.begin(), data_.end(),
                     [&](const rank_data& x) { return x.rank == rank; }),
      data_.end());
  }

  std::vector<uint32_t> ranks() const override {
    auto result = std::vector<uint32_t>{};
    for (const auto& x : data_)
      result.push_back(x.rank);
    return result;
  }

private:
  std::vector<rank_data> data_;
  int& asked_;
};

const auto whole_job = proc_id{"job", rank_wildcard};
const auto anyone = proc_id{"job", rank_undef};

} // namespace

CAF_TEST_FIXTURE_SCOPE(process_store_tests, fixture)

// -- levels ------------------------------------------------------------------

CAF_TEST(C3.9 C3.16 each key is found at its level) {
  struct row {
    proc_id proc;
    std::string_view key;
    const char* expected;
  };
  const auto self = proc_id{"job", 1};
  const auto far = proc_id{"job", 3};
  const row rows[] = {
    {whole_job, attr::job_size, "4"},
    {self, attr::job_size, "4"},
    {far, attr::job_size, "4"},
    {anyone, attr::job_size, "4"},
    {whole_job, attr::local_size, "2"},
    {self, attr::local_size, "2"},
    {far, attr::local_size, "3"},
    {far, attr::local_peers, "2,3"},
    {whole_job, attr::local_peers, "0,1"},
    {self, attr::nodeid, "0"},
    {far, attr::nodeid, "1"},
    {far, attr::hostname, "there"},
    {whole_job, attr::app_size, "21"},
    {far, attr::app_size, "21"},
    {{"job", 2}, attr::app_size, "20"},
    {whole_job, attr::univ_size, "8"},
    {self, attr::univ_size, "8"},
    {self, attr::local_rank, "1"},
    {anyone, attr::local_rank, "1"},
    {whole_job, attr::local_rank, "-"},
    {{"job", 2}, attr::local_rank, "0"},
    {{"job", 7}, attr::local_rank, "-"},
    {{"job", 7}, attr::job_size, "4"},
    {{"no", 0}, attr::job_size, "-"},
    {self, "nobody.posted.it", "-"},
    {self, attr::parent_id, "-"},
  };
  for (const auto& x : rows) {
    CAF_MESSAGE(to_string(x.proc) << " " << std::string{x.key});
    CAF_CHECK_EQUAL(look(x.proc, x.key), x.expected);
  }
}

CAF_TEST(C3.9 a qualifier chooses node application and session) {
  const auto node = [](value which) {
    return std::vector{
      with(attr::node_info),
      with(which.type == data_type::string ? attr::hostname : attr::nodeid,
           std::move(which))};
  };
  CAF_CHECK_EQUAL(
    look(whole_job, attr::local_size, node(value::string("there"))), "3");
  CAF_CHECK_EQUAL(look(whole_job, attr::local_size, node(value::uint32(1))),
                  "3");
  CAF_CHECK_EQUAL(
    look(whole_job, attr::local_size, node(value::string("elsewhere"))), "-");
  CAF_CHECK_EQUAL(look(whole_job, attr::local_size, {with(attr::node_info)}),
                  "2");
  // The job's size is not the node's.
  CAF_CHECK_EQUAL(look(whole_job, attr::job_size, {with(attr::node_info)}),
                  "-");
  CAF_CHECK_EQUAL(
    look(whole_job, attr::app_size,
         {with(attr::app_info), with(attr::appnum, value::uint32(0))}),
    "20");
  CAF_CHECK_EQUAL(look(whole_job, attr::app_size, {with(attr::app_info)}),
                  "21");
  CAF_CHECK_EQUAL(
    look(whole_job, attr::univ_size,
         {with(attr::session_info), with(attr::session_id, value::uint32(9))}),
    "8");
  CAF_CHECK_EQUAL(
    look(whole_job, attr::univ_size,
         {with(attr::session_info), with(attr::session_id, value::uint32(8))}),
    "-");
}

CAF_TEST(C3.9 without a key everything comes) {
  CAF_CHECK_EQUAL(all({"job", 2}).size(), 3u);
  CAF_CHECK_EQUAL(all(whole_job).size(), 3u);
  CAF_CHECK_EQUAL(all(whole_job, {with(attr::node_info)}).size(), 4u);
  CAF_CHECK(all({"job", 9}).empty());
  uut.put(scope::global, "mine", value::uint32(1));
  CAF_CHECK_EQUAL(all({"job", 1}).size(), 4u);
}

CAF_TEST(C3.16 a node array under its name is understood) {
  auto x = job_info{};
  x.nspace = "old";
  x.entries.push_back(
    entry("far", value::infos({with(attr::local_size, value::uint32(5))})));
  uut.add_job(x);
  const auto of_node = std::vector{with(attr::node_info),
                                   with(attr::hostname, value::string("far"))};
  CAF_CHECK_EQUAL(look({"old", rank_wildcard}, attr::local_size, of_node), "5");
}

CAF_TEST(C3.16 data of a rank in an array are understood) {
  auto x = job_info{};
  x.nspace = "other";
  x.entries.push_back(
    entry("pmix.pdata", value::infos({with(attr::rank, value::rank(6)),
                                      with("color", value::string("red"))})));
  uut.add_job(x);
  CAF_CHECK_EQUAL(look({"other", 6}, "color"), "red");
}

CAF_TEST(C3.16 data of ranks are unpacked when somebody asks) {
  auto asked = 0;
  process_store late;
  const auto find = [&](const proc_id& proc, std::string_view key) {
    auto result = std::string{"-"};
    late.get({proc, key}, {}, [&](const value& x) {
      const auto* text = x.text();
      result = text != nullptr ? *text : std::to_string(*x.number<uint64_t>());
    });
    return result;
  };
  auto x = sample();
  auto ranks = std::exchange(x.ranks, {});
  late.set_self({"job", 1}, "here");
  late.add_job(x, std::make_unique<kept_ranks>(ranks, asked));
  CAF_CHECK_EQUAL(find(whole_job, attr::job_size), "4");
  CAF_CHECK_EQUAL(find({"job", 3}, "nobody.posted.it"), "-");
  CAF_CHECK_EQUAL(asked, 0);
  CAF_CHECK_EQUAL(find({"job", 3}, attr::local_rank), "1");
  CAF_CHECK_EQUAL(find({"job", 3}, attr::local_size), "3");
  CAF_CHECK_EQUAL(find({"job", 3}, attr::app_size), "21");
  CAF_CHECK_EQUAL(asked, 1);
  // What comes later goes over it, whether it has been looked at or not.
  late.store({"job", 0}, std::string{attr::hostname}, value::string("moved"));
  late.add({{"job", 2}, {entry(attr::hostname, value::string("moved"))}});
  late.add({{"job", 2}, {entry(attr::local_rank, value::uint16(7))}});
  CAF_CHECK_EQUAL(asked, 3);
  CAF_CHECK_EQUAL(find({"job", 0}, attr::hostname), "moved");
  CAF_CHECK_EQUAL(find({"job", 0}, attr::appnum), "0");
  CAF_CHECK_EQUAL(find({"job", 2}, attr::local_rank), "7");
  CAF_CHECK_EQUAL(asked, 3);
  // And so do the data of the job once more.
  late.add_job(x, std::make_unique<kept_ranks>(ranks, asked));
  CAF_CHECK_EQUAL(find({"job", 0}, attr::hostname), "here");
  CAF_CHECK_EQUAL(find({"job", 2}, attr::local_rank), "0");
  // All of a process, and any of them.
  process_store other;
  other.add_job(x, std::make_unique<kept_ranks>(ranks, asked));
  auto count = size_t{0};
  other.get({{"job", 2}, std::nullopt}, {},
            [&](const value& y) { count = infos_of(y).size(); });
  CAF_CHECK_EQUAL(count, 3u);
  CAF_CHECK(other.get({anyone, attr::local_rank}, {}, [](const value&) {})
            == status::success);
}

/// The processes that PMIX_LOCAL_PROCS names.
CAF_TEST(C3.9 C3.16 local processes are made from local peers) {
  using procs = std::vector<proc_id>;
  const auto local = [&](const proc_id& whose,
                         const std::vector<info>& directives = {}) {
    auto result = procs{};
    uut.get({whose, attr::local_procs}, get_options_of(directives),
            [&](const value& x) {
              CAF_REQUIRE(x.array() != nullptr);
              for (const auto& y : x.array()->elements)
                result.push_back(*std::get_if<proc_id>(&y.data));
            });
    return result;
  };
  const auto here = procs{{"job", 0}, {"job", 1}};
  const auto there = procs{{"job", 2}, {"job", 3}};
  CAF_CHECK(local(whole_job) == here);
  CAF_CHECK(local({"job", 1}) == here);
  CAF_CHECK(local({"job", 3}) == there);
  CAF_CHECK(local(anyone) == here);
  CAF_CHECK(local(whole_job, {with(attr::node_info),
                              with(attr::hostname, value::string("there"))})
            == there);
  CAF_CHECK(local(whole_job, {with(attr::node_info),
                              with(attr::hostname, value::string("elsewhere"))})
              .empty());
  CAF_CHECK(local({"no", 0}).empty());
  // What the host gives is not made anew; a job without arrays has its list.
  auto given = job_info{};
  given.nspace = "given";
  given.entries.push_back(
    entry(attr::local_procs, value::procs({{"given", 9}})));
  given.entries.push_back(entry(attr::local_peers, value::string("1")));
  uut.add_job(given);
  CAF_CHECK(local({"given", rank_wildcard}) == (procs{{"given", 9}}));
  auto plain = job_info{};
  plain.nspace = "plain";
  plain.entries.push_back(entry(attr::local_peers, value::string("4,x,5")));
  uut.add_job(plain);
  CAF_CHECK(local({"plain", rank_wildcard})
            == (procs{{"plain", 4}, {"plain", 5}}));
}

// -- posting -----------------------------------------------------------------

CAF_TEST(C3.16 a commit that is refused is there for the server) {
  const auto list = [&](bool is_enough) {
    auto result = std::string{};
    const auto is_done = uut.commit([&](const auto& news) {
      for (const auto& x : news) {
        result += std::string{x.name} + "=";
        result += x.val != nullptr ? *x.val->text() : "-";
        result += std::to_string(static_cast<int>(x.whose)) + " ";
      }
      return is_enough;
    });
    return result + (is_done ? "done" : "left");
  };
  CAF_CHECK_EQUAL(list(false), "done");
  uut.put(scope::global, "c", value::string("3"));
  uut.put(scope::remote, "b", value::string("0"));
  uut.put(scope::internal, "d", value::string("4"));
  uut.put(scope::local, "b", value::string("2"));
  CAF_CHECK_EQUAL(list(false), "b=21 c=33 left");
  CAF_CHECK_EQUAL(list(true), "b=21 c=33 done");
  CAF_CHECK_EQUAL(list(false), "done");
  CAF_CHECK(uut.take_commit().blocks.empty());
  // What has never been told goes without a word, and so does what stays here.
  uut.put(scope::local, "e", value::string("5"));
  uut.put(scope::local, "f", value::string("6"));
  CAF_CHECK_EQUAL(uut.take_back(scope::local, "e", true), status::success);
  uut.put(scope::internal, "f", value::string("7"));
  CAF_CHECK_EQUAL(list(false), "done");
  CAF_CHECK_EQUAL(uut.take_back(scope::remote, "c", true), status::success);
  uut.put(scope::global, "f", value::string("8"));
  CAF_CHECK_EQUAL(list(false), "c=-2 f=83 left");
  const auto sent = uut.take_commit();
  CAF_REQUIRE_EQUAL(sent.blocks.size(), 3u);
  CAF_CHECK(sent.blocks[0].visible_to == scope::del_remote);
  CAF_CHECK_EQUAL(sent.blocks[1].entries.at(0).key, "f");
  CAF_CHECK_EQUAL(list(false), "done");
}

CAF_TEST(C3.16 own keys are found at once and travel once) {
  uut.put(scope::local, "a", value::string("1"));
  uut.put(scope::remote, "b", value::string("2"));
  uut.put(scope::global, "c", value::string("3"));
  uut.put(scope::internal, "d", value::string("4"));
  for (const auto& [key, expected] :
       {std::pair{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}}) {
    CAF_CHECK_EQUAL(look({"job", 1}, key), expected);
    CAF_CHECK_EQUAL(look(anyone, key), expected);
    CAF_CHECK_EQUAL(look({"job", 2}, key), "-");
  }
  const auto first = uut.take_commit();
  CAF_REQUIRE_EQUAL(first.blocks.size(), 2u);
  CAF_CHECK(first.blocks[0].visible_to == scope::local);
  CAF_CHECK_EQUAL(first.blocks[0].entries.size(), 2u);
  CAF_CHECK(first.blocks[1].visible_to == scope::remote);
  CAF_CHECK_EQUAL(first.blocks[1].entries.size(), 2u);
  CAF_CHECK(uut.take_commit().blocks.empty());
  uut.put(scope::local, "a", value::string("5"));
  const auto second = uut.take_commit();
  CAF_REQUIRE_EQUAL(second.blocks.size(), 1u);
  CAF_CHECK_EQUAL(second.blocks[0].entries.size(), 1u);
  CAF_CHECK_EQUAL(look({"job", 1}, "a"), "5");
}

CAF_TEST(C3.9 a scope narrows what is found) {
  uut.put(scope::local, "a", value::string("1"));
  const auto of_scope = [](scope x) {
    return std::vector{with(attr::data_scope,
                            value{data_type::scope, static_cast<uint64_t>(x)})};
  };
  CAF_CHECK_EQUAL(look({"job", 1}, "a", of_scope(scope::local)), "1");
  CAF_CHECK_EQUAL(look({"job", 1}, "a", of_scope(scope::remote)), "-");
}

CAF_TEST(C3.16 fetched data are kept until they are forgotten) {
  uut.add({{"job", 2}, {entry("x", value::string("1"))}});
  CAF_CHECK_EQUAL(look({"job", 2}, "x"), "1");
  uut.forget({"job", 2});
  CAF_CHECK_EQUAL(look({"job", 2}, "x"), "-");
  CAF_CHECK_EQUAL(look({"job", 2}, attr::local_rank), "0");
}

CAF_TEST(C3.16 what is forgotten of all is what they have posted) {
  uut.add({{"job", 2}, {entry("x", value::string("1"))}});
  uut.add({{"job", 3}, {entry("x", value::string("2"))}});
  uut.store({"job", 3}, "note", value::string("kept"));
  uut.forget(whole_job);
  CAF_CHECK_EQUAL(look({"job", 2}, "x"), "-");
  CAF_CHECK_EQUAL(look({"job", 3}, "x"), "-");
  CAF_CHECK_EQUAL(look({"job", 3}, "note"), "kept");
  CAF_CHECK_EQUAL(look({"job", 2}, attr::local_rank), "0");
}

CAF_TEST(C3.16 stored values are for this process) {
  uut.store({"job", 3}, "note", value::string("x"));
  CAF_CHECK_EQUAL(look({"job", 3}, "note"), "x");
  uut.store(whole_job, "all", value::string("y"));
  CAF_CHECK_EQUAL(look(whole_job, "all"), "y");
  CAF_CHECK(uut.take_commit().blocks.empty());
}

CAF_TEST(C3.16 what nobody has got yet is taken back without a word) {
  const auto self = proc_id{"job", 1};
  uut.put(scope::global, "a", value::string("1"));
  uut.put(scope::internal, "b", value::string("2"));
  for (const auto can_tell : {false, true}) {
    CAF_CHECK_EQUAL(uut.take_back(scope::global, "none", can_tell),
                    status::success);
    CAF_CHECK_EQUAL(uut.take_back(scope::internal, "a", can_tell),
                    status::success);
    CAF_CHECK_EQUAL(uut.take_back(scope::global, "b", can_tell),
                    status::success);
    CAF_CHECK_EQUAL(look(self, "a"), "1");
    CAF_CHECK_EQUAL(look(self, "b"), "2");
  }
  CAF_CHECK_EQUAL(uut.take_back(scope::local, "a", false), status::success);
  CAF_CHECK_EQUAL(look(self, "a"), "1");
  const auto sent = uut.take_commit();
  CAF_REQUIRE_EQUAL(sent.blocks.size(), 1u);
  CAF_CHECK(sent.blocks[0].visible_to == scope::remote);
  CAF_CHECK_EQUAL(uut.take_back(scope::internal, "b", false), status::success);
  CAF_CHECK_EQUAL(look(self, "b"), "-");
  uut.put(scope::global, "c", value::string("3"));
  CAF_CHECK_EQUAL(uut.take_back(scope::global, "c", true), status::success);
  CAF_CHECK_EQUAL(look(self, "c"), "-");
  CAF_CHECK(!uut.has_taken_back({self, "c"}));
  CAF_CHECK(uut.take_commit().blocks.empty());
}

CAF_TEST(C3.16 what the server has is taken back by the next commit) {
  const auto self = proc_id{"job", 1};
  uut.put(scope::global, "a", value::string("1"));
  uut.put(scope::local, "b", value::string("2"));
  uut.take_commit();
  CAF_CHECK_EQUAL(uut.take_back(scope::remote, "a", false),
                  status::not_supported);
  CAF_CHECK_EQUAL(look(self, "a"), "1");
  // It is not in that scope.
  CAF_CHECK_EQUAL(uut.take_back(scope::remote, "b", false), status::success);
  CAF_CHECK(uut.take_commit().blocks.empty());
  uut.add({self, {{"a", value::string("1")}}});
  CAF_CHECK_EQUAL(uut.take_back(scope::global, "a", true), status::success);
  CAF_CHECK_EQUAL(uut.take_back(scope::global, "b", true), status::success);
  CAF_CHECK_EQUAL(look(self, "a"), "-");
  CAF_CHECK(uut.has_taken_back({self, "a"}));
  CAF_CHECK(!uut.has_taken_back({self, "other"}));
  CAF_CHECK(!uut.has_taken_back({{"job", 2}, "a"}));
  uut.put(scope::remote, "b", value::string("3"));
  CAF_CHECK_EQUAL(look(self, "b"), "3");
  CAF_CHECK(!uut.has_taken_back({self, "b"}));
  const auto sent = uut.take_commit();
  CAF_REQUIRE_EQUAL(sent.blocks.size(), 3u);
  CAF_CHECK(sent.blocks[0].visible_to == scope::del_local);
  CAF_CHECK_EQUAL(sent.blocks[0].entries.at(0).key, "b");
  CAF_CHECK(sent.blocks[1].visible_to == scope::del_global);
  CAF_CHECK_EQUAL(sent.blocks[1].entries.at(0).key, "a");
  CAF_CHECK(sent.blocks[2].visible_to == scope::remote);
  // The server knows: it may be asked.
  CAF_CHECK(!uut.has_taken_back({self, "a"}));
  CAF_CHECK(uut.take_commit().blocks.empty());
}

// -- qualified values --------------------------------------------------------

CAF_TEST(C3.16 values of a key differ by their qualifiers) {
  const auto mark = [](std::string_view key, uint32_t x) {
    auto result = with(key, value::uint32(x));
    result.flags = info_qualifier;
    return result;
  };
  const auto qualified = [&](const char* x, std::vector<info> qualifiers) {
    qualifiers.insert(qualifiers.begin(), with("color", value::string(x)));
    return value::infos(std::move(qualifiers));
  };
  const auto name = std::string{attr::qualified_value};
  const auto fill = [&](auto put) {
    put(qualified("old", {mark("q", 1), mark("r", 5)}));
    put(qualified("red", {mark("r", 5), mark("q", 1)})); // The same place.
    put(qualified("blue", {mark("q", 2)}));
  };
  const auto check = [&](const proc_id& whose) {
    CAF_CHECK_EQUAL(look(whose, "color", {mark("q", 1)}), "red");
    CAF_CHECK_EQUAL(look(whose, "color", {mark("q", 1), mark("r", 5)}), "red");
    CAF_CHECK_EQUAL(look(whose, "color", {mark("q", 2)}), "blue");
    CAF_CHECK_EQUAL(look(whose, "color", {mark("q", 2), mark("r", 5)}), "-");
    CAF_CHECK_EQUAL(look(whose, "color", {mark("q", 3)}), "-");
    CAF_CHECK_EQUAL(look(whose, "size", {mark("q", 1)}), "-");
    CAF_CHECK_EQUAL(look(whose, "color"), "-");
    CAF_CHECK_EQUAL(look(whose, "color", {with("q", value::uint32(1))}), "-");
  };
  fill([&](value x) { uut.put(scope::global, name, std::move(x)); });
  check({"job", 1});
  const auto sent = uut.take_commit();
  CAF_REQUIRE_EQUAL(sent.blocks.size(), 2u);
  CAF_REQUIRE_EQUAL(sent.blocks[0].entries.size(), 2u);
  for (const auto& x : sent.blocks[0].entries)
    CAF_CHECK_EQUAL(x.key, name);
  // What another process has posted, and the same key without qualifiers.
  uut.add({{"job", 2}, sent.blocks[0].entries});
  check({"job", 2});
  uut.add({{"job", 2}, {entry("color", value::string("plain"))}});
  CAF_CHECK_EQUAL(look({"job", 2}, "color"), "plain");
  CAF_CHECK_EQUAL(look({"job", 2}, "color", {mark("q", 2)}), "blue");
  CAF_CHECK_EQUAL(look(anyone, "color", {mark("q", 2)}), "blue");
  for (const auto& x : all({"job", 1}))
    CAF_CHECK(x.key.find('\0') == std::string::npos);
  uut.forget({"job", 2});
  CAF_CHECK_EQUAL(look({"job", 2}, "color", {mark("q", 2)}), "-");
  // Taken back from this process at once, also where the server has told it.
  uut.add({{"job", 1}, sent.blocks[0].entries});
  CAF_CHECK_EQUAL(uut.take_back(scope::global, "color", true), status::success);
  CAF_CHECK_EQUAL(look({"job", 1}, "color", {mark("q", 2)}), "-");
}

CAF_TEST(C3.16 qualified values of the host are found when somebody asks) {
  auto mark = with("q", value::uint32(1));
  mark.flags = info_qualifier;
  const auto red =
    entry(attr::qualified_value,
          value::infos({with("color", value::string("red")), mark}));
  auto asked = 0;
  const auto look_late = [&](uint32_t rank) {
    process_store late;
    late.set_self({"job", 1}, "here");
    late.add_job({"job", {}, {}}, std::make_unique<kept_ranks>(
                                    std::vector<rank_data>{{2, {red}}}, asked));
    return look_into(late, {"job", rank}, "color", {mark});
  };
  CAF_CHECK_EQUAL(look_late(2), "red");
  CAF_CHECK_EQUAL(look_late(rank_undef), "red");
  CAF_CHECK_EQUAL(asked, 2);
  CAF_CHECK_EQUAL(look_late(3), "-");
  CAF_CHECK_EQUAL(asked, 2);
}

CAF_TEST(X50 qualified values that are none are kept as they are) {
  const auto name = std::string{attr::qualified_value};
  auto only_mark = with("q", value::uint32(1));
  only_mark.flags = info_qualifier;
  for (const auto& x :
       {value::string("x"), value::infos({}), value::infos({only_mark}),
        value::array(data_type::uint32, {value::uint32(1)})}) {
    uut.add({{"job", 2}, {{name, x}}});
    CAF_CHECK_EQUAL(look({"job", 2}, "color", {only_mark}), "-");
  }
}

// -- peers and nodes ---------------------------------------------------------

CAF_TEST(C3.17 peers and nodes are resolved from what is here) {
  using procs = std::vector<proc_id>;
  CAF_CHECK(uut.peers("", "job") == (procs{{"job", 0}, {"job", 1}}));
  CAF_CHECK(uut.peers("there", "job") == (procs{{"job", 2}, {"job", 3}}));
  CAF_CHECK(uut.peers("elsewhere", "job") == procs{});
  CAF_CHECK(uut.peers("", "no") == std::nullopt);
  CAF_CHECK(uut.peers("there", "") == (procs{{"job", 2}, {"job", 3}}));
  CAF_CHECK(uut.nodes("job") == std::string{"here,there"});
  CAF_CHECK(uut.nodes("") == std::string{"here,there"});
  CAF_CHECK(uut.nodes("no") == std::nullopt);
}

CAF_TEST(X50 lists of peers that are none are not followed) {
  auto x = job_info{};
  x.nspace = "bad";
  x.entries.push_back(entry(
    attr::node_info_array,
    value::infos({with(attr::hostname, value::string("here")),
                  with(attr::local_peers,
                       value::string("1,x,,99999999999999999999,-2,3 "))})));
  uut.add_job(x);
  CAF_CHECK(uut.peers("", "bad") == (std::vector<proc_id>{{"bad", 1}}));
}

CAF_TEST(C3.16 the first key of another process is found whoever says it) {
  const auto far = proc_id{"job", 3};
  const auto note = entry("note", value::string("kept"));
  using way = std::function<void(process_store&)>;
  const way ways[] = {
    [&](process_store& x) { x.store(far, note.key, note.val); },
    [&](process_store& x) {
      x.add({far, {note}});
    },
    [&](process_store& x) {
      auto job = job_info{};
      job.nspace = "job";
      job.ranks.push_back({3, {note}});
      x.add_job(std::move(job));
    },
    [&](process_store& x) {
      auto job = job_info{};
      job.nspace = "job";
      job.entries.push_back(
        entry("pmix.pdata", value::infos({with(attr::rank, value::rank(3)),
                                          with(note.key, note.val)})));
      x.add_job(std::move(job));
    },
    [&](process_store& x) {
      auto job = spawn_result{};
      job.nspace = "job";
      job.ranks.push_back({3, {note}});
      x.add_job(job);
    },
  };
  for (const auto& say : ways) {
    process_store x;
    x.set_self({"job", 1}, "here");
    x.add_job(sample());
    CAF_CHECK_EQUAL(look_into(x, far, "note"), "-");
    say(x);
    CAF_CHECK_EQUAL(look_into(x, far, "note"), "kept");
    CAF_CHECK_EQUAL(look_into(x, {"job", 2}, "note"), "-");
  }
}

CAF_TEST(C3.9 keys that are nobodys own are found though no process has any) {
  auto x = job_info{};
  x.nspace = "job";
  x.entries.push_back(entry("of.job", value::string("1")));
  x.entries.push_back(
    entry(attr::node_info_array,
          value::infos({with(attr::hostname, value::string("there")),
                        with("of.node", value::string("2"))})));
  x.entries.push_back(entry(
    attr::app_info_array, value::infos({with(attr::appnum, value::uint32(1)),
                                        with("of.app", value::string("3"))})));
  x.entries.push_back(
    entry(attr::session_info_array,
          value::infos({with(attr::session_id, value::uint32(9)),
                        with("of.session", value::string("4"))})));
  uut.add_job(std::move(x));
  const auto far = proc_id{"job", 3};
  CAF_CHECK_EQUAL(look(far, "of.job"), "-");
  CAF_CHECK_EQUAL(look(whole_job, "of.job"), "1");
  CAF_CHECK_EQUAL(look(anyone, "of.job"), "1");
  CAF_CHECK_EQUAL(look(far, "of.node", {with(attr::node_info)}), "2");
  CAF_CHECK_EQUAL(look(far, "of.app", {with(attr::app_info)}), "3");
  CAF_CHECK_EQUAL(look(far, "of.session", {with(attr::session_info)}), "4");
}

CAF_TEST(C3.16 own keys are found by whatever rank we have got) {
  uut.put(scope::global, "mine", value::string("1"));
  CAF_CHECK_EQUAL(look({"job", 1}, "mine"), "1");
  CAF_CHECK_EQUAL(look({"job", 2}, "mine"), "-");
  uut.set_self({"job", 2}, "here");
  CAF_CHECK_EQUAL(look({"job", 2}, "mine"), "1");
  CAF_CHECK_EQUAL(look({"job", 1}, "mine"), "-");
}

// -- threads -----------------------------------------------------------------

CAF_TEST(C3.7 threads may put and get at the same time) {
  auto threads = std::vector<std::thread>{};
  auto wrong = std::atomic<int>{0};
  for (auto i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      const auto key = "key" + std::to_string(i);
      for (uint32_t n = 0; n < 2000; ++n) {
        uut.put(scope::global, key, value::uint32(n));
        if (look({"job", 1}, key) != std::to_string(n))
          ++wrong;
        if (look({"job", 3}, attr::job_size) != "4")
          ++wrong;
        if (n % 100 == 0)
          uut.take_commit();
      }
    });
  for (auto& x : threads)
    x.join();
  CAF_CHECK_EQUAL(wrong.load(), 0);
}

CAF_TEST_FIXTURE_SCOPE_END()
