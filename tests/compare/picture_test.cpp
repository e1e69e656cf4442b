// compare/picture.hpp keeps its promises: PNG files are decoded and their pixels checked.
#include "compare/picture.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "compare/legend.hpp"
#include "program.hpp"
#include "reference/tensor.hpp"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace dmlop::test::picture_test {
namespace {

constexpr float NaN = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

struct Pixel {
  int red, green, blue;
  bool operator==(const Pixel&) const = default;
  int brightness() const { return red + green + blue; }
};

constexpr Pixel magenta{255, 0, 255};
constexpr int dark_at_most = 100, bright_at_least = 450;

class Image {
 public:
  explicit Image(const std::string& png) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(png.data());
    int channels = 0;
    unsigned char* pixels =
        stbi_load_from_memory(bytes, static_cast<int>(png.size()), &width, &height, &channels, 3);
    REQUIRE_MESSAGE(pixels != nullptr, "no PNG file");
    pixels_.assign(pixels, pixels + std::size_t(width) * std::size_t(height) * 3);
    stbi_image_free(pixels);
  }
  explicit Image(const Png& png)
      : Image(std::string(reinterpret_cast<const char*>(png.data()), png.size())) {}

  int width = 0, height = 0;

  Pixel at(int x, int y) const {
    REQUIRE((x >= 0 && x < width && y >= 0 && y < height));
    const std::size_t place = (std::size_t(y) * std::size_t(width) + std::size_t(x)) * 3;
    return {pixels_[place], pixels_[place + 1], pixels_[place + 2]};
  }

  /// The upper left of it.
  Image part(int part_width, int part_height) const {
    REQUIRE((part_width <= width && part_height <= height));
    Image cut = *this;
    cut.pixels_.clear();
    for (int y = 0; y < part_height; ++y) {
      const auto row = pixels_.begin() + std::ptrdiff_t{y} * width * 3;
      cut.pixels_.insert(cut.pixels_.end(), row, row + std::ptrdiff_t{part_width} * 3);
    }
    cut.width = part_width;
    cut.height = part_height;
    return cut;
  }

  /// The color of each element of a plane of these sizes, all of whose pixels must be alike.
  std::vector<Pixel> elements(int columns, int rows) const {
    REQUIRE(width % columns == 0);
    REQUIRE(height % rows == 0);
    const int scale = width / columns;
    REQUIRE(height / rows == scale);
    std::vector<Pixel> colors;
    bool even = true;
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        colors.push_back(at(column * scale, row * scale));
        for (int i = 0; i < scale * scale; ++i)
          even = even && at(column * scale + i % scale, row * scale + i / scale) == colors.back();
      }
    }
    CHECK(even);
    return colors;
  }

 private:
  std::vector<unsigned char> pixels_;
};

Elements elements_of(const Tensor& tensor) {
  return Elements(tensor.type, tensor.sizes, tensor.bytes);
}

Image errors(const List& sizes, const std::vector<float>& actual,
             const std::vector<float>& expected, bool nan_equals_nan = true) {
  const Tensor a = floats(sizes, actual), e = floats(sizes, expected);
  return Image(error_picture(elements_of(a), elements_of(e), nan_equals_nan));
}

PlanePictures planes(const List& sizes, const std::vector<float>& actual,
                     const std::vector<float>& expected, std::uint64_t index) {
  const Tensor a = floats(sizes, actual), e = floats(sizes, expected);
  return plane_pictures(elements_of(a), elements_of(e), index, true);
}

bool is_dark(const Pixel& pixel) {
  return pixel.brightness() <= dark_at_most;
}
bool is_bright(const Pixel& pixel) {
  return pixel != magenta && pixel.brightness() >= bright_at_least;
}

/// The bytes of a data URI of a PNG file, by RFC 4648.
std::string decoded(const std::string& uri) {
  const std::string begin = "data:image/png;base64,";
  REQUIRE(uri.starts_with(begin));
  const std::string text = uri.substr(begin.size());
  REQUIRE(text.size() % 4 == 0);
  const std::size_t letters = text.find_last_not_of('=') + 1;
  REQUIRE(text.size() - letters <= 2);
  std::string bytes;
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < letters; ++i) {
    const char c = text[i];
    const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+'             ? 62
                      : c == '/'             ? 63
                                             : -1;
    REQUIRE(value >= 0);
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    // A letter ends the byte that it has two, four or six bits of.
    if (i % 4 != 0) bytes += static_cast<char>(bits >> (6 - 2 * (i % 4)));
  }
  return bytes;
}

