// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/analysis_tree.h"

#include <algorithm>
#include <cctype>

namespace cuco::analysis {

namespace {

constexpr std::size_t most_nodes = 2'000'000;

bool saysNothing(CXCursorKind kind)
{
    return (kind >= CXCursor_FirstRef && kind <= CXCursor_LastRef && kind != CXCursor_OverloadedDeclRef) ||
           (kind >= CXCursor_FirstAttr && kind <= CXCursor_LastAttr) || kind == CXCursor_TypeAliasDecl ||
           kind == CXCursor_TypedefDecl || kind == CXCursor_StaticAssert;
}

/// Up to the comma, bracket or line's end that closes what begins there.
std::uint32_t endOfExpression(const std::string& text, std::uint32_t begin)
{
    int depth = 0;
    std::size_t at = begin;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (depth == 0 && (c == ',' || c == ')' || c == ']' || c == '}' || c == ';' || c == '\n')) {
            break;
        }
        depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    }
    while (at > begin && (text[at - 1] == ' ' || text[at - 1] == '\\')) {
        --at;
    }
    return static_cast<std::uint32_t>(at);
}

}  // namespace

int TreeBuilder::add(Node node)
{
    program_.nodes.push_back(std::move(node));
    return static_cast<int>(program_.nodes.size()) - 1;
}

void TreeBuilder::readPlace(CXCursor cursor, Node& node)
{
    const CXSourceRange extent = clang_.getCursorExtent(cursor);
    const Place begin = placeOf(clang_.getRangeStart(extent)), end = placeOf(clang_.getRangeEnd(extent));
    const Place spelled = placeOf(clang_.getRangeStart(extent), true);
    node.file = std::max(0, begin.file);
    node.line = begin.line;
    node.begin = begin.offset;
    node.end = end.file == begin.file ? end.offset : begin.offset;
    if (spelled.file >= 0 && (spelled.file != begin.file || spelled.offset != begin.offset)) {
        // In a macro's own text, of which libclang tells where a node begins, but not where it ends.
        node.file = spelled.file;
        node.begin = spelled.offset;
        node.end = endOfExpression(program_.files[static_cast<std::size_t>(spelled.file)].text, spelled.offset);
    }
}

void TreeBuilder::readChildren(const std::vector<CXCursor>& parts, Node& node, int depth)
{
    for (const CXCursor part : parts) {
        if (const int child = readNode(part, depth); child >= 0) {
            node.children.push_back(child);
        }
    }
}

/// do { … } while (0)
bool TreeBuilder::runsOnce(const Node& loop) const
{
    return !loop.children.empty() && program_.at(loop.children.back()).kind == NodeKind::integer &&
           (program_.at(loop.children.back()).name == "0" || program_.at(loop.children.back()).name == "false");
}

void TreeBuilder::readCall(CXCursor cursor, const std::vector<CXCursor>& parts, Node& node, int depth)
{
    const CXCursor callee = clang_.getCursorReferenced(cursor);
    node.kind = NodeKind::call;
    if (!clang_.Cursor_isNull(callee) && callee.kind < CXCursor_FirstInvalid) {
        node.declaration = declare(callee);
        node.name = program_.declared(node.declaration).name;
    }
    readChildren(parts, node, depth);
    if (callee.kind == CXCursor_Constructor) {
        node.kind = NodeKind::construct;
        return;
    }
    if (node.children.empty()) {
        node.kind = NodeKind::other;
        return;
    }
    if (node.name.starts_with("operator")) {
        const bool subscript = node.name == "operator[]" || node.name == "operator*" || node.name == "operator->";
        const bool assigns = node.name == "operator=" || node.name == "operator+=" || node.name == "operator++";
        node.kind = subscript ? NodeKind::subscript : assigns ? NodeKind::assign : NodeKind::other;
        std::erase_if(node.children, [&](int child) { return program_.at(child).name == node.name; });
        return;
    }
    if (node.name.empty()) {
        node.name = program_.at(node.children.front()).name;
        node.declaration = program_.at(node.children.front()).declaration;
    }
    if (node.children.size() > 1) {
        const Node& second = program_.at(node.children[1]);
        if (second.kind == NodeKind::call &&
            (second.name == "__cudaPushCallConfiguration" || second.name == "cudaConfigureCall")) {
            node.kind = NodeKind::launch;
        }
    }
    // The name that stands in the file is the macro's when the call's own is in the macro's text.
    if (!node.name.empty()) {
        const CXSourceLocation at = clang_.getCursorLocation(parts.empty() ? cursor : parts.front());
        const Place written = placeOf(at);
        if (written.file >= 0) {
            const std::string& text = program_.files[static_cast<std::size_t>(written.file)].text;
            std::size_t end = written.offset;
            while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) {
                ++end;
            }
            const std::string word = text.substr(std::min<std::size_t>(written.offset, text.size()),
                                                 end - std::min<std::size_t>(written.offset, end));
            const CXCursor first = parts.empty() ? cursor : parts.front();
            if (!word.empty() && placeOf(clang_.getCursorLocation(first), true).offset != written.offset) {
                node.macro = word;
            }
        }
    }
}

