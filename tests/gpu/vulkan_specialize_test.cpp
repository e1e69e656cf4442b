// Modules with their constants given: what follows from the constants is computed, and what they
// make unreachable is gone. Tests of operators on a GPU show that kernels still compute the same.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "folder.hpp"
#include "gpu/vulkan/constant_values.hpp"
#include "gpu/vulkan/kernels.hpp"
#include "gpu/vulkan/specialize.hpp"
#include "program.hpp"
#include "spirv_tools.hpp"

namespace dmlop::test::vulkan_specialize_test {
namespace {

using Words = std::vector<std::uint32_t>;

/// A module whose function begins with %unknown, an integer that no constant decides. Its three
/// specialization constants are %a = 5, %b = 6 and the boolean %flag = true. Two more are of the
/// device: %device = 700 and %next_of_device = 800.
Words assembled(const std::string& globals, const std::string& body, const Folder& folder) {
  folder.write("module.spvasm", R"(
    OpCapability Shader
    OpCapability Int64
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main "main"
    OpExecutionMode %main LocalSize 1 1 1
    OpName %named "named"
    OpName %computed "computed"
    OpDecorate %named RelaxedPrecision
    OpDecorate %computed RelaxedPrecision
    OpDecorate %a SpecId 0
    OpDecorate %b SpecId 1
    OpDecorate %flag SpecId 2
    OpDecorate %device SpecId 64
    OpDecorate %next_of_device SpecId 65
    %void = OpTypeVoid
    %bool = OpTypeBool
    %uint = OpTypeInt 32 0
    %int = OpTypeInt 32 1
    %float = OpTypeFloat 32
    %true = OpConstantTrue %bool
    %0 = OpConstant %uint 0
    %1 = OpConstant %uint 1
    %2 = OpConstant %uint 2
    %3 = OpConstant %uint 3
    %a = OpSpecConstant %uint 5
    %b = OpSpecConstant %uint 6
    %flag = OpSpecConstantTrue %bool
    %device = OpSpecConstant %uint 700
    %next_of_device = OpSpecConstant %uint 800
    %pointer = OpTypePointer Private %uint
    %in = OpVariable %pointer Private
    %out = OpVariable %pointer Private
    %type = OpTypeFunction %void
    )" + globals + R"(
    %main = OpFunction %void None %type
    %entry = OpLabel
    %named = OpLoad %uint %in
    %computed = OpIMul %uint %a %b
    %unknown = OpIAdd %uint %named %1
    %maybe = OpIEqual %bool %unknown %2
    )" + body + R"(
    OpFunctionEnd
    )");
  const ProgramResult found =
      shell("spirv-as --target-env vulkan1.1 module.spvasm -o module.spv 2>&1",
            {.folder = folder.path()});
  REQUIRE_MESSAGE(found.code == 0, found.output);
  std::ifstream file(folder.path() + "/module.spv", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  Words words(bytes.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

/// What a specialized module stores, in order: "5 unknown" where it stores %uint_5 and then what is
/// no constant.
std::string stores(const std::string& body, const Words& constants, const std::string& globals = "",
                   const Words& of_device = {}) {
  const Folder folder;
  const std::string text = spirv_text(
      gpu::vulkan::specialized(assembled(globals, body, folder), constants, of_device), folder);
  CAPTURE(text);
  CHECK(count(text, "OpSpecConstant") == 0);
  CHECK(count(text, "SpecId") == 0);
  std::string all;
  for (std::size_t at = text.find("OpStore %"); at != std::string::npos;
       at = text.find("OpStore %", at + 1)) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    const std::string value = line.substr(line.rfind('%') + 1);
    const bool is_constant = value.rfind("uint_", 0) == 0;  // "uint_5", or "uint_5_1" for one more
    all += (all.empty() ? "" : " ") +
           (is_constant ? value.substr(5, value.find('_', 5) - 5) : std::string("unknown"));
  }
  return all;
}

/// A body that stores one value and ends.
std::string storing(const std::string& instructions, const std::string& value = "%value") {
  return instructions + "\nOpStore %out " + value + "\nOpReturn";
}

TEST_CASE("specialize: constants that are given replace their defaults") {
  REQUIRE(has_command("spirv-as"));
  const std::string body = storing("%value = OpIAdd %uint %a %b");
  CHECK(stores(body, {}) == "11");
  CHECK(stores(body, {100}) == "106");
  CHECK(stores(body, {100, 200}) == "300");
  const std::string chosen = storing("%value = OpSelect %uint %flag %1 %2");
  CHECK(stores(chosen, {}) == "1");
  CHECK(stores(chosen, {0, 0, 0}) == "2");
  CHECK(stores(chosen, {0, 0, 7}) == "1");
  const std::string same =
      storing("%is = OpLogicalEqual %bool %flag %true\n%value = OpSelect %uint %is %1 %2");
  CHECK(stores(same, {0, 0, 7}) == "1");
}

/// An operation on two integers or booleans, and what it makes of them; nothing where that is
/// undefined.
struct Operation {
  const char* name;
  const char* type;      // of its result
  const char* operands;  // "%a %b"; of booleans: whether these are not 0
  std::function<std::optional<std::uint32_t>(std::uint32_t, std::uint32_t)> result;
};

std::int32_t as_signed(std::uint32_t word) {
  return static_cast<std::int32_t>(word);
}

std::vector<Operation> operations() {
  using U = std::uint32_t;
  using Maybe = std::optional<U>;
  const char* both = "%a %b";
  const char* booleans = "%is_a %is_b";
  return {
      {"IAdd", "uint", both, [](U a, U b) { return a + b; }},
      {"ISub", "uint", both, [](U a, U b) { return a - b; }},
      {"IMul", "uint", both, [](U a, U b) { return a * b; }},
      {"UDiv", "uint", both, [](U a, U b) { return b == 0 ? Maybe() : a / b; }},
      {"UMod", "uint", both, [](U a, U b) { return b == 0 ? Maybe() : a % b; }},
      {"SNegate", "uint", "%a", [](U a, U) { return ~a + 1; }},
      {"Not", "uint", "%a", [](U a, U) { return 0xFFFFFFFF - a; }},
      {"BitwiseAnd", "uint", both, [](U a, U b) { return a & b; }},
      {"BitwiseOr", "uint", both, [](U a, U b) { return a | b; }},
      {"BitwiseXor", "uint", both, [](U a, U b) { return (a | b) - (a & b); }},
      {"ShiftLeftLogical", "uint", both,
       [](U a, U b) { return b > 31 ? Maybe() : static_cast<U>(std::uint64_t{a} << b); }},
      {"ShiftRightLogical", "uint", both,
       [](U a, U b) { return b > 31 ? Maybe() : static_cast<U>(std::uint64_t{a} >> b); }},
      {"ShiftRightArithmetic", "uint", both,
       [](U a, U b) { return b > 31 ? Maybe() : static_cast<U>(std::int64_t{as_signed(a)} >> b); }},
      {"IEqual", "bool", both, [](U a, U b) { return U{a == b}; }},
      {"INotEqual", "bool", both, [](U a, U b) { return U{a != b}; }},
      {"UGreaterThan", "bool", both, [](U a, U b) { return U{a > b}; }},
      {"UGreaterThanEqual", "bool", both, [](U a, U b) { return U{a >= b}; }},
      {"ULessThan", "bool", both, [](U a, U b) { return U{a < b}; }},
      {"ULessThanEqual", "bool", both, [](U a, U b) { return U{a <= b}; }},
      {"SGreaterThan", "bool", both, [](U a, U b) { return U{as_signed(a) > as_signed(b)}; }},
      {"SGreaterThanEqual", "bool", both, [](U a, U b) { return U{as_signed(a) >= as_signed(b)}; }},
      {"SLessThan", "bool", both, [](U a, U b) { return U{as_signed(a) < as_signed(b)}; }},
      {"SLessThanEqual", "bool", both, [](U a, U b) { return U{as_signed(a) <= as_signed(b)}; }},
      {"LogicalAnd", "bool", booleans, [](U a, U b) { return U{a != 0 && b != 0}; }},
      {"LogicalOr", "bool", booleans, [](U a, U b) { return U{a != 0 || b != 0}; }},
      {"LogicalEqual", "bool", booleans, [](U a, U b) { return U{(a != 0) == (b != 0)}; }},
      {"LogicalNotEqual", "bool", booleans, [](U a, U b) { return U{(a != 0) != (b != 0)}; }},
      {"LogicalNot", "bool", "%is_a", [](U a, U) { return U{a == 0}; }},
      {"Select", "uint", "%is_a %a %b", [](U a, U b) { return a != 0 ? a : b; }},
  };
}

/// Checks the value that a module stores, whatever its constants are.
void check_values(const Words& module, const Operation& operation) {
  const auto instructions = gpu::vulkan::spirv::instructions_of(module);
  const auto store = std::find_if(instructions.begin(), instructions.end(), [](const auto& one) {
    return (one[0] & 0xFFFF) == 62;  // OpStore
  });
  REQUIRE(store != instructions.end());
  const Words edges{0, 1, 2, 3, 31, 32, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF};
  for (const std::uint32_t a : edges) {
    for (const std::uint32_t b : edges) {
      CAPTURE(a);
      CAPTURE(b);
      const Words constants{a, b};
      const gpu::vulkan::ConstantValues values(instructions, module[gpu::vulkan::spirv::bound_word],
                                               {constants, {}});
      CHECK(values.of((*store)[2]) == operation.result(a, b));
    }
  }
}

TEST_CASE("specialize: each operation computes what it means, in and outside of functions") {
  const Folder folder;
  for (const Operation& operation : operations()) {
    CAPTURE(operation.name);
    const std::string name = operation.name;
    const std::string type = " %" + std::string(operation.type) + " ";
    const std::string stored = type == " %bool " ? "%word = OpSelect %uint %value %1 %0\n"
                                                 : "%word = OpCopyObject %uint %value\n";
    check_values(assembled("",
                           storing("%is_a = OpINotEqual %bool %a %0\n"
                                   "%is_b = OpINotEqual %bool %b %0\n"
                                   "%value = Op" +
                                       name + type + operation.operands + "\n" + stored,
                                   "%word"),
                           folder),
                 operation);
    check_values(assembled("%is_a = OpSpecConstantOp %bool INotEqual %a %0\n"
                           "%is_b = OpSpecConstantOp %bool INotEqual %b %0\n"
                           "%value = OpSpecConstantOp" +
                               type + name + " " + operation.operands,
                           storing(stored, "%word"), folder),
                 operation);
  }
}

TEST_CASE("specialize: bits are the same as another type") {
  CHECK(stores(storing("%x = OpBitcast %float %a\n%y = OpBitcast %int %x\n"
                       "%value = OpBitcast %uint %y"),
               {0x80000001}) == "2147483649");
}

TEST_CASE("specialize: integers of 64 bits are left to the device") {
  CHECK(stores(storing("%is = OpIEqual %bool %large %none\n%value = OpSelect %uint %is %1 %2"), {},
               "%long = OpTypeInt 64 0\n%large = OpConstant %long 4294967296\n"
               "%none = OpConstant %long 0") == "unknown");
}

TEST_CASE("specialize: what one operand decides, and what it does not") {
  const auto chosen = [](const std::string& condition) {
    return storing(condition + "\n%value = OpSelect %uint %is %1 %2");
  };
  for (const char* order : {"%maybe %flag", "%flag %maybe"}) {
    CAPTURE(order);
    const std::string both = chosen("%is = OpLogicalAnd %bool " + std::string(order));
    const std::string either = chosen("%is = OpLogicalOr %bool " + std::string(order));
    CHECK(stores(both, {0, 0, 0}) == "2");
    CHECK(stores(both, {0, 0, 1}) == "unknown");
    CHECK(stores(either, {0, 0, 0}) == "unknown");
    CHECK(stores(either, {0, 0, 1}) == "1");
  }
  CHECK(stores(storing("%value = OpSelect %uint %flag %unknown %2"), {0, 0, 0}) == "2");
  CHECK(stores(storing("%value = OpSelect %uint %flag %unknown %2"), {0, 0, 1}) == "unknown");
  CHECK(stores(storing("%value = OpSelect %uint %maybe %2 %2"), {}) == "unknown");
  CHECK(stores(storing("%value = OpIAdd %uint %unknown %a"), {}) == "unknown");
  CHECK(stores(storing("%value = OpIAdd %uint %a %unknown"), {}) == "unknown");
}

TEST_CASE("specialize: an if goes one way, and what it makes is known") {
  const std::string body = R"(
    %is = OpULessThan %bool %a %3
    OpSelectionMerge %merge None
    OpBranchConditional %is %then %else
    %then = OpLabel
    %x = OpIAdd %uint %a %1
    OpStore %out %x
    OpBranch %merge
    %else = OpLabel
    %y = OpIAdd %uint %b %1
    OpStore %out %unknown
    OpBranch %merge
    %merge = OpLabel
    %value = OpPhi %uint %x %then %y %else
    OpStore %out %value
    OpReturn)";
  CHECK(stores(body, {2, 9}) == "3 3");
  CHECK(stores(body, {3, 9}) == "unknown 10");
}

TEST_CASE("specialize: an if that is not decided keeps both ways") {
  const std::string body = R"(
    OpSelectionMerge %merge None
    OpBranchConditional %maybe %then %else
    %then = OpLabel
    OpStore %out %a
    OpBranch %merge
    %else = OpLabel
    OpBranch %merge
    %merge = OpLabel
    %same = OpPhi %uint %a %then %b %else
    OpStore %out %same
    OpReturn)";
  CHECK(stores(body, {7, 7}) == "7 7");
  CHECK(stores(body, {7, 8}) == "7 unknown");
  std::string with_unknown = body;
  with_unknown.replace(with_unknown.find("%b %else"), 2, "%unknown");
  CHECK(stores(with_unknown, {7}) == "7 unknown");
  CHECK(stores(with_unknown, {0}) == "0 unknown");
}

TEST_CASE("specialize: a choice of one of three keeps the values of the ways that are left") {
  const std::string body = R"(
    OpSelectionMerge %merge None
    OpBranchConditional %maybe %then %else
    %then = OpLabel
    OpBranch %merge
    %else = OpLabel
    OpSelectionMerge %inner None
    OpBranchConditional %flag %left %inner
    %left = OpLabel
    OpBranch %inner
    %inner = OpLabel
    %second = OpPhi %uint %a %else %b %left
    OpBranch %merge
    %merge = OpLabel
    %value = OpPhi %uint %3 %then %second %inner
    OpStore %out %value
    OpReturn)";
  CHECK(stores(body, {3, 4, 0}) == "3");
  CHECK(stores(body, {3, 4, 1}) == "unknown");
  CHECK(stores(body, {4, 3, 1}) == "3");
}

TEST_CASE("specialize: a switch goes to its case, and may break out of it") {
  const std::string body = R"(
    OpSelectionMerge %merge None
    OpSwitch %a %other 1 %one 2 %two
    %one = OpLabel
    OpSelectionMerge %after None
    OpBranchConditional %maybe %leave %after
    %leave = OpLabel
    OpBranch %merge
    %after = OpLabel
    OpStore %out %1
    OpBranch %merge
    %two = OpLabel
    OpStore %out %2
    OpBranch %merge
    %other = OpLabel
    OpStore %out %b
    OpReturn
    %merge = OpLabel
    OpStore %out %0
    OpReturn)";
  CHECK(stores(body, {1}) == "1 0");
  CHECK(stores(body, {2}) == "2 0");
  CHECK(stores(body, {0, 9}) == "9");
  CHECK(stores(body, {3, 9}) == "9");  // what the cases lead to is never reached
}

