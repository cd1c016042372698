#include "tools/page_feed.hpp"

#include "actors/groups/group_report.hpp"
#include "actors/monitors/stack_taker.hpp"
#include "actors/server/wait_report.hpp"
#include "adapters/loop/event_loop.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "messages/custom_monitor.hpp"
#include "messages/io_keys.hpp"
#include "messages/monitor.hpp"
#include "tools/event_text.hpp"
#include "tools/report.hpp"
#include "tools/stream_table.hpp"

#include <algorithm>
#include <cstddef>
#include <future>
#include <initializer_list>
#include <optional>
#include <utility>

namespace troupe {

namespace {

using nlohmann::json;
using namespace std::chrono_literals;

/// The query for the DVM itself.
constexpr std::string_view dvm_key = "troupe.dvm";

/// How many times less often a subject is asked for while nobody watches.
constexpr auto unwatched = 10;

/// How many times the time of its answer passes between two questions.
constexpr auto spacing = 10;

/// How long events are collected.
constexpr auto event_pause = 50ms;

page_state::time now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
           std::chrono::system_clock::now().time_since_epoch())
    .count();
}

query_request question_of(std::initializer_list<std::string_view> keys) {
  auto result = query_request{};
  auto& x = result.queries.emplace_back();
  for (const auto key : keys)
    x.keys.emplace_back(key);
  return result;
}

/// The list in an answer; an empty one if there is none.
json list_in(const std::vector<info>& answer, std::string_view key) {
  const auto* found = find(answer, key);
  return found != nullptr ? to_json(*found) : json::array();
}

/// Asks for a sample of some values.
monitor_request sample_of(std::string_view subject,
                          std::initializer_list<std::string_view> fields) {
  auto wanted = std::vector<info>{};
  for (const auto field : fields)
    wanted.push_back(make_info(field, value::boolean(true)));
  auto result = monitor_request{};
  result.monitor = make_info(
    subject, fields.size() > 0 ? value::infos(std::move(wanted)) : value{});
  return result;
}

const std::vector<info>* infos_in(const link::outcome& got) {
  const auto* answer = got ? std::get_if<info_result>(&*got) : nullptr;
  return answer != nullptr ? &answer->infos : nullptr;
}

json trouble(const std::string& why) {
  return {{"error", why}};
}

} // namespace

// -- the connection ----------------------------------------------------------

page_feed::page_feed(settings x, page_board& board)
  : settings_(std::move(x)), board_(board) {
  // nop
}

caf::expected<std::unique_ptr<page_feed>> page_feed::open(settings x,
                                                          page_board& board) {
  auto result = std::unique_ptr<page_feed>{new page_feed{std::move(x), board}};
  auto* self = result.get();
  auto handlers = link::callbacks{};
  handlers.on_events = [self](const event_batch& y) { self->on_events(y); };
  // What is shown last counts: a receipt is gone at once.
  handlers.on_output = [self](const io_delivery& y, const output_receipt&) {
    self->on_output(y);
  };
  handlers.on_lost = [self](const caf::error&) { self->settings_.on_lost(); };
  auto session =
    tool_session::open(self->settings_.dvm, false, std::move(handlers));
  if (!session)
    return std::move(session.error());
  self->session_ = std::move(*session);
  return result;
}

page_feed::~page_feed() {
  board_.on_watcher({});
  subjects_.clear();
  showing_.reset();
}

void page_feed::start() {
  showing_ = std::make_unique<timer>(loop().loop(), [this] { show_events(); });
  register_events();
  add_subjects();
  board_.on_watcher([this] { loop().loop().post([this] { hurry(); }); });
  for (auto& x : subjects_)
    ask(x);
}

// -- what is asked again and again -------------------------------------------

void page_feed::add(wire::request question, int intervals,
                    std::function<void(const std::vector<info>&)> take) {
  auto& x = subjects_.emplace_back();
  x.question = std::move(question);
  x.interval = settings_.interval * intervals;
  x.take = std::move(take);
  x.next = std::make_unique<timer>(loop().loop(), [this, &x] { ask(x); });
}

