#include "lab/training/task.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "support.h"

using namespace gradus;
using namespace gradus::lab;

namespace {

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("the recall language as a task") {
  const Task task(RecallOptions{});
  CHECK(task.context() == 32);
  CHECK(task.vocabulary().size() == 1 + 4 + 24);
  REQUIRE(task.entropy());
  CHECK(task.ngram().loss > *task.entropy() + 0.3);
  CHECK(task.context_free_loss() > task.ngram().loss + 0.3);
  CHECK(task.context_free_loss() < task.ngram().losses[0] + 0.01);
  CHECK(task.validation().inputs.shape() == Shape{256, 32});
  Generator a(3), b(3), c(4);
  const Batch first = task.batch(2, a), same = task.batch(2, b), other = task.batch(2, c);
  CHECK(first.inputs.shape() == Shape{2, 32});
  CHECK((first.inputs - same.inputs).abs().sum().item() == 0);
  CHECK((first.inputs - other.inputs).abs().sum().item() > 0);
}

TEST_CASE("the recall language's baseline is the best n-gram up to 4, the 3-gram; the 5-gram is better") {
  const Task task(RecallOptions{});
  CHECK(task.ngram().losses.size() == 4);
  CHECK(task.ngram().n == 3);
  CHECK(task.ngram().loss == doctest::Approx(1.383).epsilon(0.001));
  const RecallLanguage language(RecallOptions{});
  std::array<std::vector<std::vector<std::int32_t>>, 2> texts;  // those of the task: to learn, and held out
  for (const std::uint64_t stream : {1, 2}) {
    Generator generator(0x6c6162, stream);
    for (int i = 0; i < 4000; ++i)
      texts.at(stream - 1).push_back(language.vocabulary().encode(language.document(generator)));
  }
  const NgramBaseline baseline = best_ngram(texts[0], texts[1], language.vocabulary().size(), 6);
  CHECK(baseline.losses[2] == task.ngram().loss);
  CHECK(baseline.n == 5);
  CHECK(baseline.loss == doctest::Approx(1.261).epsilon(0.001));  // docs/lab.md: 1.26
}

TEST_CASE("a text as a task: no entropy, and a baseline on the models' validation set") {
  const test::ScratchFolder folder;
  kit::replace_file(folder / "text.txt", repeated("abcd", 500));
  const Task task(folder / "text.txt", 32);
  CHECK_FALSE(task.entropy());
  CHECK(task.name() == "text.txt");
  CHECK(task.vocabulary().size() == 4);
  CHECK(task.ngram().losses[0] == doctest::Approx(std::log(4)).epsilon(0.01));
  CHECK(task.ngram().losses[1] < 0.02);  // one character decides the next
  CHECK(task.context_free_loss() == doctest::Approx(std::log(4)));
  CHECK(task.validation().inputs.shape() == Shape{6, 32});  // 200 held out: 6 windows of 32
}

TEST_CASE("any bytes but zeros are a text") {
  const test::ScratchFolder folder;
  std::string bytes;
  for (int i = 0; i < 4000; ++i) bytes += static_cast<char>(1 + (i * i * 31 + i / 7) % 255);
  kit::replace_file(folder / "bytes", bytes);
  const Task task(folder / "bytes", 32);
  CHECK(task.vocabulary().size() >= 100);
  Generator generator(1);
  CHECK(task.batch(3, generator).targets.max().item() < static_cast<double>(task.vocabulary().size()));
  CHECK(std::isfinite(task.ngram().loss));
}

TEST_CASE("a text of one character over and over") {
  const test::ScratchFolder folder;
  kit::replace_file(folder / "text", std::string(1000, 'x'));
  const Task task(folder / "text", 32);
  CHECK(task.vocabulary().size() == 1);
  CHECK(task.ngram().loss == doctest::Approx(0));
  CHECK(task.context_free_loss() == 0);
}

TEST_CASE("unusable texts are named") {
  const test::ScratchFolder folder;
  kit::replace_file(folder / "short.txt", std::string(200, 'a'));
  kit::replace_file(folder / "empty.txt", "");
  const auto message = [](const std::filesystem::path& path) -> std::string {
    try {
      const Task task(path, 32);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message(folder / "short.txt").find("short.txt") != std::string::npos);
  CHECK(message(folder / "empty.txt").find("empty.txt") != std::string::npos);
  CHECK(message(folder / "missing.txt").find("missing.txt") != std::string::npos);
  CHECK(message(folder.path()) != "");
  kit::replace_file(folder / "utf-16.txt", std::string("T\0e\0x\0t\0", 8));
  CHECK(message(folder / "utf-16.txt") ==
        "--text: " + (folder / "utf-16.txt").string() +
            " is not a text: byte 1 is 0; unpack an archive, convert UTF-16 to UTF-8");
}

TEST_CASE("with a chain of boxes the entropy is the loss of the source on the validation set") {
  const Task task{RecallOptions{.boxes = 4, .things = 3, .length = 16, .chain = 1}};
  const RecallLanguage language({.boxes = 4, .things = 3, .length = 16, .chain = 1});
  const auto inputs = task.validation().inputs.span<std::int64_t>(),
             targets = task.validation().targets.span<std::int64_t>();
  double sum = 0;
  for (std::size_t document = 0; document < 256; ++document) {
    std::string text =
        task.vocabulary().decode(std::vector<std::int32_t>{static_cast<std::int32_t>(inputs[16 * document])});
    for (std::size_t i = 0; i < 16; ++i)
      text += task.vocabulary().decode(
          std::vector<std::int32_t>{static_cast<std::int32_t>(targets[16 * document + i])});
    sum += language.surprise(text);
  }
  CHECK(*task.entropy() == doctest::Approx(sum / 256 / 16));
  CHECK(*task.entropy() < task.ngram().loss);
}
