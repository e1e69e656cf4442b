#include "text_file.hpp"

#include <filesystem>
#include <system_error>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/output.hpp"
#include "base/parallel.hpp"
#include "base/path.hpp"

namespace dmlop::app {

void refuse_other_file(const std::string& option, const std::string& path,
                       std::string_view beginning) {
  std::error_code ignored;
  if (is_standard_output(path)) return;
  if (!std::filesystem::is_regular_file(to_path(path), ignored)) return;
  const InputFile file =
      with_context(option + ": reading " + path, [&] { return InputFile::open(path); });
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                              file.bytes().size());
  if (!text.empty() && !text.starts_with(beginning)) refuse_to_replace(option, path);
}

void write_text(const std::string& path, std::string_view text) {
  if (is_standard_output(path)) return print({Text::verbatim(text)});
  const StopDeferred wanted;
  OutputFile file(path, text.size(), Contents::text);
  file.write_at(0, std::as_bytes(std::span(text)));
  file.commit(/*wanted_after_stop=*/true);
}

}  // namespace dmlop::app
