// Which file belongs to which tensor of a description, by what its bindings and the request name.
// Nothing is opened here.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "job/job.hpp"

namespace dmlop {

/// The option that names golden files. Bindings name none.
inline constexpr const char* expect_option = "--expect ";

enum class Direction { input, output };

/// A file for one tensor, and where it was named: in the description or on the command line.
struct TensorFile {
  std::string path;  // "": named in a way that has its own finding
  const json::Value* written = nullptr;
  SharedConfinement confinement = {};
  std::optional<MemoryTensor> memory = {};
  std::optional<RawForm> raw = {};
  std::optional<RandomNumbers> random = {};
};

class Binder {
 public:
  /// Files named in the description's bindings and on the command line with `option`.
  Binder(const Description& description, const JobRequest& request, Direction direction,
         Diagnostics& diagnostics, std::string option);

  /// Adds those that the request names. What is wrong with their names is a finding.
  void add(const std::vector<NamedFile>& files);

  const std::vector<std::string>& names() const { return names_; }

  /// All files, by the names of their tensors: "InputTensor", "InputTensors.1".
  std::map<std::string, const TensorFile*> files() const;

  /// Null where the tensor has no file, or none that can be used.
  const TensorFile* find(const std::string& tensor, std::optional<std::size_t> element = {}) const;

  /// Whether a file is named for the tensor, or may be meant for it.
  bool is_named(const std::string& tensor, std::optional<std::size_t> element = {}) const;

  /// Whether the files speak of a field that the description leaves out. Files without names
  /// count as those of the fields that the message about them proposes.
  bool brings(const FieldSpec& field) const;

  /// How many elements of an array of tensors the files speak of.
  std::size_t element_count(const std::string& tensor) const;

  /// Adds a finding if no file is named for the tensor.
  void require(const std::string& tensor, std::optional<std::size_t> element = {});

  /// Adds a finding about an output's file, at the place that names it.
  void refuse_target(const TensorFile& target, std::string message);

  /// Adds a finding about the files that were named.
  void usage(std::string message, std::string suggestion);

 private:
  using Files = std::map<std::size_t, TensorFile>;  // by element; a single tensor is element 0

  std::string file_name(const std::string& field, std::size_t element) const;
  std::string naming(const std::string& tensor, const std::string& path) const;
  std::string how_to_name(const std::string& tensor, std::optional<std::size_t> element,
                          const std::string& name) const;
  static std::string files_up_to(std::optional<std::size_t> element);
  std::string beside_description(const std::string& name) const;
  bool is_mine(const std::string& tensor) const;
  std::string only_output(const std::map<std::string, Files>& named) const;
  void refuse_unnamed(const std::vector<std::string>& paths);
  void refuse_name(const std::string& tensor);

  const Description& description_;
  const JobRequest& request_;
  Direction direction_;
  Diagnostics& diagnostics_;
  std::vector<std::string> names_;
  std::string option_;  // "-i "
  std::map<std::string, Files> sources_;
  bool is_ambiguous_ = false;      // a file was given without a name where several are possible
  std::set<std::string> guessed_;  // the tensors that such files are probably meant for
};

/// One tensor of a field that files may be named for: the field itself, or an element of an array.
struct NamedTensor {
  std::string field;
  std::optional<std::size_t> element;
};

/// The tensors of a field that are there, after those for which only a file is named came to be.
std::vector<NamedTensor> slots_of(Description& description, const Binder& binder,
                                  const std::string& name);
/// Those of all fields of the binder.
std::vector<NamedTensor> all_slots(Description& description, const Binder& binder);

}  // namespace dmlop
