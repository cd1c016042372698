#include "adapters/log/output_files.hpp"

#include "actors/answer.hpp"
#include "actors/io/flush_timer.hpp"
#include "actors/io/output_buffers.hpp"
#include "adapters/log/local_time.hpp"
#include "adapters/loop/thread_pool.hpp"

#include <caf/all.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

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

  // -- what has been lost
  // ------------------------------------------------------

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

// -- the actor
// -----------------------------------------------------------------

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
