// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include <dlfcn.h>

namespace cuco_harness {

ReferenceFunction loadReference(const std::string& path, std::string& error)
{
    void* const object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    auto* const function = object ? reinterpret_cast<ReferenceFunction>(dlsym(object, "cuco_reference")) : nullptr;
    if (!object)
        error = dlerror();
    else if (!function)
        error = "it does not define cuco_reference";
    return function;
}

}  // namespace cuco_harness