/// What a report says of the pictures of its only job.
nlohmann::json pictures_of(const std::string& html) {
  const std::size_t begin = html.find('>', html.rfind("id=\"data\"")) + 1;
  const std::size_t end = html.find("</script>", begin);
  REQUIRE(end != std::string::npos);
  const auto data = nlohmann::json::parse(html.substr(begin, end - begin));
  return data.at("jobs").at(0).at("comparisons").at(0).at("pictures");
}

/// 1 moved by so many ULP.
float off_by(int ulp) {
  return 1 + static_cast<float>(ulp) * 0x1p-23F;
}

}  // namespace

TEST_CASE("an element is dark where equal, brighter the further off, and magenta for one NaN") {
  const std::vector<float> expected{1, 1, 1, 1, 1, NaN, NaN, 1};
  const std::vector<float> actual{1, off_by(1), off_by(3), off_by(15), off_by(1023), NaN, 1, NaN};
  const auto colors = errors({2, 4}, actual, expected).elements(4, 2);
  CHECK(is_dark(colors[0]));
  CHECK(is_bright(colors[4]));
  for (std::size_t i = 0; i < 4; ++i) CHECK(colors[i].brightness() < colors[i + 1].brightness());
  CHECK(colors[5] == colors[0]);
  CHECK(colors[6] == magenta);
  CHECK(colors[7] == magenta);
  CHECK(errors({2, 4}, actual, expected, false).elements(4, 2)[5] == magenta);
}

TEST_CASE("the scale is logarithmic: twice the digits are twice as far up") {
  // 31 ULP are half of 1023 on it, and so half as far up as the brightest: as in a picture of
  // other numbers of the same shares.
  const auto a = errors({3}, {1, off_by(31), off_by(1023)}, {1, 1, 1}).elements(3, 1);
  const auto b = errors({3}, {1, off_by(3), off_by(15)}, {1, 1, 1}).elements(3, 1);
  CHECK(a == b);
  const auto c = errors({3}, {1, off_by(511), off_by(1023)}, {1, 1, 1}).elements(3, 1);
  CHECK(c[1] != b[1]);
}

TEST_CASE("tensors that agree are dark all over, and so are their NaN") {
  for (const Pixel& pixel : errors({2, 2}, {1, 2, inf, NaN}, {1, 2, inf, NaN}).elements(2, 2))
    CHECK(is_dark(pixel));
  const auto only_nan = errors({2}, {1, NaN}, {1, 1}).elements(2, 1);
  CHECK(is_dark(only_nan[0]));
  CHECK(only_nan[1] == magenta);
}

TEST_CASE("of all other axes the largest difference is shown") {
  // Two batches of 1 x 3.
  const std::vector<float> expected(6, 1);
  const auto colors =
      errors({2, 1, 3}, {1, off_by(7), 1, off_by(1), off_by(1), 1}, expected).elements(3, 1);
  CHECK(is_bright(colors[1]));
  CHECK(is_dark(colors[2]));
  CHECK(colors[0].brightness() > colors[2].brightness());
  CHECK(colors[0].brightness() < colors[1].brightness());
  // NaN counts as more than anything, whether it comes first or last.
  CHECK(errors({2, 1}, {NaN, 2}, {1, 1}).elements(1, 2)[0] == magenta);
  CHECK(errors({2, 1, 1}, {NaN, 2}, {1, 1}).elements(1, 1)[0] == magenta);
  CHECK(errors({2, 1, 1}, {2, NaN}, {1, 1}).elements(1, 1)[0] == magenta);
}

TEST_CASE("small planes are enlarged so that each element is a square that can be seen") {
  const auto size_of_picture = [](const List& sizes) {
    const std::vector<float> ones(
        std::accumulate(sizes.begin(), sizes.end(), std::size_t{1}, std::multiplies<>()), 1.0F);
    const Image image = errors(sizes, ones, ones);
    return std::pair(image.width, image.height);
  };
  CHECK(size_of_picture({3, 4}) == std::pair(256, 192));
  CHECK(size_of_picture({4, 3}) == std::pair(192, 256));
  CHECK(size_of_picture({5}) == std::pair(255, 51));
  CHECK(size_of_picture({2, 2, 1, 1}) == std::pair(256, 256));
  CHECK(size_of_picture({100, 200}) == std::pair(200, 100));
  CHECK(size_of_picture({1, 1024}) == std::pair(1024, 1));
  const float one = 1;
  const Elements scalar(DataType::Float32, {}, std::as_bytes(std::span(&one, 1)));
  CHECK(Image(error_picture(scalar, scalar, true)).width == 256);
}

