#include "gradus/nn/pretrained/detail/folder.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <set>

#include "gradus/core/io/atomic_file.h"
#include "gradus/core/io/detail/input_file.h"
#include "gradus/core/io/detail/shards.h"
#include "gradus/core/io/printable.h"
#include "gradus/ops/ops.h"

namespace gradus::nn::pretrained {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNamed = 50;

/// "\n  missing: a, b", or "" for none.
std::string line(const char* what, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string text = fmt::format("\n  {}: ", what);
  for (std::size_t i = 0; i < items.size() && i < kMostNamed; ++i) text += (i ? ", " : "") + items[i];
  if (items.size() > kMostNamed) text += fmt::format(", ... ({} in all)", items.size());
  return text;
}

std::string file_of_weights(const char* caller, const std::string& folder) {
  std::error_code ignored;
  for (const char* const name : {io::kWeightsFile, io::kIndexFile})
    if (fs::exists(fs::path(folder) / name, ignored)) return (fs::path(folder) / name).string();
  fail_with(
      "{}: {}: has neither model.safetensors nor model.safetensors.index.json: convert weights in other "
      "formats first, in Python with safetensors.torch.save_file",
      caller, io::printable(folder));
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) return false;
  if (a.dtype() != b.dtype()) return same_bits(a.to(f64), b.to(f64));
  const Array x = a.array().contiguous(), y = b.array().contiguous();
  const auto bytes = static_cast<std::size_t>(x.numel()) * size_of(x.dtype());
  return bytes == 0 || std::memcmp(x.raw(), y.raw(), bytes) == 0;
}

/// "wpe.weight expects [9, 8], got [8, 8]", or "" if it fits.
std::string mismatch(const std::string& name, DType dtype, const Shape& shape, const Tensor& got) {
  const bool numbers = is_floating(dtype) && is_floating(got.dtype());
  if (got.shape() == shape && (numbers || got.dtype() == dtype)) return "";
  const auto type = [](DType one) { return is_floating(one) ? "" : fmt::format("{} ", one); };
  return fmt::format("{} expects {}{}, got {}{}", name, type(dtype), shape, type(got.dtype()), got.shape());
}

/// Assembles a parameter from a file's tensors.
Tensor assembled(const NameMap::Entry& entry, const std::vector<Tensor>& parts) {
  if (entry.transposed) return parts[0].t();
  if (entry.row) return parts[0].squeeze(0);
  return parts.size() == 1 ? parts[0] : cat(parts, 0);
}

}  // namespace

struct Reader::Problems {
  std::vector<std::string> missing, unexpected, mismatched;

  void expect_none(const std::string& label) const {
    const bool more = missing.empty() && mismatched.empty();
    check(more && unexpected.empty(), "{}: does not fit config.json:{}{}{}{}", label,
          line("missing", missing), line("unexpected", unexpected), line("of another shape", mismatched),
          more ? "\n  to ignore them, pass the beginnings of their names: {.leave_out = {\"classifier.\"}}"
               : "");
  }
};

Reader::Reader(const char* caller, const std::string& folder, const PretrainedOptions& given)
    : config(caller, folder) {
  const std::string path = file_of_weights(caller, folder);
  label_ = fmt::format("{}: {}", caller, io::printable(path));
  for (const std::string& start : given.leave_out)
    check(!start.empty(), "{}: leave_out has an empty name, which would leave out every tensor", caller);
  for (const auto& [name, values] : load_safetensors(path))
    if (std::none_of(given.leave_out.begin(), given.leave_out.end(),
                     [&name = name](const std::string& start) { return name.starts_with(start); }))
      weights_.set(name, values);
}

bool Reader::contains(const NameMap& names, const std::string& file) const {
  const std::string wanted = names.canonical(file);
  for (const auto& [name, values] : weights_)
    if (names.canonical(name) == wanted) return true;
  return false;
}

void Reader::expect_layers(const char* key, std::int64_t count, const std::string& prefix,
                           const std::string& layers) const {
  std::int64_t last = -1;
  std::string start;  // of the names in this file
  for (const auto& [name, values] : weights_)
    for (const std::string& begin : {prefix + layers, layers}) {
      if (!name.starts_with(begin)) continue;
      std::int64_t layer = -1;
      const char* const digits = name.data() + begin.size();
      const auto [end, error] = std::from_chars(digits, name.data() + name.size(), layer);
      if (error != std::errc() || *end != '.' || layer <= last) continue;
      last = layer;
      start = begin;
    }
  check(last >= 0, "{}: config.json says {} {}, but the weights have no {}0", label_, key, count,
        prefix + layers);
  check(last == count - 1, "{}: config.json says {} {}, but the weights have {}0 to {}{}", label_, key, count,
        start, start, last);
}

/// Fills tensors_.
void Reader::name_all(const NameMap& names) {
  tensors_.clear();
  for (const auto& [file, values] : weights_) {
    if (names.is_ignored(file)) continue;
    has_prefix_ = has_prefix_ || (!names.prefix().empty() && file.starts_with(names.prefix()));
    const auto [place, added] = tensors_.try_emplace(names.canonical(file), Given{file, values});
    check(added, "{}: {} and {} are two names of one tensor", label_, io::quote(place->second.name),
          io::quote(file));
  }
  weights_ = {};
}

/// The name in this file of a name in the map.
std::string Reader::as_in_file(const NameMap& names, const std::string& name) const {
  return has_prefix_ || !name.starts_with(names.prefix()) ? name : name.substr(names.prefix().size());
}

