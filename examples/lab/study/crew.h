#pragma once
// A study on many ranks: `mpirun -n 8 lab rates`. Rank 0 reads the command, keeps the folder, prints, and
// measures runs like a lab of its own; the others, its crew, measure the runs that it gives them, one at a
// time.
//
//   rank 0 -> rank r   {"study": "rates", "folder": "/home/me/lab-results/first/rates"}
//                      {"run": "post-L12-lr0.01-s3"}
//                      {}                                          the end
//   rank r -> rank 0   {"run": ..., "seconds": ..., "numbers": {...}, "texts": {...}, "series": {...}}
//                      {"error": "..."} or {"interrupted": true}

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gradus/distributed/communicator.h"
#include "lab/study/study.h"

namespace gradus::lab {

/// What a member has answered.
struct Answer {
  std::optional<Record> record = {};  // none: it was interrupted
};

/// The other ranks, for rank 0.
class Crew {
 public:
  explicit Crew(distributed::Communicator world);
  /// Ends the members, also within a run.
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// That of this program; null when it has only one rank.
  static Crew* current();

  int size() const { return static_cast<int>(members_.size()); }
  /// From now on they measure runs of this study, whose folder all ranks see.
  void begin(const std::string& study, const std::filesystem::path& folder);
  bool works(int member) const;
  void give(int member, const std::string& run);
  /// The member's answer once it has come. Throws what its run has thrown.
  std::optional<Answer> look(int member);

 private:
  struct Member;
  distributed::Communicator world_;
  std::vector<std::unique_ptr<Member>> members_;
};

/// What every rank but 0 does, until the Crew ends. Returns the exit status.
int serve(const distributed::Communicator& world,
          const std::function<const Study&(const std::string& name)>& study_named);

/// The measurement of a run on this thread. Throws what it throws, with the run's name.
Record measure(const StudyRun& run);

}  // namespace gradus::lab
