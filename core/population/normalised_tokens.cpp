// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/normalised_tokens.h"

#include "core/source/cuda_lexer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace cuco {

namespace {

// Directives with their arguments as tokens: tokeniseCuda() drops #pragma and #if, where numbers matter.
enum class Place { code, define, directive };

/// What one spelling means so far.
struct Name {
    std::uint64_t hash = 0;                            ///< of its text
    bool kept = false;                                 ///< is itself wherever it stands
    bool type = false;                                 ///< of a struct, class or union
    std::optional<std::uint64_t> identity, as_member;  ///< once it was declared
};

struct Word {
    std::string_view text;
    LexemeKind kind = LexemeKind::end;
    Place place = Place::code;
    Name* name = nullptr;  ///< of an identifier

    bool is(std::string_view other) const { return text == other; }
    bool isName() const { return kind == LexemeKind::identifier && place != Place::directive; }
};

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

/// The words of code, each identifier with the name that all of its spelling share.
class Words {
public:
    void add(std::string_view text, Place place)
    {
        CudaLexer lexer(text);
        for (Lexeme lexeme = lexer.next(); lexeme.kind != LexemeKind::end; lexeme = lexer.next()) {
            const std::string_view word = text.substr(lexeme.begin, lexeme.end - lexeme.begin);
            if (lexeme.kind == LexemeKind::comment)
                continue;
            if (lexeme.kind != LexemeKind::preprocessor || place != Place::code) {
                Name* const name = lexeme.kind == LexemeKind::identifier ? &nameOf(word) : nullptr;
                words_.push_back({word, lexeme.kind, place, name});
                continue;
            }
            const std::string_view rest = word.substr(std::min(word.find_first_not_of(" \t", 1), word.size()));
            words_.push_back({word.substr(0, 1), LexemeKind::punctuation, Place::directive});
            add(rest, rest.starts_with("define") ? Place::define : Place::directive);
            addLineEnd();
        }
    }
    void addLineEnd() { words_.push_back({"\n", LexemeKind::punctuation, Place::directive}); }

    const std::vector<Word>& all() const { return words_; }

private:
    Name& nameOf(std::string_view text)
    {
        const auto [found, is_new] = names_.try_emplace(text);
        if (is_new) {
            found->second.hash = hashText(text);
            found->second.kept = isAlwaysKept(text);
        }
        return found->second;
    }

    std::vector<Word> words_;
    std::unordered_map<std::string_view, Name> names_;
};

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
        if (!here.isName())
            return here.name ? here.name->hash : hashText(here.text);
        Name& name = *here.name;
        if (name.kept)
            return name.hash;
        auto& scope = scopes_.back();
        if (const std::uint64_t kind = kindOfDeclaration()) {
            const std::uint64_t identity = mixHash(kind, ++declared_[kind]);
            (scope.of_type && scope.depth == 0 ? name.as_member : name.identity) = identity;
            scope.kind = kind;
            scope.kind_depth = scope.depth;
            return identity;
        }
        const auto& identity = isMemberUse() || !name.identity ? name.as_member : name.identity;
        return identity.value_or(name.hash);
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
        if (const Name* name = word(type).name; name && name->identity && !name->type)
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
            if (Name* name = word(1).name)
                name->type = true;
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
    Words words;
    for (std::size_t block = 0; block < source.blocks().size(); ++block) {
        words.add(source.blockText(block), Place::code);
        words.addLineEnd();
    }
    return Normaliser(words.all()).run();
}

}  // namespace cuco
