#include "adapters/node_store/node_store.hpp"

#include "adapters/node_store/store_access.hpp"
#include "adapters/wire/pushes.hpp"
#include "tests/test.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <string>

using namespace troupe;

namespace {

constexpr auto ranks = 10u;

/// A job of ten, of which two are here.
struct fixture {
  fixture() : server(node_store::make({ranks, {3, 7}, 512 << 10, 0, 1 << 20})) {
    CAF_REQUIRE(server);
  }

  std::unique_ptr<store_access> join(uint32_t rank) {
    auto result = store_access::attach(server->lend(rank), ::geteuid(), rank);
    CAF_REQUIRE(result);
    return result;
  }

  std::string take(uint32_t rank) {
    auto result = std::string{};
    const auto is_whole = server->take(rank, [&](const store_entry& x) {
      result += std::string{x.name} + "=" + std::string{x.value} + ":"
                + std::to_string(x.views) + " ";
    });
    return is_whole ? result : "(damaged)";
  }

  /// The posts, as a process that has gone mad sees them.
  shared_segment posts() {
    const auto where = server->address();
    return shared_segment::map(path_of_descriptor(where.pid, where.posts), true,
                               ::geteuid());
  }

  std::unique_ptr<node_store> server;
};

using posting = store_access::posting;

/// A clock that stands.
std::function<uint64_t()> at(uint64_t now) {
  return [now] { return now; };
}

} // namespace

CAF_TEST(an address is a line of text) {
  auto x = store_address{4711, 12, 13, {0xfedcba9876543210, 1}, 5};
  CAF_CHECK_EQUAL(to_string(x), "7 4711 12 13 fedcba9876543210 1 5");
  CAF_CHECK(parse_store_address(to_string(x)) == x);
  x.region.reset();
  CAF_CHECK_EQUAL(to_string(x), "7 4711 12 13 fedcba9876543210 1 -");
  CAF_CHECK(parse_store_address(to_string(x)) == x);
  for (const auto* text :
       {"", "7", "6 4711 12 13 1 1 5", "7 4711 12 13 1 1",
        "7 4711 12 13 1 1 5 6", "7 4711 -1 13 1 1 5", "7 4711 12 13 1 1 -5",
        "7 4711 12 13 1x 1 5", "7 4711 12 13 10000000000000000 1 5",
        "7  12 13 1 1 5", "7 4294967296 12 13 1 1 5"})
    CAF_CHECK(!parse_store_address(text));
  // Whom a server lends it to says this number when it greets.
  CAF_CHECK(to_string(x).compare(0, 1, wire::sharing_mark, 1, 1) == 0);
}

CAF_TEST(what one posts others and the server find) {
  fixture x;
  const auto three = x.join(3);
  const auto seven = x.join(7);
  CAF_CHECK(!seven->find(3, "a"));
  CAF_CHECK(three->post({{"a", "1", 3}, {"b", "2", 2}, {"c", "3", 1}})
            == posting::done);
  CAF_CHECK(seven->find(3, "a") == "1");
  CAF_CHECK(!seven->find(3, "b"));
  CAF_CHECK(seven->find(3, "c") == "3");
  CAF_CHECK(three->find(3, "a") == "1");
  CAF_CHECK(!seven->find(7, "a"));
  CAF_CHECK(!seven->find(4, "a"));
  CAF_CHECK(!seven->find(ranks, "a"));
  CAF_CHECK(!seven->find(UINT32_MAX, "a"));
  CAF_CHECK_EQUAL(x.take(3), "a=1:3 b=2:2 c=3:1 ");
  CAF_CHECK_EQUAL(x.take(3), "");
  CAF_CHECK_EQUAL(x.take(4), "");
  CAF_CHECK(three->post({{"a", "4", 3}}) == posting::done);
  CAF_CHECK(three->post({{"d", std::string(70000, 'x'), 3}}) == posting::done);
  CAF_CHECK(seven->find(3, "a") == "4");
  CAF_CHECK(x.take(3).find("a=4:3") != std::string::npos);
}

