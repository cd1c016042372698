// Which files the output of a job goes to.

#include "actors/io/output_file.hpp"

#include "tests/test.hpp"

using namespace troupe;

namespace {

constexpr auto out = io_channels::stdout_;
constexpr auto err = io_channels::stderr_;
constexpr auto diag = io_channels::stddiag;

struct named {
  io_job_begun job;

  explicit named(std::string file, bool is_pattern = false) {
    job.nspace = "run@1";
    job.size = 1;
    job.wiring.file = std::move(file);
    job.wiring.file_is_pattern = is_pattern;
  }

  std::string operator()(uint32_t rank, io_channels channel = out,
                         const std::string& nspace = "run@1") const {
    return path_of(file_of(job, {{nspace, rank}, channel}));
  }
};

} // namespace

CAF_TEST(I16 files are named with the namespace and the rank) {
  auto uut = named{"/tmp/x"};
  CAF_CHECK(has_files(uut.job.wiring));
  CAF_CHECK_EQUAL(uut(0), "/tmp/x.run@1.0.out");
  CAF_CHECK_EQUAL(uut(0, err), "/tmp/x.run@1.0.err");
  CAF_CHECK_EQUAL(uut(0, diag), "/tmp/x.run@1.0.diag");
  uut.job.size = 9;
  CAF_CHECK_EQUAL(uut(8), "/tmp/x.run@1.8.out");
  uut.job.size = 10; // OpenPMIx counts the digits of the size.
  CAF_CHECK_EQUAL(uut(8), "/tmp/x.run@1.08.out");
  uut.job.size = 1000;
  CAF_CHECK_EQUAL(uut(999), "/tmp/x.run@1.0999.out");
  uut.job.size = 0; // Not known.
  CAF_CHECK_EQUAL(uut(12), "/tmp/x.run@1.12.out");
  uut.job.wiring.merge = true;
  CAF_CHECK_EQUAL(uut(0, err), "/tmp/x.run@1.0.out");
  CAF_CHECK_EQUAL(uut(0, diag), "/tmp/x.run@1.0.out");
  CAF_CHECK(!has_files(io_wiring{}));
}

CAF_TEST(I16 directories have a folder for each job and rank) {
  auto uut = named{""};
  uut.job.wiring.directory = "results/";
  uut.job.size = 24;
  CAF_CHECK_EQUAL(uut(3), "results/run@1/rank.03/stdout");
  CAF_CHECK_EQUAL(uut(3, err), "results/run@1/rank.03/stderr");
  CAF_CHECK_EQUAL(uut(3, diag), "results/run@1/rank.03/stddiag");
  uut.job.wiring.merge = true;
  CAF_CHECK_EQUAL(uut(3, err), "results/run@1/rank.03/stdout");
  const auto file = file_of(uut.job, {{"run@1", 3}, out});
  CAF_CHECK_EQUAL(file.folder, "results/");
  CAF_CHECK(file.below == (std::vector<std::string>{"run@1", "rank.03"}));
  CAF_CHECK(!file.is_shared);
}

CAF_TEST(I16 patterns name the namespace and the rank where they like) {
  auto uut = named{"/tmp/%n/out-%r-%%-%x", true};
  uut.job.size = 12;
  CAF_CHECK_EQUAL(uut(3, err), "/tmp/run@1/out-03-%-%x.err");
  const auto file = file_of(uut.job, {{"run@1", 3}, out});
  CAF_CHECK_EQUAL(file.folder, "/tmp");
  CAF_CHECK(file.below == std::vector<std::string>{"run@1"});
  CAF_CHECK_EQUAL(file.name, "out-03-%-%x.out");
  CAF_CHECK(!file.is_shared);
}

CAF_TEST(I16 a pattern without the rank is one file for all) {
  auto uut = named{"all", true};
  CAF_CHECK(!file_of(uut.job, {{"run@1", 0}, out}).is_shared);
  uut.job.size = 2;
  CAF_CHECK(file_of(uut.job, {{"run@1", 0}, out}).is_shared);
  CAF_CHECK_EQUAL(uut(1), "./all.out");
  CAF_CHECK_EQUAL(named("/all", true)(1), "/all.out");
  CAF_CHECK_EQUAL(named("/a/%n", true)(1), "/a/run@1.out");
}

CAF_TEST(X31 a namespace cannot lead out of its folder) {
  auto uut = named{""};
  uut.job.wiring.directory = "/d";
  CAF_CHECK_EQUAL(uut(0, out, "../../etc"), "/d/.._.._etc/rank.0/stdout");
  CAF_CHECK_EQUAL(uut(0, out, ".."), "/d/_../rank.0/stdout");
  CAF_CHECK_EQUAL(uut(0, out, "."), "/d/_./rank.0/stdout");
  CAF_CHECK_EQUAL(uut(0, out, ""), "/d/_/rank.0/stdout");
  CAF_CHECK_EQUAL(uut(0, out, "a\nb"), "/d/a_b/rank.0/stdout");
  const auto file = named{"/t/x"};
  CAF_CHECK_EQUAL(file(0, out, "/../y"), "/t/x._.._y.0.out");
}
