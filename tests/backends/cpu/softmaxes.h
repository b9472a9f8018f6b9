#pragma once

#include "backends/cpu/call_test.h"
#include "expr/parse.h"

/// Makes softmaxes.
namespace ollie::backends::cpu {

/// A softmax over the axes whose letters are capitals.
inline expr::Expr softmax(const std::string& axes, const std::vector<int64_t>& extents, bool is_log,
                          bool is_normal) {
    std::string all, kept, reduced, letters, kept_letters, shape;
    auto append = [](std::string& list, const std::string& item) {
        list += (list.empty() ? "" : ", ") + item;
    };
    for (size_t i = 0; i < axes.size(); ++i) {
        std::string letter(1, axes[i]), extent = std::to_string(extents[i]);
        append(all, letter + ":" + extent);
        append(letters, letter);
        append(shape, extent);
        bool is_reduced = std::isupper(static_cast<unsigned char>(axes[i])) != 0;
        append(is_reduced ? reduced : kept, letter + ":" + extent);
        if (!is_reduced) append(kept_letters, letter);
    }
    std::string shifted = "a[" + letters + "] - m[" + kept_letters + "]";
    std::string sum = "s[" + kept_letters + "]";
    expr::Expr parsed = expr::parse(
        "input a: f32[" + shape + "]\nm: f32[" + kept + "] = max[" + reduced + "] a[" + letters +
        "]\ns: f32[" + kept + "] = sum[" + reduced + "] exp(" + shifted + ")\noutput y: f32[" +
        all + "] = " +
        (is_log ? shifted + " - log(" + sum + ")" : "exp(" + shifted + ") / " + sum) + "\n");
    return is_normal ? expr::normalize(parsed) : parsed;
}

}  // namespace ollie::backends::cpu