TEST_CASE("large planes are reduced to at most 1024 a side, and no difference gets lost") {
  // 3000 x 10: three by three elements share a pixel.
  const std::vector<float> expected(3000 * 10, 1);
  std::vector<float> actual = expected;
  actual[1501 * 10 + 7] = off_by(100);
  actual[1502 * 10 + 8] = off_by(1);  // of the same block
  actual[2999 * 10 + 9] = off_by(100);
  actual[0] = off_by(3);
  const Image image = errors({3000, 10}, actual, expected);
  CHECK(image.width == 4);
  CHECK(image.height == 1000);
  int not_dark = 0;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) not_dark += is_dark(image.at(x, y)) ? 0 : 1;
  }
  CHECK(not_dark == 3);
  CHECK(is_bright(image.at(2, 500)));
  CHECK(is_bright(image.at(3, 999)));
  CHECK_FALSE(is_dark(image.at(0, 0)));
  CHECK_FALSE(is_bright(image.at(0, 0)));
  const std::vector<float> row(5000, 1);
  const Image wide = errors({1, 5000}, row, row);
  CHECK(wide.width == 1000);
  CHECK(wide.height == 1);
}

TEST_CASE("the plane that holds an element is shown of both tensors and of their difference") {
  // Two planes of 1 x 3; index 4 is in the second.
  const auto pictures = planes({2, 1, 3}, {90, 90, 90, 1, 2, 3}, {90, 90, 90, 1, 5, 3}, 4);
  CHECK(pictures.plane == "[1, :, :]");
  CHECK(pictures.low == "1");
  CHECK(pictures.high == "5");
  CHECK(pictures.max_difference == "10485760 ULP");
  // The colors of both reach from the smallest to the largest number of both.
  const std::vector<float> narrow{2, 3}, low{-5, 3}, high{2, 9};
  for (const auto& wide : {low, high}) {
    for (const auto& both : {planes({1, 2}, narrow, wide, 0), planes({1, 2}, wide, narrow, 0)}) {
      CHECK(both.low == (wide == low ? "-5" : "2"));
      CHECK(both.high == (wide == low ? "3" : "9"));
    }
  }
  const auto actual = Image(pictures.actual).elements(3, 1);
  const auto expected = Image(pictures.expected).elements(3, 1);
  const auto difference = Image(pictures.difference).elements(3, 1);
  CHECK(is_dark(actual[0]));
  CHECK(actual[0] == expected[0]);
  CHECK(actual[2] == expected[2]);  // one scale for both
  CHECK(actual[0].brightness() < actual[1].brightness());
  CHECK(actual[1].brightness() < actual[2].brightness());
  CHECK(is_bright(expected[1]));
  CHECK(is_dark(difference[0]));
  CHECK(is_bright(difference[1]));
  CHECK(is_dark(difference[2]));
  CHECK(planes({2, 2}, {1, 2, 3, 4}, {1, 2, 3, 4}, 3).plane == "[:, :]");
  CHECK(planes({2}, {1, 2}, {1, 2}, 1).plane == "[:]");
}

TEST_CASE(
    "values that are no finite numbers have colors too: NaN is magenta, infinities the ends") {
  const auto pictures = planes({5}, {NaN, -inf, 1, 2, inf}, {NaN, -inf, 1, 2, inf}, 0);
  const auto colors = Image(pictures.actual).elements(5, 1);
  CHECK(colors[0] == magenta);
  CHECK(colors[1] == colors[2]);
  CHECK(is_dark(colors[1]));
  CHECK(colors[3] == colors[4]);
  CHECK(is_bright(colors[4]));
  const auto ends = planes({2}, {-inf, inf}, {-inf, inf}, 0);
  const auto end_colors = Image(ends.actual).elements(2, 1);
  CHECK(is_dark(end_colors[0]));
  CHECK(is_bright(end_colors[1]));
  CHECK(is_dark(Image(planes({2}, {3, 3}, {3, 3}, 0).actual).elements(2, 1)[0]));
}

