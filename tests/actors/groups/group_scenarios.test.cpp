// Groups whose leader fails and groups by invitation, told as scenarios: what
// processes do, and all that they hear of it. tests/fixtures/group_scenario.hpp
// tells how they are written. Numbers are those of the edge cases of groups.

#include "tests/fixtures/group_scenario.hpp"
#include "tests/test.hpp"

using namespace troupe::fixtures;

namespace {

void plays(const char* scenario) {
  const auto wrong = play(scenario);
  if (!wrong.empty())
    CAF_ERROR(wrong);
}

} // namespace

// -- failures and leaders: 143 to 152 -----------------------------------------

CAF_TEST(G17 A29 case 143 failures go to the leaders only) {
  plays(R"(
nodes a:0 a:1 | a:2 a:3
a:0 construct g a:0 a:1 a:2 a:3 leader
a:2 construct g a:0 a:1 a:2 a:3 leader
wait 1
a:1 dies
  a:0 hears INVITE_FAILED g about a:1 ?
  a:2 hears INVITE_FAILED g about a:1 ?
  a:0 construct g: GROUP_CONSTRUCT_ABORT
  a:2 construct g: GROUP_CONSTRUCT_ABORT
)");
}

CAF_TEST(G17 case 144 without a leader failures go to all) {
  plays(R"(
nodes a:0 a:1 | a:2 a:3
a:0 construct g a:0 a:1 a:2 a:3
a:2 construct g a:0 a:1 a:2 a:3
wait 1
a:1 dies
  a:0 hears INVITE_FAILED g about a:1 ?
  a:2 hears INVITE_FAILED g about a:1 ?
  a:3 hears INVITE_FAILED g about a:1 ?
  a:0 construct g: GROUP_CONSTRUCT_ABORT
  a:2 construct g: GROUP_CONSTRUCT_ABORT
a:3 construct g a:0 a:1 a:2 a:3
  a:3 construct g: GROUP_CONSTRUCT_ABORT
)");
}

CAF_TEST(G27 G28 G29 case 145 case 146 who nominates itself leads) {
  plays(R"(
nodes a:0 a:1 | a:2 | a:3
a:1 on LEADER_FAILED nominate
a:0 construct g a:0 a:1 a:2 a:3 leader
a:1 construct g a:0 a:1 a:2 a:3
a:2 construct g a:0 a:1 a:2 a:3
wait 1
a:0 dies
  a:1 hears LEADER_FAILED g about a:0 ?
  a:2 hears LEADER_FAILED g about a:0 ?
  a:3 hears LEADER_FAILED g about a:0 ?
  a:1 hears LEADER_SELECTED g about a:1 leader a:1
  a:2 hears LEADER_SELECTED g about a:1 leader a:1
  a:3 hears LEADER_SELECTED g about a:1 leader a:1
a:3 construct g a:0 a:1 a:2 a:3
  a:1 construct g: SUCCESS a:1 a:2 a:3
  a:2 construct g: SUCCESS a:1 a:2 a:3
  a:3 construct g: SUCCESS a:1 a:2 a:3
  a:1 hears MEMBERSHIP_UPDATE g members a:1 a:2 a:3
  a:2 hears MEMBERSHIP_UPDATE g members a:1 a:2 a:3
  a:3 hears MEMBERSHIP_UPDATE g members a:1 a:2 a:3
)");
}

CAF_TEST(G27 GRP-1 case 145 a leader that is lost with its node is replaced) {
  plays(R"(
nodes a:0 | a:1 a:2 | a:3
a:2 on LEADER_FAILED nominate
a:3 on LEADER_FAILED nominate
a:0 construct g a:0 a:1 a:2 a:3 leader
a:1 construct g a:0 a:1 a:2 a:3
a:2 construct g a:0 a:1 a:2 a:3
wait 1
lose 0
  a:1 hears LEADER_FAILED g about a:0 ?
  a:2 hears LEADER_FAILED g about a:0 ?
  a:3 hears LEADER_FAILED g about a:0 ?
  a:1 hears LEADER_SELECTED g about a:2 leader a:2
  a:2 hears LEADER_SELECTED g about a:2 leader a:2
  a:3 hears LEADER_SELECTED g about a:2 leader a:2
)");
}

