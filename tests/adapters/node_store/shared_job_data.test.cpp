#include "adapters/node_store/shared_job_data.hpp"

#include "adapters/wire/compression.hpp"
#include "messages/attributes.hpp"
#include "messages/value.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

using entries = std::vector<key_value>;
using numbers = std::vector<uint32_t>;

key_value entry(std::string_view key, value x) {
  return {std::string{key}, std::move(x)};
}

job_info job_of_three() {
  auto result = job_info{};
  result.nspace = "job";
  result.entries = {
    entry(attr::job_size, value::uint32(3)),
    entry("of.the.host", value::string("x")),
    entry(attr::node_info_array,
          value::infos({with(attr::hostname, value::string("here")),
                        with(attr::local_peers, value::string("0,2"))}))};
  result.ranks = {{2, {entry(attr::local_rank, value::uint16(1))}},
                  {0,
                   {entry(attr::local_rank, value::uint16(0)),
                    entry(attr::hostname, value::string("here"))}},
                  {2, {entry(attr::node_rank, value::uint16(7))}}};
  return result;
}

} // namespace

CAF_TEST(F4.43 the data of a job are read where they are) {
  const auto job = job_of_three();
  const auto bytes = pack_shared_job(job);
  CAF_REQUIRE(bytes);
  const auto owner = std::make_shared<int>();
  const auto x = read_shared_job(*bytes, owner);
  CAF_REQUIRE(x);
  CAF_CHECK(x->entries == job.entries);
  CAF_CHECK(x->ranks->of(0) == job.ranks[1].entries);
  CAF_CHECK(x->ranks->of(2)
            == (entries{job.ranks[0].entries[0], job.ranks[2].entries[0]}));
  CAF_CHECK(x->ranks->of(1).empty());
  CAF_CHECK(x->ranks->ranks() == (numbers{0, 2}));
  CAF_CHECK(owner.use_count() > 1);
  x->ranks->drop(0);
  CAF_CHECK(x->ranks->of(0).empty());
  CAF_CHECK(x->ranks->ranks() == numbers{2});
}

CAF_TEST(F4.43 ranks with keys that anybody may post are sent) {
  auto job = job_of_three();
  job.ranks[1].entries.push_back(entry("mine", value::uint32(1)));
  CAF_CHECK(!pack_shared_job(job));
}

CAF_TEST(F4.43 a compressed text of a job becomes a plain one) {
  const auto text = std::string(10000, 'x');
  const auto packed = wire::deflate_text(text);
  auto job = job_of_three();
  job.entries = {entry("long", value{data_type::compressed_string, packed})};
  const auto bytes = pack_shared_job(job);
  CAF_REQUIRE(bytes);
  const auto x = read_shared_job(*bytes, nullptr);
  CAF_REQUIRE(x);
  CAF_CHECK(x->entries == (entries{entry("long", value::string(text))}));
}

CAF_TEST(X51 damage at any byte of packed data of a job is survived) {
  const auto bytes = pack_shared_job(job_of_three());
  CAF_REQUIRE(bytes);
  CAF_CHECK(!read_shared_job({}, nullptr));
  auto unreadable = 0;
  for (size_t i = 0; i < bytes->size(); ++i) {
    auto spoilt = *bytes;
    spoilt[i] = static_cast<char>(~spoilt[i]);
    const auto x = read_shared_job(spoilt, nullptr);
    unreadable += x ? 0 : 1;
    if (x)
      for (const auto rank : x->ranks->ranks())
        x->ranks->of(rank);
  }
  CAF_CHECK(unreadable > 0);
}
