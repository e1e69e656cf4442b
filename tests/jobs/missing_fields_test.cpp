// What is proposed for a field that is missing is what the user most likely means.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "batch.hpp"
#include "program.hpp"

namespace dmlop::test::missing_fields_test {
namespace {

/// The message about an operation with these settings.
std::string said_of(const std::string& type, const std::vector<std::string>& settings) {
  std::vector<std::string> arguments{"check", type};
  for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
  return dmlop_program(arguments).error;
}

}  // namespace

TEST_CASE("missing fields: an output that is resampled shows all of the input") {
  const auto said = [](const std::string& scales) {
    return said_of("RESAMPLE",
                   {"InputTensor=FLOAT32:1,2,3,4", "InterpolationMode=LINEAR", "Scales=" + scales});
  };
  CHECK(contains(said("1,1,2,2"), "add --set OutputTensor=FLOAT32:1,2,6,8, for example"));
  CHECK(contains(said("1,0.5,0.5,3"), "add --set OutputTensor=FLOAT32:1,1,1,12, for example"));
  // A size is at least 1, and 32 bits count it.
  CHECK(contains(said("1,1,0.25,1"), "add --set OutputTensor=FLOAT32:1,2,3,4, for example"));
  CHECK(contains(said("1,1,1e10,1"), "add --set OutputTensor=FLOAT32:1,2,3,4, for example"));
}

TEST_CASE("missing fields: windows have no gaps and no padding, and move by one") {
  const std::string pooling =
      said_of("MAX_POOLING2", {"InputTensor=FLOAT32:1,1,8,8", "WindowSize=3,3"});
  for (const char* field : {"Strides=1,1", "Dilations=1,1", "StartPadding=0,0", "EndPadding=0,0"})
    CHECK_MESSAGE(contains(pooling, "add --set " + std::string(field) + ", for example"), pooling);
  const std::string convolution =
      said_of("CONVOLUTION", {"InputTensor=FLOAT32:1,1,8,8", "FilterTensor=FLOAT32:1,1,3,3"});
  for (const char* field :
       {"Strides=1,1", "Dilations=1,1", "StartPadding=0,0", "EndPadding=0,0", "OutputPadding=0,0"})
    CHECK_MESSAGE(contains(convolution, "add --set " + std::string(field) + ", for example"),
                  convolution);
}

TEST_CASE("missing fields: padding is of zeros, and there is some") {
  const std::string padding =
      said_of("PADDING", {"InputTensor=FLOAT32:1,1,8,8", "PaddingMode=CONSTANT"});
  CHECK_MESSAGE(contains(padding, "add --set PaddingValue=0, for example"), padding);
  CHECK_MESSAGE(!contains(padding, "StartPadding=0,0,0,0"), padding);
  CHECK(contains(said_of("LSTM", {}), "add --set UseClipThreshold=false, for example"));
}

}  // namespace dmlop::test::missing_fields_test
