// run --as-type: the same computation in another floating-point type (job/as_type.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command.hpp"

namespace dmlop::app {

class AsTypeOption {
 public:
  void add_to(OptionList& command);
  /// Nothing where the option is not given.
  std::optional<DataType> type() const { return data_type_named(name_); }
  /// Errors: usage if it is given; `reason` says why it cannot be.
  void refuse(const std::string& reason) const;
  /// Errors: usage for a raw golden file of a graph without a type, which would be that of its
  /// edge.
  void refuse_untyped(const std::vector<NamedFile>& golden) const;

 private:
  std::string name_;
};

}  // namespace dmlop::app
