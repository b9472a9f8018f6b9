#include "base/error.h"

namespace ollie {

void check_failed(const char* condition, const char* file, int line, const std::string& detail) {
    throw InternalError(fmt::format("{}:{}: check failed: {}{}{}", file, line, condition,
                                    detail.empty() ? "" : ": ", detail));
}

}  // namespace ollie
