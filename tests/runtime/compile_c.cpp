#include "runtime/compile_c.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

#include "base/error.h"

namespace ollie::testing {

std::vector<std::byte> compile_c(const std::string& source) {
    std::string folder = (std::filesystem::temp_directory_path() / "ollie-test-XXXXXX").string();
    CHECK(mkdtemp(folder.data()) != nullptr);
    std::string file = folder + "/kernel";
    std::ofstream(file + ".c") << source;
    std::string command = "cc -shared -fPIC -O1 -o " + file + ".so " + file + ".c";
    CHECK(std::system(command.c_str()) == 0, "{}", command);
    std::ifstream stream(file + ".so", std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    std::filesystem::remove_all(folder);
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    return {bytes, bytes + text.size()};
}

}  // namespace ollie::testing
