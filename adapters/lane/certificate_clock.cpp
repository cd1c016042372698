#include "adapters/lane/certificate_clock.hpp"

namespace troupe {

namespace {

/// Steady time counts what the machine sleeps: certificates age meanwhile.
certificate_clock::moment at_present() {
  timespec passed{};
  ::clock_gettime(CLOCK_BOOTTIME, &passed);
  return {std::time(nullptr), std::chrono::seconds{passed.tv_sec}};
}

bool is_within(const X509* x, time_t when) {
  return X509_cmp_time(X509_get0_notBefore(x), &when) < 0
         && X509_cmp_time(X509_get0_notAfter(x), &when) > 0;
}

} // namespace

const certificate_clock& certificate_clock::of_process() {
  static const certificate_clock result{at_present()};
  return result;
}

bool certificate_clock::accepts(const X509* x, moment now) const {
  const auto passed = (now.steady - start_.steady).count();
  return is_within(x, start_.wall + passed) || is_within(x, now.wall);
}

bool certificate_clock::accepts(const X509* x) const {
  return accepts(x, at_present());
}

} // namespace troupe
