/* Fences, data of others, and notifications for as long as it is told to.
 *
 *   steady SECONDS FILE [PROCESSES...]
 *
 * Rank 0 ends it, earlier if there is a file FILE.enough: it writes the number
 * of the last round to FILE, which all processes see, before it joins that
 * round. It prints `all go on` when each has done all of this once, each pause
 * of more than 20 ms, `pause 123 ms until 1700000000.123` (the wall clock, to
 * compare with when something was done to a network), and at the end `1234
 * rounds, longest pause 123 ms`. */

#include "../../interop/programs/client.h"

enum { data_every = 10, shown_ms = 20, max_rounds = 1000000 };

static long last_round(const char* file) {
  long result = max_rounds;
  FILE* in = fopen(file, "r");
  if (in == NULL)
    return result;
  if (fscanf(in, "%ld", &result) != 1)
    result = max_rounds;
  fclose(in);
  return result;
}

static bool is_enough(const char* file) {
  char name[4096];
  snprintf(name, sizeof name, "%s.enough", file);
  return access(name, F_OK) == 0;
}

static void end_with(const char* file, long round) {
  char name[4096];
  snprintf(name, sizeof name, "%s.part", file);
  FILE* out = fopen(name, "w");
  demand(out != NULL, "a file for the end");
  fprintf(out, "%ld\n", round);
  fclose(out);
  demand(rename(name, file) == 0, "a file for the end");
}

/* Each gives a text and reads the next one's. */
static void exchange(long round) {
  char key[64];
  char text[64];
  snprintf(key, sizeof key, "steady.%ld", round);
  snprintf(text, sizeof text, "of %u in %ld", me.rank, round);
  post(key, text);
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  pmix_info_t with_data = flag_info(PMIX_COLLECT_DATA);
  succeed(PMIx_Fence(&all, 1, &with_data, round % (2 * data_every) == 0),
          "fence after data");
  const pmix_proc_t next = rank_of((me.rank + 1) % job_size);
  snprintf(text, sizeof text, "of %u in %ld", next.rank, round);
  expect_string(&next, key, text, 30);
}

static double wall_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: steady SECONDS FILE\n");
    return 2;
  }
  begin();
  meet();
  const double deadline = now() + atof(argv[1]);
  double longest = 0;
  long round = 0;
  for (bool over = false; !over; ++round) {
    const double start = now();
    if (me.rank == 0 && (start >= deadline || is_enough(argv[2])))
      end_with(argv[2], round);
    if (round % data_every == 0)
      exchange(round);
    else
      meet();
    const double pause = now() - start;
    if (pause > longest)
      longest = pause;
    if (me.rank == 0 && pause * 1e3 > shown_ms) {
      printf("pause %.0f ms until %.3f\n", pause * 1e3, wall_clock());
      fflush(stdout);
    }
    if (me.rank == 0 && round == 2 * data_every) {
      printf("all go on\n");
      fflush(stdout);
    }
    over = round >= last_round(argv[2]);
    pause_ms(1);
  }
  if (me.rank == 0)
    printf("%ld rounds, longest pause %.0f ms\n", round, longest * 1e3);
  end();
  return 0;
}
