// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/analysis_walk.h"

#include <algorithm>

namespace cuco::analysis {

namespace {

constexpr std::size_t most_steps = 1'000'000, most_roots = 12;

}  // namespace

void Value::add(const Root& root)
{
    if (roots.size() < most_roots && std::ranges::find(roots, root) == roots.end()) {
        roots.push_back(root);
    }
}

void Value::add(const Value& other)
{
    for (const Root& root : other.roots) {
        add(root);
    }
    thread = thread || other.thread;
    lane = lane || other.lane;
    block = block || other.block;
}

Value Walk::evaluate(int node, Use use)
{
    Value value = evaluateAny(node, use);
    const Node& here = program_.at(node);
    if (here.number && use == Use::load) {
        // A number points to nothing; what it is called may tell whose it is.
        value.roots.clear();
        if (value.text.empty() && (here.kind == NodeKind::member || here.kind == NodeKind::name)) {
            value.text = here.name;
        }
    }
    return value;
}

Value Walk::evaluateAny(int node, Use use)
{
    if (++steps_ > most_steps) {
        analysis_.truncated = true;
        return {};
    }
    const Node& here = program_.at(node);
    Value value;
    switch (here.kind) {
        case NodeKind::name:
            return evaluateName(here, use);
        case NodeKind::member:
            return evaluateMember(here, use);
        case NodeKind::subscript:
        case NodeKind::dereference:
            return evaluateMemory(node, use);
        case NodeKind::address:
            return here.children.empty() ? value : evaluate(here.children.front(), Use::address);
        case NodeKind::call:
            return call(node);
        case NodeKind::construct:
            return construct(here);
        case NodeKind::launch:
            launch(node);
            return value;
        case NodeKind::assign:
            return assign(here);
        case NodeKind::update:
            for (std::size_t i = 1; i < here.children.size(); ++i) {
                value.add(evaluate(here.children[i]));
            }
            if (kernel_ != nullptr && here.floating && here.children.size() > 1 && loops_ > 0) {
                const Node& added = program_.at(here.children[1]);
                kernel_->computes = kernel_->computes || (added.kind == NodeKind::binary && added.name == "*");
            }
            if (!here.children.empty()) {
                value.add(evaluate(here.children.front(), Use::update));
            }
            return value;
        case NodeKind::binary:
            return evaluateBinary(here);
        case NodeKind::variable:
            return evaluateVariable(here);
        case NodeKind::string:
            value.text = here.name;
            return value;
        case NodeKind::integer:
            value.text = here.name;
            return value;
        case NodeKind::initializers:
            for (const int child : here.children) {
                value.items.push_back(evaluate(child));
                for (Root root : value.items.back().roots) {
                    root.part = true;
                    value.add(root);
                }
            }
            return value;
        case NodeKind::returns:
            for (const int child : here.children) {
                frame().result.add(evaluate(child));
            }
            return value;
        case NodeKind::branch:
            runBranch(here);
            return value;
        case NodeKind::loop:
            runLoop(here);
            return value;
        case NodeKind::assembly: {
            const bool writes =
                here.name.find("st.") != std::string::npos || here.name.find("red.") != std::string::npos;
            if (kernel_ != nullptr && here.name.find("mma") != std::string::npos) {
                kernel_->computes = true;
            }
            for (const int child : here.children) {
                const Value operand = evaluate(child, Use::address);
                if (program_.at(child).pointer || operand.thread) {
                    touch(operand, writes ? Use::store : Use::load, here, operand);
                }
            }
            return value;
        }
        case NodeKind::lambda:
        case NodeKind::other:
            break;
    }
    for (const int child : here.children) {
        value.add(evaluate(child, here.kind == NodeKind::other && here.children.size() == 1 ? use : Use::load));
    }
    return value;
}

Value Walk::valueOf(int declaration)
{
    for (std::size_t i = frames_.size(); i-- > 0;) {
        const auto found = frames_[i].values.find(declaration);
        if (found != frames_[i].values.end()) {
            return found->second;
        }
        if (frames_[i].function >= 0) {
            break;  // a caller's variables are its own
        }
    }
    const Declaration& declared = program_.declared(declaration);
    Value value;
    if (declared.kind == DeclarationKind::function) {
        value.add(Root{.name = declared.name, .function = declaration});
    } else if (declared.kind == DeclarationKind::variable || declared.kind == DeclarationKind::parameter) {
        if (declared.name == "threadIdx") {
            value.thread = true;
        } else if (declared.name == "blockIdx") {
            value.block = true;
        } else if (declared.in_source && !declared.shared && !(kernel_ != nullptr && declared.local)) {
            const auto [known, added] = globals_.try_emplace(declaration);
            if (added && declared.kind == DeclarationKind::variable && declared.body >= 0) {
                globals_[declaration] = evaluate(declared.body, Use::address);
            }
            value = globals_[declaration];
            if (value.roots.empty()) {
                value.add(Root{.name = declared.name});
            }
        }
    }
    return value;
}

Value Walk::evaluateName(const Node& node, Use use)
{
    if (node.declaration < 0) {
        Value value;
        value.add(Root{.name = node.name});
        return value;
    }
    const Declaration& declared = program_.declared(node.declaration);
    Value value = valueOf(node.declaration);
    if (declared.reference && !declared.record && kernel_ != nullptr && use != Use::address) {
        touch(value, use, node, {});
    }
    return value;
}

Value Walk::evaluateMember(const Node& node, Use use)
{
    Value object;
    if (node.children.empty()) {
        object = frame().object;
    } else {
        const Node& base = program_.at(node.children.front());
        object = evaluate(node.children.front(), Use::address);
        if (base.pointer && kernel_ != nullptr && use != Use::address) {
            touch(object, use, node, object);
        }
    }
    const Declaration* const field = node.declaration >= 0 ? &program_.declared(node.declaration) : nullptr;
    if (field != nullptr && field->kind == DeclarationKind::function) {
        return object;
    }
    Value value;
    value.thread = object.thread;
    value.block = object.block;
    value.lane = object.lane;
    const std::string scope = field == nullptr ? "" : field->scope;
    if ((scope == "cuco_io" && (node.name == "inputs" || node.name == "outputs")) ||
        (scope == "cuco_context" && node.name == "symmetric_base")) {
        value.add(Root{.name = node.name, .window = node.name != "inputs"});
        return value;
    }
    if ((field == nullptr || !field->in_source) &&
        (node.name == "x" || node.name == "y" || node.name == "z" || node.name == "w")) {
        value.add(object);
        return value;
    }
    for (const Root& root : object.roots) {
        if (root.part) {
            value.add(root);
        } else if (root.function < 0) {
            Root member{.name = root.bare || root.name.empty() ? node.name : root.name + "." + node.name,
                        .peer = root.peer,
                        .window = root.window};
            value.add(member);
        }
    }
    if (value.roots.empty()) {
        value.add(Root{.name = node.name});
    }
    if (use == Use::address || node.array) {
        return value;
    }
    // What was put there, when it goes by a name of its own.
    Value held;
    for (const Root& root : value.roots) {
        const auto found = contents_.find(root.name);
        if (found != contents_.end() && !found->second.roots.empty()) {
            held.add(found->second);
        } else {
            held.add(root);
        }
    }
    held.thread = value.thread;
    held.block = value.block;
    held.lane = value.lane;
    return held;
}

/// p[i], *p
Value Walk::evaluateMemory(int node, Use use)
{
    const Node& here = program_.at(node);
    if (here.children.empty()) {
        return {};
    }
    Value base = evaluate(here.children.front(), Use::load);
    Value index;
    for (std::size_t i = 1; i < here.children.size(); ++i) {
        index.add(evaluate(here.children[i]));
    }
    if (!index.thread && !index.lane) {
        index.thread = base.thread;
        index.lane = base.lane;
        index.block = index.block || base.block;
    }
    Value value;
    for (Root root : base.roots) {
        if (root.name == "inputs" || root.name == "outputs") {
            const Node* const at = here.children.size() > 1 ? &program_.at(here.children[1]) : nullptr;
            root.name += at != nullptr && at->kind == NodeKind::integer ? "[" + at->name + "]"
                         : at == nullptr                                ? "[0]"
                                                                        : "[*]";
        }
        value.add(root);
    }
    if (kernel_ != nullptr && use != Use::address) {
        touch(base, use, here, index);
    }
    value.thread = index.thread;
    value.lane = index.lane;
    value.block = index.block;
    if (use != Use::address && here.pointer) {
        Value held;
        for (const Root& root : value.roots) {
            const auto found = contents_.find(root.name);
            if (found != contents_.end()) {
                held.add(found->second);
            }
        }
        if (!held.roots.empty()) {
            return held;
        }
    }
    return value;
}

Value Walk::evaluateVariable(const Node& node)
{
    const Declaration& declared = program_.declared(node.declaration);
    Value value;
    if (!node.children.empty()) {
        const Node& initializer = program_.at(node.children.back());
        value = evaluate(node.children.back(), declared.reference ? Use::address : Use::load);
        if (initializer.kind == NodeKind::construct && declared.record && value.roots.empty() && kernel_ == nullptr) {
            value.add(Root{.name = declared.name});
        }
    }
    if (value.roots.empty() && value.items.empty() && !declared.shared && !declared.reference && kernel_ == nullptr) {
        // Objects of the host's that the source declares: streams, events, pointers, arrays of them.
        value.add(Root{.name = declared.name, .bare = declared.record_pointer});
    }
    if (kernel_ == nullptr) {
        value = adopt(declared.name, std::move(value), false);
    }
    frame().values[node.declaration].add(value);
    frame().values[node.declaration].items = value.items;
    frame().values[node.declaration].text = value.text;
    return value;
}

Value Walk::evaluateBinary(const Node& node)
{
    Value value;
    if (node.children.size() != 2) {
        for (const int child : node.children) {
            value.add(evaluate(child));
        }
        return value;
    }
    const Node &left = program_.at(node.children[0]), &right = program_.at(node.children[1]);
    Value a = evaluate(node.children[0]), b = evaluate(node.children[1]);
    const bool by_warp = (node.name == "%" || node.name == "/") && right.name == "32";
    const bool by_mask = (node.name == "&" && right.name == "31") || (node.name == ">>" && right.name == "5");
    if (by_warp || by_mask) {
        // A lane's number strides over a warp; a warp's number names one.
        value.lane = a.thread && (node.name == "%" || node.name == "&");
        return value;
    }
    value.thread = a.thread || b.thread;
    value.lane = a.lane || b.lane;
    value.block = a.block || b.block;
    if (node.name == "==") {
        return value;
    }
    // Of a sum, the pointer; of a difference of pointers nothing.
    if (left.pointer && right.pointer) {
        return value;
    }
    for (const Value* side : {&a, &b}) {
        const Node& part = side == &a ? left : right;
        if (part.pointer || (!left.pointer && !right.pointer)) {
            for (const Root& root : side->roots) {
                value.add(root);
            }
        }
    }
    return value;
}

/// Memory that a helper allocated, under the name that its caller keeps it by.
Value Walk::adopt(const std::string& name, Value value, bool through_pointer)
{
    for (Root& root : value.roots) {
        const auto made = allocated_in_.find(root.name);
        if (made == allocated_in_.end() || root.name == name) {
            continue;
        }
        const bool here = made->second.function == frame().function;
        if (here ? !through_pointer : !made->second.local) {
            continue;
        }
        const auto buffer = std::ranges::find(analysis_.buffers, root.name, &Buffer::name);
        if (buffer == analysis_.buffers.end()) {
            continue;
        }
        if (std::ranges::find(analysis_.buffers, name, &Buffer::name) == analysis_.buffers.end()) {
            Buffer kept = made->second.buffer;
            kept.name = name;
            helpers_.insert(root.name);
            analysis_.buffers.push_back(std::move(kept));
        }
        root = Root{.name = name};
    }
    return value;
}

/// Remembers what a pointer, handle or function is kept as.
void Walk::keep(int target, const Value& value)
{
    if (value.roots.empty()) {
        return;
    }
    const Node& here = program_.at(target);
    if (here.kind == NodeKind::name && here.declaration >= 0) {
        const Declaration& declared = program_.declared(here.declaration);
        if (!declared.reference) {
            Value& known = declared.local || declared.kind == DeclarationKind::parameter
                               ? frame().values[here.declaration]
                               : globals_[here.declaration];
            // One that has been something of its own so far is now what it is given.
            std::erase_if(known.roots, [&](const Root& root) { return root.name == declared.name; });
            known.add(value);
            return;
        }
    }
    if (here.pointer || value.roots.front().function >= 0 || !value.roots.front().symbol.empty()) {
        const Value object = evaluate(target, Use::address);
        for (const Root& root : object.roots) {
            if (root.name.empty() || std::ranges::find(value.roots, root.name, &Root::name) != value.roots.end()) {
                continue;
            }
            const Value adopted =
                adopt(root.name, value, here.kind == NodeKind::dereference || here.kind == NodeKind::subscript);
            if (adopted.roots.size() != 1 || adopted.roots.front().name != root.name) {
                contents_[root.name].add(adopted);
            }
        }
    }
}

Value Walk::assign(const Node& node)
{
    if (node.children.size() < 2) {
        return {};
    }
    const Value value = evaluate(node.children[1]);
    const int target = node.children[0];
    evaluate(target, Use::store);
    const Node& right = program_.at(node.children[1]);
    if (right.pointer || program_.at(target).pointer || (!value.roots.empty() && value.roots.front().function >= 0)) {
        keep(target, value);
    } else if (program_.at(target).kind == NodeKind::name && program_.at(target).declaration >= 0) {
        Value& known = frame().values[program_.at(target).declaration];
        known.thread = known.thread || value.thread;
        known.lane = known.lane || value.lane;
        known.block = known.block || value.block;
    }
    return value;
}

}  // namespace cuco::analysis
