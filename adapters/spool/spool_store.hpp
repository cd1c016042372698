#pragma once

#include "messages/spool.hpp"

#include <caf/expected.hpp>

#include <memory>
#include <string>
#include <vector>

struct sqlite3;      // SQLite's
struct sqlite3_stmt; // SQLite's

namespace troupe {

/// Records in a private temporary database: a file that has no name, and is
/// gone with the process, however that ends. Each record has a checksum. For
/// one thread at a time; what it does may block.
/// Source: guarantees 5.1, "Spool".
class spool_store {
public:
  /// @param directory Where the file is.
  static caf::expected<std::unique_ptr<spool_store>>
  open(const std::string& directory);

  ~spool_store();

  spool_store(const spool_store&) = delete;
  spool_store& operator=(const spool_store&) = delete;

  /// Keeps records. If that fails, none counts as kept; what was kept before
  /// can still be read.
  /// @returns `out_of_resource` if the disk is full, `in_errno` for what else
  ///          is wrong with it.
  caf::error write(const write_spool& what);

  /// Gives records back, in the order asked. What is damaged or not there is
  /// not among them.
  spool_content read(const read_spool& what);

  void erase(const erase_spool& what);

  /// Whether it is sure that nothing is kept.
  bool is_empty();

private:
  struct closer {
    void operator()(sqlite3* x) const noexcept;
    void operator()(sqlite3_stmt* x) const noexcept;
  };

  using statement = std::unique_ptr<sqlite3_stmt, closer>;

  spool_store() = default;

  caf::error run(const char* sql);
  caf::error prepare(const char* sql, statement& result);
  caf::error failure(const char* what) const;

  std::unique_ptr<sqlite3, closer> db_;
  statement insert_;
  statement select_;
  statement erase_;
  statement any_;
};

} // namespace troupe
