#include "graph/constants.hpp"

#include <algorithm>
#include <filesystem>

#include "base/buffer.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "graph/files.hpp"
#include "model/values.hpp"

namespace dmlop {
namespace {

InitialValues values_of(std::vector<std::byte> bytes) {
  const auto shared = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {.data_type = DataType::UInt8,
          .bytes = shared->size(),
          .fill = [shared](std::span<std::byte> to) {
            std::copy(shared->begin(), shared->end(), to.begin());
          }};
}

InitialValues values_of(const std::shared_ptr<const GraphBytes>& view) {
  const auto fill = [view](std::span<std::byte> to) {
    std::copy(view->bytes.begin(), view->bytes.end(), to.begin());
    if (view->file) with_context("reading " + view->path, [&] { view->file->require_intact(); });
  };
  return {.data_type = DataType::UInt8,
          .bytes = view->bytes.size(),
          .fill = fill,
          .path = view->file ? view->path : ""};
}

bool is_npy_inside(std::span<const std::byte> bytes) {
  constexpr std::string_view magic = "\x93NUMPY";
  const auto begin = std::as_bytes(std::span(magic));
  return bytes.size() >= begin.size() && std::equal(begin.begin(), begin.end(), bytes.begin());
}

InitialValues values_of(const std::string& path, const SharedConfinement& confinement) {
  return with_context("reading " + path, [&] {
    const PinnedFile pinned(confinement, path);
    if (is_npy(path))
      return values_of_file(std::make_shared<const NpyFile>(NpyFile::open(pinned)), path);
    const auto file = std::make_shared<const InputFile>(InputFile::open(pinned));
    if (is_npy_inside(file->bytes()))
      throw Error(ErrorKind::invalid_input,
                  "it is a .npy file, and its name makes it raw bytes; call it NAME.npy");
    return values_of_file(file, path, DataType::UInt8);
  });
}

}  // namespace

std::optional<InitialValues> constant_values(const Graph& graph, const GraphNode& node,
                                             const GraphConstant& constant,
                                             const GraphRequest& request, Diagnostics& diagnostics,
                                             Diagnostics& warnings) {
  if (constant.view) return values_of(constant.view);
  if (!constant.path.empty()) return values_of(constant.path, request.confinement);
  if (!constant.name) return values_of(constant.bytes);
  if (const PathProblem problem = problem_of_constant(*constant.name)) {
    diagnostics.push_back({.file = graph.file,
                           .message = title_of(node) + ": its ConstantName \"" +
                                      printable(*constant.name) + "\" " + problem.what,
                           .rule = problem.remedy});
    return std::nullopt;
  }
  const std::string path = constant_path(graph, *constant.name);
  try {
    return values_of(path, request.confinement);
  } catch (const Error& error) {
    std::error_code ignored;
    const bool is_missing = !std::filesystem::exists(to_path(path), ignored);
    Diagnostic finding = finding_of(error, title_of(node));
    finding.file = graph.file;
    finding.rule = "a constant is the file NAME.bin beside the graph";
    (is_missing && request.constants_may_be_missing ? warnings : diagnostics)
        .push_back(std::move(finding));
    return std::nullopt;
  }
}

InitialValues unpacked_values(const InitialValues& packed, DataType type, std::uint64_t count) {
  const auto fill = [packed, type, count](std::span<std::byte> to) {
    Buffer bytes(packed.bytes, "a constant of 4 bits");
    packed.fill(bytes.bytes());
    for (std::uint64_t i = 0; i < std::min(count, 2 * packed.bytes); ++i) {
      auto number = std::to_integer<unsigned>(bytes.bytes()[i / 2]) >> (i % 2 * 4) & 0xFU;
      if (type == DataType::Int4 && number > 7) number |= 0xF0U;
      to[i] = static_cast<std::byte>(number);
    }
  };
  return {.data_type = stored_as(type), .bytes = count, .fill = fill, .path = packed.path};
}

}  // namespace dmlop
