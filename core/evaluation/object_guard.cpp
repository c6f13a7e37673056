// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/object_guard.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace cuco {

namespace {

constexpr std::size_t most_sections = 10'000, most_symbols = 1'000'000, longest_name = 4096;

/// Reads within bounds only.
class ElfReader {
public:
    explicit ElfReader(std::string_view bytes) : bytes_(bytes) {}

    std::optional<ObjectSymbols> read()
    {
        const auto header = at<Elf64_Ehdr>(0);
        if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
            header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_shentsize != sizeof(Elf64_Shdr))
            return std::nullopt;
        std::vector<Elf64_Shdr> sections;
        for (std::size_t i = 0; i < std::min<std::size_t>(header->e_shnum, most_sections); ++i) {
            const auto section = at<Elf64_Shdr>(header->e_shoff, i);
            if (!section)
                return std::nullopt;
            sections.push_back(*section);
        }
        for (const auto& section : sections)
            if ((section.sh_type == SHT_DYNSYM || section.sh_type == SHT_SYMTAB) && section.sh_link < sections.size())
                readSymbols(section, sections[section.sh_link]);
        return std::move(symbols_);
    }

private:
    template <class T>
    std::optional<T> at(std::uint64_t offset, std::uint64_t index = 0) const
    {
        if (offset > bytes_.size() || index > bytes_.size() / sizeof(T) ||
            bytes_.size() - offset < (index + 1) * sizeof(T))
            return std::nullopt;
        T value;
        std::memcpy(&value, bytes_.data() + offset + index * sizeof(T), sizeof(T));
        return value;
    }

    std::string_view name(const Elf64_Shdr& strings, std::uint64_t offset) const
    {
        if (strings.sh_offset > bytes_.size() || offset >= bytes_.size() - strings.sh_offset)
            return {};
        const auto text = bytes_.substr(strings.sh_offset + offset, longest_name);
        return text.substr(0, text.find('\0'));
    }

    void readSymbols(const Elf64_Shdr& table, const Elf64_Shdr& strings)
    {
        const bool dynamic = table.sh_type == SHT_DYNSYM;
        const auto count = std::min<std::uint64_t>(table.sh_size / sizeof(Elf64_Sym), most_symbols);
        for (std::uint64_t i = 1; i < count; ++i) {
            const auto symbol = at<Elf64_Sym>(table.sh_offset, i);
            if (!symbol)
                return;
            const auto text = name(strings, symbol->st_name);
            const auto binding = ELF64_ST_BIND(symbol->st_info);
            if (!dynamic)  // what GCC calls the function that runs constructors of a file's objects
                symbols_.has_static_constructors |=
                    text.starts_with("_GLOBAL__sub_I") || text.starts_with("_GLOBAL__I_");
            else if (symbol->st_shndx == SHN_UNDEF)
                symbols_.imports.emplace_back(text);
            else if (binding != STB_WEAK && binding != STB_LOCAL)
                symbols_.exports.emplace_back(text);
        }
    }

    std::string_view bytes_;
    ObjectSymbols symbols_;
};

template <std::size_t n>
bool isAnyOf(const std::array<std::string_view, n>& names, std::string_view name)
{
    return std::ranges::find(names, name) != names.end();
}