TEST_CASE("a plane of the largest doubles of both signs keeps its order") {
  constexpr double most = std::numeric_limits<double>::max();
  const std::vector<double> values{-most, 0, most / 2, most};
  const Elements elements(DataType::Float64, {4}, std::as_bytes(std::span(values)));
  const auto pictures = plane_pictures(elements, elements, 0, true);
  const auto colors = Image(pictures.actual).elements(4, 1);
  for (std::size_t i = 0; i < 3; ++i) CHECK(colors[i].brightness() < colors[i + 1].brightness());
  CHECK(is_dark(colors[0]));
  CHECK(is_bright(colors[3]));
}

TEST_CASE("compare --heatmap writes the picture of files of any order") {
  const Folder folder;
  folder.write("e.npy", float_npy("(2, 3)", {1, 1, 1, 1, 1, 1}));
  // Fortran order and big endian: element [0, 1] stands third, [1, 2] last.
  folder.write("a.npy",
               npy(">f4", "(2, 3)", bytes_of<float>({1, 1, off_by(9), 1, 1, NaN}, true), true));
  const auto result = dmlop_program({"compare", "a.npy", "e.npy", "--heatmap", "picture.png"},
                                    {.folder = folder.path()});
  CHECK(result.error == "");
  CHECK(result.code == 1);
  const Image picture(folder.read("picture.png"));
  const auto colors = picture.part(255, 170).elements(3, 2);
  CHECK(is_bright(colors[1]));
  CHECK(colors[5] == magenta);
  for (const std::size_t i : {0U, 2U, 3U, 4U}) CHECK(is_dark(colors[i]));
  CHECK(dmlop_program({"compare", "e.npy", "e.npy", "--heatmap", "same.png", "-q"},
                      {.folder = folder.path()})
            .code == 0);
  for (const Pixel& pixel : Image(folder.read("same.png")).part(255, 170).elements(3, 2))
    CHECK(is_dark(pixel));
}

TEST_CASE("a legend below the picture shows all colors, from 0 to the largest difference") {
  const Tensor actual = floats({2, 3}, {1, 1, 1, off_by(6), NaN, 1});
  const Tensor expected = floats({2, 3}, {1, 1, 1, 1, 1, 1});
  const Elements a = elements_of(actual), e = elements_of(expected);
  const Image plain(error_picture(a, e, true));
  const Image picture(error_picture(a, e, true, Legend::below));
  CHECK(picture.part(plain.width, plain.height).elements(3, 2) == plain.elements(3, 2));
  CHECK(picture.width == static_cast<int>(legend_width));
  CHECK(picture.height == plain.height + static_cast<int>(legend_height));
  const int bar = plain.height + 10, right = picture.width - 5;
  CHECK(is_dark(picture.at(4, bar)));
  CHECK(is_bright(picture.at(right, bar)));
  for (int x = 4; x < right; ++x)
    CHECK(picture.at(x, bar).brightness() <= picture.at(x + 1, bar).brightness() + 1);  // rounded
  CHECK(picture.at(6, picture.height - 20) == magenta);
  // The largest difference is written at the right end.
  Pixels text(legend_width, letter_height, {255, 255, 255});
  text.write(legend_width - 4 - 5 * letter_width, 0, "6 ULP", {0, 0, 0});
  const int below_bar = plain.height + 4 + 12 + 4;
  int black = 0;
  for (std::uint64_t y = 0; y < letter_height; ++y) {
    for (std::uint64_t x = legend_width / 2; x < legend_width; ++x) {
      const bool is_black = text.at(x, y) == Color{0, 0, 0};
      const Pixel shown = picture.at(static_cast<int>(x), below_bar + static_cast<int>(y));
      CHECK(shown == (is_black ? Pixel{0, 0, 0} : Pixel{255, 255, 255}));
      black += is_black ? 1 : 0;
    }
  }
  CHECK(black > 100);
}