CAF_TEST(what comes from other nodes is found) {
  fixture x;
  const auto three = x.join(3);
  CAF_CHECK(!three->find(4, "a"));
  CAF_CHECK(x.server->bring(4, {{"a", "1"}, {"b", "2"}}));
  CAF_CHECK(x.server->bring(ranks - 1, {{"a", "last"}}));
  CAF_CHECK(three->find(4, "a") == "1");
  CAF_CHECK(three->find(ranks - 1, "a") == "last");
  CAF_CHECK(!three->find(5, "a"));
  CAF_CHECK(x.server->bring(4, {{"a", "3"}}));
  CAF_CHECK(x.join(7)->find(4, "a") == "3");
  CAF_CHECK(three->find(4, "b") == "2");
  x.server->drop(4);
  CAF_CHECK(!three->find(4, "a"));
  x.server->drop(4);
  x.server->drop(ranks);
  // Who is of this node posts for itself.
  CAF_CHECK(!x.server->bring(7, {{"a", "1"}}));
  CAF_CHECK(!x.server->bring(ranks, {{"a", "1"}}));
  CAF_CHECK(!three->find(7, "a"));
  // More than there is room for.
  CAF_CHECK(x.server->bring(5, {{"a", "old"}}));
  CAF_CHECK(!x.server->bring(5, {{"a", std::string(1 << 20, 'x')}}));
  CAF_CHECK(!three->find(5, "a"));
}

CAF_TEST(F4.43 the data of the job are there before anybody maps them) {
  const auto data = std::string(100000, 'x') + "the end";
  const auto server =
    node_store::make({ranks, {3, 7}, 512 << 10, 0, 1 << 20, data});
  CAF_REQUIRE(server);
  CAF_CHECK(server->has_job());
  const auto three = store_access::attach(server->lend(3), ::geteuid(), 3);
  const auto other = store_access::attach(server->address(), ::geteuid(), 7);
  CAF_REQUIRE(three && other);
  CAF_CHECK(three->job() == data);
  CAF_CHECK(other->job() == data);
  // What comes of others does not reach them.
  const auto much = std::string(100000, 'y');
  auto has_room = true;
  for (auto i = 0; i < 100 && has_room; ++i)
    has_room =
      server->bring(4, {{std::to_string(i), much}}) && three->find(4, "0");
  CAF_CHECK(!has_room);
  CAF_CHECK(three->job() == data);
}

CAF_TEST(F4.43 a store without the data of the job has none) {
  fixture x;
  CAF_CHECK(!x.server->has_job());
  CAF_CHECK(x.join(3)->job().empty());
}

CAF_TEST(LIM27 the data of a job that are too many are sent) {
  const auto much = std::string(store_geometry::most_job + 1, 'x');
  const auto server = node_store::make({ranks, {3}, 0, 0, 0, much});
  CAF_REQUIRE(server);
  CAF_CHECK(!server->has_job());
  CAF_CHECK(server->size() < store_geometry::most_job);
}

CAF_TEST(where all are of this node there is no room for others) {
  const auto all = node_store::make({2, {0, 1}, 512 << 10, 0, 1 << 20});
  const auto some = node_store::make({3, {0, 1}, 512 << 10, 0, 1 << 20});
  CAF_REQUIRE(all && some);
  CAF_CHECK_EQUAL(some->size() - all->size(), uint64_t{1} << 20);
  const auto before = some->used();
  CAF_CHECK(some->bring(2, {{"a", std::string(100000, 'x')}}));
  CAF_CHECK(some->used() > before + 90000);
  CAF_CHECK(some->used() < before + 200000);
}

CAF_TEST(what many post that is small lies together) {
  constexpr auto locals = 20u;
  auto all = std::vector<uint32_t>{};
  for (auto i = 0u; i < locals; ++i)
    all.push_back(i);
  const auto server = node_store::make({locals, all, 512 << 10, 0, 0});
  CAF_REQUIRE(server);
  const auto before = server->used();
  const auto text = std::string(500, 'x');
  for (const auto rank : all) {
    const auto x = store_access::attach(server->lend(rank), ::geteuid(), rank);
    CAF_REQUIRE(x);
    for (const auto* name : {"a", "b"})
      CAF_CHECK(x->post({{name, text, 3}}) == posting::done);
    CAF_CHECK(x->find(0, "a") == text);
    CAF_CHECK(x->find(rank, "b") == text);
  }
  // A page each, one after the other.
  CAF_CHECK_EQUAL(server->used() - before, locals * uint64_t{4096});
  const auto shape = store_geometry{locals, locals, 512 << 10};
  CAF_CHECK_EQUAL(shape.front(locals - 1) - shape.front(0),
                  (locals - 1) * uint64_t{4096});
}

