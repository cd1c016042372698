#include "adapters/spool/spool_store.hpp"

#include "messages/status.hpp"

#include <sqlite3.h>
#include <zlib.h>

#include <cstring>
#include <mutex>
#include <utility>

namespace troupe {

namespace {

/// The checksum of a record: of its bytes, and of what it is found by.
int64_t checksum(uint64_t log, uint64_t number, const void* bytes,
                 size_t size) {
  const uint64_t name[] = {log, number};
  auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(name), sizeof(name));
  sum = crc32_z(sum, static_cast<const Bytef*>(bytes), size);
  return static_cast<int64_t>(sum);
}

/// Has SQLite put temporary files into `directory`. Not by an environment
/// variable: our children would inherit it.
void use_directory(const std::string& directory) {
  static std::mutex guard;
  const auto lock = std::lock_guard{guard};
  if (sqlite3_temp_directory != nullptr && directory == sqlite3_temp_directory)
    return;
  sqlite3_free(sqlite3_temp_directory);
  sqlite3_temp_directory = sqlite3_mprintf("%s", directory.c_str());
}

/// Resets a statement whatever becomes of it.
class use_of {
public:
  explicit use_of(sqlite3_stmt* x) : x_(x) {
    // nop
  }

  ~use_of() {
    sqlite3_reset(x_);
    sqlite3_clear_bindings(x_);
  }

  use_of(const use_of&) = delete;
  use_of& operator=(const use_of&) = delete;

private:
  sqlite3_stmt* x_;
};

int64_t number_of(uint64_t x) {
  return static_cast<int64_t>(x);
}

} // namespace

void spool_store::closer::operator()(sqlite3* x) const noexcept {
  sqlite3_close_v2(x);
}

void spool_store::closer::operator()(sqlite3_stmt* x) const noexcept {
  sqlite3_finalize(x);
}

spool_store::~spool_store() = default;

caf::error spool_store::failure(const char* what) const {
  const auto code = sqlite3_extended_errcode(db_.get());
  return make_error((code & 0xff) == SQLITE_FULL ? status::out_of_resource
                                                 : status::in_errno,
                    std::string{what} + ": " + sqlite3_errmsg(db_.get()));
}

caf::error spool_store::run(const char* sql) {
  if (sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return failure("the spool of events");
  return {};
}

caf::error spool_store::prepare(const char* sql, statement& result) {
  sqlite3_stmt* made = nullptr;
  if (sqlite3_prepare_v3(db_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &made,
                         nullptr)
      != SQLITE_OK)
    return failure("the spool of events");
  result.reset(made);
  return {};
}

caf::expected<std::unique_ptr<spool_store>>
spool_store::open(const std::string& directory) {
  use_directory(directory);
  auto result = std::unique_ptr<spool_store>{new spool_store};
  sqlite3* made = nullptr;
  // An empty name is a database of its own, in a file without a name.
  const auto code = sqlite3_open_v2(
    "", &made, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
    nullptr);
  result->db_.reset(made);
  if (code != SQLITE_OK)
    return made != nullptr ? result->failure("the spool of events")
                           : make_error(status::nomem, "no memory for a spool");
  // The rollback journal, of one batch, stays in memory: a write that fails
  // half-way leaves nothing behind. Nothing survives us, so nothing is synced.
  for (const auto* sql :
       {"PRAGMA journal_mode = MEMORY", "PRAGMA synchronous = OFF",
        "PRAGMA temp_store = FILE", "PRAGMA cache_size = -1024",
        "PRAGMA cell_size_check = ON",
        "CREATE TABLE record(log INTEGER, number INTEGER, sum INTEGER, "
        "bytes BLOB, PRIMARY KEY(log, number)) WITHOUT ROWID"})
    if (auto err = result->run(sql))
      return err;
  for (const auto& [sql, to] : {
         std::pair{"INSERT OR REPLACE INTO record VALUES(?1, ?2, ?3, ?4)",
                   &result->insert_},
         std::pair{"SELECT sum, bytes FROM record WHERE log = ?1 AND "
                   "number = ?2",
                   &result->select_},
         std::pair{"DELETE FROM record WHERE log = ?1 AND number = ?2",
                   &result->erase_one_},
         std::pair{"DELETE FROM record WHERE log = ?1", &result->erase_log_},
       })
    if (auto err = result->prepare(sql, *to))
      return err;
  return result;
}

caf::error spool_store::write(const write_spool& what) {
  if (auto err = run("BEGIN"))
    return err;
  auto* insert = insert_.get();
  for (const auto& x : what.records) {
    const auto in_use = use_of{insert};
    sqlite3_bind_int64(insert, 1, number_of(what.log));
    sqlite3_bind_int64(insert, 2, number_of(x.number));
    sqlite3_bind_int64(
      insert, 3, checksum(what.log, x.number, x.bytes.data(), x.bytes.size()));
    sqlite3_bind_blob64(insert, 4, x.bytes.data(), x.bytes.size(),
                        SQLITE_STATIC);
    if (sqlite3_step(insert) != SQLITE_DONE) {
      auto err = failure("the spool of events");
      sqlite3_reset(insert);
      run("ROLLBACK"); // May have happened by itself.
      return err;
    }
  }
  auto err = run("COMMIT");
  if (err)
    run("ROLLBACK");
  return err;
}

spool_content spool_store::read(const read_spool& what) {
  auto result = spool_content{};
  auto* select = select_.get();
  for (const auto number : what.numbers) {
    const auto in_use = use_of{select};
    sqlite3_bind_int64(select, 1, number_of(what.log));
    sqlite3_bind_int64(select, 2, number_of(number));
    if (sqlite3_step(select) != SQLITE_ROW)
      continue;
    const auto sum = sqlite3_column_int64(select, 0);
    const auto* bytes = sqlite3_column_blob(select, 1);
    const auto size = static_cast<size_t>(sqlite3_column_bytes(select, 1));
    if (sum != checksum(what.log, number, bytes, size))
      continue;
    auto record = spool_record{number, {}};
    if (size > 0)
      record.bytes.assign(static_cast<const char*>(bytes), size);
    result.records.push_back(std::move(record));
  }
  return result;
}

void spool_store::erase(const erase_spool& what) {
  run("BEGIN");
  const auto apply = [&](sqlite3_stmt* to, uint64_t number) {
    const auto in_use = use_of{to};
    sqlite3_bind_int64(to, 1, number_of(what.log));
    if (to == erase_one_.get())
      sqlite3_bind_int64(to, 2, number_of(number));
    // What is damaged stays: its space is lost, and nothing else.
    sqlite3_step(to);
  };
  if (what.numbers.empty())
    apply(erase_log_.get(), 0);
  for (const auto number : what.numbers)
    apply(erase_one_.get(), number);
  if (run("COMMIT"))
    run("ROLLBACK");
}

} // namespace troupe
