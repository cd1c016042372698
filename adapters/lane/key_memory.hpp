#pragma once

#include <openssl/crypto.h>

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

namespace troupe {

/// Bytes that nobody may find in memory later: of one size, never copied, and
/// wiped when their owner ends or moves on.
class secret {
public:
  secret() noexcept = default;

  /// Holds `size` zeros.
  explicit secret(size_t size)
    : bytes_(std::make_unique<unsigned char[]>(size)), size_(size) {
    // nop
  }

  secret(secret&& other) noexcept
    : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {
    // nop
  }

  secret& operator=(secret&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    other.wipe();
    return *this;
  }

  ~secret() {
    wipe();
  }

  unsigned char* data() noexcept {
    return bytes_.get();
  }

  size_t size() const noexcept {
    return size_;
  }

  std::string_view view() const noexcept {
    return {reinterpret_cast<const char*>(bytes_.get()), size_};
  }

  /// Makes it empty.
  void wipe() noexcept {
    if (bytes_)
      OPENSSL_cleanse(bytes_.get(), std::exchange(size_, 0));
    bytes_.reset();
  }

private:
  std::unique_ptr<unsigned char[]> bytes_;
  size_t size_ = 0;
};

/// Has the system keep private keys that are made or read from now on in pages
/// of their own, which are neither swapped nor dumped, and wiped when a key
/// goes. Where the limit of locked memory (`ulimit -l`) forbids the first, the
/// rest holds. Before the first key, once; more often does nothing.
/// Source: CRYPTO_secure_malloc_init(3).
void lock_keys() noexcept;

} // namespace troupe
