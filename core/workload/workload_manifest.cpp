// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/workload/manifest_values.h"
#include "core/workload/program_manifest.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <system_error>

namespace cuco {

namespace {

using nlohmann::json;

constexpr std::uint64_t max_manifest_bytes = 1 << 20;
constexpr std::size_t max_parameters = 16;  // CUCO_MAX_SHAPE_PARAMETERS of the harness
constexpr std::size_t max_shapes = 64;
constexpr std::size_t max_buffers = 16;
constexpr std::size_t max_strategies = 256, max_baselines = 16, max_headers = 16;
constexpr int max_ranks = 64;
constexpr int max_timeout_s = 24 * 3600;

/// Names become words of job.txt and parts of file names.
bool isName(const std::string& text, bool identifier)
{
    const auto is_allowed = [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               (!identifier && c == '-');
    };
    return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, is_allowed) &&
           !(identifier && text.front() >= '0' && text.front() <= '9');
}

std::optional<ElementType> elementType(std::string_view text)
{
    for (const ElementType type : {ElementType::bf16, ElementType::f16, ElementType::f32, ElementType::i32}) {
        if (text == toString(type)) {
            return type;
        }
    }
    return std::nullopt;
}

/// Reads one manifest; the first fault is kept and ends the reading.
class ManifestReader {
public:
    ManifestReader(const json& document, std::filesystem::path folder, std::string where)
        : document_(document), where_(std::move(where))
    {
        workload_.folder = std::move(folder);
    }

    Result<Workload> read()
    {
        JsonReader reader(document_, where_);
        int format = 0;
        std::string dtype;
        reader.required("format", format).required("name", workload_.name).required("title", workload_.title);
        reader.required("summary", workload_.summary).required("parameters", workload_.parameters);
        reader.required("ranks", workload_.ranks).required("dtype", dtype);
        checkHead(reader, format, dtype);
        readTolerance(reader);
        workload_.inputs = readBuffers(reader, "inputs");
        workload_.outputs = readBuffers(reader, "outputs");
        readRoofline(reader);
        readShapes(reader);
        readSources(reader);
        readHeaders(reader);
        readStrategies(reader);
        readBaselines(reader);
        readTimeouts(reader);
        note(reader.finishKnowingAll());
        if (!error_) {
            note(checkManifestValues(workload_, where_));
        }
        return error_ ? Result<Workload>(std::unexpected(*error_)) : std::move(workload_);
    }

private:
    template <class T>
    void note(const Result<T>& result)
    {
        if (!result && !error_) {
            error_ = result.error();
        }
    }

    void checkHead(JsonReader& reader, int format, const std::string& dtype)
    {
        if (reader.finish() && format != 1) {
            reader.fault("format", "must be 1");
        }
        if (!isName(workload_.name, false)) {
            reader.fault("name", "must be made of letters, digits, \"_\" and \"-\"");
        }
        const std::set<std::string> unique(workload_.parameters.begin(), workload_.parameters.end());
        const bool are_names = std::ranges::all_of(unique, [](const std::string& name) { return isName(name, true); });
        if (unique.empty() || unique.size() > max_parameters || unique.size() != workload_.parameters.size() ||
            !are_names || unique.contains("ranks") || unique.contains("rank")) {
            reader.fault("parameters", fmt::format("must have 1 to {} different names, without \"ranks\" and \"rank\"",
                                                   max_parameters));
        }
        const std::set<int> counts(workload_.ranks.begin(), workload_.ranks.end());
        if (counts.empty() || *counts.begin() < 1 || *counts.rbegin() > max_ranks ||
            counts.size() != workload_.ranks.size()) {
            reader.fault("ranks", fmt::format("must have different numbers from 1 to {}", max_ranks));
        }
        if (const auto type = elementType(dtype)) {
            workload_.dtype = *type;
        } else {
            reader.fault("dtype", "must be bf16, f16, f32 or i32");
        }
    }

