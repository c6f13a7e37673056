// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

namespace cuco_harness {

enum class ElementType { bf16, f16, f32, i32 };

inline std::optional<ElementType> elementTypeFromString(const std::string& text)
{
    if (text == "bf16")
        return ElementType::bf16;
    if (text == "f16")
        return ElementType::f16;
    if (text == "f32")
        return ElementType::f32;
    if (text == "i32")
        return ElementType::i32;
    return std::nullopt;
}

inline size_t bytesOf(ElementType type)
{
    return type == ElementType::bf16 || type == ElementType::f16 ? 2 : 4;
}

}  // namespace cuco_harness
