#include "base/may_act_for.hpp"

#include "tests/test.hpp"

using namespace troupe;

CAF_TEST(X11 the same user and root may act for a user) {
  auto who = requester{};
  who.creds = {1000, 1000};
  CAF_CHECK(may_act_for(who, 1000));
  CAF_CHECK(!may_act_for(who, 1001));
  CAF_CHECK(!may_act_for(who, 0));
  // A group is no user.
  who.creds = {1000, 0};
  CAF_CHECK(!may_act_for(who, 1001));
  who.creds = {0, 1000};
  CAF_CHECK(may_act_for(who, 1001));
}
