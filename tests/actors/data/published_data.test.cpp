// Who may see an event or a published key, and how long it stays.

#include "actors/data/published_data.hpp"

#include "actors/events/range_filter.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

constexpr auto other_uid = our_uid + 1;

event raised(data_range range, std::vector<info> infos = {}) {
  return {status::proc_aborted, {"job", 0}, range, std::move(infos)};
}

info custom(std::vector<proc_id> procs) {
  return with(attr::event_custom_range, value::procs(std::move(procs)));
}

struct fixture {
  published_data uut{10000};

  requester first = asks({"job", 0}, 1);
  requester second = asks({"job", 1}, 2);
  requester stranger = asks({"other", 0}, 3);
  requester foreigner = asks({"foreign", 0}, 4, other_uid);

  status publish(const requester& who, std::vector<info> infos) {
    return uut.publish(who, {who.creds.uid, std::move(infos)});
  }

  status publish(const requester& who, const std::string& key,
                 const std::string& text, std::vector<info> more = {}) {
    more.push_back(with(key, value::string(text)));
    return publish(who, std::move(more));
  }

  std::string look_up(const requester& who, const std::string& key,
                      std::vector<info> directives = {}) {
    const auto found = uut.look_up(who, {0, {key}, std::move(directives)});
    return found.empty() ? "nothing" : *found.front().val.text();
  }

  status unpublish(const requester& who, std::vector<std::string> keys) {
    return uut.unpublish(who, {0, std::move(keys), {}});
  }
};

} // namespace

// -- ranges of events --------------------------------------------------------

CAF_TEST(F4.37 the notifier does not see its own event) {
  for (const auto range :
       {data_range::undef, data_range::local, data_range::nspace,
        data_range::session, data_range::global})
    CAF_CHECK(!range_filter{raised(range)}.admits({"job", 0}));
  const auto uut =
    range_filter{raised(data_range::global), {{"job", rank_wildcard}}};
  CAF_CHECK(!uut.admits({"job", 0}));
}

CAF_TEST(F4.37 a range names who sees an event) {
  struct row {
    data_range range;
    bool peer;
    bool stranger;
    bool leaves;
  };
  for (const auto& x : std::vector<row>{
         {data_range::undef, true, true, true},
         {data_range::rm, false, false, true},
         {data_range::local, true, true, false},
         {data_range::nspace, true, false, true},
         {data_range::session, true, true, true},
         {data_range::global, true, true, true},
         {data_range::proc_local, false, false, false},
         {data_range::invalid, false, false, true},
       }) {
    const auto uut = range_filter{raised(x.range)};
    CAF_CHECK_EQUAL(uut.admits({"job", 1}), x.peer);
    CAF_CHECK_EQUAL(uut.admits({"other", 1}), x.stranger);
    CAF_CHECK_EQUAL(uut.leaves_node(), x.leaves);
  }
}

CAF_TEST(F4.37 a custom range names processes and namespaces) {
  const auto uut = range_filter{raised(
    data_range::custom, {custom({{"job", 2}, {"other", rank_wildcard}})})};
  CAF_CHECK(uut.admits({"job", 2}));
  CAF_CHECK(!uut.admits({"job", 1}));
  CAF_CHECK(uut.admits({"other", 7}));
  CAF_CHECK(!uut.admits({"third", 7}));
  CAF_CHECK(!range_filter{raised(data_range::custom)}.admits({"job", 1}));
}

CAF_TEST(F4.37 targets narrow every range) {
  const auto listed =
    range_filter{raised(data_range::global, {custom({{"job", 2}})})};
  CAF_CHECK(listed.admits({"job", 2}));
  CAF_CHECK(!listed.admits({"job", 1}));
  const auto given = range_filter{raised(data_range::global), {{"job", 2}}};
  CAF_CHECK(given.admits({"job", 2}));
  CAF_CHECK(!given.admits({"job", 1}));
}

