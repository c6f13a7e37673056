// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/cuda_tokens.h"
#include "core/source/emulation_rewriter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace cuco {
namespace {

constexpr std::string_view remedy = "the CPU emulator cannot run it; use a GPU node";

/// What a name stands for when the emulator has nothing for it, or nothing.
std::string_view featureOf(std::string_view name)
{
    struct Feature {
        std::string_view prefix, what;
    };
    static constexpr std::array features = {
        Feature{"asm", "inline PTX"},
        Feature{"__asm__", "inline PTX"},
        Feature{"__asm", "inline PTX"},
        Feature{"wgmma", "wgmma"},
        Feature{"cp_async", "asynchronous bulk copies"},
        Feature{"CUtensorMap", "tensor memory (TMA) descriptors"},
        Feature{"cuTensorMap", "tensor memory (TMA) descriptors"},
        Feature{"multimem", "multimem"},
        Feature{"ncclGetMultimemPointer", "multimem"},
        Feature{"ncclGetLsaMultimemPointer", "multimem"},
        Feature{"ncclGetResourceBufferMultimemPointer", "multimem"},
        Feature{"ncclGetResourceBufferLsaMultimemPointer", "multimem"},
        Feature{"__pipeline_", "asynchronous copy pipelines"},
        Feature{"__nv_fp8", "8-bit floating point"},
        Feature{"__nv_fp4", "4-bit floating point"},
        Feature{"__cluster", "thread-block clusters"},
        Feature{"cublasLt", "cuBLASLt"},
        Feature{"tex1D", "textures"},
        Feature{"tex2D", "textures"},
        Feature{"tex3D", "textures"},
    };
    for (const auto& feature : features) {
        const bool whole_word = feature.prefix.ends_with("asm") || feature.prefix == "__asm__";
        if (whole_word ? name == feature.prefix : name.starts_with(feature.prefix))
            return feature.what;
    }
    return {};
}

bool isUnsupportedHeader(std::string_view header)
{
    static constexpr std::array prefixes = {"cuda/ptx",   "cuda/barrier",    "cuda/pipeline",
                                            "cute/",      "cutlass/",        "cub/",
                                            "thrust/",    "cuda_fp8.h",      "cuda_fp4.h",
                                            "cublasLt.h", "cuda_pipeline.h", "cooperative_groups/memcpy_async.h",
                                            "nvshmem"};
    return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return header.starts_with(prefix); });
}

}  // namespace

std::optional<SourceFault> findNotEmulable(std::string_view cuda_source)
{
    const auto tokenised = tokeniseCuda(cuda_source);
    if (!tokenised)
        return std::nullopt;  // the rewriter reports what is wrong with the text itself
    std::optional<SourceFault> first;
    for (const auto& include : tokenised->includes) {
        if (isUnsupportedHeader(include.header)) {
            first = SourceFault{include.line, fmt::format("The header <{}>: {}.", include.header, remedy)};
            break;
        }
    }
    const auto& tokens = tokenised->tokens;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (first && first->line <= tokens[i].line)
            break;
        if (tokens[i].kind != TokenKind::identifier)
            continue;
        auto what = featureOf(tokens[i].text);
        const bool ptx_namespace =
            tokens[i].text == "ptx" && i >= 2 && tokens[i - 1].text == "::" && tokens[i - 2].text == "cuda";
        if (ptx_namespace)
            what = "cuda::ptx";
        if (!what.empty())
            return SourceFault{tokens[i].line, fmt::format("{} ({}): {}.", what, tokens[i].text, remedy)};
    }
    return first;
}

}  // namespace cuco