CAF_TEST(G28 A30 GRP-1 case 146 of two nominees the lowest in rank leads) {
  plays(R"(
nodes a:0 a:1 | a:2 | a:3
a:2 on LEADER_FAILED nominate
a:3 on LEADER_FAILED nominate
a:0 construct g a:3 a:2 a:1 a:0 leader
a:1 construct g a:3 a:2 a:1 a:0
a:2 construct g a:3 a:2 a:1 a:0
wait 1
a:0 dies
  a:1 hears LEADER_FAILED g about a:0 ?
  a:2 hears LEADER_FAILED g about a:0 ?
  a:3 hears LEADER_FAILED g about a:0 ?
  a:1 hears LEADER_SELECTED g about a:3 leader a:3
  a:2 hears LEADER_SELECTED g about a:3 leader a:3
  a:3 hears LEADER_SELECTED g about a:3 leader a:3
)");
}

CAF_TEST(G30 case 146 where nobody leads all learn the error) {
  plays(R"(
nodes a:0 a:1 | a:2
a:0 construct g a:0 a:1 a:2 leader
a:1 construct g a:0 a:1 a:2
wait 1
a:0 dies
  a:1 hears LEADER_FAILED g about a:0 ?
  a:2 hears LEADER_FAILED g about a:0 ?
  a:1 hears LEADER_SELECTED g status PMIX_GROUP_LEADER_FAILED
  a:2 hears LEADER_SELECTED g status PMIX_GROUP_LEADER_FAILED
  a:1 construct g: GROUP_CONSTRUCT_ABORT
)");
}

CAF_TEST(G31 A31 case 146 case 148 an abort beats a nomination) {
  plays(R"(
nodes a:0 a:1 | a:2 | a:3
a:1 on LEADER_FAILED nominate
a:2 on LEADER_FAILED give-up
a:0 construct g a:0 a:1 a:2 a:3 leader
a:1 construct g a:0 a:1 a:2 a:3
a:2 construct g a:0 a:1 a:2 a:3
wait 1
a:0 dies
  a:1 hears LEADER_FAILED g about a:0 ?
  a:2 hears LEADER_FAILED g about a:0 ?
  a:3 hears LEADER_FAILED g about a:0 ?
  a:1 construct g: GROUP_CONSTRUCT_ABORT
  a:2 construct g: GROUP_CONSTRUCT_ABORT
a:3 construct g a:0 a:1 a:2 a:3
  a:3 construct g: GROUP_CONSTRUCT_ABORT
)");
}

CAF_TEST(GRP-4 case 146 a nominee that dies in turn is replaced) {
  plays(R"(
nodes a:0 | a:1 | a:2 | a:3
a:1 on LEADER_FAILED nominate
a:2 on LEADER_FAILED nominate
a:0 construct g a:0 a:1 a:2 a:3 leader
a:1 construct g a:0 a:1 a:2 a:3
a:2 construct g a:0 a:1 a:2 a:3
wait 1
a:0 dies
  a:1 hears LEADER_FAILED g about a:0 ?
  a:2 hears LEADER_FAILED g about a:0 ?
  a:3 hears LEADER_FAILED g about a:0 ?
  a:1 hears LEADER_SELECTED g about a:1 leader a:1
  a:2 hears LEADER_SELECTED g about a:1 leader a:1
  a:3 hears LEADER_SELECTED g about a:1 leader a:1
a:1 dies
  a:2 hears LEADER_FAILED g about a:1 ?
  a:3 hears LEADER_FAILED g about a:1 ?
  a:2 hears LEADER_SELECTED g about a:2 leader a:2
  a:3 hears LEADER_SELECTED g about a:2 leader a:2
a:3 construct g a:0 a:1 a:2 a:3
  a:2 construct g: SUCCESS a:2 a:3
  a:3 construct g: SUCCESS a:2 a:3
  a:2 hears MEMBERSHIP_UPDATE g members a:2 a:3
  a:3 hears MEMBERSHIP_UPDATE g members a:2 a:3
)");
}

CAF_TEST(G12 GRP-2 case 146 handlers that never return are waited for once) {
  plays(R"(
nodes a:0 a:1 | a:2
a:1 on LEADER_FAILED nominate
a:2 on LEADER_FAILED hang
a:0 construct g a:0 a:1 a:2 leader
a:1 construct g a:0 a:1 a:2
wait 1
a:0 dies
  a:1 hears LEADER_FAILED g about a:0 ?
  a:2 hears LEADER_FAILED g about a:0 ?
wait 3
  a:1 hears LEADER_SELECTED g about a:1 leader a:1
  a:2 hears LEADER_SELECTED g about a:1 leader a:1
)");
}

