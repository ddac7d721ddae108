#include <gradus/gradus.h>
#include <gradus/kit/kit.h>
using namespace gradus;

int train(int argc, char** argv) {
  std::filesystem::path table = "cars.csv", out = "run";
  std::int64_t steps = 300;
  kit::CommandLine line("cars", "Learns what cars cost from a table.");
  line.path("--table", table, "CSV file with weight, power and price");
  line.path("--out", out, "Folder for the run log and the report");
  line.integer("--steps", steps, "Training steps", kit::at_least(1));
  if (const auto status = line.parse(argc, argv)) return *status;

  const kit::Csv cars = kit::read_csv(table);
  const Tensor x = cars.tensor({"weight", "power"}), y = cars.tensor({"price"});
  nn::Linear model(2, 1);
  optim::Adam opt(model.parameters(), {.lr = 0.1});
  kit::RunLog log(out / "metrics.jsonl", {.append = false});
  kit::Progress progress("training", steps);
  kit::catch_interrupts();  // Ctrl-C ends the loop, and what is done is kept
  for (int step = 1; step <= steps && !kit::interrupted(); ++step) {
    Tensor loss = mse_loss(model(x), y);
    opt.zero_grad();
    loss.backward();
    opt.step();
    log.write({{"step", step}, {"loss", loss.item()}});
    progress.update(step, "loss " + std::to_string(loss.item()));
  }
  progress.finish();

  const kit::LogLines lines = kit::read_run_log(out / "metrics.jsonl");
  kit::HtmlReport report("Cars", "What a linear model makes of weight and power.");
  report.figure(kit::plot(lines.column("step"), lines.column("loss"),
                          {.title = "Loss", .x_label = "step", .y_label = "mean squared error"}),
                "The loss after each step.");
  report.save(out / "report.html");
  return kit::interrupt_status();
}

int main(int argc, char** argv) {
  return kit::run_program("cars", [&] { return train(argc, argv); });
}
