#include "gpt2/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/program/command_line.h"
#include "gradus/kit/program/language_model.h"
#include "gradus/kit/program/program.h"
#include "gradus/nn/models/gpt_options.h"
#include "gradus/nn/norm/norms.h"
#include "gradus/nn/placements/placements.h"

namespace gradus::gpt2 {

namespace {

/// Options without an empty value: distinguishes given ones from defaults.
struct Texts {
  std::string prompt, placement, norm;
  std::int64_t context = kContext;
  double dropout = 0.1, lr = 1e-3;
};

bool has_size(const std::string& kind) { return kind.find('-') != std::string::npos; }

nn::GPTOptions of_published_size(const std::string& kind) {
  const std::string family = kind.substr(0, kind.find('-')), size = kind.substr(family.size() + 1);
  if (kind == "gpt1-117m") return nn::gpt1();
  if (family == "gpt2") return nn::gpt2(size);
  if (family == "gpt3") return nn::gpt3(size);
  fail_input("only gpt1-117m, gpt2-SIZE and gpt3-SIZE have published sizes");
}

/// The family's options, with the sizes of the command line.
nn::GPTOptions of_given_size(const Options& o) {
  const std::int64_t context = o.context.value_or(kContext);
  if (o.kind == "llama")  // a quarter as many heads of keys and values as of queries, as in Llama 3 8B
    return nn::llama({.context = context,
                      .layers = o.layers,
                      .d_model = o.d_model,
                      .heads = o.heads,
                      .kv_heads = o.heads % 4 == 0 ? o.heads / 4 : o.heads});
  if (o.kind != "gpt1" && o.kind != "gpt2" && o.kind != "gpt3")
    fail_input("expects gpt1, gpt2, gpt3 or llama, or one with its size, such as gpt2-124m");
  nn::GPTOptions m = o.kind == "gpt1" ? nn::gpt1() : nn::gpt2();
  m.context = context, m.layers = o.layers;
  m.block.d_model = o.d_model, m.block.heads = o.heads;
  if (o.kind == "gpt3") m.block.window = std::max<std::int64_t>(1, context / 4), m.block.window_every = 2;
  return m;
}

void add_writing(kit::CommandLine& line, Options& o, Texts& t) {
  line.text("--prompt", t.prompt, "Text to continue; without it and --text: each line of stdin");
  line.integer("--count", o.count, "Largest number of tokens to generate", {0, 1'000'000'000});
  line.real("--temperature", o.temperature, "Below 1: likelier tokens", kit::above(0));
  line.integer("--top-k", o.top_k, "Sample from the k likeliest tokens; 0: from all", kit::at_least(0));
  line.real("--top-p", o.top_p, "Sample from the likeliest that add up to this probability",
            {0, 1, /*low_excluded=*/true});
  line.real("--repetition-penalty", o.repetition_penalty,
            "Above 1: tokens already in the text are less likely", {1e-6, 1e6});
  line.flag("--greedy", o.greedy, "Always the likeliest token");
  line.integer("--beams", o.beams, "Above 1: beam search with this many beams, up to the end of the context",
               {1, 1000});
  line.text("--stop", o.stop, "The text ends before this string");
}

void add_model(kit::CommandLine& line, Options& o, Texts& t) {
  line.text("--new", o.kind,
            "Without --weights: gpt1, gpt2, gpt3, llama of these sizes; or as published: gpt2-124m, ...");
  line.text("--placement", t.placement, "Placement of the norms in its blocks; list: shows all");
  line.text("--norm", t.norm, "Its norms: layer, rms, ...; list: shows all");
  line.integer("--layers", o.layers, "Blocks", {1, 1000});
  line.integer("--heads", o.heads, "Attention heads", {1, 1000});
  line.integer("--d-model", o.d_model, "Channels", {1, 100'000});
  line.integer("--vocab", o.vocab, "Largest size of a vocabulary learned from --text", {257, 1'000'000});
}

void add_training(kit::CommandLine& line, Options& o, Texts& t) {
  line.integer("--steps", o.steps, "Training steps", {1, 1'000'000'000});
  line.flag("--resume", o.resume, "Continue from the last checkpoint in --save, with the same other options");
  line.integer("--context", t.context, "Tokens of a window; for a new model also its context",
               {1, 1'000'000});
  line.integer("--batch", o.batch, "Windows per pass", {1, 1'000'000});
  line.integer("--accumulate", o.accumulate, "Passes per step, whose gradients are accumulated",
               {1, 1'000'000});
  line.real("--lr", t.lr, "Learning rate after warm-up, falling to a tenth; with --weights 5e-05",
            kit::above(0));
  line.integer("--warmup", o.warmup, "Warm-up steps", {0, 1'000'000'000});
  line.real("--weight-decay", o.weight_decay, "Of matrices and embeddings", kit::between(0, 1));
  line.real("--clip", o.clip, "Largest norm of the gradients", kit::above(0));
  line.real("--dropout", t.dropout, "Share of activations dropped in training; with --weights the folder's",
            kit::between(0, 0.99));
  line.integer("--shards", o.shards,
               "Parts of a batch, for mpirun: 1, 2, 4, 8, ..., at least the ranks; the result depends on it",
               {0, 1 << 20});
  line.flag("--checkpoint", o.checkpoint, "Run each block again in backward: less memory, more time");
  line.integer("--seed", o.seed, "Seed of weights, batches and texts", kit::at_least(0));
  line.integer("--threads", o.threads, "Threads; default: all cores", {1, 1024});
}

/// The problem with the new model; empty: none.
std::string wrong_model(const kit::CommandLine& line, const Options& o) {
  if (const std::string why = kit::wrong_block_names(o.placement.value_or("pre"), o.norm.value_or("layer"));
      !why.empty())
    return why;
  if (has_size(o.kind))
    if (const std::string size = line.first_given({"--layers", "--heads", "--d-model", "--context"});
        !size.empty())
      return fmt::format("{} is determined by --new {}", size, o.kind);
  if (o.d_model % o.heads != 0)
    return fmt::format("--d-model {} is not divisible by --heads {}", o.d_model, o.heads);
  try {
    o.model(o.vocab);
  } catch (const Error& error) {
    return fmt::format("--new {}: {}", o.kind, error.what());
  }
  return "";
}

/// Conflicting options; empty: none.
std::string contradiction(const kit::CommandLine& line, const Options& o) {
  if (o.text.empty() && o.weights.empty())
    return "expects --weights FOLDER with a model that generates, or --text FILE to train on";
  if (o.text.empty() && o.resume) return "--resume expects the --text FILE of the training";
  const std::string training =
      line.first_given({"--save", "--steps", "--batch", "--accumulate", "--lr", "--warmup", "--weight-decay",
                        "--clip", "--dropout", "--shards"});
  if (o.text.empty() && !training.empty())
    return fmt::format("{} is for training: expects --text FILE", training);
  if (o.is_new()) {
    if (const std::string why = wrong_model(line, o); !why.empty()) return why;
  } else {
    const std::string model =
        line.first_given({"--new", "--placement", "--norm", "--layers", "--heads", "--d-model", "--vocab"});
    if (!model.empty()) return fmt::format("{} is determined by the folder of --weights", model);
  }
  if (!o.tokenizer.empty() && line.given("--vocab"))
    return "--vocab is determined by the folder of --tokenizer";
  if (!o.text.empty() && !o.weights.empty() && kit::same_file(o.weights, o.save))
    return "--save would replace the model of --weights: name another folder";
  const std::string drawn =
      line.first_given({"--greedy", "--temperature", "--top-k", "--top-p", "--repetition-penalty"});
  if (o.beams > 1 && !drawn.empty()) return fmt::format("--beams searches: {} is for sampling", drawn);
  if (const std::string odd = line.first_given({"--temperature", "--top-k", "--top-p"});
      o.greedy && !odd.empty())
    return fmt::format("--greedy takes the likeliest token: {} is for sampling", odd);
  return "";
}

}  // namespace

nn::GPTOptions Options::model(std::int64_t tokens) const {
  nn::GPTOptions m = has_size(kind) ? of_published_size(kind) : of_given_size(*this);
  m.vocab = tokens;
  m.block.dropout = dropout.value_or(0.1);
  if (placement) m.placement = nn::placement_named(*placement);
  if (norm) m.block.norm = nn::norm_named(*norm).make;
  m.checkpoint = checkpoint;
  return m;
}

std::optional<int> parse(int argc, char** argv, Options& o) {
  kit::CommandLine line("gpt2", "Generates text with a GPT or a Llama, fine-tunes it, or trains a new one.");
  Texts t;
  line.path("--weights", o.weights, "Folder with a model and its tokenizer: Hugging Face's, or --save's");
  line.path("--tokenizer", o.tokenizer, "Folder with the tokenizer, if it is a different one");
  line.path("--text", o.text, "Text file to train on; without --weights a new model");
  line.path("--save", o.save, "Folder for the trained model, its tokenizer and checkpoints");
  add_writing(line, o, t);
  add_model(line, o, t);
  add_training(line, o, t);
  line.footer(std::string("./run example gpt2 --weights FOLDER --prompt 'The quick brown fox'\n"
                          "./run example gpt2 --weights FOLDER --text letters.txt --steps 200 --save mine\n"
                          "./run example gpt2 --text shakespeare.txt --new llama --save small\n\n") +
              kit::exit_statuses);
  if (const auto status = line.parse(argc, argv)) return status;
  if (t.placement == "list" || t.norm == "list") {
    kit::print(t.norm == "list" ? nn::list_norms() : nn::list_placements());
    return 0;
  }
  if (line.given("--prompt")) o.prompt = t.prompt;
  if (line.given("--placement")) o.placement = t.placement;
  if (line.given("--norm")) o.norm = t.norm;
  if (line.given("--context")) o.context = t.context;
  if (line.given("--dropout")) o.dropout = t.dropout;
  if (line.given("--lr")) o.lr = t.lr;
  if (const std::string why = contradiction(line, o); !why.empty()) {
    kit::print_error(fmt::format("gpt2: {}\n", why));
    return 2;
  }
  return std::nullopt;
}

}  // namespace gradus::gpt2