    void readTolerance(JsonReader& parent)
    {
        if (const json* object = parent.object("tolerance")) {
            JsonReader reader(*object, where_, "tolerance");
            Tolerance& tolerance = workload_.tolerance;
            reader.required("relative_l2", tolerance.relative_l2).required("max_error", tolerance.max_error);
            for (const auto& [name, value] :
                 {std::pair("relative_l2", tolerance.relative_l2), std::pair("max_error", tolerance.max_error)}) {
                if (!std::isfinite(value) || value < 0 || value > 1) {
                    reader.fault(name, "must be from 0 to 1");
                }
            }
            note(reader.finishKnowingAll());
        }
    }

    SizeExpression readExpression(JsonReader& reader, std::string_view name)
    {
        std::string text;
        reader.required(name, text);
        if (!reader.finish()) {
            return {};
        }
        auto expression = SizeExpression::parse(text);
        if (!expression) {
            reader.fault(name, "is not understood: " + expression.error().what);
        }
        return expression.value_or(SizeExpression());
    }

    std::vector<BufferSpec> readBuffers(JsonReader& parent, std::string_view list_name)
    {
        std::vector<BufferSpec> buffers;
        const json* list = parent.array(list_name);
        if (list && (list->empty() || list->size() > max_buffers)) {
            parent.fault(list_name, fmt::format("must have 1 to {} buffers", max_buffers));
            return buffers;
        }
        for (std::size_t i = 0; list && i < list->size(); ++i) {
            BufferSpec buffer;
            std::string type;
            JsonReader reader((*list)[i], where_, fmt::format("{}[{}]", list_name, i));
            reader.required("name", buffer.name).required("type", type);
            buffer.elements = readExpression(reader, "elements");
            if (!isName(buffer.name, true) || !buffer_names_.insert(buffer.name).second) {
                reader.fault("name", "must be an identifier that no other buffer has");
            }
            if (const auto known = elementType(type)) {
                buffer.type = *known;
            } else {
                reader.fault("type", "must be bf16, f16, f32 or i32");
            }
            note(reader.finishKnowingAll());
            buffers.push_back(std::move(buffer));
        }
        return buffers;
    }

    void readRoofline(JsonReader& parent)
    {
        if (const json* object = parent.object("roofline")) {
            JsonReader reader(*object, where_, "roofline");
            workload_.roofline.flops = readExpression(reader, "flops");
            workload_.roofline.hbm_bytes = readExpression(reader, "hbm_bytes");
            workload_.roofline.link_bytes = readExpression(reader, "link_bytes");
            note(reader.finishKnowingAll());
        }
    }

    SizeValues readParameters(JsonReader& reader)
    {
        SizeValues values;
        for (const std::string& parameter : workload_.parameters) {
            std::int64_t value = 0;
            reader.required(parameter, value);
            if (value < 0) {
                reader.fault(parameter, "must not be negative");
            }
            values[parameter] = value;
        }
        return values;
    }

    enum class Represents { never, optional, always };

    std::vector<Shape> readShapeList(JsonReader& parent, std::string_view list_name, Represents represents,
                                     std::set<std::string>& names)
    {
        std::vector<Shape> shapes;
        const json* list = parent.array(list_name);
        if (list && list->size() > max_shapes) {
            parent.fault(list_name, fmt::format("must have at most {} shapes", max_shapes));
            return shapes;
        }
        for (std::size_t i = 0; list && i < list->size(); ++i) {
            const std::string path = fmt::format("shapes.{}[{}]", list_name, i);
            JsonReader reader((*list)[i], where_, path);
            Shape shape;
            reader.required("name", shape.name);
            if (!isName(shape.name, false) || !names.insert(shape.name).second) {
                reader.fault("name",
                             "must be letters, digits, \"_\" and \"-\", different from other shapes of its kind");
            }
            shape.parameters = readParameters(reader);
            const bool wanted = represents == Represents::always ||
                                (represents == Represents::optional && reader.present("represents"));
            if (const json* object = wanted ? reader.object("represents") : nullptr) {
                JsonReader represented(*object, where_, path + ".represents");
                shape.represents = readParameters(represented);
                note(represented.finishKnowingAll());
            }
            note(reader.finishKnowingAll());
            shapes.push_back(std::move(shape));
        }
        return shapes;
    }

