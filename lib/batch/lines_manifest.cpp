#include <optional>
#include <utility>

#include "batch/job_reader.hpp"
#include "batch/lines.hpp"
#include "batch/manifest_kinds.hpp"

namespace dmlop {
namespace {

class LinesManifest : public Manifest {
 public:
  /// Opens the list, so that one that cannot be read is said at once.
  explicit LinesManifest(ManifestSource source) : source_(std::move(source)) { open(); }
  LinesManifest(const LinesManifest&) = delete;
  LinesManifest& operator=(const LinesManifest&) = delete;

  std::optional<BatchJob> next() override {
    if (!lines_) open();
    while (auto line = lines_->next()) {
      ++number_;
      if (line->is_too_long) return too_long_job();
      if (line->text.find_first_not_of(" \t\r") == std::string::npos) continue;
      return job_of(std::move(line->text));
    }
    return std::nullopt;
  }
  std::unique_ptr<Manifest> again() const override {
    if (source_.path == "-" || !lines_ || !lines_->is_regular()) return nullptr;
    return std::unique_ptr<Manifest>(new LinesManifest(source_, Unopened()));
  }

 private:
  // Most copies are never read, and a batch may have many lists.
  struct Unopened {};
  LinesManifest(const ManifestSource& source, Unopened) : source_(source) {}

  void open() { lines_.emplace(source_.path, json::max_text_bytes); }

  BatchJob too_long_job() const {
    BatchJob job{
        .id = made_up_id(), .place = source_.path + ":" + std::to_string(number_), .line = number_};
    job.findings.push_back(
        {.file = source_.path,
         .line = number_,
         .column = 1,
         .message = "this line has more than " + std::to_string(json::max_text_bytes) + " bytes",
         .rule = "a job has at most " + std::to_string(json::max_text_bytes) + " bytes of JSON",
         .suggestion = "put large tensors into .npy files and name them in bindings"});
    return job;
  }

  BatchJob job_of(std::string line) {
    BatchJob broken{.id = made_up_id(),
                    .place = source_.path + ":" + std::to_string(number_),
                    .line = number_,
                    .text = line};
    auto document = json::Document::parse(json::Source{source_.path, number_}, std::move(line),
                                          broken.findings);
    if (!document) return broken;
    auto shared = std::make_shared<const json::Document>(std::move(*document));
    std::shared_ptr<const json::Value> root(shared, &shared->root());
    BatchJob job = read_job(std::move(shared), std::move(root), made_up_name(), source_);
    job.findings.insert(job.findings.begin(), broken.findings.begin(), broken.findings.end());
    return job;
  }

  std::string made_up_name() const { return "line-" + std::to_string(number_); }
  std::string made_up_id() const { return source_.id_of(made_up_name()); }

  ManifestSource source_;
  std::optional<LineReader> lines_;
  std::uint32_t number_ = 0;
};

}  // namespace

std::unique_ptr<Manifest> lines_manifest(ManifestSource source) {
  return std::make_unique<LinesManifest>(std::move(source));
}

}  // namespace dmlop
