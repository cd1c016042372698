#pragma once

#include "actors/mesh/remoting/member_node.hpp"
#include "actors/mesh/remoting/type_table.hpp"

#include <caf/node_id.hpp>
#include <caf/serializer.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// How a handle begins where CAF writes what kind of node it has. No text that a
/// program would use.
inline constexpr auto member_atom = caf::atom("__member__");

/// Writes the content of messages for another node: any types with `inspect`
/// that its table has.
///
///     number of elements          7 bits a byte, lowest first
///     each: code of its type      one byte; 0: its name follows
///           what inspect says
///
///     integers, floats            as in memory, lowest byte first
///     std::string                 count, bytes
///     sequences                   count, elements
///     handles                     id, `member_atom`, rank, incarnation, key
class content_writer final : public caf::serializer {
public:
  /// Gives handles away.
  class giver {
  public:
    virtual ~giver();

    /// @returns the handle as it travels.
    virtual wire_handle give(const member_name& node, caf::actor_id id) = 0;

    /// The same for an actor of another actor system of this process. Called
    /// before CAF sees to the actor in the system of the unit.
    /// @param node The name of a system that is no member.
    /// @returns nothing if other nodes cannot reach it.
    virtual std::optional<wire_handle> give_foreign(const caf::node_id& node,
                                                    caf::actor_id id) = 0;
  };

  /// @param unit Of the system of the actors.
  /// @param out  What is appended to; a failure leaves a part.
  /// @param most Bytes of one message.
  content_writer(caf::execution_unit* unit, const type_table& types,
                 giver& handles, std::string& out, size_t most);

  /// @returns why the message cannot go: a type that the program has not
  ///          allowed, or too many bytes.
  caf::error write(const caf::type_erased_tuple& x);

  /// What a handle says of its node.
  caf::error put_node(const member_name& x);

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
  caf::error put_handle(const wire_handle& x);
  caf::error put_foreign(const caf::node_id& node, size_t written);
  caf::error write_element(const caf::type_erased_tuple& x, size_t position);
  caf::error put(const void* data, size_t size);
  caf::error put_count(size_t x);

  template <class T>
  caf::error put_number(const T& x) {
    return put(&x, sizeof(x));
  }

  const type_table& types_;
  giver& handles_;
  std::string& out_;
  size_t end_;

  /// CAF says nothing of what fails in a message within a value.
  bool has_failed_ = false;

  /// The last number: the id, when a handle goes on to its node, and the one
  /// before what CAF says of the kind of node.
  uint64_t last_ = 0;
  uint64_t before_last_ = 0;

  /// Where the last number ends; and, of a handle whose node is of CAF's own
  /// kind, what comes next: a process, then the bytes of a host.
  size_t last_end_ = 0;
  size_t parts_left_ = 0;
  size_t next_part_ = 0;
  uint32_t process_ = 0;
  caf::node_id::default_data::host_id_type host_{};
};

} // namespace troupe