CAF_TEST(F4.37 an event may be kept from default handlers or on the node) {
  CAF_CHECK(range_filter{raised(data_range::global)}.admits_default());
  CAF_CHECK(
    !(range_filter{raised(data_range::global, {with(attr::event_non_default)})}
        .admits_default()));
  CAF_CHECK((
    range_filter{raised(data_range::global,
                        {with(attr::event_non_default, value::boolean(false))})}
      .admits_default()));
  CAF_CHECK(
    !(range_filter{raised(data_range::global, {with(attr::event_stays_local)})}
        .leaves_node()));
}

// -- published keys ----------------------------------------------------------

CAF_TEST_FIXTURE_SCOPE(published_data_tests, fixture)

CAF_TEST(F4.23 what is published is found with its publisher) {
  CAF_CHECK_EQUAL(publish(first, "k", "v"), status::success);
  const auto found = uut.look_up(second, {0, {"k", "unknown"}, {}});
  CAF_REQUIRE_EQUAL(found.size(), 1u);
  CAF_CHECK(found[0].proc == (proc_id{"job", 0}));
  CAF_CHECK_EQUAL(found[0].key, "k");
  CAF_CHECK(found[0].val == value::string("v"));
  CAF_CHECK_EQUAL(look_up(stranger, "k"), "v"); // The default is the session.
  CAF_CHECK_EQUAL(look_up(first, "unknown"), "nothing");
}

CAF_TEST(F4.23 a range names who sees a key) {
  struct row {
    data_range range;
    bool publisher;
    bool peer;
    bool stranger;
  };
  for (const auto& x : std::vector<row>{
         {data_range::local, true, true, true},
         {data_range::nspace, true, true, false},
         {data_range::session, true, true, true},
         {data_range::global, true, true, true},
         {data_range::proc_local, true, false, false},
         {data_range::rm, false, false, false},
       }) {
    const auto key = "k" + std::to_string(static_cast<int>(x.range));
    publish(first, key, "v", {with_range(x.range)});
    CAF_CHECK_EQUAL(look_up(first, key) == "v", x.publisher);
    CAF_CHECK_EQUAL(look_up(second, key) == "v", x.peer);
    CAF_CHECK_EQUAL(look_up(stranger, key) == "v", x.stranger);
  }
}

CAF_TEST(F4.23 a custom range names who sees a key) {
  publish(first, "k", "v",
          {with_range(data_range::custom), custom({{"other", 0}})});
  CAF_CHECK_EQUAL(look_up(stranger, "k"), "v");
  CAF_CHECK_EQUAL(look_up(second, "k"), "nothing");
}

CAF_TEST(F4.23 a lookup within the namespace sees no other) {
  publish(first, "k", "v");
  CAF_CHECK_EQUAL(look_up(second, "k", {with_range(data_range::nspace)}), "v");
  CAF_CHECK_EQUAL(look_up(stranger, "k", {with_range(data_range::nspace)}),
                  "nothing");
}

CAF_TEST(X28 keys of another user are not there) {
  publish(first, "k", "v", {with_range(data_range::global)});
  CAF_CHECK_EQUAL(look_up(foreigner, "k"), "nothing");
  CAF_CHECK_EQUAL(uut.count(foreigner, {0, {"k"}, {}}), 0u);
  // Nor are they in the way.
  CAF_CHECK_EQUAL(publish(foreigner, "k", "mine"), status::success);
  CAF_CHECK_EQUAL(look_up(foreigner, "k"), "mine");
  CAF_CHECK_EQUAL(look_up(second, "k"), "v");
}

