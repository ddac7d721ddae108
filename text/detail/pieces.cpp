#include "gradus/text/detail/pieces.h"

#include <exception>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"

namespace gradus::text::detail {

void load_pieces(sentencepiece::SentencePieceProcessor& processor, const std::string& bytes,
                 const std::string& where) {
  std::string reason;
  try {
    const auto status = processor.LoadFromSerializedProto(bytes);
    if (status.ok()) return;
    reason = status.ToString();
  } catch (const std::exception& error) {  // from the trie of its pieces: Darts::Details::Exception
    reason = error.what();
  }
  fail_with("{}: this is not a SentencePiece model, or it is cut short: {}", where, io::printable(reason));
}

}  // namespace gradus::text::detail
