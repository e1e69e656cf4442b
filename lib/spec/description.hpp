// One use of an operator: the fields of an OP.json, typed by the operator's spec. It is built in
// three steps, and each adds findings instead of stopping: reading (the functions here), binding to
// .npy headers (job/), and completing and checking against the rules (spec/validate.hpp).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "npy/raw_form.hpp"
#include "spec/checking.hpp"
#include "spec/fields.hpp"
#include "spec/fields_reader.hpp"
#include "spec/random_numbers.hpp"

namespace dmlop {

/// Names a file for a tensor, from OP.json's `bindings` or from the command line.
struct Binding {
  std::string tensor;
  std::string path;                         // "": named without a path, or random
  std::optional<std::size_t> element = {};  // of an array of tensors
  const json::Value* written = nullptr;
  std::optional<RawForm> raw = {};           // of a file without a header; job/bind.hpp reads it
  std::optional<RandomNumbers> random = {};  // in place of a file
};

class Description : public FieldSet {
 public:
  FeatureLevel feature_level = newest_feature_level;
  Judge judge = Judge::page;  // the file's, unless the caller has another choice
  std::vector<Binding> bindings;
  Diagnostics warnings;  // what the other judge does not accept

  /// The operator's tolerance. Its atol is at least tolerance_of_term for each term of a sum: about
  /// what a sum of products of random numbers of magnitude 1 loses in FLOAT32.
  Tolerance default_tolerance(DataType type) const;

  const std::string& file() const { return document_->file(); }
  const json::Value& root() const { return *root_; }

 private:
  friend class DescriptionReader;
  std::shared_ptr<const json::Value> root_;
};

/// Reads the text of an OP.json. `level` is the command line's choice and takes precedence over the
/// file's. Structural mistakes (unknown fields and names, wrong kinds, numbers out of range) become
/// findings in `diagnostics`. Returns nothing if the operator could not be determined.
std::optional<Description> read_description(std::string file, std::string text,
                                            std::optional<FeatureLevel> level,
                                            Diagnostics& diagnostics);

/// The same for a description that is part of a document, such as a job of a batch. `root` is a
/// value of the document. Fields named in `beside` may stand next to the description's own.
std::optional<Description> read_description(std::shared_ptr<const json::Document> document,
                                            std::shared_ptr<const json::Value> root,
                                            const std::vector<std::string>& beside,
                                            std::optional<FeatureLevel> level,
                                            Diagnostics& diagnostics,
                                            Completeness completeness = Completeness::as_needed);

}  // namespace dmlop
