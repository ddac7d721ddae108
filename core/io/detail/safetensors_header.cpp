#include "gradus/core/io/detail/safetensors_header.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "gradus/core/detail/format.h"
#include "gradus/core/io/detail/array_bytes.h"
#include "gradus/core/io/printable.h"

namespace gradus::io {

namespace {

using nlohmann::json;

constexpr const char* kMetadata = "__metadata__";

// Those that are written stand first.
constexpr FileType kTypes[] = {{"F32", f32},
                               {"F64", f64},
                               {"I64", i64},
                               {"BOOL", boolean},
                               {"F16", f16},
                               {"BF16", bf16},
                               {"I32", i64, 4, widen_integers<std::int32_t>},
                               {"I16", i64, 2, widen_integers<std::int16_t>},
                               {"I8", i64, 1, widen_integers<std::int8_t>},
                               {"U32", i64, 4, widen_integers<std::uint32_t>},
                               {"U16", i64, 2, widen_integers<std::uint16_t>},
                               {"U8", i64, 1, widen_integers<std::uint8_t>}};

/// Parses the JSON text incrementally, so no tree is built from unchecked text, and throws at the first
/// invalid piece.
class HeaderReader final : public nlohmann::json_sax<json> {
 public:
  HeaderReader(const std::string& label, std::size_t most_notes) : label_(label), most_notes_(most_notes) {}
  Header take() { return std::move(header_); }

  bool start_object(std::size_t) override {
    if (place_ == Place::start) return enter(Place::top);
    if (place_ == Place::top) {
      if (name_ == kMetadata) return enter(Place::metadata);
      header_.tensors.emplace_back().name = name_;
      seen_ = {};
      return enter(Place::tensor);
    }
    return unexpected("an object");
  }

  bool key(string_t& key) override {
    if (place_ == Place::tensor) {
      field_ = key == "dtype" ? 0 : key == "shape" ? 1 : key == "data_offsets" ? 2 : 3;
      check_input(field_ < 3, "{}: {}: unknown key {}: expects dtype, shape and data_offsets", label_,
                  where(), quote(key));
      check_input(!std::exchange(seen_[field_], true), "{}: {}: key {} appears twice", label_, where(),
                  quote(key));
      return true;
    }
    if (place_ == Place::top) {
      check_input(key != kMetadata || !std::exchange(metadata_seen_, true),
                  "{}: header: name {} appears twice", label_, quote(key));
      name_ = key;
    } else {
      check_input(!header_.metadata.contains(key), "{}: {}: key {} appears twice", label_, where(),
                  quote(key));
      check_input(header_.metadata.size() < most_notes_, "{}: metadata: has more than {} notes", label_,
                  most_notes_);
      note_ = key;
    }
    return true;
  }

  bool string(string_t& value) override {
    if (place_ == Place::metadata) {
      header_.metadata[note_] = value;
      return true;
    }
    if (place_ != Place::tensor || field_ != 0) return unexpected("a string");
    for (const FileType& type : kTypes)
      if (value == type.name) {
        header_.tensors.back().type = type;
        return true;
      }
    fail_input_with(
        "{}: {}: dtype {} is not one of F32, F64, I64 and BOOL, nor of F16, BF16, I32, I16, I8, U32, U16 and "
        "U8, "
        "which are widened",
        label_, where(), quote(value));
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::tensor || field_ == 0) return unexpected("a list");
    return enter(field_ == 1 ? Place::shape : Place::offsets);
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ == Place::shape) {
      Shape& shape = header_.tensors.back().shape;
      check_input(shape.size() < Dims::kMaxRank, "{}: {}: expects at most {} axes", label_, where(),
                  Dims::kMaxRank);
      check_input(value <= INT64_MAX, "{}: {}: size {} is too large", label_, where(), value);
      shape.push_back(static_cast<std::int64_t>(value));
    } else if (place_ == Place::offsets) {
      check_input(offsets_ < 2, "{}: {}: data_offsets has more than two numbers", label_, where());
      (offsets_++ == 0 ? header_.tensors.back().begin : header_.tensors.back().end) = value;
    } else {
      return unexpected("a number");
    }
    return true;
  }

  bool end_array() override {
    if (place_ == Place::offsets)
      check_input(std::exchange(offsets_, 0) == 2, "{}: {}: expects two data_offsets", label_, where());
    return enter(Place::tensor);
  }

  bool end_object() override {
    if (place_ == Place::tensor)
      check_input(seen_[0] && seen_[1] && seen_[2], "{}: {}: expects dtype, shape and data_offsets", label_,
                  where());
    return enter(place_ == Place::top ? Place::start : Place::top);
  }

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("true or false"); }
  bool number_integer(number_integer_t value) override { return unexpected(fmt::format("{}", value)); }
  bool number_float(number_float_t, const string_t& text) override { return unexpected(quote(text)); }
  bool binary(binary_t&) override { return unexpected("bytes"); }  // never run: JSON text has none
  bool parse_error(std::size_t at, const std::string&, const json::exception&) override {
    fail_input_with("{}: header: not JSON at its byte {}", label_, at);
  }

 private:
  enum class Place { start, top, metadata, tensor, shape, offsets };

  bool enter(Place place) {
    place_ = place;
    return true;
  }
  std::string where() const {
    if (place_ == Place::metadata) return "metadata";
    return place_ == Place::top ? "header" : "tensor " + quote(name_);
  }
  [[noreturn]] bool unexpected(const std::string& what) const {
    const char* expected = "an object";
    if (place_ == Place::metadata) expected = "a string";
    if (place_ == Place::shape || place_ == Place::offsets) expected = "a number of 0 or more";
    if (place_ == Place::tensor) expected = field_ == 0 ? "a string" : "a list";
    fail_input_with("{}: {}: expects {}, got {}", label_, where(), expected, what);
  }

  const std::string& label_;
  const std::size_t most_notes_;
  Header header_;
  Place place_ = Place::start;
  std::string name_, note_;
  bool metadata_seen_ = false;
  std::size_t field_ = 0;  // of a tensor: dtype, shape, data_offsets
  std::array<bool, 3> seen_ = {};
  int offsets_ = 0;
};