CAF_TEST(who reads while others replace sees no torn and no older value) {
  constexpr auto rounds = 20000;
  fixture x;
  const auto text = [](int round) {
    return std::to_string(round) + ":"
           + std::string(static_cast<size_t>(round % 700), 'a' + round % 26);
  };
  CAF_REQUIRE(x.server->bring(4, {{"k", text(0)}}));
  const auto where = x.server->address();
  const auto reader = ::fork();
  if (reader == 0) {
    const auto from = store_access::attach(where, ::geteuid(), 3);
    for (auto last = 0; from && last < rounds;) {
      const auto found = from->find(4, "k");
      if (!found)
        continue; // It would have asked.
      const auto now = std::atoi(found->c_str());
      if (now < last || *found != text(now))
        ::_exit(2);
      last = now;
    }
    ::_exit(from ? 0 : 3);
  }
  for (auto i = 1; i <= rounds; ++i)
    CAF_REQUIRE(x.server->bring(4, {{"k", text(i)}}));
  auto outcome = 0;
  CAF_REQUIRE_EQUAL(::waitpid(reader, &outcome, 0), reader);
  CAF_CHECK_EQUAL(outcome, 0);
}

CAF_TEST(who waits is told of by the next post) {
  fixture x;
  const auto three = x.join(3);
  x.server->want(3, true);
  x.server->want(4, true);
  CAF_CHECK(three->post({{"a", "1", 3}}) == posting::wanted);
  CAF_CHECK(three->find(3, "a") == "1");
  x.server->want(3, false);
  CAF_CHECK(three->post({{"a", "2", 3}}) == posting::done);
}

CAF_TEST(LIM27 what does not fit goes to the server) {
  fixture x;
  const auto three = x.join(3);
  const auto seven = x.join(7);
  CAF_CHECK(three->post({{"a", "1", 3}}) == posting::done);
  CAF_CHECK(three->post({{"b", std::string(128 << 10, 'x'), 3}})
            == posting::refused);
  // Its server, told of it, has all of it from now on.
  CAF_CHECK_EQUAL(x.take(3), "a=1:3 ");
  x.server->retire(3);
  CAF_CHECK(!x.server->has(3));
  CAF_CHECK(!seven->find(3, "a"));
  CAF_CHECK(three->post({{"c", "1", 3}}) == posting::refused);
  CAF_CHECK(!x.server->lend(3).region);
}

CAF_TEST(a rank that is not here only reads) {
  fixture x;
  const auto three = x.join(3);
  CAF_CHECK(three->post({{"a", "1", 3}}) == posting::done);
  const auto other = store_access::attach(x.server->address(), ::geteuid(), 4);
  CAF_REQUIRE(other);
  CAF_CHECK(other->find(3, "a") == "1");
  CAF_CHECK(other->post({{"a", "1", 3}}) == posting::refused);
}

CAF_TEST(one that comes after another goes on in its region) {
  fixture x;
  {
    const auto three = x.join(3);
    CAF_CHECK(three->post({{"a", "1", 3}}) == posting::done);
    CAF_CHECK_EQUAL(x.take(3), "a=1:3 ");
  }
  const auto again = x.join(3);
  CAF_CHECK(again->find(3, "a") == "1");
  CAF_CHECK(again->post({{"b", "2", 3}}) == posting::done);
  CAF_CHECK(again->find(3, "a") == "1");
  CAF_CHECK(x.take(3).find("b=2:3") != std::string::npos);
}

CAF_TEST(X52 another store is not taken for it) {
  fixture x;
  fixture y;
  auto where = x.server->lend(3);
  where.key[0] ^= 1;
  CAF_CHECK(!store_access::attach(where, ::geteuid(), 3));
  CAF_CHECK_EQUAL(errno, EINVAL);
  where = x.server->lend(3);
  where.posts = y.server->address().posts;
  CAF_CHECK(!store_access::attach(where, ::geteuid(), 3));
  where = x.server->lend(3);
  where.pid = INT32_MAX; // No process has that number.
  CAF_CHECK(!store_access::attach(where, ::geteuid(), 3));
  CAF_CHECK(!store_access::attach(x.server->lend(3), ::geteuid() + 1, 3));
  CAF_CHECK(!store_access::attach(x.server->lend(3), ::geteuid(), ranks));
  where = x.server->lend(3);
  where.region = 2;
  CAF_CHECK(!store_access::attach(where, ::geteuid(), 3));
}