TEST_CASE("letters of a picture are three by five dots of two pixels") {
  Pixels pixels(4 * letter_width, letter_height, {255, 255, 255});
  pixels.write(0, 0, "4 uX", {0, 0, 0});
  std::string drawn;
  for (std::uint64_t y = 0; y < letter_height; y += 2) {
    for (std::uint64_t x = 0; x < pixels.width(); x += 2) {
      const Color color = pixels.at(x, y);
      for (const auto& [dx, dy] : {std::pair(0U, 1U), {1U, 0U}, {1U, 1U}})
        CHECK(pixels.at(x + dx, y + dy) == color);
      drawn += color == Color{0, 0, 0} ? '#' : '.';
    }
    drawn += '\n';
  }
  CHECK(drawn ==
        "#.#.....#.#.#.#.\n"
        "#.#.....#.#.#.#.\n"
        "###.....#.#..#..\n"
        "..#.....#.#.#.#.\n"
        "..#.....###.#.#.\n");
  // What has no room is left out.
  Pixels narrow(letter_width, letter_height, {255, 255, 255});
  narrow.write(1, 0, "8", {0, 0, 0});
  narrow.write(0, 1, "8", {0, 0, 0});
  for (std::uint64_t x = 0; x < letter_width; ++x) CHECK(narrow.at(x, 5) == Color{255, 255, 255});
}

TEST_CASE("compare --heatmap draws nothing of unlike tensors, and replaces neither of them") {
  const Folder folder;
  const std::string bytes = float_npy("(2,)", {1, 2});
  folder.write("a.npy", bytes);
  folder.write("b.npy", float_npy("(3,)", {1, 2, 3}));
  const auto compare = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "compare");
    return dmlop_program(arguments, {.folder = folder.path()});
  };
  const auto unlike = compare({"a.npy", "b.npy", "--heatmap", "picture.png"});
  CHECK(unlike.code == 1);
  CHECK(unlike.output.starts_with("FAILED: a.npy: FLOAT32 [2] instead of FLOAT32 [3]\n"));
  CHECK(unlike.error == "dmlop: there is nothing to draw in picture.png\n");
  for (const char* name : {"a.npy", "./b.npy"}) {
    const auto same = compare({"a.npy", "b.npy", "--heatmap", name});
    CHECK(same.code == 2);
    CHECK(same.error.find("--heatmap would replace ") != std::string::npos);
  }
  CHECK(folder.read("a.npy") == bytes);
  CHECK(compare({"a.npy", "a.npy", "--heatmap", "none/picture.png"}).code == 6);
  CHECK(folder.list() == "a.npy b.npy");
}

TEST_CASE("a report holds the pictures as data that anyone can decode: padding, letters and all") {
  // Golden files that make planes of many widths, whose files end in every place of a group of
  // three.
  std::set<std::size_t> ends;
  for (int width = 1; width <= 12; ++width) {
    const Folder folder;
    const std::string shape = "(2, " + std::to_string(width) + ")";
    std::vector<float> numbers(static_cast<std::size_t>(2 * width));
    std::iota(numbers.begin(), numbers.end(), 1.F);
    folder.write("x.npy", float_npy(shape, numbers));
    numbers.back() = 1000;
    folder.write("golden.npy", float_npy(shape, numbers));
    folder.write("jobs.jsonl", R"({"id": "a", "type": "PADDING", "desc": {"PaddingMode": "EDGE", )"
                               R"("StartPadding": [0, 0], "EndPadding": [0, 0]}, )"
                               R"("bindings": {"InputTensor": "x.npy"}, "expect": "golden.npy"})");
    REQUIRE(dmlop_program(
                {"batch", "jobs.jsonl", "--cpu", "--html", "report.html", "--results", "r.jsonl"},
                {.folder = folder.path()})
                .code == 1);
    const auto pictures = pictures_of(folder.read("report.html"));
    const Tensor actual = floats({2, numbers.size() / 2}, [&] {
      std::vector<float> before = numbers;
      before.back() = static_cast<float>(2 * width);
      return before;
    }());
    const Tensor expected = floats({2, numbers.size() / 2}, numbers);
    const PlanePictures made =
        plane_pictures(elements_of(actual), elements_of(expected), numbers.size() - 1, true);
    for (const auto& [name, png] : {std::pair("actual", made.actual),
                                    {"expected", made.expected},
                                    {"difference", made.difference}}) {
      CHECK((decoded(pictures.at(name)) ==
             std::string(reinterpret_cast<const char*>(png.data()), png.size())));
      ends.insert(png.size() % 3);
    }
    CHECK(pictures.at("low") == "1");
    CHECK(pictures.at("high") == "1000");
  }
  CHECK(ends.size() == 3);
}

}  // namespace dmlop::test::picture_test
