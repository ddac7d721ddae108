// What the compiler must refuse, with what it must say: every line below that is marked `refused: TEXT` is an
// error whose message holds TEXT, and no other line is one (refused.sh compiles this file).

#include "gradus/gradus.h"

using namespace gradus;

void guards(const nn::Linear& layer) {
  NoGrad();             // refused: give it a name: it works until the end of its scope
  EnableGrad();         // refused: give it a name
  DetectAnomaly();      // refused: give it a name
  SingleThread();       // refused: give it a name
  Scope(layer.path());  // refused: give it a name
  Profile();            // refused: give it a name
  const NoGrad good;
}
