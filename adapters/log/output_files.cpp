#include "adapters/log/output_files.hpp"

#include "actors/io/flush_timer.hpp"
#include "actors/io/output_buffers.hpp"
#include "adapters/log/local_time.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "base/answer.hpp"
#include "config/defaults.hpp"

#include <caf/all.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

namespace troupe {

// -- files -------------------------------------------------------------------

namespace {

using failure = output_file_set::failure;

/// Source: OpenPMIx 6.1, `pmix_iof_setup`.
constexpr mode_t folder_mode = S_IRWXU | S_IRGRP | S_IXGRP;
constexpr mode_t file_mode = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH;

bool is_full(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

failure explain(int error) {
  const auto reason = std::system_category().message(error);
  switch (error) {
    case ENOSPC:
      return {reason, "make room on its file system"};
    case EDQUOT:
      return {reason, "remove files, or have the quota raised"};
    case EFBIG:
      return {reason, "raise the limit of the size of files (ulimit -f)"};
    case EACCES:
    case EPERM:
    case EROFS:
      return {reason, "name a folder in which this user may write"};
    case ENOTDIR:
    case ELOOP:
    case EISDIR:
    case ENXIO:
      return {reason, "remove the link or special file in its place, or choose "
                      "another name"};
    case ENAMETOOLONG:
      return {reason, "choose a shorter name"};
    case EMFILE:
    case ENFILE:
      return {reason, "raise the limit of open files (ulimit -n)"};
    default:
      return {reason, "look after its file system"};
  }
}

failure foreign(const std::string& what) {
  return {what, "remove it or choose another name"};
}

/// Creates the folders on the way and opens the last.
unique_fd open_given(const std::string& path, int& error) {
  for (auto at = path.find('/', 1); !path.empty();
       at = path.find('/', at + 1)) {
    const auto part = path.substr(0, at);
    if (mkdir(part.c_str(), folder_mode) != 0 && errno != EEXIST
        && errno != EISDIR) {
      // A folder that is there may be in one where nothing can be created.
      struct stat found {};
      const auto reason = errno;
      if (stat(part.c_str(), &found) != 0) {
        error = reason;
        return unique_fd{};
      }
    }
    if (at == std::string::npos)
      break;
  }
  unique_fd result{::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!result)
    error = errno;
  return result;
}

failure check_owner(int fd, const char* what) {
  struct stat found {};
  if (fstat(fd, &found) != 0)
    return explain(errno);
  if (found.st_uid != geteuid())
    return foreign(std::string{what} + " belongs to user "
                   + std::to_string(found.st_uid));
  return {};
}

/// Goes down into folders that are ours, or creates them.
failure descend(unique_fd& folder, const std::vector<std::string>& below) {
  for (const auto& name : below) {
    if (mkdirat(folder.get(), name.c_str(), folder_mode) != 0
        && errno != EEXIST)
      return explain(errno);
    unique_fd next{openat(folder.get(), name.c_str(),
                          O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (!next)
      return explain(errno);
    if (auto why = check_owner(next.get(), "its folder"); !why.reason.empty())
      return why;
    folder = std::move(next);
  }
  return {};
}

failure check_file(int fd) {
  struct stat found {};
  if (fstat(fd, &found) != 0)
    return explain(errno);
  if (!S_ISREG(found.st_mode))
    return foreign("it is no regular file");
  if (found.st_nlink > 1)
    return foreign("it has other names (hard links)");
  return check_owner(fd, "it");
}

} // namespace

output_file_set::output_file_set(size_t most_open, write_function write)
  : most_open_(std::max<size_t>(most_open, 1)), write_(std::move(write)) {
  if (!write_)
    write_ = ::write;
}

output_file_set::outcome output_file_set::append(const output_file& file,
                                                 std::string_view text) {
  auto& x = entries_[path_of(file)];
  x.used = ++clock_;
  const auto lose = [&](uint64_t lost, failure why) {
    x.lost += lost;
    x.reason = why.reason;
    return outcome{lost, std::move(why)};
  };
  if (!x.fd)
    if (auto why = open(x, file); !why.reason.empty())
      return lose(text.size(), std::move(why));
  if (x.lost > 0 && !add_notice(x, file))
    return lose(text.size(), explain(errno));
  auto error = 0;
  const auto written = write_all(x, text, error);
  if (written > 0)
    x.is_within_line = text[written - 1] != '\n';
  if (written == text.size())
    return {};
  if (!is_full(error)) {
    // The descriptor may be of no use any more; the next text tries again.
    x.fd.reset();
    --open_;
  }
  return lose(text.size() - written, explain(error));
}

output_file_set::failure output_file_set::close(const output_file& file) {
  const auto found = entries_.find(path_of(file));
  if (found == entries_.end() || !found->second.fd)
    return {};
  auto& x = found->second;
  if (x.lost > 0)
    add_notice(x, file);
  --open_;
  return ::close(x.fd.release()) == 0 || errno == EINTR ? failure{}
                                                        : explain(errno);
}

output_file_set::failure output_file_set::open(entry& x,
                                               const output_file& file) {
  if (open_ >= most_open_)
    close_oldest();
  auto error = 0;
  auto folder = open_given(file.folder, error);
  if (!folder)
    return explain(error);
  if (auto why = descend(folder, file.below); !why.reason.empty())
    return why;
  unique_fd fd{openat(folder.get(), file.name.c_str(),
                      O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK
                        | O_NOCTTY | O_CLOEXEC,
                      file_mode)};
  if (!fd)
    return explain(errno);
  if (auto why = check_file(fd.get()); !why.reason.empty())
    return why;
  if (!x.was_open && !file.is_shared && ftruncate(fd.get(), 0) != 0)
    return explain(errno);
  x.fd = std::move(fd);
  x.was_open = true;
  ++open_;
  return {};
}

void output_file_set::close_oldest() {
  entry* oldest = nullptr;
  for (auto& [path, x] : entries_)
    if (x.fd && (oldest == nullptr || x.used < oldest->used))
      oldest = &x;
  if (oldest != nullptr) {
    oldest->fd.reset();
    --open_;
  }
}

/// @returns whether the file tells now what is missing; else `errno` says why.
bool output_file_set::add_notice(entry& x, const output_file& file) {
  const auto notice = (x.is_within_line ? "\n[troupe: " : "[troupe: ")
                      + std::to_string(x.lost)
                      + (x.lost == 1 ? " byte is" : " bytes are")
                      + " missing here: " + x.reason + "]\n";
  struct stat before {};
  auto error = fstat(x.fd.get(), &before) == 0 ? 0 : errno;
  if (error == 0 && write_all(x, notice, error) == notice.size()) {
    x.lost = 0;
    x.is_within_line = false;
    return true;
  }
  // Half a notice is no notice.
  if (!file.is_shared && error != 0)
    (void)(ftruncate(x.fd.get(), before.st_size) == 0);
  errno = error;
  return false;
}

size_t output_file_set::write_all(entry& x, std::string_view text, int& error) {
  size_t written = 0;
  while (written < text.size()) {
    const auto n =
      write_(x.fd.get(), text.data() + written, text.size() - written);
    if (n > 0) {
      written += static_cast<size_t>(n);
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else {
      error = n < 0 ? errno : ENOSPC;
      break;
    }
  }
  return written;
}

// -- the sink ----------------------------------------------------------------

namespace {

using namespace std::chrono_literals;

constexpr auto kept_id = uint64_t{1};
constexpr auto retry_id = uint64_t{2};
constexpr auto retry_time = 50ms;

using stream_key = std::pair<proc_id, io_channels>;

/// What waits for a file, what a thread is given, and what it finds out.
struct piece {
  output_file file;
  std::string text;
  bool is_last = false;

  /// Nothing, if the thread ran out of memory.
  std::optional<output_file_set::outcome> outcome = {};
};

/// By path.
using pieces = std::map<std::string, piece>;
using answers = std::vector<std::shared_ptr<answer<ack>>>;

/// The files of a job, and what goes on with them on threads; lives as long as
/// a thread writes.
struct job_files {
  io_job_begun job;
  output_files_settings settings;
  output_formatter formatter;

  /// For files of several processes.
  output_formatter line_formatter;
  output_buffers<std::string> kept;

  struct open_file {
    std::string path;
    output_file file;
    size_t streams = 0;
    bool is_within_line = false;
  };

  /// Streams that are not at their end, and their files by path.
  std::map<stream_key, std::shared_ptr<open_file>> streams;
  std::map<std::string, std::shared_ptr<open_file>> files;

  pieces waiting;
  answers to_answer;

  /// Only a thread touches it while `is_writing`.
  std::shared_ptr<output_file_set> set;
  bool is_writing = false;

  /// Whom to remind when there was no thread.
  caf::weak_actor_ptr self;

  // -- what has been lost ----------------------------------------------------

  std::set<std::string> told;
  uint64_t lost = 0;
  std::set<std::string> damaged;

  ~job_files() {
    tell_losses();
  }

  void log(const std::string& text) const {
    if (settings.log)
      settings.log(severity::warning, text);
  }

  void tell_losses() {
    if (lost > 0)
      log(std::to_string(lost) + " bytes of output of " + job.nspace
          + " are missing from "
          + (damaged.size() == 1
               ? std::string{"the file "}
               : std::to_string(damaged.size()) + " files, the first is ")
          + *damaged.begin());
    lost = 0;
    damaged.clear();
  }

  void note(const std::string& path, const piece& x) {
    const auto& [lost_now, why] = x.outcome.value_or(output_file_set::outcome{
      x.text.size(), {"not enough memory", "give this node more memory"}});
    if (why.reason.empty())
      return;
    if (settings.on_unwritten)
      settings.on_unwritten();
    if (lost_now > 0) {
      lost += lost_now;
      damaged.insert(path);
    }
    // One warning for each thing that can be done.
    if (told.insert(why.remedy).second)
      log("cannot write output of " + job.nspace + " to " + path + ": "
          + why.reason
          + "; the job goes on, and what cannot be written is left out: "
          + why.remedy);
  }
};

using job_files_ptr = std::shared_ptr<job_files>;

/// Hands what waits to a thread, unless one is busy with this job.
void write_on(const job_files_ptr& x);

void work_off(output_file_set& set, pieces& xs) {
  for (auto& [path, x] : xs) {
    auto outcome =
      x.text.empty() ? output_file_set::outcome{} : set.append(x.file, x.text);
    auto why = x.is_last ? set.close(x.file) : output_file_set::failure{};
    if (outcome.why.reason.empty())
      outcome.why = std::move(why);
    x.outcome = std::move(outcome);
  }
}

void finish(const job_files_ptr& x, const pieces& written,
            const answers& waiting) {
  x->is_writing = false;
  for (const auto& [path, y] : written)
    x->note(path, y);
  if (x->streams.empty() && x->waiting.empty())
    x->tell_losses();
  for (const auto& y : waiting)
    y->give(ack{});
  write_on(x);
}

void write_on(const job_files_ptr& x) {
  if (x->is_writing || x->waiting.empty())
    return;
  const auto pool = x->settings.pool.lock();
  if (!pool) {
    x->waiting.clear();
    x->to_answer.clear();
    return;
  }
  const auto batch = std::make_shared<pieces>(std::move(x->waiting));
  const auto owed = std::make_shared<answers>(std::move(x->to_answer));
  x->waiting.clear();
  x->to_answer.clear();
  x->is_writing = pool->post([set = x->set, batch] { work_off(*set, *batch); },
                             [x, batch, owed] { finish(x, *batch, *owed); });
  if (x->is_writing)
    return;
  x->waiting = std::move(*batch);
  x->to_answer = std::move(*owed);
  if (const auto self = caf::actor_cast<buffered_sink_actor>(x->self.lock()))
    caf::delayed_anon_send(self, retry_time, deadline{retry_id});
}

// -- the actor ---------------------------------------------------------------

struct output_files_state {
  static inline const char* name = "output-files";

  job_files_ptr files;
  bool timer_is_running = false;
};

TROUPE_SELF_POINTER(buffered_sink_actor, output_files_state);

void add_waiting(job_files& x, const job_files::open_file& to, std::string text,
                 bool is_last = false) {
  auto& y = x.waiting.emplace(to.path, piece{to.file, {}}).first->second;
  if (y.text.empty())
    y.text = std::move(text);
  else
    y.text += text;
  y.is_last = is_last;
}

std::shared_ptr<job_files::open_file> file_for(job_files& x,
                                               const io_stream& stream) {
  auto& known = x.streams[{stream.source, stream.channel}];
  if (known)
    return known;
  auto file = file_of(x.job, stream);
  auto path = path_of(file);
  auto& result = x.files[path];
  if (!result)
    result = std::make_shared<job_files::open_file>(
      job_files::open_file{std::move(path), std::move(file)});
  ++result->streams;
  known = result;
  return result;
}

std::string text_of(job_files& x, job_files::open_file& to, io_fragment&& y) {
  auto& formatter = to.file.is_shared ? x.line_formatter : x.formatter;
  if (!formatter.is_plain())
    return formatter.format(std::move(y));
  std::string gap;
  if (y.missed > 0)
    gap = (to.is_within_line ? "\n" : "") + missing_line(y.missed);
  auto text = formatter.format(std::move(y));
  if (!gap.empty())
    text.insert(0, gap);
  if (!text.empty())
    to.is_within_line = text.back() != '\n';
  return text;
}

caf::typed_response_promise<ack> take(self_pointer self, io_fragment& x) {
  const auto reply =
    std::make_shared<answer<ack>>(self->make_response_promise<ack>());
  auto& state = *self->state.files;
  const auto to = file_for(state, x.stream);
  const auto key = stream_key{x.stream.source, x.stream.channel};
  const auto is_end = x.is_end;
  auto text =
    state.kept.add(to->path, text_of(state, *to, std::move(x)), is_end);
  auto is_last = false;
  if (is_end) {
    state.streams.erase(key);
    is_last = --to->streams == 0;
    if (is_last)
      state.files.erase(to->path);
  }
  const auto result = reply->promise();
  if (!text.empty() || is_last) {
    add_waiting(state, *to, std::move(text), is_last);
    state.to_answer.push_back(reply);
    write_on(self->state.files);
  } else {
    reply->give(ack{});
  }
  start_flush_timer(self, state.kept, self->state.timer_is_running,
                    deadline{kept_id});
  return result;
}

void remember(self_pointer self, const deadline& x) {
  auto& files = self->state.files;
  if (x.id == kept_id) {
    self->state.timer_is_running = false;
    // Nobody waits for what is flushed: only when the last has gone.
    if (!files->is_writing && files->waiting.empty())
      for (auto& [path, text] : files->kept.take_all())
        if (const auto to = files->files.find(path); to != files->files.end())
          add_waiting(*files, *to->second, std::move(text));
    start_flush_timer(self, files->kept, self->state.timer_is_running,
                      deadline{kept_id});
  }
  write_on(files);
}

buffered_sink_actor::behavior_type output_files(self_pointer self,
                                                const job_files_ptr& files) {
  self->state.files = files;
  files->self = caf::weak_actor_ptr{self->ctrl()};
  return {
    [self](io_fragment& x) { return take(self, x); },
    [self](const deadline& x) { remember(self, x); },
  };
}

} // namespace

output_sink_actor spawn_output_files(caf::actor_system& sys,
                                     const io_job_begun& job,
                                     output_files_settings settings) {
  const auto files = std::make_shared<job_files>();
  const auto make = [&] {
    return output_formatter{job.wiring.format,
                            [](int64_t at) { return local_time(at); },
                            settings.host_of};
  };
  files->job = job;
  files->formatter = make();
  files->line_formatter = make();
  files->line_formatter.keep_lines_whole();
  files->kept = output_buffers<std::string>{job.wiring.format};
  files->set =
    std::make_shared<output_file_set>(defaults::io_files_open, settings.write);
  files->settings = std::move(settings);
  return sys.spawn(output_files, files);
}

std::function<output_sink_actor(const io_job_begun&)>
output_file_maker(caf::actor_system& sys, output_files_settings settings) {
  return [&sys, settings = std::move(settings)](const io_job_begun& job) {
    return spawn_output_files(sys, job, settings);
  };
}

} // namespace troupe
