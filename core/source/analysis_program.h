// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/analysis.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cuco::analysis {

/// The part of a syntax tree that the analysis needs, free of libclang.
enum class NodeKind : std::uint8_t {
    other,      ///< children in order
    call,       ///< children[0] the callee, then the arguments
    launch,     ///< children[0] the kernel, [1] the configuration with grid, block, shared, stream, then arguments
    construct,  ///< name: the class; children: arguments
    member,     ///< children[0] the object; none for members of *this
    name,
    subscript,
    dereference,
    address,
    assign,
    update,  ///< += and the like, ++ and --
    binary,  ///< text: the operator
    integer,
    string,
    lambda,
    initializers,
    variable,
    returns,  ///< and break, continue
    branch,   ///< if: variable or condition…, then, else
    loop,
    assembly
};

struct Node {
    NodeKind kind = NodeKind::other;
    int declaration = -1;                        ///< named, called or declared
    std::string name;                            ///< of what is named or called; an operator; a literal's text
    std::string macro;                           ///< a call whose name came out of this macro
    int file = 0;                                ///< index in Program::files
    std::uint32_t line = 0, begin = 0, end = 0;  ///< bytes in that file
    bool pointer = false;                        ///< of pointer or array type
    bool array = false;
    bool number = false;     ///< of an arithmetic or enumeration type
    bool floating = false;   ///< of a floating-point type
    std::uint8_t parts = 0;  ///< a branch: children before the then-statement; a loop: 1 when it runs once
    std::vector<int> children;
};

enum class DeclarationKind : std::uint8_t { other, function, variable, parameter, field, constant };

struct Declaration {
    DeclarationKind kind = DeclarationKind::other;
    std::string name, type, scope;  ///< scope: the class or function around it
    int file = -1;
    std::uint32_t line = 0;
    bool in_source = false;  ///< in the source or a header of its own, not in the declarations
    bool kernel = false, device = false, shared = false;
    bool pointer = false, reference = false, constant_pointee = false, record = false, record_pointer = false;
    bool parameter_pack = false;
    int body = -1;  ///< of a function; a variable's or field's initializer
    std::vector<int> parameters;
    bool local = false;  ///< a variable of a function's
};

struct File {
    std::string name;  ///< empty: the source itself
    std::string text;
};

struct Program {
    std::vector<Node> nodes;
    std::vector<Declaration> declarations;
    std::vector<File> files;
    std::vector<Unresolved> unresolved;
    bool truncated = false;

    const Node& at(int node) const { return nodes[static_cast<std::size_t>(node)]; }
    const Declaration& declared(int declaration) const { return declarations[static_cast<std::size_t>(declaration)]; }
    /// As written, blanks joined, cut where it is long.
    std::string text(int node) const;
};

/// Errors: no libclang, or it does not take the source at all.
Result<Program> parseProgram(const AnalysisRequest& request);

}  // namespace cuco::analysis