void page_feed::add_subjects() {
  const auto nodes = query_key(report_kind::nodes);
  const auto jobs = query_key(report_kind::jobs);
  const auto procs = query_key(report_kind::processes);
  const auto net = query_key(report_kind::networks);
  constexpr auto often = 5;
  constexpr auto seldom = 10;
  add(question_of({dvm_key, nodes, jobs, procs}), 1,
      [=](const std::vector<info>& got) {
        board_.update([&](page_state& to) {
          if (const auto* dvm = find(got, dvm_key))
            to.take_dvm(to_json(*dvm));
          if (find(got, nodes) != nullptr)
            to.take_nodes(list_in(got, nodes));
          if (find(got, jobs) != nullptr && find(got, procs) != nullptr)
            to.take_jobs(list_in(got, jobs), list_in(got, procs), now());
        });
      });
  add(question_of({group_list_key}), often,
      [this](const std::vector<info>& got) {
        board_.update([&](page_state& to) {
          to.take_groups(list_in(got, group_list_key));
        });
      });
  add(question_of({waits_key}), often, [this](const std::vector<info>& got) {
    board_.update(
      [&](page_state& to) { to.take_waits(list_in(got, waits_key), now()); });
  });
  add(stream_question({}), often, [this](const std::vector<info>& got) {
    board_.update([&](page_state& to) {
      to.take_streams(list_in(got, io_streams_key), now());
    });
  });
  add(question_of({net}), seldom, [=](const std::vector<info>& got) {
    board_.update([&](page_state& to) { to.take_networks(list_in(got, net)); });
  });
  add(question_of({monitor_list_key}), seldom,
      [this](const std::vector<info>& got) {
        board_.update([&](page_state& to) {
          to.take_monitors(list_in(got, monitor_list_key));
        });
      });
  const auto take_usage = [this](const std::vector<info>& got) {
    board_.update([&](page_state& to) { to.take_usage(got, now()); });
  };
  add(sample_of(attr::monitor_proc_resource_usage,
                {attr::proc_time, attr::proc_rss}),
      seldom, take_usage);
  add(
    sample_of(attr::monitor_node_resource_usage,
              {attr::node_load_avg, attr::node_mem_total, attr::node_mem_free}),
    seldom, take_usage);
}

void page_feed::ask(subject& x) {
  if (x.is_asked)
    return;
  x.is_asked = true;
  x.asked = clock::now();
  session_->to()->submit(
    x.question, [this, &x](const link::outcome& got) { on_answer(x, got); });
}

void page_feed::on_answer(subject& x, const link::outcome& got) {
  x.is_asked = false;
  if (!session_->to()->is_open())
    return;
  const auto took = clock::now() - x.asked;
  board_.note_answer();
  if (const auto* infos = infos_in(got))
    x.take(*infos);
  // An answer that there is nothing, or a refusal, is tried again like others.
  const auto pause = [&](clock::duration interval) {
    return std::max<clock::duration>(interval, took * spacing);
  };
  x.due = x.asked + pause(x.interval);
  x.next->start(
    pause(board_.watchers() > 0 ? x.interval : x.interval * unwatched) - took);
}

/// Somebody watches now: asks as soon as it is due for one who does. Who comes again
/// and again does not have more asked.
void page_feed::hurry() {
  const auto now = clock::now();
  for (auto& x : subjects_)
    if (!x.is_asked)
      x.next->start(std::max<clock::duration>(x.due - now, {}));
}

// -- events ------------------------------------------------------------------

void page_feed::register_events() {
  auto wants = register_events_request{};
  wants.directives = {
    {std::string{attr::range}, 0,
     value{data_type::data_range, static_cast<uint64_t>(data_range::session)}}};
  session_->to()->submit(wants, [](const link::outcome&) {});
  // Default handlers do not get all that there is.
  wants.codes = named_event_codes();
  session_->to()->submit(wants, [](const link::outcome&) {});
}

