// Infinity and NaN, which JSON has no numbers for: every spelling of "inf", "-inf" and "nan" in
// every field that takes a floating-point number, in JSON, with --set and in models.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "described.hpp"
#include "model.hpp"
#include "ops/operator.hpp"
#include "spec/settings.hpp"
#include "tensor/element.hpp"

namespace dmlop::test::number_words_test {
namespace {

using Json = nlohmann::ordered_json;

struct Word {
  std::string spelling;
  std::string usual;  // empty: it is none
};

/// All spellings of words that mean infinity or NaN somewhere.
std::vector<Word> words() {
  std::vector<Word> all;
  for (const std::string sign : {"", "-", "+"}) {
    for (const std::string word : {"inf", "infinity", "nan", "nan(ind)"}) {
      std::string capital = word, mixed = word;
      capital[0] = upper_case(word.substr(0, 1))[0];
      for (std::size_t i = 0; i < word.size(); i += 2) mixed[i] = upper_case(word.substr(i, 1))[0];
      for (const std::string& spelling : {word, upper_case(word), capital, mixed}) {
        const std::string usual = sign + word;
        const bool is_one = usual == "inf" || usual == "-inf" || usual == "nan";
        all.push_back({sign + spelling, is_one ? usual : ""});
      }
    }
  }
  return all;
}

/// A number in a description: how --set calls it, and where it is in the desc.
struct NumberPlace {
  std::string setting;
  Json::json_pointer pointer;
};

NumberPlace part(const NumberPlace& place, const std::string& name) {
  return {place.setting + "." + name, place.pointer / name};
}

/// The floating-point numbers of a desc.
std::vector<NumberPlace> places_of(const OperatorSpec& spec, const Json& desc) {
  std::vector<NumberPlace> places;
  for (const FieldSpec& field : spec.fields) {
    if (!desc.contains(field.name) || desc.at(field.name).is_null()) continue;
    const NumberPlace place{field.name, Json::json_pointer("/" + field.name)};
    const Json& value = desc.at(field.name);
    if (field.kind == FieldKind::float32 || field.kind == FieldKind::scalar_union)
      places.push_back(place);
    if (field.kind == FieldKind::scale_bias) {
      places.push_back(part(place, "Scale"));
      places.push_back(part(place, "Bias"));
    }
    for (std::size_t i = 0; field.kind == FieldKind::float_array && i < value.size(); ++i)
      places.push_back({field.name + "[" + std::to_string(i) + "]", place.pointer / i});
    if (field.kind != FieldKind::fused_activation) continue;
    for (const char* name : {"Alpha", "Beta", "Gamma"}) {
      if (value.contains(name)) places.push_back(part(place, name));
    }
  }
  return places;
}

std::string text_of_value(const FieldValue& value) {
  std::string text;
  const auto add = [&](double number) {
    text += std::to_string(std::bit_cast<std::uint64_t>(number)) + " ";
  };
  if (const auto* number = std::get_if<double>(&value)) add(*number);
  if (const auto* numbers = std::get_if<std::vector<double>>(&value))
    for (const double number : *numbers) add(number);
  if (const auto* scalar = std::get_if<Scalar>(&value)) text += std::to_string(scalar->bits) + " ";
  if (const auto* pair = std::get_if<ScaleBias>(&value)) add(pair->scale), add(pair->bias);
  if (const auto* nested = std::get_if<std::vector<NestedOperator>>(&value))
    for (const NestedOperator& each : *nested)
      for (const Field& field : each.fields) text += text_of_value(field.value);
  return text;
}

/// What a description is read as: its floating-point numbers, or what is wrong, in lower case as
/// it may repeat the word.
struct Read {
  std::string numbers, messages;
  bool operator==(const Read&) const = default;
};

Read read_of(const std::optional<Description>& description, const Diagnostics& diagnostics) {
  Read read{.numbers = "", .messages = lower_case(messages_of(diagnostics))};
  for (std::size_t i = 0; description && i < description->fields.size(); ++i)
    read.numbers += text_of_value(description->fields[i].value);
  return read;
}

Read from_json(const std::string& name, Json desc, const NumberPlace& place,
               const std::string& word) {
  desc[place.pointer] = word;
  const Checked checked = check_desc(name, desc);
  return read_of(checked.description, checked.diagnostics);
}

Read with_set(const std::string& name, const Json& desc, const NumberPlace& place,
              const std::string& word) {
  Diagnostics diagnostics;
  const Json json{{"type", name}, {"desc", desc}};
  auto document = json::Document::parse("op.json", json.dump(), diagnostics);
  REQUIRE(document);
  const auto setting = parse_setting(place.setting + "=" + word);
  REQUIRE(setting);
  apply_settings(*document, {*setting}, diagnostics);
  const auto shared = std::make_shared<const json::Document>(std::move(*document));
  const std::shared_ptr<const json::Value> root(shared, &shared->root());
  auto description = read_description(shared, root, {}, std::nullopt, diagnostics);
  if (description && diagnostics.empty()) check_description(*description, diagnostics);
  return read_of(description, diagnostics);
}

bool is_refused_as_word(const Read& read) {
  return read.messages.find("must be a number, \"inf\", \"-inf\" or \"nan\"") != std::string::npos;
}

/// Checks one spelling in one place against the usual spelling's reading.
void check_word(const Word& word, const Read& json, const Read& set, const Read& usual) {
  CAPTURE(word.spelling);
  CHECK(json == set);
  CHECK(is_refused_as_word(json) == word.usual.empty());
  if (!word.usual.empty()) CHECK(json == usual);
}

}  // namespace

TEST_CASE("words for numbers: each spelling in every field of every operator, in JSON and --set") {
  std::size_t places = 0;
  for (const std::string& name : specified_operators()) {
    const OperatorSpec& spec = *find_spec(name);
    const Json desc = Json::parse(spec.example);
    for (const NumberPlace& place : places_of(spec, desc)) {
      CAPTURE(name);
      CAPTURE(place.setting);
      std::map<std::string, Read> usual;
      for (const std::string word : {"inf", "-inf", "nan"})
        usual[word] = from_json(name, desc, place, word);
      if (usual["inf"].messages.find("must be an integer") != std::string::npos) continue;
      for (const Word& word : words())
        check_word(word, from_json(name, desc, place, word.spelling),
                   with_set(name, desc, place, word.spelling), usual[word.usual]);
      ++places;
    }
  }
  CHECK(places > 100);
}

TEST_CASE("words for numbers: the bits of scalars and elements of every floating type") {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::map<std::string, double> values{
      {"inf", infinity}, {"-inf", -infinity}, {"nan", std::nan("")}};
  const auto bits_of = [](const std::string& type, double value) {
    return std::bit_cast<std::uint64_t>(element_from(*data_type_named(type), value));
  };
  for (const std::string type : {"FLOAT16", "FLOAT32", "FLOAT64", "INT32"}) {
    for (const Word& word : words()) {
      CAPTURE(type);
      CAPTURE(word.spelling);
      const bool is_taken = !word.usual.empty() && type != "INT32";
      const Json desc{{"ValueDataType", type},
                      {"Value", word.spelling},
                      {"OutputTensor", {{"DataType", type}, {"Sizes", {2}}}}};
      const Checked checked = check_desc("FILL_VALUE_CONSTANT", desc);
      CHECK(checked.diagnostics.empty() == is_taken);
      if (is_taken && checked.description) {
        const auto& value = checked.description->find("Value")->value;
        CHECK(std::get<Scalar>(value).bits == bits_of(type, values.at(word.usual)));
      }
    }
  }
}

TEST_CASE("words for numbers: each spelling as the value of a model's resource") {
  const auto read_values = [](const std::string& type, const std::string& word) {
    const Json resource{{"initialValuesDataType", type}, {"initialValues", Json::array({1, word})}};
    return read(Json{{"resources", {{"A", resource}}},
                     {"dispatchables", Json::object()},
                     {"commands", Json::array()}}
                    .dump());
  };
  const auto bytes_of = [](const ReadModel& made) {
    const InitialValues& initial = made.model->resources.at(0).initial;
    std::vector<std::byte> bytes(initial.bytes);
    initial.fill(bytes);
    return bytes;
  };
  for (const std::string type : {"FLOAT16", "FLOAT32", "FLOAT64"}) {
    for (const Word& word : words()) {
      CAPTURE(type);
      CAPTURE(word.spelling);
      const ReadModel made = read_values(type, word.spelling);
      CHECK(made.findings.empty() == !word.usual.empty());
      if (made.model && !word.usual.empty())
        CHECK(bytes_of(made) == bytes_of(read_values(type, word.usual)));
    }
  }
}

}  // namespace dmlop::test::number_words_test
