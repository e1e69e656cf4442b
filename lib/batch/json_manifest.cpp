#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "batch/job_reader.hpp"
#include "batch/manifest_kinds.hpp"
#include "spec/field_reader.hpp"

namespace dmlop {
namespace {

using Kind = json::Value::Kind;

// Every job gets a copy of the defaults.
constexpr std::size_t defaults_bytes_max = std::size_t{64} << 10;

// `job` with members of `defaults` that it lacks. Objects are completed member by member.
json::Value merged(const json::Value& job, const json::Value& defaults, int depth = 0) {
  json::Value value = job;
  if (job.kind != Kind::object || defaults.kind != Kind::object) return value;
  std::set<std::string_view> names;
  for (const json::Member& member : job.members) names.insert(member.name);
  for (const json::Member& member : defaults.members) {
    if (!names.contains(member.name)) {
      value.members.push_back(member);
      continue;
    }
    // A tolerance is one rule: a job that is strict is not loosened by a part of another one.
    if (depth != 0 || member.name == "tolerance") continue;
    const auto has_name = [&](const json::Member& own) { return own.name == member.name; };
    const auto own = std::find_if(value.members.begin(), value.members.end(), has_name);
    own->value = merged(own->value, member.value, depth + 1);
  }
  return value;
}

class JsonManifest : public Manifest {
 public:
  JsonManifest(std::shared_ptr<const json::Document> document, ManifestSource source,
               Diagnostics& diagnostics)
      : document_(std::move(document)),
        source_(std::move(source)),
        is_one_(is_one_job(document_->root())) {
    const json::Value& root = document_->root();
    FieldReader reader(*document_, diagnostics);
    if (root.kind == Kind::object) {
      if (!is_one_) reader.refuse_unknown(root, {"$schema", "defaults", "jobs"}, "a batch");
      defaults_ = root.find("defaults");
      if (defaults_ != nullptr && defaults_->kind != Kind::object)
        reader.expected(*defaults_, "defaults", "an object with fields for every job");
      if (defaults_ != nullptr && document_->source(*defaults_).size() > defaults_bytes_max)
        reader.add(document_->at(
            *defaults_, "defaults have " + std::to_string(document_->source(*defaults_).size()) +
                            " bytes, must have at most " + std::to_string(defaults_bytes_max)));
    }
    jobs_ = root.kind == Kind::array ? &root : root.find("jobs");
    if (is_one_) return;
    if (jobs_ == nullptr) {
      diagnostics.push_back(document_->at(root, "the field \"jobs\" is missing"));
      diagnostics.back().value.clear();
    } else if (jobs_->kind != Kind::array) {
      reader.expected(*jobs_, "jobs", "an array of jobs");
    }
  }

  std::optional<BatchJob> next() override {
    if (next_ == *size()) return std::nullopt;
    const json::Value& item = is_one_ ? document_->root() : jobs_->items[next_];
    const std::string id = "job-" + std::to_string(next_++);
    auto root = defaults_ != nullptr ? std::make_shared<const json::Value>(merged(item, *defaults_))
                                     : std::shared_ptr<const json::Value>(document_, &item);
    BatchJob job = read_job(document_, std::move(root), id, source_);
    if (defaults_ != nullptr) job.defaults = document_->source(*defaults_);
    return job;
  }
  std::optional<std::uint64_t> size() const override { return is_one_ ? 1 : jobs_->items.size(); }
  std::unique_ptr<Manifest> again() const override {
    auto manifest = std::make_unique<JsonManifest>(*this);
    manifest->next_ = 0;
    return manifest;
  }

 private:
  std::shared_ptr<const json::Document> document_;
  ManifestSource source_;
  bool is_one_;  // the document is a job
  const json::Value* defaults_ = nullptr;
  const json::Value* jobs_ = nullptr;
  std::size_t next_ = 0;
};

}  // namespace

bool is_one_job(const json::Value& root) {
  const auto has = [&](const std::string& name) { return root.find(name) != nullptr; };
  if (has("jobs") || has("defaults")) return false;
  const bool has_type = has("type") || has("Type");
  return has("graph") || (has_type && std::ranges::any_of(batch_job_fields(), has));
}

std::unique_ptr<Manifest> json_manifest(std::shared_ptr<const json::Document> document,
                                        ManifestSource source, Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.size();
  auto manifest =
      std::make_unique<JsonManifest>(std::move(document), std::move(source), diagnostics);
  if (diagnostics.size() != before) return nullptr;
  return manifest;
}

}  // namespace dmlop
