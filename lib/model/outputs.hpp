// A resource at the end of a run as a tensor, for .npy files that the caller names and for
// comparisons with golden files.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/file.hpp"
#include "base/file_roles.hpp"
#include "compare/compare.hpp"
#include "job/job.hpp"
#include "model/model.hpp"

namespace dmlop {

/// The tensor that a resource holds: as the last dispatch wrote it or, if none did, all its values
/// in one dimension. Its elements may lie anywhere in the buffer.
struct ResourceTensor {
  std::size_t resource = 0;
  DataType data_type = DataType::Float32;
  Sizes sizes;
  Strides strides;                      // in elements
  std::uint64_t offset = 0;             // of the first element, in bytes
  const Description* writer = nullptr;  // what wrote it, or null
};

/// Whether both types are integers that differ in the meaning of the first bit at most.
bool are_integers_alike(DataType a, DataType b);

/// The bindings of the outputs of a dispatch.
std::vector<const TensorBinding*> outputs_of(const Model& model, const DispatchCommand& command);
/// The bindings of its inputs, without those that are bound when the model starts.
std::vector<const TensorBinding*> inputs_of(const Model& model, const DispatchCommand& command);

/// The tensor that a dispatch writes to a resource.
ResourceTensor written_tensor(const Description& description, const TensorBinding& output);

ResourceTensor tensor_of(const Model& model, std::size_t resource);

/// What a model is for: the outputs that it names or else the resources that its writeFile commands
/// write or, without any, those that a dispatch writes and none reads afterwards. In the order of
/// the model.
std::vector<std::size_t> results_of(const Model& model);

/// The tensor's elements, packed.
Buffer packed_elements(const ResourceTensor& tensor, std::span<const std::byte> contents);

/// Puts packed elements to their places in the resource: the opposite.
void place_elements(const ResourceTensor& tensor, std::span<const std::byte> packed,
                    std::span<std::byte> contents);

/// Writes the tensor as numpy.save does. Errors: io_failed.
void write_npy(const ResourceTensor& tensor, std::span<const std::byte> contents,
               const std::string& path);

/// A file that the caller names for a resource. `written` is the golden file, opened.
struct NamedResource {
  std::size_t resource = 0;
  std::string path;
  std::optional<NpyFile> golden = {};
  bool is_raw = false;  // without a header
};

/// Finds the resources that `files` name. `option` is "-o" or "--expect". If only one resource is
/// written, its name may be omitted. Adds a finding for each name that is no resource. If `golden`,
/// opens the files; otherwise they are to be written.
std::vector<NamedResource> name_resources(const Model& model, const std::vector<NamedFile>& files,
                                          const std::string& option, bool golden,
                                          Diagnostics& diagnostics);

/// Refuses outputs that cannot be written, before anything runs. Errors: io_failed.
void require_writable(const std::vector<NamedResource>& outputs);

/// Writes outputs from the contents of their resources, all together: as numpy.save does or, if
/// raw, the elements alone; those of 4 bits are packed then. Errors: io_failed.
void write_together(const Model& model, const std::vector<NamedResource>& outputs,
                    const std::function<std::span<const std::byte>(std::size_t)>& contents);

/// The files that a model reads, tol.json and job.json beside it among them.
FileRoles roles_of(const Model& model);

/// Adds a finding for each writeFile that would replace a file with a role. What they write has a
/// role afterwards.
void refuse_replaced_by_commands(const Model& model, FileRoles& files, Diagnostics& diagnostics);

/// The same for outputs, each of which must have a file of its own.
void refuse_replaced(const Model& model, const std::vector<NamedResource>& outputs,
                     FileRoles& files, Diagnostics& diagnostics);

/// Compares a resource with its golden file. A golden file with one dimension, as writeFile makes
/// it if no dimensions are given, is compared element by element with any shape, as is any golden
/// file with as many elements for an edge of a graph, whose nodes may take INT64 for UINT64, too.
OutputComparison compare_resource(const Model& model, const NamedResource& expected,
                                  std::span<const std::byte> contents, const Tolerance& tolerance);
/// The same for a tensor in the resource.
OutputComparison compare_golden(const Model& model, ResourceTensor tensor,
                                const NamedResource& expected, std::span<const std::byte> contents,
                                const Tolerance& tolerance);
/// The same for elements from anywhere, which the result calls `expected`.
OutputComparison compare_tensor(const Model& model, ResourceTensor tensor, const Elements& golden,
                                const std::string& expected, std::span<const std::byte> contents,
                                const Tolerance& tolerance);

}  // namespace dmlop