TEST_CASE("specialize: a switch that is not decided keeps all cases") {
  const std::string body = R"(
    OpSelectionMerge %merge None
    OpSwitch %unknown %other 1 %one
    %one = OpLabel
    OpStore %out %a
    OpBranch %merge
    %other = OpLabel
    OpStore %out %b
    OpBranch %merge
    %merge = OpLabel
    OpReturn)";
  CHECK(stores(body, {8, 9}) == "8 9");
}

/// A loop that counts from 0 while `condition`, and stores in each turn.
std::string loop(const std::string& condition, const std::string& turn) {
  return R"(
    OpBranch %head
    %head = OpLabel
    %i = OpPhi %uint %0 %entry %next %go_on
    %is = )" +
         condition + R"(
    OpLoopMerge %merge %go_on None
    OpBranchConditional %is %turn %merge
    %turn = OpLabel
    )" + turn +
         R"(
    %go_on = OpLabel
    %next = OpIAdd %uint %i %1
    OpBranch %head
    %merge = OpLabel
    OpStore %out %i
    OpReturn)";
}

TEST_CASE("specialize: a loop counts, ends at once, or leaves in its first turn") {
  const std::string stays = "OpStore %out %a\nOpBranch %go_on";
  CHECK(stores(loop("OpULessThan %bool %i %a", stays), {4}) == "4 unknown");
  CHECK(stores(loop("OpULessThan %bool %a %b", stays), {4, 4}) == "0");
  const std::string leaves = R"(
    OpStore %out %i
    OpSelectionMerge %after None
    OpBranchConditional %flag %leave %after
    %leave = OpLabel
    OpBranch %merge
    %after = OpLabel
    OpBranch %go_on)";
  CHECK(stores(loop("OpULessThan %bool %i %a", leaves), {4, 0, 1}) == "0 0");
  CHECK(stores(loop("OpULessThan %bool %i %a", leaves), {4, 0, 0}) == "unknown unknown");
  const std::string returns = R"(
    OpStore %out %a
    OpSelectionMerge %after None
    OpBranchConditional %maybe %leave %after
    %leave = OpLabel
    OpReturn
    %after = OpLabel
    OpBranch %go_on)";
  CHECK(stores(loop("OpULessThan %bool %a %b", returns), {4, 5}) == "4");
}

