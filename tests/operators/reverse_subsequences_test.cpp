// DML_OPERATOR_REVERSE_SUBSEQUENCES.
#include "reference/reverse_subsequences.hpp"

#include <doctest/doctest.h>

#include "sweep.hpp"
#include "types.hpp"

namespace dmlop::test::reverse_subsequences_test {
namespace {

Tensor lengths32(const List& sizes, const std::vector<std::uint32_t>& values) {
  return Tensor::of(DataType::UInt32, sizes, values);
}

Tensor lengths64(const List& sizes, const std::vector<std::uint64_t>& values) {
  return Tensor::of(DataType::UInt64, sizes, values);
}

// clang-format off
const Tensor page_input = floats({1, 1, 3, 4}, {
    1,  2,  3,  4,
    5,  6,  7,  8,
    9, 10, 11, 12,
});

TEST_CASE("REVERSE_SUBSEQUENCES: the page's first example, along the rows") {
  const Tensor lengths = lengths32({1, 1, 3, 1}, {
      2,
      4,
      3,
  });
  check_known(ReverseSubsequences{.axis = 3}, {page_input, lengths}, floats({1, 1, 3, 4}, {
       2,  1,  3,  4,
       8,  7,  6,  5,
      11, 10,  9, 12,
  }));
}

TEST_CASE("REVERSE_SUBSEQUENCES: the page's second example, along the columns") {
  const Tensor lengths = lengths32({1, 1, 1, 4}, {2, 3, 1, 0});
  check_known(ReverseSubsequences{.axis = 2}, {page_input, lengths}, floats({1, 1, 3, 4}, {
      5, 10,  3,  4,
      1,  6,  7,  8,
      9,  2, 11, 12,
  }));
}

TEST_CASE("REVERSE_SUBSEQUENCES: lengths 0 and 1 change nothing, more than there is means all") {
  // DirectML 1.15.4 does not clamp: it gives 4 4 3 2 for the length 5. The page is right.
  const Tensor lengths = lengths32({6, 1}, {0, 1, 3, 4, 5, 4294967295});
  check_known(ReverseSubsequences{.axis = 1}, {floats({6, 4}, {
      1, 2, 3, 4,
      1, 2, 3, 4,
      1, 2, 3, 4,
      1, 2, 3, 4,
      1, 2, 3, 4,
      1, 2, 3, 4,
  }), lengths}, floats({6, 4}, {
      1, 2, 3, 4,
      1, 2, 3, 4,
      3, 2, 1, 4,
      4, 3, 2, 1,
      4, 3, 2, 1,
      4, 3, 2, 1,
  }));
}

TEST_CASE("REVERSE_SUBSEQUENCES: lengths along an outer axis, one for each column") {
  const Tensor lengths = lengths32({1, 4}, {0, 2, 3, 9});
  check_known(ReverseSubsequences{.axis = 0}, {floats({3, 4}, {
      1, 1, 1, 1,
      2, 2, 2, 2,
      3, 3, 3, 3,
  }), lengths}, floats({3, 4}, {
      1, 2, 3, 3,
      2, 1, 2, 2,
      3, 3, 1, 1,
  }));
}

TEST_CASE("REVERSE_SUBSEQUENCES: UINT64 lengths are read in full") {
  // In their low 32 bits these are 1, 2 and 0.
  const Tensor lengths = lengths64({3, 1}, {4294967297, 4294967298, 4294967296});
  check_known(ReverseSubsequences{.axis = 1}, {floats({3, 3}, {
      1, 2, 3,
      4, 5, 6,
      7, 8, 9,
  }), lengths}, floats({3, 3}, {
      3, 2, 1,
      6, 5, 4,
      9, 8, 7,
  }));
  check_known(ReverseSubsequences{.axis = 0},
              {floats({2}, {1, 2}), lengths64({1}, {18446744073709551615U})}, floats({2}, {2, 1}));
}

TEST_CASE("REVERSE_SUBSEQUENCES: strides of 0 broadcast the lengths, and the input") {
  Tensor lengths = Tensor::strided(DataType::UInt32, {3, 1}, {0, 0});
  lengths.bytes = lengths32({1}, {2}).bytes;
  Tensor input = Tensor::strided(DataType::Float32, {3, 4}, {0, 1});
  input.bytes = floats({4}, {1, 2, 3, 4}).bytes;
  check_known(ReverseSubsequences{.axis = 1}, {input, lengths}, floats({3, 4}, {
      2, 1, 3, 4,
      2, 1, 3, 4,
      2, 1, 3, 4,
  }));
}

TEST_CASE("REVERSE_SUBSEQUENCES: an axis of one element") {
  check_known(ReverseSubsequences{.axis = 1},
              {floats({2, 1, 2}, {1, 2, 3, 4}), lengths32({2, 1, 2}, {0, 1, 2, 3})},
              floats({2, 1, 2}, {1, 2, 3, 4}));
  check_known(ReverseSubsequences{.axis = 0}, {floats({1}, {1}), lengths32({1}, {7})},
              floats({1}, {1}));
}
// clang-format on

TEST_CASE("REVERSE_SUBSEQUENCES: copies are bit for bit") {
  const std::vector<std::uint32_t> bits{0x7F800001, 0x80000000, 0x00000001};
  const std::vector<std::uint32_t> backwards(bits.rbegin(), bits.rend());
  check_known(ReverseSubsequences{.axis = 0},
              {Tensor::of(DataType::Float32, {3}, bits), lengths32({1}, {3})},
              Tensor::of(DataType::Float32, {3}, backwards));
}

TEST_CASE("REVERSE_SUBSEQUENCES: what the tensors must keep to") {
  const std::vector<Tensor> inputs{Tensor::packed(DataType::UInt8, {2, 3}),
                                   Tensor::packed(DataType::UInt32, {2, 1})};
  const nlohmann::ordered_json good = case_of(ReverseSubsequences{1}, inputs).description;
  REQUIRE(messages(good) == "");
  const auto refused = [&](const char* field, const char* attribute,
                           const nlohmann::ordered_json& value) {
    nlohmann::ordered_json description = good;
    if (attribute != nullptr) {
      description["desc"][field][attribute] = value;
    } else {
      description["desc"][field] = value;
    }
    return messages(description) != "";
  };
  CHECK(refused("Axis", nullptr, 2));
  CHECK(refused("Axis", nullptr, 0));                        // the lengths are for axis 1
  CHECK(refused("SequenceLengthsTensor", "Sizes", {1, 1}));  // no implicit broadcast
  CHECK(refused("SequenceLengthsTensor", "Sizes", {2, 3}));
  CHECK(refused("SequenceLengthsTensor", "Sizes", {2}));
  CHECK(refused("SequenceLengthsTensor", "DataType", "INT32"));
  CHECK(refused("OutputTensor", "Sizes", {2, 2}));
  CHECK(refused("OutputTensor", "DataType", "INT8"));
  CHECK_FALSE(refused("SequenceLengthsTensor", "DataType", "UINT64"));
}

/// Lengths from 0 to a little beyond n, a few of them far beyond.
Tensor random_lengths(DataType type, const List& sizes, std::uint64_t n, Random& random) {
  Tensor lengths = random_tensor(type, sizes, random);
  for (std::size_t at = 0; at < lengths.bytes.size(); at += lengths.element_size()) {
    std::uint64_t length = random.below(n + 3);
    if (random.one_in(16)) length = (std::uint64_t{1} << random.below(64)) + random.below(3);
    std::memcpy(&lengths.bytes[at], &length, lengths.element_size());
  }
  return lengths;
}

Case random_case(DataType type, std::size_t dimensions, std::size_t axis, DataType lengths_type,
                 Random& random) {
  const Tensor input = random_tensor(type, random_sizes(dimensions, random), random);
  List sizes = input.sizes;
  sizes[axis] = 1;
  const Tensor lengths = random_lengths(lengths_type, sizes, input.sizes[axis], random);
  Case a_case = case_of(ReverseSubsequences{axis}, {input, lengths});
  if (random.one_in(4)) a_case.description["desc"].erase("OutputTensor");
  return a_case;
}

const Types lengths_types{DataType::UInt32, DataType::UInt64};

const RandomOperator random_reversal("REVERSE_SUBSEQUENCES", [](Random& random) {
  const std::size_t dimensions = random.from_to(1, 8);
  return random_case(random.one_of(A11), dimensions, random.below(dimensions),
                     random.one_of(lengths_types), random);
});

// A type for each size of an element.
const Types sizes_of_elements{DataType::UInt8, DataType::Float16, DataType::Int32,
                              DataType::UInt64};

TEST_CASE("REVERSE_SUBSEQUENCES: long rows and columns, of words and of odd sizes") {
  Random random(41);
  for (const DataType type : sizes_of_elements) {
    for (const DataType lengths_type : lengths_types) {
      for (const auto& [sizes, axis] : {std::pair{List{5, 1019}, 1},
                                        {List{2, 37, 1028}, 1},
                                        {List{150, 12}, 0},
                                        {List{9, 2, 3, 11}, 0}}) {
        Tensor input = Tensor::packed(type, sizes);
        random.fill(input.bytes);
        List lengths_sizes = sizes;
        lengths_sizes[static_cast<std::size_t>(axis)] = 1;
        const Tensor lengths = random_lengths(lengths_type, lengths_sizes,
                                              sizes[static_cast<std::size_t>(axis)], random);
        check_one_of_many(
            case_of(ReverseSubsequences{static_cast<std::size_t>(axis)}, {input, lengths}), random);
      }
    }
  }
}

TEST_CASE("REVERSE_SUBSEQUENCES: columns of the same lengths, and one that differs") {
  Random random(42);
  for (const DataType type : sizes_of_elements) {
    for (const std::uint32_t last : {0U, 13U, 21U}) {
      Tensor input = Tensor::packed(type, {21, 16});
      random.fill(input.bytes);
      std::vector<std::uint32_t> lengths(16, 13);
      lengths.back() = last;
      check_case(case_of(ReverseSubsequences{0}, {input, lengths32({1, 16}, lengths)}), random);
    }
  }
}

TEST_CASE("REVERSE_SUBSEQUENCES: sweep over types, dimensions, axes and lengths") {
  Random random(40);
  for (const DataType type : A11) {
    for (std::size_t dimensions = 1; dimensions <= 8; ++dimensions) {
      for (std::size_t axis = 0; axis < dimensions; ++axis) {
        for (const DataType lengths_type : lengths_types) {
          for (int repeat = 0; repeat < 20; ++repeat)
            check_one_of_many(random_case(type, dimensions, axis, lengths_type, random), random);
        }
      }
    }
  }
}

}  // namespace
}  // namespace dmlop::test::reverse_subsequences_test
