// Findings with their fixes, and whether these work.
#pragma once

#include <string>

#include "described.hpp"
#include "fixes/fixes.hpp"

namespace dmlop::test {

struct Mended {
  std::optional<Description> description;
  Diagnostics diagnostics;
};

/// As check_desc(), with fixes.
Mended check_and_mend_desc(const std::string& operator_name, const OrderedJson& desc);

/// A tensor of which a file gives the type and the sizes.
struct TensorOfFile {
  std::string name;
  Sizes sizes;
  DataType type = DataType::Float32;
};

/// The same where files belong to these tensors, as where `check` has options of theirs.
Mended check_and_mend_files(const std::string& operator_name, const OrderedJson& desc,
                            const std::vector<TensorOfFile>& files);

/// Whether the description with the fix of one of its findings lacks that finding and has no other
/// than before.
bool mends(const Mended& checked, const Diagnostic& finding);

}  // namespace dmlop::test
