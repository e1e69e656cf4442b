// Files are rewritten in place again and again while they are read: the reader gets the contents of
// one moment, or an error.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/error.hpp"
#include "base/file.hpp"
#include "batch.hpp"

namespace dmlop::test::rewrite_test {
namespace {

namespace fs = std::filesystem;

/// How somebody writes a file: in one call, in pieces, opening it each time, or giving it the time
/// that it had before, as a clock does that goes on in steps.
enum class Way { one_call, pieces, reopened, same_time };
constexpr Way ways[] = {Way::one_call, Way::pieces, Way::reopened, Way::same_time};
constexpr std::size_t pieces = 16;

std::size_t piece_bytes(std::size_t bytes) {
  return bytes / pieces + 1;
}

std::string name_of(Way way) {
  constexpr const char* names[] = {"one call", "pieces", "reopened", "same time"};
  return names[static_cast<int>(way)];
}

/// Writes one content over the other, of the same size, until its end.
class Rewriter {
 public:
  Rewriter(std::string path, std::string a, std::string b, Way way,
           std::chrono::microseconds pause = {})
      : path_(std::move(path)), contents_{std::move(a), std::move(b)}, way_(way), pause_(pause) {
    REQUIRE(contents_[0].size() == contents_[1].size());
    fs::remove(path_);  // which may be longer
    thread_ = std::jthread([this](const std::stop_token& stop) { write_until(stop); });
    while (rounds_ == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  void write_until(const std::stop_token& stop) {
    int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (; !stop.stop_requested(); ++rounds_) {
      const std::string& content = contents_[rounds_ % 2];
      const std::size_t piece = way_ == Way::pieces ? piece_bytes(content.size()) : content.size();
      for (std::size_t at = 0; at < content.size(); at += piece) {
        const std::size_t bytes = std::min(piece, content.size() - at);
        if (::pwrite(file, content.data() + at, bytes, static_cast<off_t>(at)) < 0) std::abort();
      }
      if (way_ == Way::same_time) {
        const timespec far_ahead[2] = {{0, UTIME_OMIT}, {4'000'000'000, 500}};
        if (::futimens(file, far_ahead) != 0) std::abort();
      }
      if (way_ == Way::reopened) {
        ::close(file);
        file = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
      }
      if (pause_.count() > 0) std::this_thread::sleep_for(pause_);
    }
    ::close(file);
  }

  std::string path_;
  std::string contents_[2];
  Way way_;
  std::chrono::microseconds pause_;
  std::atomic<unsigned> rounds_{0};
  std::jthread thread_;
};

/// Whether a file of these bytes was there at one moment: all of them are the same, or the first
/// pieces were written already.
bool was_there(std::span<const std::byte> bytes, Way way) {
  const auto changes = [&](std::byte b) { return b != bytes[0]; };
  const auto first = std::find_if(bytes.begin(), bytes.end(), changes);
  const auto rest = std::find(first, bytes.end(), bytes[0]);
  const auto at = static_cast<std::size_t>(first - bytes.begin());
  const bool is_between_pieces = way == Way::pieces && at % piece_bytes(bytes.size()) == 0;
  return first == bytes.end() || (is_between_pieces && rest == bytes.end());
}

std::string constant_npy(std::size_t count, float value) {
  return float_npy("(" + std::to_string(count) + ",)", std::vector<float>(count, value));
}

/// A description that pads by 1 and 1, or by 2 and 2: of a mixture the sum is odd.
std::string padding_text(const std::string& padding, std::size_t bytes) {
  const std::string fields =
      R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [)" + padding + "],";
  const std::string end = "\"EndPadding\": [" + padding + "]}";
  std::string text = fields;
  text.append(bytes > text.size() + end.size() ? bytes - text.size() - end.size() : 1, ' ');
  return text + end + R"(, "bindings": {"InputTensor": "small.npy"}})";
}

const std::string changed = "the file was changed while it was read; run this again";

/// What runs of the program ended as.
struct Counts {
  unsigned whole = 0;
  unsigned refused = 0;
  void add(const ProgramResult& result) {
    CAPTURE(result.output);
    CAPTURE(result.error);
    const bool is_refused = result.code == 6;
    CHECK((is_refused || result.code == 0 || result.code == 1));  // 1: a job without a golden file
    if (is_refused) CHECK(contains(result.error + result.output, changed));
    ++(is_refused ? refused : whole);
  }
};

}  // namespace

TEST_CASE("rewrite: a file that is read is one of its contents, whatever its size") {
  const Folder folder;
  unsigned whole = 0, refused = 0;
  for (const Way way : ways) {
    for (const std::size_t bytes : {std::size_t{100}, std::size_t{60'000}, std::size_t{200'000},
                                    std::size_t{1'000'000}, std::size_t{8'000'000}}) {
      // Of a larger file the time is believed, as it is not read twice.
      if (way == Way::same_time && bytes > 200'000) continue;
      for (const int pause : {0, 500, 5000}) {
        CAPTURE(name_of(way));
        CAPTURE(bytes);
        CAPTURE(pause);
        const std::string path = folder / "x";
        const Rewriter rewriter(path, std::string(bytes, 'a'), std::string(bytes, 'b'), way,
                                std::chrono::microseconds(pause));
        const int times = bytes > 500'000 ? 10 : 40;
        unsigned mixed = 0;
        for (int i = 0; i < times; ++i) {
          const InputFile file = InputFile::open(path);
          try {
            mixed += file.read_intact([&](auto bytes_read) { return was_there(bytes_read, way); })
                         ? 0
                         : 1;
            ++whole;
          } catch (const Error& error) {
            CHECK(error.kind() == ErrorKind::io_failed);
            CHECK(contains(error.what(), changed));
            ++refused;
          }
          if (i % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(i * 300));
        }
        // If its time says nothing, the file is read twice. A writer that the system lets wait in
        // the middle of its call shows the same mixture both times.
        const int allowed = way == Way::same_time ? times / 4 : 0;
        CHECK(mixed <= static_cast<unsigned>(allowed));
      }
    }
  }
  MESSAGE("read whole: " << whole << ", refused: " << refused);
  CHECK(refused > 0);
  CHECK(whole > 0);
}

TEST_CASE("rewrite: who pauses for a moment in the middle of a file is waited for") {
  const Folder folder;
  const std::string path = folder / "x";
  std::jthread writer([&](const std::stop_token& stop) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (char c = 'a'; !stop.stop_requested(); c = c == 'a' ? 'b' : 'a') {
      const std::string half(50, c);
      for (const off_t at : {0, 50}) {
        if (::pwrite(file, half.data(), half.size(), at) < 0) std::abort();
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    }
    ::close(file);
  });
  constexpr int times = 60;
  int mixed = 0;
  for (int i = 0; i < times; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(700 + 130 * (i % 20)));
    try {
      const std::string text = InputFile::open(path).text();
      mixed += !text.empty() && text.find_first_not_of(text[0]) != std::string::npos ? 1 : 0;
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::io_failed);
    }
  }
  CAPTURE(mixed);
  CHECK(mixed < times / 4);  // a machine with other work may let the writer wait longer
}

TEST_CASE("rewrite: standard input that is a file is one of its contents") {
  const Folder folder;
  Counts counts;
  for (const std::size_t count : {20UL, 15'000UL, 250'000UL}) {
    const Rewriter rewriter(folder / "x.npy", constant_npy(count, 1), constant_npy(count, 2),
                            Way::one_call, std::chrono::milliseconds(2));
    for (int i = 0; i < 20; ++i) {
      const auto result = shell("dmlop inspect - --format json < x.npy", {.folder = folder.path()});
      counts.add(result);
      if (result.code == 6) continue;
      const Json json = Json::parse(result.output)[0];
      CHECK(json.at("min") == json.at("max"));
    }
  }
  MESSAGE("whole: " << counts.whole << ", refused: " << counts.refused);
}

TEST_CASE("rewrite: no command takes a mixture of two arrays for one") {
  Counts counts;
  for (const std::size_t count : {20UL, 15'000UL, 250'000UL, 2'000'000UL}) {
    const Folder folder;
    const std::string size = std::to_string(count);
    folder.write("op.json", "{" + edge_fields + "}");
    folder.write("ones.npy", constant_npy(count, 1));
    folder.write("jobs.jsonl", edge_job(R"("id": "a")") + "\n");
    folder.write("model.json",
                 R"({"resources": {"x": {"initialValuesDataType": "FLOAT32", "initialValues": )"
                 R"({"sourcePath": "x.npy"}}}, "dispatchables": {}, "commands": [{"type": )"
                 R"("writeFile", "resource": "x", "targetPath": "y.npy"}]})");
    folder.write("raw.json",
                 R"({"resources": {"x": {"initialValuesDataType": "FLOAT32", "initialValues": )"
                 R"({"sourcePath": "x.raw"}}}, "dispatchables": {}, "commands": [{"type": )"
                 R"("writeFile", "resource": "x", "targetPath": "y.bin"}]})");
    std::string fortran[2] = {constant_npy(count, 1), constant_npy(count, 2)};
    for (std::string& text : fortran) text.replace(text.find("False"), 5, "True ");
    const auto pause = std::chrono::milliseconds(3);
    const Rewriter arrays(folder / "x.npy", constant_npy(count, 1), constant_npy(count, 2),
                          Way::one_call, pause);
    const Rewriter fortran_arrays(folder / "f.npy", fortran[0], fortran[1], Way::reopened, pause);
    const Rewriter raw(folder / "x.raw", bytes_of(std::vector<float>(count, 1)),
                       bytes_of(std::vector<float>(count, 2)), Way::reopened, pause);
    struct Row {
      std::string command;
      std::string output;  // a file of equal elements; "": a comparison, or statistics
      std::size_t header = 128;
    };
    const std::vector<Row> rows{
        {"run op.json --cpu -q -i x.npy -o y.npy", "y.npy"},
        {"run op.json --cpu -q -i - -o y.npy < x.npy", "y.npy"},
        {"run model.json --cpu -q", "y.npy"},
        {"run raw.json --cpu -q", "y.bin", 0},
        {"batch jobs.jsonl --cpu --out out", "out/a/OutputTensor.npy"},
        {"convert op.json -i f.npy --to-model y.json -q", "y.InputTensor.npy"},
        {"inspect x.npy --format json", ""},
    };
    for (const Row& row : rows) {
      for (int i = 0; i < (count > 1'000'000 ? 3 : 10); ++i) {
        CAPTURE(row.command);
        CAPTURE(count);
        const auto result = shell("dmlop " + row.command, {.folder = folder.path()});
        counts.add(result);
        if (result.code == 6) continue;
        if (row.output.empty()) {
          const Json json = Json::parse(result.output)[0];
          CHECK(json.at("min") == json.at("max"));
          continue;
        }
        const std::string output = folder.read(row.output).substr(row.header);
        std::vector<float> elements(output.size() / sizeof(float));
        std::memcpy(elements.data(), output.data(), output.size());
        CHECK(elements.size() >= count);
        CHECK(std::count(elements.begin(), elements.end(), elements[0]) ==
              static_cast<std::ptrdiff_t>(elements.size()));
      }
    }
    for (int i = 0; i < 10; ++i) {
      CAPTURE(count);
      const auto result = dmlop_program({"compare", "x.npy", "ones.npy", "--format", "json"},
                                        {.folder = folder.path()});
      if (result.code == 6) continue;
      const Json json = Json::parse(result.output);
      const std::uint64_t different = json.at("mismatches").get<std::uint64_t>();
      CAPTURE(result.output);
      CHECK((different == 0 || different == count));
    }
  }
  MESSAGE("whole: " << counts.whole << ", refused: " << counts.refused);
  CHECK(counts.whole > 0);
  CHECK(counts.refused > 0);
}

TEST_CASE("rewrite: no command takes a mixture of two descriptions for one") {
  Counts counts;
  for (const std::size_t bytes : {150UL, 60'000UL, 1'000'000UL}) {
    const Folder folder;
    folder.write("small.npy", float_npy("(3,)", {1, 2, 3}));
    const std::string one = padding_text("1", bytes), two = padding_text("2", bytes);
    for (const Way way : {Way::one_call, Way::reopened}) {
      CAPTURE(name_of(way));
      CAPTURE(bytes);
      const auto pause = std::chrono::milliseconds(2);
      const Rewriter op(folder / "op.json", one, two, way, pause);
      const Rewriter jobs(folder / "jobs.json", R"({"jobs": [)" + one + "]}",
                          R"({"jobs": [)" + two + "]}", way, pause);
      for (int i = 0; i < 6; ++i) {
        for (const char* command :
             {"run op.json --cpu -q -o y.npy",
              "batch jobs.json --cpu --out out -q; code=$?; mv out/*/*.npy y.npy; exit $code",
              "run - --cpu -q -o y.npy < op.json"}) {
          CAPTURE(command);
          const auto result = shell(std::string("dmlop ") + command, {.folder = folder.path()});
          counts.add(result);
          if (result.code == 6) continue;
          const std::size_t elements = (folder.read("y.npy").size() - 128) / sizeof(float);
          CHECK((elements == 5 || elements == 7));
        }
      }
    }
  }
  MESSAGE("whole: " << counts.whole << ", refused: " << counts.refused);
  CHECK(counts.whole > 0);
}

TEST_CASE("rewrite: a file that was just written, and one of the future, are read") {
  const Folder folder;
  folder.write("op.json", "{" + edge_fields + "}");
  for (const std::size_t count : {3UL, 100'000UL, 1'000'000UL}) {
    for (const int hours : {0, 1, 100'000}) {
      CAPTURE(count);
      CAPTURE(hours);
      folder.write("x.npy", constant_npy(count, 1));
      if (hours > 0)
        fs::last_write_time(folder / "x.npy",
                            fs::file_time_type::clock::now() + std::chrono::hours(hours));
      const auto result = dmlop_program({"run", "op.json", "--cpu", "-i", "x.npy", "-o", "y.npy"},
                                        {.folder = folder.path()});
      CHECK(result.error == "");
      CHECK(result.code == 0);
    }
  }
}

TEST_CASE("rewrite: a file that somebody holds open for writing, and leaves alone, is read") {
  const Folder folder;
  const int file = ::open((folder / "x").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(file >= 0);
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{1'000'000}}) {
    const std::string text(bytes, 'x');
    REQUIRE(::pwrite(file, text.data(), bytes, 0) == static_cast<ssize_t>(bytes));
    CHECK(InputFile::open(folder / "x").text() == text);
  }
  ::close(file);
}

}  // namespace dmlop::test::rewrite_test