/// Those that come in a row are shown together; of more than there is room for, the
/// last.
void page_feed::on_events(const event_batch& x) {
  events_.insert(events_.end(), x.events.begin(), x.events.end());
  if (events_.size() > defaults::page_events_waiting)
    events_.erase(events_.begin(), events_.end()
                                     - static_cast<std::ptrdiff_t>(
                                       defaults::page_events_waiting));
  if (showing_ && !showing_->is_running())
    showing_->start(event_pause);
}

void page_feed::show_events() {
  const auto all = std::exchange(events_, {});
  board_.update([&](page_state& to) {
    for (const auto& x : all)
      to.take_event(*x, now());
  });
}

// -- the last lines of a process ---------------------------------------------

struct page_feed::reading {
  struct part {
    io_channels channel = io_channels::stdout_;

    /// The first byte that is wanted, and the first that is not.
    uint64_t begin = 0;
    uint64_t end = 0;
    std::string bytes;
    std::optional<uint64_t> subscription = {};
    bool is_complete = false;
  };

  proc_id source;

  /// By number; of the thread of the loop, until `done`.
  std::map<uint64_t, part> parts;
  bool is_over = false;
  std::promise<void> done;

  void look() {
    const auto is_complete =
      std::all_of(parts.begin(), parts.end(),
                  [](const auto& x) { return x.second.is_complete; });
    if (is_complete && !std::exchange(is_over, true))
      done.set_value();
  }
};

/// The text as it stood when `lines` was asked for, at least.
json page_feed::lines(const proc_id& proc) {
  const auto got =
    session_->to()->call(stream_question(proc), defaults::page_answer);
  if (!got)
    return trouble("the DVM has no streams of it: "
                   + to_string(status_of(got.error())));
  const auto x = std::make_shared<reading>();
  x->source = proc;
  auto result = json::object();
  for (const auto& row : stream_rows(*got)) {
    if (row.source != proc
        || (row.stream != "stdout" && row.stream != "stderr"))
      continue;
    result[row.stream] = {
      {"end", row.end}, {"over", row.is_over}, {"text", ""}};
    auto part = reading::part{};
    part.channel =
      row.stream == "stderr" ? io_channels::stderr_ : io_channels::stdout_;
    part.end = row.end;
    part.begin = std::max(
      row.begin, row.end - std::min(row.end, defaults::page_lines_bytes));
    if (part.begin < part.end)
      x->parts.emplace(x->parts.size(), std::move(part));
  }
  auto done = x->done.get_future();
  if (!loop().loop().post([this, x] { begin(x); }))
    return trouble("the DVM is gone");
  // What does not come in time is left out.
  done.wait_for(defaults::page_answer);
  const auto ended = std::make_shared<std::promise<void>>();
  auto is_ended = ended->get_future();
  if (!loop().loop().post([this, x, ended] {
        end(x);
        ended->set_value();
      })
      || is_ended.wait_for(defaults::page_answer) != std::future_status::ready)
    return trouble("the DVM is gone");
  for (const auto& [number, part] : x->parts) {
    auto& to =
      result[part.channel == io_channels::stderr_ ? "stderr" : "stdout"];
    to["text"] = part.bytes;
  }
  return {{"streams", std::move(result)}};
}

void page_feed::begin(const std::shared_ptr<reading>& x) {
  auto parts = std::map<uint64_t, reading::part>{};
  for (auto& y : x->parts)
    parts.emplace(++last_reading_, std::move(y.second));
  x->parts = std::move(parts);
  for (const auto& [number, part] : x->parts) {
    readings_[number] = x;
    auto request = io_pull_request{};
    request.procs = {x->source};
    request.channels = part.channel;
    request.handler = number;
    // No process waits for the page.
    request.directives = {
      make_info(io_offsets_key, value::boolean(true)),
      make_info(io_offset_key, value::uint64(part.begin)),
      make_info(attr::iof_drop_oldest, value::boolean(true))};
    session_->to()->submit(request, [this, x, number = number](
                                      const link::outcome& got) {
      auto& y = x->parts.at(number);
      const auto* answer = got ? std::get_if<io_pull_result>(&*got) : nullptr;
      if (answer != nullptr && readings_.count(number) > 0)
        y.subscription = answer->subscription;
      else if (answer != nullptr)
        session_->to()->submit(io_deregister_request{{}, answer->subscription},
                               [](const link::outcome&) {});
      else
        y.is_complete = true;
      x->look();
    });
  }
  x->look();
}

