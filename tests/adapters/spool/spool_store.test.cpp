// What a log keeps on disk, and what is left of it when the disk is damaged.

#include "adapters/spool/spool_store.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

using namespace troupe;

namespace {

/// A directory that goes with the test.
struct folder {
  folder() {
    auto name = std::string{"/tmp/troupe-spool-XXXXXX"};
    if (::mkdtemp(name.data()) == nullptr)
      CAF_FAIL("no directory");
    path = name;
  }

  ~folder() {
    auto ignored = std::error_code{};
    std::filesystem::permissions(path, std::filesystem::perms::owner_all,
                                 ignored);
    std::filesystem::remove_all(path, ignored);
  }

  std::string path;
};

std::string content(uint64_t number, size_t size) {
  auto result = std::to_string(number) + ' ';
  while (result.size() < size)
    result += static_cast<char>('a' + (result.size() * 7 + number) % 26);
  return result;
}

write_spool batch(uint64_t log, uint64_t first, uint64_t count,
                  size_t size = 300) {
  auto result = write_spool{log, {}};
  for (auto n = first; n < first + count; ++n)
    result.records.push_back({n, content(n, size)});
  return result;
}

std::unique_ptr<spool_store> opened(const std::string& directory) {
  auto result = spool_store::open(directory);
  if (!result)
    CAF_FAIL(reason_of(result.error()));
  return std::move(*result);
}

/// The descriptor of the file without a name below `directory`; -1: none.
int file_in(const std::string& directory) {
  auto result = -1;
  auto* all = ::opendir("/proc/self/fd");
  while (const auto* entry = ::readdir(all)) {
    const auto name = std::string{"/proc/self/fd/"} + entry->d_name;
    auto target = std::string(4096, '\0');
    const auto n = ::readlink(name.c_str(), target.data(), target.size());
    if (n > 0
        && target.substr(0, static_cast<size_t>(n)).rfind(directory, 0) == 0)
      result = std::atoi(entry->d_name);
  }
  ::closedir(all);
  return result;
}

/// How many of a log's records there are; the test fails if one is wrong.
size_t right_records(spool_store& uut, uint64_t log, uint64_t count,
                     size_t size) {
  auto request = read_spool{log, {}};
  for (uint64_t n = 1; n <= count; ++n)
    request.numbers.push_back(n);
  const auto found = uut.read(request);
  for (const auto& x : found.records)
    CAF_REQUIRE_EQUAL(x.bytes, content(x.number, size));
  return found.records.size();
}

} // namespace

CAF_TEST(LIM9 records come back as they were and in the order asked) {
  const auto where = folder{};
  const auto uut = opened(where.path);
  CAF_CHECK(!uut->write(batch(1, 1, 50)));
  CAF_CHECK(!uut->write(batch(2, 1, 3, 10)));
  const auto found = uut->read({1, {40, 3, 99, 7}});
  CAF_REQUIRE_EQUAL(found.records.size(), 3u);
  CAF_CHECK_EQUAL(found.records[0].number, 40u);
  CAF_CHECK_EQUAL(found.records[1].bytes, content(3, 300));
  CAF_CHECK_EQUAL(found.records[2].number, 7u);
  uut->erase({1, {3}});
  CAF_CHECK_EQUAL(right_records(*uut, 1, 50, 300), 49u);
  // Some that follow each other, some that do not.
  uut->erase({1, {5, 6, 7, 20, 22, 21, 40}});
  CAF_CHECK_EQUAL(right_records(*uut, 1, 50, 300), 42u);
  for (const uint64_t n : {4, 8, 19, 23, 39, 41})
    CAF_CHECK_EQUAL(uut->read({1, {n}}).records.size(), 1u);
  uut->erase({1, {}});
  CAF_CHECK_EQUAL(right_records(*uut, 1, 50, 300), 0u);
  CAF_CHECK_EQUAL(right_records(*uut, 2, 3, 10), 3u);
  CAF_CHECK(!uut->is_empty());
  uut->erase({2, {}});
  CAF_CHECK(uut->is_empty());
}

