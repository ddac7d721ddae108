// What the compiler must refuse of the kit, as in refused.cpp.

#include "gradus/gradus.h"
#include "gradus/kit/kit.h"

using namespace gradus;

void habits(const Tensor& loss, const std::vector<double>& v, kit::RunLog& log, kit::Progress& progress) {
  log.write({{"loss", loss}});         // refused: {"loss", loss.item()}
  progress.update(1, loss.item());     // refused: "loss " + std::to_string(loss)
  progress.update(1, 7);               // refused: the detail is a text
  (void)kit::plot({v, v});             // refused: give each line a name: plot({{"a", v}, {"b", w}})
  (void)kit::plot({loss, loss});       // refused: give each line a name
  (void)kit::plot(v, "title");         // refused: plot(v, {.title = "..."})
  log.write({{"loss", loss.item()}});  // these are good
  progress.update(1, "loss");
  progress.update(1, std::string("loss"));
  (void)kit::plot({1, 2});
  (void)kit::plot({v[0], v[1]});
  (void)kit::plot(v, v);
  (void)kit::plot(v, {.title = "title"});
  (void)kit::plot({{"a", v}, {"b", loss}});
  (void)kit::plot({{"a", v}});
}

void temporaries(const char* path) {
  (void)kit::read_run_log(path).begin();     // refused: name them first
  (void)kit::read_run_log(path)[0].begin();  // refused: name the line first
  for (const kit::LogLine& line : kit::read_run_log(path)) (void)line;
  for (const auto& [name, value] : kit::read_run_log(path)[0]) (void)value;
}
