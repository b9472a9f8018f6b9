#include "search/cover.h"

#include <algorithm>

#include "derive/scope.h"
#include "match/group.h"
#include "search/estimate.h"

namespace ollie::search {
namespace {

using namespace expr;

constexpr int unmatched_distance = 100;
/// At this distance from every call a definition is thought to get half-way to its lower bound.
constexpr double half_way = 4;

bool has_reduction(const Tensor* definition) {
    bool found = false;
    for_each_scalar(definition->body,
                    [&](Scalar s) { found = found || (s->kind == ScalarKind::Reduce); });
    return found;
}

std::string name_of(match::Mismatch::Kind kind) {
    switch (kind) {
        case match::Mismatch::Kind::NotThisForm:
            return "not this form";
        case match::Mismatch::Kind::TooManyIterators:
            return "too many iterators";
        case match::Mismatch::Kind::MissingIterator:
            return "missing iterator";
        case match::Mismatch::Kind::Order:
            return "order";
        case match::Mismatch::Kind::Stride:
            return "stride";
        case match::Mismatch::Kind::Offset:
            return "offset";
        case match::Mismatch::Kind::Range:
            return "range";
        case match::Mismatch::Kind::OutsideValue:
            return "outside value";
        case match::Mismatch::Kind::OperandLayout:
            return "operand layout";
        case match::Mismatch::Kind::Type:
            return "type";
    }
    return "other";
}

struct Answer {
    std::vector<Piece> pieces;
    int distance = unmatched_distance;
};

}  // namespace

struct Matcher::Impl {
    struct Target {
        const backends::LibraryCall* call;
        std::vector<std::shared_ptr<const match::Pattern>> patterns;
    };
    std::vector<Target> targets;
    match::Machine machine;
    std::map<uint32_t, Answer> answers;  ///< By tensor id; one arena.
    std::map<std::string, int64_t> mismatches;

    const Answer& answer(const Tensor* definition) {
        auto [found, is_new] = answers.try_emplace(definition->id);
        if (is_new) found->second = ask(definition);
        return found->second;
    }

    Answer ask(const Tensor* definition) {
        Answer result;
        match::Subject subject(definition);
        for (const Target& target : targets)
            for (size_t i = 0; i < target.patterns.size(); ++i)
                try_pattern(subject, target, static_cast<int>(i), result);
        std::stable_sort(result.pieces.begin(), result.pieces.end(),
                         [](const Piece& x, const Piece& y) { return x.estimated < y.estimated; });
        return result;
    }

