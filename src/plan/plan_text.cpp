#include "plan/plan.hpp"

#include <fmt/format.h>

namespace stithy::plan {

namespace {

std::string memory_text(const Memory& m) {
    switch (m.source) {
    case Memory::Source::input: return fmt::format("input {}", m.index);
    case Memory::Source::result: return fmt::format("result {}", m.index);
    case Memory::Source::arena: return fmt::format("arena+{}", m.offset);
    case Memory::Source::constant: return fmt::format("constant {}", m.index);
    }
    return {};
}

std::string step_text(const Plan& plan, const Step& s) {
    std::string buffers;
    for (std::uint32_t i = 0; i < s.buffer_count; ++i) {
        const BufferId id = plan.step_buffers[s.first_buffer + i];
        buffers += fmt::format("{}b{} ({})", i ? ", " : "", id, memory_text(plan.buffers[id]));
    }
    const std::string line = describe(s.location);
    const std::string where = line.empty() ? "" : "  // " + line;
    if (s.kind == Step::Kind::copy) return fmt::format("copy {}{}\n", buffers, where);
    std::string params;
    for (std::uint32_t i = 0; i < s.param_count; ++i) params += fmt::format("{}{}", i ? " " : "", plan.params[s.first_param + i]);
    return fmt::format("nest {} on {}; params [{}]; units {}{}; {:.2f} us{}\n", s.nest, buffers, params, s.units,
                       s.parallel ? fmt::format(" in chunks of {}", s.grain) : "", static_cast<double>(s.estimate_us), where);
}

} // namespace

std::string print(const Plan& plan) {
    std::string text = fmt::format("plan {}: {} steps, arena {} bytes, estimate {:.2f} us\n", plan.name, plan.steps.size(),
                                   plan.arena_bytes, plan.estimate_us);
    for (std::size_t i = 0; i < plan.inputs.size(); ++i) text += fmt::format("  input {}: {}\n", i, plan.inputs[i].str());
    for (std::size_t r = 0; r < plan.results.size(); ++r) {
        static constexpr const char* kinds[] = {"made", "input", "result", "constant"};
        const ResultSource& s = plan.result_sources[r];
        text += fmt::format("  result {}: {} {}", r, plan.results[r].str(), kinds[static_cast<std::size_t>(s.kind)]);
        text += s.kind == ResultSource::Kind::made ? "\n" : fmt::format(" {}\n", s.index);
    }
    for (const Donation& d : plan.donations) text += fmt::format("  result {} may take over input {}\n", d.result, d.input);
    for (std::size_t s = 0; s < plan.steps.size(); ++s) text += fmt::format("step {}: {}", s, step_text(plan, plan.steps[s]));
    for (std::size_t n = 0; n < plan.nests.size(); ++n) text += fmt::format("nest {}:\n{}", n, plan.nests[n].text());
    return text;
}

} // namespace stithy::plan
