// Two files that dmlop compare opens and compares.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "compare/compare.hpp"
#include "compare/picture.hpp"
#include "npy/raw_form.hpp"
#include "tolerance_options.hpp"

namespace dmlop::app {

/// How files are compared.
struct ComparingOptions {
  ToleranceOptions tolerance;
  std::string operator_name;  // whose tolerance applies where none is given; "": none
  bool cast = false;          // whether files of different types are compared by value
  bool draw = false;          // whether a picture is made

  void add_to(OptionList& command);
};

struct ComparedFiles {
  Comparison comparison;
  DataType actual_type, expected_type;
  std::optional<Png> picture;

  bool is_cast() const { return actual_type != expected_type && comparison.unlike.empty(); }
};

/// Compares two files. What a raw one leaves open is what the other has. Errors: usage, also for an
/// unknown operator; those of reading the files; as check_for_stop().
ComparedFiles compare_files(const FileText& actual, const FileText& expected,
                            const ComparingOptions& options);

/// The comparison as JSON, with both types where they differ.
nlohmann::ordered_json comparison_json(const ComparedFiles& compared);

/// The details that follow the line with the verdict.
std::string comparison_text(const ComparedFiles& compared);

}  // namespace dmlop::app
