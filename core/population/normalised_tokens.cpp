// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/normalised_tokens.h"

#include "core/source/cuda_lexer.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace cuco {

namespace {

// Directives with their arguments as tokens: tokeniseCuda() drops #pragma and #if, where numbers matter.
enum class Place { code, define, directive };

struct Word {
    std::string_view text;
    LexemeKind kind = LexemeKind::end;
    Place place = Place::code;

    bool is(std::string_view other) const { return text == other; }
    bool isName() const { return kind == LexemeKind::identifier && place != Place::directive; }
};

void split(std::string_view text, Place place, std::vector<Word>& words)
{
    CudaLexer lexer(text);
    for (Lexeme lexeme = lexer.next(); lexeme.kind != LexemeKind::end; lexeme = lexer.next()) {
        const std::string_view word = text.substr(lexeme.begin, lexeme.end - lexeme.begin);
        if (lexeme.kind == LexemeKind::comment)
            continue;
        if (lexeme.kind != LexemeKind::preprocessor || place != Place::code) {
            words.push_back({word, lexeme.kind, place});
            continue;
        }
        const std::string_view rest = word.substr(std::min(word.find_first_not_of(" \t", 1), word.size()));
        words.push_back({word.substr(0, 1), LexemeKind::punctuation, Place::directive});
        split(rest, rest.starts_with("define") ? Place::define : Place::directive, words);
        words.push_back({"\n", LexemeKind::punctuation, Place::directive});
    }
}

template <std::size_t size>
bool isOneOf(std::string_view text, const std::array<std::string_view, size>& words)
{
    return std::ranges::find(words, text) != words.end();
}

/// Before a name they are no type.
constexpr std::array<std::string_view, 23> never_types{
    "return", "new",       "delete", "throw",   "else",     "case",      "goto",     "sizeof",
    "using",  "namespace", "do",     "typedef", "operator", "co_return", "co_yield", "co_await",
    "if",     "while",     "for",    "switch",  "public",   "private",   "protected"};

/// Never declared here, even where the tokens look like it: `sizeof(unsigned int)`.
bool isReserved(std::string_view name)
{
    static const std::unordered_set<std::string_view> names{"alignas",
                                                            "alignof",
                                                            "asm",
                                                            "auto",
                                                            "bool",
                                                            "break",
                                                            "case",
                                                            "catch",
                                                            "char",
                                                            "char16_t",
                                                            "char32_t",
                                                            "char8_t",
                                                            "class",
                                                            "concept",
                                                            "const",
                                                            "const_cast",
                                                            "consteval",
                                                            "constexpr",
                                                            "constinit",
                                                            "continue",
                                                            "co_await",
                                                            "co_return",
                                                            "co_yield",
                                                            "decltype",
                                                            "default",
                                                            "delete",
                                                            "do",
                                                            "double",
                                                            "dynamic_cast",
                                                            "else",
                                                            "enum",
                                                            "explicit",
                                                            "export",
                                                            "extern",
                                                            "false",
                                                            "float",
                                                            "for",
                                                            "friend",
                                                            "goto",
                                                            "if",
                                                            "inline",
                                                            "int",
                                                            "long",
                                                            "mutable",
                                                            "namespace",
                                                            "new",
                                                            "noexcept",
                                                            "nullptr",
                                                            "operator",
                                                            "override",
                                                            "private",
                                                            "protected",
                                                            "public",
                                                            "register",
                                                            "reinterpret_cast",
                                                            "requires",
                                                            "return",
                                                            "short",
                                                            "signed",
                                                            "sizeof",
                                                            "static",
                                                            "static_assert",
                                                            "static_cast",
                                                            "struct",
                                                            "switch",
                                                            "template",
                                                            "this",
                                                            "thread_local",
                                                            "throw",
                                                            "true",
                                                            "try",
                                                            "typedef",
                                                            "typeid",
                                                            "typename",
                                                            "union",
                                                            "unsigned",
                                                            "using",
                                                            "virtual",
                                                            "void",
                                                            "volatile",
                                                            "wchar_t",
                                                            "while",
                                                            "threadIdx",
                                                            "blockIdx",
                                                            "blockDim",
                                                            "gridDim",
                                                            "warpSize"};
    return names.contains(name);
}

constexpr std::array<std::string_view, 4> kept_prefixes{"nccl", "cuda", "cublas", "__"};

bool isAlwaysKept(std::string_view name)
{
    if (isReserved(name))
        return true;
    return std::ranges::any_of(kept_prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

class Normaliser {
public:
    explicit Normaliser(const std::vector<Word>& words) : words_(words) {}

    std::vector<std::uint64_t> run()
    {
        hashes_.reserve(words_.size());
        for (at_ = 0; at_ < words_.size(); ++at_) {
            hashes_.push_back(hashOfWord());
            follow();
        }
        return std::move(hashes_);
    }

private:
    struct Scope {
        bool of_type = false;      ///< the members of a struct, class or union
        int depth = 0;             ///< of parentheses, brackets
        std::uint64_t kind = 0;    ///< what the declaration being read declares; 0: none
        int kind_depth = 0;        ///< where its next name would be
        int open_angles = 0;       ///< < without > since the last ; { }
        bool type_begins = false;  ///< struct, class or union since the last ; { }
    };

    const Word& word(std::ptrdiff_t offset) const
    {
        static constexpr Word none{};
        const auto index = static_cast<std::ptrdiff_t>(at_) + offset;
        return index < 0 || index >= std::ssize(words_) ? none : words_[static_cast<std::size_t>(index)];
    }

    bool isMemberUse() const { return word(-1).is(".") || (word(-1).is(">") && word(-2).is("-")); }

    std::uint64_t hashOfWord()
    {
        const Word& here = word(0);
        if (here.kind == LexemeKind::number) {
            std::string digits(here.text);
            std::erase(digits, '\'');
            return hashText(digits);
        }
        if (!here.isName() || isAlwaysKept(here.text))
            return hashText(here.text);
        auto& scope = scopes_.back();
        if (const std::uint64_t kind = kindOfDeclaration()) {
            auto& names = scope.of_type && scope.depth == 0 ? members_ : names_;
            const std::uint64_t identity = mixHash(kind, ++declared_[kind]);
            names[here.text] = identity;
            scope.kind = kind;
            scope.kind_depth = scope.depth;
            return identity;
        }
        const auto& first = isMemberUse() ? members_ : names_;
        if (const auto found = first.find(here.text); found != first.end())
            return found->second;
        if (const auto found = members_.find(here.text); found != members_.end() && !isMemberUse())
            return found->second;
        return hashText(here.text);
    }

    /// 0: the name here is not being declared.
    std::uint64_t kindOfDeclaration() const
    {
        const Word& next = word(1);
        if (word(-1).is("define") && word(-1).place == Place::define)
            return hashText("define");
        const bool may_end_declarator = next.is("=") || next.is(";") || next.is(",") || next.is(")") || next.is("(") ||
                                        next.is("[") || next.is("{") || next.is(":") || next.is(">");
        if (!may_end_declarator || (next.is(":") && word(2).is(":")))
            return 0;
        const Scope& scope = scopes_.back();
        const bool is_next_declarator =
            word(-1).is(",") && scope.kind != 0 && scope.open_angles == 0 && scope.depth == 0 && scope.kind_depth == 0;
        if (is_next_declarator && !next.is("(") && !next.is(")") && !next.is(">"))
            return scope.kind;  // int a, b;
        std::ptrdiff_t type = -1;
        while (word(type).is("*") || word(type).is("&") || word(type).is("const"))
            --type;
        const Word& before = word(type);
        if (before.kind == LexemeKind::identifier && before.place != Place::directive) {
            if (isOneOf(before.text, never_types) || (next.is(">") && !before.is("typename") && !before.is("int")))
                return 0;
            if (type != -1 && word(-1).kind != LexemeKind::identifier && !beginsType(type))
                return 0;
            return mixHash(hashes_[at_ - static_cast<std::size_t>(-type)], hashText("declared"));
        }
        // `Session<Cta> name{…}`: but not `a > b;`, whose < is missing.
        if (before.is(">") && type == -1 && closesTemplate())
            return hashText("template");
        return 0;
    }

    /// Whether `T *name` at `type` is a declaration rather than a product.
    bool beginsType(std::ptrdiff_t type) const
    {
        if (names_.contains(word(type).text) && !types_.contains(word(type).text))
            return false;
        const Word& before = word(type - 1);
        return before.kind == LexemeKind::end || before.kind == LexemeKind::identifier || before.is(";") ||
               before.is("{") || before.is("}") || before.is("(") || before.is(",") || before.is(":") ||
               before.is("<") || before.is(">") || before.is("\n");
    }

    bool closesTemplate() const
    {
        int open = 0;
        for (std::ptrdiff_t offset = -1; offset > -64; --offset) {
            const Word& here = word(offset);
            if (here.is(">") && !word(offset - 1).is("-"))
                ++open;
            else if (here.is("<") && --open == 0)
                return word(offset - 1).kind == LexemeKind::identifier;
            else if (here.kind == LexemeKind::end || here.is(";") || here.is("{") || here.is("}") || here.is("="))
                return false;
        }
        return false;
    }

    void follow()
    {
        const Word& here = word(0);
        if (here.place != Place::code)
            return;
        Scope& scope = scopes_.back();
        if (here.is("struct") || here.is("class") || here.is("union")) {
            scope.type_begins = !word(-1).is("<") && !word(-1).is(",");
            types_.insert(word(1).text);
        } else if (here.is("(") || here.is("[")) {
            ++scope.depth;
        } else if (here.is(")") || here.is("]")) {
            scope.depth = std::max(0, scope.depth - 1);
        } else if (here.is("<")) {
            ++scope.open_angles;
        } else if (here.is(">") && !word(-1).is("-")) {
            scope.open_angles = std::max(0, scope.open_angles - 1);
        } else if (here.is("{")) {
            const bool of_type = scope.type_begins && scope.depth == 0;
            scope.type_begins = false;
            scope.open_angles = 0;
            scopes_.push_back({of_type});
        } else if (here.is("}")) {
            if (scopes_.size() > 1)
                scopes_.pop_back();
        } else if (here.is(";")) {
            scope.kind = 0;
            scope.type_begins = false;
            scope.open_angles = 0;
        }
    }

    const std::vector<Word>& words_;
    std::size_t at_ = 0;
    std::vector<std::uint64_t> hashes_;
    std::vector<Scope> scopes_{Scope{}};
    std::unordered_map<std::string_view, std::uint64_t> names_, members_;
    std::unordered_set<std::string_view> types_;
    std::unordered_map<std::uint64_t, std::uint64_t> declared_;  ///< how many of a kind
};

}  // namespace

std::uint64_t mixHash(std::uint64_t hash, std::uint64_t value)
{
    hash = (hash ^ value) + 0x9e3779b97f4a7c15u + (hash << 6);
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
    return hash ^ (hash >> 31);
}

std::uint64_t hashText(std::string_view text)
{
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char byte : text)
        hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
    return mixHash(hash, text.size());
}

std::vector<std::uint64_t> normalisedTokens(const KernelSource& source)
{
    std::vector<Word> words;
    for (std::size_t block = 0; block < source.blocks().size(); ++block) {
        split(source.blockText(block), Place::code, words);
        words.push_back({"\n", LexemeKind::punctuation, Place::directive});
    }
    return Normaliser(words).run();
}

}  // namespace cuco
