#include "model/print.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "tensor/half.hpp"
#include "tensor/visit_type.hpp"

namespace dmlop {
namespace {

constexpr int stream_precision = 6;

// Steps that writing one element as text counts.
constexpr std::uint64_t printed_steps = 256;

std::string number_text(double value) {
  if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value,
                                          std::chars_format::general, stream_precision);
  return {text.data(), end};
}

std::string right_aligned(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

// The bits in upper case without leading zeros, padded with spaces to the type's width.
std::string hex_text(const std::byte* element, std::size_t size) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, size);
  std::string text;
  do {
    text.insert(text.begin(), digits[bits % 16]);
    bits /= 16;
  } while (bits != 0);
  return right_aligned(text, 2 * size);
}

}  // namespace

std::string stream_text(DataType type, const std::byte* element, Fidelity fidelity) {
  return visit_type(type, [&]<typename T>(T value) -> std::string {
    std::memcpy(&value, element, sizeof value);
    if constexpr (std::is_same_v<T, Half>) {
      return number_text(half_to_float(value.bits));
    } else if constexpr (std::is_floating_point_v<T>) {
      return number_text(value);
    } else {
      if (sizeof(T) == 1 && fidelity == Fidelity::compatible) return {static_cast<char>(*element)};
      return std::to_string(value);
    }
  });
}

std::string print_text(const Resource& resource, std::span<const std::byte> contents, bool verbose,
                       Fidelity fidelity) {
  const DataType type = *resource.initial.data_type;
  const std::size_t size = size_of(type);
  const std::uint64_t count = resource.value_count();
  const std::size_t width = std::to_string(count).size();
  std::string text = "Resource '" + one_line(resource.name) + "':" + (verbose ? "\n" : " ");
  Steps steps;
  for (std::uint64_t i = 0; i < count; ++i) {
    steps.add(printed_steps);
    const std::byte* element = &contents[i * size];
    if (verbose) {
      text += "[" + right_aligned(std::to_string(i), width) + "] " +
              stream_text(type, element, fidelity) + " (0x" + hex_text(element, size) + ")\n";
    } else {
      if (i > 0) text += ", ";
      text += stream_text(type, element, fidelity);
    }
  }
  return text + "\n";
}

}  // namespace dmlop