TEST_CASE("specialize: a loop that comes back where its constants say so is left as it is") {
  const std::string body = R"(
    OpBranch %head
    %head = OpLabel
    %i = OpPhi %uint %0 %entry %next %go_on
    OpLoopMerge %merge %go_on None
    OpBranch %go_on
    %go_on = OpLabel
    %next = OpIAdd %uint %i %1
    OpBranchConditional %flag %head %merge
    %merge = OpLabel
    OpStore %out %a
    OpReturn)";
  CHECK(stores(body, {4, 0, 0}) == "4");
  CHECK(stores(body, {4, 0, 1}) == "4");
}

TEST_CASE("specialize: a constant that other globals are made of is there before them") {
  const Folder folder;
  const std::string globals = R"(
    %twice = OpSpecConstantOp %uint IMul %a %2
    %array = OpTypeArray %uint %twice
    %arrays = OpTypePointer Private %array
    %memory = OpVariable %arrays Private)";
  const Words module = assembled(globals, storing("%value = OpIAdd %uint %twice %1"), folder);
  const std::string text = spirv_text(gpu::vulkan::specialized(module, Words{21}), folder);
  CHECK(count(text, "OpTypeArray %uint %uint_42\n") == 1);
  CHECK(count(text, " %uint_43\n") == 1);
}

