// dmlop layer: what it takes for DirectML, what it refuses, and that all bytes come back. And the
// command dmlop explain.
#include "layer/install.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <span>

#include "program.hpp"

namespace dmlop::install_test {
namespace {

using namespace dmlop::layer;
using test::Folder;

/// A file that is a DLL as far as its header and its exports tell.
std::string dll(const std::string& name, std::uint16_t machine = 0x8664) {
  std::string bytes(0x80, '\0');
  bytes[0] = 'M';
  bytes[1] = 'Z';
  bytes[0x3C] = 0x40;
  bytes.replace(0x40, 4, std::string("PE\0\0", 4));
  bytes[0x44] = static_cast<char>(machine & 0xFF);
  bytes[0x45] = static_cast<char>(machine >> 8);
  return bytes + name + '\0' + "the rest";
}

DllKind kind_of(const std::string& bytes) {
  return kind_of_dll(std::as_bytes(std::span(bytes)));
}

/// A folder with an application and, beside it, the layer.
struct Application {
  Application() {
    layer = outside.write("DirectML.dll", layer_bytes);
    folder.write("app.exe", "");
  }

  test::ProgramResult run(const std::string& action, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"layer", action, folder.path()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return test::dmlop_program(arguments);
  }
  test::ProgramResult install() const { return run("install", {"--dll", layer}); }
  test::ProgramResult uninstall() const { return run("uninstall"); }

  /// All files that are there, and what they hold.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      all[entry.path().filename().string()] = test::read_file(entry.path());
    return all;
  }

  const std::string layer_bytes = dll("dmlop_layer_version");
  Folder folder, outside;
  std::string layer;
};

const std::string real_bytes = dll("DMLCreateDevice");

}  // namespace

TEST_CASE("layer: a DLL is known by its machine and its exports") {
  CHECK(kind_of(real_bytes) == DllKind::directml);
  CHECK(kind_of(dll("dmlop_layer_version")) == DllKind::layer);
  CHECK(kind_of(dll("DMLCreateDevice") + '\0' + "dmlop_layer_version" + '\0') == DllKind::layer);
  CHECK(kind_of(dll("DMLCreateDevice", 0xAA64)) == DllKind::other_machine);
  CHECK(kind_of(dll("DMLCreateDeviceX")) == DllKind::other);
  CHECK(kind_of(dll("XDMLCreateDevice")) == DllKind::other);
  CHECK(kind_of("") == DllKind::none);
  CHECK(kind_of("MZ") == DllKind::none);
  for (std::size_t size = 0; size < 0x44; ++size)
    CHECK(kind_of(real_bytes.substr(0, size)) == DllKind::none);
  CHECK(kind_of(real_bytes.substr(0, 0x45)) == DllKind::other_machine);
  std::string far = real_bytes;
  far.replace(0x3C, 4, "\xFF\xFF\xFF\xFF");
  CHECK(kind_of(far) == DllKind::none);
}

TEST_CASE("layer: install puts the layer before DirectML, and uninstall restores the bytes") {
  const Application app;
  app.folder.write("DirectML.dll", real_bytes);
  const auto before = app.files();
  const auto installed = app.install();
  CHECK(installed.code == 0);
  CHECK(installed.output.starts_with("installed " + app.folder.path() +
                                     "/DirectML.dll\n"
                                     "the layer calls " +
                                     app.folder.path() + "/DirectML.real.dll\n"));
  CHECK(app.folder.read("DirectML.dll") == app.layer_bytes);
  CHECK(app.folder.read("DirectML.real.dll") == real_bytes);
  const auto uninstalled = app.uninstall();
  CHECK(uninstalled.code == 0);
  CHECK(uninstalled.output == "restored " + app.folder.path() + "/DirectML.dll\n");
  CHECK(app.files() == before);
}

TEST_CASE("layer: an application without a DirectML.dll gets the layer alone") {
  const Application app;
  const auto before = app.files();
  const auto installed = app.install();
  CHECK(installed.code == 0);
  CHECK(installed.error.empty());
  CHECK(installed.output.find("the layer calls that of Windows") != std::string::npos);
  CHECK(app.folder.read("DirectML.dll") == app.layer_bytes);
  CHECK_FALSE(app.folder.has("DirectML.real.dll"));
  CHECK(app.uninstall().output == "removed " + app.folder.path() + "/DirectML.dll\n");
  CHECK(app.files() == before);
}