CAF_TEST(F4.23 a publisher says which other users see a key) {
  const auto ids = [](std::string_view key, std::vector<uint32_t> xs) {
    auto elements = std::vector<value>{};
    for (const auto x : xs)
      elements.push_back(value::uint32(x));
    return with(key, value::array(data_type::uint32, std::move(elements)));
  };
  foreigner.creds.gid = 4711;
  auto third = asks({"third", 0}, 5, other_uid + 1);
  third.creds.gid = 4712;
  CAF_CHECK(
    publish(first, "by user", "a", {ids(attr::access_userids, {7, other_uid})})
    == status::success);
  CAF_CHECK(publish(first, "by group", "b", {ids(attr::access_grpids, {4711})})
            == status::success);
  CAF_CHECK(
    publish(first, "inside", "c",
            {with(attr::access_permissions,
                  value::infos({ids(attr::access_userids, {other_uid})}))})
    == status::success);
  for (const auto* key : {"by user", "by group", "inside"}) {
    CAF_CHECK(look_up(foreigner, key) != "nothing");
    CAF_CHECK(look_up(second, key) != "nothing");
    CAF_CHECK_EQUAL(look_up(third, key), "nothing");
  }
  // One's own comes first, and nobody withdraws what is another's.
  CAF_CHECK(publish(foreigner, "by user", "own") == status::success);
  CAF_CHECK_EQUAL(look_up(foreigner, "by user"), "own");
  CAF_CHECK(unpublish(foreigner, {"by group"}) == status::not_found);
  // The range holds as well.
  CAF_CHECK(publish(first, "of job", "d",
                    {with_range(data_range::nspace),
                     ids(attr::access_userids, {other_uid})})
            == status::success);
  CAF_CHECK_EQUAL(look_up(foreigner, "of job"), "nothing");
}

CAF_TEST(F4.23 who may see a key is a list of numbers) {
  CAF_CHECK(publish(first, "key", "a",
                    {with(attr::access_userids, value::string("me"))})
            == status::bad_param);
  CAF_CHECK_EQUAL(look_up(first, "key"), "nothing");
}

CAF_TEST(F4.23 a key is published once) {
  CAF_CHECK_EQUAL(publish(first, "k", "v"), status::success);
  CAF_CHECK_EQUAL(publish(first, "k", "w"), status::duplicate_key);
  CAF_CHECK_EQUAL(publish(second, "k", "w"), status::duplicate_key);
  CAF_CHECK_EQUAL(look_up(second, "k"), "v");
}

CAF_TEST(F4.23 a refused request publishes nothing of itself) {
  publish(first, "k", "v");
  CAF_CHECK_EQUAL(publish(second, {with("a", value::string("w")),
                                   with("k", value::string("w"))}),
                  status::duplicate_key);
  CAF_CHECK_EQUAL(look_up(second, "a"), "nothing");
}

CAF_TEST(F4.23 one request names a key once) {
  CAF_CHECK_EQUAL(publish(first, {with("k", value::string("v")),
                                  with("k", value::string("w"))}),
                  status::duplicate_key);
  CAF_CHECK_EQUAL(look_up(first, "k"), "nothing");
}

CAF_TEST(F4.23 namespaces may have equal keys of their own) {
  const auto range = with_range(data_range::nspace);
  CAF_CHECK_EQUAL(publish(first, "k", "v", {range}), status::success);
  CAF_CHECK_EQUAL(publish(stranger, "k", "w", {range}), status::success);
  CAF_CHECK_EQUAL(publish(second, "k", "w", {range}), status::duplicate_key);
  CAF_CHECK_EQUAL(look_up(second, "k"), "v");
  CAF_CHECK_EQUAL(look_up(stranger, "k"), "w");
}

CAF_TEST(F4.23 a request without a key is refused) {
  CAF_CHECK_EQUAL(publish(first, {}), status::bad_param);
  CAF_CHECK_EQUAL(publish(first, {with_range(data_range::global)}),
                  status::bad_param);
}

CAF_TEST(F4.23 directives are not published) {
  publish(first, "k", "v",
          {with_range(data_range::global),
           with_persistence(persistence::session),
           with(attr::timeout, value::integer(3))});
  for (const auto key : {attr::range, attr::persistence, attr::timeout})
    CAF_CHECK_EQUAL(look_up(first, std::string{key}), "nothing");
}

