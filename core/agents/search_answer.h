// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/design/directive.h"
#include "core/design/tunable.h"
#include "core/llm/chat.h"
#include "core/source/patch.h"

#include <expected>
#include <set>
#include <string>

namespace cuco {

/// What an answer must keep to before a node's time is spent on it.
struct SearchAnswerRules {
    const DesignSpace* design_space = nullptr;
    const std::set<std::string>* capabilities = nullptr;  ///< of the node; null: not known
    std::string backend;                                  ///< that the directive must have; empty: any
    PatchKind asked = PatchKind::diff;
};

struct SearchAnswer {
    KernelSource source;
    Directive directive;
    TunableValues tunables;
    std::string name, summary;
    bool rewritten = false;  ///< not by SEARCH/REPLACE blocks
};

/// The program that an answer makes of `parent`, or a sentence for its writer: what is missing, what does not apply,
/// a directive announced in prose that the code does not have, one that the node cannot run.
std::expected<SearchAnswer, std::string> readSearchAnswer(const ChatResponse& answer, const KernelSource& parent,
                                                          const SearchAnswerRules& rules);

}  // namespace cuco
