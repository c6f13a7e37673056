// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/analysis_libclang.h"
#include "core/source/analysis_program.h"

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cuco::analysis {

inline constexpr int most_depth = 400;  ///< of brackets and statements in each other

bool isFunction(CXCursorKind kind);

/// Copies what a translation unit has of the source and its own headers into a Program.
class TreeBuilder {
public:
    TreeBuilder(const LibClang& clang, CXTranslationUnit unit, const std::string& source);

    void read();
    /// Index in Program::files; -1 for the system's headers and the product's declarations.
    int fileOf(CXFile file);
    Program& program() { return program_; }

private:
    struct Place {
        int file = -1;
        std::uint32_t line = 0, offset = 0;
    };

    // analysis_tree.cpp: scopes and declarations
    std::vector<CXCursor> childrenOf(CXCursor cursor) const;
    Place placeOf(CXSourceLocation location, bool spelling = false);
    void readScope(CXCursor cursor, int depth);
    void readFunction(CXCursor cursor);
    int declare(CXCursor cursor);
    void describe(Declaration& declaration, CXCursor cursor);

    // analysis_tree_nodes.cpp: statements and expressions
    /// -1 for what says nothing: types, attributes.
    int readNode(CXCursor cursor, int depth);
    void readCall(CXCursor cursor, const std::vector<CXCursor>& parts, Node& node, int depth);
    void readChildren(const std::vector<CXCursor>& parts, Node& node, int depth);
    void readPlace(CXCursor cursor, Node& node);
    bool runsOnce(const Node& loop) const;
    int add(Node node);

    const LibClang& clang_;
    CXTranslationUnit unit_;
    Program program_;
    std::map<CXFile, int> files_;
    std::unordered_map<unsigned, std::vector<std::pair<CXCursor, int>>> declared_;
};

}  // namespace cuco::analysis