    void readShapes(JsonReader& parent)
    {
        const json* object = parent.object("shapes");
        if (!object) {
            return;
        }
        JsonReader reader(*object, where_, "shapes");
        std::set<std::string> names, emulated_names;
        workload_.search_shapes = readShapeList(reader, "search", Represents::never, names);
        workload_.verify_shapes = readShapeList(reader, "verify", Represents::never, names);
        workload_.validation_shapes = readShapeList(reader, "validation", Represents::never, names);
        workload_.emulated_search_shapes = readShapeList(reader, "emulated_search", Represents::always, emulated_names);
        workload_.emulated_verify_shapes =
            readShapeList(reader, "emulated_verify", Represents::optional, emulated_names);
        if (reader.present("emulated_validation")) {
            workload_.emulated_validation_shapes =
                readShapeList(reader, "emulated_validation", Represents::always, emulated_names);
        }
        // Nothing is searched that could not be verified.
        if (workload_.search_shapes.empty() && workload_.emulated_search_shapes.empty()) {
            reader.fault("search", "and \"emulated_search\" must not both be empty");
        }
        if (!workload_.search_shapes.empty() && workload_.verify_shapes.empty()) {
            reader.fault("verify", "must not be empty");
        }
        if (!workload_.emulated_search_shapes.empty() && workload_.emulated_verify_shapes.empty()) {
            reader.fault("emulated_verify", "must not be empty");
        }
        note(reader.finishKnowingAll());
    }

    /// The file's full path, once it is sure to be a file of the workload's own folder.
    std::filesystem::path checkFile(JsonReader& reader, std::string_view field, const std::string& name)
    {
        const std::filesystem::path file = workload_.folder / name;
        std::error_code error;
        const auto root = std::filesystem::canonical(workload_.folder, error);
        const auto real = std::filesystem::weakly_canonical(file, error);
        const auto [end_of_root, rest] = std::ranges::mismatch(root, real);
        if (name.empty() || std::filesystem::path(name).is_absolute() || end_of_root != root.end()) {
            reader.fault(field, fmt::format("names \"{}\", which is outside the workload's folder", name));
        } else if (!std::filesystem::is_regular_file(real, error)) {
            reader.fault(field, fmt::format("names the file \"{}\", which is not there", name));
        }
        return file;
    }

    void readSources(JsonReader& parent)
    {
        if (const json* object = parent.object("sources")) {
            JsonReader reader(*object, where_, "sources");
            for (const auto& [name, path] :
                 {std::pair("host", &workload_.host_source), std::pair("seed", &workload_.seed_source),
                  std::pair("reference", &workload_.reference_source)}) {
                std::string file;
                reader.required(name, file);
                *path = checkFile(reader, name, file);
            }
            note(reader.finishKnowingAll());
        }
    }

    /// They are put beside each source that is compiled, hence plain names.
    void readHeaders(JsonReader& reader)
    {
        std::vector<std::string> files;
        reader.optional("headers", files);
        const std::set<std::string> names(files.begin(), files.end());
        if (files.size() > max_headers || names.size() != files.size()) {
            reader.fault("headers", fmt::format("must have at most {} different files", max_headers));
            return;
        }
        for (const std::string& file : files) {
            const std::filesystem::path path(file);
            if (path.has_parent_path() || !isName(path.stem().string(), false) ||
                (path.extension() != ".h" && path.extension() != ".cuh")) {
                reader.fault("headers", fmt::format("names \"{}\", which is not the name of a .h or .cuh file", file));
            }
            workload_.headers.push_back(checkFile(reader, "headers", file));
        }
    }

    void readStrategies(JsonReader& reader)
    {
        std::vector<std::string> files;
        reader.optional("strategies", files);
        if (files.size() > max_strategies) {
            reader.fault("strategies", fmt::format("must have at most {} files", max_strategies));
            return;
        }
        std::set<std::string> names;
        for (const std::string& file : files) {
            Strategy strategy{std::filesystem::path(file).stem().string(), checkFile(reader, "strategies", file)};
            if (!names.insert(strategy.name).second) {
                reader.fault("strategies", fmt::format("has two strategies called \"{}\"", strategy.name));
            }
            workload_.strategies.push_back(std::move(strategy));
        }
    }

