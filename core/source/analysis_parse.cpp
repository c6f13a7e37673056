// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/analysis_libclang.h"
#include "core/source/analysis_tree.h"

#include "core/base/files.h"

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>

namespace cuco::analysis {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view source_file = "/cuco/source.cu", missing_file = "/cuco/missing.h";
constexpr std::size_t most_unresolved = 200;

/// A folder that goes away with its owner.
class ScratchFolder {
public:
    static Result<ScratchFolder> make()
    {
        std::string pattern = (fs::temp_directory_path() / "cuco-analysis-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) {
            return failure("No folder for temporary files can be made.", pattern, "Check TMPDIR and the disk's space.");
        }
        ScratchFolder folder;
        folder.path = pattern;
        return folder;
    }
    ScratchFolder(ScratchFolder&& other) noexcept : path(std::exchange(other.path, {})) {}
    ~ScratchFolder()
    {
        std::error_code ignored;
        if (!path.empty()) {
            fs::remove_all(path, ignored);
        }
    }
    fs::path path;

private:
    ScratchFolder() = default;
};

struct Folder {
    std::string name;  ///< as the compiler sees it
    fs::path real;
    std::string option;
};

/// libstdc++'s folders of the newest release that is here.
void addStandardLibrary(std::vector<Folder>& folders)
{
    std::error_code error;
    int newest = 0;
    for (const auto& entry : fs::directory_iterator("/usr/include/c++", error)) {
        newest = std::max(newest, std::atoi(entry.path().filename().c_str()));
    }
    if (newest == 0) {
        return;
    }
    const std::string release = std::to_string(newest);
    folders.push_back({"/usr/include/c++/" + release, "/usr/include/c++/" + release, "-isystem"});
    for (const auto& entry : fs::directory_iterator("/usr/include", error)) {
        const fs::path triplet = entry.path() / "c++" / release;
        if (fs::is_directory(triplet, error)) {
            folders.push_back({triplet.string(), triplet, "-isystem"});
        }
    }
}

/// The folders that a source can include from. The compiler sees no other file at all: an #include of anything else
/// finds nothing.
std::vector<Folder> foldersOf(const AnalysisRequest& request)
{
    std::vector<Folder> folders{{"/cuco/include", request.declarations / "include", "-isystem"}};
    for (std::size_t i = 0; i < request.include_folders.size(); ++i) {
        folders.push_back({fmt::format("/cuco/headers/{}", i), request.include_folders[i], "-I"});
    }
    addStandardLibrary(folders);
    folders.push_back({"/usr/include", "/usr/include", "-idirafter"});
    for (const char* place : {"/usr/lib/llvm-19/lib/clang/19/include", "/usr/lib/clang/19/include"}) {
        folders.push_back({place, place, "-isystem"});
    }
    folders.push_back({"/cuco/fallback", request.declarations / "fallback", "-idirafter"});
    std::erase_if(folders, [](const Folder& folder) {
        std::error_code error;
        return !fs::is_directory(folder.real, error);
    });
    return folders;
}

std::string overlayOf(const std::vector<Folder>& folders)
{
    nlohmann::json roots = nlohmann::json::array();
    for (const Folder& folder : folders) {
        std::error_code error;
        const fs::path real = fs::canonical(folder.real, error);
        roots.push_back({{"type", "directory-remap"},
                         {"name", folder.name},
                         {"external-contents", error ? folder.real.string() : real.string()}});
    }
    return nlohmann::json{{"version", 0},
                          {"case-sensitive", true},
                          {"fallthrough", false},
                          {"use-external-names", false},
                          {"roots", std::move(roots)}}
        .dump();
}

std::vector<std::string> argumentsFor(const std::vector<Folder>& folders, const fs::path& overlay)
{
    std::vector<std::string> arguments{"-xcuda",
                                       "--cuda-host-only",
                                       "-nocudainc",
                                       "-nocudalib",
                                       "-std=c++20",
                                       "-ferror-limit=0",
                                       "-fno-spell-checking",
                                       "-w",
                                       "-nostdinc",
                                       "-nostdinc++",
                                       "-ftemplate-depth=128",
                                       "-fconstexpr-steps=100000",
                                       "-D__NVCC__",
                                       "-D__CUDACC__=1",
                                       "-D__CUDACC_VER_MAJOR__=12",
                                       "-D__CUDA_ARCH__=900",
                                       "-ivfsoverlay",
                                       overlay.string()};
    for (const Folder& folder : folders) {
        arguments.push_back(folder.option);
        arguments.push_back(folder.name);
        // Debian's libc keeps a part of its headers in a folder of the machine's.
        if (folder.name == "/usr/include") {
            for (const char* triplet : {"x86_64-linux-gnu", "aarch64-linux-gnu"}) {
                arguments.insert(arguments.end(), {"-idirafter", fmt::format("/usr/include/{}", triplet)});
            }
        }
    }
    arguments.insert(arguments.end(), {"-include", "cuda_runtime.h"});
    return arguments;
}

std::string quotedName(const std::string& message)
{
    const std::size_t open = message.find('\'');
    const std::size_t close = open == std::string::npos ? open : message.find('\'', open + 1);
    return close == std::string::npos ? "" : message.substr(open + 1, close - open - 1);
}

std::string kindOf(const std::string& message)
{
    if (message.ends_with("file not found")) {
        return "include";
    }
    if (message.starts_with("use of undeclared") || message.starts_with("unknown type name") ||
        message.starts_with("no template named") || message.starts_with("no type named")) {
        return "name";
    }
    if (message.starts_with("no member named") || message.starts_with("no matching")) {
        return "member";
    }
    return message.starts_with("expected") || message.starts_with("extraneous") || message.starts_with("unterminated")
               ? "syntax"
               : "other";
}

void readDiagnostics(const LibClang& clang, CXTranslationUnit unit, TreeBuilder& tree)
{
    std::set<std::string> seen;
    for (unsigned i = 0; i < clang.getNumDiagnostics(unit); ++i) {
        const CXDiagnostic diagnostic = clang.getDiagnostic(unit, i);
        const bool counts = clang.getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error;
        const std::string message = clang.text(clang.getDiagnosticSpelling(diagnostic));
        CXFile file = nullptr;
        unsigned line = 0;
        clang.getFileLocation(clang.getDiagnosticLocation(diagnostic), &file, &line, nullptr, nullptr);
        clang.disposeDiagnostic(diagnostic);
        const int index = tree.fileOf(file);
        if (!counts || index < 0) {
            continue;  // the system's headers and ours are no business of the source's
        }
        Program& program = tree.program();
        Unresolved unresolved{kindOf(message), quotedName(message), message,
                              program.files[static_cast<std::size_t>(index)].name, line};
        if (!seen.insert(fmt::format("{}|{}|{}", unresolved.kind, unresolved.name, line)).second) {
            continue;
        }
        if (program.unresolved.size() == most_unresolved) {
            program.truncated = true;
            return;
        }
        program.unresolved.push_back(std::move(unresolved));
    }
}

/// Names that stand for values and that nothing declares. A call with such an argument is no call to libclang.
std::string missingValues(const Program& program, const std::string& source)
{
    std::set<std::string> names;
    for (const Unresolved& unresolved : program.unresolved) {
        const bool plain = std::ranges::all_of(
            unresolved.name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
        if (!plain || unresolved.name.empty() || !unresolved.message.starts_with("use of undeclared identifier")) {
            continue;
        }
        bool value = true;
        for (std::size_t at = source.find(unresolved.name); at != std::string::npos && value;
             at = source.find(unresolved.name, at + 1)) {
            const std::size_t next = source.find_first_not_of(" \t\r\n", at + unresolved.name.size());
            value = next == std::string::npos || std::string_view("(<:{").find(source[next]) == std::string_view::npos;
        }
        if (value) {
            names.insert(unresolved.name);
        }
    }
    std::string declarations;
    for (const std::string& name : names) {
        declarations += "extern cuco_missing " + name + ";\n";
    }
    return declarations.empty()
               ? ""
               : "struct cuco_missing {\n    template <class T>\n    operator T() const;\n};\n" + declarations;
}

Result<Program> parseOnce(const LibClang& clang, const AnalysisRequest& request, std::vector<std::string> arguments,
                          const std::string& missing)
{
    std::vector<CXUnsavedFile> files{{source_file.data(), request.source.data(), request.source.size()}};
    if (!missing.empty()) {
        files.push_back({missing_file.data(), missing.data(), missing.size()});
        arguments.insert(arguments.end(), {"-include", std::string(missing_file)});
    }
    std::vector<const char*> pointers;
    for (const std::string& argument : arguments) {
        pointers.push_back(argument.c_str());
    }
    const std::unique_ptr<void, void (*)(CXIndex)> index(clang.createIndex(0, 0), clang.disposeIndex);
    CXTranslationUnit unit = nullptr;
    const CXErrorCode code = clang.parseTranslationUnit2(
        index.get(), source_file.data(), pointers.data(), static_cast<int>(pointers.size()), files.data(),
        static_cast<unsigned>(files.size()), CXTranslationUnit_KeepGoing, &unit);
    if (code != CXError_Success || unit == nullptr) {
        return failure(fmt::format("libclang could not read the source (code {}).", static_cast<int>(code)),
                       request.name, "Check that it is CUDA or C++ text.");
    }
    const std::unique_ptr<CXTranslationUnitImpl, void (*)(CXTranslationUnit)> owner(unit, clang.disposeTranslationUnit);
    TreeBuilder tree(clang, unit, request.source);
    tree.read();
    readDiagnostics(clang, unit, tree);
    return std::move(tree.program());
}

}  // namespace

Result<Program> parseProgram(const AnalysisRequest& request)
{
    const auto clang = LibClang::load();
    if (!clang) {
        return std::unexpected(clang.error());
    }
    const auto scratch = ScratchFolder::make();
    if (!scratch) {
        return std::unexpected(scratch.error());
    }
    const std::vector<Folder> folders = foldersOf(request);
    const fs::path overlay = scratch->path / "overlay.yaml";
    if (const auto written = writeFileAtomically(overlay, overlayOf(folders)); !written) {
        return std::unexpected(written.error());
    }
    const std::vector<std::string> arguments = argumentsFor(folders, overlay);
    auto program = parseOnce(*clang, request, arguments, "");
    const std::string missing = program ? missingValues(*program, request.source) : "";
    if (missing.empty()) {
        return program;
    }
    auto again = parseOnce(*clang, request, arguments, missing);
    if (again) {
        // What is missing is still missing.
        again->unresolved = std::move(program->unresolved);
    }
    return again;
}

std::string Program::text(int node) const
{
    constexpr std::size_t longest = 160;
    const Node& here = at(node);
    const std::string& file = files[static_cast<std::size_t>(here.file)].text;
    if (here.end <= here.begin || here.end > file.size()) {
        return here.name;
    }
    std::string joined;
    for (const char c : std::string_view(file).substr(here.begin, here.end - here.begin)) {
        const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\\';
        if (!blank) {
            joined += c;
        } else if (!joined.empty() && joined.back() != ' ' && joined.back() != '(') {
            joined += ' ';
        }
        if (joined.size() > longest) {
            return joined + "…";
        }
    }
    return joined;
}

}  // namespace cuco::analysis
