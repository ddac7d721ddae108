#pragma once
// Weights in one safetensors file or in several with an index, as Hugging Face lays them out:
//   model.safetensors
// or
//   model-00001-of-00002.safetensors, model-00002-of-00002.safetensors
//   model.safetensors.index.json     {"metadata": {"total_size": 7}, "weight_map": {"a.weight":
//   "model-0000..."}}

#include <deque>
#include <string>
#include <vector>

#include "gradus/core/io/atomic_file.h"
#include "gradus/core/io/safetensors.h"

namespace gradus::io {

inline constexpr const char* kWeightsFile = "model.safetensors";
inline constexpr const char* kIndexFile = "model.safetensors.index.json";

/// The files that an index names, each read by `load`, as one. Throws if a file is outside the index's folder
/// or missing, or a tensor is not in the file the index gives, or in two.
StateDict load_shards(const std::string& index, Metadata* metadata, Halves halves,
                      StateDict (*load)(const std::string& path, Metadata* metadata, Halves halves));

/// Weights being saved into a folder: written by the constructor, given their names by commit().
class WeightFiles {
 public:
  /// In files of at most max_bytes of values each, or of one tensor.
  WeightFiles(const char* op, const std::string& folder, const StateDict& tensors, const Metadata& metadata,
              std::uint64_t max_bytes);
  /// Gives all their names and removes weights of an older save that they do not replace.
  void commit();

 private:
  AtomicFile& open(const std::string& name);
  void write_index(const StateDict& tensors, const std::vector<std::size_t>& shard_of);

  const char* op_;
  std::string folder_;
  std::vector<std::string> names_;
  std::deque<AtomicFile> files_;
};

}  // namespace gradus::io
