#pragma once

#include "adapters/log/output_files.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "tests/adapters/process/world.hpp"

#include <sys/stat.h>

#include <atomic>
#include <random>

namespace troupe::fixtures::files_of_output {

using fixtures::answer_to;
using namespace std::chrono_literals;

inline constexpr auto out = io_channels::stdout_;
inline constexpr auto err = io_channels::stderr_;

/// A disk that is full when the test says so.
struct disk {
  std::atomic<size_t> room{SIZE_MAX};
  std::atomic<int> error{ENOSPC};
  std::atomic<bool> hangs{false};
};

struct output_files_world : fixtures::world {
  fixtures::scratch_folder folder;
  std::vector<std::string> warnings;
  std::shared_ptr<thread_pool> pool = std::make_shared<thread_pool>(sys.loop());
  std::shared_ptr<disk> medium = std::make_shared<disk>();
  io_job_begun job;
  output_sink_actor uut;
  std::map<std::pair<proc_id, io_channels>, uint64_t> offsets;

  output_files_world() {
    job.nspace = "job-1";
    job.size = 2;
  }

  ~output_files_world() {
    medium->hangs = false;
    uut = nullptr;
  }

  void start() {
    output_files_settings settings;
    settings.pool = pool;
    settings.host_of = [](const proc_id&) { return "here"; };
    settings.log = [this](severity how, const std::string& line) {
      CAF_CHECK(how == severity::warning);
      warnings.push_back(line);
    };
    settings.write = [m = medium](int fd, const char* bytes, size_t size) {
      while (m->hangs)
        std::this_thread::sleep_for(1ms);
      const auto now = std::min<size_t>(size, m->room);
      if (now == 0) {
        errno = m->error;
        return ssize_t{-1};
      }
      if (m->room != SIZE_MAX)
        m->room -= now;
      return ::write(fd, bytes, now);
    };
    uut = spawn_output_files(sys.actors(), job, settings);
  }

  std::shared_ptr<answer_to<ack>> write(uint32_t rank, const std::string& bytes,
                                        io_channels channel = out,
                                        uint64_t missed = 0) {
    const auto who = proc(rank);
    auto& offset = offsets[{who, channel}];
    offset += missed;
    io_fragment x{{who, channel}, offset, bytes, missed, bytes.empty(), 0};
    offset += bytes.size();
    return request<ack>(uut, x);
  }

  void put(uint32_t rank, const std::string& bytes, io_channels channel = out,
           uint64_t missed = 0) {
    const auto answer = write(rank, bytes, channel, missed);
    CAF_REQUIRE(run_until([&] { return answer->has_come(); }));
    CAF_REQUIRE(answer->value);
  }

  void end(uint32_t rank, io_channels channel = out) {
    put(rank, {}, channel);
  }

  std::string content(const std::string& name) const {
    std::ifstream in{folder / name};
    CAF_REQUIRE(in);
    return {std::istreambuf_iterator<char>{in}, {}};
  }

  static std::vector<std::string> names(const std::string& path) {
    std::vector<std::string> result;
    for (const auto& x : std::filesystem::directory_iterator(path))
      result.push_back(x.path().filename());
    std::sort(result.begin(), result.end());
    return result;
  }

  mode_t mode_of(const std::string& name) const {
    struct stat found {};
    CAF_REQUIRE_EQUAL(stat((folder / name).c_str(), &found), 0);
    return found.st_mode & 07777;
  }
};

} // namespace troupe::fixtures::files_of_output