CAF_TEST(G22 A32 case 149 a replacement joins in the place of the dead) {
  plays(R"(
nodes a:0 a:1 | a:2 a:3
a:0 on INVITE_FAILED replace a:3
a:0 construct g a:0 a:1 a:2 leader
wait 1
a:1 dies
  a:0 hears INVITE_FAILED g about a:1 ?
  a:3 hears INVITED g by a:0 members a:0 a:3 a:2
a:3 accept g
  a:0 hears INVITE_ACCEPTED g by a:3 about a:3
a:2 construct g a:0 a:1 a:2
  a:0 construct g: SUCCESS a:0 a:3 a:2
  a:2 construct g: SUCCESS a:0 a:3 a:2
  a:3 join g: SUCCESS a:0 a:3 a:2
  a:3 hears CONSTRUCT_COMPLETE g by a:0 members a:0 a:3 a:2
  a:0 hears MEMBERSHIP_UPDATE g members a:0 a:3 a:2
  a:2 hears MEMBERSHIP_UPDATE g members a:0 a:3 a:2
  a:3 hears MEMBERSHIP_UPDATE g members a:0 a:3 a:2
)");
}

CAF_TEST(G23 G24 case 150 case 151 a handler goes on with fewer) {
  plays(R"(
nodes a:0 a:1 | a:2
deaf a:2
a:0 on INVITE_FAILED shrink
a:0 construct g a:0 a:1 a:2 leader
wait 1
a:1 dies
  a:0 hears INVITE_FAILED g about a:1 ?
a:2 construct g a:0 a:1 a:2
  a:0 construct g: SUCCESS a:0 a:2
  a:2 construct g: SUCCESS a:0 a:2
  a:0 hears MEMBERSHIP_UPDATE g members a:0 a:2
)");
}

CAF_TEST(G25 case 152 nobody leaves during the construction) {
  plays(R"(
nodes a:0 | a:1
a:0 construct g a:0 a:1
wait 1
a:0 leave g
  a:0 leave g: ERR_NOT_A_MEMBER
a:1 construct g a:0 a:1
  a:0 construct g: SUCCESS a:0 a:1
  a:1 construct g: SUCCESS a:0 a:1
a:0 leave g
  a:0 leave g: SUCCESS
  a:1 hears LEFT g by a:0 about a:0
)");
}

// -- invitations: 153 to 166 --------------------------------------------------

CAF_TEST(G33 G35 G38 G41 G44 case 153 case 155 case 165 all accept) {
  plays(R"(
nodes a:0 a:1 | a:2
a:0 invite g a:0 a:2 a:1
  a:1 hears INVITED g by a:0
  a:2 hears INVITED g by a:0
a:1 accept g of a:0
  a:0 hears INVITE_ACCEPTED g by a:1 about a:1
a:2 accept g of a:0
  a:0 hears INVITE_ACCEPTED g by a:2 about a:2
  a:0 hears CONSTRUCT_COMPLETE g by a:0 members a:0 a:2 a:1
  a:1 hears CONSTRUCT_COMPLETE g by a:0 members a:0 a:2 a:1
  a:2 hears CONSTRUCT_COMPLETE g by a:0 members a:0 a:2 a:1
  a:0 invite g: SUCCESS a:0 a:2 a:1
  a:1 join g: SUCCESS a:0 a:2 a:1
  a:2 join g: SUCCESS a:0 a:2 a:1
a:1 reads a:2
  a:1 finds a:2
a:0 reads a:2
  a:0 finds a:2
)");
}

CAF_TEST(G33 case 153 whoever invites need not be a member) {
  plays(R"(
nodes a:0 | a:1
a:0 invite g a:1
  a:1 hears INVITED g by a:0
a:1 accept g
  a:0 hears INVITE_ACCEPTED g by a:1 about a:1
  a:1 hears CONSTRUCT_COMPLETE g by a:0 members a:1
  a:0 invite g: SUCCESS a:1
  a:1 join g: SUCCESS a:1
)");
}

