#include "char_gpt/model_file.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "gradus/gradus.h"

namespace gradus::char_gpt {

namespace {

std::string note(const Metadata& notes, const std::string& key, const std::filesystem::path& file) {
  const auto found = notes.find(key);
  if (found == notes.end())
    throw Error(
        fmt::format("char_gpt: {} has no note '{}': it was not written by char_gpt", file.string(), key));
  return found->second;
}

std::int64_t number(const std::string& text, const std::string& key, const std::filesystem::path& file) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    throw Error(
        fmt::format("char_gpt: {}: note '{}' expects whole numbers, got '{}'", file.string(), key, text));
  return value;
}

// Characters travel as code points, "10,32,33": a note must be valid UTF-8, which a text need not be.
std::string code_point_list(const kit::Vocabulary& vocabulary) {
  return fmt::format("{}", fmt::join(std::vector<std::uint32_t>(vocabulary.characters().begin(),
                                                                vocabulary.characters().end()),
                                     ","));
}

kit::Vocabulary read_vocabulary(const Metadata& notes, const std::filesystem::path& file) {
  std::u32string characters;
  std::istringstream list(note(notes, "characters", file));
  for (std::string item; std::getline(list, item, ',');)
    characters.push_back(static_cast<char32_t>(number(item, "characters", file)));
  return kit::Vocabulary(characters);
}

}  // namespace

void save_model(const std::filesystem::path& file, const nn::GPT& model, const kit::Vocabulary& vocabulary) {
  const nn::GPTOptions& o = model.options();
  save_safetensors(file.string(), model.state_dict(),
                   {{"format", "pt"},
                    {"characters", code_point_list(vocabulary)},
                    {"placement", o.placement == nn::Placement::pre ? "pre" : "post"},
                    {"layers", std::to_string(o.layers)},
                    {"heads", std::to_string(o.heads)},
                    {"d_model", std::to_string(o.d_model)},
                    {"context", std::to_string(o.context)}});
}

LoadedModel load_model(const std::filesystem::path& file) {
  Metadata notes;
  const StateDict weights = load_safetensors(file.string(), &notes);
  Options o;
  o.placement = note(notes, "placement", file);
  const auto size = [&](const char* key) { return number(note(notes, key, file), key, file); };
  o.layers = size("layers");
  o.heads = size("heads");
  o.d_model = size("d_model");
  o.context = size("context");

  kit::Vocabulary vocabulary = read_vocabulary(notes, file);
  LoadedModel loaded{nn::GPT(o.model(vocabulary.size())), std::move(vocabulary)};
  loaded.model.load_state_dict(weights);
  return loaded;
}

}  // namespace gradus::char_gpt
