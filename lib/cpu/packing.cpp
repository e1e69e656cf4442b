#include "cpu/packing.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/parallel.hpp"
#include "cpu/halves.hpp"
#include "cpu/panels.hpp"
#include "cpu/rounding.hpp"
#include "tensor/half.hpp"
#include "tensor/visit_type.hpp"

namespace dmlop::cpu {
namespace {

constexpr std::uint64_t page = page_bytes;

template <typename Element>
Element element_at(const std::byte* from) {
  Element element;
  std::memcpy(&element, from, sizeof element);
  return element;
}

template <typename T, typename Element>
T number(Element element) {
  if constexpr (std::is_same_v<Element, Half>) {
    return static_cast<T>(half_to_float(element.bits));
  } else {
    return static_cast<T>(element);
  }
}

/// Elements that are a stride apart, which may be a constant.
template <typename Element, typename Stride, typename T>
void read_steps(const std::byte* __restrict from, Stride stride, std::uint64_t count,
                T* __restrict to) {
  for (std::uint64_t i = 0; i < count; ++i)
    to[i] = number<T>(element_at<Element>(from + i * (stride * sizeof(Element))));
}

template <typename Element, typename T>
void read_near(const std::byte* from, std::uint64_t stride, std::uint64_t count, T* to) {
  if constexpr (std::is_same_v<Element, T>) {
    if (stride == 1) {
      std::memcpy(to, from, count * sizeof(T));
      return;
    }
  }
  if constexpr (std::is_same_v<Element, Half> && std::is_same_v<T, float>) {
    if (stride == 1) return widen_halves(from, count, to);
  }
  if (stride == 0) {
    std::fill_n(to, count, number<T>(element_at<Element>(from)));
  } else if (stride == 1) {
    read_steps<Element>(from, std::integral_constant<std::uint64_t, 1>(), count, to);
  } else if (stride == 2) {  // windows that move by two; a step that is known makes vectors
    read_steps<Element>(from, std::integral_constant<std::uint64_t, 2>(), count, to);
  } else {
    read_steps<Element>(from, stride, count, to);
  }
}

/// Whether all neighbors have one distance; the stride is that of the first ones.
bool are_even(std::span<const std::uint64_t> offsets, std::uint64_t& stride) {
  stride = offsets.size() < 2 ? 0 : offsets[1] - offsets[0];
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] - offsets[i - 1] != stride) return false;
  }
  return true;
}

template <typename T>
constexpr DataType type_of() {
  return std::is_same_v<T, float> ? DataType::Float32 : DataType::Float64;
}

template <typename T>
bool is_aligned(const std::byte* data) {
  return reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0;
}

/// Asks for elements that are needed soon: rows are too short for a processor to see it coming.
template <typename T>
void prefetch([[maybe_unused]] const T* from, [[maybe_unused]] std::size_t count) {
#if defined(__GNUC__)
  constexpr std::size_t line = 64 / sizeof(T);
  for (std::size_t i = 0; i < count; i += line) __builtin_prefetch(from + i);
#endif
}
constexpr std::size_t rows_ahead = 8;

}  // namespace

template <typename T>
void read_elements(DataType type, const std::byte* from, std::uint64_t stride, std::uint64_t count,
                   T* to) {
  const std::uint64_t step = stride * size_of(type);
  visit_type(type, [&](auto element) {
    using Element = decltype(element);
    if (step < page) return read_near<Element>(from, stride, count, to);
    in_pieces(count, far_steps, [&](std::uint64_t begin, std::uint64_t end) {
      read_near<Element>(from + begin * step, stride, end - begin, to + begin);
    });
  });
}

template void read_elements(DataType, const std::byte*, std::uint64_t, std::uint64_t, float*);
template void read_elements(DataType, const std::byte*, std::uint64_t, std::uint64_t, double*);

void write_elements(DataType type, std::span<const double> numbers, std::byte* to) {
  switch (type) {
    case DataType::Float32:
      return narrow_doubles(numbers.data(), 1, numbers.size(), to);
    case DataType::Float16:
      return halves_of_doubles(numbers, to);
    case DataType::UInt8:
      return saturate_doubles(numbers.data(), numbers.size(), false, to);
    case DataType::Int8:
      return saturate_doubles(numbers.data(), numbers.size(), true, to);
    case DataType::Int32:
      return wrap_doubles(numbers.data(), numbers.size(), to);
    default:
      refuse_unknown(type);
  }
}

