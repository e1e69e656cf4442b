// Which data types and dimension counts DirectML 1.15.4 creates each operator with (matrix.json,
// conformance/README.md), against what the specs accept where DirectML is the judge. A cell counts
// as accepted when some variation of a description that ran is valid with this type and dimension
// count.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>

#include "base/text.hpp"
#include "described.hpp"
#include "ops/operator.hpp"
#include "paths.hpp"

namespace dmlop::type_matrix_test {
namespace {

using Json = nlohmann::ordered_json;

using dmlop::DataType;
using dmlop::Description;
using dmlop::FieldKind;
using dmlop::OperatorSpec;
using dmlop::TensorDesc;
using dmlop::TensorUse;
using Json = nlohmann::ordered_json;

/// A cell in which the specs differ from DirectML, and why.
struct Exception {
  const char* cells;       // "OPERATOR.Tensor TYPE"
  const char* difference;  // of specs/differences.json; differences_test.cpp looks it up
};

constexpr Exception exceptions[] = {
    {"", ""},
#include "type_matrix_exceptions.inc"
};

constexpr std::size_t most_dimensions = 8;

/// By type: for each dimension count from 1 whether it is accepted.
using Cells = std::map<DataType, std::array<bool, most_dimensions>>;
using Matrix = std::map<std::string, Cells>;  // by tensor

const std::vector<DataType>& data_types() {
  static const std::vector<DataType> types = [] {
    std::vector<DataType> list;
    for (const dmlop::EnumValue& value : dmlop::enum_values("DML_TENSOR_DATA_TYPE")) {
      if (value.name != "UNKNOWN") list.push_back(static_cast<DataType>(value.value));
    }
    return list;
  }();
  return types;
}

/// A neutral element for an array that has one value per dimension.
std::int64_t neutral(const std::string& field) {
  for (const char* word : {"Padding", "Offset", "Start"}) {
    if (field.find(word) != std::string::npos) return 0;
  }
  return 1;
}

/// One operator (or function of REDUCE): varies descriptions that ran and notes what is valid.
class Variations {
 public:
  Variations(const OperatorSpec& spec, const std::string& function) : spec_(spec) {
    std::set<std::string> seen;
    for (const Json* desc : dmlop::test::golden_descs_of(spec.name)) {
      if (!function.empty() && function_of(*desc) != function) continue;
      dmlop::Diagnostics diagnostics;
      const Json json{{"type", spec.name}, {"desc", with_scalars_of_one(*desc)}};
      auto description = dmlop::read_description("op.json", json.dump(), std::nullopt, diagnostics);
      REQUIRE(description);
      description->judge = dmlop::Judge::directml;
      drop_strides(*description);
      if (!seen.insert(shape_of(*description)).second) continue;
      REQUIRE(complete(*description));
      if (adds_counts(*description)) bases_.push_back(std::move(*description));
    }
    REQUIRE(!bases_.empty());
    vary_dimensions();
    vary_types();
  }

  bool accepts(const std::string& tensor, DataType type, std::size_t dimensions) const {
    const auto cells = found_.find(tensor);
    if (cells == found_.end()) return false;
    const auto row = cells->second.find(type);
    return row != cells->second.end() && row->second[dimensions - 1];
  }

 private:
  static std::string function_of(const Json& desc) {
    const std::string name = desc.at("Function");
    const std::string prefix = "DML_REDUCE_FUNCTION_";
    return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
  }

  // Scalars must fit every type.
  Json with_scalars_of_one(Json desc) const {
    for (const dmlop::FieldSpec& field : spec_.fields) {
      if (field.kind == FieldKind::scalar_union && desc.contains(field.name)) desc[field.name] = 1;
    }
    return desc;
  }

  static void drop_strides(Description& description) {
    for (const TensorUse& use : tensors_of(description)) {
      use.desc->strides.reset();
      use.desc->total_size_in_bytes.reset();
    }
  }