void Reader::expect_copies(const NameMap& names) const {
  for (const auto& [copy, original, flag] : names.copies()) {
    const auto a = tensors_.find(names.canonical(copy)), b = tensors_.find(names.canonical(original));
    if (a == tensors_.end() || b == tensors_.end()) continue;
    check(same_bits(a->second.values, b->second.values),
          "{}: {} and {} have different values, but config.json makes them one tensor{}", label_,
          io::quote(a->second.name), io::quote(b->second.name),
          *flag ? fmt::format(": for two, it needs \"{}\": false", flag) : "");
  }
}

void Reader::check_sizes(const NameMap& names) {
  name_all(names);
  expect_copies(names);
  for (const auto& [copy, original, flag] : names.copies())
    if (tensors_.contains(names.canonical(original)))
      tensors_.erase(names.canonical(copy));
    else if (auto moved = tensors_.extract(names.canonical(copy))) {  // only the copy was saved
      moved.key() = names.canonical(original);
      tensors_.insert(std::move(moved));
    }
  Problems problems;
  std::set<std::string> expected;
  for (const NameMap::Entry& entry : names.entries())
    for (const FileTensor& part : entry.files) {
      const auto given = tensors_.find(names.canonical(part.name));
      expected.insert(names.canonical(part.name));
      if (given == tensors_.end()) {
        if (!entry.where_present) problems.missing.push_back(as_in_file(names, part.name));
      } else if (const std::string problem =
                     mismatch(given->second.name, f32, part.shape, given->second.values);
                 !problem.empty()) {
        problems.mismatched.push_back(problem);
      }
    }
  if (problems.missing.empty() && problems.mismatched.empty()) return;
  for (const auto& [name, given] : tensors_)
    if (!expected.contains(name)) problems.unexpected.push_back(io::printable(given.name));
  problems.expect_none(label_);
}

void Reader::load_into(const Module& model, const NameMap& names) {
  const StateDict own = model.state_dict();
  Problems problems;
  StateDict state;
  std::set<std::string> mapped;
  const auto take = [&](const NameMap::Entry& entry) {
    std::vector<Tensor> parts;
    for (const FileTensor& part : entry.files) {
      const auto given = tensors_.find(names.canonical(part.name));
      if (given == tensors_.end()) return problems.missing.push_back(as_in_file(names, part.name));
      parts.push_back(given->second.values);
      tensors_.erase(given);
    }
    state.set(entry.name, assembled(entry, parts));
  };
  for (const NameMap::Entry& entry : names.entries())
    if (own.contains(entry.name)) {
      mapped.insert(entry.name);
      take(entry);
    }
  for (const auto& [name, values] : own) {  // other parameters keep their own names
    if (mapped.contains(name)) continue;
    const auto given = tensors_.find(names.canonical(name));
    if (given == tensors_.end()) {
      problems.missing.push_back(name);
      continue;
    }
    if (const std::string problem = mismatch(name, values.dtype(), values.shape(), given->second.values);
        !problem.empty())
      problems.mismatched.push_back(problem);
    state.set(name, given->second.values);
    tensors_.erase(given);
  }
  for (const auto& [name, given] : tensors_) problems.unexpected.push_back(io::printable(given.name));
  problems.expect_none(label_);
  model.load_state_dict(state);
}

static StateDict tensors_to_save(const Module& model, const NameMap& names) {
  StateDict own = model.state_dict(), saved;
  for (const NameMap::Entry& entry : names.entries()) {
    const Tensor* const values = own.find(entry.name);
    if (!values) continue;
    std::int64_t begin = 0;
    for (const FileTensor& part : entry.files) {
      if (entry.transposed) {
        saved.set(part.name, values->t());
      } else if (entry.row) {
        saved.set(part.name, values->unsqueeze(0));
      } else {
        saved.set(part.name,
                  entry.files.size() == 1 ? *values : values->slice(0, begin, begin + part.shape[0]));
        begin += part.shape[0];
      }
      check(saved.at(part.name).shape() == part.shape, "save_pretrained: {} has the shape {}, expects {}",
            part.name, saved.at(part.name).shape(), part.shape);
    }
    own.set(entry.name, Tensor());
  }
  for (const auto& [name, values] : own)
    if (values.defined()) saved.set(name, values);
  return saved;
}

void save(const char* caller, const std::string& folder, const Module& model, const NameMap& names,
          const Json& config, const SavePretrainedOptions& options) {
  check(options.max_shard_bytes > 0, "{}: expects max_shard_bytes of 1 or more, got 0", caller);
  io::make_folder(caller, folder);
  const std::string path = (fs::path(folder) / "config.json").string(), text = config.dump(2) + "\n";
  io::WeightFiles weights(caller, folder, tensors_to_save(model, names), {{"format", "pt"}},
                          options.max_shard_bytes);
  io::AtomicFile file(caller, path);
  file.write(text.data(), text.size());
  std::error_code none;
  const fs::path old = fs::canonical(path, none);  // resolves a link, which must not be removed
  if (!none) {
    const std::string label = fmt::format("{}: {}", caller, io::printable(path));
    check(unlink(old.c_str()) == 0, "{}: cannot replace it: {}", label, std::strerror(errno));
    // After a loss of power no config.json may stand next to weights that came after it.
    io::flush_folder(label, old.parent_path().string());
  }
  weights.commit();
  file.commit();
}

}  // namespace gradus::nn::pretrained
