// Files of tensors.

#include <string>
#include <vector>

#include "gradus/core/error.h"
#include "gradus/core/io/checkpoint_files.h"
#include "gradus/core/io/npy.h"
#include "gradus/core/io/safetensors.h"
#include "reliability/reader_lists.h"
#include "support.h"

namespace gradus::test {

namespace {

namespace fs = std::filesystem;

/// Every element is there.
void use_all(const Tensor& tensor) {
  promise(static_cast<std::int64_t>(tensor.to_vector<double>().size()) == tensor.numel(),
          "elements are missing");
}
void use_all(const StateDict& tensors) {
  for (const auto& [name, tensor] : tensors) use_all(tensor);
}

StateDict some_tensors() {
  return {{"layer.weight", ones({3, 2})},
          {"mask", tensor({true, false})},
          {"steps", tensor(7)},
          {"none", zeros({0, 2})}};
}

std::vector<std::string> files_of(const std::string& folder, const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) files.push_back(bytes_of(source_file(folder) / name));
  return files;
}

std::vector<std::string> safetensors_seeds(const fs::path& folder) {
  const std::string scratch = folder / "seed.safetensors";
  save_safetensors(scratch, some_tensors(), {{"format", "pt"}});
  std::vector<std::string> seeds = {bytes_of(scratch),
                                    bytes_of(source_file("tests/golden/io/weights.safetensors"))};
  fs::remove(scratch);
  return seeds;
}

/// Writes two checkpoints and returns the second: whatever becomes of it, one is there.
std::vector<std::string> checkpoint_seeds(const fs::path& folder) {
  const std::string checkpoints = folder / "checkpoints";
  fs::remove_all(checkpoints);
  save_checkpoint(checkpoints, some_tensors(), {{"epoch", "1"}});
  return {bytes_of(save_checkpoint(checkpoints, some_tensors(), {{"epoch", "2"}}))};
}

}  // namespace

std::vector<Reader> readers_of_tensors() {
  const std::vector<std::string> arrays = {
      "b1.npy",     "empty.npy",           "f4.npy",      "f8_column_major.npy", "i4.npy",
      "scalar.npy", "u1_column_major.npy", "version2.npy"};
  const auto load_both = [](const fs::path& folder) {
    Metadata notes;
    use_all(load_safetensors((folder / "x.safetensors").string(), &notes));
  };
  return {
      {"npy", "x.npy", [arrays](const fs::path&) { return files_of("tests/golden/io", arrays); },
       [](const fs::path& folder) { use_all(load_npy((folder / "x.npy").string())); }, 64 << 10, 32},
      {"safetensors", "x.safetensors", safetensors_seeds, load_both, 64 << 10, 64},
      {"shards", "model.safetensors.index.json",
       [](const fs::path& folder) {
         save_safetensors(folder / "a.safetensors", {{"w", ones({2})}});
         save_safetensors(folder / "b.safetensors", {{"v", ones({3})}});
         return std::vector<std::string>{
             R"({"metadata":{"total_size":20},"weight_map":{"w":"a.safetensors","v":"b.safetensors"}})"};
       },
       [](const fs::path& folder) { use_all(load_safetensors(folder / "model.safetensors.index.json")); },
       64 << 10, 200},
      {"checkpoint", "checkpoints/checkpoint-000002.safetensors", checkpoint_seeds,
       [](const fs::path& folder) {
         try {
           use_all(load_checkpoint(folder / "checkpoints").tensors);
         } catch (const Error& error) {  // the first is whole
           promise(std::string(error.what()).find("out of memory") != std::string::npos,
                   "no checkpoint was found");
           throw;
         }
       },
       64 << 10, 100},
  };
}

}  // namespace gradus::test
