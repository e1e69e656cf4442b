// A protobuf message in memory, read field by field without copies. Every length is checked against
// the bytes that are there, and errors say at which byte of the file they are. Messages are entered
// by the caller, so the depth is that of the code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dmlop::onnx {

class Message {
 public:
  /// `file` are the bytes that places count in; they hold `bytes`.
  Message(std::span<const std::byte> bytes, std::span<const std::byte> file);

  /// Goes to the next field; false at the end. A field that is not read is skipped. Errors:
  /// invalid_input if the bytes are no field.
  bool next();
  /// All bytes of the message.
  std::span<const std::byte> all() const { return all_; }
  /// The bytes that places count in.
  std::span<const std::byte> file() const { return file_; }
  /// The number of the field.
  std::uint32_t field() const { return reader_.tag(); }

  // The value of the field. Errors: invalid_input if it is of another kind or cut off.
  std::int64_t integer();
  float real();
  std::string_view text();
  std::span<const std::byte> bytes();
  Message message();

  /// Adds the numbers of a repeated field, packed or alone. Errors: also if there are more than
  /// `most`.
  void add_integers(std::vector<std::int64_t>& list, std::size_t most);
  void add_floats(std::vector<float>& list, std::size_t most);
  void add_doubles(std::vector<double>& list, std::size_t most);

 private:
  template <typename Read>
  auto read(Read&& read);
  template <typename T, typename Packed, typename Alone>
  void add(std::vector<T>& list, std::size_t most, Packed&& packed, Alone&& alone);
  [[noreturn]] void refuse(const std::string& what) const;

  std::span<const std::byte> all_;
  std::span<const std::byte> file_;
  protozero::pbf_reader reader_;
  bool is_unread_ = false;  // the field
};

}  // namespace dmlop::onnx
