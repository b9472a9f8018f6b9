#include "expr/canonical.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "expr/canonical/canonicalizer.h"
#include "expr/visit.h"

namespace ollie::expr {

Canonicalizer::Canonicalizer(std::map<const Tensor*, uint64_t> source_colors)
    : has_colors_(true), source_colors_(std::move(source_colors)) {}

uint64_t Canonicalizer::hash_of_values(const HostArray& values) {
    auto [found, is_new] = value_hashes_.try_emplace(&values, 0);
    if (!is_new) return found->second;
    const auto* data = static_cast<const char*>(values.data());
    auto bytes = static_cast<size_t>(values.bytes());
    uint64_t lanes[4] = {bytes, 1, 2, 3};
    size_t at = 0;
    for (; at + 32 <= bytes; at += 32) {
        for (int lane = 0; lane < 4; ++lane) {
            uint64_t word;
            std::memcpy(&word, data + at + 8 * lane, 8);
            lanes[lane] = (lanes[lane] ^ word) * 0x9fb21c651e98df25ull;
            lanes[lane] ^= lanes[lane] >> 32;
        }
    }
    for (; at < bytes; ++at) lanes[0] = combine(lanes[0], static_cast<uint8_t>(data[at]));
    for (int lane = 1; lane < 4; ++lane) lanes[0] = combine(lanes[0], lanes[lane]);
    return found->second = lanes[0];
}

Key Canonicalizer::source_key(const Tensor* source) {
    Hasher hasher;
    hasher.add(static_cast<uint64_t>(source->kind)).add(static_cast<uint64_t>(source->type));
    for (const Axis& axis : source->axes) hasher.add(static_cast<uint64_t>(axis.extent()));
    if (has_colors_) return hasher.add(source_colors_.at(source)).key();
    hasher.add(std::string_view(source->name));
    if (source->values) hasher.add(hash_of_values(*source->values));
    return hasher.key();
}

void Canonicalizer::require_sources(const ScalarNode& scalar) {
    if (scalar.kind == ScalarKind::Read) canonical(scalar.tensor);
    for (Scalar operand : scalar.operands) require_sources(*operand);
}

void Canonicalizer::require_sources(const Tensor* definition) {
    require_sources(*definition->body);
}

const CanonicalTensor& Canonicalizer::canonical(const Tensor* tensor) {
    auto found = tensors_.find(tensor);
    if (found != tensors_.end()) return found->second;
    CanonicalTensor result;
    if (!tensor->is_definition()) {
        result.key = source_key(tensor);
    } else {
        require_sources(tensor);
        flattener_.flatten(tensor, false, tensors_, body_);
        CanonicalOrder order = refinement_.order(body_);
        capped_ += order.is_capped ? 1 : 0;
        result = {order.key, std::move(order.positions), order.numberings};
    }
    return tensors_.emplace(tensor, std::move(result)).first->second;
}

const Key& Canonicalizer::output_key(const Tensor* tensor) {
    if (!tensor->is_definition()) return canonical(tensor).key;
    auto found = outputs_.find(tensor);
    if (found != outputs_.end()) return found->second;
    require_sources(tensor);
    flattener_.flatten(tensor, true, tensors_, body_);
    CanonicalOrder order = refinement_.order(body_);
    capped_ += order.is_capped ? 1 : 0;
    return outputs_.emplace(tensor, order.key).first->second;
}

Key Canonicalizer::key(const Expr& expr) {
    Hasher hasher;
    for (const Tensor* output : expr.outputs) hasher.add(output_key(output));
    return hasher.key();
}

struct KeyCache::Impl {
    Canonicalizer canonicalizer;
};

KeyCache::KeyCache() : impl_(std::make_unique<Impl>()) {}
KeyCache::~KeyCache() = default;

Key KeyCache::of(const Tensor* tensor) { return impl_->canonicalizer.canonical(tensor).key; }

std::vector<int> KeyCache::axis_order(const Tensor* tensor) {
    const CanonicalTensor& canonical = impl_->canonicalizer.canonical(tensor);
    auto end = canonical.positions.begin() +
               static_cast<int64_t>(canonical.positions.size() / canonical.numberings);
    return {canonical.positions.begin(), end};
}

int64_t KeyCache::capped() const { return impl_->canonicalizer.capped(); }

Key key(const Expr& expr) { return Canonicalizer().key(expr); }

Key key(const Expr& expr, KeyCache& cache) { return cache.impl_->canonicalizer.key(expr); }

}  // namespace ollie::expr
