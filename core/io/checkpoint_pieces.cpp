// Tensors in pieces, and whole again.

#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include "gradus/core/detail/format.h"
#include "gradus/core/io/checkpoint_parts.h"
#include "gradus/core/io/printable.h"

namespace gradus::io {

namespace {

struct Piece {
  std::string name;  // of the tensor
  std::int64_t begin = 0;
  Shape shape;  // of the tensor
};

/// Reads a number and what follows it; nothing if there is none.
std::optional<std::int64_t> read_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool skip(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

/// What piece_name() made; nothing for other names.
std::optional<Piece> piece_of(const std::string& text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string::npos) return std::nullopt;
  Piece piece{.name = text.substr(0, at), .begin = 0, .shape = {}};
  std::string_view rest = std::string_view(text).substr(at + 1);
  const std::optional<std::int64_t> begin = read_number(rest);
  if (!begin || !skip(rest, ":[")) return std::nullopt;
  piece.begin = *begin;
  while (!skip(rest, "]")) {
    if (!piece.shape.empty() && !skip(rest, ", ")) return std::nullopt;
    const std::optional<std::int64_t> size = read_number(rest);
    if (!size || piece.shape.size() == Shape::kMaxRank) return std::nullopt;
    piece.shape.push_back(*size);
  }
  return rest.empty() ? std::optional(std::move(piece)) : std::nullopt;
}

/// A tensor of which some pieces have been found.
struct Whole {
  Array values;
  std::map<std::int64_t, std::int64_t> found;  // ranges of elements: begin and end
};

void add_piece(const char* op, Whole& whole, const Piece& piece, const Array& values) {
  const std::string name = quote(piece.name);
  const std::int64_t all = numel(piece.shape, op);
  check_input(values.dim() == 1 && piece.begin <= all && values.numel() <= all - piece.begin,
              "{}: tensor {} {} has a piece {} at {}", op, name, piece.shape, values.shape(), piece.begin);
  const std::int64_t end = piece.begin + values.numel();
  if (!whole.values.defined()) whole.values = Array::empty(piece.shape, values.dtype(), op);
  check_input(whole.values.shape() == piece.shape && whole.values.dtype() == values.dtype(),
              "{}: the pieces of tensor {} have different shapes or dtypes", op, name);
  const auto [place, is_new] = whole.found.emplace(piece.begin, end);
  const bool overlaps = !is_new || (place != whole.found.begin() && std::prev(place)->second > piece.begin) ||
                        (std::next(place) != whole.found.end() && std::next(place)->first < end);
  check_input(!overlaps, "{}: two pieces of tensor {} have the same elements", op, name);
  whole.values.reshape({all}).slice(0, piece.begin, end).copy_(values);
}

}  // namespace

std::string piece_name(const std::string& name, std::int64_t begin, const Shape& shape) {
  return fmt::format("{}@{}:{}", name, begin, shape);
}

bool is_piece(const std::string& name) { return piece_of(name).has_value(); }

StateDict join_pieces(const char* op, const StateDict& tensors) {
  StateDict result;
  std::map<std::string, Whole> wholes;
  for (const auto& [name, tensor] : tensors) {
    const std::optional<Piece> piece = piece_of(name);
    if (!piece) {
      result.set(name, tensor);
      continue;
    }
    Whole& whole = wholes[piece->name];
    add_piece(op, whole, *piece, tensor.array());
    result.set(piece->name, Tensor(whole.values));
  }
  for (const auto& [name, whole] : wholes) {
    std::int64_t found = 0;
    for (const auto& [begin, end] : whole.found) found += end - begin;
    check_input(found == whole.values.numel(), "{}: tensor {} {} has only {} of {} elements", op, quote(name),
                whole.values.shape(), found, whole.values.numel());
  }
  return result;
}

}  // namespace gradus::io
