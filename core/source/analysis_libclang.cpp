// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/analysis_libclang.h"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

namespace cuco {

namespace {

constexpr std::string_view remedy =
    "Install libclang 19 (Debian: sudo apt install libclang1-19), or set CUCO_LIBCLANG "
    "to its libclang-19.so.1.";

}  // namespace

Result<LibClang> LibClang::load()
{
    std::vector<std::string> places{"libclang-19.so.1", "/usr/lib/llvm-19/lib/libclang-19.so.1",
                                    "/usr/lib/llvm-19/lib/libclang.so.19", "libclang.so.19"};
    if (const char* chosen = std::getenv("CUCO_LIBCLANG"); chosen != nullptr && chosen[0] != '\0') {
        places = {chosen};
    }
    void* handle = nullptr;
    std::string why;
    for (const std::string& place : places) {
        handle = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle != nullptr) {
            break;
        }
        why = why.empty() ? ::dlerror() : why;
    }
    if (handle == nullptr) {
        return failure("Sources are analysed with libclang, which is not here.", why, std::string(remedy));
    }
    LibClang clang;
    clang.library_ = std::shared_ptr<void>(handle, ::dlclose);
#define CUCO_FIND(name)                                                                              \
    clang.name = reinterpret_cast<decltype(&clang_##name)>(::dlsym(handle, "clang_" #name));         \
    if (clang.name == nullptr) {                                                                     \
        return failure("This libclang is not release 19: it lacks clang_" #name ".", places.front(), \
                       std::string(remedy));                                                         \
    }
    CUCO_LIBCLANG_FUNCTIONS(CUCO_FIND)
#undef CUCO_FIND
    const auto version = reinterpret_cast<decltype(&clang_getClangVersion)>(::dlsym(handle, "clang_getClangVersion"));
    if (version == nullptr || clang.text(version()).find("version 19.") == std::string::npos) {
        return failure("This libclang is of another release than 19.", places.front(), std::string(remedy));
    }
    return clang;
}

std::string LibClang::text(CXString string) const
{
    const char* const characters = getCString(string);
    std::string copy = characters == nullptr ? "" : characters;
    disposeString(string);
    return copy;
}

}  // namespace cuco
