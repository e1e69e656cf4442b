// The options that say how far elements may be from the expected ones.
#pragma once

#include "command.hpp"
#include "tensor/tolerance.hpp"

namespace dmlop::app {

struct ToleranceOptions {
  Tolerance tolerance;

  /// Declares --rtol, --atol, --ulp, --nan and --allow-trivial.
  void add_to(OptionList& command);
  std::vector<std::string> names() const;
  /// Whether any of them was given; call after parsing.
  bool given() const;
  /// The options as they were given, to be typed again: " --rtol 1e-05 --nan differ".
  std::string text() const;

 private:
  std::vector<Option> options_;
};

}  // namespace dmlop::app
