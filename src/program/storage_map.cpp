#include "program/storage_map.h"

#include "expr/build.h"
#include "expr/range.h"
#include "expr/visit.h"

namespace ollie::program {
namespace {

using namespace expr;

/// A digit of the result's index and its stride in the result's storage.
struct Digit {
    Axis axis;
    int64_t stride;
};

class AddressMap {
public:
    AddressMap(const Tensor* definition, const std::vector<int64_t>& source_strides,
               const std::vector<int64_t>& target_strides)
        : arena_(*definition->arena) {
        Scalar read = definition->body;
        address_ = arena_.constant(0);
        for (size_t k = 0; k < read->indices.size(); ++k)
            address_ = address_ + read->indices[k] * source_strides[k];
        for (size_t k = 0; k < definition->axes.size(); ++k)
            digits_.push_back({definition->axes[k], target_strides[k]});
    }

    /// Splits digits until the address is linear in them.
    std::optional<StorageMap> run() {
        for (;;) {
            address_ = simplify(address_, ranges());
            Index quotient = first_quotient();
            if (!quotient) break;
            if (!split(quotient->terms.front().atom)) return std::nullopt;
        }
        for (const Term& term : address_->terms)
            if (term.atom->kind != AtomKind::Iterator) return std::nullopt;
        StorageMap map;
        map.offset = address_->constant;
        for (const Digit& digit : digits_)
            map.axes.push_back(
                {digit.axis.extent(), coefficient(address_, digit.axis.iterator), digit.stride});
        return map;
    }

private:
    Ranges ranges() const {
        Ranges result;
        for (const Digit& digit : digits_) result.add({digit.axis});
        return result;
    }

    /// The first floor division of the address, as an index of its own; null if there is none.
    Index first_quotient() {
        for (const Term& term : address_->terms)
            if (term.atom->kind == AtomKind::FloorDiv) return arena_.linear(0, {{1, term.atom}});
        return {};
    }

    /// Splits a digit of the numerator such that its lower part does not reach the divisor.
    bool split(Atom quotient) {
        for (const Term& term : quotient->a->terms) {
            if (term.atom->kind != AtomKind::Iterator || term.coefficient <= 0) continue;
            int64_t factor = quotient->divisor / term.coefficient;
            if (factor * term.coefficient != quotient->divisor) continue;
            for (size_t k = 0; k < digits_.size(); ++k) {
                if (!(digits_[k].axis.iterator == term.atom->iterator)) continue;
                if (factor <= 1 || factor >= digits_[k].axis.extent() ||
                    digits_[k].axis.extent() % factor != 0)
                    continue;
                split(k, factor);
                return true;
            }
        }
        return false;
    }

    void split(size_t k, int64_t factor) {
        Digit digit = digits_[k];
        Axis high{arena_.iterator("u"), 0, digit.axis.extent() / factor};
        Axis low{arena_.iterator("v"), 0, factor};
        digits_[k] = {high, digit.stride * factor};
        digits_.insert(digits_.begin() + static_cast<std::ptrdiff_t>(k) + 1, {low, digit.stride});
        Index whole = index_of(high.iterator) * factor + index_of(low.iterator);
        address_ = substitute(address_, {{digit.axis.iterator, whole}});
    }

    Arena& arena_;
    Index address_;
    std::vector<Digit> digits_;
};

}  // namespace

Scalar bare_read(const Tensor* definition) {
    if (!definition->is_definition()) return {};
    Scalar body = definition->body;
    bool is_bare = body->kind == ScalarKind::Read && !body->has_outside &&
                   !body->tensor->is_definition() && body->tensor->type == definition->type;
    return is_bare ? body : Scalar{};
}

std::optional<StorageMap> storage_map(const Step& step, const Program& program) {
    if (step.meaning.outputs.size() != 1 || step.arguments.size() != 1) return std::nullopt;
    if (!bare_read(step.meaning.outputs.front())) return std::nullopt;
    // New nodes go to an arena of their own: programs are shared between threads.
    Expr meaning = copy_to(std::make_shared<Arena>(), step.meaning);
    const Buffer& source = program.buffers[static_cast<size_t>(step.arguments[0])];
    const Buffer& target = program.buffers[static_cast<size_t>(step.results[0])];
    return AddressMap(meaning.outputs.front(), source.strides(), target.strides()).run();
}

bool keeps_storage(const Step& step, const Program& program) {
    auto map = storage_map(step, program);
    if (!map || map->offset != 0) return false;
    const Buffer& source = program.buffers[static_cast<size_t>(step.arguments[0])];
    const Buffer& target = program.buffers[static_cast<size_t>(step.results[0])];
    return source.bytes() == target.bytes() && StridedCopy(1, map->axes).is_contiguous();
}

}  // namespace ollie::program
