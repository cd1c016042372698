#include "tools/top.hpp"

#include "adapters/loop/unique_fd.hpp"
#include "adapters/terminal/full_screen.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "messages/control.hpp"
#include "messages/denial.hpp"
#include "messages/query.hpp"
#include "messages/status.hpp"
#include "tools/command_line.hpp"
#include "tools/ctl.hpp"
#include "tools/printing.hpp"
#include "tools/report.hpp"
#include "tools/tool_session.hpp"
#include "tools/top_table.hpp"
#include "tools/top_view.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

namespace troupe {

namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

/// How long a DVM may take to answer.
constexpr auto answer_time = 30s;

/// How long the user waits for a key to show at most, also if nothing comes.
constexpr auto look_again = 500ms;

/// How long a question may go on when the user has had enough.
constexpr auto farewell = 300ms;

struct top_options {
  std::string dvm;
  std::string table;
  std::string column;
  std::string filter;
  double interval = 2;
  bool is_reversed = false;
  bool once = false;
  bool json = false;
};

int fail(const std::string& reason) {
  std::cerr << notice("troupe top", reason);
  return 1;
}

/// Why there is nothing to show.
std::string words_of(const caf::error& why) {
  switch (status_of(why)) {
    case status::lost_connection:
      return "the DVM is gone";
    case status::not_supported:
      return reason_of(why);
    default:
      return "the DVM does not answer: " + reason_of(why);
  }
}

// -- what the DVM says -----------------------------------------------------------

/// Asks a DVM what there is. On one thread at a time.
class dvm_reader {
public:
  explicit dvm_reader(tool_session& to) : session_(to) {
    // nop
  }

  caf::expected<dvm_picture> read();

  /// Sends a signal.
  control_answer signal(const proc_id& target, int32_t number);

private:
  struct sample {
    double seconds = 0;
    uint64_t pid = 0;
    steady::time_point when;
  };

  void read_usage(dvm_picture& to);
  void add_usage(const info& x, dvm_picture& to,
                 std::map<std::string, sample>& now) const;

  tool_session& session_;

  /// CPU time that processes had used when we looked last.
  std::map<std::string, sample> before_;
};

caf::expected<dvm_picture> dvm_reader::read() {
  auto question = query_request{};
  question.queries.emplace_back().keys = {
    std::string{query_key(report_kind::nodes)},
    std::string{query_key(report_kind::jobs)},
    std::string{query_key(report_kind::processes)}};
  const auto got = session_.ask(question, answer_time);
  if (!got)
    return got.error();
  const auto* result = std::get_if<info_result>(&*got);
  const auto found = [&](report_kind x) {
    return result != nullptr ? find(result->infos, query_key(x)) : nullptr;
  };
  const auto* nodes = found(report_kind::nodes);
  const auto* jobs = found(report_kind::jobs);
  const auto* processes = found(report_kind::processes);
  if (nodes == nullptr || jobs == nullptr || processes == nullptr)
    return make_error(status::not_supported,
                      "the server that answers does not know this; is it a DVM "
                      "of Troupe?");
  auto picture = dvm_picture{};
  picture.nodes = to_json(*nodes);
  picture.jobs = to_json(*jobs);
  picture.processes = to_json(*processes);
  read_usage(picture);
  return picture;
}

/// What is not told is not shown.
void dvm_reader::read_usage(dvm_picture& to) {
  if (to.processes.empty()) {
    before_.clear();
    return;
  }
  auto wants = monitor_request{};
  wants.monitor = make_info(
    attr::monitor_proc_resource_usage,
    value::infos({make_info(attr::proc_time, value::boolean(true)),
                  make_info(attr::proc_percent_cpu, value::boolean(true)),
                  make_info(attr::proc_rss, value::boolean(true))}));
  const auto got = session_.ask(wants, answer_time);
  const auto* result = got ? std::get_if<info_result>(&*got) : nullptr;
  if (result == nullptr)
    return;
  auto now = std::map<std::string, sample>{};
  for (const auto& x : result->infos)
    add_usage(x, to, now);
  before_ = std::move(now);
}

void dvm_reader::add_usage(const info& x, dvm_picture& to,
                           std::map<std::string, sample>& now) const {
  const auto values = infos_of(x.val);
  const auto* proc = find(values, attr::procid);
  if (x.key != attr::proc_resource_usage || proc == nullptr
      || proc->proc() == nullptr)
    return;
  const auto id = to_string(*proc->proc());
  const auto real = [&](std::string_view key) {
    const auto* found = find(values, key);
    const auto* number =
      found != nullptr ? std::get_if<double>(&found->data) : nullptr;
    return number != nullptr ? *number : 0;
  };
  auto usage =
    process_usage{real(attr::proc_percent_cpu), real(attr::proc_rss)};
  auto taken = sample{0, number<uint64_t>(values, attr::proc_pid).value_or(0),
                      steady::now()};
  if (const auto* time = find(values, attr::proc_time))
    if (const auto* y = std::get_if<timeval_value>(&time->data))
      taken.seconds = static_cast<double>(y->seconds)
                      + static_cast<double>(y->microseconds) * 1e-6;
  // Of late, if it is the same process: since its start otherwise.
  const auto last = before_.find(id);
  if (last != before_.end() && last->second.pid == taken.pid
      && taken.seconds >= last->second.seconds) {
    const auto passed =
      std::chrono::duration<double>(taken.when - last->second.when).count();
    if (passed > 0)
      usage.cpu = (taken.seconds - last->second.seconds) / passed * 100;
  }
  now[id] = taken;
  to.usage[id] = usage;
}

control_answer dvm_reader::signal(const proc_id& target, int32_t number) {
  auto request = job_control_request{};
  request.targets = {target};
  request.directives = {
    make_info(attr::job_ctrl_signal, value::integer(number))};
  const auto got = session_.ask(request, answer_time);
  if (!got)
    return {status_of(got.error()), explanation_of(got.error())};
  const auto* result = std::get_if<info_result>(&*got);
  return {status::success,
          result != nullptr ? result->infos : std::vector<info>{}};
}

// -- the whole terminal ----------------------------------------------------------

/// Asks a DVM again and again on a thread of its own, so that keys never wait for
/// it.
class dvm_watcher {
public:
  /// What has come.
  struct news {
    std::optional<dvm_picture> picture;
    std::optional<control_answer> answer;

