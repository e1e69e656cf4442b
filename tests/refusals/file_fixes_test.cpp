// What is advised where tensors come from files: their arrays are saved in another way.
#include <doctest/doctest.h>

#include "mending.hpp"

namespace dmlop::test::file_fixes_test {
namespace {

using Json = nlohmann::ordered_json;

const std::string convolution =
    R"("Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "Strides": [1, 1],
       "Dilations": [1, 1], "StartPadding": [1, 1], "EndPadding": [1, 1],
       "OutputPadding": [0, 0], "GroupCount": 1)";

Diagnostics found_in(const std::string& operator_name, const std::string& fields,
                     const std::vector<TensorOfFile>& files) {
  return check_and_mend_files(operator_name, Json::parse("{" + fields + "}"), files).diagnostics;
}

// What the only finding advises.
std::string advised(const std::string& operator_name, const std::string& fields,
                    const std::vector<TensorOfFile>& files) {
  const Diagnostics found = found_in(operator_name, fields, files);
  CAPTURE(found.size());
  REQUIRE(!found.empty());
  CAPTURE(to_text(found.front()));
  CHECK(found.size() == 1);
  return found.front().suggestion.text();
}

}  // namespace

TEST_CASE("fixes with files: a filter of fewer channels is one of groups") {
  const Sizes input{1, 32, 8, 9};
  CHECK(advised("CONVOLUTION", convolution,
                {{"InputTensor", input}, {"FilterTensor", {32, 1, 3, 3}}}) ==
        "write 32 for GroupCount");
  CHECK(advised("CONVOLUTION", convolution,
                {{"InputTensor", input}, {"FilterTensor", {64, 8, 3, 3}}}) ==
        "write 4 for GroupCount");
}

TEST_CASE("fixes with files: an array is reshaped only where that helps") {
  const std::string padding = "\"EndPadding\": [1, 1]";
  std::string three = convolution;
  three.replace(three.find(padding), padding.size(), "\"EndPadding\": [3]");
  CHECK(advised("CONVOLUTION", three,
                {{"InputTensor", {1, 3, 24, 24}}, {"FilterTensor", {64, 3, 7, 7}}}) ==
        "write 2 values");
  CHECK(advised("MAX_POOLING",
                R"("Strides": [1, 1, 1, 1], "WindowSize": [2, 2], "StartPadding": [0, 0],
                   "EndPadding": [0, 0])",
                {{"InputTensor", {1, 3, 8, 10}}}) == "write 2 values");
}

}  // namespace dmlop::test::file_fixes_test