  // What a description has of types, dimension counts and choices: its kind among the bases.
  std::string shape_of(Description& description) const {
    std::string text;
    for (const TensorUse& use : tensors_of(description)) {
      text += use.name() + (use.desc->data_type ? std::string(name_of(*use.desc->data_type)) : "") +
              std::to_string(use.desc->sizes.size()) + " ";
    }
    return text;
  }

  /// Completes a description and notes its cells; false where it is not valid.
  bool complete(Description& description) {
    dmlop::Diagnostics diagnostics;
    check_description(description, diagnostics);
    if (!diagnostics.empty()) return false;
    for (const TensorUse& use : tensors_of(description)) {
      // Of an array the matrix has the first tensor.
      if (use.element.value_or(0) == 0)
        found_[use.spec->name][*use.desc->data_type][use.desc->sizes.size() - 1] = true;
    }
    return true;
  }

  bool is_known(Description& description) {
    for (const TensorUse& use : tensors_of(description)) {
      if (use.element.value_or(0) == 0 &&
          !accepts(use.spec->name, use.desc->data_type.value_or(DataType{}),
                   use.desc->sizes.size()))
        return false;
    }
    return true;
  }

  // Whether a description of these dimension counts is worth being a base: a tensor has a count
  // that few bases have. Notes it.
  bool adds_counts(Description& description) {
    constexpr int enough = 2;
    bool adds = false;
    for (const TensorUse& use : tensors_of(description)) {
      if (counts_[use.name()][use.desc->sizes.size()] < enough) adds = true;
    }
    if (!adds) return false;
    for (const TensorUse& use : tensors_of(description))
      ++counts_[use.name()][use.desc->sizes.size()];
    return true;
  }

  /// Adds what is valid and of new dimension counts to the bases.
  void try_base(Description description) {
    if (tried_.contains(counts_of(description))) return;
    if (!complete(description) || !tried_.insert(counts_of(description)).second) return;
    if (adds_counts(description)) bases_.push_back(std::move(description));
  }

  static std::string counts_of(Description& description) {
    std::string text;
    for (const TensorUse& use : tensors_of(description))
      text += use.name() + std::to_string(use.desc->sizes.size()) + " ";
    return text;
  }

  // Inserts a size of 1 at `at`, or removes the one there.
  static bool resize(dmlop::Sizes& sizes, std::size_t at, int change) {
    if (change > 0) {
      if (at > sizes.size() || sizes.size() == most_dimensions) return false;
      sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(at), 1);
      return true;
    }
    if (at >= sizes.size() || sizes.size() == 1) return false;
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
  }

  /// One dimension more or less: of which tensors, where, and what goes along.
  struct Change {
    int by;  // 1 or -1
    std::size_t at = 0;
    bool from_end = false;
    std::size_t count = 0;      // only tensors of as many dimensions
    std::string only = {};      // only this tensor; "Scale" means scales and zero points
    bool with_arrays = false;   // one value per dimension
    bool with_numbers = false;  // an axis and counts of dimensions
    bool open_outputs = false;  // outputs follow
  };

  static bool concerns(const Change& change, const TensorUse& use) {
    if (change.count != 0) return use.desc->sizes.size() == change.count;
    if (change.only == "Scale")
      return use.spec->name.find("Scale") != std::string::npos ||
             use.spec->name.find("ZeroPoint") != std::string::npos;
    return change.only.empty() || change.only == use.spec->name;
  }

  void change_dimensions(const Description& base, const Change& change) {
    Description changed = base;
    for (const TensorUse& use : tensors_of(changed)) {
      if (change.open_outputs && use.spec->is_output()) {
        use.desc->sizes.clear();
        use.desc->dimension_count.reset();
      } else if (concerns(change, use)) {
        const std::size_t size = use.desc->sizes.size();
        const std::size_t place = change.from_end ? size - std::min(change.at, size) : change.at;
        if (!resize(use.desc->sizes, place, change.by)) return;
        use.desc->dimension_count.reset();
      }
    }
    bool follows = !change.with_arrays && !change.with_numbers;
    for (dmlop::Field& field : changed.fields) {
      if (change.with_arrays)
        follows |= resize_array(changed, field, change.count, change.at, change.by);
      if (change.with_numbers) follows |= change_number(field, change.by);
    }
    if (!follows) return;  // the same without them was tried
    try_base(std::move(changed));
  }

