#pragma once
// Pictures of a decoder's attention over the source as it wrote a translation.

#include <filesystem>
#include <string>

#include "gradus/kit/chart/chart.h"
#include "translate/translator.h"

namespace gradus::translate {

/// The attention of one translation over its source.
struct CrossAttention {
  std::vector<std::string> source, target;  // tokens as read, "(end)" for the end token
  Tensor weights;                           // [layers, heads, target, source]: each row adds up to 1
};

CrossAttention cross_attention(const Translator& translator, const std::string& text, const Search& search);

/// Rows are the translation's tokens, columns the source's; weights [target, source].
kit::HeatMap heat_map_of(const CrossAttention& attention, const Tensor& weights, const std::string& title);

/// The number of a layer from 1, where 0 is the last; throws if the model has no such layer.
std::int64_t layer_of(const Translator& translator, std::int64_t layer);

/// Draws a layer: the mean of its heads into FILE.svg; or a page with each of them, FILE.html.
void draw_attention(const Translator& translator, const std::string& text, const Search& search,
                    std::int64_t layer, const std::filesystem::path& file);

}  // namespace gradus::translate