    /// Why there is nothing any more; empty: there is.
    std::string end;
  };

  dvm_watcher(tool_session& to, std::chrono::milliseconds interval)
    : session_(to), reader_(to), interval_(interval),
      wakes_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {
    // nop
  }

  ~dvm_watcher();

  dvm_watcher(const dvm_watcher&) = delete;

  dvm_watcher& operator=(const dvm_watcher&) = delete;

  /// Can be read when there is news.
  int fd() const {
    return wakes_.get();
  }

  news take();

  /// Has a signal sent, and asks at once what came of it.
  void signal(const proc_id& target, int32_t number);

private:
  void run();
  void publish(const std::function<void(news&)>& f);

  tool_session& session_;
  dvm_reader reader_;
  const std::chrono::milliseconds interval_;
  unique_fd wakes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<proc_id, int32_t>> signals_;
  news news_;
  bool is_over_ = false;
  bool has_ended_ = false;
  std::thread thread_;
};

dvm_watcher::~dvm_watcher() {
  {
    auto lock = std::unique_lock{mutex_};
    is_over_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, farewell, [this] { return has_ended_; });
    if (!has_ended_)
      session_.to()->close(); // Ends the question.
  }
  thread_.join();
}

void dvm_watcher::publish(const std::function<void(news&)>& f) {
  const auto guard = std::lock_guard{mutex_};
  f(news_);
  ::eventfd_write(wakes_.get(), 1);
}

dvm_watcher::news dvm_watcher::take() {
  const auto guard = std::lock_guard{mutex_};
  auto count = eventfd_t{0};
  ::eventfd_read(wakes_.get(), &count);
  auto result = std::exchange(news_, {});
  news_.end = result.end;
  return result;
}

void dvm_watcher::signal(const proc_id& target, int32_t number) {
  const auto guard = std::lock_guard{mutex_};
  signals_.emplace_back(target, number);
  changed_.notify_all();
}

void dvm_watcher::run() {
  auto lock = std::unique_lock{mutex_};
  while (!is_over_) {
    const auto next = steady::now() + interval_;
    auto wanted = std::exchange(signals_, {});
    lock.unlock();
    for (const auto& [target, number] : wanted) {
      auto answer = reader_.signal(target, number);
      publish([&](news& x) { x.answer = std::move(answer); });
    }
    auto picture = reader_.read();
    publish([&](news& x) {
      if (picture)
        x.picture = std::move(*picture);
      else
        x.end = words_of(picture.error());
    });
    lock.lock();
    if (!news_.end.empty())
      break;
    changed_.wait_until(lock, next,
                        [this] { return is_over_ || !signals_.empty(); });
  }
  has_ended_ = true;
  changed_.notify_all();
}

/// What came of a signal, in a line.
void tell(top_view& view, const control_answer& x) {
  if (x.code == status::success)
    view.tell(to_text(x), false);
  else
    view.tell(complaint_of(x), true);
}