CAF_TEST(G39 G46 case 156 who declines an invitation ends it for all) {
  plays(R"(
nodes a:0 a:1 | a:2
a:0 invite g a:0 a:1 a:2
  a:1 hears INVITED g by a:0
  a:2 hears INVITED g by a:0
a:1 accept g
  a:0 hears INVITE_ACCEPTED g by a:1 about a:1
a:2 decline g
  a:2 join g: SUCCESS
  a:0 hears INVITE_DECLINED g by a:2 about a:2
  a:0 hears INVITE_FAILED g by a:0 about a:2
  a:0 hears CONSTRUCT_ABORT g by a:0
  a:1 hears CONSTRUCT_ABORT g by a:0
  a:2 hears CONSTRUCT_ABORT g by a:0
  a:0 invite g: GROUP_CONSTRUCT_ABORT
  a:1 join g: GROUP_CONSTRUCT_ABORT
)");
}

CAF_TEST(G18 G39 case 156 an optional group does without who declines) {
  plays(R"(
nodes a:0 a:1 | a:2
a:0 invite g a:0 a:1 a:2 optional
  a:1 hears INVITED g by a:0
  a:2 hears INVITED g by a:0
a:1 accept g
  a:0 hears INVITE_ACCEPTED g by a:1 about a:1
a:2 decline g
  a:2 join g: SUCCESS
  a:0 hears INVITE_DECLINED g by a:2 about a:2
  a:0 hears INVITE_FAILED g by a:0 about a:2
  a:0 hears CONSTRUCT_COMPLETE g by a:0 members a:0 a:1
  a:1 hears CONSTRUCT_COMPLETE g by a:0 members a:0 a:1
  a:0 invite g: SUCCESS a:0 a:1
  a:1 join g: SUCCESS a:0 a:1
)");
}

CAF_TEST(G22 G39 case 149 a replacement for who declines) {
  plays(R"(
nodes a:0 a:1 | a:2 a:3
a:0 on INVITE_DECLINED replace a:3
a:0 invite g a:0 a:2
  a:2 hears INVITED g by a:0
a:2 decline g
  a:2 join g: SUCCESS
  a:0 hears INVITE_DECLINED g by a:2 about a:2
  a:0 hears INVITE_FAILED g by a:0 about a:2
  a:3 hears INVITED g by a:0
a:3 accept g
  a:0 hears INVITE_ACCEPTED g by a:3 about a:3
  a:0 hears MEMBERSHIP_UPDATE g members a:0 a:3
  a:0 hears CONSTRUCT_COMPLETE g by a:0 members a:0 a:3
  a:3 hears MEMBERSHIP_UPDATE g members a:0 a:3
  a:3 hears CONSTRUCT_COMPLETE g by a:0 members a:0 a:3
  a:0 invite g: SUCCESS a:0 a:3
  a:3 join g: SUCCESS a:0 a:3
)");
}

CAF_TEST(G40 G42 case 157 case 166 silence ends an invitation in time) {
  plays(R"(
nodes a:0 a:1 | a:2
deaf a:2
a:0 invite g a:0 a:1 a:2 timeout=2
  a:1 hears INVITED g by a:0
a:1 accept g
  a:0 hears INVITE_ACCEPTED g by a:1 about a:1
wait 3
  a:0 hears INVITE_FAILED g by a:0 about a:2
  a:0 hears CONSTRUCT_ABORT g by a:0
  a:1 hears CONSTRUCT_ABORT g by a:0
  a:0 invite g: ERR_TIMEOUT
  a:1 join g: GROUP_CONSTRUCT_ABORT
)");
}

CAF_TEST(G40 G43 case 158 an invitee dies before its answer) {
  plays(R"(
nodes a:0 | a:1 a:2
a:0 on INVITE_FAILED shrink
a:0 invite g a:0 a:1 a:2
  a:1 hears INVITED g by a:0
  a:2 hears INVITED g by a:0
a:2 dies
  a:0 hears INVITE_FAILED g about a:2
a:1 accept g
  a:0 hears INVITE_ACCEPTED g by a:1 about a:1
  a:0 hears CONSTRUCT_COMPLETE g by a:0 members a:0 a:1
  a:1 hears CONSTRUCT_COMPLETE g by a:0 members a:0 a:1
  a:0 invite g: SUCCESS a:0 a:1
  a:1 join g: SUCCESS a:0 a:1
)");
}

