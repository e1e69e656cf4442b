// Any bytes as a .npy file: refused with a reason, or read as an array that has exactly its bytes
// and whose header is written and read back.
#include "npy/npy.hpp"

#include "base/error.hpp"
#include "fuzz/files.hpp"
#include "fuzz/target.hpp"
#include "paths.hpp"

namespace dmlop::test {

namespace {

// What stands behind the name of a raw file.
void fuzz_file_text(std::span<const std::byte> bytes) {
  constexpr std::size_t longest = 300;
  const std::string text(reinterpret_cast<const char*>(bytes.data()),
                         std::min(bytes.size(), longest));
  try {
    const FileText file = parse_file_text(text);
    require(text.starts_with(file.path), "the path is the beginning of the text");
    require(file.raw || file.path == text || text.ends_with(":npy"), "a .npy file has its name");
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::invalid_input, "a name is refused as invalid");
  }
}

}  // namespace

void fuzz_npy(std::span<const std::byte> bytes) {
  fuzz_file_text(bytes);
  NpyHeader header;
  try {
    header = parse_npy_header(bytes);
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::invalid_input, "a .npy file is refused as invalid");
    require(std::string(error.what()).size() > 10, "a refusal says why");
    return;
  }
  std::uint64_t count = size_of(header.data_type);
  for (const std::uint64_t size : header.sizes) count *= size;
  require(header.data_offset <= bytes.size(), "the elements begin in the file");
  require(count == bytes.size() - header.data_offset, "the array has the file's bytes");

  const std::string written = npy_header_bytes(header.data_type, header.sizes);
  require(written.size() % 64 == 0, "elements are aligned");
  std::vector<std::byte> file(written.size() + count);
  std::copy_n(reinterpret_cast<const std::byte*>(written.data()), written.size(), file.begin());
  const NpyHeader again = parse_npy_header(file);
  require(again.sizes == header.sizes && again.data_type == header.data_type,
          "a header that is written reads as the same");
}

std::vector<std::string> npy_seeds() {
  std::vector<std::string> seeds;
  for (const auto& path : files_below(test_data_path("npy"), ".npy"))
    seeds.push_back(read_file(path));
  return seeds;
}

}  // namespace dmlop::test
