// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <clang-c/Index.h>

#include <memory>
#include <string>

namespace cuco {

/// The functions of libclang that the analysis calls.
// clang-format off
#define CUCO_LIBCLANG_FUNCTIONS(F) \
    F(createIndex) F(disposeIndex) F(parseTranslationUnit2) F(disposeTranslationUnit) \
    F(getTranslationUnitCursor) F(visitChildren) F(getCString) F(disposeString) F(getCursorSpelling) \
    F(getCursorLocation) F(getCursorExtent) F(getRangeStart) F(getRangeEnd) F(getFileLocation) \
    F(getSpellingLocation) F(getFileName) F(getFileContents) F(Location_isInSystemHeader) F(getCursorReferenced) \
    F(getCursorDefinition) F(getCanonicalCursor) F(getSpecializedCursorTemplate) F(getCursorSemanticParent) \
    F(getCursorType) F(getCanonicalType) F(getPointeeType) F(isConstQualifiedType) F(getTypeSpelling) \
    F(getArrayElementType) F(hashCursor) F(equalCursors) F(Cursor_isNull) F(getNumDiagnostics) F(getDiagnostic) \
    F(getDiagnosticSpelling) F(getDiagnosticLocation) F(getDiagnosticSeverity) F(disposeDiagnostic) \
    F(getCursorBinaryOperatorKind) F(getCursorUnaryOperatorKind) F(getNumOverloadedDecls) F(getOverloadedDecl) \
    F(Cursor_getVarDeclInitializer) F(isCursorDefinition) F(getIncludedFile) F(isDeclaration) \
    F(toggleCrashRecovery)
// clang-format on

/// libclang 19, found when the program runs: it is too large to come along, and nothing but the analysis needs it.
class LibClang {
public:
    /// $CUCO_LIBCLANG when it is set; else the dynamic loader's choice for libclang-19.so.1; else where LLVM's own
    /// packages put it. Errors: not there, or not release 19.
    static Result<LibClang> load();

#define CUCO_DECLARE(name) decltype(&clang_##name) name = nullptr;
    CUCO_LIBCLANG_FUNCTIONS(CUCO_DECLARE)
#undef CUCO_DECLARE

    /// Takes the string over.
    std::string text(CXString string) const;

private:
    std::shared_ptr<void> library_;
};

}  // namespace cuco
