// Whether the tests and the program are built with a sanitizer. A sanitizer keeps freed memory,
// reserves much more memory, is slow, and must be the first library of a process.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DMLOP_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define DMLOP_TEST_SANITIZED 1
#endif
#endif
#ifndef DMLOP_TEST_SANITIZED
#define DMLOP_TEST_SANITIZED 0
#endif

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace dmlop::test {

constexpr bool is_sanitized = DMLOP_TEST_SANITIZED != 0;

/// While one lives, memory that this thread allocates may leak.
class LeaksOnPurpose {
 public:
#if defined(__SANITIZE_ADDRESS__)
  LeaksOnPurpose() {
    __lsan_disable();
  }
  ~LeaksOnPurpose() {
    __lsan_enable();
  }
#else
  LeaksOnPurpose() = default;
  ~LeaksOnPurpose() {}  // not trivial, because objects are used for their scope
#endif
  LeaksOnPurpose(const LeaksOnPurpose&) = delete;
  LeaksOnPurpose& operator=(const LeaksOnPurpose&) = delete;
};

}  // namespace dmlop::test
