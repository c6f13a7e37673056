// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/diff/cuda_highlighting.h"

#include "ui/style/theme.h"

namespace cuco::ui {

CudaHighlighting::CudaHighlighting(QObject* parent) : QsciLexerCPP(parent) {}

const char* CudaHighlighting::keywords(int set) const
{
    if (set == 1)
        return "alignas alignof and asm auto bool break case catch char char8_t char16_t char32_t class concept const "
               "consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete "
               "do "
               "double dynamic_cast else enum explicit export extern false final float for friend goto if inline int "
               "long mutable namespace new noexcept not nullptr operator or override private protected public register "
               "reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch "
               "template this thread_local throw true try typedef typeid typename union unsigned using virtual void "
               "volatile wchar_t while xor size_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t";
    if (set == 2)
        return "__global__ __device__ __host__ __shared__ __constant__ __managed__ __restrict__ __launch_bounds__ "
               "__grid_constant__ __cluster_dims__ __noinline__ __forceinline__ threadIdx blockIdx blockDim gridDim "
               "warpSize dim3 __syncthreads __syncwarp __threadfence __threadfence_block __threadfence_system "
               "__shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync __ballot_sync __any_sync __all_sync "
               "__activemask __nanosleep half half2 float2 float4 int2 int4 uint2 uint4 __nv_bfloat16 __nv_bfloat162 "
               "cudaStream_t cudaEvent_t cudaError_t ncclComm_t ncclDevComm ncclWindow_t ncclResult_t CUCO_TUNE "
               "cuco_context cuco_io cuco_setup cuco_run cuco_teardown";
    return nullptr;
}

void CudaHighlighting::setColors(const Colors& colors)
{
    setDefaultFont(monoFont());
    setFont(monoFont());
    setPaper(colors.background);
    setDefaultPaper(colors.background);
    setColor(colors.text);
    setDefaultColor(colors.text);
    for (const int style : {Comment, CommentLine, CommentDoc, CommentLineDoc, CommentDocKeyword, CommentDocKeywordError,
                            PreProcessorComment, PreProcessorCommentLineDoc})
        setColor(colors.secondary, style);
    for (const int style : {DoubleQuotedString, SingleQuotedString, UnclosedString, RawString})
        setColor(colors.readable(colors.copy), style);
    setColor(colors.readable(colors.compute), Keyword);
    setColor(colors.readable(colors.reference), KeywordSet2);
    setColor(colors.readable(colors.failed), Number);
    setColor(colors.readable(colors.communication), PreProcessor);
}

void applyCodeColors(QsciScintilla& editor, CudaHighlighting& highlighting)
{
    const Colors colors = colorsFor(editor.palette());
    highlighting.setColors(colors);
    editor.setColor(colors.text);
    editor.setPaper(colors.background);
    editor.setMarginsFont(monoFont(-1));
    editor.setMarginsBackgroundColor(colors.surface);
    editor.setMarginsForegroundColor(colors.secondary);
    editor.setSelectionBackgroundColor(editor.palette().color(QPalette::Highlight));
    editor.setSelectionForegroundColor(editor.palette().color(QPalette::HighlightedText));
    editor.setCaretForegroundColor(colors.text);
}

}  // namespace cuco::ui