CAF_TEST(G40 case 158 an invitee dies after its answer) {
  plays(R"(
nodes a:0 | a:1 | a:2
a:0 invite g a:0 a:1 a:2
  a:1 hears INVITED g by a:0
  a:2 hears INVITED g by a:0
a:2 accept g
  a:0 hears INVITE_ACCEPTED g by a:2 about a:2
lose 2
  a:0 hears INVITE_FAILED g about a:2
  a:0 hears CONSTRUCT_ABORT g by a:0
  a:1 hears CONSTRUCT_ABORT g by a:0
  a:0 invite g: GROUP_CONSTRUCT_ABORT
)");
}

CAF_TEST(G36 case 159 answers count once and in time) {
  plays(R"(
nodes a:0 a:1 | a:2
a:2 accept g of a:0
  a:2 join g: ERR_NOT_FOUND
a:0 invite g a:0 a:1 a:2
  a:1 hears INVITED g by a:0
  a:2 hears INVITED g by a:0
a:1 accept g
  a:0 hears INVITE_ACCEPTED g by a:1 about a:1
a:1 decline g
  a:1 join g: EXISTS
a:2 decline g
  a:2 join g: SUCCESS
  a:0 hears INVITE_DECLINED g by a:2 about a:2
  a:0 hears INVITE_FAILED g by a:0 about a:2
  a:0 hears CONSTRUCT_ABORT g by a:0
  a:1 hears CONSTRUCT_ABORT g by a:0
  a:2 hears CONSTRUCT_ABORT g by a:0
  a:0 invite g: GROUP_CONSTRUCT_ABORT
  a:1 join g: GROUP_CONSTRUCT_ABORT
a:1 accept g
  a:1 join g: ERR_NOT_FOUND
)");
}

CAF_TEST(G36 case 160 two invitations with opposite answers do not mix) {
  plays(R"(
nodes a:0 a:1 | a:2
a:0 invite one a:0 a:2
  a:2 hears INVITED one by a:0
a:0 invite two a:0 a:2
  a:2 hears INVITED two by a:0
a:2 accept two
  a:0 hears INVITE_ACCEPTED two by a:2 about a:2
  a:0 hears CONSTRUCT_COMPLETE two by a:0 members a:0 a:2
  a:2 hears CONSTRUCT_COMPLETE two by a:0 members a:0 a:2
  a:0 invite two: SUCCESS a:0 a:2
  a:2 join two: SUCCESS a:0 a:2
a:2 decline one
  a:2 join one: SUCCESS
  a:0 hears INVITE_DECLINED one by a:2 about a:2
  a:0 hears INVITE_FAILED one by a:0 about a:2
  a:0 hears CONSTRUCT_ABORT one by a:0
  a:2 hears CONSTRUCT_ABORT one by a:0
  a:0 invite one: GROUP_CONSTRUCT_ABORT
)");
}

CAF_TEST(G36 case 161 two leaders invite to groups of one name) {
  plays(R"(
nodes a:0 a:1 | a:2
a:0 invite g a:0 a:2
  a:2 hears INVITED g by a:0
a:1 invite g a:1 a:2
  a:2 hears INVITED g by a:1
a:2 decline g of a:0
  a:2 join g: SUCCESS
  a:0 hears INVITE_DECLINED g by a:2 about a:2
  a:0 hears INVITE_FAILED g by a:0 about a:2
  a:0 hears CONSTRUCT_ABORT g by a:0
  a:2 hears CONSTRUCT_ABORT g by a:0
  a:0 invite g: GROUP_CONSTRUCT_ABORT
a:2 accept g of a:1
  a:1 hears INVITE_ACCEPTED g by a:2 about a:2
  a:1 hears CONSTRUCT_COMPLETE g by a:1 members a:1 a:2
  a:2 hears CONSTRUCT_COMPLETE g by a:1 members a:1 a:2
  a:1 invite g: SUCCESS a:1 a:2
  a:2 join g: SUCCESS a:1 a:2
)");
}

CAF_TEST(G48 case 162 whoever joins a wrong leader is refused) {
  plays(R"(
nodes a:0 a:1 | a:2
a:0 invite g a:0 a:2
  a:2 hears INVITED g by a:0
a:2 accept g of a:1
  a:2 join g: ERR_BAD_PARAM
a:2 accept g of a:0
  a:0 hears INVITE_ACCEPTED g by a:2 about a:2
  a:0 hears CONSTRUCT_COMPLETE g by a:0 members a:0 a:2
  a:2 hears CONSTRUCT_COMPLETE g by a:0 members a:0 a:2
  a:0 invite g: SUCCESS a:0 a:2
  a:2 join g: SUCCESS a:0 a:2
)");
}

