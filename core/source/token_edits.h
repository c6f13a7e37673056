// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/cuda_tokens.h"

#include <string>
#include <string_view>
#include <vector>

namespace cuco {

/// Changes to a source, token by token, so that white space and with it every line stays.
class TokenEdits {
public:
    explicit TokenEdits(std::string_view source) : source_(source) {}

    void insertBefore(const CudaToken& token, std::string text);
    void insertAfter(const CudaToken& token, std::string text);
    void replace(const CudaToken& token, std::string text);
    std::string apply() const;

private:
    struct Edit {
        std::size_t begin, length;
        std::string text;
    };
    std::string_view source_;
    std::vector<Edit> edits_;
};

}  // namespace cuco
