// What was measured (specs/measurements.json): its rows are about operators and types that exist,
// say what they mean, and reach users unchanged. elementary_test.cpp holds the errors themselves.
#include "spec/measurements.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "guide/words.hpp"
#include "paths.hpp"
#include "spec/spec.hpp"

namespace dmlop::test::measurements_test {
namespace {

using Json = nlohmann::json;

Json rows_of_file(const char* section) {
  std::ifstream stream(source_path("specs/measurements.json"));
  REQUIRE(stream.good());
  return Json::parse(stream).at(section);
}

bool has_type(const OperatorSpec& spec, const std::string& type) {
  return std::ranges::any_of(spec.support, [&](const SupportRow& row) {
    return std::ranges::any_of(row.types, [&](DataType each) { return name_of(each) == type; });
  });
}

TEST_CASE("measurements: errors are about types that operators take, and each stands once") {
  std::set<std::string> rows;
  for (const MeasuredError& error : measured_errors()) {
    CAPTURE(error.operator_name);
    CAPTURE(error.data_type);
    CHECK(rows.insert(error.operator_name + " " + error.data_type).second);
    const OperatorSpec* spec = find_spec(error.operator_name);
    REQUIRE(spec != nullptr);
    CHECK(spec->name == error.operator_name);  // no alias
    CHECK(has_type(*spec, error.data_type));
    CHECK_FALSE(error.on.empty());
    for (const auto& [device, value] : error.on) CHECK((value >= 0 && value <= 65'536));
  }
  CHECK(rows.size() >= 61);
}

TEST_CASE("measurements: every operator with a tolerance was measured, but for a few") {
  // golden_cases_test compares these with DirectML alone.
  const std::set<std::string> unmeasured{
      "DYNAMIC_QUANTIZE_LINEAR",        "ELEMENT_WISE_ADD1",
      "ELEMENT_WISE_DEQUANTIZE_LINEAR", "ELEMENT_WISE_MODULUS_FLOOR",
      "ELEMENT_WISE_MODULUS_TRUNCATE",  "ELEMENT_WISE_QUANTIZED_LINEAR_ADD"};
  std::size_t measured = 0;
  for (const std::string& name : specified_operators()) {
    CAPTURE(name);
    const bool has_tolerance = !find_spec(name)->tolerances.empty();
    const bool has_errors = !errors_of(name).empty();
    CHECK(has_errors == (has_tolerance && !unmeasured.contains(name)));
    measured += has_errors ? 1 : 0;
  }
  CHECK(measured >= 80);
}

TEST_CASE("measurements: speeds are about operators that exist, and each work stands once") {
  std::set<std::string> rows, runs;
  for (const Speed& row : speeds()) {
    CAPTURE(row.operator_name);
    CAPTURE(row.work);
    CHECK(rows.insert(row.run->name + "/" + row.operator_name + "/" + row.work).second);
    runs.insert(row.run->name);
    const OperatorSpec* spec = find_spec(row.operator_name);
    REQUIRE(spec != nullptr);
    CHECK(spec->name == row.operator_name);
    CHECK_FALSE(row.work.empty());
    for (const SpeedValue& value : row.values) {
      CAPTURE(value.type);
      CHECK((value.type.ends_with("-byte") || has_type(*spec, value.type)));
      CHECK((value.share || value.milliseconds || value.gops));
      CHECK_FALSE((value.share && row.run->share_of.empty()));
      CHECK((value.share.value_or(1) > 0 && value.share.value_or(1) < 3));
      CHECK((value.milliseconds.value_or(1) > 0 && value.gops.value_or(1) > 0));
    }
    for (const auto& [peer, number] : row.peers) CHECK(number > 0);
    CHECK_FALSE((!row.peers.empty() && row.run->peers.empty()));
  }
  CHECK(rows.size() >= 68);
  CHECK(runs.size() == speed_runs().size());  // no run without rows
}

TEST_CASE("measurements: a run says on which device, when and what") {
  const std::regex date("20[0-9]{2}-[01][0-9]-[0-3][0-9]");
  std::set<std::string> names;
  for (const SpeedRun& run : speed_runs()) {
    CAPTURE(run.name);
    CHECK(names.insert(run.name).second);
    CHECK(std::ranges::find(places(), run.backend) != places().end());
    CHECK(run.device.size() >= 5);
    CHECK(std::regex_match(run.date, date));
    CHECK(run.text.ends_with("."));
    CHECK((run.peers.empty() || run.peers.ends_with(".")));
  }
  for (const ErrorMeasure& measure : error_measures()) CHECK(measure.text.ends_with("."));
  for (const MeasuredDevice& device : measured_devices()) {
    CHECK(std::ranges::find(places(), device.backend) != places().end());
    CHECK(device.text.ends_with("."));
  }
}

TEST_CASE("measurements: the program has the numbers of the file") {
  const Json errors = rows_of_file("errors");
  REQUIRE(errors.size() == measured_errors().size());
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const MeasuredError& error = measured_errors()[i];
    CHECK(error.operator_name == errors[i][0].get<std::string>());
    CHECK(error.data_type == errors[i][1].get<std::string>());
    CHECK(error.where == (errors[i].size() > 4 ? errors[i][4].get<std::string>() : ""));
    CHECK(error.measure->name == errors[i][2].get<std::string>());
    for (const auto& [device, value] : errors[i][3].items())
      CHECK(error.find(device) == value.get<double>());
  }
  const Json rows = rows_of_file("speeds");
  REQUIRE(rows.size() == speeds().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Speed& speed = speeds()[i];
    CHECK(speed.operator_name == rows[i][0].get<std::string>());
    CHECK(speed.run->name == rows[i][1].get<std::string>());
    CHECK(speed.work == rows[i][2].get<std::string>());
    CHECK(speed.values.size() == rows[i][3].size());
    for (const SpeedValue& value : speed.values) {
      const Json& json = rows[i][3].at(value.type);
      const auto number = [&](const char* name) {
        return json.is_object() && json.contains(name) ? std::optional(json[name].get<double>())
                                                       : std::nullopt;
      };
      CHECK(value.share ==
            (json.is_number() ? std::optional(json.get<double>()) : number("share")));
      CHECK(value.milliseconds == number("milliseconds"));
      CHECK(value.gops == number("gops"));
    }
    CHECK(speed.peers.size() == (rows[i].size() > 4 ? rows[i][4].size() : 0));
  }
}

TEST_CASE("measurements: numbers are shown with their units") {
  const ErrorMeasure ulp{"ulp", "ULP", ""}, count{"misrounded", "misrounded", ""},
      share{"tolerance", "% of tolerance", ""};
  CHECK(error_text({"", "", &share, {}}, 0.0123) == "1.23 % of tolerance");
  CHECK(error_text({"", "", &ulp, {}}, 0.5) == "0.50 ULP");
  CHECK(error_text({"", "", &count, {}}, 1398) == "1398 misrounded");
  CHECK(speed_text({.type = "4-byte", .share = 1.0}) == "1.00");
  CHECK(speed_text({.type = "FLOAT32", .milliseconds = 3.5, .gops = 39'000}) ==
        "3.5 ms, 39 TFLOP/s");
  CHECK(speed_text({.type = "FLOAT16", .share = 0.456, .gops = 999}) == "0.46, 999 GFLOP/s");
  CHECK(speed_text({.type = "UINT8", .gops = 278}) == "278 GOP/s");
}

TEST_CASE("measurements: relatives of an operator are its versions and its gradient") {
  const auto related = [](const char* name) {
    std::string text;
    for (const std::string& other : related_operators(name)) text += other + " ";
    return text;
  };
  CHECK(related("PADDING") == "PADDING1 ");
  CHECK(related("PADDING1") == "PADDING ");
  CHECK(related("RESAMPLE_GRAD1") == "RESAMPLE RESAMPLE1 RESAMPLE2 RESAMPLE3 RESAMPLE_GRAD ");
  CHECK(related("GEMM") == "");
  for (const std::string& name : specified_operators()) {
    for (const std::string& other : related_operators(name)) {
      const auto back = related_operators(other);
      CHECK(std::ranges::find(back, name) != back.end());
    }
  }
}

}  // namespace
}  // namespace dmlop::test::measurements_test
