#include "translate/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "gradus/kit/data/files.h"
#include "gradus/kit/program/command_line.h"
#include "gradus/kit/program/language_model.h"
#include "gradus/kit/program/program.h"
#include "gradus/nn/norm/norms.h"
#include "gradus/nn/placements/placements.h"

namespace gradus::translate {

namespace {

void add_files(kit::CommandLine& line, Options& o) {
  line.path("--source", o.train.source, "Text to train on, one sentence per line, plain or gzip");
  line.path("--target", o.train.target, "Its translation, line by line");
  line.path("--val-source", o.validation.source, "Text to validate with; default: a part of --source");
  line.path("--val-target", o.validation.target, "Its translation");
  line.path("--test-source", o.test.source, "Text to measure BLEU with, after training or with --load");
  line.path("--test-target", o.test.target, "Its translation");
  line.path("--save", o.save, "Folder for the trained model");
  line.path("--load", o.load,
            "Folder of a trained model: translates lines from stdin, or the texts given below");
  line.path("--run", o.run, "Folder for checkpoints and the log of a training");
  line.flag("--resume", o.resume, "Continue from the last checkpoint of --run, with the same other options");
}

void add_model(kit::CommandLine& line, Options& o) {
  line.text("--placement", o.placement, "Placement of the norms in a block; list: shows all");
  line.text("--norm", o.norm, "Norm of the blocks: layer, rms, ...; list: shows all");
  line.integer("--layers", o.layers, "Blocks of the encoder, and of the decoder", {1, 1000});
  line.integer("--d-model", o.d_model, "Channels", {1, 100'000});
  line.integer("--heads", o.heads, "Attention heads", {1, 1000});
  line.integer("--d-ff", o.d_ff, "Hidden channels of the feed-forward branch", {1, 1'000'000});
  line.real("--dropout", o.dropout, "Share of activations dropped in training", kit::between(0, 0.99));
  line.integer("--vocab", o.vocab, "Tokens of the vocabulary that both languages share", {260, 1'000'000});
}

void add_training(kit::CommandLine& line, Options& o, std::int64_t& warmup) {
  line.integer("--steps", o.steps, "Training steps", {1, 1'000'000'000});
  line.real("--time", o.minutes, "Longest training in minutes; 0: no limit", kit::between(0, 1e6));
  line.integer("--tokens", o.tokens, "Largest batch: its longest text times its pairs", {1, 10'000'000});
  line.integer("--longest", o.longest, "Longer texts, in tokens, are not used for training", {1, 100'000});
  line.real("--lr", o.lr, "Highest learning rate, after warm-up; then it falls as 1 / sqrt(step)",
            kit::above(0));
  line.integer("--warmup", warmup,
               "Warm-up steps; default: a quarter of --steps, at most 2000 and 60 per minute of --time",
               {0, 1'000'000'000});
  line.real("--smoothing", o.smoothing, "Label smoothing", kit::between(0, 1));
  line.integer("--average", o.average, "The model is the mean of this many last snapshots", {1, 1000});
  line.integer("--average-every", o.average_every, "Steps between two snapshots", {1, 1'000'000'000});
  line.integer("--evaluate-every", o.evaluate_every, "Steps between two validations", {1, 1'000'000'000});
  line.integer("--seed", o.seed, "Seed of weights and batches", kit::at_least(0));
  line.integer("--threads", o.threads, "Threads; default: all cores", {1, 1024});
  line.integer("--shards", o.shards,
               "Parts of a batch, for mpirun: 1, 2, 4, 8, ..., at least the ranks; the result depends on it",
               {0, 1 << 20});
}

void add_translating(kit::CommandLine& line, Options& o, std::string& text) {
  line.text("--translate", text, "Text to translate");
  line.integer("--beams", o.search.beams, "Beams of the search; 1: greedy", {1, 1000});
  line.real("--length-penalty", o.search.length_penalty, "Above 0: longer translations", kit::between(0, 10));
  line.path("--attention", o.attention,
            "Picture of the attention for --translate: FILE.svg, or FILE.html with each head");
  line.integer("--layer", o.layer, "Decoder layer in that picture, from 1; 0: the last", {0, 1000});
}

/// Conflicting options; empty: none.
std::string contradiction(const kit::CommandLine& line, const Options& o) {
  if (const std::string why = kit::wrong_block_names(o.placement, o.norm); !why.empty()) return why;
  if (!nn::placement_named(o.placement).decoder_block)
    return fmt::format("--placement: {} is not for decoders with memory, which translate needs", o.placement);
  for (const Files& files : {o.train, o.validation, o.test})
    if (files.source.empty() != files.target.empty())
      return fmt::format("{} expects {} FILE too",
                         files.source.empty() ? files.target_option() : files.source_option(),
                         files.source.empty() ? files.source_option() : files.target_option());
  if (!o.train.given() && o.load.empty())
    return "expects --source FILE and --target FILE to train on, or --load FOLDER to translate";
  if (o.train.given() && !o.load.empty())
    return "--load is for translating, --source and --target for training";
  if (o.resume && (!o.train.given() || o.run.empty()))
    return "--resume expects the --source, --target and --run FOLDER of the training";
  if (!o.load.empty())
    if (const std::string model = line.first_given(
            {"--placement", "--norm", "--layers", "--heads", "--d-model", "--d-ff", "--vocab"});
        !model.empty())
      return fmt::format("{} is determined by the folder of --load", model);
  if (!o.train.given())
    if (const std::string training =
            line.first_given({"--save", "--run", "--val-source", "--steps", "--time", "--tokens", "--longest",
                              "--lr", "--warmup", "--smoothing", "--dropout", "--average", "--average-every",
                              "--evaluate-every", "--shards"});
        !training.empty())
      return fmt::format("{} is for training: expects --source FILE and --target FILE", training);
  if (o.d_model % o.heads != 0)
    return fmt::format("--heads {} does not divide --d-model {}", o.heads, o.d_model);
  if (o.longest >= o.tokens)
    return fmt::format("--tokens {} has no room for --longest {}", o.tokens, o.longest);
  if (o.train.given() && !o.run.empty() && kit::same_file(o.run, o.save))
    return "--run and --save are one folder";
  if (o.train.given() && !o.run.empty() && kit::is_within(o.save, o.run))
    return "--save is in the folder of --run, which is for checkpoints: name another place";
  if (!o.attention.empty() && !o.translate) return "--attention expects --translate TEXT";
  if (line.given("--layer") && o.attention.empty()) return "--layer expects --attention FILE";
  const auto ending = o.attention.extension();
  if (!o.attention.empty() && ending != ".svg" && ending != ".html")
    return fmt::format("--attention expects a name that ends in .svg or .html, got {}", o.attention.string());
  return "";
}

}  // namespace

std::int64_t Options::warmup_steps() const {
  if (warmup) return *warmup;
  const std::int64_t most = std::min<std::int64_t>(2000, steps / 4);
  if (minutes == 0 || 60 * minutes >= static_cast<double>(most)) return most;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(60 * minutes));
}

nn::Seq2SeqOptions Options::model(std::int64_t vocabulary) const {
  return {.vocab = vocabulary,
          .context = std::max<std::int64_t>(512, longest + 1),
          .encoder_layers = layers,
          .decoder_layers = layers,
          .placement = nn::placement_named(placement),
          .block = {.d_model = d_model,
                    .heads = heads,
                    .d_ff = d_ff,
                    .dropout = dropout,
                    .norm = nn::norm_named(norm).make},
          .pad = kPad,
          .start = kStart,
          .end = kEnd};
}

std::optional<int> parse(int argc, char** argv, Options& o) {
  kit::CommandLine line("translate", "Trains a Transformer that translates, from two files of sentences.");
  add_files(line, o);
  add_model(line, o);
  std::int64_t warmup = -1;
  add_training(line, o, warmup);
  std::string text;
  add_translating(line, o, text);
  line.footer(std::string("./run example translate --source train.de.gz --target train.en.gz --save de-en\n"
                          "./run example translate --source train.de.gz --target train.en.gz --save try "
                          "--layers 2 --steps 300\n"
                          "./run example translate --load de-en --translate 'Ein Hund läuft.'\n\n") +
              kit::exit_statuses);
  if (const auto status = line.parse(argc, argv)) return status;
  if (line.given("--warmup")) o.warmup = warmup;
  if (line.given("--translate")) o.translate = text;
  if (o.placement == "list" || o.norm == "list") {
    kit::print(o.norm == "list" ? nn::list_norms() : nn::list_placements());
    return 0;
  }
  if (const std::string why = contradiction(line, o); !why.empty()) {
    kit::print_error(fmt::format("translate: {}\n", why));
    return 2;
  }
  return std::nullopt;
}

}  // namespace gradus::translate
