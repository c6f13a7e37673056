// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/gaming_guard.h"

#include "core/source/cuda_lexer.h"
#include "core/source/cuda_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace cuco {

namespace {

template <std::size_t n>
bool isAnyOf(const std::array<std::string_view, n>& names, std::string_view name)
{
    return std::ranges::find(names, name) != names.end();
}

template <std::size_t n>
bool startsWithAnyOf(const std::array<std::string_view, n>& prefixes, std::string_view name)
{
    return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// Names that mean only one thing. Those with honest meanings too (open, connect, signal) are left to the object's
/// imports and to the sandbox.
bool isForbidden(std::string_view name)
{
    static constexpr auto names = std::to_array<std::string_view>({"dlsym",
                                                                   "dlvsym",
                                                                   "dlopen",
                                                                   "dlmopen",
                                                                   "dlinfo",
                                                                   "dladdr",
                                                                   "dl_iterate_phdr",
                                                                   "_r_debug",
                                                                   "fork",
                                                                   "vfork",
                                                                   "execl",
                                                                   "execle",
                                                                   "execlp",
                                                                   "execv",
                                                                   "execve",
                                                                   "execvp",
                                                                   "execvpe",
                                                                   "execveat",
                                                                   "fexecve",
                                                                   "posix_spawn",
                                                                   "posix_spawnp",
                                                                   "popen",
                                                                   "ptrace",
                                                                   "process_vm_readv",
                                                                   "process_vm_writev",
                                                                   "syscall",
                                                                   "atexit",
                                                                   "at_quick_exit",
                                                                   "on_exit",
                                                                   "__cxa_atexit",
                                                                   "sigaction",
                                                                   "sigaltstack",
                                                                   "shm_open",
                                                                   "memfd_create",
                                                                   "mmap",
                                                                   "mmap64",
                                                                   "mprotect",
                                                                   "setsid",
                                                                   "daemon",
                                                                   "prctl",
                                                                   "fopen",
                                                                   "freopen",
                                                                   "fdopen",
                                                                   "tmpfile",
                                                                   "ofstream",
                                                                   "ifstream",
                                                                   "fstream",
                                                                   "basic_filebuf",
                                                                   "filesystem",
                                                                   "openat",
                                                                   "setrlimit",
                                                                   "inotify_init"});
    static constexpr auto prefixes =
        std::to_array<std::string_view>({"MPI_", "cuco_emu", "cuco_harness", "SYS_", "__NR_", "nvmlDeviceSet"});
    return isAnyOf(names, name) || startsWithAnyOf(prefixes, name);
}

bool isForbiddenHeader(std::string_view header)
{
    static constexpr auto names =
        std::to_array<std::string_view>({"dlfcn.h", "link.h", "elf.h", "spawn.h", "mpi.h", "fcntl.h", "fstream",
                                         "filesystem", "nvml.h", "pty.h", "ucontext.h"});
    static constexpr auto prefixes =
        std::to_array<std::string_view>({"sys/", "asm/", "linux/", "netinet/", "arpa/", "cuco_", "runtime/"});
    return isAnyOf(names, header) || startsWithAnyOf(prefixes, header);
}

class Guard {
public:
    Guard(const KernelSource& source, const Directive& directive) : source_(source), directive_(directive) {}

    std::optional<GamingFault> find()
    {
        const auto tokenised = tokeniseCuda(source_.text());
        if (!tokenised)
            return std::nullopt;  // the compiler says what is wrong with the text
        for (const auto& token : tokenised->tokens)
            (isEvolved(token.begin) ? evolved_ : frozen_).push_back(token);
        for (const auto& token : frozen_)
            if (token.kind == TokenKind::identifier)
                frozen_names_.insert(token.text);
        lookAtDirectives();
        for (const auto& include : tokenised->includes)
            if (isEvolvedLine(include.line))
                lookAtInclude(include);
        for (std::size_t i = 0; i < evolved_.size(); ++i)
            lookAtToken(i);
        return std::move(found_);
    }

private:
    bool isEvolved(std::size_t at) const
    {
        return std::ranges::any_of(source_.blocks(),
                                   [&](const EvolveBlock& block) { return at >= block.begin && at < block.end; });
    }
    bool isEvolvedLine(std::size_t line) const
    {
        return std::ranges::any_of(source_.blocks(), [&](const EvolveBlock& block) {
            return line >= block.first_line && line <= block.last_line;
        });
    }

    /// Keeps the one that comes first in the text.
    void report(Verdict verdict, std::size_t line, std::string message)
    {
        if (!found_ || line < found_->fault.line)
            found_ = GamingFault{verdict, {line, std::move(message)}};
    }

    void lookAtMacro(std::string_view name, std::size_t line)
    {
        if (frozen_names_.contains(name) || name.starts_with("CUCO_"))
            report(Verdict::frozen_code_changed, line,
                   fmt::format("The macro {} would change what the frozen code means.", name));
    }

    /// #undef and #pragma, of which tokens say nothing.
    void lookAtDirectives()
    {
        CudaLexer lexer(source_.text());
        for (Lexeme lexeme = lexer.next(); lexeme.kind != LexemeKind::end; lexeme = lexer.next()) {
            if (lexeme.kind != LexemeKind::preprocessor || !isEvolved(lexeme.begin))
                continue;
            const std::string_view text(source_.text().data() + lexeme.begin, lexeme.end - lexeme.begin);
            const auto word = text.find_first_not_of("# \t");
            if (word == text.npos)
                continue;
            const auto rest = text.substr(word);
            if (rest.starts_with("undef")) {
                const auto name = rest.find_first_not_of(" \t", 5);
                if (name != rest.npos)
                    lookAtMacro(rest.substr(name, rest.find_first_of(" \t/\n", name) - name), lexeme.line);
            } else if (rest.starts_with("pragma") && rest.find("_macro") != rest.npos) {
                report(Verdict::frozen_code_changed, lexeme.line, "Macros are not to be saved or restored by #pragma.");
            } else if (rest.starts_with("line") || rest.starts_with("include_next") || rest.starts_with("embed")) {
                report(Verdict::tampering, lexeme.line,
                       fmt::format("#{} has no place in a candidate.", rest.substr(0, 5)));
            }
        }
    }

    void lookAtInclude(const IncludeLine& include)
    {
        if (include.header.starts_with("/") || include.header.find("..") != include.header.npos)
            report(Verdict::tampering, include.line,
                   fmt::format("The file {} is not a header of a library.", include.header));
        else if (isForbiddenHeader(include.header))
            report(Verdict::tampering, include.line,
                   fmt::format("Nothing of the header {} may be used by a candidate.", include.header));
    }

    std::string_view textAt(std::size_t i) const { return i < evolved_.size() ? evolved_[i].text : std::string_view(); }

    /// Of the parenthesis that closes the one at `open`; the number of tokens when none does.
    std::size_t closing(std::size_t open) const
    {
        std::size_t depth = 0;
        for (std::size_t i = open; i < evolved_.size(); ++i) {
            if (evolved_[i].text == "(")
                ++depth;
            else if (evolved_[i].text == ")" && --depth == 0)
                return i;
        }
        return evolved_.size();
    }

    void lookAtAssembly(std::size_t i)
    {
        std::string text;
        const auto end = closing(i);
        for (std::size_t j = i; j < end && j < evolved_.size(); ++j)
            if (evolved_[j].kind == TokenKind::literal)
                text += evolved_[j].text.substr(1, evolved_[j].text.size() < 2 ? 0 : evolved_[j].text.size() - 2);
        for (const std::string_view word : {"syscall", "sysenter", "int $0x80", "svc ", ".incbin", ".include", ".globl",
                                            ".global", ".section", ".symver", ".set "})
            if (text.find(word) != text.npos && text.find(".global.") == text.npos)
                report(Verdict::tampering, evolved_[i].line,
                       fmt::format("Assembly with \"{}\" has no place in a candidate.", word));
    }

    void lookAtToken(std::size_t i)
    {
        const CudaToken& token = evolved_[i];
        if (token.text == "%" && textAt(i + 1) == ":" && evolved_[i + 1].begin == token.begin + 1)
            report(Verdict::tampering, token.line, "%: stands for #; write preprocessor directives plainly.");
        if (token.kind != TokenKind::identifier)
            return;
        const bool names_macro = token.directive != 0 && (i == 0 || evolved_[i - 1].directive != token.directive);
        if (names_macro)
            lookAtMacro(token.text, token.line);
        else if (token.text == "_Pragma")
            report(Verdict::tampering, token.line, "_Pragma has no place in a candidate; write #pragma.");
        else if (token.text == "asm" || token.text == "__asm__" || token.text == "__asm")
            lookAtAssembly(i);
        else if (isForbidden(token.text))
            report(Verdict::tampering, token.line,
                   fmt::format("{} has no place in a candidate: it computes, communicates and allocates, nothing else.",
                               token.text));
        else if (isAttribute(i))
            report(Verdict::tampering, token.line,
                   fmt::format("The attribute {} runs or replaces code behind the harness's back.", token.text));
        else if (directive_.backend != "host" && isHostCollective(token.text))
            report(Verdict::invalid_directive, token.line,
                   fmt::format("The directive says backend={}, but {} is a host collective.", directive_.backend,
                               token.text));
    }

    bool isAttribute(std::size_t i) const
    {
        static constexpr auto names = std::to_array<std::string_view>(
            {"constructor", "destructor", "init_priority", "ifunc", "alias", "weak", "weakref", "section", "cleanup"});
        auto name = evolved_[i].text;
        if (name.starts_with("__") && name.ends_with("__") && name.size() > 4)
            name = name.substr(2, name.size() - 4);
        if (!isAnyOf(names, name))
            return false;
        for (std::size_t back = 1; back <= 6 && back <= i; ++back) {
            const auto before = evolved_[i - back].text;
            if (before == "__attribute__" || before == "gnu")
                return true;
            if (before == ";" || before == "}")
                return false;
        }
        return false;
    }

    const KernelSource& source_;
    const Directive& directive_;
    std::vector<CudaToken> evolved_, frozen_;
    std::set<std::string_view> frozen_names_;
    std::optional<GamingFault> found_;
};

}  // namespace

bool isHostCollective(std::string_view name)
{
    static constexpr auto names = std::to_array<std::string_view>(
        {"ncclAllGather", "ncclAllReduce", "ncclReduceScatter", "ncclReduce", "ncclBroadcast", "ncclBcast",
         "ncclAlltoAll", "ncclGather", "ncclScatter", "ncclSend", "ncclRecv"});
    return isAnyOf(names, name.starts_with("pnccl") ? name.substr(1) : name);
}

std::optional<GamingFault> findGaming(const KernelSource& source, const Directive& directive)
{
    return Guard(source, directive).find();
}

}  // namespace cuco
