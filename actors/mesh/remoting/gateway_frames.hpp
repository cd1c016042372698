#pragma once

#include "messages/bounded_codec.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// What the gateways of two nodes tell each other. They have a *conversation*: each
// side draws a number for it, greets the other with it, and counts its bundles. A
// bundle that is missing, or that makes no sense, ends the conversation for both,
// and with it all that each holds of the other; the next greeting begins another.
//
// Who holds a handle is counted as often as it was handed over: whoever does not
// need it any more says how many of these it gives back, so that nothing is lost
// of a handle that is on its way meanwhile.

namespace troupe {

/// A handle of a third node, or of the receiver: who knows the key may use it.
struct far_handle {
  uint32_t rank = 0;
  uint64_t incarnation = 0;
  uint64_t id = 0;
  uint64_t key = 0;
};

/// An actor of the sender that is handed over: its handle stands in the content
/// beside it.
struct given_handle {
  uint64_t id = 0;
  uint64_t key = 0;
};

/// What is known of the interface of an actor whose handle stands in the content,
/// of the sender or of a third node: digests of signatures (`digest_of`).
struct typed_handle {
  uint32_t rank = 0;
  uint64_t incarnation = 0;
  uint64_t id = 0;
  std::vector<uint64_t> digests;
};

/// Bytes that stand in what is read.
struct byte_view {
  std::string_view bytes;
};

/// Begins a conversation. `yours` is 0 until the receiver's number is known.
struct greeting_frame {
  uint32_t version = 0;
  uint32_t mine = 0;
  uint32_t yours = 0;
};

/// A message for an actor of the receiver.
struct message_frame {
  uint64_t to = 0;

  /// The sender and its key, if it is an actor of this node, which is handed over
  /// with it; else of another, or none.
  uint64_t from = 0;
  uint64_t key = 0;
  std::optional<far_handle> far_from;

  /// Of CAF: whether it is a request or an answer, and which.
  uint64_t mid = 0;
  std::vector<given_handle> given;
  byte_view content;
  std::vector<typed_handle> typed{};
};

/// Has a handle that came from a third node: hands itself over.
struct watch_frame {
  uint64_t id = 0;
  uint64_t key = 0;
};

/// The receiver may not have what it wanted to watch: that does not count as handed
/// over.
struct refused_watch_frame {
  uint64_t id = 0;
};

/// Gives back what was handed over `count` times.
struct release_frame {
  uint64_t id = 0;
  uint64_t count = 0;
};

/// An actor of the sender has ended, or never was. After all that it has sent.
struct down_frame {
  uint64_t id = 0;
  uint8_t code = 0;
  uint64_t category = 0;
  std::string reason;
};

/// An actor of the sender, which is handed over, is linked to one of the receiver;
/// or no longer.
struct link_frame {
  uint64_t theirs = 0;
  uint64_t mine = 0;
  uint64_t key = 0;
  bool is_linked = false;
};

/// Another node answers a request of the receiver's actor from now on.
struct moved_frame {
  uint64_t from = 0;
  uint64_t mid = 0;
  uint32_t rank = 0;
};

/// What the sender has passed on to another node for actors of the receiver may be
/// lost.
struct lost_way_frame {
  uint32_t rank = 0;
};

/// Asks for an actor: a published one, or to spawn one. In `content` the
/// arguments for the latter.
struct ask_frame {
  uint64_t number = 0;
  bool is_spawn = false;
  std::string name;
  std::vector<given_handle> given;
  byte_view content;
  std::vector<typed_handle> typed{};
};

/// In `content` a handle, or an error.
struct answer_frame {
  uint64_t number = 0;
  std::vector<std::string> interface;
  std::vector<given_handle> given;
  byte_view content;
  std::vector<typed_handle> typed{};
};

/// How many bytes of bundles have been taken in this conversation: of those that
/// have other frames than these.
struct taken_frame {
  uint64_t bytes = 0;

  /// Wants to hear the same of the receiver.
  bool asks = false;
};

using gateway_frame =
  std::variant<greeting_frame, message_frame, watch_frame, refused_watch_frame,
               release_frame, down_frame, link_frame, moved_frame,
               lost_way_frame, ask_frame, answer_frame, taken_frame>;

inline constexpr uint32_t gateway_version = 2;

/// Stands before the frames of a bundle. A greeting comes alone, with number 0.
struct bundle_header {
  uint32_t mine = 0;
  uint32_t yours = 0;

  /// 1, 2, 3 ... per conversation.
  uint64_t number = 0;
};

inline constexpr size_t bundle_header_size = 17;

/// Begins a bundle, whose header comes when it is sent.
void begin_bundle(std::string& out);
void append_frame(std::string& out, const gateway_frame& x);
void put_header(std::string& bundle, const bundle_header& x);

/// @returns nothing for bytes that are no bundle.
std::optional<bundle_header> header_of(std::string_view bundle);

/// Takes the frames of a bundle. Reads nothing beyond it and holds no more memory
/// than it justifies, whatever the bytes are.
class bundle_reader {
public:
  /// @param bundle Has to outlive this and its frames.
  explicit bundle_reader(std::string_view bundle);

  /// @returns the next frame, none at the end, or why there is none.
  caf::expected<std::optional<gateway_frame>> next();

private:
  codec_reader in_;
};

/// An error, as far as it travels: where it belongs, and its text.
down_frame make_down(uint64_t id, const caf::error& x);
caf::error error_of(const down_frame& x);

} // namespace troupe