/// Never needed, not even by the CUDA runtime that nvcc links into the object.
bool isForbiddenImport(std::string_view name)
{
    static constexpr auto names = std::to_array<std::string_view>({"fork",
                                                                   "vfork",
                                                                   "clone",
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
                                                                   "system",
                                                                   "ptrace",
                                                                   "process_vm_readv",
                                                                   "process_vm_writev",
                                                                   "setsid",
                                                                   "daemon",
                                                                   "prctl",
                                                                   "sigaction",
                                                                   "signal",
                                                                   "sigaltstack",
                                                                   "memfd_create",
                                                                   "openat",
                                                                   "openat64",
                                                                   "creat",
                                                                   "truncate",
                                                                   "rename",
                                                                   "setrlimit",
                                                                   "setrlimit64",
                                                                   "on_exit",
                                                                   "at_quick_exit",
                                                                   "dlinfo",
                                                                   "dl_iterate_phdr",
                                                                   "_r_debug",
                                                                   "dladdr",
                                                                   "send",
                                                                   "sendto",
                                                                   "getaddrinfo",
                                                                   "accept",
                                                                   "raise",
                                                                   "sched_setaffinity",
                                                                   "setpriority",
                                                                   "mlockall"});
    static constexpr auto prefixes = std::to_array<std::string_view>(
        {"MPI_", "_ZNSt10filesystem", "_ZNSt13basic_filebuf", "_ZNSt14basic_ofstream", "_ZNSt14basic_ifstream",
         "_ZNSt13basic_fstream", "_ZN8cuco_emu", "_ZN12cuco_harness"});
    return isAnyOf(names, name) ||
           std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// The CUDA runtime needs these itself; in an object that has it inside they say nothing of the candidate.
bool isForbiddenUnlessRuntimes(std::string_view name)
{
    static constexpr auto names = std::to_array<std::string_view>(
        {"dlsym",   "dlvsym",       "dlopen",   "dlmopen",   "socket",   "socketpair", "connect", "bind",    "listen",
         "sendmsg", "open",         "open64",   "fopen",     "fopen64",  "fdopen",     "freopen", "opendir", "nftw",
         "read",    "write",        "lseek",    "ftruncate", "unlink",   "remove",     "rmdir",   "mkdir",   "mkfifo",
         "kill",    "pthread_kill", "mmap",     "mmap64",    "mprotect", "shm_open",   "shmget",  "syscall", "setenv",
         "close",   "pwrite",       "pwrite64", "pread",     "writev"});
    return isAnyOf(names, name);
}

/// Names that belong to the harness and the libraries it shares with the candidate.
bool isForeignExport(std::string_view name)
{
    static constexpr auto names = std::to_array<std::string_view>(
        {"clock_gettime",  "clock_getres", "gettimeofday", "clock_nanosleep", "nanosleep", "usleep",  "sleep", "time",
         "clock",          "timespec_get", "sched_yield",  "malloc",          "calloc",    "realloc", "free",  "memcpy",
         "memmove",        "memset",       "memcmp",       "write",           "writev",    "read",    "open",  "close",
         "fopen",          "fwrite",       "printf",       "fprintf",         "snprintf",  "exit",    "_exit", "abort",
         "pthread_create", "pthread_join", "dlopen",       "dlsym",           "main"});
    static constexpr auto prefixes =
        std::to_array<std::string_view>({"cuda", "cublas", "nccl", "pnccl", "cupti", "__tsan_", "__wrap_", "cuco_emu",
                                         "_ZN8cuco_emu", "_ZN12cuco_harness", "_Znw", "_Zna", "_Zdl", "_Zda"});
    return isAnyOf(names, name) ||
           std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

GamingFault tampering(std::string message)
{
    return {Verdict::tampering, {0, std::move(message)}};
}

}  // namespace

std::optional<ObjectSymbols> readObjectSymbols(std::string_view elf)
{
    return ElfReader(elf).read();
}

std::optional<GamingFault> findGamingInObject(const ObjectSymbols& object, std::string_view backend)
{
    const bool runtime_outside = std::ranges::any_of(object.imports, [](const std::string& name) {
        return name.starts_with("cuda") || name.starts_with("cuco_emu");
    });
    for (const auto& name : object.exports)
        if (isForeignExport(name))
            return tampering(fmt::format("The candidate defines {}, which is not its own.", name));
    for (const auto& name : object.imports)
        if (isForbiddenImport(name) || (runtime_outside && isForbiddenUnlessRuntimes(name)))
            return tampering(
                fmt::format("The candidate uses {}: it computes, communicates and allocates, nothing else.", name));
    if (object.has_static_constructors)
        return tampering(
            "The candidate runs code when it is loaded: objects with constructors or destructors outside functions "
            "(<iostream> has one) belong into the state that cuco_setup makes.");
    if (backend.empty() || backend == "host")
        return std::nullopt;
    const auto collective = std::ranges::find_if(object.imports, isHostCollective);
    if (collective == object.imports.end())
        return std::nullopt;
    return GamingFault{Verdict::invalid_directive,
                       {0, fmt::format("The directive says backend={}, but the candidate uses the host collective {}.",
                                       backend, *collective)}};
}

}  // namespace cuco