CAF_TEST(LIM27 what is too large or makes no sense has no store) {
  CAF_CHECK(!node_store::make({0, {}, 0}));
  CAF_CHECK(!node_store::make({10, {}, 0}));
  CAF_CHECK(!node_store::make({10, {10}, 0}));
  CAF_CHECK(!node_store::make({10, {1, 1}, 0}));
  CAF_CHECK(!node_store::make({store_geometry::most_ranks + 1, {0}, 0}));
  auto many = std::vector<uint32_t>(cell_participants + 1);
  for (uint32_t i = 0; i < many.size(); ++i)
    many[i] = i;
  CAF_CHECK(!node_store::make({5000, many, 0}));
  many.pop_back();
  const auto x = node_store::make({5000, many, 0});
  CAF_REQUIRE(x);
  CAF_CHECK(x->used() < 512 << 10);
}

CAF_TEST(LIM27 a large job costs what is used of it) {
  const auto x =
    node_store::make({store_geometry::most_ranks, {0, 1000000}, 0});
  CAF_REQUIRE(x);
  CAF_CHECK(x->used() < 64 << 10);
}

CAF_TEST(X51 a damaged region is given up) {
  fixture x;
  const auto three = x.join(3);
  const auto mad = x.posts();
  const auto shape = store_geometry{ranks, 2, 512 << 10};
  const auto head = [&](uint64_t to) {
    std::memcpy(mad.data() + shape.head(0), &to, sizeof(to));
  };
  for (const auto last : {uint64_t{1}, uint64_t{8}, uint64_t{128} << 10,
                          (uint64_t{128} << 10) - 8, uint64_t{1} << 40,
                          UINT64_MAX, UINT64_MAX - 7}) {
    fixture y;
    const auto other = y.posts();
    std::memcpy(other.data() + shape.head(0), &last, sizeof(last));
    CAF_CHECK_EQUAL(y.take(3), "(damaged)");
    CAF_CHECK(!y.server->has(3));
    CAF_CHECK_EQUAL(y.take(3), "");
    CAF_CHECK_EQUAL(y.take(7), "");
  }
  // One that goes back.
  CAF_CHECK(three->post({{"a", "1", 3}}) == posting::done);
  CAF_CHECK(three->post({{"b", std::string(100, 'x'), 3}}) == posting::done);
  CAF_CHECK(!x.take(3).empty());
  head(8);
  CAF_CHECK_EQUAL(x.take(3), "(damaged)");
  CAF_CHECK(three->post({{"a", "1", 3}}) == posting::refused);
}

CAF_TEST(X51 pages that are taken away are zeros) {
  fixture x;
  const auto three = x.join(3);
  const auto seven = x.join(7);
  CAF_CHECK(three->post({{"a", "1", 3}}) == posting::done);
  const auto mad = x.posts();
  CAF_REQUIRE_EQUAL(::madvise(mad.data(), mad.size(), MADV_REMOVE), 0);
  CAF_CHECK(!seven->find(3, "a"));
  CAF_CHECK_EQUAL(x.take(3), "");
  CAF_CHECK(seven->post({{"b", "2", 3}}) == posting::done);
  CAF_CHECK_EQUAL(x.take(7), "b=2:3 ");
}

CAF_TEST(what is posted when the server has the data is not taken from there) {
  fixture x;
  const auto three = x.join(3);
  CAF_CHECK(three->post({{"a", "1", 3}}) == posting::done);
  x.server->retire(3);
  CAF_CHECK_EQUAL(x.take(3), "a=1:3 ");
  // As by a thread that was in the midst of it: it sends the same to the server.
  auto chain = std::array<uint64_t, 2>{};
  const auto mad = x.posts();
  const auto shape = store_geometry{ranks, 2, 512 << 10};
  std::memcpy(chain.data(), mad.data() + shape.head(0), sizeof(chain));
  auto late = store_chain{{chain[0]}, {chain[1]}};
  auto writer =
    block_writer{{mad.data() + shape.rest(0), shape.region_bytes,
                  mad.data() + shape.front(0), store_geometry::front_bytes},
                 late,
                 [](uint64_t, uint64_t) { return true; }};
  CAF_CHECK(writer.append({{"a", "2", 3}}));
  chain = {late.last, late.writing};
  std::memcpy(mad.data() + shape.head(0), chain.data(), sizeof(chain));
  CAF_CHECK_EQUAL(x.take(3), "");
}