namespace {

/// Lines that stand side by side and need no conversion: a few panels at a time, because the caches
/// hold few places that are as far apart as panels are.
template <typename T>
void copy_rows(const PackedLines<T>& lines, std::size_t count, std::size_t width, T* to) {
  const std::size_t depth = lines.depth.size(), at_once = 4 * width;
  const T* from = reinterpret_cast<const T*>(lines.data);
  Steps steps;
  for (std::size_t begin = 0; begin < count; begin += at_once) {
    const std::size_t here = std::min(at_once, count - begin);
    for (std::size_t k = 0; k < depth; ++k) {
      steps.add(begin == 0 ? far_steps : here);  // then its page is there
      if (k + rows_ahead < depth) prefetch(from + lines.depth[k + rows_ahead] + begin, here);
      put_in_panels(from + lines.depth[k] + begin, here, k, depth, width, to + begin * depth);
    }
  }
}

/// Lines that stand side by side: element k of all of them is a row.
template <typename T>
void pack_rows(const PackedLines<T>& lines, std::size_t count, std::size_t width,
               std::vector<T>& line, T* to) {
  if (lines.type == type_of<T>() && lines.line_stride == 1 && lines.zeros.empty() &&
      is_aligned<T>(lines.data))
    return copy_rows(lines, count, width, to);
  const std::size_t depth = lines.depth.size(), size = size_of(lines.type);
  std::uint64_t stride = 0;
  const bool is_near = are_even(lines.depth, stride) && stride * size < page;
  Steps steps;
  for (std::size_t k = 0; k < depth; ++k) {
    steps.add(is_near ? count : far_steps);
    read_elements(lines.type, lines.data + lines.depth[k] * size, lines.line_stride, count,
                  line.data());
    for (std::size_t i = 0; i < lines.zeros.size(); ++i) line[i] -= lines.zeros[i];
    put_in_panels(line.data(), count, k, depth, width, to);
  }
}

/// Lines of `depth` numbers side by side, `stride` apart, that need no conversion.
template <typename T>
void copy_columns(const T* from, std::uint64_t stride, std::size_t count, std::size_t depth,
                  std::size_t width, T* to) {
  Steps steps;
  for (std::size_t i = 0; i < count; i += width) {
    const std::size_t here = std::min(width, count - i);
    T* panel = to + i * depth;
    steps.add(here * (stride * sizeof(T) < page ? depth : far_steps));
    for (std::size_t next = i + width; next < std::min(i + 2 * width, count); ++next)
      prefetch(from + next * stride, depth);
    if (here < width) std::fill_n(panel, width * depth, T{0});
    transpose_lines(from + i * stride, stride, here, depth, width, panel);
  }
}

/// Lines whose elements are nearer to each other than the lines, `stride` apart.
template <typename T>
void pack_columns(const PackedLines<T>& lines, std::uint64_t stride, std::size_t count,
                  std::size_t width, std::vector<T>& line, T* to) {
  const std::size_t depth = lines.depth.size(), size = size_of(lines.type);
  const std::byte* begin = lines.data + lines.depth[0] * size;
  if (lines.type == type_of<T>() && stride <= 1 && (stride == 1 || depth == 1) &&
      lines.zeros.empty() && is_aligned<T>(begin))
    return copy_columns(reinterpret_cast<const T*>(begin), lines.line_stride, count, depth, width,
                        to);
  const std::size_t whole = (count + width - 1) / width * width;
  Steps steps;
  for (std::size_t i = 0; i < whole; ++i) {
    T* panel = to + i / width * width * depth + i % width;
    if (i >= count) {
      for (std::size_t k = 0; k < depth; ++k) panel[k * width] = T{0};
      continue;
    }
    steps.add(lines.line_stride * size < page ? depth : far_steps);
    read_elements(lines.type, begin + i * lines.line_stride * size, stride, depth, line.data());
    const T zero = lines.zeros.empty() ? T{0} : lines.zeros[i];
    for (std::size_t k = 0; k < depth; ++k) panel[k * width] = line[k] - zero;
  }
}

}  // namespace

template <typename T>
void pack_lines(const PackedLines<T>& lines, std::size_t count, std::size_t width,
                std::vector<T>& line, T* to) {
  if (line.size() < std::max(count, lines.depth.size()))
    line.resize(std::max(count, lines.depth.size()));
  std::uint64_t stride = 0;
  if (are_even(lines.depth, stride) && stride < lines.line_stride)
    return pack_columns(lines, stride, count, width, line, to);
  pack_rows(lines, count, width, line, to);
}

template void pack_lines(const PackedLines<float>&, std::size_t, std::size_t, std::vector<float>&,
                         float*);
template void pack_lines(const PackedLines<double>&, std::size_t, std::size_t, std::vector<double>&,
                         double*);

}  // namespace dmlop::cpu
