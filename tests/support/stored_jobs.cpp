#include "stored_jobs.hpp"

#include <algorithm>

#include "job/folder.hpp"
#include "layouts.hpp"
#include "ops/operator.hpp"

namespace dmlop::test {
namespace {

/// The description with these strides, completed; nothing where a rule forbids them.
std::optional<Description> with_layouts(const Description& description,
                                        const std::vector<StoredInput>& inputs) {
  Description changed = description;
  for (const StoredInput& input : inputs) {
    TensorDesc& desc = *changed.find_tensor(input.field, input.element);
    desc.strides = input.tensor.strides;
    desc.total_size_in_bytes.reset();
  }
  Diagnostics diagnostics;
  check_description(changed, diagnostics);
  if (!diagnostics.empty()) return std::nullopt;
  return changed;
}

}  // namespace

std::optional<Job> stored_job(const std::filesystem::path& folder, Diagnostics& diagnostics,
                              Judge judge) {
  JobRequest request{.description_path = (folder / "op.json").string()};
  request.checking.judge = judge;
  request.found = files_beside(request.description_path, {}, diagnostics);
  request.found.expected.clear();
  request.outputs_may_be_dropped = true;
  return prepare_job(request, Purpose::run, diagnostics);
}

std::vector<StoredInput> stored_inputs(const Job& job) {
  constexpr std::size_t elements_most = 1 << 14;
  std::vector<StoredInput> inputs;
  for (const BoundInput& input : job.inputs) {
    const TensorDesc& desc = *job.description.find_tensor(input.tensor, input.element);
    const auto bytes = input.file.data();
    Tensor tensor{*desc.data_type, desc.sizes,
                  desc.strides ? *desc.strides : packed_strides(desc.sizes),
                  std::vector<std::byte>(bytes.begin(), bytes.end())};
    if (element_count(desc.sizes) > elements_most) return {};
    inputs.push_back({input.tensor, input.element, std::move(tensor)});
  }
  return inputs;
}

std::set<std::string> lay_out(Description& description, std::vector<StoredInput>& inputs,
                              Random& random) {
  std::set<std::string> changed;
  for (StoredInput& input : inputs) {
    std::vector<StoredInput> with_it = inputs;
    Tensor& tensor = with_it[static_cast<std::size_t>(&input - inputs.data())].tensor;
    tensor = relaid(tensor, random);
    const bool is_other = !is_packed(tensor.sizes, tensor.strides);
    const auto described = with_layouts(description, with_it);
    if (!described) continue;
    description = *described;
    input.tensor = std::move(tensor);
    if (is_other) changed.insert(input.field);
  }
  return changed;
}

std::set<std::string> lay_out(Job& job, Random& random) {
  std::vector<StoredInput> inputs = stored_inputs(job);
  const std::set<std::string> changed = lay_out(job.description, inputs, random);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& tensor = inputs[i].tensor;
    Buffer elements(tensor.bytes.size(), "an input");
    std::ranges::copy(tensor.bytes, elements.data());
    job.inputs[i].file = NpyFile::holding(
        tensor.type, {tensor.bytes.size() / tensor.element_size()}, std::move(elements));
  }
  return changed;
}

}  // namespace dmlop::test
