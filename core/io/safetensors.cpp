// Layout: 8 bytes header length (little endian), the header, the bytes of the tensors without gaps.

#include "gradus/core/io/safetensors.h"

#include "gradus/core/detail/format.h"
#include "gradus/core/io/detail/array_bytes.h"
#include "gradus/core/io/detail/safetensors_header.h"

namespace gradus {

namespace {

constexpr std::uint64_t kLargestHeader = 100'000'000;  // as other readers

}  // namespace

void save_safetensors(const std::string& path, const StateDict& tensors, const Metadata& metadata) {
  const std::string label = "save_safetensors: " + io::printable(path);
  io::Header header{.metadata = metadata, .tensors = {}};
  for (const auto& [name, tensor] : tensors) {
    check(tensor.defined(), "{}: tensor {} is undefined", label, io::quote(name));
    check(name != "__metadata__", "{}: a tensor cannot be called '__metadata__'", label);
    header.tensors.push_back({name, tensor.dtype(), tensor.shape()});
  }
  const std::string text = io::write_header(label, header);
  check(text.size() <= kLargestHeader, "{}: names and metadata take {} bytes, expects at most {}", label,
        text.size(), kLargestHeader);

  io::AtomicFile file("save_safetensors", path);
  const std::uint64_t length = text.size();
  file.write(&length, sizeof length);
  file.write(text.data(), text.size());
  for (const std::size_t size : {std::size_t{8}, std::size_t{4}, std::size_t{1}})  // the order of the offsets
    for (const auto& [name, tensor] : tensors)
      if (size_of(tensor.dtype()) == size) io::write_array(file, tensor.array());
  file.commit();
}

StateDict load_safetensors(const std::string& path, Metadata* metadata) {
  const io::InputFile file("load_safetensors", path);
  std::uint64_t length = 0;
  check(file.size() >= sizeof length, "{}: has {} bytes, expects a header of 8 or more", file.label(),
        file.size());
  file.read(0, &length, sizeof length);
  check(length <= file.size() - sizeof length, "{}: header: says it has {} bytes, but the file has {} in all",
        file.label(), length, file.size());
  check(length <= kLargestHeader, "{}: header: has {} bytes, expects at most {}", file.label(), length,
        kLargestHeader);
  const std::uint64_t data_start = sizeof length + length;
  io::Header header;
  {
    std::string text(length, '\0');
    file.read(sizeof length, text.data(), length);
    header = io::read_header(file.label(), text, file.size() - data_start);
  }
  StateDict tensors;
  for (; !header.tensors.empty(); header.tensors.pop_front()) {  // what is done needs no memory any more
    const io::TensorEntry& entry = header.tensors.front();
    tensors.set(entry.name, Tensor(io::read_array(file, file.label() + ": tensor " + io::quote(entry.name),
                                                  data_start + entry.begin, entry.shape, entry.dtype)));
  }
  if (metadata) *metadata = std::move(header.metadata);
  return tensors;
}

}  // namespace gradus
