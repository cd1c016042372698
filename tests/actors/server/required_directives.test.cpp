// Which requests are refused for what they require.

#include "actors/server/required_directives.hpp"

#include "messages/attributes.hpp"
#include "messages/spawn.hpp"
#include "messages/status.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

info required(std::string_view key, value x = {}) {
  auto result = with(key, std::move(x));
  result.flags |= info_required;
  return result;
}

template <class Request>
bool is_refused(const Request& x, next_host next) {
  const auto why = check_directives(x, next);
  if (why)
    CAF_CHECK(status_of(why) == status::not_supported);
  return static_cast<bool>(why);
}

} // namespace

CAF_TEST(F4.41 data that is published bears any key) {
  auto x = publish_request{our_uid, {required("key", value::uint32(1))}};
  CAF_CHECK(!is_refused(x, next_host::ours));
  x.infos.push_back(required(attr::range));
  CAF_CHECK(!is_refused(x, next_host::ours));
  x.infos.push_back(required(attr::collect_data));
  CAF_CHECK(is_refused(x, next_host::ours));
  CAF_CHECK(!is_refused(x, next_host::foreign));
}

CAF_TEST(F4.41 the qualifiers of each query are checked) {
  const auto fine = query{{std::string{attr::query_namespaces}},
                          {required(attr::query_refresh_cache)}};
  const auto bad = query{{std::string{attr::query_namespaces}},
                         {with("x"), required(attr::query_report_avg)}};
  CAF_CHECK(!is_refused(query_request{{fine, fine}}, next_host::ours));
  CAF_CHECK(is_refused(query_request{{fine, bad}}, next_host::ours));
  CAF_CHECK(!is_refused(query_request{{fine, bad}}, next_host::foreign));
  // A key that can be asked for is no qualifier.
  const auto key = query{{std::string{attr::query_namespaces}},
                         {required(attr::query_memory_usage)}};
  CAF_CHECK(is_refused(query_request{{key}}, next_host::ours));
}

CAF_TEST(F4.41 a get is answered by the server whoever its host is) {
  const auto x = get_request{{"job", 0}, {required("their.key")}, "key"};
  CAF_CHECK(is_refused(x, next_host::ours));
  CAF_CHECK(is_refused(x, next_host::foreign));
}

CAF_TEST(F4.41 what a host of another may know is for it to refuse) {
  auto x = fence_request{};
  x.directives = {required(attr::collective_algo), required("their.key")};
  CAF_CHECK(is_refused(x, next_host::ours));
  CAF_CHECK(!is_refused(x, next_host::foreign));
  x.directives = {with(attr::collective_algo), with("their.key")};
  CAF_CHECK(!is_refused(x, next_host::ours));
}

CAF_TEST(F4.41 who reads the directives of a spawn refuses them himself) {
  CAF_CHECK(!has_directives<spawn_request>::value);
  CAF_CHECK(has_directives<fence_request>::value);
}
