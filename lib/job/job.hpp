// A job: one OP.json with its files, from text to written and compared .npy. Everything up to the
// plan is pure but for reading the description and the .npy headers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.hpp"
#include "base/confine.hpp"
#include "base/diagnostic.hpp"
#include "compare/compare.hpp"
#include "job/backend.hpp"
#include "npy/npy.hpp"
#include "ops/kernel.hpp"
#include "spec/description.hpp"

namespace dmlop {

/// "InputTensor=x.npy" of a command line; the name may be left out where one tensor can be meant.
struct NamedFile {
  std::string tensor;
  std::string path;                    // "-" is standard input or output
  SharedConfinement confinement = {};  // of what a folder or a file names; the caller may name any
  std::optional<MemoryTensor> memory = {};   // takes the file's place; the path only names it
  std::optional<RawForm> raw = {};           // of a file without a header
  std::optional<RandomNumbers> random = {};  // in place of a file
  bool is_found = false;                     // it lies beside the description, and nobody names it
};

/// A file or folder beside a description whose name is nearly that of a part of a job.
struct MisnamedPart {
  std::string path;
  std::string meant;  // "expected"
};

/// What lies beside a description and belongs to it by its name (job/folder.hpp).
struct FolderFiles {
  std::vector<NamedFile> inputs;    // NAME.npy, whether or not NAME is an input
  std::vector<NamedFile> expected;  // expected/NAME.npy, likewise, and expected.npy without a name
  std::vector<MisnamedPart> misnamed = {};
  std::string golden_folder;  // where golden files belong; "": the description has no folder
};

struct JobRequest {
  std::string description_path;  // "-" is standard input; "" where there is no file
  std::vector<NamedFile> inputs;
  std::vector<NamedFile> outputs;
  Checking checking = {};
  std::vector<NamedFile> expected = {};      // golden files, by output
  std::optional<Tolerance> tolerance = {};   // its criteria win over the operator's own
  bool outputs_may_be_dropped = false;       // an output without a file is computed all the same
  bool expected_may_be_missing = false;      // a golden file that does not exist is no finding
  SharedConfinement confinement = {};        // of the paths that stand in files
  FolderFiles found = {};                    // for what nothing else names a file
  bool compares_with_found = false;          // with the golden files that were found, too
  std::optional<RandomNumbers> random = {};  // for inputs without a file
  bool broadcasts = false;                   // inputs are stretched where rules allow it
  bool is_of_batch = false;                  // no option of a command line names its files
  bool is_of_library = false;                // a call names its files
};

/// "InputTensor", or "InputTensors[1]" for an element of an array of tensors.
std::string tensor_name(const std::string& field, std::optional<std::size_t> element);
/// What its files are called, without .npy: "InputTensors.1".
std::string file_name_of(const std::string& field, std::optional<std::size_t> element);

struct BoundInput {
  std::string tensor;
  NpyFile file;
  std::string path;
  std::optional<std::size_t> element = {};   // of an array of tensors
  std::optional<RandomNumbers> random = {};  // the elements are made up
  const json::Value* written = nullptr;      // where that is written

  std::string name() const { return tensor_name(tensor, element); }
};

struct BoundOutput {
  std::string tensor;
  std::string path;
  std::optional<std::size_t> element = {};
  bool is_raw = false;  // the elements alone, without a header

  std::string name() const { return tensor_name(tensor, element); }
};

/// A golden file that an output is compared with.
struct Expectation {
  std::string tensor;
  std::string path;
  std::optional<NpyFile> file;  // absent: it does not exist yet
  Tolerance tolerance;
  std::optional<std::size_t> element = {};
  std::optional<RawForm> raw = {};  // of a file without a header
  SharedConfinement confinement = {};

  std::string name() const { return tensor_name(tensor, element); }
};

/// A request whose description is complete and checked.
struct Job {
  Description description;
  std::vector<BoundInput> inputs;    // those that have a file, in the operator's order
  std::vector<BoundOutput> outputs;  // likewise
  std::vector<Expectation> expected;
  /// What the other judge does not accept, then files that were found and that nothing uses.
  Diagnostics warnings = {};
};

enum class Purpose { check, run };  // a run needs a file for every tensor

/// Reads and checks a request; adds every finding. Returns a job only when there is none.
std::optional<Job> prepare_job(const JobRequest& request, Purpose purpose,
                               Diagnostics& diagnostics);

/// The same for a description that was read already. `warnings`, if given, gets the warnings, also
/// if there is no job, and none of them becomes a finding.
std::optional<Job> prepare_job(Description description, const JobRequest& request, Purpose purpose,
                               Diagnostics& diagnostics, Diagnostics* warnings = nullptr);

/// The same for a description that was parsed already: a document, or a part of one.
std::optional<Job> prepare_job(std::shared_ptr<const json::Document> document,
                               std::shared_ptr<const json::Value> root, const JobRequest& request,
                               Purpose purpose, Diagnostics& diagnostics,
                               Diagnostics* warnings = nullptr);

/// The tolerance that was given; where it gives no criterion, the usual one with its rules.
Tolerance with_default(const std::optional<Tolerance>& given, Tolerance usual);
/// The same with the operator's own.
Tolerance resolved_tolerance(const std::optional<Tolerance>& given, const Description& description,
                             DataType type);

/// What became of the golden file of an output.
enum class GoldenUpdate : std::uint8_t {
  none,      // nothing
  created,   // it was missing and is written
  replaced,  // it is written; the comparison is with what it was before
  refused,   // it is missing or different, and left alone, as the output proves nothing
};

struct OutputComparison {
  std::string tensor;
  std::string expected_path;
  Comparison comparison;
  GoldenUpdate update = GoldenUpdate::none;

  bool was_written() const {
    return update == GoldenUpdate::created || update == GoldenUpdate::replaced;
  }
};

struct JobResult {
  gpu::DispatchTimes times;
  std::string device;  // what ran it: "cpu", or a GPU's spec; "": nothing did
  std::string notice;  // why that was not the chosen device; else ""
  std::vector<OutputComparison> comparisons;  // one for each golden file that exists

  /// The worst of the comparisons; passed where there is none.
  Verdict verdict() const;
};

class NewGoldenFiles;  // job/golden.hpp

/// Bytes that temporaries of the job's plan take at most at a time.
std::uint64_t temporary_bytes(const Job& job);

/// Executes the job, writes its outputs, all or none, and compares them with the golden files while
/// they are computed. Errors: io_failed, run_failed, interrupted; unavailable where the device that
/// was asked for cannot run the operator.
/// With `golden`, outputs that have golden files go there, too.
JobResult run_job(const Job& job, Backend& backend, const ExecutionOptions& options,
                  NewGoldenFiles* golden = nullptr);

/// An output that is computed into memory: its packed elements.
struct OutputInMemory {
  std::string name;  // "OutputTensor", "OutputTensors[1]"
  const TensorDesc* desc;
  Buffer bytes;
  std::string field;  // "OutputTensors", and which of its tensors
  std::optional<std::size_t> element = {};

  Elements elements() const { return {*desc->data_type, desc->sizes, bytes.bytes()}; }
};

/// Executes the job into memory; the outputs come in the order of the fields. With `name`, only
/// that one is kept. `result`, if given, gets times and device. Errors: as run_job.
std::vector<OutputInMemory> outputs_in_memory(const Job& job, Backend& backend,
                                              const ExecutionOptions& options,
                                              JobResult* result = nullptr,
                                              const std::string& name = "");

}  // namespace dmlop
