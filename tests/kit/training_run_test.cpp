#include "gradus/kit/program/training_run.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "gradus/gradus.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/program/detail/ending.h"
#include "gradus/kit/program/interrupt.h"
#include "in_child.h"
#include "support.h"
#include "values.h"

using namespace gradus;

namespace {

struct KilledRun {};

struct RunPlan {
  kit::TrainingOptions options;
  std::int64_t killed_in = 0;       // an exception leaves that step, as a kill would
  std::int64_t interrupted_in = 0;  // a signal comes in it
  double bad_loss = 0;              // in place of the loss of step 3
};

/// Everything that a run may depend on: dropout, a shuffled loader, a generator and a count.
StateDict trained(const RunPlan& plan) {
  manual_seed(7);
  const nn::Sequential net(nn::Linear(3, 8), tanh, nn::Dropout(0.3), nn::Linear(8, 1));
  const Tensor x = randn({50, 3}), y = x.sum(-1, true);
  data::DataLoader loader({x, y}, {.batch_size = 8, .shuffle = true});
  optim::AdamW opt(net.parameters(), {.lr = optim::warmup_cosine(1e-2, 5, 20)});
  Generator noise(3);
  double seen = 0;
  kit::TrainingRun run(plan.options);
  run.keep("model", net);
  run.keep("optimizer", opt);
  run.keep("loader", loader);
  run.keep("noise", noise);
  run.keep(
      "seen",
      [&] {
        return StateDict{{"count", tensor(seen, f64)}};
      },
      [&](const StateDict& state) { seen = state.at("count").item<double>(); });
  run.train([&](std::int64_t step) -> kit::StepResult {
    CHECK(step == run.steps_done() + 1);
    const auto [xb, yb] = loader.next();
    const Tensor loss = mse_loss(net(xb) + 0.1 * noise.normal() + 0.01 * seen, yb);
    opt.zero_grad();
    loss.backward();
    opt.step();
    ++seen;
    if (step % 4 == 0) run.log({{"seen", seen}});
    if (step == plan.killed_in) throw KilledRun();
    if (step == plan.interrupted_in) raise(SIGTERM);
    if (step == 3 && plan.bad_loss != 0) return {plan.bad_loss};
    return {loss.item(), opt.lr()};
  });
  return net.state_dict().clone();
}

bool same_weights(const StateDict& a, const StateDict& b) {
  for (const auto& [name, w] : a)
    if (!(w == b.at(name)).all()) return false;
  return a.size() == b.size();
}

std::string message_of_run(const auto& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool run_says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("fingerprint: distinguishes texts of equal length") {
  CHECK(kit::fingerprint("") == "0 bytes, CRC-32 00000000");
  CHECK(kit::fingerprint("123456789") == "9 bytes, CRC-32 cbf43926");  // the standard's check value
  CHECK(kit::fingerprint(std::string_view("\xff\0", 2)) != kit::fingerprint(std::string_view("\0\xff", 2)));
}

TEST_CASE("a training that is killed and resumed ends with the same bits as an uninterrupted one") {
  const StateDict whole = trained({.options = {.steps = 20}});
  for (const std::int64_t kill : {4, 6, 11, 20}) {
    const test::ScratchFolder folder;
    RunPlan plan{.options = {.steps = 20, .folder = folder / "run", .checkpoint_steps = 3},
                 .killed_in = kill};
    CHECK_THROWS_AS(trained(plan), KilledRun);
    plan.options.resume = true;
    plan.killed_in = 15;  // and once more
    if (kill < 15) CHECK_THROWS_AS(trained(plan), KilledRun);
    plan.killed_in = 0;
    CHECK(same_weights(trained(plan), whole));
    // Each step's loss stands once in the log, in order, and so do the program's own lines.
    const kit::LogLines losses = kit::read_training_log(folder / "run");
    CHECK(losses.with("loss").size() == 20);
    CHECK(losses.with("seen").column("seen") == std::vector<double>{4, 8, 12, 16, 20});
    for (std::size_t i = 0; i < 20; ++i)
      CHECK(losses.with("loss")[i]["step"].integer() == std::int64_t(i) + 1);
    // What is done is done: once more changes nothing.
    CHECK(same_weights(trained(plan), whole));
  }
}

TEST_CASE("a training stopped by a signal keeps its last step, and continues after it") {
  const StateDict whole = trained({.options = {.steps = 20}});
  const test::ScratchFolder folder;
  RunPlan plan{.options = {.steps = 20, .folder = folder / "run"}, .interrupted_in = 7};
  CHECK(test::in_child([&] {
          trained(plan);
          return kit::interrupt_status();
        }) == 143);
  CHECK(load_checkpoint((folder / "run").string()).tensors.at("step").item<std::int64_t>() == 7);
  plan.options.resume = true;
  plan.interrupted_in = 0;
  CHECK(same_weights(trained(plan), whole));
}

TEST_CASE("of processes that train together, each stops when one does, and one writes") {
  const StateDict whole = trained({.options = {.steps = 20}});
  const test::ScratchFolder folder;
  RunPlan plan{.options = {.steps = 20, .folder = folder / "run"}};
  plan.options.any = [calls = 0](bool here) mutable { return here || ++calls > 7; };  // one is interrupted
  CHECK(test::in_child([&] {
          trained(plan);
          return kit::interrupt_status();
        }) == 130);
  const auto steps_kept = [&] {
    return load_checkpoint((folder / "run").string()).tensors.at("step").item<std::int64_t>();
  };
  CHECK(steps_kept() == 7);

  plan.options = {.steps = 20, .folder = folder / "run", .resume = true, .writes = false};
  CHECK(same_weights(trained(plan), whole));
  CHECK(steps_kept() == 7);
  CHECK(kit::read_training_log(folder / "run").with("loss").size() == 7);
  plan.options.folder = folder / "none";
  CHECK(run_says(message_of_run([&] { trained(plan); }), "contains no checkpoint to resume"));
  plan.options.resume = false;
  CHECK(same_weights(trained(plan), whole));
  CHECK(!std::filesystem::exists(folder / "none"));
}

TEST_CASE("train says whether it was finished") {
  const auto finished = [](std::int64_t stop) {
    kit::TrainingRun run({.steps = 3});
    return run.train([&](std::int64_t step) -> kit::StepResult {
      if (step == stop) raise(SIGINT);
      return {1.0};
    });
  };
  CHECK(test::in_child([&] { return finished(0); }) == 0);
  CHECK(test::in_child([&] { return finished(2); }) == 1);
  CHECK(test::in_child([&] { return finished(3); }) == 1);
}

TEST_CASE("a step may be the last one") {
  const test::ScratchFolder folder;
  kit::TrainingRun run({.steps = 30, .folder = folder / "run"});
  CHECK(run.train([&](std::int64_t step) -> kit::StepResult {
    if (step == 5) run.stop();
    return {1.0};
  }));
  CHECK(run.steps_done() == 5);
  CHECK(load_checkpoint((folder / "run").string()).tensors.at("step").item<std::int64_t>() == 5);
}

TEST_CASE("a value that is not finite ends a training, and its checkpoints remain") {
  for (const double bad : {test::kNan, test::kInf}) {
    const test::ScratchFolder folder;
    RunPlan plan{.options = {.steps = 20, .folder = folder / "run", .checkpoint_steps = 2}, .bad_loss = bad};
    CHECK(run_says(message_of_run([&] { trained(plan); }), "the loss of step 3 is"));
    CHECK(load_checkpoint((folder / "run").string()).tensors.at("step").item<std::int64_t>() == 2);
  }
  const nn::Linear fc(2, 2);
  kit::TrainingRun run({.steps = 2});
  run.keep("model", fc);
  const std::string message = message_of_run([&] {
    run.train([&](std::int64_t) -> kit::StepResult {
      nn::init::constant_(fc.weight, test::kNan);
      return {1.0};
    });
  });
  CHECK(message ==
        "model.weight is no longer finite after step 2: nothing is saved; try a smaller learning rate or a "
        "longer "
        "warm-up");
}

TEST_CASE("the losses of a training that was killed before its first checkpoint are not overwritten") {
  const test::ScratchFolder folder;
  const std::filesystem::path losses = folder / "run/losses.jsonl";
  RunPlan plan{.options = {.steps = 4, .folder = folder / "run"}, .killed_in = 3};
  CHECK_THROWS_AS(trained(plan), KilledRun);
  const std::string before = kit::read_file(losses);
  CHECK(before.starts_with("{\"step\":1,"));
  plan.killed_in = 0;
  for (const bool resume : {false, true}) {
    plan.options.resume = resume;
    CHECK(
        run_says(message_of_run([&] { trained(plan); }),
                 "run contains the losses of a training that ended before its first checkpoint: name another "
                 "folder, or remove this one to start again"));
    CHECK(kit::read_file(losses) == before);
  }
  plan.options.resume = false;
  kit::replace_file(losses, "");  // no step was done
  trained(plan);
  CHECK(kit::read_training_log(folder / "run").with("loss").size() == 4);
}

TEST_CASE("a folder holds one training") {
  const test::ScratchFolder folder;
  const std::string run = (folder / "run").string();
  RunPlan plan{.options = {.steps = 4, .folder = run, .settings = {{"--lr", "0.1"}, {"--seed", "0"}}}};
  plan.options.resume = true;
  CHECK(run_says(message_of_run([&] { trained(plan); }),
                 "run contains no checkpoint to resume: leave out --resume to start"));
  CHECK_FALSE(std::filesystem::exists(run));  // a folder with nothing in it is not left behind
  plan.options.resume = false;
  trained(plan);
  const StateDict before = load_checkpoint(run).tensors;
  CHECK(run_says(message_of_run([&] { trained(plan); }),
                 "run contains the checkpoints of a training: resume it (--resume)"));
  plan.options.resume = true;
  plan.options.settings = {{"--lr", "0.2"}, {"--text", "a"}};
  CHECK(run_says(
      message_of_run([&] { trained(plan); }),
      "cannot continue with other settings: --lr was 0.1, is 0.2; --seed was 0, is not given; --text was not "
      "given, is a"));
  plan.options.settings = {{"--lr", "0.1"}, {"--seed", "0"}};
  plan.options.steps = 3;
  CHECK(run_says(message_of_run([&] { trained(plan); }), "is of step 4, this training ends at step 3"));
  CHECK(same_weights(load_checkpoint(run).tensors, before));
}

TEST_CASE("only one training at a time uses a folder") {
  const test::ScratchFolder folder;
  const std::string taken =
      "run: another training uses this folder: wait for its end, or name another folder";
  const auto step = [](std::int64_t) -> kit::StepResult { return {1.0}; };
  const kit::TrainingOptions first{.steps = 2, .folder = folder / "run"};
  kit::TrainingRun run(first);
  for (const bool resume : {false, true}) {
    kit::TrainingOptions second = first;
    second.resume = resume;
    const auto begin = [&] { kit::TrainingRun other(second); };
    CHECK(run_says(message_of_run(begin), taken));
    CHECK(test::in_child([&] { return run_says(message_of_run(begin), taken); }) == 0);
  }
  kit::TrainingRun elsewhere({.steps = 1, .folder = folder / "other"});
  CHECK(run.train(step));  // releases the folder at its end
  kit::TrainingRun more({.steps = 3, .folder = folder / "run", .resume = true});
  CHECK_THROWS_AS(more.train([](std::int64_t) -> kit::StepResult { throw KilledRun(); }), KilledRun);
  kit::TrainingRun last({.steps = 3, .folder = folder / "run", .resume = true});
  CHECK(last.train(step));
}

TEST_CASE("resuming keeps the old losses until the new ones are complete") {
  const test::ScratchFolder folder;
  const auto run = [&](bool resume, std::int64_t killed_in) {
    kit::TrainingRun r({.steps = 6, .folder = folder / "run", .resume = resume, .checkpoint_steps = 2});
    r.train([&](std::int64_t step) -> kit::StepResult {
      if (step == killed_in) throw KilledRun();
      return {static_cast<double>(step)};
    });
  };
  CHECK_THROWS_AS(run(false, 6), KilledRun);
  const std::string before = kit::read_file(folder / "run/losses.jsonl");
  std::filesystem::create_hard_link(folder / "run/losses.jsonl", folder / "old");
  run(true, 0);
  CHECK(kit::read_file(folder / "old") == before);  // what was written there stayed there
  CHECK(kit::read_training_log(folder / "run").column("loss") == std::vector<double>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("a full disk does not end a training, and missing lines are written later") {
  for (const bool ever : {true, false}) {  // whether there is room again
    const test::ScratchFolder folder;
    CHECK(test::in_child([&] {
            signal(SIGXFSZ, SIG_IGN);
            rlimit limit{};
            getrlimit(RLIMIT_FSIZE, &limit);
            const rlim_t all = limit.rlim_cur;
            const auto leave_room = [&](rlim_t bytes) {
              limit.rlim_cur = bytes;
              setrlimit(RLIMIT_FSIZE, &limit);
            };
            kit::TrainingRun run({.steps = 9, .folder = folder / "run", .checkpoint_steps = 3});
            const bool finished = run.train([&](std::int64_t step) -> kit::StepResult {
              if (step == 4) leave_room(70);  // of three lines and a part of the fourth
              if (step == 5) run.log({{"note", 5}});
              if (step == 8 && ever) leave_room(all);
              return {static_cast<double>(step)};
            });
            return finished && run.steps_done() == 9;
          }) == 0);
    const kit::LogLines lines = kit::read_training_log(folder / "run");
    CHECK(lines.with("loss").column("step") ==
          (ever ? std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9} : std::vector<double>{1, 2, 3}));
    if (ever) CHECK(lines[4] == kit::LogLine{{"step", 5}, {"note", 5}});
    CHECK(load_checkpoint((folder / "run").string()).tensors.at("step").item<std::int64_t>() ==
          (ever ? 9 : 3));
  }
}

TEST_CASE("the error of a failed save says whether the training is kept") {
  const test::ScratchFolder folder;
  const std::string path = (folder / "run").string();
  const auto full = [] { fail("model: no space left"); };
  for (const bool kept : {true, false}) {
    kit::TrainingRun run({.steps = 2, .folder = kept ? path : ""});
    const std::string before = message_of_run([&] { run.save(full); });
    run.train([](std::int64_t) -> kit::StepResult { return {1.0}; });
    const std::string after = message_of_run([&] { run.save(full); });
    CHECK(before == "model: no space left");
    CHECK(after == (kept ? "model: no space left; the training is kept in " + path +
                               ": resume it (--resume) when this is fixed"
                         : "model: no space left"));
  }
}

TEST_CASE("a checkpoint must contain exactly the objects that a training keeps") {
  const test::ScratchFolder folder;
  const kit::TrainingOptions first{.steps = 1, .folder = folder / "run"};
  const nn::Linear fc(2, 2);
  const auto step = [](std::int64_t) -> kit::StepResult { return {1.0}; };
  {
    kit::TrainingRun run(first);
    run.keep("model", fc);
    run.train(step);
  }
  kit::TrainingOptions more = first;
  more.steps = 2, more.resume = true;
  kit::TrainingRun run(more);
  const nn::Linear other(3, 2);
  CHECK(run_says(message_of_run([&] { run.keep("model", other); }), "cannot go on with its model: "));
  CHECK(run_says(message_of_run([&] { run.keep("more", fc); }), "cannot go on with its more: "));
  CHECK(run_says(message_of_run([&] { run.train(step); }),
                 "has 'model.weight', which this training does not keep"));
  save_checkpoint((folder / "other").string(), {{"w", tensor(1.0)}});
  more.folder = folder / "other";
  CHECK(run_says(message_of_run([&] { kit::TrainingRun r(more); }), "it was not written by a TrainingRun"));
}

TEST_CASE("misuse of TrainingRun is an error") {
  kit::TrainingRun run({.steps = 1});
  const nn::Linear fc(2, 2);
  run.keep("model", fc);
  CHECK(run_says(message_of_run([&] { run.keep("model", fc); }), "'model' is kept already"));
  for (const char* name : {"", "a.b", "step", "random"})
    CHECK(run_says(message_of_run([&] { run.keep(name, fc); }), "keep expects a name without a dot"));
  CHECK(run_says(message_of_run([&] { run.log({{"a", 1}}); }), "log() must be called within a step"));
  CHECK(run_says(message_of_run([&] { run.note("a"); }), "note() must be called within a step"));
  CHECK(run_says(message_of_run([&] { run.stop(); }), "stop() must be called within a step"));
  const auto step = [](std::int64_t) -> kit::StepResult { return {1.0}; };
  run.train(step);
  CHECK(run_says(message_of_run([&] { run.train(step); }), "train() was called before"));
  CHECK(run_says(message_of_run([&] { run.keep("more", fc); }), "comes before train()"));
  CHECK(run_says(message_of_run([] { kit::TrainingRun r({.steps = -1}); }),
                 "expects steps of 0 or more, got -1"));
  CHECK(
      run_says(message_of_run([] { kit::TrainingRun r({.checkpoint_seconds = -1}); }), "checkpoint_seconds"));
  CHECK(run_says(message_of_run([] { kit::TrainingRun r({.checkpoint_steps = -1}); }), "checkpoint_steps"));
  CHECK(run_says(message_of_run([] { kit::TrainingRun r({.resume = true}); }), "resume expects the folder"));
}

TEST_CASE("a time limit includes the time before resuming") {
  const test::ScratchFolder folder;
  const auto slow_steps = [&](bool resume, double seconds, std::int64_t steps) {
    kit::TrainingRun run({.steps = steps, .folder = folder / "run", .resume = resume, .seconds = seconds});
    const bool finished = run.train([](std::int64_t) -> kit::StepResult { return {1.0}; });
    return std::tuple(finished, run.steps_done(), run.seconds());
  };
  const auto [ended, steps, seconds] = slow_steps(false, 0.05, 1'000'000'000);
  CHECK(ended);
  CHECK(steps < 1'000'000'000);
  CHECK(seconds >= 0.05);
  const auto [again, same_steps, same_seconds] = slow_steps(true, 0.05, 1'000'000'000);
  CHECK(again);
  CHECK(same_steps == steps);  // there was nothing left
  CHECK(same_seconds >= 0.05);
  const auto [whole, all_steps, more] = slow_steps(true, 1e6, steps + 3);
  CHECK(whole);
  CHECK(all_steps == steps + 3);
  CHECK(more > 0.05);  // of the run before
}
