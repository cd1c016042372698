// When a peer has to be told that what it sent has come.

#include "adapters/local/acknowledgement_rule.hpp"

#include "tests/test.hpp"

using namespace troupe;

namespace {

/// Answers that a peer waits for until it need not be told; most when it never may.
uint32_t waits_until_trusted(acknowledgement_rule& uut) {
  auto result = uint32_t{0};
  for (; !uut.may_wait() && result < 2 * uut.most_waits; ++result) {
    uut.note_read();
    uut.note_sent();
  }
  return result;
}

} // namespace

CAF_TEST(what was read is owed until something is sent or the peer is told) {
  auto uut = acknowledgement_rule{};
  CAF_CHECK(!uut.is_owed());
  uut.note_read();
  CAF_CHECK(uut.is_owed());
  uut.note_sent();
  CAF_CHECK(!uut.is_owed());
  uut.note_read();
  uut.note_told();
  CAF_CHECK(!uut.is_owed());
  uut.note_read();
  CAF_CHECK(uut.is_owed());
}

CAF_TEST(a peer that waits for its answers may wait for the word) {
  auto uut = acknowledgement_rule{};
  CAF_CHECK(!uut.may_wait());
  CAF_CHECK_EQUAL(waits_until_trusted(uut), uut.least_waits);
  // Neither what nobody has asked for nor the word itself changes that.
  uut.note_sent();
  uut.note_read();
  uut.note_told();
  uut.note_sent();
  CAF_CHECK(uut.may_wait());
}

CAF_TEST(what nobody has asked for is no answer that the peer has waited for) {
  auto uut = acknowledgement_rule{};
  for (uint32_t i = 0; i < 2 * uut.least_waits; ++i)
    uut.note_sent();
  CAF_CHECK(!uut.may_wait());
}

CAF_TEST(a peer that goes on without an answer is told at once again) {
  auto uut = acknowledgement_rule{};
  for (const auto expected :
       {16u, 32u, 64u, 128u, 256u, 512u, 1024u, 2048u, 4096u, 4096u}) {
    CAF_CHECK_EQUAL(waits_until_trusted(uut), expected);
    uut.note_read();
    uut.note_told();
    uut.note_read();
    // Another one, with which the next round begins, costs nothing more.
    CAF_CHECK(!uut.may_wait());
  }
}
