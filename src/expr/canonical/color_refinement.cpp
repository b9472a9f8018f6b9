#include "expr/canonical/color_refinement.h"

#include <algorithm>

namespace ollie::expr {
namespace {

constexpr uint64_t individual = 0xa0761d6478bd642full;
constexpr uint64_t low_lane = 0xe7037ed1a0b428dbull;

/// Role under refinement: automorphic axes of the tensor that is read are alike.
uint64_t orbit_role(const FlatNode& node, size_t position, int64_t role) {
    if (node.source == nullptr || node.source->numberings == 1 || role == unit_role)
        return mix(static_cast<uint64_t>(role));
    const auto& positions = node.source->positions;
    size_t rank = positions.size() / node.source->numberings;
    uint8_t least = positions[position];
    for (size_t i = position; i < positions.size(); i += rank)
        least = std::min(least, positions[i]);
    return mix(least);
}

/// Two lanes that never touch: a sum over operands, so that their order is no matter.
struct Lanes {
    Key sum;
    void add(const Key& operand, int64_t role) {
        auto word = static_cast<uint64_t>(role);
        sum.high += mix(operand.high + mix(word));
        sum.low += mix((operand.low ^ low_lane) + mix(word + low_lane));
    }
    Key close(const Key& label) const {
        return {mix(label.high ^ sum.high), mix((label.low + low_lane) ^ sum.low)};
    }
};

Key key_of_number(uint64_t number) { return {mix(number + 1), mix(number + low_lane)}; }

}  // namespace

void ColorRefinement::start(const FlatBody& body) {
    body_ = &body;
    initial_.resize(body.iterators.size());
    for (size_t i = 0; i < initial_.size(); ++i) initial_[i] = body.iterators[i].initial_color;
    rank_.resize(initial_.size());
    number_.resize(initial_.size());
    hashes_.resize(body.nodes.size());
    contexts_.resize(body.nodes.size());
    keys_.resize(body.nodes.size());
    roles_.clear();
}

void ColorRefinement::hash_upwards(const Colors& colors) {
    if (roles_.empty()) {
        roles_.resize(body_->edges.size());
        for (const FlatNode& node : body_->nodes) {
            size_t position = 0;
            for (uint32_t e = node.first_edge; e < node.first_edge + node.edge_count; ++e) {
                roles_[e] = orbit_role(node, position, body_->edges[e].role);
                if (body_->edges[e].role != unit_role) ++position;
            }
        }
    }
    for (size_t n = 0; n < body_->nodes.size(); ++n) {
        const FlatNode& node = body_->nodes[n];
        uint64_t sum = 0;
        for (uint32_t e = node.first_edge; e < node.first_edge + node.edge_count; ++e) {
            int32_t target = body_->edges[e].target;
            sum += mix((target < 0 ? colors[~target] : hashes_[target]) + roles_[e]);
        }
        for (uint32_t i = node.first_iterator; i < node.first_iterator + node.iterator_count; ++i)
            sum += mix(colors[i] ^ individual);
        hashes_[n] = mix(node.label.high ^ sum);
    }
}

void ColorRefinement::hash_downwards(uint64_t root_context) {
    gathered_.assign(body_->iterators.size(), 0);
    std::fill(contexts_.begin(), contexts_.end(), 0);
    contexts_.back() = root_context;
    for (size_t n = body_->nodes.size(); n-- > 0;) {
        const FlatNode& node = body_->nodes[n];
        uint64_t here = mix(contexts_[n] ^ hashes_[n]);
        for (uint32_t e = node.first_edge; e < node.first_edge + node.edge_count; ++e) {
            int32_t target = body_->edges[e].target;
            uint64_t context = mix(here + roles_[e]);
            if (target < 0)
                gathered_[~target] += context;
            else
                contexts_[target] = context;
        }
        for (uint32_t i = node.first_iterator; i < node.first_iterator + node.iterator_count; ++i)
            gathered_[i] += here;
    }
}

size_t ColorRefinement::distinct(const Colors& colors) {
    sorted_ = colors;
    std::sort(sorted_.begin(), sorted_.end());
    return static_cast<size_t>(std::unique(sorted_.begin(), sorted_.end()) - sorted_.begin());
}

void ColorRefinement::refine(Colors& colors) {
    size_t cells = distinct(colors);
    while (cells < colors.size()) {
        hash_upwards(colors);
        hash_downwards(1);
        for (size_t i = 0; i < colors.size(); ++i) colors[i] = mix(colors[i] ^ mix(gathered_[i]));
        size_t now = distinct(colors);
        if (now == cells) return;
        cells = now;
    }
}

/// The members of the tied cell of least colour within one binder.
bool ColorRefinement::find_tie(const Colors& colors, std::vector<uint32_t>& members) const {
    bool found = false;
    uint64_t least = 0;
    for (const FlatNode& node : body_->nodes) {
        uint32_t end = node.first_iterator + node.iterator_count;
        for (uint32_t i = node.first_iterator; i < end; ++i) {
            if (found && colors[i] >= least) continue;
            if (std::count(colors.begin() + node.first_iterator, colors.begin() + end, colors[i]) <
                2)
                continue;
            found = true;
            least = colors[i];
            members.clear();
            for (uint32_t j = node.first_iterator; j < end; ++j)
                if (colors[j] == least) members.push_back(j);
        }
    }
    return found;
}

/// Iterators of a reduction that occur nowhere: any order of them is as good.
bool ColorRefinement::are_interchangeable(const std::vector<uint32_t>& members) const {
    if (members.front() < body_->nodes.back().iterator_count) return false;
    std::vector<bool> is_used(body_->iterators.size(), false);
    for (const FlatEdge& edge : body_->edges)
        if (edge.target < 0) is_used[~edge.target] = true;
    return std::none_of(members.begin(), members.end(), [&](uint32_t i) { return is_used[i]; });
}

void ColorRefinement::number(const Colors& colors) {
    for (size_t n = 0; n < body_->nodes.size(); ++n) {
        const FlatNode& node = body_->nodes[n];
        bool is_output_root = body_->is_output && n + 1 == body_->nodes.size();
        uint32_t end = node.first_iterator + node.iterator_count;
        for (uint32_t i = node.first_iterator; i < end; ++i) {
            uint32_t rank = 0;
            for (uint32_t j = node.first_iterator; j < end; ++j) {
                bool before = is_output_root
                                  ? j < i
                                  : colors[j] < colors[i] || (colors[j] == colors[i] && j < i);
                rank += before ? 1 : 0;
            }
            rank_[i] = rank;
            number_[i] = node.depth + rank;
        }
    }
}

/// The least over the numberings of the tensor that is read.
Key ColorRefinement::read_key(const FlatNode& node) const {
    const auto& positions = node.source->positions;
    size_t rank = positions.size() / node.source->numberings;
    Key least{~0ull, ~0ull};
    for (size_t first = 0; first < positions.size(); first += rank) {
        Lanes lanes;
        size_t axis = 0;
        for (uint32_t e = node.first_edge; e < node.first_edge + node.edge_count; ++e) {
            const FlatEdge& edge = body_->edges[e];
            int64_t role = edge.role == unit_role ? unit_role : positions[first + axis++];
            lanes.add(edge.target < 0 ? key_of_number(number_[~edge.target]) : keys_[edge.target],
                      role);
        }
        least = std::min(least, lanes.close(node.label));
    }
    return least;
}

Key ColorRefinement::final_key() {
    for (size_t n = 0; n < body_->nodes.size(); ++n) {
        const FlatNode& node = body_->nodes[n];
        if (node.source != nullptr && node.source->numberings > 1) {
            keys_[n] = read_key(node);
            continue;
        }
        Lanes lanes;
        for (uint32_t e = node.first_edge; e < node.first_edge + node.edge_count; ++e) {
            const FlatEdge& edge = body_->edges[e];
            lanes.add(edge.target < 0 ? key_of_number(number_[~edge.target]) : keys_[edge.target],
                      edge.role);
        }
        for (uint32_t i = node.first_iterator; i < node.first_iterator + node.iterator_count; ++i)
            lanes.add(key_of_number(static_cast<uint64_t>(body_->iterators[i].extent)),
                      ~static_cast<int64_t>(number_[i]));
        keys_[n] = lanes.close(node.label);
    }
    return keys_.back();
}

void ColorRefinement::keep(const Key& key, CanonicalOrder& best) {
    if (best.leaves > 1 && best.key < key) return;
    uint32_t rank = body_->nodes.back().iterator_count;
    if (best.leaves == 1 || key < best.key) {
        best.key = key;
        best.positions.clear();
        best.numberings = 0;
    }
    auto is_known = [&](size_t first) {
        return std::equal(rank_.begin(), rank_.begin() + rank,
                          best.positions.begin() + static_cast<int64_t>(first));
    };
    for (uint32_t i = 0; i < best.numberings; ++i)
        if (is_known(size_t{i} * rank)) return;
    for (uint32_t i = 0; i < rank; ++i) best.positions.push_back(static_cast<uint8_t>(rank_[i]));
    ++best.numberings;
}

void ColorRefinement::search(Colors colors, CanonicalOrder& best) {
    refine(colors);
    std::vector<uint32_t> members;
    if (!find_tie(colors, members)) {
        number(colors);
        ++best.leaves;
        keep(final_key(), best);
        return;
    }
    if (are_interchangeable(members)) members.resize(1);
    for (uint32_t member : members) {
        if (best.leaves >= leaf_cap) {
            best.is_capped = true;
            return;
        }
        Colors chosen = colors;
        chosen[member] = mix(chosen[member] ^ individual);
        search(std::move(chosen), best);
    }
}

CanonicalOrder ColorRefinement::order(const FlatBody& body) {
    start(body);
    CanonicalOrder best;
    search(initial_, best);
    return best;
}

const std::vector<uint64_t>& ColorRefinement::contexts(const FlatBody& body,
                                                       uint64_t root_context) {
    start(body);
    Colors colors = initial_;
    refine(colors);
    hash_upwards(colors);
    hash_downwards(root_context);
    return contexts_;
}

}  // namespace ollie::expr
