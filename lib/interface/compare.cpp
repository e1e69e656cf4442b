// compare(), write_npy() and criteria_of() of <dmlop/dmlop.hpp>.
#include "compare/compare.hpp"

#include "base/file.hpp"
#include "base/parallel.hpp"
#include "compare/comparison_json.hpp"
#include "compare/comparison_text.hpp"
#include "interface/translate.hpp"
#include "spec/near_operators.hpp"

namespace dmlop {
namespace {

using ViewOrFile = std::variant<TensorView, std::filesystem::path>;

/// A tensor to compare, in memory or a file, and what messages call it.
struct Compared {
  NpyFile file;
  std::string name;
};

Compared open(const ViewOrFile& contents, const std::string& what) {
  const NamedFile named = to_named_file({what, contents});
  const std::string name = named.memory ? "the buffer of " + what : named.path;
  return with_context("reading " + name, [&]() -> Compared {
    if (!named.memory) return {NpyFile::open(named.path), name};
    if (!named.memory->strides.empty())
      throw Error(ErrorKind::usage, "it has strides: pass packed elements");
    if (named.memory->bytes.data() == nullptr)
      throw Error(ErrorKind::usage, "it has no elements: pass the bytes");
    return {NpyFile::in_memory(*named.memory), name};
  });
}

Tolerance to_tolerance(const Criteria& criteria) {
  for (const auto& [value, name] :
       {std::pair(criteria.rtol, "rtol"), std::pair(criteria.atol, "atol")}) {
    if (value && !(*value >= 0 && *value <= std::numeric_limits<double>::max()))
      throw Error(ErrorKind::usage, std::string(name) + " is " + shortest_text(*value) +
                                        ": give a number that is not negative");
  }
  const bool has_own = criteria.rtol || criteria.atol || criteria.ulp;
  return {.rtol = criteria.rtol,
          .atol = criteria.atol,
          .ulp = criteria.ulp,
          .nan_equals_nan = criteria.nan_equals_nan,
          .allow_trivial = criteria.allow_trivial,
          .origin = has_own ? "caller" : "default"};
}

}  // namespace

CompareResult v0::compare(const ViewOrFile& actual, const ViewOrFile& expected,
                          const Criteria& criteria) {
  return with_failures([&] {
    const Tolerance tolerance = to_tolerance(criteria);
    const Compared first = open(actual, "actual"), second = open(expected, "expected");
    const Comparison comparison =
        dmlop::compare(Elements(first.file), Elements(second.file), tolerance, hardware_threads());
    require_intact(first.file, first.name);
    require_intact(second.file, second.name);
    return CompareResult{comparison.verdict() == Verdict::passed, comparison.summary(),
                         to_text(comparison), to_json(comparison).dump()};
  });
}

Criteria v0::criteria_of(const std::string& operator_name, ElementType type) {
  return with_failures([&]() -> Criteria {
    const Tolerance tolerance = spec_named(operator_name).default_tolerance(to_data_type(type));
    return {tolerance.rtol, tolerance.atol, tolerance.ulp, tolerance.nan_equals_nan,
            tolerance.allow_trivial};
  });
}

void v0::write_npy(const std::filesystem::path& path, const TensorView& tensor) {
  with_failures([&] {
    const NpyFile file = open(tensor, "the tensor").file;
    const NpyHeader& header = file.header();
    const std::string text = npy_header_bytes(header.data_type, header.sizes);
    OutputFile output(path_text(path), text.size() + file.data().size());
    output.write_at(0, std::as_bytes(std::span(text)));
    output.write_at(text.size(), file.data());
    output.commit();
  });
}

}  // namespace dmlop
