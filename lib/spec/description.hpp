// One use of an operator: the fields of an OP.json typed by the operator's spec. Built in three
// steps, each adding findings instead of stopping: read (this file's functions), bind to .npy
// headers (job/), complete and check against the rules (spec/validate.hpp).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "spec/fields.hpp"
#include "spec/fields_reader.hpp"

namespace dmlop {

/// Names a file for a tensor, from OP.json's `bindings` or from the command line.
struct Binding {
  std::string tensor;
  std::string path;                         // "": written, but no path
  std::optional<std::size_t> element = {};  // of an array of tensors
  const json::Value* written = nullptr;
};

/// Who decides what is valid where an operator's page and DirectML 1.15.4 disagree.
enum class Judge { page, directml };

class Description : public FieldSet {
 public:
  FeatureLevel feature_level = newest_feature_level;
  Judge judge = Judge::page;
  std::vector<Binding> bindings;
  Diagnostics warnings;  // what is valid, but not for everybody

  const std::string& file() const { return document_->file(); }
  const json::Value& root() const { return *root_; }

 private:
  friend class DescriptionReader;
  std::shared_ptr<const json::Value> root_;
};

/// Reads the text of an OP.json. `level` is the command line's choice and wins over the file's.
/// Structural findings (unknown fields and names, wrong kinds, numbers out of range) are added to
/// `diagnostics`; returns nothing when no operator could be made out at all.
std::optional<Description> read_description(std::string file, std::string text,
                                            std::optional<FeatureLevel> level,
                                            Diagnostics& diagnostics);

/// The same for a description that is part of a document, such as a job of a batch. `root` holds
/// values of the document; fields named in `beside` may stand beside the description's own.
std::optional<Description> read_description(std::shared_ptr<const json::Document> document,
                                            std::shared_ptr<const json::Value> root,
                                            const std::vector<std::string>& beside,
                                            std::optional<FeatureLevel> level,
                                            Diagnostics& diagnostics,
                                            Completeness completeness = Completeness::as_needed);

}  // namespace dmlop
