#pragma once

#include <memory>
#include <vector>

#include "express/express.h"
#include "optimize/compile.h"
#include "optimize/options.h"
#include "search/search.h"

/// Solves distinct subprograms once: candidates, fragments, measured.
namespace ollie::optimize {

/// The problem itself, with a kernel for each definition, or evaluated where there can be none.
struct LastResort {
    search::Candidate candidate;
    Fragment fragment;
};

/// One distinct subprogram and the ways to run it.
struct Solution {
    expr::Expr problem;  ///< Of its first occurrence.
    search::Result searched;
    std::vector<search::Candidate> direct;
    std::vector<Fragment> fragments;    ///< Of searched candidates; direct ones included.
    std::vector<Fragment> unoptimized;  ///< Of direct candidates only.
    std::vector<std::string> lost;      ///< Candidates that could not be built, with the reason.
    /// Only where every unoptimized way was lost or refused.
    std::vector<std::unique_ptr<LastResort>> last_resorts;
};

/// Where each subprogram's solution is: several subprograms may share one.
struct Solutions {
    std::vector<std::unique_ptr<Solution>> distinct;
    std::vector<Solution*> of;  ///< Per subprogram.
};

/// The limits and targets of the search that the options mean. Errors: UserError for a disabled
/// rule that there is not.
search::Options search_options(const Options&, const match::Machine&);

/// Phase derive.
enum class Search { No, Yes };  ///< No: direct candidates only.
Solutions derive(const std::vector<express::Subprogram>&, const search::Options&, Search);
/// Builds fragments and hands their kernels to the library.
void instantiate(Solutions&, const Options&, KernelLibrary&);
/// Phase measure: the fragments, each alone. Needs compiled kernels.
void measure(Solutions&, Times&, const KernelLibrary&);
/// Wants every schedule of the kernels of the best few fragments, which are then to be compiled and
/// measured again.
void widen(const Solutions&, KernelLibrary&);
void measure_widened(Solutions&, Times&, const KernelLibrary&);
/// The best unoptimized way is one of the ways, too.
void admit_unoptimized(Solutions&);

/// No fragment of the candidate is selected from now on. Fragments stay where they are: selections
/// point at them.
void refuse(Solutions&, const search::Candidate*, const std::string& reason);
/// Makes a last resort where no unoptimized way is left: kernels, and where those were refused,
/// too, evaluation element by element, which is slow. What is to be said of each.
std::vector<std::string> make_last_resorts(Solutions&, KernelLibrary&);
/// Behind it there is nothing.
bool is_last_resort_of_all(const Solution&, const Fragment&);

}  // namespace ollie::optimize
