#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "codegen/codegen.h"
#include "codegen/object.h"

namespace ollie::codegen {
namespace {

namespace fs = std::filesystem;

/// What generated code needs from its surroundings. Blocks of memory are kept by each thread for
/// the next run, so that running allocates only once.
constexpr const char* support = R"(
#include <stdint.h>
#include <stdlib.h>

struct dimension { int32_t min, extent, stride; uint32_t flags; };
struct buffer {
    uint64_t device; const void *device_interface; void *host; uint64_t flags;
    uint8_t code, bits; uint16_t lanes; int32_t dimensions; struct dimension *dim; void *padding;
};
static struct dimension no_dimensions[32];

typedef int (*task)(void *context, int index, uint8_t *closure);

__attribute__((visibility("hidden")))
int halide_do_par_for(void *context, task body, int min, int size, uint8_t *closure) {
    if (size == 1) return body(context, min, closure);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < size; ++i) body(context, min + i, closure);
    return 0;
}

struct block { size_t size; size_t used; char padding[48]; };
enum { kept = 16 };
static __thread struct block *blocks[kept];

__attribute__((visibility("hidden")))
void *halide_malloc(void *context, size_t size) {
    (void)context;
    int free_place = -1;
    for (int i = 0; i < kept; ++i) {
        if (!blocks[i]) { free_place = i; continue; }
        if (!blocks[i]->used && blocks[i]->size >= size && blocks[i]->size <= 2 * size + 4096) {
            blocks[i]->used = 1;
            return blocks[i] + 1;
        }
    }
    for (int i = 0; i < kept && free_place < 0; ++i)
        if (!blocks[i]->used) { free(blocks[i]); free_place = i; }
    struct block *fresh = aligned_alloc(64, sizeof(struct block) + ((size + 127) & ~(size_t)63));
    if (!fresh) return 0;
    fresh->size = size;
    fresh->used = free_place >= 0;
    if (free_place >= 0) blocks[free_place] = fresh;
    return fresh + 1;
}

__attribute__((visibility("hidden")))
void halide_free(void *context, void *memory) {
    (void)context;
    if (!memory) return;
    struct block *b = (struct block *)memory - 1;
    for (int i = 0; i < kept; ++i)
        if (blocks[i] == b) { b->used = 0; return; }
    free(b);
}
)";

/// The entry with the common signature.
void write_entry(std::ostream& out, const KernelObject& object) {
    out << "int " << object.symbol
        << "(void *const *arguments, void *const *results, void *context) {\n"
           "    (void)context; (void)arguments; (void)results;\n";
    if (!object.code.empty()) {
        int count = object.arguments + 1;
        out << "    struct buffer b[" << count << "] = {0};\n";
        out << "    for (int i = 0; i < " << count << "; ++i) b[i].dim = no_dimensions;\n";
        for (int i = 0; i < object.arguments; ++i)
            out << "    b[" << i << "].host = arguments[" << i << "];\n";
        out << "    b[" << object.arguments << "].host = results[0];\n    return "
            << object.implementation << "(";
        for (int i = 0; i < count; ++i) out << (i > 0 ? ", " : "") << "&b[" << i << "]";
        out << ");\n}\n";
    } else {
        out << "    return 0;\n}\n";
    }
}

void declare(std::ostream& out, const KernelObject& object) {
    out << "__attribute__((visibility(\"hidden\"))) int " << object.implementation << "(";
    for (int i = 0; i <= object.arguments; ++i) out << (i > 0 ? ", " : "") << "struct buffer *";
    out << ");\n";
}

/// Exit status; what the program says on its error output goes to the file.
int run(const std::vector<std::string>& words, const fs::path& errors) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int output : {1, 2})
        posix_spawn_file_actions_addopen(&actions, output, errors.c_str(),
                                         O_WRONLY | O_CREAT | O_APPEND, 0600);
    pid_t child = -1;
    int failure = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failure != 0)
        throw_user_error("cannot start the linker \"{}\": {}", words[0], std::strerror(failure));
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

void write(const fs::path& path, const std::string& content) {
    std::ofstream file(path, std::ios::binary);
    file << content;
    file.close();
    if (!file) throw_user_error("cannot write {}: {}", path.string(), std::strerror(errno));
}

/// The temporary file name of the output must not end up in the code.
std::vector<std::byte> bytes_of(const std::string& text) {
    std::vector<std::byte> bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

}  // namespace

std::vector<std::byte> link(const std::vector<std::vector<std::byte>>& objects) {
    TemporaryFolder folder;
    std::ostringstream stub;
    stub << support;
    std::vector<std::string> command = {"cc",
                                        "-shared",
                                        "-fPIC",
                                        "-O2",
                                        "-fopenmp",
                                        "-s",
                                        "-Wl,--build-id=none",
                                        "-o",
                                        (folder.path() / "kernels.so").string()};
    std::set<std::string> known;
    for (const std::vector<std::byte>& bytes : objects) {
        KernelObject object = object_from(bytes);
        if (!object.code.empty() && known.insert(object.implementation).second) {
            fs::path file = folder.path() / (object.implementation + ".o");
            write(file, object.code);
            command.push_back(file.string());
            declare(stub, object);
        }
        write_entry(stub, object);
    }
    write(folder.path() / "stub.c", stub.str());
    command.push_back((folder.path() / "stub.c").string());
    command.push_back("-lm");
    fs::path errors = folder.path() / "errors";
    if (run(command, errors) != 0) throw_user_error("linking kernels failed: {}", text_of(errors));
    return bytes_of(text_of(folder.path() / "kernels.so"));
}

}  // namespace ollie::codegen
