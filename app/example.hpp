// dmlop ops NAME --example: a description to begin with, which explains itself in // comments.
#pragma once

#include <string>

#include "spec/spec.hpp"

namespace dmlop::app {

/// A whole OP.json that is valid, with a comment on each field.
std::string commented_example(const OperatorSpec& spec);

}  // namespace dmlop::app
