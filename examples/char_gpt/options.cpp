#include "char_gpt/options.h"

#include <fmt/format.h>

#include "char_gpt/model_file.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/program/command_line.h"
#include "gradus/kit/program/language_model.h"
#include "gradus/kit/program/program.h"
#include "gradus/nn/norm/norms.h"
#include "gradus/nn/placements/placements.h"

namespace gradus::char_gpt {

nn::GPTOptions Options::model(std::int64_t vocab) const {
  return {.vocab = vocab,
          .context = context,
          .layers = layers,
          .placement = nn::placement_named(placement),
          .block = {.d_model = d_model,
                    .heads = heads,
                    .activation = nn::Activation::gelu,
                    .dropout = dropout,
                    .bias = false,
                    .norm = nn::norm_named(norm).make},
          .checkpoint = checkpoint};
}

std::optional<int> parse(int argc, char** argv, Options& o) {
  kit::CommandLine line("char_gpt", "Trains a character-level GPT on any text file, then writes like it.");
  line.path("--text", o.text, "Text file to train on");
  line.integer("--steps", o.steps, "Training steps; 0 only evaluates and samples", {0, 1'000'000'000});
  line.integer("--seed", o.seed, "Seed of weights, batches and sample", kit::at_least(0));
  line.text("--placement", o.placement, "Placement of the norms in a block; list: shows all");
  line.text("--norm", o.norm, "Norm of the blocks: layer, rms, ...; list: shows all");
  line.path(
      "--save", o.save,
      "Weights are written here after training; by default a name that is free: char_gpt-2.safetensors, ...");
  line.path("--load", o.load,
            "Start from saved weights, whose file determines the model's shape; without --text: only sample");
  line.path("--run", o.run,
            "Folder for checkpoints and the losses of steps; kept even if the program is killed");
  line.flag("--resume", o.resume, "Continue from the last checkpoint of --run, with the same other options");
  line.text("--prompt", o.prompt, "Text that the sample continues");
  line.integer("--sample", o.sample, "Characters to write", {0, 1'000'000'000});
  line.real("--temperature", o.temperature, "Below 1: more likely characters", kit::above(0));
  line.integer("--top-k", o.top_k, "Sample only from the k likeliest characters; 0: from all",
               kit::at_least(0));
  line.real("--top-p", o.top_p, "Sample from the likeliest that add up to this probability",
            {0, 1, /*low_excluded=*/true});
  line.real("--repetition-penalty", o.repetition_penalty,
            "Above 1: characters already in the text are less likely", {1e-6, 1e6});
  line.integer("--layers", o.layers, "Blocks", {1, 1000});
  line.integer("--heads", o.heads, "Attention heads", {1, 1000});
  line.integer("--d-model", o.d_model, "Channels", {1, 100'000});
  line.integer("--context", o.context, "Characters that the model sees", {1, 1'000'000});
  line.integer("--batch", o.batch, "Windows per step", {1, 1'000'000});
  line.real("--lr", o.lr, "Learning rate after warm-up; falls to a tenth as a cosine", kit::above(0));
  line.integer("--warmup", o.warmup, "Warm-up steps", {0, 1'000'000'000});
  line.real("--weight-decay", o.weight_decay, "Of matrices and embeddings", kit::between(0, 1));
  line.real("--clip", o.clip, "Largest norm of the gradients", kit::above(0));
  line.real("--dropout", o.dropout, "Share of activations dropped in training", kit::between(0, 0.99));
  line.integer("--threads", o.threads, "Threads; default: all cores", {1, 1024});
  line.integer("--shards", o.shards,
               "Parts of a batch, for mpirun: 1, 2, 4, 8, ..., at least the ranks; the result depends on it",
               {0, 1 << 20});
  line.flag("--checkpoint", o.checkpoint, "Run each block again in backward: less memory, more time");
  line.flag("--profile", o.profile, "Print where time and memory went in ten steps");
  line.path("--trace", o.trace, "Write these steps' trace here, for ui.perfetto.dev; implies --profile");
  line.footer(std::string("./run example char_gpt --text shakespeare.txt --steps 500 --placement post\n\n") +
              kit::exit_statuses);
  if (const auto status = line.parse(argc, argv)) return status;
  o.least_lr = o.lr / 10;
  if (o.named = line.given("--save"); !o.named) o.save = free_name(o.save);
  const auto refused = [](std::string_view why) {
    kit::print_error(fmt::format("char_gpt: {}\n", why));
    return 2;
  };
  if (o.placement == "list" || o.norm == "list") {
    kit::print(o.norm == "list" ? nn::list_norms() : nn::list_placements());
    return 0;
  }
  if (const std::string why = kit::wrong_block_names(o.placement, o.norm); !why.empty()) return refused(why);
  if (o.resume && (o.run.empty() || o.text.empty()))
    return refused("--resume expects the --text FILE and --run FOLDER of the training");
  if (o.text.empty() && o.load.empty())
    return refused("expects --text FILE to train on, or --load FILE to sample from");
  const std::string shape =
      line.first_given({"--placement", "--norm", "--layers", "--heads", "--d-model", "--context"});
  if (!o.load.empty() && !shape.empty())
    return refused(fmt::format("{} is determined by the file of --load", shape));
  const std::string training =
      line.first_given({"--save", "--run", "--steps", "--batch", "--lr", "--warmup", "--weight-decay",
                        "--clip", "--dropout", "--shards", "--trace"});
  if (o.text.empty() && !training.empty())
    return refused(fmt::format("{} is for training: expects --text FILE", training));
  if (o.text.empty() || o.steps == 0) return std::nullopt;  // writes no file
  if (kit::same_file(o.save, o.text)) return refused("--save would replace the file of --text");
  if (!o.run.empty() && o.named && kit::is_within(o.save, o.run))
    return refused("--save is in the folder of --run, which is for checkpoints: name another place");
  if (o.trace.empty()) return std::nullopt;
  if (!o.run.empty() && kit::is_within(o.trace, o.run))
    return refused("--trace is in the folder of --run, which is for checkpoints: name another place");
  if (kit::same_file(o.trace, o.text)) return refused("--trace would replace the file of --text");
  if (kit::same_file(o.trace, o.save)) return refused("--trace and --save are one file");
  if (!o.load.empty() && kit::same_file(o.trace, o.load))
    return refused("--trace would replace the file of --load");
  return std::nullopt;
}

}  // namespace gradus::char_gpt
