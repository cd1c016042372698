/* Prefixes of OpenPMIx's parameters, for programs that sort parameters by whom
 * they belong to (Open MPI 5). */

#ifndef TROUPE_PMIX_FRAMEWORKS_H
#define TROUPE_PMIX_FRAMEWORKS_H

#include <pmix_common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ends with NULL. */
PMIX_EXPORT extern char* pmix_framework_names[];

#ifdef __cplusplus
}
#endif

#endif
