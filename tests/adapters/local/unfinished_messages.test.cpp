#include "adapters/local/unfinished_messages.hpp"

#include "tests/test.hpp"

#include <memory>
#include <vector>

using namespace troupe;

namespace {

using message = unfinished_messages::message;

struct fixture {
  std::unique_ptr<message> begin(const std::string& nspace) {
    const auto i = went_on.size();
    went_on.push_back(0);
    return std::make_unique<message>(uut, nspace, [this, i] { ++went_on[i]; });
  }

  unfinished_messages uut{{100, 250, 10}};
  std::vector<int> went_on;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(unfinished_messages_tests, fixture)

CAF_TEST(MND-A6 short messages do not count) {
  const auto a = begin("job");
  const auto b = begin("job");
  a->note(200);
  b->note(10);
  CAF_CHECK_EQUAL(uut.bytes(), 200u);
  CAF_CHECK(b->may_grow());
}

CAF_TEST(MND-A6 at the bound of a namespace only the first message goes on) {
  const auto a = begin("job");
  const auto b = begin("job");
  const auto c = begin("other");
  b->note(60);
  a->note(40);
  c->note(20);
  CAF_CHECK(!a->may_grow());
  CAF_CHECK(b->may_grow());
  CAF_CHECK(c->may_grow());
  b->note(120);
  CAF_CHECK(b->may_grow());
  CAF_CHECK_EQUAL(went_on, (std::vector<int>{0, 0, 0}));
  b->note(0); // It is whole.
  CAF_CHECK_EQUAL(went_on, (std::vector<int>{1, 0, 0}));
  CAF_CHECK(a->may_grow());
  CAF_CHECK_EQUAL(uut.bytes(), 60u);
}

CAF_TEST(MND-A6 at the bound of the node only the first of all goes on) {
  const auto a = begin("a");
  const auto b = begin("b");
  const auto c = begin("c");
  for (const auto* x : {&a, &b, &c})
    (*x)->note(90);
  CAF_CHECK(a->may_grow());
  CAF_CHECK(!b->may_grow());
  CAF_CHECK(!c->may_grow());
}

CAF_TEST(MND-A6 a connection that ends lets others go on) {
  auto a = begin("job");
  const auto b = begin("job");
  a->note(80);
  b->note(80);
  CAF_CHECK(!b->may_grow());
  a.reset();
  CAF_CHECK_EQUAL(went_on[1], 1);
  CAF_CHECK(b->may_grow());
  CAF_CHECK_EQUAL(uut.bytes(), 80u);
}

CAF_TEST(MND-A6 a message that began anew stands behind the others) {
  const auto a = begin("job");
  const auto b = begin("job");
  a->note(60);
  b->note(60);
  a->note(0);
  a->note(60);
  CAF_CHECK(!a->may_grow());
  CAF_CHECK(b->may_grow());
}

CAF_TEST_FIXTURE_SCOPE_END()
