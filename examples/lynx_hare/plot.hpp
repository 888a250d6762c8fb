#pragma once
#include <string>
#include <vector>

/// Curves with counts as dots, as text for a terminal and as an SVG picture.
namespace plot {

struct Series {
    std::string name;
    char mark, line;            ///< in the terminal, for counts and for the curve
    std::string color;          ///< in the picture
    std::vector<double> counts; ///< one at each year
    std::vector<double> curve;  ///< evenly spaced from the first year to the last
};

struct Plot {
    std::string title;
    std::vector<double> years;
    std::vector<Series> series;
};

/// Lines of text, with axes and a legend. Every fifth row has a label.
std::string in_terminal(const Plot& plot, int columns = 101, int rows = 21);

/// A whole SVG document.
std::string as_svg(const Plot& plot);

} // namespace plot
