#include <cmath>

#include <nlohmann/json.hpp>

#include "optimize/bench.h"

namespace ollie::optimize {

namespace {

using Json = nlohmann::ordered_json;

/// Six digits are more than a time is good for, and read better.
double milliseconds(double seconds) { return std::stod(fmt::format("{:.6g}", seconds * 1e3)); }

std::string note_of(const BenchRow& row) {
    if (!row.has_times() || row.is_valid()) return {};
    return fmt::format(
        "invalid: {:.4g} ms in turn but {:.4g} ms alone, more than 10 % apart; the faster counts",
        row.in_turn.median * 1e3, row.alone.median * 1e3);
}

void add_details(Json& json, const BenchRow& row) {
    json["settings"] = row.loaded.settings;
    if (!row.has_times()) return;
    json["minimum_ms"] = milliseconds(row.counted().minimum);
    json["alone_ms"] = milliseconds(row.alone.median);
    json["in_turn_ms"] = milliseconds(row.in_turn.median);
    json["runs"] = row.counted().runs;
    json["valid"] = row.is_valid();
    if (std::string note = note_of(row); !note.empty()) json["note"] = note;
}

Json row_json(const BenchRow& row, Details details) {
    Json json = {{"name", row.name},
                 {"version", nullptr},
                 {"median_ms", nullptr},
                 {"quartiles_ms", nullptr},
                 {"max_error_of_scale", nullptr}};
    if (row.absent.empty()) json["version"] = row.loaded.version;
    if (row.has_times()) {
        const Distribution& counted = row.counted();
        json["median_ms"] = milliseconds(counted.median);
        json["quartiles_ms"] = {milliseconds(counted.first_quartile),
                                milliseconds(counted.third_quartile)};
    }
    // JSON has no infinity: null, where there are times, says that the error is not finite.
    if (row.max_error_of_scale) json["max_error_of_scale"] = *row.max_error_of_scale;
    if (details == Details::Yes && row.absent.empty()) add_details(json, row);
    if (!row.absent.empty()) json["absent"] = row.absent;
    if (!row.error.empty()) json["error"] = row.error;
    return json;
}

Json machine_json(const BenchReport& report) {
    const MachineDescription& machine = report.machine;
    return {{"cpu", machine.cpu},
            {"isa", machine.isa},
            {"cores", machine.cores},
            {"first_level_bytes", machine.first_level_bytes},
            {"second_level_bytes", machine.second_level_bytes},
            {"last_level_bytes", machine.last_level_bytes},
            {"speedup_of_threads", {report.before.speedup, report.after.speedup}}};
}

Json speedups_json(const BenchReport& report) {
    Json json = Json::object();
    for (const BenchRow& row : report.rows) {
        if (row.name == "ollie") continue;
        if (auto speedup = report.speedup("ollie", row.name)) {
            json[row.name] = std::stod(fmt::format("{:.4g}", *speedup));
        }
    }
    return json;
}

std::string error_text(const BenchRow& row) {
    return row.max_error_of_scale ? fmt::format("{:.1e}", *row.max_error_of_scale) : "-";
}

std::string row_text(const BenchReport& report, const BenchRow& row) {
    std::string start = fmt::format("{:<12} {:<10}", row.name, row.loaded.version);
    if (!row.absent.empty()) return fmt::format("{} absent: {}\n", start, row.absent);
    if (!row.has_times()) return fmt::format("{} failed: {}\n", start, row.error);
    const Distribution& time = row.counted();
    auto speedup = report.speedup("ollie", row.name);
    std::string text =
        fmt::format("{} {:>10.4f} {:>10.4f} {:>10.4f} {:>10} {:>9}\n", start, time.median * 1e3,
                    time.first_quartile * 1e3, time.third_quartile * 1e3, error_text(row),
                    speedup && row.name != "ollie" ? fmt::format("{:.2f}x", *speedup) : "");
    std::string note = note_of(row);
    return note.empty() ? text : text + "    " + note + "\n";
}

}  // namespace

std::string to_json(const BenchReport& report, Details details) {
    Json rows = Json::array();
    for (const BenchRow& row : report.rows) rows.push_back(row_json(row, details));
    Json json = {{"model", report.model},
                 {"threads", report.before.threads},
                 {"machine", machine_json(report)},
                 {"fit", report.is_fit()},
                 {"rows", rows}};
    if (details == Details::Yes) json["speedups"] = speedups_json(report);
    return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string to_table(const BenchReport& report) {
    const MachineDescription& machine = report.machine;
    std::string text =
        fmt::format("{}\n{}, {} cores, {} threads bound to one each; {}\n", report.model,
                    machine.cpu, machine.cores, report.before.threads, machine.isa);
    if (!report.is_fit()) {
        text += fmt::format(
            "This machine is unfit: {} threads did {:.2f} and {:.2f} times the work of one (before "
            "and after). No ratio is claimed.\n",
            report.before.threads, report.before.speedup, report.after.speedup);
    }
    text += fmt::format("{:<12} {:<10} {:>10} {:>10} {:>10} {:>10} {:>9}\n", "", "version",
                        "median ms", "quartile 1", "quartile 3", "error", "ollie is");
    for (const BenchRow& row : report.rows) text += row_text(report, row);
    text += "Settings:\n";
    for (const BenchRow& row : report.rows) {
        if (!row.loaded.settings.empty()) {
            text += fmt::format("    {}: {}\n", row.name, row.loaded.settings);
        }
    }
    return text;
}

}  // namespace ollie::optimize
