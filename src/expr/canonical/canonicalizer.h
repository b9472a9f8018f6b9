#pragma once

#include <map>
#include <memory>

#include "expr/canonical/color_refinement.h"
#include "expr/canonical/flat_body.h"

/// Canonical forms of all tensors below a root, kept by address. Part of canonical.cpp.
namespace ollie::expr {

class Canonicalizer {
public:
    /// Sources by name and values.
    Canonicalizer() = default;
    /// Sources by the given colours, which must name all of them.
    explicit Canonicalizer(std::map<const Tensor*, uint64_t> source_colors);

    const CanonicalTensor& canonical(const Tensor*);
    /// With the order of axes as declared.
    const Key& output_key(const Tensor*);
    Key key(const Expr&);
    int64_t capped() const { return capped_; }

    /// Calls visit(tensor, context) for each read of a definition that is itself in `context`.
    template <typename Visit>
    void for_each_read(const Tensor* definition, bool is_output, uint64_t context, Visit visit) {
        require_sources(definition);
        flattener_.flatten(definition, is_output, tensors_, body_);
        const std::vector<uint64_t>& contexts = refinement_.contexts(body_, context);
        for (size_t n = 0; n < body_.nodes.size(); ++n)
            if (body_.nodes[n].tensor != nullptr) visit(body_.nodes[n].tensor, contexts[n]);
    }

private:
    void require_sources(const Tensor* definition);
    void require_sources(const ScalarNode& scalar);
    Key source_key(const Tensor* source);
    uint64_t hash_of_values(const HostArray& values);

    bool has_colors_ = false;
    std::map<const Tensor*, uint64_t> source_colors_;
    CanonicalTensors tensors_;
    std::unordered_map<const Tensor*, Key> outputs_;
    std::unordered_map<const HostArray*, uint64_t> value_hashes_;
    BodyFlattener flattener_;
    ColorRefinement refinement_;
    FlatBody body_;
    int64_t capped_ = 0;
};

}  // namespace ollie::expr
