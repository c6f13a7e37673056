// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/loader.h"

#include "cuco_emu_host.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace cuco_emu {
namespace {

struct Range {
    std::uintptr_t begin, end;
};
std::vector<Range> library_ranges;  ///< those of the program come first
std::size_t program_ranges = 0;
std::vector<Module> modules;

int collect_range(dl_phdr_info* info, std::size_t, void*)
{
    const bool is_program = library_ranges.empty();
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& header = info->dlpi_phdr[i];
        if (header.p_type == PT_LOAD)
            library_ranges.push_back(
                {info->dlpi_addr + header.p_vaddr, info->dlpi_addr + header.p_vaddr + header.p_memsz});
    }
    if (is_program)
        program_ranges = library_ranges.size();
    return 0;
}

struct Search {
    std::uintptr_t base;
    Module* module;
};

int find_extent(dl_phdr_info* info, std::size_t, void* data)
{
    auto& search = *static_cast<Search*>(data);
    if (info->dlpi_addr != search.base)
        return 0;
    Module& module = *search.module;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& header = info->dlpi_phdr[i];
        if (header.p_type != PT_LOAD)
            continue;
        const auto begin = info->dlpi_addr + header.p_vaddr;
        module.begin = module.begin == 0 ? begin : std::min(module.begin, begin);
        module.end = std::max(module.end, begin + header.p_memsz);
    }
    return 1;
}

/// A file of its own, so that the loader does not recognise the object as loaded already.
int private_copy(const std::string& path)
{
    const int from = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const int to = from < 0 ? -1 : memfd_create("candidate", MFD_CLOEXEC);
    char buffer[1 << 16];
    bool good = to >= 0;
    while (good) {
        const auto count = read(from, buffer, sizeof buffer);
        if (count == 0)
            break;
        good = count > 0 && write(to, buffer, static_cast<std::size_t>(count)) == count;
    }
    if (from >= 0)
        close(from);
    if (!good && to >= 0)
        close(to);
    return good ? to : -1;
}

}  // namespace

bool is_library_data(std::uintptr_t address)
{
    if (library_ranges.empty())
        dl_iterate_phdr(collect_range, nullptr);
    for (const Range& range : library_ranges)
        if (address - range.begin < range.end - range.begin)
            return true;
    return false;
}

bool is_program_data(std::uintptr_t address)
{
    return std::any_of(library_ranges.begin(), library_ranges.begin() + static_cast<std::ptrdiff_t>(program_ranges),
                       [&](const Range& range) { return address - range.begin < range.end - range.begin; });
}

const Module* module_at(const void* address)
{
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    for (const Module& module : modules)
        if (at - module.begin < module.end - module.begin)
            return &module;
    return nullptr;
}

std::string function_name(const void* address)
{
    Dl_info info{};
    if (dladdr(address, &info) == 0 || !info.dli_sname)
        return "kernel";
    int status = 0;
    char* demangled = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
    std::string name = status == 0 && demangled ? demangled : info.dli_sname;
    std::free(demangled);
    int depth = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        depth += name[i] == '<' ? 1 : name[i] == '>' ? -1 : 0;
        if (name[i] == '(' && depth == 0) {
            name.resize(i);
            break;
        }
    }
    depth = 0;
    for (std::size_t i = name.size(); i-- > 0;) {  // a template's return type comes first
        depth += name[i] == '>' ? 1 : name[i] == '<' ? -1 : 0;
        if (name[i] == ' ' && depth == 0)
            return name.substr(i + 1);
    }
    return name;
}

void* load_candidate(const std::string& path, int rank, std::string* error)
{
    if (library_ranges.empty())
        dl_iterate_phdr(collect_range, nullptr);  // before the candidate, which is not a library
    const int file = private_copy(path);
    if (file < 0) {
        *error = "The shared object " + path + " cannot be read: " + std::strerror(errno) + ".";
        return nullptr;
    }
    const std::string name = "/proc/self/fd/" + std::to_string(file);
    if (current_rank)
        current_rank->host.loading = true;
    void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (current_rank)
        current_rank->host.loading = false;
    if (!handle) {
        const char* reason = dlerror();
        *error = "The shared object " + path + " cannot be loaded: " + (reason ? reason : "unknown reason") + ".";
        close(file);
        return nullptr;
    }
    link_map* map = nullptr;
    dlinfo(handle, RTLD_DI_LINKMAP, &map);
    Module module;
    module.path = path;
    module.handle = handle;
    module.rank = rank;
    module.file = file;  // stays open: its number is the name by which the loader tells copies apart
    Search search{map->l_addr, &module};
    dl_iterate_phdr(find_extent, &search);
    modules.push_back(module);
    if (rank >= 0 && rank < static_cast<int>(machine().ranks.size()))
        machine().ranks[static_cast<std::size_t>(rank)]->module = module;
    return handle;
}

void* symbol(void* candidate, const char* name)
{
    return dlsym(candidate, name);
}

void unload_candidate(void* candidate)
{
    int file = -1;
    std::erase_if(modules, [&](const Module& module) {
        file = module.handle == candidate ? module.file : file;
        return module.handle == candidate;
    });
    for (auto& rank : machine().ranks) {
        if (rank->module.handle != candidate)
            continue;
        rank->module = {};
        rank->layouts.clear();  // another object's kernels may come to lie at the same addresses
    }
    dlclose(candidate);
    if (file >= 0)
        close(file);
}

}  // namespace cuco_emu