TEST_CASE("layer: a folder without a program gets a note") {
  const Application app;
  std::filesystem::rename(app.folder / "app.exe", app.folder / "app.EXE");
  CHECK(app.install().error.empty());
  CHECK(app.uninstall().code == 0);
  std::filesystem::remove(app.folder / "app.EXE");
  const auto installed = app.install();
  CHECK(installed.code == 0);
  CHECK(installed.error.find(" has no .exe and had no DirectML.dll") != std::string::npos);
}

TEST_CASE("layer: names are compared as Windows does") {
  const Application app;
  app.folder.write("directml.DLL", real_bytes);
  CHECK(app.install().code == 0);
  CHECK(app.files() == std::map<std::string, std::string>{{"app.exe", ""},
                                                          {"directml.DLL", app.layer_bytes},
                                                          {"DirectML.real.dll", real_bytes}});
  CHECK(app.uninstall().code == 0);
  CHECK(app.folder.read("directml.DLL") == real_bytes);
}

TEST_CASE("layer: what would lose something or not work is refused, and nothing changes") {
  struct Row {
    const char* what;
    std::map<std::string, std::string> files;
    const char* action;
    std::string message;
  };
  const std::string layer_bytes = dll("dmlop_layer_version");
  const Row rows[] = {
      {"twice",
       {{"DirectML.dll", layer_bytes}, {"DirectML.real.dll", real_bytes}},
       "install",
       "the layer is installed there already: FOLDER/DirectML.dll; dmlop layer uninstall takes it "
       "away"},
      {"unknown",
       {{"DirectML.dll", dll("other")}},
       "install",
       "FOLDER/DirectML.dll is not Microsoft's DirectML: it has no DMLCreateDevice"},
      {"text",
       {{"DirectML.dll", "text"}},
       "install",
       "FOLDER/DirectML.dll is not Microsoft's DirectML"},
      {"arm64",
       {{"DirectML.dll", dll("DMLCreateDevice", 0xAA64)}},
       "install",
       "FOLDER/DirectML.dll is a DLL for another processor; the layer is for x64"},
      {"replaced",
       {{"DirectML.dll", real_bytes}, {"DirectML.real.dll", "old"}},
       "install",
       "FOLDER/DirectML.real.dll already exists; it was left by a layer that something else "
       "replaced. Delete it"},
      {"left",
       {{"DirectML.real.dll", real_bytes}},
       "install",
       "FOLDER/DirectML.real.dll already exists; it was left by a layer that something else "
       "replaced. Delete it, or rename it to DirectML.dll"},
      {"never", {}, "uninstall", "the layer is not installed in FOLDER"},
      {"not the layer",
       {{"DirectML.dll", real_bytes}},
       "uninstall",
       "FOLDER/DirectML.dll is not the layer: nothing to take away"},
      {"updated",
       {{"DirectML.dll", real_bytes}, {"DirectML.real.dll", "old"}},
       "uninstall",
       "FOLDER/DirectML.dll is not the layer; something replaced it since. Delete "
       "FOLDER/DirectML.real.dll"}};
  for (const Row& row : rows) {
    CAPTURE(row.what);
    const Application app;
    for (const auto& [name, bytes] : row.files) app.folder.write(name, bytes);
    const auto before = app.files();
    const auto result = row.action == std::string("install") ? app.install() : app.uninstall();
    CHECK(result.code == 2);
    std::string message = row.message;
    for (std::size_t at = 0; (at = message.find("FOLDER", at)) != message.npos;)
      message.replace(at, 6, app.folder.path());
    CHECK_MESSAGE(result.error.find(message) != std::string::npos, result.error);
    CHECK(app.files() == before);
  }
}