/// @returns why it ended; empty: the user wanted it.
std::string watch(full_screen& screen, top_view& view, dvm_watcher& dvm) {
  for (;;) {
    screen.draw(view.lines(screen.rows(), screen.columns()));
    const auto key = screen.wait(look_again, dvm.fd());
    if (key.what == terminal_key::gone)
      return "the terminal has gone";
    const auto order = view.press(key, screen.rows());
    if (order.what == top_view::order::verb::quit)
      return {};
    if (order.what == top_view::order::verb::signal)
      dvm.signal(order.target, order.signal);
    auto news = dvm.take();
    if (news.answer)
      tell(view, *news.answer);
    if (news.picture && !view.is_paused())
      view.take(std::move(*news.picture));
    if (!news.end.empty())
      return news.end;
  }
}

int show_screen(tool_session& session, const top_options& x,
                top_view::settings how) {
  auto screen = full_screen::open();
  if (!screen)
    return fail(reason_of(screen.error()));
  auto reason = std::string{};
  {
    auto view = top_view{std::move(how)};
    const auto interval =
      std::chrono::milliseconds{static_cast<int64_t>(x.interval * 1000)};
    auto dvm = dvm_watcher{session, interval};
    reason = watch(**screen, view, dvm);
    screen->reset();
  }
  return reason.empty() ? 0 : fail(reason);
}

// -- once ------------------------------------------------------------------------

int print(tool_session& session, const top_options& x,
          const top_view::settings& how) {
  auto reader = dvm_reader{session};
  const auto picture = reader.read();
  if (!picture)
    return fail(words_of(picture.error()));
  if (x.json) {
    std::cout << json_document(to_json(*picture));
  } else {
    const auto kinds =
      x.table.empty() ? std::vector<top_kind>{top_kind::nodes, top_kind::jobs,
                                              top_kind::ranks}
                      : std::vector<top_kind>{how.kind};
    std::cout << summary_of(*picture) << "\n\n"
              << to_text(*picture, kinds, how.scope, how.column,
                         how.is_reversed);
  }
  return 0;
}

/// @returns the exit status if there is nothing to do.
std::optional<int> parse(std::vector<std::string> args, top_options& x,
                         top_view::settings& to) {
  auto cli =
    CLI::App{"Shows nodes, jobs and ranks of a DVM, with what they use "
             "of their nodes; sends signals. ? shows the keys.",
             "troupe top"};
  add_dvm_option(cli, x.dvm);
  cli.add_option("--table", x.table, "ranks (default), jobs or nodes")
    ->check(CLI::IsMember({"ranks", "jobs", "nodes"}));
  auto* sort = cli.add_option("--sort", x.column,
                              "A column of that table, such as cpu or node");
  cli.add_flag("--reverse", x.is_reversed, "Turn the order round")->needs(sort);
  cli.add_option("--filter", x.filter, "Rows with this text in them");
  cli
    .add_option("--interval", x.interval,
                "Seconds between two looks (default 2)")
    ->check(CLI::Range(0.1, 3600.0));
  cli.add_flag("--once", x.once, "Print what there is now, and end");
  cli.add_flag("--json", x.json,
               "The same as an object of JSON (docs/json.md)");
  return parse_arguments(cli, std::move(args), [&] {
    to.kind = read_top_kind(x.table).value_or(top_kind::ranks);
    to.scope.filter = x.filter;
    if (x.column.empty())
      return;
    to.column = find_column(to.kind, x.column);
    if (!to.column) {
      auto known = std::string{};
      for (const auto& y : columns_of(to.kind))
        known += (known.empty() ? "" : ", ") + std::string{y.title};
      throw CLI::ValidationError(
        "--sort " + x.column + ": there is no such column; those of "
          + std::string{text_of(to.kind)} + " are " + known,
        usage_error);
    }
    to.is_reversed =
      columns_of(to.kind)[*to.column].begins_with_largest != x.is_reversed;
  });
}

} // namespace

int top(std::vector<std::string> args) {
  auto options = top_options{};
  auto how = top_view::settings{};
  if (const auto status = parse(std::move(args), options, how))
    return *status;
  // With all tables it is a column of one.
  if (options.once && options.table.empty() && how.column)
    options.table = std::string{text_of(how.kind)};
  auto session = tool_session::open(options.dvm, false, {});
  if (!session)
    return fail(reason_of(session.error()));
  if (options.once || options.json)
    return print(**session, options, how);
  how.title = "troupe top"
              + (options.dvm.empty() ? std::string{} : "  " + options.dvm)
              + "  every " + fmt::format("{:g} s", options.interval);
  return show_screen(**session, options, std::move(how));
}

} // namespace troupe
