#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

#include <sched.h>

#include "base/error.h"
#include "optimize/measure.h"

namespace ollie::optimize {

namespace {

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// What follows "key : " in the first such line of /proc/cpuinfo.
std::string cpu_info(std::string_view key) {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        size_t colon = line.find(':');
        if (line.starts_with(key) && colon != std::string::npos && colon + 2 <= line.size()) {
            return line.substr(colon + 2);
        }
    }
    return {};
}

std::string instruction_sets() {
    static constexpr std::string_view known[] = {
        "asimd",   "sve",         "sse4_2",      "avx",      "avx2",    "fma",
        "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16"};
    std::string flags = cpu_info("flags");
    if (flags.empty()) flags = cpu_info("Features");
    std::istringstream words(flags);
    std::set<std::string> present;
    for (std::string word; words >> word;) present.insert(word);
    std::string text;
    for (std::string_view name : known) {
        if (present.count(std::string(name)) == 0) continue;
        text += text.empty() ? "" : " ";
        text += name;
    }
    return text;
}

std::string processor_folder(int processor) {
    return "/sys/devices/system/cpu/cpu" + std::to_string(processor);
}

/// Equal for processors that share a core.
std::string core_of(int processor) {
    std::string siblings =
        first_line(processor_folder(processor) + "/topology/thread_siblings_list");
    return siblings.empty() ? std::to_string(processor) : siblings;
}

/// "32768K" in bytes.
int64_t bytes_of(const std::string& text) {
    if (text.empty()) return 0;
    int64_t value = std::strtoll(text.c_str(), nullptr, 10);
    switch (text.back()) {
        case 'K':
            return value << 10;
        case 'M':
            return value << 20;
        default:
            return value;
    }
}

/// Bytes of the data caches of a processor by level, from 1.
std::vector<int64_t> cache_sizes(int processor) {
    std::vector<int64_t> sizes;
    for (int index = 0;; ++index) {
        std::string folder = processor_folder(processor) + "/cache/index" + std::to_string(index);
        std::string level = first_line(folder + "/level");
        if (level.empty()) break;
        if (first_line(folder + "/type") == "Instruction") continue;
        sizes.push_back(bytes_of(first_line(folder + "/size")));
    }
    return sizes;
}

}  // namespace

namespace {

std::vector<int> processors_now() {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    std::vector<int> first, siblings;
    std::set<std::string> cores;
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
        if (!CPU_ISSET(processor, &set)) continue;
        (cores.insert(core_of(processor)).second ? first : siblings).push_back(processor);
    }
    first.insert(first.end(), siblings.begin(), siblings.end());
    return first;
}

}  // namespace

std::vector<int> usable_processors() {
    static const std::vector<int> at_start = processors_now();
    return at_start;
}

std::vector<int> processors_for(int threads) {
    std::vector<int> usable = usable_processors();
    if (threads < 1 || static_cast<size_t>(threads) > usable.size()) {
        throw_user_error("{} threads asked for; from 1 to {} can have a processor each", threads,
                         usable.size());
    }
    usable.resize(static_cast<size_t>(threads));
    return usable;
}

MachineDescription describe_machine() {
    MachineDescription machine;
    machine.cpu = cpu_info("model name");
    if (machine.cpu.empty()) machine.cpu = "unknown";
    machine.isa = instruction_sets();
    std::vector<int> processors = usable_processors();
    std::set<std::string> cores;
    for (int processor : processors) cores.insert(core_of(processor));
    machine.cores = static_cast<int>(cores.size());
    std::vector<int64_t> sizes;
    if (!processors.empty()) sizes = cache_sizes(processors.front());
    if (!sizes.empty()) machine.first_level_bytes = sizes.front();
    if (sizes.size() > 1) machine.second_level_bytes = sizes[1];
    if (!sizes.empty()) machine.last_level_bytes = sizes.back();
    return machine;
}

}  // namespace ollie::optimize
