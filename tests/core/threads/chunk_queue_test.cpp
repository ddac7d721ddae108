#include "gradus/core/threads/detail/chunk_queue.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using gradus::ChunkQueue;
using I = std::int64_t;
using List = std::vector<I>;

namespace {

/// All chunks that one thread takes.
List draw_all(ChunkQueue& queue, int thread) {
  List chunks;
  for (I chunk; (chunk = queue.draw(thread)) >= 0;) chunks.push_back(chunk);
  return chunks;
}

}  // namespace

TEST_CASE("ChunkQueue: a part for each thread, then the rest of the others'") {
  ChunkQueue queue;
  queue.deal(7, 3);
  CHECK(queue.left() == 7);
  CHECK(queue.draw(1) == 3);
  CHECK(queue.draw(2) == 5);
  CHECK(queue.draw(0) == 0);
  CHECK(queue.left() == 4);
  CHECK(draw_all(queue, 1) == List{4, 6, 1, 2});
  CHECK(queue.left() == 0);
  CHECK(queue.draw(0) == -1);
}

TEST_CASE("ChunkQueue: every chunk once, for any number of threads, dealt again and again") {
  ChunkQueue queue;
  for (const int threads : {1, 8, 3, 64})
    for (const I chunks : {0, 1, 2, 5, 64, 100}) {
      queue.deal(chunks, threads);
      std::vector<int> times(static_cast<std::size_t>(chunks));
      for (int draws = 0; draws < 200; ++draws)
        if (const I chunk = queue.draw(draws * 7 % threads); chunk >= 0)
          ++times[static_cast<std::size_t>(chunk)];
      CHECK(times == std::vector<int>(static_cast<std::size_t>(chunks), 1));
      CHECK(queue.left() == 0);
    }
}

TEST_CASE("ChunkQueue: after a stop, only what comes before is done, and all of it") {
  ChunkQueue queue;
  queue.deal(10, 2);
  CHECK(queue.draw(0) == 0);
  CHECK(queue.draw(1) == 5);
  queue.stop_at(3);
  queue.stop_at(7);  // later than the first: no change
  CHECK(draw_all(queue, 1) == List{1, 2});
  queue.deal(4, 2);
  CHECK(queue.left() == 4);
  CHECK(draw_all(queue, 0) == List{0, 1, 2, 3});
}
