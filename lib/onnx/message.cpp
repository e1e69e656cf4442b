#include "onnx/message.hpp"

#include <protozero/exception.hpp>

#include "base/error.hpp"

namespace dmlop::onnx {
namespace {

const char* characters(std::span<const std::byte> bytes) {
  return reinterpret_cast<const char*>(bytes.data());
}

}  // namespace

Message::Message(std::span<const std::byte> bytes, std::span<const std::byte> file)
    : all_(bytes), file_(file), reader_(characters(bytes), bytes.size()) {}

void Message::refuse(const std::string& what) const {
  const char* at = reader_.data().data();
  const auto place = at == nullptr ? 0 : at - characters(file_);
  throw Error(ErrorKind::invalid_input, "byte " + std::to_string(place) + ": " + what);
}

template <typename Read>
auto Message::read(Read&& read) {
  try {
    return read();
  } catch (const protozero::end_of_buffer_exception&) {
    refuse("a field is longer than what holds it");
  } catch (const protozero::varint_too_long_exception&) {
    refuse("a number has more than 10 bytes");
  } catch (const protozero::exception&) {
    refuse("this is not a field of a protobuf message");
  }
}

bool Message::next() {
  return read([&] {
    if (is_unread_) reader_.skip();
    is_unread_ = reader_.next();
    return is_unread_;
  });
}

std::int64_t Message::integer() {
  if (reader_.wire_type() != protozero::pbf_wire_type::varint)
    refuse("field " + std::to_string(field()) + " must be a number");
  is_unread_ = false;
  return read([&] { return reader_.get_int64(); });
}

float Message::real() {
  if (reader_.wire_type() != protozero::pbf_wire_type::fixed32)
    refuse("field " + std::to_string(field()) + " must be a float");
  is_unread_ = false;
  return read([&] { return reader_.get_float(); });
}

std::string_view Message::text() {
  if (reader_.wire_type() != protozero::pbf_wire_type::length_delimited)
    refuse("field " + std::to_string(field()) + " must have a length");
  is_unread_ = false;
  const auto view = read([&] { return reader_.get_view(); });
  return {view.data(), view.size()};
}

std::span<const std::byte> Message::bytes() {
  const std::string_view view = text();
  return std::as_bytes(std::span(view));
}

Message Message::message() {
  return {bytes(), file_};
}

template <typename T, typename Packed, typename Alone>
void Message::add(std::vector<T>& list, std::size_t most, Packed&& packed, Alone&& alone) {
  const auto require_room = [&] {
    if (list.size() >= most)
      refuse("field " + std::to_string(field()) + " has more than " + std::to_string(most) +
             " numbers");
  };
  if (reader_.wire_type() != protozero::pbf_wire_type::length_delimited) {
    require_room();
    list.push_back(alone());
    return;
  }
  is_unread_ = false;
  read([&] {
    for (const auto number : packed()) {
      require_room();
      list.push_back(number);
    }
    return 0;
  });
}

void Message::add_integers(std::vector<std::int64_t>& list, std::size_t most) {
  add(
      list, most, [&] { return reader_.get_packed_int64(); }, [&] { return integer(); });
}

void Message::add_floats(std::vector<float>& list, std::size_t most) {
  add(
      list, most, [&] { return reader_.get_packed_float(); }, [&] { return real(); });
}

void Message::add_doubles(std::vector<double>& list, std::size_t most) {
  add(
      list, most, [&] { return reader_.get_packed_double(); },
      [&] {
        if (reader_.wire_type() != protozero::pbf_wire_type::fixed64)
          refuse("field " + std::to_string(field()) + " must be a double");
        is_unread_ = false;
        return read([&] { return reader_.get_double(); });
      });
}

}  // namespace dmlop::onnx
