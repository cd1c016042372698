#include "base/all_of.hpp"

#include "tests/test.hpp"

#include <vector>

using namespace troupe;

namespace {

using numbers = std::vector<int>;

} // namespace

CAF_TEST(all that is collected comes when nothing is missing) {
  auto result = numbers{};
  auto calls = 0;
  const auto all = all_of<numbers>{{}, [&](numbers& xs) {
                                     result = xs;
                                     ++calls;
                                   }};
  auto questions = std::vector<all_of<numbers>>{};
  for (int i = 0; i < 3; ++i) {
    all.add();
    questions.push_back(all);
  }
  for (int i = 0; i < 2; ++i) {
    questions[i]->push_back(i);
    questions[i].done();
  }
  questions[2].done();       // Without an answer.
  CAF_CHECK_EQUAL(calls, 0); // More may be asked.
  all.done();
  CAF_CHECK_EQUAL(calls, 1);
  CAF_CHECK(result == (numbers{0, 1}));
}

CAF_TEST(where nobody is asked it is over at once) {
  auto calls = 0;
  const auto all = all_of<numbers>{{7}, [&](numbers& xs) {
                                     CAF_CHECK(xs == numbers{7});
                                     ++calls;
                                   }};
  all.done();
  CAF_CHECK_EQUAL(calls, 1);
}

CAF_TEST(nothing is called when all copies go) {
  auto calls = 0;
  {
    const auto all = all_of<numbers>{{}, [&](numbers&) { ++calls; }};
    all.add();
    all.done();
  }
  CAF_CHECK_EQUAL(calls, 0);
}
