#include "match/mismatch.h"

namespace ollie::match {

Mismatch no_reduction() {
    return {Mismatch::Kind::NotThisForm, IteratorClass::Reduced, -1, "there is no reduction"};
}

void add_common_mismatches(const expr::Tensor* definition, const Form& form,
                           std::vector<Mismatch>& mismatches) {
    auto check_type = [&](const expr::Tensor* tensor, int operand) {
        if (tensor->type == ElementType::F32) return;
        mismatches.push_back(
            {Mismatch::Kind::Type, IteratorClass::Batch, operand,
             fmt::format("{} is {}, not f32", tensor->name, name_of(tensor->type))});
    };
    auto check_range = [&](const expr::Axis& axis, IteratorClass where) {
        if (axis.lo == 0 && axis.hi > 0) return;
        mismatches.push_back({Mismatch::Kind::Range, where, -1,
                              fmt::format("iterator {} has the range {}..{}", axis.iterator->name,
                                          axis.lo, axis.hi)});
    };
    check_type(definition, -1);
    for (size_t i = 0; i < form.reads.size(); ++i)
        check_type(form.reads[i]->tensor, static_cast<int>(i));
    for (const expr::Axis& axis : definition->axes) check_range(axis, IteratorClass::Rows);
    for (const expr::Axis& axis : form.axes) check_range(axis, IteratorClass::Reduced);
}

}  // namespace ollie::match