TEST_CASE("layer: what is installed must be the layer, and into a folder") {
  const Application app;
  app.folder.write("DirectML.dll", real_bytes);
  const std::string no_layer = app.outside.write("other.dll", real_bytes);
  const auto other = app.run("install", {"--dll", no_layer});
  CHECK(other.code == 2);
  CHECK(other.error.find(no_layer + " is not the layer") != std::string::npos);
  const auto missing = app.run("install", {"--dll", "missing.dll"});
  CHECK(missing.code == 6);
  CHECK(missing.error.find("reading missing.dll: ") != std::string::npos);
  CHECK(test::dmlop_program({"layer", "install", "/none", "--dll", app.layer}).code == 2);
  CHECK(test::dmlop_program({"layer", "uninstall", "/none"}).error.find("is not a folder") !=
        std::string::npos);
  CHECK(test::dmlop_program({"layer", "remove", app.folder.path()}).code == 2);
  const auto without = app.run("install");
  CHECK(without.code == 4);
  CHECK(without.error.find("layer/DirectML.dll; the .zip for Windows has the layer") !=
        std::string::npos);
  CHECK(app.folder.read("DirectML.dll") == real_bytes);
}

TEST_CASE("layer: without the right to write, all stays as it was") {
  if (::geteuid() == 0) {
    MESSAGE("SKIPPED: root may write everywhere");
    return;
  }
  const Application app;
  app.folder.write("DirectML.dll", real_bytes);
  REQUIRE(::chmod(app.folder.path().c_str(), 0555) == 0);
  const auto result = app.install();
  REQUIRE(::chmod(app.folder.path().c_str(), 0755) == 0);
  CHECK(result.code == 6);
  CHECK(result.error.find("try again as administrator") != std::string::npos);
  CHECK(app.folder.read("DirectML.dll") == real_bytes);
}

TEST_CASE("layer: after a copy that fails, all is as it was") {
  const Application app;
  app.folder.write("DirectML.dll", real_bytes);
  const std::string large =
      app.outside.write("large.dll", app.layer_bytes + std::string(1 << 20, 'x'));
  const auto before = app.files();
  const auto result = test::shell("trap '' XFSZ; ulimit -f 8; dmlop layer install '" +
                                  app.folder.path() + "' --dll '" + large + "'");
  CHECK(result.code == 6);
  CHECK(app.files() == before);
}

TEST_CASE("explain: a code, a line of a log, and a text without either") {
  const auto code = test::dmlop_program({"explain", "80070057"});
  CHECK(code.code == 0);
  CHECK(code.output.starts_with("80070057 E_INVALIDARG\n  An argument is invalid. "));
  CHECK(code.output.find("\n  help: Install the layer") != std::string::npos);
  const auto line =
      test::dmlop_program({"explain", "DmlGraphFusionHelper.cpp(614)", "Exception(1)", "887A0005"});
  CHECK(line.output.starts_with("DmlGraphFusionHelper.cpp(614)\n  ONNX Runtime fuses nodes"));
  CHECK(line.output.find("\n887A0005 DXGI_ERROR_DEVICE_REMOVED\n") != std::string::npos);
  CHECK(test::dmlop_program({"explain", "-2147024809"}).output == code.output);
  CHECK(test::dmlop_program({"explain", "0x8badf00d"}).output ==
        "8BADF00D\n  A failure of facility 2989 with code 61453; neither DirectML nor ONNX Runtime "
        "is known for it.\n");
  // What is given beside a code is explained, too, or refused.
  const auto two = test::dmlop_program({"explain", "E_INVALIDARG", "887A0005"});
  CHECK(two.output.starts_with(code.output));
  CHECK(two.output.find("DXGI_ERROR_DEVICE_REMOVED") != two.output.npos);
  const auto misspelt = test::dmlop_program({"explain", "80070057", "E_OUTOFMEMORI"});
  CHECK(misspelt.code == 2);
  CHECK(misspelt.error ==
        "dmlop: error: \"E_OUTOFMEMORI\" is not a known failure code; did you mean "
        "\"E_OUTOFMEMORY\"?\n");
  const auto word = test::dmlop_program({"explain", "80070057", "other"});
  CHECK(word.code == 2);
  CHECK(test::dmlop_program({"explain", "error", "80070057"}).output == code.output);
  CHECK(test::dmlop_program({"explain", "80070057", "The", "parameter"}).output == code.output);
  const auto nothing = test::dmlop_program({"explain", "it does not work"});
  CHECK(nothing.code == 2);
  CHECK(nothing.error.find("no failure code in this text") != std::string::npos);
}

}  // namespace dmlop::install_test
