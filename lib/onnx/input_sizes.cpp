#include "onnx/input_sizes.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "tensor/numpy_words.hpp"

namespace dmlop::onnx {
namespace {

/// Sizes that an input must have; nothing where any size will do.
using WantedSizes = std::vector<std::optional<std::uint64_t>>;

bool are_wanted(const Sizes& sizes, const WantedSizes& wanted) {
  return std::ranges::equal(sizes, wanted, [](std::uint64_t size, const auto& other) {
    return !other || *other == size;
  });
}

/// What makes the wanted sizes of an array: other dimensions in front, or another order, such as
/// that of channels. "" if nothing of that does.
std::string remedy_of_array(const Sizes& sizes, const WantedSizes& wanted) {
  const auto reshaped = [&](const Sizes& ordered) -> std::optional<Sizes> {
    for (const Sizes& other : {with_dimensions(ordered, wanted.size()), ordered}) {
      if (are_wanted(other, wanted) && element_count(other) == element_count(sizes)) return other;
    }
    return std::nullopt;
  };
  if (const auto other = reshaped(sizes)) return Advice(reshaping(*other)).text();
  for (const auto& order : other_orders(sizes.size())) {
    const Sizes ordered = in_order(sizes, order);
    if (const auto other = reshaped(ordered))
      return Advice(transposing(order, *other == ordered ? Sizes() : *other)).text();
  }
  return "";
}

}  // namespace

std::optional<std::uint64_t> size_of(const Dimension& dimension, const NamedSizes& named) {
  if (dimension.size && *dimension.size >= 0) return static_cast<std::uint64_t>(*dimension.size);
  const auto found = named.find(std::string(dimension.name));
  if (dimension.name.empty() || found == named.end()) return std::nullopt;
  return found->second;
}

void InputSizes::refuse(Diagnostic finding) {
  finding.file = model_.path;
  diagnostics_.push_back(std::move(finding));
}

std::optional<Sizes> InputSizes::of(const ValueInfo& input, const std::string& title,
                                    const TensorData* data) {
  if (!input.sizes) {
    if (data != nullptr) return data->sizes;
    refuse({.message = title + " has no sizes in the model",
            .suggestion = remedy_of_sizes(std::string(input.name))});
    return std::nullopt;
  }
  const std::vector<Dimension>& written = *input.sizes;
  WantedSizes wanted;
  for (const Dimension& dimension : written)
    wanted.push_back(size_of(dimension, request_.dimensions));
  const bool is_scalar = written.empty();
  // Files of a scalar may say that it is one element in a row.
  if (data != nullptr && is_scalar && data->sizes == Sizes{1}) return Sizes();
  if (data != nullptr && data->sizes.size() != written.size()) {
    refuse({.message = title + " has " + counted(written.size(), "dimension") + ", but " +
                       source_of_elements() + " has the sizes " + list_of(data->sizes),
            .suggestion = remedy_of_array(data->sizes, wanted)});
    return std::nullopt;
  }
  Sizes sizes;
  bool is_known = true;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const std::string place = title + ": dimension " + std::to_string(i);
    if (!wanted[i] && data == nullptr) {
      refuse_unknown(written[i], place);
      is_known = false;
      continue;
    }
    sizes.push_back(wanted[i] ? *wanted[i] : data->sizes[i]);
    if (!wanted[i]) remember(written[i], sizes.back(), title);
    if (data == nullptr || data->sizes[i] == sizes.back()) continue;
    refuse({.message = place + " is " + std::to_string(sizes.back()) + ", but " +
                       source_of_elements() + " has the sizes " + list_of(data->sizes),
            .suggestion = remedy_of_array(data->sizes, wanted)});
    return std::nullopt;
  }
  return is_known ? std::optional(sizes) : std::nullopt;
}

/// All unknown sizes are reported at once, and each name once.
void InputSizes::refuse_unknown(const Dimension& dimension, const std::string& place) {
  const std::string name(dimension.name);
  if (!name.empty() && !refused_.insert(name).second) return;
  refuse({.message = place + (name.empty() ? std::string() : " \"" + printable(name) + "\"") +
                     " has no size in the model",
          .suggestion = remedy_of_size(name)});
}

/// Files may give dimensions of one name different sizes, which are then broadcast, or do not fit.
void InputSizes::remember(const Dimension& dimension, std::uint64_t size,
                          const std::string& title) {
  if (dimension.name.empty()) return;
  const std::string name(dimension.name);
  const auto& [first, where] = from_files_.try_emplace(name, size, title).first->second;
  if (first == size) return;
  warnings_.push_back({.file = model_.path,
                       .message = "the dimension \"" + printable(name) + "\" is " +
                                  std::to_string(size) + " in " + title + ", but " +
                                  std::to_string(first) + " in " + where,
                       .rule = "dimensions of one name have one size"});
}

std::string way_to_name_size(SizeSource source, const std::string& name) {
  switch (source) {
    case SizeSource::job:
      return "give the job \"dimensions\": {\"" + printable(name) + "\": SIZE}";
    case SizeSource::call:
      return "give \"" + printable(name) + "\" a size in dimensions";
    default:
      return "write --dim " + shell_quoted(name + "=") + "SIZE";
  }
}

/// What gives an input sizes for which the model has none.
std::string InputSizes::remedy_of_sizes(const std::string& input) const {
  switch (request_.size_source) {
    case SizeSource::files:
      return "give its file: -i " + shell_quoted(input + "=") + "FILE.npy";
    case SizeSource::job:
      return "name its file in the job's \"bindings\"";
    default:
      return remedy_of_size("");
  }
}

std::string InputSizes::way_to_give(const std::string& input) const {
  const std::string given = "-i " + shell_quoted(input + "=") + "FILE.npy";
  switch (request_.size_source) {
    case SizeSource::job:
      return "name its file in the job's \"bindings\"";
    case SizeSource::call:
      return "give its elements in known_inputs";
    default:
      return "give its elements: " + given;
  }
}

/// What gives a dimension a size; its name may be "".
std::string InputSizes::remedy_of_size(const std::string& name) const {
  const std::string named =
      name.empty() ? "" : way_to_name_size(request_.size_source, name) + ", or ";
  switch (request_.size_source) {
    case SizeSource::files:
      return named + "give the input's file with -i";
    case SizeSource::job:
      return named + "name the input's file in the job's \"bindings\"";
    case SizeSource::options:
      if (name.empty())
        return "write it into the model; dmlop check and run also take it from the input's file, "
               "with -i";
      break;
    case SizeSource::call:
      if (name.empty()) return "write it into the model";
      break;
  }
  return way_to_name_size(request_.size_source, name);
}

void InputSizes::require_known_dimensions() {
  std::vector<std::string> known;
  for (const ValueInfo& input : model_.inputs) {
    if (!input.sizes) continue;
    for (const Dimension& dimension : *input.sizes) {
      const std::string name(dimension.name);
      const bool is_new = std::ranges::find(known, name) == known.end();
      if (!name.empty() && is_new) known.push_back(name);
    }
  }
  for (const auto& [name, size] : request_.dimensions) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string nearest = nearest_name(name, known);
    refuse({.kind = ErrorKind::usage,
            .message = "no input has a dimension \"" + printable(name) + "\"",
            .suggestion = !nearest.empty() ? "did you mean \"" + nearest + "\"?"
                          : known.empty()  ? "all sizes stand in the model; leave it out"
                                           : "dimensions: " + names_of_list(known)});
  }
}

}  // namespace dmlop::onnx
