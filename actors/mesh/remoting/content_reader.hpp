#pragma once

#include "actors/mesh/remoting/member_node.hpp"
#include "actors/mesh/remoting/type_table.hpp"

#include <caf/deserializer.hpp>
#include <caf/expected.hpp>
#include <caf/message.hpp>

#include <array>
#include <string>
#include <string_view>

namespace troupe {

/// What CAF takes the node of a handle for while it is read: nobody's, so that it
/// asks the registry of the execution unit, which asks us. Also for our own
/// actors, which the other side may name only if it has been given them.
std::optional<wire_handle> handle_of(const caf::node_id& node,
                                     caf::actor_id id);

/// Builds messages from bytes that may come from anybody; see `content_writer`
/// for the rules. Holds no more memory than the bytes justify: a count is refused
/// that what is left cannot have, and the stack is no deeper than `max_stack`
/// whatever nests. Types are those of the table, and no others.
class content_reader final : public caf::deserializer {
public:
  /// Elements of one message, and bytes of the name of a type.
  static constexpr size_t max_elements = 64;
  static constexpr size_t max_name = 256;

  static constexpr size_t max_stack = size_t{256} << 10;

  /// @param unit Of the system of the actors, with a registry for handles.
  content_reader(caf::execution_unit* unit, const type_table& types,
                 std::string_view bytes);

  /// Reads all of the bytes; also what `inspect` throws is returned.
  caf::expected<caf::message> read();

  caf::error begin_object(uint16_t& number, std::string& name) override;
  caf::error end_object() override;
  caf::error begin_sequence(size_t& size) override;
  caf::error end_sequence() override;
  caf::error apply_raw(size_t size, void* data) override;

protected:
  caf::error apply_impl(int8_t& x) override;
  caf::error apply_impl(uint8_t& x) override;
  caf::error apply_impl(int16_t& x) override;
  caf::error apply_impl(uint16_t& x) override;
  caf::error apply_impl(int32_t& x) override;
  caf::error apply_impl(uint32_t& x) override;
  caf::error apply_impl(int64_t& x) override;
  caf::error apply_impl(uint64_t& x) override;
  caf::error apply_impl(float& x) override;
  caf::error apply_impl(double& x) override;
  caf::error apply_impl(long double& x) override;
  caf::error apply_impl(std::string& x) override;
  caf::error apply_impl(std::u16string& x) override;
  caf::error apply_impl(std::u32string& x) override;

private:
  caf::expected<caf::message> read_elements();
  caf::error refuse(const char* what);
  caf::error take(void* data, size_t size);
  caf::error take_count(size_t& x);
  bool is_deep() const;

  template <class T>
  caf::error take_number(T& x) {
    return take(&x, sizeof(x));
  }

  template <class String>
  caf::error take_text(String& x);

  const type_table& types_;
  std::string_view rest_;

  /// Nothing is taken any more: CAF says nothing of what fails in a message
  /// within a value.
  bool has_failed_ = false;

  /// Elements of sequences that may still come.
  size_t elements_;

  /// Where the stack was when reading began.
  const char* base_ = nullptr;

  /// Rank, incarnation and key of the handle that is being read, and how much
  /// of them CAF has taken.
  std::array<uint8_t, 20> node_{};
  size_t node_left_ = 0;
  bool is_node_next_ = false;
};

} // namespace troupe
