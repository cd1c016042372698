// Output of processes in real files.

#include "adapters/log/output_files.hpp"

#include "adapters/loop/thread_pool.hpp"
#include "tests/adapters/log/output_files_world.hpp"

using namespace troupe;
using namespace troupe::fixtures;
using namespace troupe::fixtures::files_of_output;

CAF_TEST_FIXTURE_SCOPE(output_files_tests, output_files_world)

CAF_TEST(I16 streams go to files of their own byte for byte) {
  job.wiring.file = folder / "new/folder/run";
  start();
  const auto bytes = std::string{"no newline \x1b[31m\0\xff", 19};
  put(0, bytes);
  put(1, "one");
  put(0, "error\n", err);
  put(0, "more");
  CAF_CHECK(content("new/folder/run.job-1.0.out") == bytes + "more");
  CAF_CHECK_EQUAL(content("new/folder/run.job-1.1.out"), "one");
  CAF_CHECK_EQUAL(content("new/folder/run.job-1.0.err"), "error\n");
  CAF_CHECK_EQUAL(names(folder / "new/folder").size(), 3u); // 205
  CAF_CHECK_EQUAL(mode_of("new/folder/run.job-1.0.out") & ~022u, 0644u & ~022u);
  CAF_CHECK_EQUAL(mode_of("new/folder"), 0750u);
  CAF_CHECK(warnings.empty());
}

CAF_TEST(I16 a directory has a folder for each rank and merge has one file) {
  job.wiring.directory = folder.path();
  start();
  put(1, "out\n");
  put(1, "err\n", err);
  CAF_CHECK_EQUAL(content("job-1/rank.1/stdout"), "out\n");
  CAF_CHECK_EQUAL(content("job-1/rank.1/stderr"), "err\n");
  job.wiring.merge = true;
  job.wiring.directory = folder / "merged";
  start();
  put(1, "out\n");
  put(1, "err\n", err);
  end(1);
  end(1, err);
  put(1, "diag\n", io_channels::stddiag); // Its file has been closed.
  CAF_CHECK_EQUAL(content("merged/job-1/rank.1/stdout"), "out\nerr\ndiag\n");
  CAF_CHECK_EQUAL(names(folder / "merged/job-1/rank.1").size(), 1u);
}

CAF_TEST(I16 a file begins anew in each job and one for all is continued) {
  folder.file("run.job-1.0.out", "old");
  folder.file("all.out", "old\n");
  job.wiring.file = folder / "run";
  start();
  put(0, "new");
  CAF_CHECK_EQUAL(content("run.job-1.0.out"), "new");
  job.wiring.file = folder / "all";
  job.wiring.file_is_pattern = true;
  start();
  put(0, "be");
  put(1, "other\n");
  put(0, "gun\n");
  end(0);
  put(1, "last");
  end(1);
  CAF_CHECK_EQUAL(content("all.out"), "old\nother\nbegun\nlast\n"); // 206
}

CAF_TEST(I16 output is formatted in files too) {
  job.wiring.file = folder / "run";
  job.wiring.format.tag = true;
  start();
  put(0, "a\nb");
  put(0, "c\n", out, 55);
  CAF_CHECK_EQUAL(content("run.job-1.0.out"),
                  "[job-1,0]<stdout>: a\n[job-1,0]<stdout>: b\n"
                  "[job-1,0]<stdout>: [troupe: 55 bytes are missing here]\n"
                  "[job-1,0]<stdout>: c\n");
}

CAF_TEST(I18 what a stream has lost is told in its file) {
  job.wiring.file = folder / "run";
  start();
  put(0, "half");
  put(0, "rest", out, 7);
  CAF_CHECK_EQUAL(content("run.job-1.0.out"),
                  "half\n[troupe: 7 bytes are missing here]\nrest");
}

CAF_TEST(I18 a full disk costs what does not fit and is told once) {
  job.wiring.file = folder / "run";
  start();
  medium->room = 5;
  put(0, "12345678\n"); // The job goes on.
  put(0, "lost\n");
  put(1, "lost too\n");
  CAF_REQUIRE_EQUAL(warnings.size(), 1u);
  CAF_CHECK(warnings[0].find(folder / "run.job-1.0.out") != std::string::npos);
  CAF_CHECK(warnings[0].find("No space left on device") != std::string::npos);
  CAF_CHECK(warnings[0].find("make room") != std::string::npos);
  CAF_CHECK_EQUAL(content("run.job-1.0.out"), "12345");
  medium->room = 3; // Not enough to tell what is missing.
  put(0, "lost\n");
  CAF_CHECK_EQUAL(content("run.job-1.0.out"), "12345");
  medium->room = SIZE_MAX;
  put(0, "later\n");
  CAF_CHECK_EQUAL(content("run.job-1.0.out"),
                  "12345\n[troupe: 14 bytes are missing here: "
                  "No space left on device]\nlater\n");
  end(0);
  CAF_CHECK_EQUAL(warnings.size(), 1u);
  end(1);
  CAF_CHECK_EQUAL(content("run.job-1.1.out"),
                  "[troupe: 9 bytes are missing here: "
                  "No space left on device]\n");
  CAF_REQUIRE_EQUAL(warnings.size(), 2u);
  CAF_CHECK_EQUAL(warnings[1],
                  "23 bytes of output of job-1 are missing from 2 files, the "
                  "first is "
                    + folder / "run.job-1.0.out");
}

