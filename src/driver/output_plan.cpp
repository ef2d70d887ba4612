#include "driver/output_plan.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace ockc::driver {

namespace fs = std::filesystem;

namespace {

constexpr Emit kTemps[] = {Emit::Tokens, Emit::Ast, Emit::Hir, Emit::Mir, Emit::IrLowered, Emit::Ir, Emit::Ptx};

// The requests of one run, with the default kinds filled in.
std::vector<EmitRequest> requests_of(const Options& options) {
    std::vector<EmitRequest> requests = options.emits;
    if (requests.empty()) requests = {{Emit::Ptx, {}}, {Emit::Header, {}}};
    if (!options.header.empty()) {
        bool found = false;
        for (EmitRequest& one : requests) {
            if (one.emit == Emit::Header) one.path = options.header, found = true;
        }
        if (!found) requests.push_back({Emit::Header, options.header});
    }
    // -o names the only kind asked for; with the default kinds it names the PTX.
    if (!options.output.empty()) requests[0].path = options.output;
    return requests;
}

// The path of the file for one of several targets.
std::string for_target(const std::string& path, const std::string& target, std::string_view ending) {
    if (path == "-") return path;
    return fs::path(path).replace_extension(fmt::format("{}{}", target, ending)).string();
}

// What tells a file from others: device and inode of one that exists, else the path without links. Empty for pipes and
// devices, which take what several write.
std::string identity_of(const std::string& path) {
    struct stat info {};
    const auto of_inode = [&] { return S_ISREG(info.st_mode) || S_ISDIR(info.st_mode) ? fmt::format("{}:{}", info.st_dev, info.st_ino) : ""; };
    if (::stat(path.c_str(), &info) == 0) return of_inode();
    std::error_code error;
    const fs::path whole = fs::absolute(path, error);
    const fs::path plain = fs::weakly_canonical(whole, error);
    if (error) return whole.lexically_normal().string();
    // `new/../x` is x as soon as the folder is made.
    return ::stat(plain.c_str(), &info) == 0 ? of_inode() : plain.string();
}

}  // namespace

bool OutputPlan::has(Emit emit) const {
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](const PlannedOutput& one) { return one.role == OutputRole::Asked && one.emit == emit; });
}

// Where an output without a path goes: --out-dir, else beside the source, else the working folder.
std::string OutputPlan::beside(std::string_view ending) const { return (fs::path(folder) / (stem + std::string(ending))).string(); }

OutputPlan plan_outputs(const Options& options, const std::string& source) {
    OutputPlan plan;
    plan.stem = source == "-" ? "stdin" : fs::path(source).stem().string();
    plan.folder = options.out_dir.empty() && source != "-" ? fs::path(source).parent_path().string() : options.out_dir;
    const std::vector<std::string>& targets = options.compile.targets;
    const auto add = [&](OutputRole role, Emit emit, const std::string& path, std::string_view folder) {
        const std::string_view ending = emit_info(emit).ending;
        const bool per_target = (emit == Emit::Ptx || emit == Emit::Cubin) && targets.size() > 1;
        OutputPlan place = plan;
        if (!folder.empty()) place.folder = folder;
        for (std::size_t i = 0; i < (per_target ? targets.size() : 1); ++i) {
            std::string file = path;
            if (path.empty()) {
                file = place.beside(per_target ? fmt::format(".{}{}", targets[i], ending) : std::string(ending));
            } else if (per_target) {
                file = for_target(path, targets[i], ending);
            }
            plan.outputs.push_back({role, emit, i, file});
        }
    };
    for (const EmitRequest& request : requests_of(options)) add(OutputRole::Asked, request.emit, request.path, {});
    if (!options.save_temps.empty()) {
        for (Emit emit : kTemps) add(OutputRole::Temp, emit, {}, options.save_temps);
    }
    if (options.write_deps || !options.deps_file.empty()) add(OutputRole::Deps, Emit::DepInfo, options.deps_file, {});
    return plan;
}

bool same_file(const std::string& output, const std::string& input) {
    if (output == "-" || input == "-" || input.empty()) return false;
    const std::string identity = identity_of(output);
    return !identity.empty() && identity == identity_of(input);
}

std::optional<std::string> output_conflict(const std::vector<OutputPlan>& plans, const std::vector<std::string>& inputs) {
    std::map<std::string, std::string> sources;
    for (const std::string& input : inputs) {
        if (input != "-") sources.emplace(identity_of(input), input);
    }
    std::map<std::string, const PlannedOutput*> taken;
    for (const OutputPlan& plan : plans) {
        for (const PlannedOutput& one : plan.outputs) {
            if (one.path == "-") continue;
            const std::string identity = identity_of(one.path);
            if (identity.empty()) continue;
            if (const auto source = sources.find(identity); source != sources.end()) {
                return fmt::format("the output {} would overwrite the source {}", one.path, source->second);
            }
            const auto [at, fresh] = taken.emplace(identity, &one);
            if (fresh) continue;
            const PlannedOutput& other = *at->second;
            const bool shared_rules = one.role == OutputRole::Deps && other.role == OutputRole::Deps;
            const bool same_bytes = one.role != other.role && one.emit == other.emit && one.image == other.image &&
                                    std::any_of(plan.outputs.begin(), plan.outputs.end(), [&](const PlannedOutput& own) { return &own == &other; });
            if (shared_rules || same_bytes) continue;
            return fmt::format("two outputs have the path {}: {} and {}", one.path, emit_info(other.emit).name, emit_info(one.emit).name);
        }
    }
    return std::nullopt;
}

}  // namespace ockc::driver