void page_feed::end(const std::shared_ptr<reading>& x) {
  x->is_over = true;
  for (auto& [number, part] : x->parts) {
    readings_.erase(number);
    if (part.subscription)
      session_->to()->submit(io_deregister_request{{}, *part.subscription},
                             [](const link::outcome&) {});
  }
}

void page_feed::on_output(const io_delivery& x) {
  const auto i = readings_.find(x.handler);
  if (i == readings_.end())
    return;
  auto& part = i->second->parts.at(x.handler);
  if (part.is_complete)
    return;
  // The end of the stream has no bytes.
  const auto at = number<uint64_t>(x.infos, io_offset_key)
                    .value_or(part.begin + part.bytes.size());
  part.bytes += x.bytes;
  if (part.bytes.size() > defaults::page_lines_bytes)
    part.bytes.erase(0, part.bytes.size() - defaults::page_lines_bytes);
  part.is_complete = x.bytes.empty() || at + x.bytes.size() >= part.end;
  i->second->look();
}

// -- use of resources, and where it is ---------------------------------------

json page_feed::usage(const proc_id& proc) {
  auto request = sample_of(attr::monitor_proc_resource_usage, {});
  request.directives = {
    make_info(attr::monitor_target_procs, value::procs({proc}))};
  const auto got = session_->to()->call(request, defaults::page_answer);
  const auto* infos = infos_in(got);
  const auto* found =
    infos != nullptr ? find(*infos, attr::proc_resource_usage) : nullptr;
  if (found == nullptr)
    return trouble(got ? "it runs no more"
                       : "the DVM does not say: "
                           + to_string(status_of(got.error())));
  auto result = json::object();
  for (const auto& x : infos_of(*found)) {
    const auto* time = std::get_if<timeval_value>(&x.val.data);
    constexpr auto prefix = std::string_view{"pmix.proc."};
    const auto is_ours = x.key.compare(0, prefix.size(), prefix) == 0;
    result[is_ours ? x.key.substr(prefix.size()) : x.key] =
      time != nullptr ? json(static_cast<double>(time->seconds)
                             + 1e-6 * static_cast<double>(time->microseconds))
                      : to_json(x.val);
  }
  return {{"usage", std::move(result)}};
}

json page_feed::stack(const proc_id& proc) {
  const auto shown = board_.rank(proc);
  const auto pid = shown ? shown->value("pid", json(0u)) : json(0u);
  if (!pid.is_number_unsigned() || pid.get<uint64_t>() == 0)
    return trouble("it does not run");
  if (takes_stack_.exchange(true))
    return trouble("another stack is being taken");
  auto request = sample_of(stack_key, {});
  request.directives = {
    make_info(attr::monitor_target_procs, value::procs({proc}))};
  const auto got = session_->to()->call(request, defaults::page_stack);
  takes_stack_ = false;
  const auto* infos = infos_in(got);
  if (infos == nullptr)
    return trouble(got ? "it runs no more"
                       : "the DVM takes none: "
                           + to_string(status_of(got.error())));
  if (auto found = text(*infos, stack_key))
    return {{"stack", std::move(*found)}};
  return trouble(
    text(*infos, stack_trouble_key).value_or("the DVM does not say"));
}

page_service::questions page_feed::questions() {
  auto result = page_service::questions{};
  result.lines = [this](const proc_id& x) { return lines(x); };
  result.usage = [this](const proc_id& x) { return usage(x); };
  result.stack = [this](const proc_id& x) { return stack(x); };
  return result;
}

} // namespace troupe