CAF_TEST(I18 what is written and what is missing add up to the stream) {
  std::mt19937 random{18};
  job.wiring.file = folder / "run";
  start();
  uint64_t given = 0;
  for (int i = 0; i < 200; ++i) {
    medium->room = random() % 3 == 0 ? SIZE_MAX : random() % 300;
    const auto bytes = std::string(1 + random() % 200, 'x');
    given += bytes.size();
    put(0, bytes);
  }
  medium->room = SIZE_MAX;
  end(0);
  const auto text = content("run.job-1.0.out");
  auto seen = static_cast<uint64_t>(std::count(text.begin(), text.end(), 'x'));
  const std::string mark = "[troupe: ";
  uint64_t missing = 0;
  for (auto at = text.find(mark); at != std::string::npos;
       at = text.find(mark, at + 1))
    missing += std::stoull(text.substr(at + mark.size()));
  CAF_CHECK(missing > 0);
  CAF_CHECK_EQUAL(seen + missing, given);
  CAF_CHECK(warnings.back().find(std::to_string(missing) + " bytes") == 0);
}

CAF_TEST(I18 a file that was lost is opened again) {
  job.wiring.file = folder / "run";
  start();
  put(0, "first\n");
  medium->room = 0;
  medium->error = EIO;
  put(0, "lost\n");
  medium->room = SIZE_MAX;
  put(0, "second\n");
  CAF_CHECK_EQUAL(content("run.job-1.0.out"),
                  "first\n[troupe: 5 bytes are missing here: "
                  "Input/output error]\nsecond\n");
  CAF_REQUIRE_EQUAL(warnings.size(), 1u);
  CAF_CHECK(warnings[0].find("file system") != std::string::npos);
}

CAF_TEST(I18 a disk that hangs holds up its job and not the loop) {
  job.wiring.file = folder / "run";
  start();
  medium->hangs = true;
  const auto answer = write(0, "x");
  auto turns = 0;
  run_until([&] { return ++turns > 5; });
  CAF_CHECK(!answer->has_come());
  const auto other = write(1, "y");
  run_for(5ms);
  CAF_CHECK(!other->has_come());
  medium->hangs = false;
  CAF_CHECK(run_until([&] { return answer->has_come() && other->has_come(); }));
  CAF_CHECK_EQUAL(content("run.job-1.0.out"), "x");
  CAF_CHECK_EQUAL(content("run.job-1.1.out"), "y");
}

CAF_TEST(I18 without threads nothing is written and everybody is answered) {
  job.wiring.file = folder / "run";
  pool = std::make_shared<thread_pool>(sys.loop(),
                                       thread_pool::limits{1, 1, 1s, 1s});
  std::atomic<bool> is_free{false};
  const auto hold = [&is_free] {
    while (!is_free)
      std::this_thread::sleep_for(1ms);
  };
  while (pool->post(hold, [] {})) {
    // All threads, and all places.
  }
  start();
  const auto late = write(0, "late");
  run_for(5ms);
  CAF_CHECK(!late->has_come());
  is_free = true;
  CAF_CHECK(run_until([&] { return late->has_come(); }));
  CAF_CHECK(late->value);
  CAF_CHECK_EQUAL(content("run.job-1.0.out"), "late");
  pool = nullptr;
  const auto never = write(0, "never");
  CAF_CHECK(run_until([&] { return never->has_come(); }));
  CAF_CHECK(never->refusal == status::unreach);
}

CAF_TEST(I18 a folder that cannot be written is told with the remedy) {
  job.wiring.file = folder.file("file", "") + "/below/run";
  start();
  put(0, "x");
  put(0, "y");
  end(0);
  CAF_REQUIRE_EQUAL(warnings.size(), 2u);
  CAF_CHECK(warnings[0].find("Not a directory") != std::string::npos);
  CAF_CHECK(warnings[0].find("another name") != std::string::npos);
  CAF_CHECK_EQUAL(warnings[1], "2 bytes of output of job-1 are missing from "
                               "the file "
                                 + folder / "file/below/run.job-1.0.out");
}