CAF_TEST(G51 case 163 a join ends in time when nothing comes of it) {
  plays(R"(
nodes a:0 a:1 | a:2
a:0 invite g a:0 a:1 a:2
  a:1 hears INVITED g by a:0
  a:2 hears INVITED g by a:0
a:2 accept g timeout=2
  a:0 hears INVITE_ACCEPTED g by a:2 about a:2
wait 3
  a:2 join g: ERR_TIMEOUT
)");
}

CAF_TEST(G27 G30 G48 case 163 a join ends when its leader dies and nobody leads) {
  plays(R"(
nodes a:0 | a:1 | a:2
a:0 invite g a:0 a:1 a:2
  a:1 hears INVITED g by a:0
  a:2 hears INVITED g by a:0
a:2 accept g
  a:0 hears INVITE_ACCEPTED g by a:2 about a:2
a:0 dies
  a:1 hears LEADER_FAILED g about a:0 ?
  a:2 hears LEADER_FAILED g about a:0 ?
  a:1 hears LEADER_SELECTED g accepted a:2 pending a:1 status PMIX_GROUP_LEADER_FAILED
  a:2 hears LEADER_SELECTED g accepted a:2 pending a:1 status PMIX_GROUP_LEADER_FAILED
  a:2 join g: GROUP_LEADER_FAILED
  a:1 hears CONSTRUCT_ABORT g
  a:2 hears CONSTRUCT_ABORT g
)");
}

CAF_TEST(G27 G28 G29 case 163 a new leader completes an invitation) {
  plays(R"(
nodes a:0 | a:1 | a:2 | a:3
a:2 on LEADER_FAILED nominate
a:0 invite g a:0 a:1 a:2 a:3
  a:1 hears INVITED g by a:0
  a:2 hears INVITED g by a:0
  a:3 hears INVITED g by a:0
a:2 accept g
  a:0 hears INVITE_ACCEPTED g by a:2 about a:2
a:3 accept g
  a:0 hears INVITE_ACCEPTED g by a:3 about a:3
lose 0
  a:1 hears LEADER_FAILED g about a:0 ?
  a:2 hears LEADER_FAILED g about a:0 ?
  a:3 hears LEADER_FAILED g about a:0 ?
  a:1 hears LEADER_SELECTED g about a:2 leader a:2 accepted a:2 a:3 pending a:1
  a:2 hears LEADER_SELECTED g about a:2 leader a:2 accepted a:2 a:3 pending a:1
  a:3 hears LEADER_SELECTED g about a:2 leader a:2 accepted a:2 a:3 pending a:1
a:1 accept g of a:0
  a:2 hears INVITE_ACCEPTED g by a:1 about a:1
  a:1 hears CONSTRUCT_COMPLETE g by a:2 members a:1 a:2 a:3
  a:2 hears CONSTRUCT_COMPLETE g by a:2 members a:1 a:2 a:3
  a:3 hears CONSTRUCT_COMPLETE g by a:2 members a:1 a:2 a:3
  a:1 join g: SUCCESS a:1 a:2 a:3
  a:2 join g: SUCCESS a:1 a:2 a:3
  a:3 join g: SUCCESS a:1 a:2 a:3
)");
}

CAF_TEST(G45 G46 case 148 case 164 an abort by the leader reaches all) {
  plays(R"(
nodes a:0 | a:1 | a:2
a:0 invite g a:0 a:1 a:2
  a:1 hears INVITED g by a:0
  a:2 hears INVITED g by a:0
a:1 accept g
  a:0 hears INVITE_ACCEPTED g by a:1 about a:1
a:1 destruct g
  a:1 destruct g: ERR_NOT_FOUND
a:0 raises CONSTRUCT_ABORT g a:0 a:1 a:2
  a:1 hears CONSTRUCT_ABORT g by a:0
  a:2 hears CONSTRUCT_ABORT g by a:0
  a:0 invite g: GROUP_CONSTRUCT_ABORT
  a:1 join g: GROUP_CONSTRUCT_ABORT
)");
}
