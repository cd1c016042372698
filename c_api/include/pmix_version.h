/* The release of PMIx whose API these headers offer: all of 4.2, and what came
 * after it that leaves 4.2 as it is. Consumers refuse another major number than
 * the one they were built with, so this stays 4. */

#ifndef TROUPE_PMIX_VERSION_H
#define TROUPE_PMIX_VERSION_H

#define PMIX_VERSION_MAJOR 4L
#define PMIX_VERSION_MINOR 2L
#define PMIX_VERSION_RELEASE 9L

#define PMIX_NUMERIC_VERSION 0x00040209

#endif
