#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "expr/identity/field_value.h"
#include "expr/node.h"

/// What inputs and weights hold under a draw: n / 2^17 with n hashed from name, element and seed,
/// so that both expressions see the same; or the exact values of a weight.
namespace ollie::expr {

/// Draws that send data-dependent branches down every path, besides random ones.
enum class Pattern : uint8_t {
    Random,
    Small,       ///< Random below 2^-6: exponentials of one magnitude.
    Ascending,   ///< Positive, growing with the position along every axis.
    Descending,  ///< Positive, falling.
    AllEqual,    ///< One value per tensor.
    Dominant,    ///< One element in sixteen is far above the others.
    Negative,    ///< All negative; booleans all false: everything masked.
    Positive     ///< All positive; booleans all true.
};
std::string_view name_of(Pattern);

struct Draw {
    uint64_t seed = 0;
    Pattern pattern = Pattern::Random;
    /// Half of the sources, chosen by hash, are random whatever the pattern.
    bool is_mixed = false;
};

/// Binary places of hashed values.
constexpr int dyadic_places = 17;

/// One input or weight.
class SourceValues {
public:
    /// With values: these, exactly.
    SourceValues(const Tensor* tensor, std::shared_ptr<const HostArray> values);

    void start_draw(const Draw&);
    /// All elements are n / 2^17 with |n| < 2^23, and so have numerators.
    bool has_numerators() const { return has_numerators_; }
    bool is_float() const { return is_float_; }
    /// Numerators of `count` elements, the first at `first`, `step` apart.
    void numerators(int64_t first, int64_t step, int64_t count, int64_t* result) const;
    /// Of the elements at `first` plus each offset.
    void numerators(int64_t first, std::span<const int64_t> offsets, int64_t* result) const;
    FieldValue at(int64_t element) const;

private:
    int64_t numerator(int64_t element) const;
    FieldValue exact(int64_t element) const;

    std::shared_ptr<const HostArray> values_;
    std::vector<int32_t> exact_numerators_;
    std::vector<FieldValue> exact_values_;  ///< Of small weights that have no numerators.
    ElementType type_;
    bool is_float_;
    bool has_numerators_;
    int64_t size_;
    uint64_t name_hash_;
    uint64_t seed_ = 0;
    Pattern pattern_ = Pattern::Random;
};

}  // namespace ollie::expr
