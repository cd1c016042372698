#include "tools/tool_session.hpp"

#include "adapters/link/server_search.hpp"
#include "adapters/local/rendezvous.hpp"
#include "adapters/local/session_directory.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/wire/number_range.hpp"
#include "messages/attributes.hpp"

#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <mutex>
#include <thread>

namespace troupe {

// -- which DVM ---------------------------------------------------------------

namespace {

/// What the names of our files begin with; the DVM's name follows. The second
/// is of those that last as long as a job.
constexpr auto prefix = std::string_view{"troupe-dvm."};
constexpr auto job_prefix = std::string_view{"troupe-job."};

/// Sessions of a user, and files in one, that are looked at.
constexpr size_t most_sessions = 4096;
constexpr size_t most_files = 256;

const char* variable(const char* name) {
  return std::getenv(name);
}

/// The DVMs of this user, by name.
/// @param prefixes Of which kinds.
std::multimap<std::string, link_settings> dvms_of_user(
  std::initializer_list<std::string_view> prefixes = {prefix, job_prefix}) {
  auto result = std::multimap<std::string, link_settings>{};
  const auto above = directory::open(system_tmpdir());
  if (!above)
    return result;
  const auto trusted = std::vector<uint32_t>{};
  for (const auto& parent : session_directory::of_user(*above))
    for (const auto& session : parent.list(most_sessions)) {
      const auto self = parent.open_private(session);
      if (!self)
        continue;
      for (const auto& name : self->list(most_files))
        for (const auto begin : prefixes)
          if (name.compare(0, begin.size(), begin) == 0)
            if (auto found = read_rendezvous_file(self->path_of(name), trusted))
              result.emplace(name.substr(begin.size()), std::move(*found));
    }
  return result;
}

std::string names_of(const std::multimap<std::string, link_settings>& dvms) {
  auto result = std::string{};
  for (const auto& x : dvms)
    result += (result.empty() ? "" : ", ") + x.first;
  return result;
}

caf::expected<link_settings> find_one(const server_search& what) {
  auto found = find_servers(what, variable);
  if (!found)
    return std::move(found.error());
  return std::move(found->front());
}

} // namespace

std::string dvm_file(const std::string& name, bool is_for_a_job) {
  return std::string{is_for_a_job ? job_prefix : prefix} + name;
}

caf::error check_dvm_is_new(const std::string& name) {
  if (dvms_of_user().count(name) == 0)
    return {};
  return make_error(status::exists,
                    "a DVM with the name " + name
                      + " is up already; give another one by --name, or end it "
                        "by troupe down --dvm "
                      + name);
}

std::vector<std::string> names_of_dvms() {
  auto result = std::vector<std::string>{};
  for (const auto& x : dvms_of_user({prefix}))
    result.push_back(x.first);
  return result;
}

std::string hint_of_dvms(const std::vector<std::string>& names) {
  if (names.empty())
    return {};
  if (names.size() == 1)
    return "the DVM " + names.front()
           + " is up; troupe run --dvm runs the job there";
  auto all = std::string{};
  for (const auto& x : names)
    all += (all.empty() ? "" : ", ") + x;
  return "DVMs are up (" + all
         + "); troupe run --dvm NAME runs the job in one of them";
}

caf::expected<link_settings> find_dvm(const std::string& what) {
  auto search = server_search{};
  search.use_environment = false;
  constexpr auto pid_mark = std::string_view{"pid:"};
  if (what.compare(0, pid_mark.size(), pid_mark) == 0) {
    const auto pid =
      wire::parse_number(std::string_view{what}.substr(pid_mark.size()));
    if (!pid || *pid == 0 || *pid > INT32_MAX)
      return make_error(status::bad_param, "--dvm " + what
                                             + " has no process number; write "
                                               "pid:123");
    search.pid = static_cast<uint32_t>(*pid);
    auto result = find_one(search);
    if (!result)
      return make_error(status::unreach,
                        "process " + std::to_string(*pid)
                          + " is no DVM or launcher of yours on this node; "
                            "troupe run --report-pid - and troupe up --json "
                            "tell theirs");
    return result;
  }
  if (what.compare(0, 5, "file:") == 0
      || what.find("://") != std::string::npos) {
    search.uri = what;
    return find_one(search);
  }
  auto dvms = dvms_of_user();
  if (what.empty()) {
    if (dvms.size() == 1)
      return std::move(dvms.begin()->second);
    if (dvms.empty())
      return make_error(status::unreach,
                        "you have no DVM on this node; start one by troupe "
                        "up, or name one by --dvm, or a launcher by its "
                        "process number: --dvm pid:N");
    return make_error(status::unreach, "you have several DVMs on this node ("
                                         + names_of(dvms)
                                         + "); name one by --dvm");
  }
  const auto i = dvms.find(what);
  if (i != dvms.end())
    return std::move(i->second);
  return make_error(
    status::unreach,
    "you have no DVM " + what + " on this node"
      + (dvms.empty() ? std::string{} : "; there is " + names_of(dvms)));
}

// -- the session -------------------------------------------------------------

namespace {

using namespace std::chrono_literals;

/// How long a server may take to say good-bye.
constexpr auto goodbye = 1s;

/// How long a server may take to greet a tool that only asks: one that was
/// stopped never does. Who starts a job gives a busy one more time.
constexpr auto greeting = 4s;

/// How long the answer to a question may take before we doubt that anybody works
/// on it, and how long we then believe so.
constexpr auto first_doubt = 2s;
constexpr auto next_doubt = 4s;

/// How long `is_gone` waits for an answer of whoever listens.
constexpr auto last_try = 500ms;

/// What servers are told of a tool. Source: OpenPMIx wire protocol, connect.
std::vector<info> introduction(bool launcher) {
  auto result = std::vector<info>{};
  result.push_back({std::string{attr::proc_pid}, 0,
                    value::pid(static_cast<uint32_t>(::getpid()))});
  if (launcher)
    result.push_back({std::string{attr::launcher}, 0, value::boolean(true)});
  result.push_back({std::string{attr::cmd_line}, 0, value::string("troupe")});
  return result;
}

} // namespace

link::callbacks each_event(std::function<void(const event&)> f) {
  auto result = link::callbacks{};
  result.on_events = [f = std::move(f)](const event_batch& x) {
    for (const auto& what : x.events)
      f(*what);
  };
  return result;
}

caf::expected<std::unique_ptr<tool_session>>
tool_session::open(const std::string& dvm, bool launcher,
                   link::callbacks handlers) {
  auto settings = find_dvm(dvm);
  if (!settings)
    return std::move(settings.error());
  auto result = std::unique_ptr<tool_session>{new tool_session};
  settings->role = launcher ? peer_role::launcher_needs_identity
                            : peer_role::tool_needs_identity;
  settings->infos = introduction(launcher);
  if (!launcher) {
    settings->connect_time = greeting;
    settings->answer_time = greeting;
  }
  auto peer = connect_to_server(*settings);
  if (!peer && status_of(peer.error()) == status::timeout)
    return make_error(status::timeout,
                      "the DVM" + (dvm.empty() ? std::string{} : " " + dvm)
                        + " does not answer: it is stopped, or too busy ("
                        + reason_of(peer.error()) + ")");
  if (!peer)
    return make_error(status_of(peer.error()),
                      "cannot connect to the DVM"
                        + (dvm.empty() ? std::string{} : " " + dvm) + ": "
                        + reason_of(peer.error()));
  result->settings_ = std::move(*settings);
  result->link_ = std::make_shared<link>(result->loop_.loop(), std::move(*peer),
                                         std::move(handlers));
  result->link_->start();
  return result;
}

tool_session::~tool_session() {
  if (link_ == nullptr)
    return; // It was refused.
  if (link_->is_open())
    link_->call(wire::request{finalize_request{}}, goodbye);
  link_->close();
}

link::outcome
tool_session::ask(const wire::request& x,
                  std::optional<std::chrono::milliseconds> limit) {
  auto mutex = std::mutex{};
  auto changed = std::condition_variable{};
  auto is_done = false;
  auto is_silent = false;
  auto doubt = std::thread{[&] {
    auto wait = std::chrono::milliseconds{first_doubt};
    auto lock = std::unique_lock{mutex};
    while (!changed.wait_for(lock, wait, [&] { return is_done; })) {
      lock.unlock();
      const auto silent = status_of(greet(greeting)) == status::timeout;
      lock.lock();
      if (silent && !is_done) {
        is_silent = true;
        link_->close(); // Ends the call.
        return;
      }
      wait = next_doubt;
    }
  }};
  auto result = link_->call(x, limit);
  {
    const auto guard = std::lock_guard{mutex};
    is_done = true;
  }
  changed.notify_one();
  doubt.join();
  if (!result && is_silent)
    return make_error(
      status::timeout,
      "it is stopped, or too busy; continue it (kill -CONT), or ask again");
  return result;
}

caf::error tool_session::greet(std::chrono::milliseconds limit) const {
  auto settings = settings_;
  settings.connect_time = limit;
  settings.answer_time = limit;
  const auto peer = connect_to_server(settings);
  return peer ? caf::error{} : peer.error();
}

bool tool_session::is_gone() const {
  return status_of(greet(last_try)) == status::unreach;
}

} // namespace troupe
