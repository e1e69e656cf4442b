// A job's folder: which files belong to an op.json or a model.json because they lie beside it. This
// is the one convention of check, run, bench and batch.
#pragma once

#include <array>
#include <string_view>

#include "base/file_roles.hpp"
#include "job/job.hpp"

namespace dmlop {

/// What files of a job's outputs are called, without .npy: "OutputTensor", "OutputTensors.1". An
/// optional output that is not described counts where it has a golden file.
std::vector<std::string> output_file_names(const Description& description,
                                           const JobRequest& request);

/// Whether a file is the model of an ONNX test: model.onnx beside a folder test_data_set_0.
bool is_onnx_test(const std::string& description_path);

/// The descriptions that have a folder of their own by these names. Where a folder has several, the
/// first is the folder's.
inline constexpr std::array<std::string_view, 3> description_names{"op.json", "model.json",
                                                                   "graph.json"};

/// Whether a description has a folder of its own: its name is op.json, model.json, graph.json or,
/// of a serialized graph, Partition_N.bin; or it is the model of an ONNX test.
bool has_job_folder(const std::string& description_path);

/// The description of a folder: its op.json, model.json or graph.json, or else its only
/// Partition_N.bin; "" if it has none of them, or several partitions.
std::string description_in(const std::string& folder);
/// What to say of a folder that has nothing to run.
std::string text_without_description(const std::string& folder);

/// The graphs that ONNX Runtime wrote to a folder without any description: Partition_0.bin,
/// Partition_1.bin and so on.
std::vector<std::string> partitions_in(const std::string& folder);

/// Whether the folder of a graph has other graphs, too.
bool has_graphs_beside(const std::string& graph_path);

/// Adds a description, or what stands for one, and the settings beside it: tol.json and job.json.
void add_description(FileRoles& files, const std::string& path, const std::string& role);

/// The .npy files beside a description that has a folder of its own, and those in expected/;
/// nothing of others. Adds a finding where the system does not let them be listed.
FolderFiles files_beside(const std::string& description_path, const SharedConfinement& confinement,
                         Diagnostics& diagnostics);

/// What tol.json beside such a description says; nothing, with findings, where it is wrong, and
/// nothing where there is none.
std::optional<Tolerance> tolerance_beside(const std::string& description_path,
                                          const SharedConfinement& confinement,
                                          Diagnostics& diagnostics);

/// The request with those of the files found that are the operator's and that nothing else names.
/// Adds a finding for a golden file whose name has a slip, as the job would pass without it, and a
/// warning for other files that look as if they were meant.
JobRequest with_files_found(const JobRequest& request, const Description& description,
                            Diagnostics& diagnostics, Diagnostics& warnings);

/// The file beside the description that was probably meant for an input which has none; "" where
/// there is none. With `is_needed` the only one there is will do.
std::string misnamed_input(const JobRequest& request, const Description& description,
                           const std::string& input, bool is_needed);

}  // namespace dmlop