  /// True when it changed the field.
  bool change_number(dmlop::Field& field, int by) const {
    const std::string& name = field.spec->name;
    if (name != "Axis" && (!name.ends_with("DimensionCount") || name.starts_with("Batch")))
      return false;
    auto* value = std::get_if<std::int64_t>(&field.value);
    if (value == nullptr || spec_.is_count(name) || *value + by < 0) return false;
    *value += by;
    return true;
  }

  /// True when it changed the field.
  static bool resize_array(Description& changed, dmlop::Field& field, std::size_t dimensions,
                           std::size_t at, int change) {
    if (field.spec->count_field.empty() || field.spec->is_tensor()) return false;
    const auto apply = [&](auto& list, auto value) {
      if (dimensions == 0 || list.size() + 2 < dimensions || list.size() > dimensions) return false;
      const std::size_t place =
          std::min(at >= 2 ? at - (dimensions - list.size()) : at, list.size());
      const auto where = list.begin() + static_cast<std::ptrdiff_t>(place);
      if (change > 0) list.insert(where, value);
      if (change < 0 && place < list.size()) list.erase(where);
      changed.find(field.spec->count_field)->value = std::monostate{};
      return true;
    };
    if (auto* list = std::get_if<std::vector<std::int64_t>>(&field.value))
      return apply(*list, neutral(field.spec->name));
    if (auto* list = std::get_if<std::vector<double>>(&field.value))
      return apply(*list, static_cast<double>(neutral(field.spec->name)));
    return false;
  }

  // From every base, each new kind becoming a base in turn.
  void vary_dimensions() {
    for (std::size_t b = 0; b < bases_.size(); ++b) {  // grows on the way
      Description base = bases_[b];
      std::set<std::size_t> counts{0};
      std::set<std::string> names{""};
      for (const TensorUse& use : tensors_of(base)) {
        counts.insert(use.desc->sizes.size());
        names.insert(use.spec->name);
      }
      names.insert("Scale");
      for (const int by : {1, -1}) {
        const std::size_t last = by > 0 ? 0 : 1;
        for (const bool open : {false, true}) {
          for (const std::size_t count : counts) {
            for (const std::size_t at : {0U, 1U, 2U, 3U}) {
              for (const bool arrays : {false, true})
                change_dimensions(base, {by, at, false, count, "", arrays, false, open});
            }
            change_dimensions(base, {by, last, true, count, "", false, false, open});
            change_dimensions(base, {by, 0, false, count, "", false, true, open});
            change_dimensions(base, {by, last, true, count, "", false, true, open});
          }
        }
        for (const std::string& name : names) {
          change_dimensions(base, {by, 0, false, 0, name, false, false, false});
          change_dimensions(base, {by, last, true, 0, name, false, false, false});
        }
      }
    }
  }

  // Scalars are typed by a sibling: it has the type, too.
  static void set_types(Description& description, DataType from, DataType to) {
    for (dmlop::Field& field : description.fields) {
      auto* value = std::get_if<std::int64_t>(&field.value);
      if (field.spec->enum_name == "DML_TENSOR_DATA_TYPE" && value != nullptr &&
          *value == static_cast<std::int64_t>(from))
        *value = static_cast<std::int64_t>(to);
    }
  }

  // Each tensor gets each type: alone, with all that have its type, and with what follows from it
  // open.
  void vary_types() {
    constexpr int enough = 2;  // bases in which a tensor has a dimension count
    std::map<std::string, std::map<std::size_t, int>> varied;
    for (const Description& base : bases_) {
      Description names_of_base = base;
      for (const TensorUse& tensor : tensors_of(names_of_base)) {
        if (++varied[tensor.name()][tensor.desc->sizes.size()] > enough) continue;
        for (const DataType type : data_types()) vary_type(base, tensor, type);
      }
    }
  }