TEST_CASE("specialize: what is computed has no decorations any longer, and others keep theirs") {
  const Folder folder;
  const Words module = assembled("", "OpReturn", folder);
  const std::string text = spirv_text(gpu::vulkan::specialized(module, {}), folder);
  CHECK(count(text, "OpName %named \"named\"") == 1);
  CHECK(count(text, "OpDecorate %named RelaxedPrecision") == 1);
  CHECK(count(text, "%computed") == 0);
  CHECK(count(text, "OpConstant %uint 30\n") == 1);
}

TEST_CASE("specialize: constants of the device are found by ids from 64 on") {
  const std::string body = storing("%value = OpIAdd %uint %device %next_of_device");
  CHECK(stores(body, {}) == "1500");  // the defaults
  CHECK(stores(body, {}, "", {11}) == "811");
  CHECK(stores(body, {}, "", {11, 20}) == "31");
  CHECK(stores(body, Words(70, 3)) == "1500");
  CHECK(stores(body, Words(70, 3), "", {11, 20, 9}) == "31");
}

TEST_CASE("specialize: every kernel stays a valid module, whatever its constants are") {
  const Folder folder;
  std::uint32_t seed = 1;
  std::size_t smaller = 0;
  for (const gpu::vulkan::Kernel& kernel : gpu::vulkan::kernels()) {
    CAPTURE(kernel.name);
    const Words module = kernel.spirv();
    for (const std::uint32_t most : {1U, 12U}) {
      Words constants(24);
      for (std::uint32_t& constant : constants) {
        seed = seed * 1664525 + 1013904223;
        constant = (seed >> 16) % most + 1;
      }
      CAPTURE(constants);
      const Words small = gpu::vulkan::specialized(module, constants);
      CHECK(spirv_complaint(small, folder) == "");
      smaller += small.size() < module.size() ? 1 : 0;
    }
  }
  CHECK(smaller > gpu::vulkan::kernels().size());
}

}  // namespace
}  // namespace dmlop::test::vulkan_specialize_test
