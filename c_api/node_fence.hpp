#pragma once

#include "c_api/meeting_gate.hpp"
#include "messages/collective.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace troupe::c_api {

class shared_posts;

/// Fences over our job for which its processes on this node meet in the memory
/// that they share, and fences over parts of it to which the server has given a cell
/// there: they need no server, or one of them asks it for all. The server counts the
/// calls of a process over the same processes as they come to it. So while one of
/// ours waits in the memory, no other of these goes to the server, and the other way
/// round. Safe on any thread.
/// Source: PMIx Standard v5, `PMIx_Fence`.
class node_fence {
public:
  /// @param where The memory.
  explicit node_fence(std::shared_ptr<shared_posts> where);

  /// Waits for all whom a fence names.
  /// @param x Gets what else the server is to know if it has to be asked.
  /// @returns whether all have come. If not, the server is going to be asked, as
  ///          after `begin`.
  bool meet(fence_request& x);

  /// The server is going to be asked, by a thread that waits for the answer.
  /// May wait for another thread to leave the memory.
  void begin(const fence_request& x);

  /// The same without waiting.
  /// @param ask Is called soon, on the thread that is in the memory.
  /// @returns false if no thread is: then `ask` is not needed.
  bool delay(const fence_request& x, std::function<void()> ask);

  /// The server has answered, or was not asked.
  void end();

  /// Has all who wait in the memory ask the server, from now on: it is lost, or
  /// we leave.
  void stop();

  /// There is another server.
  void start();

private:
  /// Where those whom a fence names meet in the memory.
  /// @returns nothing if they do not, or not in these words.
  std::optional<meeting_place> place_of(const fence_request& x,
                                        const store_access& at) const;

  /// Where those may meet whom a fence names in any words.
  std::optional<uint32_t> cell_of(const fence_request& x) const;

  const std::shared_ptr<shared_posts> where_;
  meeting_gate gate_;
};

} // namespace troupe::c_api
