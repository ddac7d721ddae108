#include "gradus/core/io/detail/shards.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_map>

#include "gradus/core/detail/format.h"
#include "gradus/core/io/detail/array_bytes.h"
#include "gradus/core/io/detail/json_file.h"

namespace gradus::io {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kLargestIndex = 100'000'000;
constexpr std::size_t kMostShards = 500;  // all are open at once

struct Index {
  std::unordered_map<std::string, std::string> file_of;  // by tensor
  std::vector<std::string> files;                        // each once, by name
};

/// A file beside the index, and nothing else.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

Index read_index(const InputFile& file) {
  const json object = read_json_object(file, kLargestIndex);
  const auto map = object.find("weight_map");
  check(map != object.end() && map->is_object(), "{}: expects an object 'weight_map'{}", file.label(),
        map == object.end() ? std::string() : fmt::format(", got {}", kind_of(*map)));
  Index index;
  for (const auto& [tensor, name] : map->items()) {
    check(name.is_string(), "{}: weight_map: {}: expects the name of a file, got {}", file.label(),
          quote(tensor), kind_of(name));
    const auto& text = name.get_ref<const std::string&>();
    check(is_plain_name(text), "{}: weight_map: {}: expects the name of a file in the same folder, got {}",
          file.label(), quote(tensor), quote(text));
    index.file_of[tensor] = text;
    index.files.push_back(text);
  }
  std::sort(index.files.begin(), index.files.end());
  index.files.erase(std::unique(index.files.begin(), index.files.end()), index.files.end());
  return index;
}

void expect_files(const std::string& label, const fs::path& folder, const Index& index) {
  std::string missing;
  for (const std::string& name : index.files) {
    std::error_code ignored;
    if (!fs::exists(folder / name, ignored)) missing += (missing.empty() ? "" : ", ") + quote(name);
  }
  check(missing.empty(), "{}: names files that are not beside it: {}", label, missing);
}

std::uint64_t bytes_of(const Tensor& tensor) {
  return tensor.defined() ? io::bytes_of(tensor.shape(), tensor.dtype()).value() : 0;
}

/// For each tensor, which file it goes into: the next one where it does not fit.
std::vector<std::size_t> shards_of(const StateDict& tensors, std::uint64_t max_bytes) {
  std::vector<std::size_t> shards;
  std::uint64_t used = 0;
  std::size_t shard = 0;
  for (const auto& [name, tensor] : tensors) {
    if (used > 0 && bytes_of(tensor) > max_bytes - std::min(used, max_bytes)) ++shard, used = 0;
    used += bytes_of(tensor);
    shards.push_back(shard);
  }
  return shards;
}

/// "model-00001-of-00002.safetensors"
bool is_shard_name(const std::string& name) {
  constexpr std::string_view form = "model-#####-of-#####.safetensors";
  return name.size() == form.size() && std::equal(name.begin(), name.end(), form.begin(), [](char c, char f) {
           return f == '#' ? c >= '0' && c <= '9' : c == f;
         });
}

}  // namespace

StateDict load_shards(const std::string& path, Metadata* metadata,
                      StateDict (*load)(const std::string& path, Metadata* metadata)) {
  const InputFile file("load_safetensors", path);
  Index index = read_index(file);
  const fs::path folder = fs::path(path).parent_path();
  expect_files(file.label(), folder, index);
  StateDict tensors;
  Metadata notes;
  for (const std::string& name : index.files) {
    Metadata more;
    for (const auto& [tensor, values] : load((folder / name).string(), &more)) {
      const auto entry = index.file_of.find(tensor);
      check(entry == index.file_of.end() || entry->second == name,
            "{}: weight_map: {} stands in {}, but the map says {}", file.label(), quote(tensor), quote(name),
            entry == index.file_of.end() ? "" : quote(entry->second));
      check(!tensors.contains(tensor), "{}: tensor {} stands in {} and in another of its files", file.label(),
            quote(tensor), quote(name));
      tensors.set(tensor, values);
    }
    notes.merge(more);
  }
  for (const auto& [tensor, name] : std::map(index.file_of.begin(), index.file_of.end()))
    check(tensors.contains(tensor), "{}: weight_map: {} is not in {}", file.label(), quote(tensor),
          quote(name));
  if (metadata) *metadata = std::move(notes);
  return tensors;
}

WeightFiles::WeightFiles(const char* op, const std::string& folder, const StateDict& tensors,
                         const Metadata& metadata, std::uint64_t max_bytes)
    : op_(op), folder_(folder) {
  const std::vector<std::size_t> shard_of = shards_of(tensors, max_bytes);
  const std::size_t shards = shard_of.empty() ? 1 : shard_of.back() + 1;
  check(shards <= kMostShards, "{}: files of {} bytes would be {}, expects at most {}: allow larger ones", op,
        max_bytes, shards, kMostShards);
  for (std::size_t shard = 0; shard < shards; ++shard) {
    StateDict part;
    std::size_t at = 0;
    for (const auto& [name, tensor] : tensors)
      if (shard_of[at++] == shard) part.set(name, tensor);
    const std::string name = shards == 1 ? std::string(kWeightsFile)
                                         : fmt::format("model-{:05}-of-{:05}.safetensors", shard + 1, shards);
    AtomicFile& file = open(name);
    write_safetensors(file, fmt::format("{}: {}", op, printable((fs::path(folder) / name).string())), part,
                      metadata);
  }
  if (shards > 1) write_index(tensors, shard_of);
}

AtomicFile& WeightFiles::open(const std::string& name) {
  names_.push_back(name);
  return files_.emplace_back(op_, (fs::path(folder_) / name).string());
}

void WeightFiles::write_index(const StateDict& tensors, const std::vector<std::size_t>& shard_of) {
  std::uint64_t total = 0;
  json map = json::object();
  std::size_t at = 0;
  for (const auto& [name, tensor] : tensors) {
    total += bytes_of(tensor);
    map[name] = names_[shard_of[at++]];
  }
  const std::string text = json{{"metadata", {{"total_size", total}}}, {"weight_map", map}}.dump(2) + "\n";
  open(kIndexFile).write(text.data(), text.size());
}

void WeightFiles::commit() {
  for (AtomicFile& file : files_) file.commit();
  for (const std::string& name : names_in(op_, folder_)) {
    const bool weights = name == kWeightsFile || name == kIndexFile || is_shard_name(name);
    if (weights && std::find(names_.begin(), names_.end(), name) == names_.end())
      unlink((fs::path(folder_) / name).c_str());
  }
}

}  // namespace gradus::io
