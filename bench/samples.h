/* What the programs of this folder have in common: they take samples and write
 * them, a line `NAME FIGURE` each, into a file. */

#ifndef TROUPE_BENCH_SAMPLES_H
#define TROUPE_BENCH_SAMPLES_H

#include <errno.h>
#include <pmix.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct sample {
  const char* name;
  double figure;
};

static struct sample samples[1 << 16];
static size_t num_samples;
static const char* out_file;

static pmix_proc_t self;
static uint32_t job_size = 1;

static inline int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void record(const char* name, double figure) {
  if (num_samples < sizeof(samples) / sizeof(samples[0]))
    samples[num_samples++] = (struct sample){name, figure};
}

static inline void record_us(const char* name, int64_t elapsed_ns) {
  record(name, (double)elapsed_ns / 1000.0);
}

static inline void check(pmix_status_t status, const char* what) {
  if (status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED)
    return;
  fprintf(stderr, "%s: rank %u: %s: %s\n", program_invocation_short_name,
          self.rank, what, PMIx_Error_string(status));
  exit(1);
}

/* Of rank 0, or of a tool. */
static inline void write_samples(void) {
  if (self.rank != 0 || out_file == NULL)
    return;
  FILE* out = fopen(out_file, "w");
  if (out == NULL) {
    perror(out_file);
    exit(1);
  }
  for (size_t i = 0; i < num_samples; ++i)
    fprintf(out, "%s %.3f\n", samples[i].name, samples[i].figure);
  fclose(out);
}

/* A number of /proc/self/status, such as `VmRSS:`. */
static inline long own_status(const char* label) {
  char line[256];
  long result = 0;
  FILE* in = fopen("/proc/self/status", "r");
  while (in != NULL && fgets(line, sizeof(line), in) != NULL)
    if (strncmp(line, label, strlen(label)) == 0)
      result = atol(line + strlen(label));
  if (in != NULL)
    fclose(in);
  return result;
}

static inline void ask_job_size(void) {
  pmix_proc_t job;
  PMIX_LOAD_PROCID(&job, self.nspace, PMIX_RANK_WILDCARD);
  pmix_value_t* val = NULL;
  check(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &val), "the job's size");
  job_size = val->data.uint32;
  PMIX_VALUE_RELEASE(val);
}

/* What a program does, chosen by its first argument. */
struct mode {
  const char* name;
  void (*run)(void);
};

#define FIND_MODE(modes, name)                                                 \
  find_mode(modes, sizeof(modes) / sizeof((modes)[0]), name)

static inline void (*find_mode(const struct mode* modes, size_t n,
                               const char* name))(void) {
  for (size_t i = 0; i < n; ++i)
    if (name != NULL && strcmp(modes[i].name, name) == 0)
      return modes[i].run;
  return NULL;
}

#endif
