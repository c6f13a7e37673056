// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "candidate.h"

#include <string>

namespace cuco_harness {

using ReferenceFunction = int (*)(const cuco_context*, const void* const*, float* const*, cudaStream_t);

/// cuco_reference of a shared object; null with a sentence in `error` otherwise. On the emulated node call it inside
/// runOnOneDevice.
ReferenceFunction loadReference(const std::string& path, std::string& error);

}  // namespace cuco_harness
