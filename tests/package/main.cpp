// npy_header OP.json FILE.npy: checks a description and prints what a .npy file's header says.
#include <cstdio>
#include <exception>
#include <string>

#include "job/job.hpp"
#include "npy/npy.hpp"

int main(int argument_count, char** arguments) {
  if (argument_count != 3) {
    std::fprintf(stderr, "usage: npy_header OP.json FILE.npy\n");
    return 2;
  }
  try {
    dmlop::Diagnostics diagnostics;
    const auto job =
        dmlop::prepare_job({.description_path = arguments[1]}, dmlop::Purpose::check, diagnostics);
    for (const dmlop::Diagnostic& diagnostic : diagnostics)
      std::printf("%s\n", to_text(diagnostic).c_str());
    if (!job) return 1;
    const dmlop::NpyFile file = dmlop::NpyFile::open(arguments[2]);
    std::printf("%s", std::string(dmlop::name_of(file.header().data_type)).c_str());
    for (const std::uint64_t size : file.header().sizes)
      std::printf(" %llu", static_cast<unsigned long long>(size));
    std::printf("\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "npy_header: %s\n", error.what());
    return 1;
  }
}