CAF_TEST(F4.23 keys are withdrawn by their publisher only) {
  publish(first, "k", "v");
  CAF_CHECK_EQUAL(unpublish(second, {"k"}), status::not_found);
  CAF_CHECK_EQUAL(look_up(second, "k"), "v");
  CAF_CHECK_EQUAL(unpublish(first, {"k"}), status::success);
  CAF_CHECK_EQUAL(look_up(second, "k"), "nothing");
  CAF_CHECK_EQUAL(unpublish(first, {"k"}), status::not_found);
  CAF_CHECK_EQUAL(publish(second, "k", "w"), status::success);
}

CAF_TEST(F4.23 whoever names no key withdraws all its own) {
  publish(first, "a", "v");
  publish(first, "b", "v");
  publish(second, "c", "v");
  CAF_CHECK_EQUAL(unpublish(first, {}), status::success);
  CAF_CHECK_EQUAL(look_up(second, "a"), "nothing");
  CAF_CHECK_EQUAL(look_up(second, "b"), "nothing");
  CAF_CHECK_EQUAL(look_up(second, "c"), "v");
  CAF_CHECK_EQUAL(unpublish(first, {}), status::success);
}

CAF_TEST(F4.24 a persistence says how long a key stays) {
  struct row {
    persistence stays;
    bool after_process;
    bool after_namespace;
  };
  for (const auto& x : std::vector<row>{
         {persistence::indefinite, true, true},
         {persistence::session, true, true},
         {persistence::app, true, false},
         {persistence::proc, false, false},
       }) {
    published_data fresh{1000};
    fresh.publish(
      first, {0, {with_persistence(x.stays), with("k", value::string("v"))}});
    const auto is_there = [&] {
      return fresh.count(stranger, {0, {"k"}, {}}) == 1;
    };
    fresh.proc_ended({"job", 1});
    CAF_CHECK(is_there());
    fresh.proc_ended({"job", 0});
    CAF_CHECK_EQUAL(is_there(), x.after_process);
    fresh.nspace_ended("other");
    CAF_CHECK_EQUAL(is_there(), x.after_process);
    fresh.nspace_ended("job");
    CAF_CHECK_EQUAL(is_there(), x.after_namespace);
  }
}

CAF_TEST(F4.24 what stays until the first reading is read once) {
  publish(first, "k", "v", {with_persistence(persistence::first_read)});
  CAF_CHECK_EQUAL(uut.count(second, {0, {"k"}, {}}), 1u); // No reading.
  CAF_CHECK_EQUAL(look_up(second, "k"), "v");
  CAF_CHECK_EQUAL(look_up(second, "k"), "nothing");
}

CAF_TEST(F4.24 a reading in vain is no reading) {
  publish(first, "k", "v",
          {with_range(data_range::nspace),
           with_persistence(persistence::first_read)});
  CAF_CHECK_EQUAL(look_up(stranger, "k"), "nothing");
  CAF_CHECK_EQUAL(look_up(second, "k"), "v");
}

CAF_TEST(X26 LIM15 publishing without end meets the bound) {
  auto outcome = status::success;
  auto rounds = 0;
  for (; rounds < 1000 && outcome == status::success; ++rounds)
    outcome = publish(first, "k" + std::to_string(rounds), "some text");
  CAF_CHECK_EQUAL(outcome, status::out_of_resource);
  CAF_CHECK(rounds > 10);
  // It concerns the one that published too much only.
  CAF_CHECK_EQUAL(publish(second, "mine", "v"), status::success);
  // What is withdrawn makes room.
  CAF_CHECK_EQUAL(unpublish(first, {"k0"}), status::success);
  CAF_CHECK_EQUAL(publish(first, "k0", "some text"), status::success);
}

