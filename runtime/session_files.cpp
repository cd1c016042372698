#include "runtime/session_files.hpp"

#include "messages/status.hpp"

#include <chrono>
#include <utility>

namespace troupe {

namespace {

using namespace std::chrono_literals;

/// How long the end waits for a thread that renews.
constexpr auto patience = 1s;

} // namespace

session_files::~session_files() {
  close();
}

caf::error session_files::blame(const caf::error& why) const {
  return make_error(status_of(why),
                    blame_tmpdir(settings_.system_directory, reason_of(why)));
}

session_files::report session_files::open() {
  auto result = report{};
  if (!settings_.session_directory.empty())
    return result;
  auto made = session_directory::create(settings_.system_directory);
  if (!made) {
    result.failure = blame(made.error());
    return result;
  }
  session_ = std::move(*made);
  settings_.session_directory = session_->path();
  if (!session_->notice().empty())
    result.warnings.push_back(session_->notice());
  return result;
}

caf::expected<rendezvous_files>
session_files::make(rendezvous_kind kind) const {
  auto x = rendezvous_options{};
  x.kinds = {kind};
  x.uri = uri_;
  x.hostname = node_name();
  x.session_directory = settings_.session_directory;
  x.system_directory = settings_.system_directory;
  x.own_name = settings_.own_name;
  return rendezvous_files::publish(x);
}

session_files::report session_files::publish(const wire::server_uri& uri) {
  auto result = report{};
  uri_ = uri;
  auto kinds = settings_.kinds;
  if (kinds.empty())
    return result;
  remove_stale_files(settings_.system_directory, node_name());
  if (!settings_.own_name.empty())
    kinds.push_back(rendezvous_kind::by_own_name);
  for (const auto kind : kinds) {
    auto made = make(kind);
    if (made) {
      files_.push_back({kind, std::move(*made), false});
      continue;
    }
    const auto code = status_of(made.error());
    const auto is_taken =
      code == status::exists || code == status::no_permissions;
    if (!is_taken || !settings_.may_lack_files) {
      result.failure = blame(made.error());
      return result;
    }
    result.warnings.push_back("tools do not find this server by a file: "
                              + reason_of(made.error()));
  }
  return result;
}

session_files::report session_files::renew() {
  auto result = report{};
  const auto guard = std::lock_guard{mutex_};
  if (is_closed_)
    return result;
  if (session_) {
    const auto renewed = session_->renew();
    if (!renewed) {
      result.failure = blame(renewed.error());
      return result;
    }
    if (*renewed) {
      settings_.session_directory = session_->path();
      result.warnings.push_back("somebody has removed the session directory; "
                                "it is "
                                + session_->path() + " again");
    }
  }
  for (auto& x : files_) {
    if (!x.is_missing && x.file.are_in_place())
      continue;
    // Before there are others: a new file may get the number of one that has
    // gone, and would be taken for that.
    { const auto gone = std::move(x.file); }
    auto made = make(x.kind);
    x.is_missing = !made;
    if (made)
      x.file = std::move(*made);
    else
      result.failure = blame(made.error());
  }
  if (is_closed_)
    remove_all();
  return result;
}

void session_files::touch() {
  const auto guard = std::lock_guard{mutex_};
  if (session_)
    session_->touch();
  for (const auto& x : files_)
    x.file.touch();
}

void session_files::remove_all() {
  files_.clear();
  session_.reset();
}

void session_files::withdraw() {
  is_closed_ = true;
  const auto guard = std::unique_lock{mutex_, patience};
  if (guard)
    files_.clear();
}

void session_files::close() {
  is_closed_ = true;
  const auto guard = std::unique_lock{mutex_, patience};
  if (guard)
    remove_all();
}

} // namespace troupe
