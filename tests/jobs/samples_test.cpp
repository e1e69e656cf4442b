// samples/: each gives its golden files byte for byte, every family and every kind of field has
// one, and they are small.
#include <doctest/doctest.h>

#include <set>

#include "base/text.hpp"
#include "json/document.hpp"
#include "paths.hpp"
#include "program.hpp"
#include "spec/facts.hpp"
#include "spec/spec.hpp"

namespace dmlop::test::samples_test {
namespace {

namespace fs = std::filesystem;

const fs::path samples = source_path("samples");

/// The folders with this file, by name.
std::vector<fs::path> folders_with(const char* file) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(samples)) {
    if (fs::exists(entry.path() / file)) folders.push_back(entry.path());
  }
  return folders;
}

/// What a sample shows of a field.
std::string kind_of(const dmlop::FieldSpec& field) {
  const bool is_optional_tensor = field.is_tensor() && field.optional;
  return std::string(name_of(field.kind)) + (is_optional_tensor ? ", optional" : "");
}

}  // namespace

TEST_CASE("samples: a batch runs them all, and each gives its golden files") {
  const Folder folder;
  const auto batch = dmlop_program(
      {"batch", samples.string(), "--cpu", "--confine", "--out", "out"}, {.folder = folder.path()});
  CHECK(batch.code == 0);
  CHECK(batch.error == "");
  auto jobs = folders_with("op.json");
  const auto models = folders_with("model.json");
  CHECK(jobs.size() >= 31);
  CHECK(models.size() == 2);
  jobs.insert(jobs.end(), models.begin(), models.end());
  const std::size_t count =
      jobs.size() + folders_with("graph.json").size() + folders_with("model.onnx").size();
  CHECK(batch.output.find(": " + std::to_string(count) + " PASSED\n") != std::string::npos);
  const std::set<std::string> exact{"padding", "slice1", "reverse_subsequences", "lp_pooling"};
  for (const fs::path& job : jobs) {
    const std::string id = job.filename().string();
    std::uintmax_t bytes = 0;
    int golden = 0;
    for (const auto& file : fs::recursive_directory_iterator(job)) {
      CAPTURE(file.path());
      if (file.is_directory()) continue;
      bytes += file.file_size();
      if (file.path().parent_path().filename() != "expected" || fs::exists(job / "model.json"))
        continue;
      const std::string found = folder.read("out/" + id + "/" + file.path().filename().string());
      CHECK(found.size() == read_file(file.path()).size());
      // What computes nothing, or no more than one sum of a few squares, is the same everywhere.
      if (exact.contains(id)) CHECK(found == read_file(file.path()));
      ++golden;
    }
    CAPTURE(id);
    CHECK((golden > 0 || fs::exists(job / "expected")));
    CHECK(bytes < 8192);
  }
}

TEST_CASE("samples: every family and every kind of field has one") {
  std::set<std::string> families, kinds, types;
  for (const fs::path& folder : folders_with("op.json")) {
    CAPTURE(folder);
    dmlop::Diagnostics findings;
    const auto document =
        dmlop::json::Document::parse("op.json", read_file(folder / "op.json"), findings);
    REQUIRE(document);
    const std::string type = document->root().find("type")->text;
    const dmlop::OperatorSpec& spec =
        *dmlop::find_spec(type.substr(std::string("DML_OPERATOR_").size()));
    families.insert(spec.family);
    if (folder.filename() == dmlop::lower_case(spec.name))
      CHECK(dmlop::sample_of(spec.name, spec.family) == folder.filename());
    for (const auto& member : document->root().find("desc")->members) {
      const dmlop::FieldSpec* field = spec.find_field(member.name);
      REQUIRE(field != nullptr);
      kinds.insert(kind_of(*field));
      if (const auto* data_type = member.value.find("DataType")) types.insert(data_type->text);
    }
    // Tensors of which the files say all are not written.
    for (const dmlop::FieldSpec& field : spec.fields) {
      if (fs::exists(folder / (field.name + ".npy"))) kinds.insert(kind_of(field));
    }
  }
  for (const dmlop::Family& family : dmlop::families()) {
    CHECK_MESSAGE(families.contains(family.name), family.name);
    for (const std::string& sample : family.samples)
      CHECK_MESSAGE(fs::exists(samples / sample / "op.json"), sample);
  }
  std::set<std::string> missing;
  for (const std::string& name : dmlop::specified_operators()) {
    for (const dmlop::FieldSpec& field : dmlop::find_spec(name)->fields) {
      if (dmlop::find_spec(name)->is_count(field.name)) continue;
      const std::string kind = kind_of(field);
      if (!kinds.contains(kind)) missing.insert(kind);
    }
  }
  CHECK(dmlop::join(missing) == "");
  CHECK(types.contains("INT4"));
}

}  // namespace dmlop::test::samples_test
