#include "messages/denial.hpp"

#include "messages/attributes.hpp"
#include "messages/fwd.hpp"
#include "messages/status_error.hpp"

#include <caf/message.hpp>

#include <utility>

namespace troupe {

caf::error make_error(status code, std::string what, std::vector<info> infos) {
  return caf::error{1, status_category,
                    caf::make_message(static_cast<int32_t>(code),
                                      std::move(what),
                                      info_result{std::move(infos), true})};
}

std::vector<info> infos_of(const caf::error& why) {
  if (why && why.category() == status_category
      && why.context().match_elements<int32_t, std::string, info_result>())
    return why.context().get_as<info_result>(2).infos;
  return {};
}

std::vector<info> explanation_of(const caf::error& why) {
  auto result = infos_of(why);
  auto text = reason_of(why);
  if (text != to_string(status_of(why))
      && find(result, attr::event_text_message) == nullptr)
    result.push_back({std::string{attr::event_text_message}, 0,
                      value::string(std::move(text))});
  return result;
}

} // namespace troupe
