// `max` reduces over an axis; the elementwise one is `maximum`.
// expect first: use of deleted function|call to deleted function
#include <stithy/stithy.hpp>

int main() {
    stithy::Array x = stithy::zeros({3});
    auto y = stithy::max(x, 0.5);
}
