/* What the programs of this folder check with. Without a server around, a call
 * that needs one answers PMIX_ERR_INIT at once, whatever its arguments. */

#ifndef TROUPE_TEST_EXPECT_H
#define TROUPE_TEST_EXPECT_H

#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>
#include <stdio.h>

static int failures = 0;

static inline void expect_true(int holds, const char* text, int line) {
  if (!holds) {
    ++failures;
    printf("line %d: not so: %s\n", line, text);
  }
}

static inline void expect_status(pmix_status_t expected, pmix_status_t actual,
                                 const char* text, int line) {
  if (actual != expected) {
    ++failures;
    printf("line %d: %d instead of %d: %s\n", line, actual, expected, text);
  }
}

#define EXPECT(condition) expect_true((condition), #condition, __LINE__)
#define EXPECT_STATUS(expected, call)                                          \
  expect_status((expected), (call), #call, __LINE__)
#define EXPECT_NO_SERVER(call) EXPECT_STATUS(PMIX_ERR_INIT, call)
#define EXPECT_TEXT(expected, text) EXPECT(strcmp((expected), (text)) == 0)
/* The answer is somebody else's to check; here it only has to come. */
#define CALL(call) (void)(call)

static inline int outcome(void) {
  if (failures > 0)
    printf("%d checks failed\n", failures);
  return failures > 0;
}

#endif
