#pragma once

#include <memory>
#include <utility>

namespace troupe {

/// A value on the heap that copies, compares and inspects like the value
/// itself: lets a variant hold types that are incomplete or large.
template <class T>
class box {
public:
  box() : ptr_(std::make_unique<T>()) {
    // nop
  }

  box(T x) : ptr_(std::make_unique<T>(std::move(x))) {
    // nop
  }

  box(const box& other)
    : ptr_(other.ptr_ ? std::make_unique<T>(*other) : nullptr) {
    // nop
  }

  /// Leaves `other` without a value: it may only be assigned to or destroyed.
  box(box&& other) noexcept = default;

  box& operator=(const box& other) {
    return *this = box{other};
  }

  box& operator=(box&& other) noexcept = default;

  ~box() = default;

  T& operator*() {
    return *ptr_;
  }

  const T& operator*() const {
    return *ptr_;
  }

  T* operator->() {
    return ptr_.get();
  }

  const T* operator->() const {
    return ptr_.get();
  }

private:
  std::unique_ptr<T> ptr_;
};

template <class T>
bool operator==(const box<T>& x, const box<T>& y) {
  return *x == *y;
}

template <class Inspector, class T>
typename Inspector::result_type inspect(Inspector& f, box<T>& x) {
  return f(*x);
}

} // namespace troupe
