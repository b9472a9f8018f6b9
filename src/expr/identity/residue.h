#pragma once

#include <array>
#include <cstdint>

/// Arithmetic modulo the primes of identity testing, a chain in which each divides the next less
/// one: s = 2^57 - 25, q = 4s + 1 = 2^59 - 99, p = 8q + 1 = 2^62 - 791. An element of order q in
/// Z_p maps sums in Z_q to products in Z_p, as exp does; one of order s in Z_q does it again, so
/// that an exp inside an exp keeps its laws, too. All three are just below a power of two, which
/// makes reduction two short products.
namespace ollie::expr {

__extension__ using Wide = unsigned __int128;
__extension__ using SignedWide = __int128;

template <int Bits, uint64_t Excess>
struct PrimeField {
    static constexpr uint64_t prime = (uint64_t{1} << Bits) - Excess;

    /// Any value to [0, prime).
    static constexpr uint64_t reduce(Wide x) {
        constexpr uint64_t mask = (uint64_t{1} << Bits) - 1;
        x = (x >> Bits) * Excess + (static_cast<uint64_t>(x) & mask);
        x = (x >> Bits) * Excess + (static_cast<uint64_t>(x) & mask);
        auto word = static_cast<uint64_t>(x);
        return word >= prime ? word - prime : word;
    }
    /// Any value to one below 2^82 that is congruent: for sums that are reduced later.
    static constexpr Wide fold(Wide x) {
        constexpr uint64_t mask = (uint64_t{1} << Bits) - 1;
        return (x >> Bits) * Excess + (static_cast<uint64_t>(x) & mask);
    }
    static constexpr uint64_t add(uint64_t a, uint64_t b) {
        uint64_t sum = a + b;
        return sum >= prime ? sum - prime : sum;
    }
    static constexpr uint64_t negate(uint64_t a) { return a == 0 ? 0 : prime - a; }
    static constexpr uint64_t multiply(uint64_t a, uint64_t b) { return reduce(Wide{a} * b); }
    static constexpr uint64_t power(uint64_t base, uint64_t exponent) {
        uint64_t result = 1;
        for (; exponent != 0; exponent >>= 1) {
            if ((exponent & 1) != 0) result = multiply(result, base);
            base = multiply(base, base);
        }
        return result;
    }
    /// Of a value that is not 0.
    static constexpr uint64_t inverse(uint64_t a) { return power(a, prime - 2); }
    static constexpr uint64_t from_integer(SignedWide n) {
        return n < 0 ? negate(reduce(static_cast<Wide>(-n))) : reduce(static_cast<Wide>(n));
    }
    /// 2^exponent.
    static uint64_t power_of_two(int exponent) {
        static const std::array<uint64_t, 512> table = [] {
            std::array<uint64_t, 512> result;
            result[0] = inverse(power(2, 256));
            for (size_t i = 1; i < 512; ++i) result[i] = add(result[i - 1], result[i - 1]);
            return result;
        }();
        if (exponent >= -256 && exponent < 256) return table[static_cast<size_t>(exponent + 256)];
        return exponent > 0 ? power(2, static_cast<uint64_t>(exponent))
                            : inverse(power(2, static_cast<uint64_t>(-exponent)));
    }
};

using FieldP = PrimeField<62, 791>;
using FieldQ = PrimeField<59, 99>;
using FieldS = PrimeField<57, 25>;

static_assert(FieldP::prime == 4611686018427387113u);
static_assert(FieldQ::prime == 576460752303423389u);
static_assert(FieldP::prime == 8 * FieldQ::prime + 1);
static_assert(FieldQ::prime == 4 * FieldS::prime + 1);

/// Powers of one base by a table per byte of the exponent.
template <typename Field>
class PowerTable {
public:
    void set_base(uint64_t base) {
        for (auto& row : rows_) {
            uint64_t value = 1;
            for (uint64_t& entry : row) {
                entry = value;
                value = Field::multiply(value, base);
            }
            base = value;
        }
    }
    uint64_t power(uint64_t exponent) const {
        uint64_t result = 1;
        for (int byte = 0; byte < 8; ++byte, exponent >>= 8)
            result = Field::multiply(result, rows_[byte][exponent & 255]);
        return result;
    }

private:
    uint64_t rows_[8][256];
};

}  // namespace ollie::expr
