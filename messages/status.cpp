#include "messages/status.hpp"

#include "messages/status_error.hpp"

#include <caf/error.hpp>
#include <caf/exit_reason.hpp>
#include <caf/message.hpp>
#include <caf/sec.hpp>

#include <utility>

namespace troupe {

namespace {

/// With its name inside: a pointer the loader would write at every start.
struct entry {
  char c_name[40];
  int32_t number;
};

constexpr entry entries[] = {
#define TROUPE_STATUS(name, number, c_name) {c_name, number},
#include "messages/status.def"
#undef TROUPE_STATUS
};

/// Whether `err` has a status and a sentence, and perhaps more.
bool has_status(const caf::error& err) {
  return err.category() == status_category && err.context().size() >= 2
         && err.context().match_element<int32_t>(0)
         && err.context().match_element<std::string>(1);
}

} // namespace

std::string to_string(status code) {
  for (const auto& x : entries)
    if (x.number == static_cast<int32_t>(code))
      return x.c_name;
  return std::to_string(static_cast<int32_t>(code));
}

std::optional<status> status_named(std::string_view c_name) {
  for (const auto& x : entries)
    if (x.c_name == c_name)
      return static_cast<status>(x.number);
  return std::nullopt;
}

caf::error make_error(status code, std::string what) {
  // A CAF error code has eight bits; the status travels in the context.
  return caf::error{
    1, status_category,
    caf::make_message(static_cast<int32_t>(code), std::move(what))};
}

status status_of(const caf::error& err) {
  if (!err)
    return status::success;
  if (has_status(err))
    return static_cast<status>(err.context().get_as<int32_t>(0));
  if (err == caf::sec::request_timeout)
    return status::timeout;
  if (err == caf::sec::request_receiver_down
      || err.category() == caf::atom("exit"))
    return status::unreach;
  return status::error;
}

std::string reason_of(const caf::error& err) {
  if (has_status(err)) {
    auto what = err.context().get_as<std::string>(1);
    return what.empty() ? to_string(status_of(err)) : what;
  }
  return to_string(err);
}

} // namespace troupe
