#include "char_gpt/model_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <sstream>
#include <utility>

#include "gradus/core/io/printable.h"
#include "gradus/gradus.h"
#include "gradus/kit/program/language_model.h"

namespace gradus::char_gpt {

namespace {

/// A model file as read.
struct File {
  std::string path;
  StateDict weights;
  Metadata notes;

  template <class... Args>
  void require(bool condition, fmt::format_string<Args...> text, Args&&... args) const {
    if (!condition)
      fail_input_with("{}: {}", io::printable(path), fmt::format(text, std::forward<Args>(args)...));
  }
  const std::string& note(const std::string& key) const {
    const auto found = notes.find(key);
    require(found != notes.end(), "has no note '{}': it was not written by char_gpt", key);
    return found->second;
  }
  /// An integer, to be checked against the weights: metadata alone never decides how much is allocated.
  std::int64_t size(const std::string& key, std::int64_t in_weights) const {
    const std::int64_t value = number(key, note(key));
    require(value == in_weights, "note '{}' is {}, but the weights have {}", key, value, in_weights);
    return value;
  }
  std::int64_t number(const std::string& key, const std::string& text) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    require(error == std::errc() && end == text.data() + text.size() && value >= 0,
            "note '{}' expects whole numbers, got {}", key, io::quote(text));
    return value;
  }
  /// The shape of a matrix; both dimensions at least 1.
  Shape matrix(const std::string& name) const {
    const Tensor* const weight = weights.find(name);
    require(weight != nullptr, "has no '{}': it was not written by char_gpt", name);
    require(weight->dim() == 2 && weight->numel() > 0, "'{}' is not a matrix but {}", name,
            to_string(weight->shape()));
    return weight->shape();
  }
  std::int64_t numbers() const {
    std::int64_t all = 0;
    for (const auto& [name, weight] : weights) all += weight.numel();
    return all;
  }
};

// Characters are stored as code points, "10,32,33": metadata must be valid UTF-8; a text need not be.
std::string code_point_list(const kit::Vocabulary& vocabulary) {
  return fmt::format("{}", fmt::join(std::vector<std::uint32_t>(vocabulary.characters().begin(),
                                                                vocabulary.characters().end()),
                                     ","));
}

kit::Vocabulary read_vocabulary(const File& file) {
  const std::string& text = file.note("characters");
  std::u32string characters;
  std::istringstream list(text);
  for (std::string item; std::getline(list, item, ',');) {
    const std::int64_t number = file.number("characters", item);
    const bool surrogate = number >= 0xD800 && number <= 0xDFFF, byte = number >= 0xDC80 && number <= 0xDCFF;
    file.require(number <= 0x10FFFF && (!surrogate || byte), "note 'characters' expects code points, got {}",
                 number);
    characters.push_back(static_cast<char32_t>(number));
  }
  kit::Vocabulary vocabulary(characters);
  // The vocabulary is sorted: another order or a repeated character would change the ids.
  file.require(code_point_list(vocabulary) == text,
               "note 'characters' expects rising numbers such as 10,32,97, got {}", io::quote(text));
  return vocabulary;
}

/// The options of the model with these weights.
Options read_options(const File& file, std::int64_t vocabulary) {
  Options o;
  o.placement = file.note("placement");
  file.require(kit::is_placement(o.placement), "note 'placement' expects a name of --placement list, got {}",
               io::quote(o.placement));
  if (const auto norm = file.notes.find("norm"); norm != file.notes.end())
    o.norm = norm->second;  // else layer
  file.require(kit::is_norm(o.norm), "note 'norm' expects a name of --norm list, got {}", io::quote(o.norm));
  const Shape tokens = file.matrix("token_embedding.weight");
  file.require(tokens[0] == vocabulary, "note 'characters' has {}, but the weights have {}", vocabulary,
               tokens[0]);
  o.d_model = file.size("d_model", tokens[1]);
  o.context = file.size("context", file.matrix("position_embedding.weight")[0]);
  std::int64_t layers = 0;
  while (file.weights.contains(fmt::format("layers.{}.linear1.weight", layers))) ++layers;
  o.layers = file.size("layers", layers);
  file.require(layers > 0, "has no layers");
  o.heads = file.number("heads", file.note("heads"));
  file.require(o.heads >= 1 && o.d_model % o.heads == 0,
               "note 'heads' is {}, which does not divide d_model {}", o.heads, o.d_model);
  // A model no larger than its file: besides its norms a block has 12 d^2 parameters (no biases).
  const auto d = static_cast<double>(o.d_model);
  const double least =
      static_cast<double>(vocabulary + o.context) * d + static_cast<double>(layers) * 12 * d * d;
  file.require(static_cast<double>(file.numbers()) >= least,
               "the weights have {} numbers, such a model has {:.0f} or more", file.numbers(), least);
  return o;
}

/// The name in nn::norms() of the blocks' norm.
std::string norm_name(const nn::GPT& model) {
  const std::string kind = model.options().block.new_norm().kind();
  for (const nn::NamedNorm& norm : nn::norms())
    if (norm.kind == kind) return norm.name;
  throw Error(fmt::format("save_model: the norm {} is none of --norm list", kind));
}

}  // namespace

void save_model(const std::filesystem::path& file, const nn::GPT& model, const kit::Vocabulary& vocabulary) {
  const nn::GPTOptions& o = model.options();
  save_safetensors(file.string(), model.state_dict(),
                   {{"format", "pt"},
                    {"characters", code_point_list(vocabulary)},
                    {"placement", o.placement.name},
                    {"norm", norm_name(model)},
                    {"layers", std::to_string(o.layers)},
                    {"heads", std::to_string(o.block.heads)},
                    {"d_model", std::to_string(o.block.d_model)},
                    {"context", std::to_string(o.context)}});
}

std::filesystem::path free_name(const std::filesystem::path& name) {
  std::filesystem::path free = name;
  for (int number = 2; std::filesystem::exists(std::filesystem::symlink_status(free)); ++number)
    free =
        name.parent_path() / fmt::format("{}-{}{}", name.stem().string(), number, name.extension().string());
  return free;
}

std::filesystem::path save_beside(const std::filesystem::path& name, const nn::GPT& model,
                                  const kit::Vocabulary& vocabulary) {
  std::filesystem::path file;
  int taken = -1;
  do {
    file = free_name(name);
    taken = ::open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  } while (taken < 0 && errno == EEXIST);
  if (taken >= 0) ::close(taken);
  try {
    save_model(file, model, vocabulary);  // reports the cause if there is no file
  } catch (...) {
    if (taken >= 0) ::unlink(file.c_str());
    throw;
  }
  return file;
}

LoadedModel load_model(const std::filesystem::path& path, const Options& training) {
  File file{.path = path.string(), .weights = {}, .notes = {}};
  file.weights = load_safetensors(path.string(), &file.notes);
  kit::Vocabulary vocabulary = read_vocabulary(file);
  Options o = read_options(file, vocabulary.size());
  o.dropout = training.dropout;
  o.checkpoint = training.checkpoint;
  LoadedModel loaded{nn::GPT(o.model(vocabulary.size())), std::move(vocabulary)};
  try {
    loaded.model.load_state_dict(file.weights);
  } catch (const Error& error) {
    file.require(false, "{}", error.what());
  }
  return loaded;
}

}  // namespace gradus::char_gpt
