// Layout: 8 bytes header length (little endian), the header, the bytes of the tensors without gaps.

#include "gradus/core/io/safetensors.h"

#include "gradus/core/detail/format.h"
#include "gradus/core/io/atomic_file.h"
#include "gradus/core/io/detail/array_bytes.h"
#include "gradus/core/io/detail/safetensors_header.h"
#include "gradus/core/io/detail/shards.h"
#include "gradus/core/io/detail/write_safetensors.h"
#include "gradus/core/io/printable.h"

namespace gradus {

namespace {

constexpr std::uint64_t kLargestHeader = 100'000'000;  // as other readers

StateDict load_file(const std::string& path, Metadata* metadata, Halves halves) {
  const io::InputFile file("load_safetensors", path);
  std::uint64_t length = 0;
  check_input(file.size() >= sizeof length, "{}: has {} bytes, expects a header of 8 or more", file.label(),
              file.size());
  file.read(0, &length, sizeof length);
  check_input(length <= file.size() - sizeof length,
              "{}: header: says it has {} bytes, but the file has {} in all", file.label(), length,
              file.size());
  check_input(length <= kLargestHeader, "{}: header: has {} bytes, expects at most {}", file.label(), length,
              kLargestHeader);
  const std::uint64_t data_start = sizeof length + length;
  io::Header header;
  {
    std::string text(length, '\0');
    file.read(sizeof length, text.data(), length);
    header = io::read_header(file.label(), text, file.size() - data_start);
  }
  StateDict tensors;
  for (; !header.tensors.empty(); header.tensors.pop_front()) {  // frees the entries already read
    io::TensorEntry& entry = header.tensors.front();
    if (is_half(entry.type.dtype) && halves == Halves::widen) entry.type = io::widened(entry.type);
    tensors.set(entry.name, Tensor(io::read_array(file, file.label() + ": tensor " + io::quote(entry.name),
                                                  data_start + entry.begin, entry.shape, entry.type)));
  }
  if (metadata) *metadata = std::move(header.metadata);
  return tensors;
}

}  // namespace

void io::write_safetensors(AtomicFile& file, const std::string& label, const StateDict& tensors,
                           const Metadata& metadata) {
  Header header{.metadata = metadata, .tensors = {}};
  for (const auto& [name, tensor] : tensors) {
    check(tensor.defined(), "{}: tensor {} is undefined", label, quote(name));
    check(name != "__metadata__", "{}: a tensor cannot be called '__metadata__'", label);
    header.tensors.push_back({name, safetensors_type(tensor.dtype()), tensor.shape()});
  }
  const std::string text = write_header(label, header);
  check(text.size() <= kLargestHeader, "{}: names and metadata take {} bytes, expects at most {}", label,
        text.size(), kLargestHeader);
  const std::uint64_t length = text.size();
  file.write(&length, sizeof length);
  file.write(text.data(), text.size());
  for (const std::size_t size :
       {std::size_t{8}, std::size_t{4}, std::size_t{2}, std::size_t{1}})  // the order of the offsets
    for (const auto& [name, tensor] : tensors)
      if (size_of(tensor.dtype()) == size) write_array(file, tensor.array());
}

void save_safetensors(const std::string& path, const StateDict& tensors, const Metadata& metadata) {
  io::AtomicFile file("save_safetensors", path);
  io::write_safetensors(file, "save_safetensors: " + io::printable(path), tensors, metadata);
  file.commit();
}

StateDict load_safetensors(const std::string& path, Metadata* metadata, Halves halves) {
  if (!path.ends_with(".index.json")) return load_file(path, metadata, halves);
  return io::load_shards(path, metadata, halves, load_file);
}

}  // namespace gradus
