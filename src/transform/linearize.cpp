#include "transform/linearize.hpp"

#include "transform/dce.hpp"
#include "transform/jvp.hpp"

namespace stithy::transform {

Linearized linearize(const FunctionPtr& f, const Mask& active, const Mask& needed) {
    return *f->memo<Linearized>(memo_key("linearize", active, needed), [&] {
        const JvpFunction derivative = jvp(f, active);
        const std::size_t results = f->results().size();
        Linearized made;
        Mask kept(results, true);
        for (std::size_t r = 0; r < results; ++r) {
            const bool wanted = derivative.active_results[r] && (needed.empty() || needed[r]);
            made.active_results.push_back(wanted);
            if (derivative.active_results[r]) kept.push_back(wanted);
        }
        const FunctionPtr live = eliminate_dead(derivative.function, kept);
        Mask unknown(live->parameter_count(), false);
        for (std::size_t p = f->parameter_count(); p < unknown.size(); ++p) unknown[p] = true;
        // every tangent result belongs to the linear half, even one that is a constant
        Mask forced(live->results().size(), false);
        for (std::size_t r = results; r < forced.size(); ++r) forced[r] = true;
        Split s = split(*live, unknown, forced);
        made.primal = std::move(s.known);
        made.linear = std::move(s.unknown);
        made.residuals = std::move(s.residuals);
        return std::make_shared<const Linearized>(std::move(made));
    });
}

} // namespace stithy::transform
