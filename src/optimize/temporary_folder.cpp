#include "optimize/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace ollie::optimize {

TemporaryFolder::TemporaryFolder() {
    std::error_code error;
    std::filesystem::path above = std::filesystem::temp_directory_path(error);
    std::string name = ((error ? "/tmp" : above) / "ollie-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
        throw_user_error("cannot make a folder {}: {}", name, strerror(errno));
    }
    path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace ollie::optimize