  void vary_type(const Description& base, const TensorUse& tensor, DataType type) {
    const DataType before = *tensor.desc->data_type;
    if (type == before) return;
    const auto is_it = [&](const TensorUse& use) {
      return use.spec == tensor.spec && use.element == tensor.element;
    };
    std::set<std::string> types_tried;
    const auto change = [&](auto&& others) {
      Description changed = base;
      for (const TensorUse& use : tensors_of(changed)) {
        if (is_it(use)) use.desc->data_type = type;
        if (!is_it(use)) others(use);
      }
      set_types(changed, before, type);
      if (types_tried.insert(shape_of(changed)).second && !is_known(changed)) complete(changed);
    };
    change([](const TensorUse&) {});
    change([&](const TensorUse& use) {
      if (use.desc->data_type == before) use.desc->data_type = type;
    });
    change([](const TensorUse& use) { use.desc->data_type.reset(); });
    change([](const TensorUse& use) {
      if (use.spec->is_output()) use.desc->data_type.reset();
    });
    change([&](const TensorUse& use) {
      if (use.spec->is_input()) use.desc->data_type = type;
      if (use.spec->is_output()) use.desc->data_type.reset();
    });
  }

  const OperatorSpec& spec_;
  std::vector<Description> bases_;
  std::map<std::string, std::map<std::size_t, int>> counts_;  // of bases, by tensor
  std::set<std::string> tried_;
  Matrix found_;
};

std::string dimensions_text(const std::vector<std::size_t>& list) {
  std::vector<std::string> words;
  for (const std::size_t count : list) words.push_back(std::to_string(count));
  return dmlop::join(words, " ");
}

}  // namespace

TEST_CASE("the types and dimension counts that DirectML creates are valid, and no others") {
  std::ifstream stream(test::conformance_path("descriptions/matrix.json"));
  REQUIRE(stream.good());
  const Json matrix = Json::parse(stream);
  std::size_t cells = 0;
  std::size_t differing = 0;
  std::set<std::string> needed;
  for (const auto& [entry, tensors] : matrix.at("operators").items()) {
    const std::size_t colon = entry.find(':');
    const OperatorSpec& spec = *dmlop::find_spec(entry.substr(0, colon));
    const Variations variations(spec, colon == std::string::npos ? "" : entry.substr(colon + 1));
    for (const auto& [tensor, types] : tensors.items()) {
      for (const auto& [type_name, counts] : types.items()) {
        const DataType type = *dmlop::data_type_named(type_name);
        std::vector<std::size_t> ours;
        for (std::size_t count = 1; count <= most_dimensions; ++count) {
          if (variations.accepts(tensor, type, count)) ours.push_back(count);
        }
        const auto theirs = counts.get<std::vector<std::size_t>>();
        cells += most_dimensions;
        if (ours == theirs) continue;
        const std::string row = entry + "." + tensor + " " + type_name;
        needed.insert(row);
        std::vector<std::size_t> both;
        std::set_symmetric_difference(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                                      std::back_inserter(both));
        differing += both.size();
        const bool is_exception =
            std::any_of(std::begin(exceptions), std::end(exceptions),
                        [&](const Exception& exception) { return row == exception.cells; });
        CHECK_MESSAGE(is_exception, row << ": DirectML takes {" << dimensions_text(theirs)
                                        << "} dimensions, the specs {" << dimensions_text(ours)
                                        << "}");
      }
    }
  }
  CHECK(cells > 50'000);
  CHECK(differing * 200 <= cells);
  for (const Exception& exception : exceptions) {
    CAPTURE(exception.cells);
    if (*exception.cells != '\0') CHECK(needed.contains(exception.cells));
  }
}

}  // namespace dmlop::type_matrix_test
