#include "translate/attention.h"

#include <fmt/format.h>

#include "gradus/gradus.h"
#include "gradus/kit/chart/plot.h"
#include "gradus/kit/report/html_report.h"
#include "gradus/text/utf8_stream.h"

namespace gradus::translate {

namespace {

/// A token as a label: without the space before it; pieces within a word begin with a dot.
std::string label_of(const text::Tokenizer& tokenizer, std::int64_t id) {
  if (id == tokenizer.special().eos) return "(end)";
  const std::string bytes = tokenizer.bytes(id);
  text::Utf8Stream stream;
  std::string label = stream.push(bytes);
  label += stream.flush();
  const std::size_t first = label.find_first_not_of(' ');
  if (first == std::string::npos) return "(space)";
  return first > 0 ? label.substr(first) : "\u00b7" + label;
}

std::vector<std::string> labels_of(const text::Tokenizer& tokenizer, const text::Ids& ids) {
  std::vector<std::string> labels;
  for (const std::int64_t id : ids) labels.push_back(label_of(tokenizer, id));
  if (labels[0].starts_with("\u00b7")) labels[0] = labels[0].substr(2);  // a text begins with a word
  return labels;
}

}  // namespace

CrossAttention cross_attention(const Translator& translator, const std::string& text, const Search& search) {
  const NoGrad no_grad;
  const nn::EvalMode eval(translator.model);
  const text::Ids source = tokens_of(*translator.tokenizer, text);
  text::Ids target = search_one(translator, text, search);
  target.push_back(translator.model.options().end);
  const nn::EncoderOutput encoded = translator.model.encode(from_vector(source).unsqueeze(0));
  const nn::AttentionMaps maps;
  translator.model.decode(translator.model.shifted(from_vector(target).unsqueeze(0)), encoded);
  std::vector<Tensor> layers;
  for (const nn::AttentionMaps::Map& map : maps.all())
    if (map.layer.ends_with("multihead_attn")) layers.push_back(map.weights[0]);
  return {labels_of(*translator.tokenizer, source), labels_of(*translator.tokenizer, target), stack(layers)};
}

kit::HeatMap heat_map_of(const CrossAttention& attention, const Tensor& weights, const std::string& title) {
  return kit::heat_map(weights, {.title = title,
                                 .x_label = "source",
                                 .y_label = "translation",
                                 .columns = attention.source,
                                 .rows = attention.target,
                                 .value_label = "share of attention",
                                 .decimals = 2});
}

std::int64_t layer_of(const Translator& translator, std::int64_t layer) {
  const std::int64_t layers = translator.model.options().decoder_layers;
  if (layer > layers) fail_input_with("--layer {}: the decoder has {}", layer, layers);
  return layer == 0 ? layers : layer;
}

void draw_attention(const Translator& translator, const std::string& text, const Search& search,
                    std::int64_t layer, const std::filesystem::path& file) {
  layer = layer_of(translator, layer);
  const CrossAttention attention = cross_attention(translator, text, search);
  const Tensor heads = attention.weights[layer - 1];  // [heads, target, source]
  const kit::HeatMap mean =
      heat_map_of(attention, heads.mean(0), fmt::format("Layer {}, mean of its heads", layer));
  if (file.extension() == ".svg") return mean.save(file.string());
  kit::HtmlReport page(text, "The parts of the source that the decoder attended to as it wrote each token.");
  page.figure(mean, "The mean of all heads.");
  for (std::int64_t head = 0; head < heads.size(0); ++head)
    page.figure(heat_map_of(attention, heads[head], fmt::format("Layer {}, head {}", layer, head + 1)),
                "Each row adds up to 1.");
  page.save(file);
}

}  // namespace gradus::translate
