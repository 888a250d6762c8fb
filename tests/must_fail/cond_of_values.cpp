// `cond` takes functions; values are chosen by `where`.
// expect first: where\(p, x, y\) chooses values
#include <stithy/stithy.hpp>

int main() {
    stithy::Array x = stithy::zeros({3}), p = stithy::any(x > 0.0);
    auto y = stithy::cond(p, x, -x);
}
