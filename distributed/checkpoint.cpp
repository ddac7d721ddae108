#include "gradus/distributed/checkpoint.h"

#include <algorithm>
#include <vector>

#include "gradus/core/check.h"
#include "gradus/core/creation.h"
#include "gradus/core/io/checkpoint_parts.h"
#include "gradus/distributed/detail/digests.h"

namespace gradus::distributed {

namespace {

std::int64_t bytes_in(const Tensor& x) { return x.numel() * static_cast<std::int64_t>(size_of(x.dtype())); }

/// What this rank writes: its pieces, and of all other tensors, one after the other, an equal part.
StateDict part_of(const Communicator& world, const StateDict& state) {
  std::int64_t total = 0, at = 0;
  for (const auto& [name, tensor] : state)
    if (!io::is_piece(name)) total += bytes_in(tensor);
  const auto first_byte = [&](int rank) { return total * rank / world.size(); };
  StateDict part;
  for (const auto& [name, tensor] : state) {
    if (io::is_piece(name)) {
      part.set(name, tensor);
      continue;
    }
    const std::int64_t size = static_cast<std::int64_t>(size_of(tensor.dtype())), numel = tensor.numel();
    const auto element = [&](std::int64_t byte) {  // the first that begins there or later
      return std::clamp<std::int64_t>((byte - at + size - 1) / size, 0, numel);
    };
    const std::int64_t begin = element(first_byte(world.rank())), end = element(first_byte(world.rank() + 1));
    at += bytes_in(tensor);
    if (end - begin == numel) {
      if (begin < end || world.rank() == 0) part.set(name, tensor);
    } else if (begin < end) {
      const Array flat = tensor.array().contiguous().reshape({numel});
      part.set(io::piece_name(name, begin, tensor.shape()), Tensor(flat.slice(0, begin, end)));
    }
  }
  return part;
}

/// What all ranks must pass alike.
std::string common_part(const StateDict& state, const Metadata& metadata) {
  std::string text;
  for (const auto& [key, value] : metadata) text += key + " " + value + "\n";
  for (const auto& [name, tensor] : state)
    if (!io::is_piece(name)) text += detail::digest(name, tensor) + "\n";
  return text;
}

}  // namespace

std::string save_checkpoint(const Communicator& world, const std::string& folder, const StateDict& state,
                            const Metadata& metadata) {
  for (const auto& [name, tensor] : state)
    check(tensor.defined(), "save_checkpoint: tensor {} is undefined", name);
  if (world.size() == 1)
    return gradus::save_checkpoint(folder, io::join_pieces("save_checkpoint", state), metadata);
  world.expect_same("The tensors and notes of a checkpoint", common_part(state, metadata));
  const Tensor number = zeros({1}, i64);
  if (world.rank() == 0) number.fill_(io::next_checkpoint(folder));
  world.broadcast(number);
  const auto n = number.item<std::int64_t>();
  const std::uint32_t checksum =
      io::save_checkpoint_part(folder, n, world.rank() + 1, world.size(), part_of(world, state));
  const Tensor all = world.all_gather(tensor({std::int64_t{checksum}}));  // now every part is on disk
  if (world.rank() == 0) {
    std::vector<std::uint32_t> checksums;
    for (const std::int64_t one : all.span<std::int64_t>())
      checksums.push_back(static_cast<std::uint32_t>(one));
    io::complete_checkpoint(folder, n, checksums, metadata);
  }
  world.barrier();
  return io::checkpoint_path(folder, n);
}

Checkpoint load_checkpoint(const Communicator& world, const std::string& folder) {
  Checkpoint result = gradus::load_checkpoint(folder);
  world.expect_same("The checkpoint that a rank reads", result.path + "\n" + detail::digests(result.tensors));
  return result;
}

}  // namespace gradus::distributed
