// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/analysis_tree.h"

#include <string_view>
#include <utility>

namespace cuco::analysis {

bool isFunction(CXCursorKind kind)
{
    return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod || kind == CXCursor_Constructor ||
           kind == CXCursor_Destructor || kind == CXCursor_FunctionTemplate || kind == CXCursor_ConversionFunction;
}

TreeBuilder::TreeBuilder(const LibClang& clang, CXTranslationUnit unit, const std::string& source)
    : clang_(clang), unit_(unit)
{
    program_.files.push_back({"", source});
}

std::vector<CXCursor> TreeBuilder::childrenOf(CXCursor cursor) const
{
    std::vector<CXCursor> children;
    clang_.visitChildren(
        cursor,
        [](CXCursor child, CXCursor, CXClientData list) {
            static_cast<std::vector<CXCursor>*>(list)->push_back(child);
            return CXChildVisit_Continue;
        },
        &children);
    return children;
}

int TreeBuilder::fileOf(CXFile file)
{
    if (file == nullptr) {
        return -1;
    }
    const auto [found, added] = files_.try_emplace(file, -1);
    if (added) {
        constexpr std::string_view headers = "/cuco/headers/";
        const std::string name = clang_.text(clang_.getFileName(file));
        if (name == "/cuco/source.cu") {
            found->second = 0;
        } else if (name.starts_with(headers)) {
            std::size_t bytes = 0;
            const char* const text = clang_.getFileContents(unit_, file, &bytes);
            found->second = static_cast<int>(program_.files.size());
            program_.files.push_back({name.substr(name.find('/', headers.size()) + 1),
                                      text == nullptr ? std::string() : std::string(text, bytes)});
        }
    }
    return found->second;
}

TreeBuilder::Place TreeBuilder::placeOf(CXSourceLocation location, bool spelling)
{
    CXFile file = nullptr;
    unsigned line = 0, offset = 0;
    (spelling ? clang_.getSpellingLocation : clang_.getFileLocation)(location, &file, &line, nullptr, &offset);
    return {fileOf(file), line, offset};
}

void TreeBuilder::read()
{
    for (const CXCursor child : childrenOf(clang_.getTranslationUnitCursor(unit_))) {
        if (placeOf(clang_.getCursorLocation(child)).file >= 0) {
            readScope(child, 0);
        }
    }
}

void TreeBuilder::readScope(CXCursor cursor, int depth)
{
    const CXCursorKind kind = cursor.kind;
    if (depth > most_depth) {
        program_.truncated = true;
    } else if (isFunction(kind)) {
        readFunction(cursor);
    } else if (kind == CXCursor_VarDecl || kind == CXCursor_FieldDecl) {
        const int declaration = declare(cursor);
        Node list;
        readChildren(childrenOf(cursor), list, depth + 1);
        if (!list.children.empty() && declaration >= 0) {
            const int initializer = list.children.back();
            program_.declarations[static_cast<std::size_t>(declaration)].body = initializer;
        }
    } else if (kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec || kind == CXCursor_UnexposedDecl ||
               kind == CXCursor_StructDecl || kind == CXCursor_ClassDecl || kind == CXCursor_ClassTemplate ||
               kind == CXCursor_ClassTemplatePartialSpecialization || kind == CXCursor_UnionDecl) {
        for (const CXCursor child : childrenOf(cursor)) {
            readScope(child, depth + 1);
        }
    }
}

void TreeBuilder::readFunction(CXCursor cursor)
{
    const int index = declare(cursor);
    if (index < 0 || !clang_.isCursorDefinition(cursor)) {
        return;
    }
    const auto at = static_cast<std::size_t>(index);
    Node body;
    readPlace(cursor, body);
    std::vector<int> parameters;
    for (const CXCursor child : childrenOf(cursor)) {
        if (child.kind == CXCursor_ParmDecl) {
            parameters.push_back(declare(child));
        } else if (child.kind == CXCursor_CUDAGlobalAttr) {
            program_.declarations[at].kernel = true;
        } else if (child.kind == CXCursor_CUDADeviceAttr) {
            program_.declarations[at].device = true;
        } else if (const int node = readNode(child, 1); node >= 0) {
            body.children.push_back(node);
        }
    }
    describe(program_.declarations[at], cursor);
    program_.declarations[at].parameters = std::move(parameters);
    const int root = add(std::move(body));
    program_.declarations[at].body = root;
}

int TreeBuilder::declare(CXCursor cursor)
{
    const CXCursor pattern = clang_.getSpecializedCursorTemplate(cursor);
    const CXCursor key = clang_.getCanonicalCursor(clang_.Cursor_isNull(pattern) ? cursor : pattern);
    auto& bucket = declared_[clang_.hashCursor(key)];
    for (const auto& [known, index] : bucket) {
        if (clang_.equalCursors(known, key)) {
            return index;
        }
    }
    const int index = static_cast<int>(program_.declarations.size());
    bucket.emplace_back(key, index);
    program_.declarations.emplace_back();
    describe(program_.declarations.back(), clang_.Cursor_isNull(pattern) ? cursor : pattern);
    return index;
}

void TreeBuilder::describe(Declaration& declaration, CXCursor cursor)
{
    const CXCursorKind kind = cursor.kind;
    declaration.kind = isFunction(kind)                    ? DeclarationKind::function
                       : kind == CXCursor_VarDecl          ? DeclarationKind::variable
                       : kind == CXCursor_ParmDecl         ? DeclarationKind::parameter
                       : kind == CXCursor_FieldDecl        ? DeclarationKind::field
                       : kind == CXCursor_EnumConstantDecl ? DeclarationKind::constant
                                                           : DeclarationKind::other;
    declaration.name = clang_.text(clang_.getCursorSpelling(cursor));
    if (isFunction(kind)) {
        declaration.name = declaration.name.substr(0, declaration.name.find('<'));
    }
    declaration.scope = clang_.text(clang_.getCursorSpelling(clang_.getCursorSemanticParent(cursor)));
    const Place place = placeOf(clang_.getCursorLocation(cursor));
    declaration.file = place.file;
    declaration.line = place.line;
    declaration.in_source = place.file >= 0;
    CXType type = clang_.getCursorType(cursor);
    declaration.type = clang_.text(clang_.getTypeSpelling(type));
    type = clang_.getCanonicalType(type);
    declaration.reference = type.kind == CXType_LValueReference || type.kind == CXType_RValueReference;
    if (declaration.reference) {
        type = clang_.getCanonicalType(clang_.getPointeeType(type));
    }
    declaration.record = type.kind == CXType_Record;
    declaration.pointer = type.kind == CXType_Pointer;
    if (declaration.pointer) {
        declaration.record_pointer = clang_.getCanonicalType(clang_.getPointeeType(type)).kind == CXType_Record;
        declaration.constant_pointee = clang_.isConstQualifiedType(clang_.getPointeeType(type)) != 0;
    }
    if (kind == CXCursor_VarDecl) {
        declaration.local = isFunction(clang_.getCursorSemanticParent(cursor).kind);
        for (const CXCursor child : childrenOf(cursor)) {
            declaration.shared = declaration.shared || child.kind == CXCursor_CUDASharedAttr;
        }
    }
}

}  // namespace cuco::analysis
