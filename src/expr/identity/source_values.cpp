#include "expr/identity/source_values.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/hash.h"

namespace ollie::expr {
namespace {

constexpr int64_t half_range = int64_t{1} << 19;

int64_t random_numerator(uint64_t hash) { return static_cast<int64_t>(hash >> 44) - half_range; }

/// The values as numerators over 2^17, if all of them are.
std::vector<int32_t> exact_numerators(const HostArray& values) {
    std::vector<int32_t> result;
    if (!is_float(values.type())) return result;
    for (int64_t i = 0; i < values.size(); ++i) {
        double scaled = std::ldexp(values.at(i), dyadic_places);
        if (!(std::fabs(scaled) < 0x1p23) || std::floor(scaled) != scaled) return {};
        result.push_back(static_cast<int32_t>(scaled));
    }
    return result;
}

}  // namespace

std::string_view name_of(Pattern pattern) {
    constexpr std::array<std::string_view, 8> names = {"random",       "small",       "ascending",
                                                       "descending",   "all equal",   "dominant",
                                                       "all negative", "all positive"};
    return names[static_cast<size_t>(pattern)];
}

SourceValues::SourceValues(const Tensor* tensor, std::shared_ptr<const HostArray> values)
    : values_(std::move(values)),
      type_(tensor->type),
      is_float_(ollie::is_float(tensor->type)),
      has_numerators_(is_float_ && !values_),
      size_(element_count(tensor->shape())),
      name_hash_(Hasher().add(std::string_view(tensor->name)).key().low) {
    if (!values_) return;
    exact_numerators_ = exact_numerators(*values_);
    has_numerators_ = static_cast<int64_t>(exact_numerators_.size()) == size_ && size_ > 0;
    constexpr int64_t small = 1 << 14;
    if (has_numerators_ || size_ > small) return;
    for (int64_t i = 0; i < size_; ++i) exact_values_.push_back(exact(i));
}

void SourceValues::start_draw(const Draw& draw) {
    seed_ = combine(draw.seed, name_hash_);
    pattern_ = draw.pattern;
    if (draw.is_mixed && (mix(seed_ + 1) & 1) != 0) pattern_ = Pattern::Random;
}

int64_t SourceValues::numerator(int64_t element) const {
    uint64_t hash = mix(seed_ + static_cast<uint64_t>(element));
    constexpr uint64_t fraction = (1 << 18) - 1;
    switch (pattern_) {
        case Pattern::Random:
            return random_numerator(hash);
        case Pattern::Small:
            return random_numerator(hash) >> 8;
        case Pattern::Descending:
            element = size_ - 1 - element;
            [[fallthrough]];
        case Pattern::Ascending: {
            auto position = (static_cast<Wide>(element) << 18) + (hash & fraction);
            return 2 * static_cast<int64_t>(position / static_cast<uint64_t>(size_));
        }
        case Pattern::AllEqual:
            return random_numerator(mix(seed_ + 2));
        case Pattern::Dominant:
            return (mix(hash) & 15) == 0 ? random_numerator(hash) : random_numerator(hash) >> 8;
        case Pattern::Negative:
            return -(std::llabs(random_numerator(hash)) | 1);
        case Pattern::Positive:
            return std::llabs(random_numerator(hash)) | 1;
    }
    return 0;
}

void SourceValues::numerators(int64_t first, int64_t step, int64_t count, int64_t* result) const {
    if (values_) {
        for (int64_t i = 0; i < count; ++i) result[i] = exact_numerators_[first + i * step];
    } else if (pattern_ == Pattern::Random) {
        for (int64_t i = 0; i < count; ++i)
            result[i] = random_numerator(mix(seed_ + static_cast<uint64_t>(first + i * step)));
    } else {
        for (int64_t i = 0; i < count; ++i) result[i] = numerator(first + i * step);
    }
}

void SourceValues::numerators(int64_t first, std::span<const int64_t> offsets,
                              int64_t* result) const {
    for (int64_t offset : offsets) {
        int64_t element = first + offset;
        *result++ = values_ ? exact_numerators_[element] : numerator(element);
    }
}

FieldValue SourceValues::exact(int64_t element) const {
    if (!is_float_) return FieldValue::of_integer(values_->int_at(element));
    if (type_ != ElementType::F64) return field_dyadic(values_->at(element));
    return as_finite(field_constant(values_->at(element)));
}

FieldValue SourceValues::at(int64_t element) const {
    if (!exact_values_.empty()) return exact_values_[element];
    if (values_) return exact(element);
    int64_t n = numerator(element);
    if (is_float_) {
        static const FieldValue unit = finite_of(1, dyadic_places);
        FieldValue value;
        value.tag = FieldTag::Finite;
        value.p = FieldP::multiply(FieldP::from_integer(n), unit.p);
        value.q = FieldQ::multiply(FieldQ::from_integer(n), unit.q);
        value.s = FieldS::multiply(FieldS::from_integer(n), unit.s);
        value.companion = static_cast<double>(n) * 0x1p-17;
        return value;
    }
    switch (type_) {
        case ElementType::Bool: {
            if (pattern_ == Pattern::Negative) return FieldValue::of_integer(0);
            if (pattern_ == Pattern::Positive) return FieldValue::of_integer(1);
            return FieldValue::of_integer(mix(static_cast<uint64_t>(n)) & 1);
        }
        case ElementType::I8:
            return FieldValue::of_integer(n >> 12);
        case ElementType::U8:
            return FieldValue::of_integer(std::llabs(n) >> 11);
        case ElementType::U16:
        case ElementType::U32:
        case ElementType::U64:
            return FieldValue::of_integer(std::llabs(n) >> 9);
        default:
            return FieldValue::of_integer(n >> 9);
    }
}

}  // namespace ollie::expr
