#include "tools/join_settings.hpp"

#include "adapters/wire/number_range.hpp"
#include "messages/status.hpp"

#include <nlohmann/json.hpp>

namespace troupe {

namespace {

using nlohmann::json;

constexpr auto mark = std::string_view{"troupe-join " TROUPE_VERSION " "};
constexpr auto answer_mark = std::string_view{"joined "};

/// Most entries of a list.
constexpr size_t most_entries = 256;

json to_json(const node_address& x) {
  return {{"network", x.network}, {"address", x.address}, {"port", x.port}};
}

/// Takes members out of an object and remembers whether one was missing or
/// wrong.
class reader {
public:
  explicit reader(const json& object) : object_(object) {
    // nop
  }

  void read(const char* key, std::string& out) {
    if (const auto* x = find(key); x != nullptr && x->is_string())
      out = x->get<std::string>();
    else
      is_good_ = false;
  }

  template <class T>
  void read(const char* key, T& out) {
    const auto* x = find(key);
    if constexpr (std::is_same_v<T, bool>) {
      if (x != nullptr && x->is_boolean())
        out = x->get<bool>();
      else
        is_good_ = false;
    } else {
      if (x != nullptr && x->is_number_unsigned()
          && x->get<uint64_t>() <= std::numeric_limits<T>::max())
        out = static_cast<T>(x->get<uint64_t>());
      else
        is_good_ = false;
    }
  }

  /// The elements of a list, each given to `one`.
  template <class F>
  void each(const char* key, F one) {
    const auto* x = find(key);
    if (x == nullptr || !x->is_array() || x->size() > most_entries) {
      is_good_ = false;
      return;
    }
    for (const auto& y : *x)
      is_good_ = one(y) && is_good_;
  }

  bool is_good() const {
    return is_good_;
  }

private:
  const json* find(const char* key) const {
    if (!object_.is_object())
      return nullptr;
    const auto i = object_.find(key);
    return i != object_.end() ? &*i : nullptr;
  }

  const json& object_;
  bool is_good_ = true;
};

bool read_address(const json& x, std::vector<node_address>& out) {
  auto from = reader{x};
  auto& to = out.emplace_back();
  from.read("network", to.network);
  from.read("address", to.address);
  from.read("port", to.port);
  return from.is_good();
}

} // namespace

std::string encode(const join_settings& x) {
  auto contacts = json::array();
  for (const auto& y : x.contacts)
    contacts.push_back(to_json(y));
  const auto all = json{{"dvm", x.dvm},
                        {"rank", x.rank},
                        {"name", x.name},
                        {"root", x.root},
                        {"root_host", x.root_host},
                        {"contacts", std::move(contacts)},
                        {"radix", x.radix},
                        {"networks", x.networks},
                        {"sensors", x.sensors},
                        {"hooks", x.hooks},
                        {"monitors", x.monitors},
                        {"insecure", x.is_insecure},
                        {"patience", x.patience},
                        {"log_level", static_cast<unsigned>(x.log_level)},
                        {"log_json", x.log_json},
                        {"log_file", x.log_file},
                        {"directory", x.directory}};
  return std::string{mark}
         + all.dump(-1, ' ', true, json::error_handler_t::replace) + "\n";
}

caf::expected<join_settings> decode_join_settings(std::string_view bytes,
                                                  std::string_view& rest) {
  const auto end = bytes.substr(0, max_join_settings).find('\n');
  if (end == std::string_view::npos
      || bytes.substr(0, std::min(mark.size(), mark.find(' ') + 1))
           != mark.substr(0, mark.find(' ') + 1))
    return make_error(status::bad_param,
                      "what came on standard input is not from a troupe that "
                      "starts a daemon; use troupe up");
  if (bytes.substr(0, mark.size()) != mark)
    return make_error(status::bad_param,
                      "this is trouped " TROUPE_VERSION
                      ", and the troupe that starts it is another release; "
                      "install the same on all nodes");
  const auto line = bytes.substr(mark.size(), end - mark.size());
  const auto object = json::parse(line.begin(), line.end(), nullptr, false);
  auto result = join_settings{};
  auto from = reader{object};
  auto level = uint8_t{0};
  from.read("dvm", result.dvm);
  from.read("rank", result.rank);
  from.read("name", result.name);
  from.read("root", result.root);
  from.read("root_host", result.root_host);
  from.each("contacts",
            [&](const json& x) { return read_address(x, result.contacts); });
  from.read("radix", result.radix);
  const auto texts_into = [](std::vector<std::string>& out) {
    return [&out](const json& x) {
      if (!x.is_string())
        return false;
      out.push_back(x.get<std::string>());
      return true;
    };
  };
  from.each("networks", texts_into(result.networks));
  from.each("sensors", texts_into(result.sensors));
  from.each("hooks", texts_into(result.hooks));
  from.each("monitors", texts_into(result.monitors));
  from.read("insecure", result.is_insecure);
  from.read("patience", result.patience);
  from.read("log_level", level);
  from.read("log_json", result.log_json);
  from.read("log_file", result.log_file);
  from.read("directory", result.directory);
  if (!from.is_good() || level > static_cast<uint8_t>(severity::error))
    return make_error(status::bad_param,
                      "the settings on standard input are damaged; start the "
                      "daemon by troupe up");
  result.log_level = static_cast<severity>(level);
  rest = bytes.substr(end + 1);
  return result;
}

std::string encode(const join_answer& x) {
  return std::string{answer_mark} + std::to_string(x.slots) + "\n";
}

std::optional<join_answer> find_join_answer(std::string_view output) {
  while (!output.empty()) {
    const auto end = output.find('\n');
    const auto line = output.substr(0, end);
    if (line.substr(0, answer_mark.size()) == answer_mark)
      if (const auto slots =
            wire::parse_number(line.substr(answer_mark.size()));
          slots && *slots <= UINT32_MAX)
        return join_answer{static_cast<uint32_t>(*slots)};
    if (end == std::string_view::npos)
      break;
    output.remove_prefix(end + 1);
  }
  return std::nullopt;
}

} // namespace troupe
