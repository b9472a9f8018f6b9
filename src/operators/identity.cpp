#include "operators/meaning/domain.h"

namespace ollie::operators::entries {
namespace {

Results express(const Context& context) { return {context.input(0)}; }

}  // namespace

extern const Operator identity{"Identity", {}, 1, "its input", {}, express};

}  // namespace ollie::operators::entries