CAF_TEST(LIM9 records of any size and content are kept) {
  const auto where = folder{};
  const auto uut = opened(where.path);
  auto all = write_spool{7, {{1, {}}, {2, std::string(1, '\0')}}};
  all.records.push_back({3, std::string(size_t{1} << 20, '\xff')});
  all.records.push_back({UINT64_MAX, "last"});
  CAF_CHECK(!uut->write(all));
  const auto found = uut->read({7, {1, 2, 3, UINT64_MAX}});
  CAF_CHECK(found.records == all.records);
}

CAF_TEST(X47 the file has no name and is in the session) {
  const auto where = folder{};
  const auto uut = opened(where.path);
  for (uint64_t i = 0; i < 100; ++i)
    CAF_REQUIRE(!uut->write(batch(1, i * 64 + 1, 64, 1000)));
  CAF_CHECK(file_in(where.path) >= 0);
  CAF_CHECK(std::filesystem::is_empty(where.path));
  // Whoever takes the directory away takes nothing from us.
  std::filesystem::remove_all(where.path);
  CAF_CHECK_EQUAL(right_records(*uut, 1, 6400, 1000), 6400u);
}

CAF_TEST(X47 without a directory there is an error and no crash) {
  auto uut = spool_store::open("/proc/nowhere");
  if (!uut)
    return;
  auto err = caf::error{};
  for (uint64_t i = 0; i < 100 && !err; ++i)
    err = (*uut)->write(batch(1, i * 64 + 1, 64, 1000));
  // SQLite looks for another place; if there is one it works.
  if (!err)
    CAF_CHECK_EQUAL(right_records(**uut, 1, 6400, 1000), 6400u);
}

CAF_TEST(X47 a disk that is full fails a write and keeps what it has) {
  const auto where = folder{};
  const auto uut = opened(where.path);
  ::signal(SIGXFSZ, SIG_IGN);
  const auto limit = rlimit{4 << 20, 4 << 20};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  auto written = uint64_t{0};
  auto err = caf::error{};
  for (uint64_t i = 0; i < 200 && !err; ++i) {
    err = uut->write(batch(1, i * 64 + 1, 64, 1000));
    written += err ? 0 : 64;
  }
  CAF_CHECK(err);
  CAF_CHECK(written > 1000u);
  CAF_CHECK_EQUAL(right_records(*uut, 1, written, 1000), written);
  CAF_CHECK(uut->write(batch(2, 1, 64, 1000)));
  CAF_CHECK_EQUAL(right_records(*uut, 1, written, 1000), written);
}

CAF_TEST(X46 a flipped byte costs records and never changes one) {
  constexpr auto count = uint64_t{6400};
  auto damaged = size_t{0};
  for (off_t place = 0; place < (4 << 20); place += 163841) {
    const auto where = folder{};
    const auto uut = opened(where.path);
    for (uint64_t i = 0; i < count / 64; ++i)
      CAF_REQUIRE(!uut->write(batch(1, i * 64 + 1, 64, 1000)));
    const auto fd = file_in(where.path);
    CAF_REQUIRE(fd >= 0);
    auto byte = char{};
    CAF_REQUIRE_EQUAL(::pread(fd, &byte, 1, place), 1);
    byte = static_cast<char>(byte ^ 0x55);
    CAF_REQUIRE_EQUAL(::pwrite(fd, &byte, 1, place), 1);
    damaged += count - right_records(*uut, 1, count, 1000);
    // It goes on with others.
    uut->write(batch(2, 1, 10));
    uut->erase({1, {1, 2, 3}});
  }
  CAF_CHECK(damaged > 0u);
  CAF_CHECK(damaged < 2 * count);
}

CAF_TEST(X46 a file that is cut costs what was behind the cut) {
  constexpr auto count = uint64_t{6400};
  for (const auto size : {off_t{4 << 20}, off_t{1000000}, off_t{4097}}) {
    const auto where = folder{};
    const auto uut = opened(where.path);
    for (uint64_t i = 0; i < count / 64; ++i)
      CAF_REQUIRE(!uut->write(batch(1, i * 64 + 1, 64, 1000)));
    CAF_REQUIRE_EQUAL(::ftruncate(file_in(where.path), size), 0);
    CAF_CHECK(right_records(*uut, 1, count, 1000) < count);
    uut->write(batch(2, 1, 10));
    uut->erase({1, {}});
  }
}
