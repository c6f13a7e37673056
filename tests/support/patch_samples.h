// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/patch.h"

#include <string>
#include <vector>

namespace cuco::testing {

/// A source as patches meet it: frozen code before and behind one evolve block. Lines 9 to 24 may change.
inline const std::string ring_source =
    "// A ring of puts, one chunk a step.\n"
    "#include \"candidate.h\"\n"
    "#include <nccl_device.h>\n"
    "\n"
    "namespace candidate {\n"
    "int run(void* state, const cuco_io& io, cudaStream_t stream);\n"
    "}  // namespace candidate\n"
    "// EVOLVE-BLOCK-START ring\n"
    "// cuco: backend=lsa placement=sequential sync=world issuer=cta chunk=0\n"
    "CUCO_TUNE(push_threads, 256, 128, 256, 512);\n"
    "\n"
    "__global__ void push(float* target, const float* source, size_t count)\n"
    "{\n"
    "    const size_t thread = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    for (size_t i = thread; i < count; i += gridDim.x * blockDim.x)\n"
    "        target[i] = source[i];\n"
    "}\n"
    "\n"
    "int candidate::run(void* state, const cuco_io& io, cudaStream_t stream)\n"
    "{\n"
    "    push<<<8, int(push_threads), 0, stream>>>(peerOf(state), mineOf(io), countOf(state));\n"
    "    CUCO_TRY(cudaGetLastError());\n"
    "    return 0;\n"
    "}\n"
    "// EVOLVE-BLOCK-END\n"
    "\n"
    "extern \"C\" int cuco_run(void* state, const cuco_io* io, cudaStream_t stream)\n"
    "{\n"
    "    return candidate::run(state, *io, stream);\n"
    "}\n";

inline KernelSource ringSource()
{
    return KernelSource::parse(ring_source).value();
}

/// `text` with the first `from` replaced by `to`; `from` must be there.
inline std::string replaced(std::string text, const std::string& from, const std::string& to)
{
    return text.replace(text.find(from), from.size(), to);
}

inline std::string withWindowsLineEnds(const std::string& text)
{
    std::string result;
    for (const char c : text) {
        result += c == '\n' ? "\r\n" : std::string(1, c);
    }
    return result;
}

inline std::string block(const std::string& search, const std::string& replace)
{
    return "<<<<<<< SEARCH\n" + search + "=======\n" + replace + ">>>>>>> REPLACE\n";
}

/// The inside of ring_source's block, with `from` replaced by `to`.
inline std::string ringInside(const std::string& from = "", const std::string& to = "")
{
    return replaced(std::string(ringSource().blockText(0)), from, to);
}

/// An answer that makes `push<<<16` of `push<<<8`, as models have been seen to format it.
struct SampleAnswer {
    std::string title, text;
};

inline std::vector<SampleAnswer> answersThatLaunchSixteen()
{
    const std::string old_line =
        "    push<<<8, int(push_threads), 0, stream>>>(peerOf(state), mineOf(io), countOf(state));\n";
    const std::string new_line = replaced(old_line, "8", "16");
    const std::string inside = ringInside("push<<<8", "push<<<16");
    const std::string whole = replaced(ring_source, "push<<<8", "push<<<16");
    const std::string start = "// EVOLVE-BLOCK-START\n", end = "// EVOLVE-BLOCK-END\n";
    const std::string edit = block(old_line, new_line);
    std::vector<SampleAnswer> answers{
        {"bare marks", edit},
        {"prose and a fence around the block", "More CTAs hide latency.\n\n```cuda\n" + edit + "```\n\nDone.\n"},
        {"a fence tagged diff", "```diff\n" + edit + "```"},
        {"a fence on each side",
         "<<<<<<< SEARCH\n```cpp\n" + old_line + "```\n=======\n```cpp\n" + new_line + "```\n>>>>>>> REPLACE\n"},
        {"three signs", "<<< SEARCH\n" + old_line + "===\n" + new_line + ">>> REPLACE\n"},
        {"three signs without words", "<<<\n" + old_line + "===\n" + new_line + ">>>\n"},
        {"nine signs", "<<<<<<<<< SEARCH\n" + old_line + "=========\n" + new_line + ">>>>>>>>> REPLACE\n"},
        {"marks of different length", "<<<<<<< SEARCH\n" + old_line + "=====\n" + new_line + ">>>>>> REPLACE\n"},
        {"marks without words", "<<<<<<<\n" + old_line + "=======\n" + new_line + ">>>>>>>\n"},
        {"marks with more words",
         "<<<<<<< SEARCH (kernel.cu)\n" + old_line + "=======\n" + new_line + ">>>>>>> REPLACE end\n"},
        {"marks in small letters", "<<<<<<< search\n" + old_line + "=======\n" + new_line + ">>>>>>> replace\n"},
        {"marks with blanks behind", "<<<<<<< SEARCH  \n" + old_line + "=======\t\n" + new_line + ">>>>>>> REPLACE "},
        {"Windows line ends", withWindowsLineEnds(edit)},
        {"no line end at the end", edit.substr(0, edit.size() - 1)},
        {"trailing blanks in SEARCH", block(replaced(old_line, ";\n", ";  \n"), new_line)},
        {"indentation lost", block(old_line.substr(4), new_line.substr(4))},
        {"indented too far", block("    " + old_line, "    " + new_line)},
        {"a list item that indents the marks",
         "1. Launch more:\n   <<<<<<< SEARCH\n" + old_line + "   =======\n" + new_line + "   >>>>>>> REPLACE\n"},
        {"drafts while thinking", "<think>\n" + block(old_line, "no\n") + "</think>\n" + edit},
        {"the inside in a fence", "Here it is:\n```cuda\n" + inside + "```\n"},
        {"the inside in a fence of four", "````c++\n" + inside + "````\n"},
        {"the inside in tildes", "~~~cu\n" + inside + "~~~\n"},
        {"the inside in a fence that names a file", "```cpp kernel.cu\n" + inside + "```\n"},
        {"the inside in a fence without a language", "```\n" + inside + "```\n"},
        {"the inside without a fence", inside},
        {"the inside in a CODE element", "<CODE>\n" + inside + "</CODE>\n"},
        {"a fence in a CODE element", "<CODE>\n```cpp\n" + inside + "```\n</CODE>\n"},
        {"the block with markers", "```cuda\n" + start + inside + end + "```\n"},
        {"the block with markers and no fence", "Here is the block.\n\n" + start + inside + end + "\nIt is faster.\n"},
        {"the whole source", "```cuda\n" + whole + "```\n"},
        {"the whole source without a fence", whole},
        {"the whole source without a fence, in prose", "Sure, here it is:\n" + whole + "\nI hope it helps.\n"},
        {"the whole source without markers",
         "```cuda\n" + replaced(replaced(whole, "// EVOLVE-BLOCK-START ring\n", ""), end, "") + "```\n"},
        {"the whole source with frozen code laid out anew",
         "```cuda\n" +
             replaced(replaced(whole, "void* state, const cuco_io& io,", "void *state,\n  const cuco_io &io,"),
                      "    return candidate", "  return candidate") +
             "```\n"},
        {"the whole source with Windows line ends", withWindowsLineEnds("```cuda\n" + whole + "```\n")},
        {"frozen code left out with a note",
         "```cuda\n// ... headers unchanged ...\n" + start + inside + end + "// ... rest unchanged ...\n```\n"},
        {"a smaller snippet first", "Change\n```cuda\n" + old_line + "```\nso:\n```cuda\n" + inside + "```\n"},
        {"other languages beside it",
         "```bash\nnvcc -O3 kernel.cu\n```\n```cuda\n" + inside + "```\n```json\n{\"a\": 1}\n```\n"},
        {"a fence that is not closed behind whole markers", "```cuda\n" + start + inside + end},
    };
    return answers;
}

}  // namespace cuco::testing