CAF_TEST(MND-SMALL LIM15 what outlives its jobs has a bound too) {
  auto outcome = status::success;
  auto jobs = uint64_t{0};
  for (; jobs < 10000 && outcome == status::success; ++jobs) {
    const auto nspace = "job" + std::to_string(jobs);
    outcome = publish(asks({nspace, 0}, 100 + jobs), nspace, "some text",
                      {with_persistence(persistence::indefinite)});
    uut.nspace_ended(nspace);
  }
  CAF_CHECK_EQUAL(outcome, status::out_of_resource);
  CAF_CHECK(jobs > 100);
  CAF_CHECK_EQUAL(look_up(first, "job0"), "some text");
  // It concerns this user only, until something of it goes.
  CAF_CHECK_EQUAL(publish(foreigner, "k", "v"), status::success);
  CAF_CHECK_EQUAL(publish(first, "k", "v"), status::out_of_resource);
  CAF_CHECK_EQUAL(unpublish(asks({"job0", 0}, 100), {"job0"}), status::success);
  CAF_CHECK_EQUAL(publish(first, "k", "v"), status::success);
}

CAF_TEST(MND-A4 LIM15 those who may see a key count for each key) {
  const auto publish_for = [&](size_t num_procs, size_t num_keys) {
    auto procs = std::vector<proc_id>{};
    for (uint32_t rank = 0; rank < num_procs; ++rank)
      procs.push_back({"job", rank});
    auto infos =
      std::vector<info>{with_range(data_range::custom), custom(procs)};
    for (size_t i = 0; i < num_keys; ++i)
      infos.push_back(with("k" + std::to_string(i), value::boolean(true)));
    return publish(first, std::move(infos));
  };
  CAF_CHECK_EQUAL(publish_for(30, 4), status::out_of_resource);
  CAF_CHECK_EQUAL(publish_for(30, 2), status::success);
  CAF_CHECK_EQUAL(uut.count(second, {0, {"k0", "k1"}, {}}), 2u);
  CAF_CHECK_EQUAL(uut.count(stranger, {0, {"k0"}, {}}), 0u);
}

CAF_TEST(MND-A4 many keys are published and withdrawn) {
  published_data large{size_t{4} << 20};
  auto request = publish_request{our_uid, {}};
  auto keys = std::vector<std::string>{};
  for (auto i = 0; i < 4096; ++i) {
    keys.push_back("k" + std::to_string(i));
    request.infos.push_back(with(keys.back(), value::boolean(true)));
  }
  CAF_CHECK_EQUAL(large.publish(first, request), status::success);
  CAF_CHECK_EQUAL(large.unpublish(second, {0, {"k7"}, {}}), status::not_found);
  CAF_CHECK_EQUAL(large.count(second, {0, keys, {}}), keys.size());
  CAF_CHECK_EQUAL(large.unpublish(first, {0, keys, {}}), status::success);
  CAF_CHECK_EQUAL(large.count(second, {0, keys, {}}), 0u);
  request.infos.push_back(request.infos.front());
  CAF_CHECK_EQUAL(large.publish(first, request), status::duplicate_key);
}

CAF_TEST(MND-SMALL keys without values are not free) {
  // 10,000 bytes for the process.
  auto outcome = status::success;
  auto count = 0;
  for (; count < 1000 && outcome == status::success; ++count)
    outcome = publish(first, {with("k" + std::to_string(count))});
  CAF_CHECK_EQUAL(outcome, status::out_of_resource);
  CAF_CHECK(count < 40);
  // Neither are those who may see one.
  auto many = std::vector<proc_id>{};
  for (uint32_t rank = 0; rank < 200; ++rank)
    many.push_back({"job", rank});
  CAF_CHECK_EQUAL(
    publish(second, "k", "v", {with_range(data_range::custom), custom(many)}),
    status::out_of_resource);
}

CAF_TEST(MND-SMALL reserved keys are not published) {
  CAF_CHECK_EQUAL(publish(first, std::string{attr::job_size}, "7"),
                  status::bad_param);
  CAF_CHECK_EQUAL(
    publish(first, "k", "v", {with(attr::job_size, value::uint32(7))}),
    status::success);
  CAF_CHECK_EQUAL(look_up(second, std::string{attr::job_size}), "nothing");
  CAF_CHECK_EQUAL(look_up(second, "k"), "v");
}

CAF_TEST_FIXTURE_SCOPE_END()