    void try_pattern(const match::Subject& subject, const Target& target, int pattern,
                     Answer& result) {
        match::MatchResult matched = match::match(subject, *target.patterns[pattern]);
        if (const auto* list = std::get_if<std::vector<match::Mismatch>>(&matched)) {
            for (const match::Mismatch& mismatch : *list)
                ++mismatches[target.call->name + ": " + name_of(mismatch.kind)];
            bool other = !list->empty() && list->front().kind == match::Mismatch::Kind::NotThisForm;
            int distance = other ? unmatched_distance : static_cast<int>(list->size());
            result.distance = std::min(result.distance, distance);
            return;
        }
        match::Binding& binding = std::get<match::Binding>(matched);
        binding.pattern = pattern;
        auto choices = target.call->choices(binding);
        if (!choices) {
            ++mismatches[target.call->name + ": " + choices.reason()];
            result.distance = std::min(result.distance, 1);
            return;
        }
        result.distance = 0;
        std::vector<const Tensor*> definitions{subject.definition()};
        if (binding.group) definitions = binding.group->definitions;
        for (const backends::CallChoice& choice : *choices)
            result.pieces.push_back({Piece::Kind::Call, definitions, target.call, binding, choice,
                                     target.call->estimate(binding, choice, machine)});
    }
};

Matcher::Matcher(const Options& options) : impl_(std::make_unique<Impl>()) {
    impl_->machine = options.machine;
    for (const backends::LibraryCall* call : options.calls) {
        Impl::Target target{call, {}};
        for (const std::string& text : call->patterns)
            target.patterns.push_back(match::parse_pattern(text));
        impl_->targets.push_back(std::move(target));
    }
}

Matcher::~Matcher() = default;

const std::vector<Piece>& Matcher::pieces_of(const Tensor* definition) {
    return impl_->answer(definition).pieces;
}

int Matcher::distance(const Tensor* definition) { return impl_->answer(definition).distance; }

const std::map<std::string, int64_t>& Matcher::mismatches() const { return impl_->mismatches; }

namespace {

/// Weight-only definitions that others read: what is computed when optimizing.
std::vector<const Tensor*> constants_of(const std::vector<const Tensor*>& definitions) {
    std::vector<const Tensor*> constants;
    for (const Tensor* definition : definitions) {
        if (derive::is_weight_only(definition)) continue;
        for (const Tensor* source : sources_of(definition))
            if (source->is_definition() && derive::is_weight_only(source) &&
                std::find(constants.begin(), constants.end(), source) == constants.end())
                constants.push_back(source);
    }
    return constants;
}

/// Fuses each kernel into the one kernel that alone reads it, where nothing is computed twice that
/// is dear: reductions only into readers that read each element once or rarely.
std::vector<Piece> fuse_kernels(std::vector<Piece> pieces, const Expr& expr,
                                const match::Machine& machine) {
    std::map<const Tensor*, int> uses = use_counts(expr);
    for (size_t i = 0; i < pieces.size();) {
        Piece& piece = pieces[i];
        const Tensor* visible = piece.definitions.back();
        bool merged = false;
        if (piece.kind == Piece::Kind::Kernel && uses[visible] == 1) {
            for (size_t j = i + 1; j < pieces.size() && !merged; ++j) {
                if (pieces[j].kind != Piece::Kind::Kernel) continue;
                for (const Tensor* member : pieces[j].definitions) {
                    auto sources = sources_of(member);
                    if (std::find(sources.begin(), sources.end(), visible) == sources.end())
                        continue;
                    pieces[j].definitions.insert(pieces[j].definitions.begin(),
                                                 piece.definitions.begin(),
                                                 piece.definitions.end());
                    pieces[j].estimated = kernel_seconds(pieces[j].definitions, machine);
                    merged = true;
                    break;
                }
            }
        }
        if (merged)
            pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(i));
        else
            ++i;
    }
    return pieces;
}

Candidate candidate_of(const Expr& expr, std::vector<Piece> pieces) {
    Candidate candidate;
    candidate.expr = expr;
    for (const Piece& piece : pieces) candidate.estimated += piece.estimated;
    candidate.pieces = std::move(pieces);
    return candidate;
}

class Cover {
public:
    Cover(const Expr& expr, Matcher& matcher, const Options& options)
        : expr_(expr), matcher_(matcher), options_(options) {
        std::vector<const Tensor*> all = definitions_of(expr);
        for (const Tensor* constant : constants_of(all))
            constants_.push_back({Piece::Kind::Constant, {constant}, nullptr, {}, {}, 0});
        for (const Tensor* definition : all)
            if (!derive::is_weight_only(definition)) definitions_.push_back(definition);
    }

    std::vector<Candidate> candidates(int limit) {
        extend({}, definitions_.size());
        std::stable_sort(found_.begin(), found_.end(), [](const Candidate& x, const Candidate& y) {
            return x.estimated < y.estimated;
        });
        if (static_cast<int>(found_.size()) > limit) found_.resize(static_cast<size_t>(limit));
        return std::move(found_);
    }

private:
    static constexpr size_t most = 200;

