#include "transform/min_cut.hpp"

#include <algorithm>

namespace stithy::transform {

void MinCut::connect(std::size_t from, std::size_t to, std::int64_t capacity) {
    const auto add = [&](std::size_t a, std::size_t b, std::int64_t c) {
        edges_.push_back({static_cast<std::uint32_t>(b), first_[a], c});
        first_[a] = static_cast<std::int32_t>(edges_.size() - 1);
    };
    add(from, to, capacity);
    add(to, from, 0);
}

/// Distances from the source over edges that are not full.
bool MinCut::find_levels() {
    level_.assign(first_.size(), -1);
    std::vector<std::size_t> queue{source()};
    level_[source()] = 0;
    for (std::size_t q = 0; q < queue.size(); ++q)
        for (std::int32_t e = first_[queue[q]]; e >= 0; e = edges_[static_cast<std::size_t>(e)].next) {
            const Edge& edge = edges_[static_cast<std::size_t>(e)];
            if (edge.left == 0 || level_[edge.to] >= 0) continue;
            level_[edge.to] = level_[queue[q]] + 1;
            queue.push_back(edge.to);
        }
    return level_[sink()] >= 0;
}

/// One path of a blocking flow; 0 when there is none left. Iterative: chains may be long.
std::int64_t MinCut::push_path() {
    std::vector<std::int32_t> path;
    std::size_t node = source();
    while (node != sink()) {
        std::int32_t& e = at_[node];
        while (e >= 0) {
            const Edge& edge = edges_[static_cast<std::size_t>(e)];
            if (edge.left > 0 && level_[edge.to] == level_[node] + 1) break;
            e = edge.next;
        }
        if (e >= 0) {
            path.push_back(e);
            node = edges_[static_cast<std::size_t>(e)].to;
            continue;
        }
        if (path.empty()) return 0;
        level_[node] = -1; // a dead end
        node = edges_[static_cast<std::size_t>(path.back() ^ 1)].to;
        path.pop_back();
    }
    std::int64_t flow = unlimited;
    for (std::int32_t e : path) flow = std::min(flow, edges_[static_cast<std::size_t>(e)].left);
    for (std::int32_t e : path) {
        edges_[static_cast<std::size_t>(e)].left -= flow;
        edges_[static_cast<std::size_t>(e ^ 1)].left += flow;
    }
    return flow;
}

bool MinCut::run(std::vector<bool>& sink_side, int most_rounds) {
    while (find_levels()) {
        if (most_rounds-- == 0) return false;
        at_ = first_;
        while (push_path() > 0) {
        }
    }
    // who still reaches the sink: backwards over edges that are not full
    sink_side.assign(first_.size(), false);
    std::vector<std::size_t> queue{sink()};
    sink_side[sink()] = true;
    for (std::size_t q = 0; q < queue.size(); ++q)
        for (std::int32_t e = first_[queue[q]]; e >= 0; e = edges_[static_cast<std::size_t>(e)].next) {
            const std::size_t from = edges_[static_cast<std::size_t>(e)].to; // over the reverse edge
            if (edges_[static_cast<std::size_t>(e ^ 1)].left == 0 || sink_side[from]) continue;
            sink_side[from] = true;
            queue.push_back(from);
        }
    return true;
}

} // namespace stithy::transform
