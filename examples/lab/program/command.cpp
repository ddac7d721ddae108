#include "lab/program/command.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <string_view>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/program/command_line.h"
#include "gradus/kit/program/duration.h"
#include "gradus/kit/program/interrupt.h"
#include "gradus/kit/program/program.h"
#include "lab/claims/marks.h"
#include "lab/program/options.h"
#include "lab/program/study_page.h"
#include "lab/statistics/format.h"
#include "lab/studies/studies.h"
#include "lab/study/crew.h"
#include "lab/study/runner.h"
#include "lab/study/shards.h"

namespace gradus::lab {

namespace {

using Path = std::filesystem::path;

bool asks_for_help(const std::string& word) { return word == "--help" || word == "-h"; }

/// The help of the commands that parse() does not read; empty for others.
std::string help_of(const std::string& word) {
  if (word == "report")
    return "Draws the studies in a folder again from their files.\nUsage: lab report DIR\n";
  if (word == "merge")
    return "Joins the parts of several machines in a new folder.\nUsage: lab merge DIR... --out DIR\n";
  if (word == "studies") return "Lists the studies and their claims.\nUsage: lab studies\n";
  return "";
}

Path default_folder() {
  return Path("lab-results") / fmt::format("{:%Y-%m-%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
}

/// Returns false if it was stopped.
bool run_one(const Study& study, const Path& folder, std::int64_t threads) {
  const kit::FolderLock lock(folder);
  return run_study(study, read_study(folder), folder, threads);
}

void print_judged(const JudgedClaim& judged) {
  kit::print(fmt::format("{:>3}  {}\n     {}{}{} ({})\n", judged.claim->number, judged.claim->text,
                         signed_verdict(judged), format_scope(judged), describe_predictions(judged),
                         judged.form));
  for (const Judged& one : judged.measures)
    kit::print(fmt::format("     {}{}: {}, {}, {}; the band is {}: {}\n",
                           one.measure->where.empty() ? "" : one.measure->where + ": ", one.measure->what,
                           format_figure(one),
                           describe_interval(one.measure->estimate, judged.measures.size()),
                           counted(static_cast<std::int64_t>(one.seeds), "seed"), format_band(*one.measure),
                           signed_outcome(one)));
}

/// Prints the claims of these studies, or one of them; for stopped studies, only the measured ones.
void print_all_judged(const std::vector<const Study*>& wanted, const std::vector<MeasuredStudy>& measured,
                      std::optional<int> only, bool finished = true) {
  std::vector<JudgedClaim> shown;
  for (const JudgedClaim& one : judge_all(measured)) {
    const bool of_these = std::any_of(wanted.begin(), wanted.end(),
                                      [&](const Study* study) { return study->name == one.claim->study; });
    const bool any = std::any_of(one.measures.begin(), one.measures.end(), [](const Judged& measure) {
      return measure.judgement != Judgement::not_measured;
    });
    if (of_these && (finished || any) && (!only || *only == one.claim->number)) shown.push_back(one);
  }
  for (const JudgedClaim& one : shown) print_judged(one);
  kit::print(summarize_verdicts(shown) + "\n");
}

/// The last lines of a study with a separate conclusion: the conclusion and the page.
void print_conclusion(const MeasuredStudy& measured, const Sentences& sentences) {
  kit::print(
      fmt::format("{}\n{}\n", sentences.at(measured.study->name), (measured.path / "report.html").string()));
}

/// "claims 13, 14"; "claim 54"; "no claim".
std::string claim_numbers(const Study& study) {
  std::string numbers;
  for (const Claim& claim : claims())
    if (claim.study == study.name) numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", claim.number);
  if (numbers.empty()) return "no claim";
  return (numbers.find(',') == std::string::npos ? "claim " : "claims ") + numbers;
}

/// Prints before the first of several studies how long they take, in total and each.
void announce(const std::vector<const Study*>& wanted, const Path& folder, std::int64_t threads) {
  if (wanted.size() < 2) return;  // a single study prints its own estimate
  double total = 0;
  std::string each;
  for (const Study* study : wanted) {
    const double seconds =
        seconds_left(*study, read_study(folder / study->name), folder / study->name, threads);
    total += seconds;
    each += fmt::format("{}{} {}", each.empty() ? "" : ", ", study->name, kit::human_duration(seconds));
  }
  kit::print_error(fmt::format("{} studies, {} at a time: about {} on a fast machine: {}\n", wanted.size(),
                               counted(threads, "run"), kit::human_duration(total), each));
}

/// Runs these studies and prints which bands hold; for a part, only that it is done.
int run_all_of(const std::vector<const Study*>& wanted, Given given, std::optional<int> only) {
  if (given.out.empty()) given.out = default_folder();
  if (const Crew* const crew = Crew::current()) given.threads = 1 + crew->size();
  kit::catch_interrupts();
  set_num_threads(static_cast<int>(given.threads));
  const Path folder = open_studies(wanted, given);
  announce(wanted, folder, given.threads);
  bool finished = true;
  for (const Study* study : wanted)
    finished = finished && run_one(*study, folder / study->name, given.threads);
  const std::vector<MeasuredStudy> measured = studies_in(folder);
  const Sentences sentences = write_index(folder, measured);
  const MeasuredStudy& first = *find_study(measured, wanted.front()->name);
  const Shard shard = first.config.shard;
  if (shard.count == 1 && wanted.size() == 1 && first.study->conclude && !only) {
    print_conclusion(first, sentences);
  } else {
    if (shard.count == 1)
      print_all_judged(wanted, measured, only, finished);
    else
      kit::print(fmt::format("Part {} of {}: lab merge joins the parts and judges the claims.\n", shard.index,
                             shard.count));
    kit::print((folder / "index.html").string() + "\n");
  }
  if (!finished)
    kit::print_error(fmt::format("stopped; to go on: lab {} --resume {}\n",
                                 wanted.size() == 1 ? wanted.front()->name : "claims",
                                 io::printable(folder.string())));
  return kit::interrupt_status();
}

int run_claims(int argc, const char* const* argv) {
  Given given;
  if (const auto status = parse("lab claims", "Runs the quick form of all studies; says which bands hold.",
                                argc, argv, given, true))
    return *status;
  const Path folder = folder_of_studies(given.resume);
  std::vector<const Study*> wanted, left_out;
  for (const Study& study : studies()) {
    const bool is_there =
        folder.empty() ? !study.needs_data || !given.options.data.empty() : is_study(folder / study.name);
    (is_there ? wanted : left_out).push_back(&study);
  }
  check_input(!wanted.empty(), "--resume: {} holds no study to go on with", io::printable(folder.string()));
  const int status = run_all_of(wanted, given, std::nullopt);
  for (const Study* study : left_out)
    kit::print(fmt::format("not measured: {}, {}{}\n", claim_numbers(*study), study->name,
                           study->data.empty() ? "" : ": needs --data, " + study->data));
  return status;
}

constexpr const char* kAboutClaim = "Measures one claim: lab claim N [OPTIONS]";

int run_claim(int argc, const char* const* argv) {
  Given given;
  const std::string words = argc > 1 ? argv[1] : "";
  if (asks_for_help(words)) return *parse("lab claim", kAboutClaim, argc, argv, given, true);
  int number = 0;
  const auto [end, problem] = std::from_chars(words.data(), words.data() + words.size(), number);
  if (problem == std::errc::invalid_argument || *end != 0)
    return refuse("lab", "claim expects the number of a claim, as in: lab claim 13");
  const auto found =
      std::find_if(claims().begin(), claims().end(), [&](const Claim& one) { return one.number == number; });
  if (problem != std::errc() || found == claims().end())
    return refuse("lab", fmt::format("there is no claim {}; there are {} to {}", words,
                                     claims().front().number, claims().back().number));
  const Claim& claim = *found;
  if (const auto status = parse("lab claim", kAboutClaim, argc - 1, argv + 1, given, true)) return *status;
  if (claim.measures.empty()) {
    kit::print(fmt::format("{}  {}\nnot testable here: {}\n", claim.number, claim.text, claim.note));
    return 0;
  }
  return run_all_of({&study_named(claim.study)}, given, claim.number);
}

/// Joins the parts; `out` does not exist before, nor after a failure.
void merge_all(const std::vector<Path>& folders, const Path& out) {
  std::map<std::string, std::vector<Path>> parts;
  for (const Path& folder : folders) {
    check_input(std::filesystem::is_directory(folder), "merge: {} is not a folder",
                io::printable(folder.string()));
    const std::vector<Path> found = is_study(folder) ? std::vector<Path>{folder} : study_folders(folder);
    check_input(!found.empty(), "merge: {} holds no folder of a study", io::printable(folder.string()));
    for (const Path& one : found) parts[read_study(one).study].push_back(one);
  }
  std::vector<const Study*> merged;
  std::vector<MeasuredStudy> measured;
  try {
    for (const auto& [name, of] : parts) {
      merge(study_named(name), of, out / name);
      merged.push_back(&study_named(name));
    }
    measured = studies_in(out);
    write_index(out, measured);
  } catch (...) {
    std::filesystem::remove_all(out);
    throw;
  }
  print_all_judged(merged, measured, std::nullopt);
}

int merge_command(int argc, const char* const* argv) {
  std::vector<Path> folders;
  Path out;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--out" && i + 1 < argc)
      out = argv[++i];
    else
      folders.emplace_back(argv[i]);
  }
  const bool has_option = std::any_of(folders.begin(), folders.end(),
                                      [](const Path& one) { return one.string().starts_with("-"); });
  if (folders.empty() || out.empty() || has_option)
    return refuse(
        "lab", "merge expects the folders of all parts and --out, as in: lab merge part-1 part-2 --out all");
  check_input(!std::filesystem::exists(out), "merge: {} exists already: choose another folder",
              io::printable(out.string()));
  merge_all(folders, out);
  kit::print((out / "index.html").string() + "\n");
  return 0;
}

/// The comparison of two placements, which the program runs without a study's name.
int run_comparison(int argc, const char* const* argv) {
  Given given;
  if (const auto status = parse_comparison(argc, argv, given)) return *status;
  return run_all_of({&study_named("compare")}, given, std::nullopt);
}

int run_named(const std::string& name, int argc, const char* const* argv) {
  const Study* study = nullptr;
  try {
    study = &study_named(name);
  } catch (const Error& error) {
    return refuse("lab", error.what());
  }
  Given given;
  if (const auto status = parse("lab " + name, study->question, argc, argv, given, false)) return *status;
  return run_all_of({study}, given, std::nullopt);
}

/// Draws the studies in a folder again; for a study's own folder, also its siblings.
int report_command(int argc, const char* const* argv) {
  if (argc != 3)
    return refuse("lab", "report expects the folder of a lab, as in: lab report lab-results/first");
  const Path folder = folder_of_studies(argv[2]);
  const std::vector<MeasuredStudy> measured = studies_in(folder);
  if (measured.empty()) read_study(folder);  // throws with the reason
  const Sentences sentences = write_index(folder, measured);
  if (measured.size() == 1 && measured.front().study->conclude)
    print_conclusion(measured.front(), sentences);
  else
    kit::print((folder / "index.html").string() + "\n");
  return 0;
}

int list_studies(int argc) {
  if (argc != 2) return refuse("lab", "studies expects nothing after it");
  for (const Study& study : studies())
    kit::print(fmt::format("  {:<16} {}\n{:<19}{}{}\n", study.name, study.question, "", claim_numbers(study),
                           study.needs_data ? "; needs --data, " + study.data : ""));
  return 0;
}

}  // namespace

int run_command(int argc, const char* const* argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  if (argc == 3 && asks_for_help(argv[2]) && !help_of(word).empty()) {
    kit::print(help_of(word));
    return 0;
  }
  if (word == "report") return report_command(argc, argv);
  if (word == "compare") return run_comparison(argc - 1, argv + 1);
  if (word.empty() ? argc < 2 : word.starts_with("-")) return run_comparison(argc, argv);
  if (word == "claims") return run_claims(argc - 1, argv + 1);
  if (word == "claim") return run_claim(argc - 1, argv + 1);
  if (word == "merge") return merge_command(argc - 1, argv + 1);
  if (word == "studies") return list_studies(argc);
  return run_named(word, argc - 1, argv + 1);
}

}  // namespace gradus::lab
