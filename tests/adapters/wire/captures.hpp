#pragma once

// Reads the captured sessions of tests/captures: what real libraries and
// servers said to each other. tests/captures/README.md describes the files.

#include "adapters/wire/frame.hpp"
#include "adapters/wire/handshake.hpp"
#include "adapters/wire/pushes.hpp"
#include "adapters/wire/replies.hpp"
#include "adapters/wire/requests.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace troupe::wire::test {

/// What a captured message is; says which decoder reads it.
enum class message_kind {
  hello,
  connect_reply,
  request,
  heartbeat,
  reply,
  event,
  output
};

/// One message of a capture with all that is needed to decode it.
struct captured {
  message_kind kind = message_kind::hello;

  /// The message with its header; only the reply to a greeting has none.
  std::string bytes;
  std::string payload;

  /// How the comment of the file describes it.
  std::string comment;

  dialect rules;

  /// Of the greeting that the session began with.
  peer_role role = peer_role::client;

  /// The request that a reply answers.
  command asked = command::job_info;
};

struct capture {
  std::string name;
  std::vector<captured> messages;
};

inline std::string from_hex(const std::string& hex) {
  auto result = std::string{};
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    result += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return result;
}

inline std::string to_hex(std::string_view bytes) {
  constexpr auto digits = std::string_view{"0123456789abcdef"};
  auto result = std::string{};
  for (const auto c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    result += digits[byte >> 4];
    result += digits[byte & 15];
  }
  return result;
}

/// Follows a session, so that each message gets its dialect and each reply its
/// request.
class session {
public:
  captured add(bool from_client, const std::string& kind, std::string bytes) {
    auto x = captured{};
    x.bytes = std::move(bytes);
    x.payload = kind == "ack" ? x.bytes : x.bytes.substr(frame_header_size);
    if (kind == "hello") {
      const auto greeting = decode_hello(x.payload);
      if (!greeting)
        throw std::runtime_error(reason_of(greeting.error()));
      rules_ = dialect_of(*greeting);
      rules_.expand_strings = false;
      rules_.signed_data_type = false;
      role_ = greeting->role;
    } else if (kind == "ack") {
      x.kind = message_kind::connect_reply;
    } else {
      classify(from_client, x);
    }
    x.rules = rules_;
    x.role = role_;
    return x;
  }

private:
  void classify(bool from_client, captured& x) {
    const auto tag = decode_header(x.bytes, byte_order::network).tag;
    if (!from_client) {
      x.kind = tag == tag_event    ? message_kind::event
               : tag == tag_output ? message_kind::output
                                   : message_kind::reply;
      if (const auto i = asked_.find(tag); i != asked_.end())
        x.asked = i->second;
    } else if (tag == tag_heartbeat) {
      x.kind = message_kind::heartbeat;
    } else {
      x.kind = message_kind::request;
      const auto request = decode_request(x.payload, rules_);
      if (!request)
        throw std::runtime_error(reason_of(request.error()));
      asked_[tag] = command_of(*request);
    }
  }

  dialect rules_;
  peer_role role_ = peer_role::client;
  std::map<uint32_t, command> asked_;
};

inline capture read_capture(const std::filesystem::path& path) {
  auto result = capture{path.filename(), {}};
  auto current = session{};
  auto comment = std::string{};
  auto file = std::ifstream{path};
  for (auto line = std::string{}; std::getline(file, line);) {
    if (line.empty())
      continue;
    if (line.front() == '#') {
      comment += line.substr(1) + '\n';
      continue;
    }
    auto fields = std::istringstream{line};
    auto direction = std::string{};
    auto kind = std::string{};
    auto hex = std::string{};
    fields >> direction >> kind >> hex;
    if (kind == "hello")
      current = session{};
    result.messages.push_back(
      current.add(direction == "C", kind, from_hex(hex)));
    result.messages.back().comment = std::move(comment);
    comment.clear();
  }
  return result;
}

/// All captures, in the order of their names.
inline std::vector<capture> read_captures(const std::filesystem::path& folder) {
  auto paths = std::vector<std::filesystem::path>{};
  for (const auto& entry : std::filesystem::directory_iterator{folder})
    if (entry.path().extension() == ".hex")
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  auto result = std::vector<capture>{};
  for (const auto& path : paths)
    result.push_back(read_capture(path));
  return result;
}

/// Decodes a message by its kind and encodes it again.
/// @returns the bytes of the payload, or the error of the decoder or encoder.
inline caf::expected<std::string> recode(const captured& x,
                                         std::string_view payload) {
  auto out = std::string{};
  auto finish = [&](caf::error err) -> caf::expected<std::string> {
    if (err)
      return err;
    return out;
  };
  switch (x.kind) {
    case message_kind::hello: {
      const auto y = decode_hello(payload);
      if (!y)
        return y.error();
      auto err = encode_hello(*y, out);
      out.erase(0, frame_header_size);
      return finish(std::move(err));
    }
    case message_kind::connect_reply: {
      const auto form = connect_reply_form_of(x.role, x.rules.peer);
      const auto y = decode_connect_reply(payload, form);
      if (!y)
        return y.error();
      encode_connect_reply(*y, form, out);
      return out;
    }
    case message_kind::request: {
      const auto y = decode_request(payload, x.rules);
      if (!y)
        return y.error();
      return finish(encode_request(*y, x.rules, out));
    }
    case message_kind::reply: {
      const auto y = decode_reply(x.asked, payload, x.rules);
      if (!y)
        return y.error();
      return finish(encode_reply(*y, x.rules, out));
    }
    case message_kind::event: {
      const auto y = decode_event(payload, x.rules);
      if (!y)
        return y.error();
      // Events do not say whether they name a range: 3.2 servers never do.
      const auto form = y->range == data_range::undef
                          ? event_form::without_range
                          : event_form::with_range;
      return finish(encode_event(*y, x.rules, out, form));
    }
    case message_kind::output: {
      const auto y = decode_output(payload, x.rules);
      if (!y)
        return y.error();
      return finish(encode_output(*y, x.rules, out));
    }
    case message_kind::heartbeat:
      return std::string{payload};
  }
  return out;
}

} // namespace troupe::wire::test
