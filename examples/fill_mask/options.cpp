#include "fill_mask/options.h"

#include <fmt/format.h>

#include <cmath>

#include "gradus/kit/program/command_line.h"
#include "gradus/kit/program/language_model.h"
#include "gradus/kit/program/program.h"
#include "gradus/nn/norm/norms.h"
#include "gradus/nn/placements/placements.h"

namespace gradus::fill_mask {

namespace {

std::optional<int> refused(std::string_view why) {
  kit::print_error(fmt::format("fill_mask: {}\n", why));
  return 2;
}

/// Conflicting options.
std::optional<int> check_together(const kit::CommandLine& line, const Options& o) {
  if (o.text.empty() && o.load.empty())
    return refused("expects --text FILE to train on, or --load FOLDER with a trained model");
  if (o.text.empty() && o.resume) return refused("--resume expects the --text FILE of the training");
  if (o.load.empty()) return std::nullopt;
  if (!o.text.empty()) return refused("expects --text FILE or --load FOLDER, not both");
  const std::string model =
      line.first_given({"--placement", "--norm", "--layers", "--heads", "--d-model", "--context", "--vocab"});
  if (!model.empty()) return refused(fmt::format("{} is determined by the folder of --load", model));
  const std::string training = line.first_given({"--save", "--steps", "--batch", "--lr", "--warmup",
                                                 "--weight-decay", "--clip", "--dropout", "--masked"});
  if (!training.empty()) return refused(fmt::format("{} is for training: expects --text FILE", training));
  return std::nullopt;
}

}  // namespace

nn::BertOptions Options::model(std::int64_t tokens) const {
  return {
      .vocab = tokens,
      .context = context,
      .layers = layers,
      .placement = nn::placement_named(placement),
      .block = {.d_model = d_model, .heads = heads, .dropout = dropout, .norm = nn::norm_named(norm).make},
      .init_std = 1 / std::sqrt(static_cast<double>(d_model)),
      .pooler = false,
      .nsp_head = false};
}

std::optional<int> parse(int argc, char** argv, Options& o) {
  kit::CommandLine line("fill_mask",
                        "Trains a small BERT on any text file, then fills the [MASK]s of a sentence.");
  line.path("--text", o.text, "Text file to train on");
  line.path("--load", o.load, "Folder with a model and its vocabulary, as written by --save: only fills");
  line.path("--save", o.save, "Folder for the model, its vocabulary and the training's checkpoints");
  line.flag("--resume", o.resume, "Continue from the last checkpoint in --save, with the same other options");
  std::string prompt;
  line.text("--prompt", prompt,
            "Sentence with one or more [MASK]; with --load and without it: lines of stdin");
  line.integer("--top", o.top, "Guesses shown for each mask", {1, 1000});
  line.integer("--steps", o.steps, "Training steps", {1, 1'000'000'000});
  line.integer("--seed", o.seed, "Seed of weights, masks and batches", kit::at_least(0));
  line.text("--placement", o.placement, "Placement of the norms in a block; list: shows all");
  line.text("--norm", o.norm, "Norm of the blocks: layer, rms, ...; list: shows all");
  line.integer("--vocab", o.vocab, "Largest number of tokens in the vocabulary", {100, 1'000'000});
  line.integer("--layers", o.layers, "Blocks", {1, 1000});
  line.integer("--heads", o.heads, "Attention heads", {1, 1000});
  line.integer("--d-model", o.d_model, "Channels", {1, 100'000});
  line.integer("--context", o.context, "Tokens that the model sees, including [CLS] and [SEP]",
               {4, 1'000'000});
  line.integer("--batch", o.batch, "Windows per step", {1, 1'000'000});
  line.real("--lr", o.lr, "Learning rate after warm-up; falls to 0 as a cosine", kit::above(0));
  line.integer("--warmup", o.warmup, "Warm-up steps", {0, 1'000'000'000});
  line.real("--weight-decay", o.weight_decay, "Of matrices and embeddings", kit::between(0, 1));
  line.real("--clip", o.clip, "Largest norm of the gradients", kit::above(0));
  line.real("--dropout", o.dropout, "Share of activations dropped in training", kit::between(0, 0.99));
  line.real("--masked", o.masked, "Share of tokens to be guessed", {0, 1, /*low_excluded=*/true});
  line.integer("--threads", o.threads, "Threads; default: all cores", {1, 1024});
  line.footer(
      std::string("./run example fill_mask --text shakespeare.txt\n"
                  "./run example fill_mask --load fill_mask_model --prompt \"the [MASK] is dark\"\n\n") +
      kit::exit_statuses);
  if (const auto status = line.parse(argc, argv)) return status;
  if (line.given("--prompt")) o.prompt = prompt;
  if (o.placement == "list" || o.norm == "list") {
    kit::print(o.norm == "list" ? nn::list_norms() : nn::list_placements());
    return 0;
  }
  if (const std::string why = kit::wrong_block_names(o.placement, o.norm); !why.empty()) return refused(why);
  if (o.d_model % o.heads != 0)
    return refused(fmt::format("--d-model {} is not divisible by --heads {}", o.d_model, o.heads));
  return check_together(line, o);
}

}  // namespace gradus::fill_mask
