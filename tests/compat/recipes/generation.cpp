// Generation: every sampling option on the same logits, and a case where beam search beats greedy.
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

/// Prints how often each of five tokens is drawn after token 0.
void draw(const char* name, const nn::GenerateOptions& options) {
  manual_seed(1);
  const Tensor logits = tensor({2.0, 1.5, 1.0, 0.0, -1.0}).expand({100'000, 5});
  const Tensor tokens = nn::choose_tokens(logits, zeros({100'000, 1}, i64), options);
  std::printf("%-20s", name);
  for (int i = 0; i < 5; ++i) std::printf(" %5.2f", (tokens == i).to(f64).mean().item());
  std::printf("\n");
}

int main() {
  draw("unchanged", {});
  draw("temperature 0.5", {.temperature = 0.5});
  draw("top_k 2", {.top_k = 2});
  draw("top_p 0.8", {.top_p = 0.8});
  draw("repetition_penalty 2", {.repetition_penalty = 2});
  draw("greedy", {.greedy = true});

  const char* words[] = {"the", "nice", "dog", "woman", "."};
  const Tensor p = tensor({{0., .5, .4, .1, 0.},
                           {0., 0., .3, .4, .3},
                           {.1, 0., 0., 0., .9},
                           {0., 0., 0., 0., 1.}});  // p(column after row)
  const auto step = [&](const Tensor& ids, const Tensor&) { return log(p[ids.select(1, -1)]); };
  for (const int beams : {1, 3})
    for (const auto& [tokens, score] :
         nn::beam_search(tensor({0}), {.beams = beams, .count = 4, .stop = {4}}, step)) {
      std::printf("%d beam%s %.3f  the", beams, beams == 1 ? " " : "s", score);
      for (const std::int64_t token : tokens) std::printf(" %s", words[token]);
      std::printf("\n");
    }
}
