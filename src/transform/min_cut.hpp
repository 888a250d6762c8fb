#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stithy::transform {

/// Minimum cut of a directed graph between a source and a sink, by Dinic's algorithm.
class MinCut {
public:
    static constexpr std::int64_t unlimited = std::int64_t{1} << 60;

    /// `nodes` nodes; the source and the sink come on top.
    explicit MinCut(std::size_t nodes) : first_(nodes + 2, -1) {}

    [[nodiscard]] std::size_t source() const { return first_.size() - 2; }
    [[nodiscard]] std::size_t sink() const { return first_.size() - 1; }
    void connect(std::size_t from, std::size_t to, std::int64_t capacity);
    /// Which nodes lie on the sink's side of the least cut that is nearest to the sink. False when `most_rounds` did not do.
    bool run(std::vector<bool>& sink_side, int most_rounds = 1000);

private:
    struct Edge {
        std::uint32_t to;
        std::int32_t next; ///< of the same node
        std::int64_t left; ///< capacity that is left
    };
    bool find_levels();
    std::int64_t push_path();

    std::vector<std::int32_t> first_, level_, at_;
    std::vector<Edge> edges_; ///< an edge and its reverse side by side
};

} // namespace stithy::transform