CAF_TEST(X31 links and special files in the place of a file are not written) {
  const auto precious = folder.file("precious", "precious");
  const auto place = folder / "run.job-1.0.out";
  job.wiring.file = folder / "run";
  const std::pair<std::function<int()>, std::string> cases[] = {
    {[&] { return symlink(precious.c_str(), place.c_str()); },
     "symbolic links"},
    {[&] { return link(precious.c_str(), place.c_str()); }, "hard links"},
    {[&] { return mkfifo(place.c_str(), 0600); }, "remove the link or special"},
    {[&] { return mkdir(place.c_str(), 0700); }, "Is a directory"},
  };
  for (const auto& [make, reason] : cases) {
    CAF_REQUIRE_EQUAL(make(), 0);
    start();
    warnings.clear(); // Of the one before, what it has lost.
    offsets.clear();
    put(0, "x");
    CAF_REQUIRE_EQUAL(warnings.size(), 1u);
    CAF_CHECK(warnings[0].find(reason) != std::string::npos);
    CAF_CHECK_EQUAL(content("precious"), "precious");
    std::filesystem::remove(place);
  }
}

CAF_TEST(X31 folders that are made up are not links) {
  CAF_REQUIRE_EQUAL(mkdir((folder / "elsewhere").c_str(), 0700), 0);
  job.wiring.directory = folder / "dir";
  CAF_REQUIRE_EQUAL(mkdir((folder / "dir").c_str(), 0700), 0);
  CAF_REQUIRE_EQUAL(
    symlink((folder / "elsewhere").c_str(), (folder / "dir/job-1").c_str()), 0);
  start();
  put(0, "x");
  CAF_CHECK_EQUAL(warnings.size(), 1u);
  CAF_CHECK(names(folder / "elsewhere").empty());
  // What the user named himself may be one.
  CAF_REQUIRE_EQUAL(
    symlink((folder / "elsewhere").c_str(), (folder / "link").c_str()), 0);
  job.wiring.directory = folder / "link";
  start();
  warnings.clear();
  offsets.clear();
  put(0, "x");
  CAF_CHECK(warnings.empty());
  CAF_CHECK_EQUAL(content("elsewhere/job-1/rank.0/stdout"), "x");
}

CAF_TEST(I16 output is kept until there is enough or it has waited) {
  job.wiring.file = folder / "run";
  job.wiring.format.buffer_size = 6;
  job.wiring.format.buffer_time = 1;
  start();
  put(0, "abc");
  CAF_CHECK(names(folder.path()).empty());
  put(0, "def");
  CAF_CHECK_EQUAL(content("run.job-1.0.out"), "abcdef");
  put(0, "gh");
  CAF_CHECK_EQUAL(content("run.job-1.0.out"), "abcdef");
  CAF_CHECK(
    run_until([&] { return content("run.job-1.0.out") == "abcdefgh"; }, 5s));
  put(0, "i");
  end(0);
  CAF_CHECK_EQUAL(content("run.job-1.0.out"), "abcdefghi");
}

CAF_TEST(I16 marks have the host of this node and the process number) {
  job.wiring.file = folder / "run";
  job.wiring.format.tag_detailed = true;
  start();
  const auto answer =
    request<ack>(uut, io_fragment{{proc(0), out}, 0, "a\n", 0, false, 0, 17});
  CAF_REQUIRE(run_until([&] { return answer->has_come(); }));
  CAF_CHECK_EQUAL(content("run.job-1.0.out"),
                  "[job-1,0][here:17]<stdout>: a\n");
}

CAF_TEST(a job has few files open however many it writes) {
  output_file_set uut{3};
  job.wiring.file = folder / "run";
  job.size = 10;
  for (int round = 0; round < 3; ++round)
    for (uint32_t rank = 0; rank < 10; ++rank) {
      const auto file = file_of(job, {proc(rank), out});
      CAF_CHECK(uut.append(file, "x").why.reason.empty());
      CAF_CHECK(uut.open() <= 3);
    }
  for (uint32_t rank = 0; rank < 10; ++rank)
    uut.close(file_of(job, {proc(rank), out}));
  CAF_CHECK_EQUAL(uut.open(), 0u);
  for (const auto& name : names(folder.path()))
    CAF_CHECK_EQUAL(content(name), "xxx");
}

CAF_TEST_FIXTURE_SCOPE_END()