using Entries = std::deque<TensorEntry>;

/// Places in `tensors` in order of what `key` gives of each.
template <class F>
std::vector<std::size_t> order_by(const F& key, const Entries& tensors) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return key(tensors[a]) < key(tensors[b]); });
  return order;
}

void check_names(const std::string& label, const Entries& tensors) {
  const auto by_name = order_by([](const TensorEntry& t) -> const std::string& { return t.name; }, tensors);
  for (std::size_t i = 1; i < by_name.size(); ++i)
    check_input(tensors[by_name[i - 1]].name != tensors[by_name[i]].name, "{}: header: name {} appears twice",
                label, quote(tensors[by_name[i]].name));
}

/// Without gaps or overlaps.
void check_places(const std::string& label, const Entries& tensors, std::uint64_t data_bytes) {
  std::uint64_t end = 0;
  for (const std::size_t i :
       order_by([](const TensorEntry& t) { return std::pair(t.begin, t.end); }, tensors)) {
    const TensorEntry& tensor = tensors[i];
    check_input(tensor.begin == end, "{}: tensor {} starts at byte {} of the data, expects {}: {}", label,
                quote(tensor.name), tensor.begin, end,
                tensor.begin > end ? "there is a gap" : "tensors overlap");
    end = tensor.end;
  }
  check_input(end == data_bytes, "{}: has {} bytes of data, expects {}", label, data_bytes, end);
}

void check_entry(const std::string& label, const TensorEntry& tensor, std::uint64_t data_bytes) {
  const std::string where = label + ": tensor " + quote(tensor.name);
  const auto bytes = bytes_in_file(tensor.shape, tensor.type);
  check_input(bytes.has_value(), "{}: shape {} has more elements than memory can address", where,
              tensor.shape);
  check_input(tensor.begin <= tensor.end && tensor.end <= data_bytes,
              "{}: data_offsets [{}, {}] do not lie in the file's {} bytes of data", where, tensor.begin,
              tensor.end, data_bytes);
  check_input(tensor.end - tensor.begin == *bytes,
              "{}: data_offsets [{}, {}] hold {} bytes, expects {} for {} {}", where, tensor.begin,
              tensor.end, tensor.end - tensor.begin, *bytes, tensor.type.name, tensor.shape);
}

/// JSON text of a string; throws where it is not UTF-8.
std::string json_text(const std::string& label, const std::string& text) {
  try {
    return json(text).dump();
  } catch (const json::exception&) {
    fail_with("{}: {} is not valid UTF-8", label, quote(text));
  }
}

}  // namespace

const FileType& safetensors_type(DType dtype) {
  return *std::find_if(std::begin(kTypes), std::end(kTypes),
                       [=](const FileType& type) { return type.dtype == dtype; });
}

FileType widened(const FileType& half) {
  const bool brain = half.dtype == bf16;
  return {half.name, f32, half.bytes, brain ? widen_halves<BFloat16> : widen_halves<Float16>};
}

Header read_header(const std::string& label, const std::string& text, std::uint64_t data_bytes) {
  check_input(text.starts_with('{'), "{}: header: expects a JSON object", label);
  // The parser takes a zero byte for the end of the text.
  check_input(text.find('\0') == std::string::npos, "{}: header: not JSON at its byte {}", label,
              text.find('\0') + 1);
  HeaderReader reader(label, most_notes(text.size()));
  json::sax_parse(text, &reader);
  Header header = reader.take();
  check_names(label, header.tensors);
  for (const TensorEntry& tensor : header.tensors) check_entry(label, tensor, data_bytes);
  check_places(label, header.tensors, data_bytes);
  return header;
}

std::string write_header(const std::string& label, Header& header) {
  std::uint64_t end = 0;
  for (const std::size_t size : {std::size_t{8}, std::size_t{4}, std::size_t{2}, std::size_t{1}})
    for (TensorEntry& tensor : header.tensors)
      if (tensor.type.bytes == size) {
        tensor.begin = end;
        end = tensor.end = end + bytes_in_file(tensor.shape, tensor.type).value();
      }
  std::string text;
  for (const auto& [key, value] : header.metadata)
    text += fmt::format("{}{}:{}", text.empty() ? "{" : ",", json_text(label, key), json_text(label, value));
  if (!text.empty()) text = fmt::format("\"{}\":{}}}", kMetadata, text);
  for (const TensorEntry& tensor : header.tensors)
    text += fmt::format(R"({}{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                        text.empty() ? "" : ",", json_text(label, tensor.name), tensor.type.name,
                        fmt::join(tensor.shape, ","), tensor.begin, tensor.end);
  text = "{" + text + "}";
  check(header.metadata.size() <= most_notes(text.size()), "{}: expects at most {} notes, got {}", label,
        most_notes(text.size()), header.metadata.size());
  text.append((8 - text.size() % 8) % 8, ' ');  // so that the data starts at a multiple of 8
  return text;
}

}  // namespace gradus::io