int TreeBuilder::readNode(CXCursor cursor, int depth)
{
    const CXCursorKind kind = cursor.kind;
    if (saysNothing(kind)) {
        return -1;
    }
    if (depth > most_depth || program_.nodes.size() > most_nodes) {
        program_.truncated = true;
        return -1;
    }
    if (kind == CXCursor_StructDecl || kind == CXCursor_ClassDecl || kind == CXCursor_UnionDecl) {
        readScope(cursor, depth);
        return -1;
    }
    const std::vector<CXCursor> parts = childrenOf(cursor);
    Node node;
    readPlace(cursor, node);
    const CXType type = clang_.getCanonicalType(clang_.getCursorType(cursor));
    node.pointer = type.kind == CXType_Pointer || type.kind == CXType_ConstantArray ||
                   type.kind == CXType_IncompleteArray || type.kind == CXType_VariableArray ||
                   type.kind == CXType_DependentSizedArray;
    node.array = node.pointer && type.kind != CXType_Pointer;
    node.number = (type.kind >= CXType_Bool && type.kind <= CXType_LongDouble) || type.kind == CXType_Enum ||
                  type.kind == CXType_Half;
    node.floating = type.kind == CXType_Float || type.kind == CXType_Double || type.kind == CXType_Half;
    const auto reference = [&] {
        const CXCursor target = clang_.getCursorReferenced(cursor);
        node.name = clang_.text(clang_.getCursorSpelling(cursor));
        if (!clang_.Cursor_isNull(target) && target.kind < CXCursor_FirstInvalid &&
            target.kind != CXCursor_OverloadedDeclRef) {
            node.declaration = declare(target);
        } else if (target.kind == CXCursor_OverloadedDeclRef) {
            node.name = clang_.text(clang_.getCursorSpelling(target));
            if (clang_.getNumOverloadedDecls(target) > 0) {
                node.declaration = declare(clang_.getOverloadedDecl(target, 0));
            }
        }
        if (node.name.empty()) {
            node.name = program_.text(static_cast<int>(program_.nodes.size()) - 1);
        }
    };
    const auto written = [&] {
        const std::string& text = program_.files[static_cast<std::size_t>(node.file)].text;
        return node.end > node.begin && node.end <= text.size() ? text.substr(node.begin, node.end - node.begin)
                                                                : std::string();
    };
    switch (kind) {
        case CXCursor_CallExpr:
            readCall(cursor, parts, node, depth + 1);
            break;
        case CXCursor_DeclRefExpr:
            node.kind = NodeKind::name;
            node.name = clang_.text(clang_.getCursorSpelling(cursor));
            reference();
            if (node.name.empty()) {
                node.name = written();
            }
            break;
        case CXCursor_OverloadedDeclRef:
            return -1;
        case CXCursor_MemberRefExpr:
            node.kind = NodeKind::member;
            reference();
            readChildren(parts, node, depth + 1);
            if (node.declaration < 0) {
                const std::string text = written();
                const std::size_t at = text.find_last_of(".>");
                node.name = at == std::string::npos ? text : text.substr(at + 1);
                node.name = node.name.substr(
                    node.name.find_first_not_of(" ") == std::string::npos ? 0 : node.name.find_first_not_of(" "));
            }
            break;
        case CXCursor_ArraySubscriptExpr:
            node.kind = NodeKind::subscript;
            readChildren(parts, node, depth + 1);
            break;
        case CXCursor_UnaryOperator: {
            readChildren(parts, node, depth + 1);
            const auto op = clang_.getCursorUnaryOperatorKind(cursor);
            node.kind = op == CXUnaryOperator_Deref    ? NodeKind::dereference
                        : op == CXUnaryOperator_AddrOf ? NodeKind::address
                        : op == CXUnaryOperator_PreInc || op == CXUnaryOperator_PostInc ||
                                op == CXUnaryOperator_PreDec || op == CXUnaryOperator_PostDec
                            ? NodeKind::update
                            : NodeKind::other;
            break;
        }
        case CXCursor_BinaryOperator: {
            readChildren(parts, node, depth + 1);
            const auto op = clang_.getCursorBinaryOperatorKind(cursor);
            node.kind = op == CXBinaryOperator_Assign ? NodeKind::assign : NodeKind::binary;
            node.name = op == CXBinaryOperator_Rem   ? "%"
                        : op == CXBinaryOperator_Div ? "/"
                        : op == CXBinaryOperator_And ? "&"
                        : op == CXBinaryOperator_EQ  ? "=="
                        : op == CXBinaryOperator_Shr ? ">>"
                        : op == CXBinaryOperator_Sub ? "-"
                        : op == CXBinaryOperator_Mul ? "*"
                                                     : "+";
            break;
        }
        case CXCursor_CompoundAssignOperator:
            node.kind = NodeKind::update;
            readChildren(parts, node, depth + 1);
            break;
        case CXCursor_IntegerLiteral:
        case CXCursor_CXXBoolLiteralExpr:
        case CXCursor_CXXNullPtrLiteralExpr:
            node.kind = NodeKind::integer;
            node.name = written();
            break;
        case CXCursor_StringLiteral:
            node.kind = NodeKind::string;
            node.name = clang_.text(clang_.getCursorSpelling(cursor));
            break;
        case CXCursor_LambdaExpr:
            node.kind = NodeKind::lambda;
            for (const CXCursor part : parts) {
                if (part.kind == CXCursor_ParmDecl) {
                    declare(part);
                } else if (part.kind == CXCursor_CompoundStmt) {
                    if (const int body = readNode(part, depth + 1); body >= 0) {
                        node.children.push_back(body);
                    }
                }
            }
            break;
        case CXCursor_InitListExpr:
            node.kind = NodeKind::initializers;
            readChildren(parts, node, depth + 1);
            break;
        case CXCursor_VarDecl: {
            node.kind = NodeKind::variable;
            node.declaration = declare(cursor);
            node.name = program_.declared(node.declaration).name;
            // An array's bounds come first.
            readChildren(parts, node, depth + 1);
            const CXCursor initializer = clang_.Cursor_getVarDeclInitializer(cursor);
            if (clang_.Cursor_isNull(initializer)) {
                node.children.clear();
            } else if (node.children.size() > 1) {
                node.children.erase(node.children.begin(), node.children.end() - 1);
            }
            if (!node.children.empty()) {
                program_.declarations[static_cast<std::size_t>(node.declaration)].body = node.children.back();
            }
            break;
        }
        case CXCursor_ReturnStmt:
        case CXCursor_BreakStmt:
        case CXCursor_ContinueStmt:
            node.kind = NodeKind::returns;
            readChildren(parts, node, depth + 1);
            break;
        case CXCursor_IfStmt: {
            node.kind = NodeKind::branch;
            for (const CXCursor part : parts) {
                const bool statement =
                    part.kind >= CXCursor_FirstStmt && part.kind <= CXCursor_LastStmt && part.kind != CXCursor_DeclStmt;
                const int child = readNode(part, depth + 1);
                if (child < 0) {
                    continue;
                }
                if (!statement && node.parts == node.children.size() && node.parts < 3) {
                    // Conditions come first; an expression may also be the statement itself.
                    ++node.parts;
                }
                node.children.push_back(child);
            }
            if (node.parts == node.children.size() && node.parts > 1) {
                --node.parts;
            }
            break;
        }
        case CXCursor_DoStmt:
            node.kind = NodeKind::loop;
            readChildren(parts, node, depth + 1);
            node.parts = runsOnce(node) ? 1 : 0;
            break;
        case CXCursor_ForStmt:
        case CXCursor_WhileStmt:
        case CXCursor_CXXForRangeStmt:
            node.kind = NodeKind::loop;
            if (kind == CXCursor_CXXForRangeStmt && parts.size() > 1) {
                // The range before its variable.
                node.name = "range";
                readChildren({parts.begin() + 1, parts.end() - 1}, node, depth + 1);
                readChildren({parts.front(), parts.back()}, node, depth + 1);
            } else {
                readChildren(parts, node, depth + 1);
            }
            break;
        case CXCursor_GCCAsmStmt:
        case CXCursor_MSAsmStmt:
            node.kind = NodeKind::assembly;
            node.name = written();
            readChildren(parts, node, depth + 1);
            break;
        default: {
            // A call of something unknown, or with an argument that is, is an expression that begins with its name.
            if (kind == CXCursor_UnexposedExpr && !parts.empty() && parts.front().kind == CXCursor_DeclRefExpr) {
                const CXCursor callee = clang_.getCursorReferenced(parts.front());
                if ((callee.kind == CXCursor_OverloadedDeclRef && parts.size() > 1) ||
                    (isFunction(callee.kind) && clang_.getCursorType(cursor).kind == CXType_Dependent)) {
                    readCall(cursor, parts, node, depth + 1);
                    break;
                }
            }
            readChildren(parts, node, depth + 1);
            if (node.children.size() == 1 && kind != CXCursor_CompoundStmt && kind != CXCursor_DeclStmt) {
                return node.children.front();
            }
            break;
        }
    }
    return add(std::move(node));
}

}  // namespace cuco::analysis