CAF_TEST(X51 more blocks than a writer makes are not walked) {
  fixture x;
  const auto mad = x.posts();
  const auto shape = store_geometry{ranks, 2, 512 << 10};
  // Headers and nothing else, each pointing to the one before it.
  const auto three = x.join(3);
  CAF_CHECK(three->post({{"a", "1", 3}}) == posting::done);
  auto header = std::array<uint64_t, 3>{};
  const auto place = [&](uint64_t offset) {
    return mad.data() + shape.piece_of(0, offset).offset;
  };
  std::memcpy(header.data(), place(8), sizeof(header));
  // Each of them as a whole in the front or behind it.
  static_assert((store_geometry::front_bytes - 16) % 24 == 0);
  auto at = uint64_t{16};
  for (; at + 48 < shape.region_bytes; at += 24) {
    header[0] = at - 24;
    header[1] = 24; // no entries
    std::memcpy(place(at), header.data(), sizeof(header));
  }
  const auto last = at - 24;
  std::memcpy(mad.data() + shape.head(0), &last, sizeof(last));
  CAF_CHECK_EQUAL(x.take(3), "(damaged)");
}

CAF_TEST(MON-5 of threads that beat at once the last to look at the clock counts) {
  fixture x;
  const auto three = x.join(3);
  auto now = uint64_t{0};
  const auto later = [&] {
    // Another thread beats between this one's look at the clock and its write.
    if (now++ == 0)
      CAF_CHECK(three->beat(at(500)) == posting::done);
    return now;
  };
  CAF_CHECK(three->beat(later) == posting::done);
  CAF_CHECK_EQUAL(x.server->last_beat(3), 2u);
}

CAF_TEST(MON-5 a beat is a time that the server finds) {
  fixture x;
  CAF_CHECK_EQUAL(x.server->last_beat(3), 0u);
  const auto three = x.join(3);
  CAF_CHECK(three->beat(at(1000)) == posting::done);
  CAF_CHECK_EQUAL(x.server->last_beat(3), 1000u);
  CAF_CHECK_EQUAL(x.server->last_beat(7), 0u);
  CAF_CHECK_EQUAL(x.server->last_beat(5), 0u); // Of another node.
  // The clock counts, not what is there: somebody else may have written it.
  CAF_CHECK(three->beat(at(900)) == posting::done);
  CAF_CHECK_EQUAL(x.server->last_beat(3), 900u);
  x.server->want_beat(3, true);
  CAF_CHECK(three->beat(at(1001)) == posting::wanted);
  CAF_CHECK(three->post({{"a", "1", 3}}) == posting::done);
  x.server->want_beat(3, false);
  CAF_CHECK(three->beat(at(1002)) == posting::done);
  x.server->want_beat(5, true);
}

CAF_TEST(MON-5 one whose data are with the server beats all the same) {
  fixture x;
  const auto three = x.join(3);
  x.server->want_beat(3, true);
  x.server->retire(3);
  CAF_CHECK(three->post({{"a", "1", 3}}) == posting::refused);
  CAF_CHECK(three->beat(at(1)) == posting::wanted);
  x.server->want_beat(3, false);
  CAF_CHECK(three->beat(at(2)) == posting::done);
  CAF_CHECK(three->post({{"a", "1", 3}}) == posting::refused);
  CAF_CHECK_EQUAL(x.server->last_beat(3), 2u);
}

CAF_TEST(MON-5 whoever only reads beats by messages) {
  fixture x;
  x.server->lend(3);
  const auto other = store_access::attach(x.server->address(), ::geteuid(), 3);
  CAF_REQUIRE(other);
  CAF_CHECK(other->beat(at(1)) == posting::refused);
}

CAF_TEST(MON-5 what somebody has written there is written over) {
  fixture x;
  const auto three = x.join(3);
  const auto posts = x.posts();
  const auto shape = store_geometry{ranks, 2, 512 << 10, 1 << 20};
  auto& head = *reinterpret_cast<region_head*>(posts.data() + shape.head(0));
  for (const auto wrong : {UINT64_MAX, UINT64_MAX / 2, uint64_t{5001}}) {
    head.beat = wrong;
    CAF_CHECK_EQUAL(x.server->last_beat(3), wrong);
    CAF_CHECK(three->beat(at(5000)) == posting::done);
    CAF_CHECK_EQUAL(x.server->last_beat(3), 5000u);
  }
}