    /// From the last definition to the first, so that a call of several is met at the one that is
    /// visible; `pieces` are in that order too.
    void extend(const std::vector<Piece>& pieces, size_t left) {
        if (found_.size() >= most) return;
        if (left == 0) {
            finish(pieces);
            return;
        }
        const Tensor* definition = definitions_[left - 1];
        if (is_covered(definition, pieces)) return extend(pieces, left - 1);
        auto extend_by = [&](const Piece& piece) {
            std::vector<Piece> longer = pieces;
            longer.push_back(piece);
            extend(longer, left - 1);
        };
        for (const Piece& call : matcher_.pieces_of(definition))
            if (hides_its_own(call)) extend_by(call);
        extend_by({Piece::Kind::Kernel,
                   {definition},
                   nullptr,
                   {},
                   {},
                   kernel_seconds({definition}, options_.machine)});
    }

    static bool is_covered(const Tensor* definition, const std::vector<Piece>& pieces) {
        return std::any_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
            return std::find(piece.definitions.begin(), piece.definitions.end(), definition) !=
                   piece.definitions.end();
        });
    }

    /// Nothing outside of the piece reads any of its definitions but the last.
    bool hides_its_own(const Piece& piece) const {
        if (piece.definitions.size() == 1) return true;
        auto is_own = [&](const Tensor* tensor) {
            return std::find(piece.definitions.begin(), piece.definitions.end(), tensor) !=
                   piece.definitions.end();
        };
        auto is_hidden = [&](const Tensor* tensor) {
            return is_own(tensor) && tensor != piece.definitions.back();
        };
        if (std::any_of(expr_.outputs.begin(), expr_.outputs.end(), is_hidden)) return false;
        return std::all_of(definitions_.begin(), definitions_.end(), [&](const Tensor* reader) {
            auto sources = sources_of(reader);
            return is_own(reader) || std::none_of(sources.begin(), sources.end(), is_hidden);
        });
    }

    void finish(const std::vector<Piece>& reversed) {
        std::vector<Piece> pieces = constants_;
        pieces.insert(pieces.end(), reversed.rbegin(), reversed.rend());
        std::vector<Piece> fused = fuse_kernels(pieces, expr_, options_.machine);
        if (fused.size() != pieces.size()) found_.push_back(candidate_of(expr_, std::move(fused)));
        found_.push_back(candidate_of(expr_, std::move(pieces)));
    }

    const Expr& expr_;
    Matcher& matcher_;
    const Options& options_;
    std::vector<Piece> constants_;
    std::vector<const Tensor*> definitions_;
    std::vector<Candidate> found_;
};

}  // namespace

std::vector<Candidate> cover(const Expr& expr, Matcher& matcher, const Options& options,
                             int limit) {
    return Cover(expr, matcher, options).candidates(limit);
}

double optimistic(const Expr& expr, Matcher& matcher, const Options& options) {
    double seconds = 0;
    for (const Tensor* definition : definitions_of(expr)) {
        if (derive::is_weight_only(definition)) continue;
        const std::vector<Piece>& pieces = matcher.pieces_of(definition);
        if (!pieces.empty()) {
            seconds += pieces.front().estimated;
            continue;
        }
        double floor = floor_seconds(definition, options.machine);
        double kernel = kernel_seconds({definition}, options.machine);
        double distance = has_reduction(definition) ? matcher.distance(definition) : 0;
        seconds += floor + std::max(0.0, kernel - floor) * distance / (distance + half_way);
    }
    return seconds;
}

std::string Candidate::summary() const {
    std::string text;
    for (const Piece& piece : pieces) {
        if (piece.kind == Piece::Kind::Constant) continue;
        if (!text.empty()) text += " + ";
        text += piece.kind == Piece::Kind::Call ? piece.call->name : "kernel";
        std::string names;
        for (const Tensor* definition : piece.definitions)
            names += (names.empty() ? "" : ", ") + definition->name;
        text += "(" + names + ")";
    }
    return text;
}

}  // namespace ollie::search