    void readBaselines(JsonReader& parent)
    {
        std::string compute_alone;
        parent.optional("compute_alone", compute_alone);
        parent.optional("compute_alone_bounds", workload_.compute_alone_bounds);
        if (!compute_alone.empty()) {
            workload_.compute_alone_source = checkFile(parent, "compute_alone", compute_alone);
        }
        if (!parent.present("baselines")) {
            return;
        }
        const json* list = parent.array("baselines");
        if (list && list->size() > max_baselines) {
            parent.fault("baselines", fmt::format("must have at most {} entries", max_baselines));
            return;
        }
        std::set<std::string> names{workload_.host_source.stem().string()};
        for (std::size_t i = 0; list && i < list->size(); ++i) {
            JsonReader reader((*list)[i], where_, fmt::format("baselines[{}]", i));
            HostBaseline baseline;
            std::string file;
            reader.required("name", baseline.name);
            reader.required("source", file);
            reader.optional("gpu_only", baseline.gpu_only);
            if (!isName(baseline.name, false) || !names.insert(baseline.name).second) {
                reader.fault("name", "must be letters, digits, \"_\" and \"-\", different from other baselines");
            }
            baseline.file = checkFile(reader, "source", file);
            note(reader.finishKnowingAll());
            workload_.baselines.push_back(std::move(baseline));
        }
    }

    void readTimeouts(JsonReader& parent)
    {
        if (!parent.present("timeouts_s")) {
            return;
        }
        if (const json* object = parent.object("timeouts_s")) {
            JsonReader reader(*object, where_, "timeouts_s");
            for (const auto& [name, timeout] :
                 {std::pair("compile", &workload_.compile_timeout), std::pair("run", &workload_.run_timeout)}) {
                auto seconds = static_cast<int>(timeout->count());
                reader.optional(name, seconds);
                if (seconds < 1 || seconds > max_timeout_s) {
                    reader.fault(name, fmt::format("must be from 1 to {}", max_timeout_s));
                }
                *timeout = std::chrono::seconds(seconds);
            }
            note(reader.finishKnowingAll());
        }
    }

    const json& document_;
    std::string where_;
    Workload workload_;
    std::set<std::string> buffer_names_;
    std::optional<Error> error_;
};

}  // namespace

Result<Workload> loadWorkload(const std::filesystem::path& folder)
{
    const auto file = folder / "workload.json";
    const auto text = readFile(file, max_manifest_bytes);
    if (!text) {
        return std::unexpected(text.error());
    }
    const auto document = parseJson(*text, file.string());
    if (!document) {
        return std::unexpected(document.error());
    }
    if (!document->is_object() || !document->contains("kind"))
        return ManifestReader(*document, folder, file.string()).read();
    if ((*document)["kind"] != "program")
        return failure("The field \"kind\" must be \"program\", or missing.", file.string());
    return readProgramManifest(*document, folder, file.string());
}

Result<std::vector<Workload>> loadWorkloads(const std::filesystem::path& root)
{
    std::error_code error;
    std::vector<Workload> workloads;
    for (auto entry = std::filesystem::directory_iterator(root, error);
         !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        std::error_code ignored;
        if (!std::filesystem::exists(entry->path() / "workload.json", ignored)) {
            continue;
        }
        auto workload = loadWorkload(entry->path());
        if (!workload) {
            return std::unexpected(std::move(workload.error()));
        }
        workloads.push_back(std::move(*workload));
    }
    if (error) {
        return failure(fmt::format("The workloads cannot be listed: {}.", error.message()), root.string(),
                       "Check the installation, or set CUCO_DATA_DIR.");
    }
    std::ranges::sort(workloads, {}, &Workload::name);
    for (std::size_t i = 1; i < workloads.size(); ++i) {
        if (workloads[i].name == workloads[i - 1].name) {
            return failure(fmt::format("Two workloads are called \"{}\".", workloads[i].name), root.string(),
                           "Rename one of them in its workload.json.");
        }
    }
    return workloads;
}

}  // namespace cuco
