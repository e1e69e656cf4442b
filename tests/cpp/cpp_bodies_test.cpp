// Bodies of functions in C++ have the value that the compiler gives them.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "cpp_text.hpp"

namespace dmlop::test::cpp_bodies_test {

namespace gsl {

template <typename To, typename From>
constexpr To narrow_cast(From value) {
  return static_cast<To>(value);
}

}  // namespace gsl

namespace {

using Made = MadeOfCpp;
using UINT = std::uint32_t;
using INT = std::int32_t;
using FLOAT = float;

struct Body {
  std::string text;
  std::uint32_t value;
};

}  // namespace

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wdangling-else"
#pragma GCC diagnostic ignored "-Woverflow"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#endif
#define BODY(...)                                                          \
  {                                                                        \
    "{" #__VA_ARGS__ "}", static_cast<std::uint32_t>([] { __VA_ARGS__ }()) \
  }

TEST_CASE("from C++: loops and conditions have the value that the compiler gives them") {
  // clang-format off
  const Body bodies[] = {
      BODY(UINT n = 1; for (UINT i = 0; i < 5; ++i) n *= 2; return n;),
      BODY(UINT n = 0; for (int i = 10, j = 0; i > j; i--, j += 2) n += i * j; return n;),
      BODY(UINT a[4]; for (UINT i = 0; i < 4; ++i) { a[i] = i * i; } return a[2] + a[3];),
      BODY(UINT a[2][3] = {}; for (UINT i = 0; i < 2; ++i) for (UINT j = 0; j < 3;
           ++j) a[i][j] = 3 * i + j; return a[1][2] * 10 + a[0][1];),
      BODY(std::vector<UINT> v; for (UINT i = 0; i < 4; ++i) v.push_back(i + 1); UINT n = 1;
           for (UINT s : v) n *= s; return n;),
      BODY(std::array<UINT, 3> a = {1, 2, 3}; for (auto& s : a) s += 4; return a[0] * a[2];),
      BODY(std::array<UINT, 3> a = {1, 2, 3}; for (auto s : a) s += 4; return a[0] * a[2];),
      BODY(UINT n = 0; for (UINT s : {3, 4, 5}) { if (s == 4) continue; n = n * 10 + s; }
           return n;),
      BODY(UINT n = 0; while (true) { if (++n == 7) break; } return n;),
      BODY(UINT n = 100; while (n % 16) ++n; return n;),
      BODY(UINT n = 0; for (UINT i = 0; i < 4; ++i) { for (UINT j = 0; j < 4; ++j) {
           if (j == i) break; n += 10; } n += 1; } return n;),
      BODY(UINT n = 0; for (UINT i = 0; i < 9; ++i) { switch (i % 3) { case 0: continue;
           case 1: n += 1; break; default: n += 10; } n += 100; } return n;),
      BODY(UINT n = 0; switch (2) { case 1: n = 1; case 2: n += 2; case 3: n += 4; break;
           case 4: n = 9; } return n;),
      BODY(UINT n = 3; switch (9) { case 1: n = 1; } return n;),
      BODY(UINT n = 3; switch (9) { default: n = 5; break; case 1: n = 1; } return n;),
      BODY(UINT n = 3; if (n > 2) n = 5; else if (n > 1) n = 6; else n = 7; return n;),
      BODY(UINT n = 1; if (n > 2) n = 5; else if (n > 0) { n = 6; } else n = 7; return n;),
      BODY(UINT n = 0; if (n > 2) n = 5; else if (n > 0) { n = 6; } else n = 7; return n;),
      BODY(UINT n = 0; if (true) if (n) n = 1; else n = 2; return n;),
      BODY(UINT n = 4; if (n == 4) return 8u; n = 5; return n;),
      BODY(UINT n = 4; for (;;) { if (n == 9) return n; ++n; }),
      BODY(UINT n = 4; UINT* p = nullptr; if (p == nullptr) p = &n; if (p)* p = 6; return n;),
      BODY(UINT n = 4; UINT* p = &n;
           return !p                        ? 1u : p != nullptr && *p == 4 ? 2u : 3u;),
      BODY(UINT n = 7; { UINT n = 8; n += 1; } return n;),
      BODY(UINT s[4] = {2, 3, 4, 5}; UINT t[4]; UINT n = 1; for (int i = 3; i >= 0; --i) {
           t[i] = n; n *= s[i]; } return t[0] * 1000 + t[2];),
      BODY(UINT n = 0; bool b = false; for (UINT i = 0; i < 3 && !b; ++i) { b = i == 1; ++n; }
           return n;),
  };
  // clang-format on
  for (const auto& [text, value] : bodies) {
    CAPTURE(text);
    const Made made = make_axis("UINT Make() " + text, "Make()");
    CHECK(made.findings == "");
    if (made.findings.empty()) CHECK(made.desc.at("Axis") == value);
  }
}

TEST_CASE("from C++: calls and structs have the value that the compiler gives them") {
  // clang-format off
  const Body bodies[] = {
      BODY(auto f = [](UINT a, UINT b) { return a * 10 + b; }; return f(1, 2) + f(3, 4);),
      BODY(UINT n = 2; auto f = [&](UINT a) { return a * n; }; n = 5; return f(3);),
      BODY(UINT n = 2; auto f = [=](UINT a) { return a * n; }; n = 5; return f(3);),
      BODY(UINT n = 2; auto f = [n](UINT a) { return a * n; }; n = 5; return f(3);),
      BODY(UINT n = 2; auto f = [m = n + 1] { return m; }; n = 5; return f();),
      BODY(UINT n = 2; auto f = [&n] { n *= 3; }; f(); f(); return n;),
      BODY(UINT n = 1; auto f = [&] { n = 2; }; return n;),
      BODY(UINT n = 1; auto f = [&] { n = 2; }; n = 5; f(); return n;),
      BODY( auto f = [](UINT a) { return a + 1; }; auto g = [&](UINT a) { return f(a) * f(a); };
           return g(3);),
      BODY(return [](UINT a) { return a * 2; }(4);),
      BODY(auto f = [](UINT a) -> float { return a / 2; }; return f(5) * 2;),
      BODY(auto f = [](float a) { return a * 2; }; return f(3.75f);),
      BODY(auto f = [](unsigned char a) { return a; }; return f(258);),
      BODY(auto f = [](UINT& a) { a += 3; }; UINT n = 4; f(n); return n;),
      BODY(auto f = [](UINT a) { a += 3; return a; }; UINT n = 4; f(n); return n;),
      BODY(auto f = [](UINT* a) { a[1] = 9; }; UINT a[] = {1, 2}; f(a); return a[1];),
      BODY(auto f = [](std::vector<UINT> v) { v[0] = 9; return v[0]; }; std::vector<UINT> v = {1};
           return f(v) * 10 + v[0];),
      BODY(auto f = [](const std::vector<UINT>& v) { UINT n = 1; for (auto s : v) n *= s; return n;
           }; return f({2, 3, 4});),
      BODY(auto f = [](UINT a) { if (a > 3) return 1; return 2; }; return f(3) * 10 + f(4);),
      BODY(std::vector<UINT> v = {2, 3, 4};
           return std::accumulate(v.begin(), v.end(), 1u, std::multiplies<UINT>());),
      BODY(std::vector<UINT> v = {2, 3, 4};
           return std::accumulate(std::begin(v), std::end(v), 1, std::multiplies<>{});),
      BODY(UINT a[] = {2, 3, 4}; return std::accumulate(a, a + 2, 0u);),
      BODY(UINT a[] = {2, 3, 4}; return std::accumulate(a + 1, a + 3, 1u, [](UINT x, UINT y) {
           return x * 2 + y; });),
      BODY(float a[] = {0.5f, 0.75f}; return std::accumulate(a, a + 2, 0) + 7;),
      BODY(std::vector<UINT> v = {2, 3, 4}; std::vector<UINT> w(v.begin() + 1, v.end());
           return w.size() * 10 + w.front() + v.back() + v.at(1) + v.empty();),
      BODY(std::vector<UINT> v = {2, 3, 4}; std::vector<UINT> w{v.begin(), v.end() - 1};
           auto f = [](std::vector<UINT> u) { return u.size() * 10 + u[0]; };
           return f({v.begin() + 1, v.end()}) * 100 + w.size() * 10 + w[1];),
      BODY(struct S { UINT a[2]; }; S s{{3, 4}}; S t{s}; t.a[1] = 5; return s.a[1] * 10 + t.a[1];),
      BODY(return std::sqrt(64.0f) + std::sqrt(81) + sqrtf(2.25f) * 2;),
      BODY(return 1.0f / std::sqrt(3.0f) * 1000000;),
      BODY(return std::floor(2.7f) + std::ceil(2.2) + std::trunc(-0.5) + std::round(2.5f);),
      BODY(return std::abs(-3) + std::fabs(-2.5f) * 2;),
      BODY(std::vector<UINT> v(3); return gsl::narrow_cast<UINT>(v.size()) + std::size(v);),
      BODY(UINT a[] = {5, 6, 7}; UINT* p = a; ++p; p += 1; return *p * 10 + *(p - 1);),
      BODY(UINT a[] = {5, 6, 7}; UINT* p = &a[1]; UINT n = p[1] * 10; return n + *p++;),
      BODY(struct S { UINT a; UINT b = 7; }; S s{3}; S t = s; t.b = 1; return s.a * 10 + s.b;),
      BODY(struct S { std::array<UINT, 3> a; float f; }; S s{{1, 2}, 2.5f};
           return s.a[1] * 100 + s.a[2] * 10 + s.f * 2;),
      BODY(struct S { UINT a[3]; }; S s[2] = {{{1, 2, 3}}, {}}; s[1].a[2] = 4;
           return s[0].a[1] * 10 + s[1].a[2] + s[1].a[0];),
      BODY(struct S { UINT a = 2; UINT b[2] = {3, 4}; }; S s; return s.a * 100 + s.b[1];),
      BODY(struct S { unsigned char a; }; S s{}; s.a = 300; return s.a;),
      BODY(struct S { UINT* p; }; UINT n = 1; S s{&n}; *s.p = 6; return n;),
      BODY( struct S { UINT a; UINT b; }; auto f = [](const S& s) { return S{s.b, s.a}; };
           return f({3, 4}).a * 10 + f({3, 4}).b;),
  };
  // clang-format on
  for (const auto& [text, value] : bodies) {
    CAPTURE(text);
    const Made made = make_axis("UINT Make() " + text, "Make()");
    CHECK(made.findings == "");
    if (made.findings.empty()) CHECK(made.desc.at("Axis") == value);
  }
}
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

}  // namespace dmlop::test::cpp_bodies_test
