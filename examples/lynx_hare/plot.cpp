#include "plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace plot {
namespace {

double highest(const Plot& plot) {
    double top = 0;
    for (const Series& s : plot.series)
        for (const auto* values : {&s.counts, &s.curve})
            for (double v : *values) top = std::max(top, v);
    return top > 0 ? std::ceil(top / 20) * 20 : 1;
}

/// The value of the curve at a fraction of its length, between its points in a straight line.
double at_fraction(const std::vector<double>& curve, double fraction) {
    const double place = fraction * static_cast<double>(curve.size() - 1);
    const auto left = std::min(static_cast<std::size_t>(place), curve.size() - 2);
    const double part = place - static_cast<double>(left);
    return curve[left] + part * (curve[left + 1] - curve[left]);
}

std::string formatted(const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

} // namespace

std::string in_terminal(const Plot& plot, int columns, int rows) {
    const double top = highest(plot), first = plot.years.front(), last = plot.years.back();
    std::vector<std::string> canvas(static_cast<std::size_t>(rows), std::string(static_cast<std::size_t>(columns), ' '));
    auto put = [&](double fraction, double value, char mark) {
        const long column = std::lround(fraction * (columns - 1)), row = std::lround((1 - value / top) * (rows - 1));
        if (row >= 0 && row < rows) canvas[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = mark;
    };
    for (const Series& s : plot.series)
        for (int c = 0; c < columns; ++c) put(c / (columns - 1.0), at_fraction(s.curve, c / (columns - 1.0)), s.line);
    for (const Series& s : plot.series)
        for (std::size_t i = 0; i < s.counts.size(); ++i) put((plot.years[i] - first) / (last - first), s.counts[i], s.mark);

    std::ostringstream out;
    out << plot.title << "\n";
    for (int r = 0; r < rows; ++r) {
        const bool labelled = r % 5 == 0;
        out << (labelled ? formatted("%6.0f |", top * (rows - 1 - r) / (rows - 1)) : "       |") << canvas[static_cast<std::size_t>(r)]
            << "\n";
    }
    std::string axis(static_cast<std::size_t>(columns), '-'), labels(static_cast<std::size_t>(columns) + 12, ' ');
    for (double year = first; year <= last; year += 5) {
        const auto column = static_cast<std::size_t>(std::lround((year - first) / (last - first) * (columns - 1)));
        axis[column] = '+';
        labels.replace(column + 6, 4, formatted("%.0f", year));
    }
    out << "       +" << axis << "\n" << labels << "\n";
    for (const Series& s : plot.series)
        out << "        " << s.mark << " " << s.name << " counted   " << s.line << " " << s.name << " fitted\n";
    return out.str();
}

std::string as_svg(const Plot& plot) {
    constexpr double width = 900, height = 480, left = 60, right = 20, above = 50, below = 50;
    const double top = highest(plot), first = plot.years.front(), last = plot.years.back();
    auto x = [&](double fraction) { return left + fraction * (width - left - right); };
    auto y = [&](double value) { return above + (1 - value / top) * (height - above - below); };

    std::ostringstream out;
    out << R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 480" font-family="sans-serif" font-size="14">)" << "\n"
        << R"(<rect width="900" height="480" fill="white"/>)" << "\n"
        << R"(<text x="60" y="28" font-size="17">)" << plot.title << "</text>\n";
    for (double v = 0; v <= top; v += 20)
        out << "<line x1=\"" << left << "\" x2=\"" << width - right << "\" y1=\"" << y(v) << "\" y2=\"" << y(v) << "\" stroke=\"#ddd\"/>"
            << "<text x=\"" << left - 8 << "\" y=\"" << y(v) + 5 << "\" text-anchor=\"end\">" << v << "</text>\n";
    for (double year = first; year <= last; year += 5)
        out << "<text x=\"" << x((year - first) / (last - first)) << "\" y=\"" << height - below + 22 << "\" text-anchor=\"middle\">"
            << year << "</text>\n";
    double legend = width - right - 260;
    for (const Series& s : plot.series) {
        out << "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" << s.color << "\" points=\"";
        for (std::size_t i = 0; i < s.curve.size(); ++i)
            out << x(static_cast<double>(i) / static_cast<double>(s.curve.size() - 1)) << "," << y(s.curve[i]) << " ";
        out << "\"/>\n";
        for (std::size_t i = 0; i < s.counts.size(); ++i)
            out << "<circle r=\"4\" fill=\"" << s.color << "\" cx=\"" << x((plot.years[i] - first) / (last - first)) << "\" cy=\""
                << y(s.counts[i]) << "\"/>\n";
        out << "<circle r=\"4\" fill=\"" << s.color << "\" cx=\"" << legend << "\" cy=\"35\"/><text x=\"" << legend + 10 << "\" y=\"40\">"
            << s.name << "</text>\n";
        legend += 130;
    }
    out << "</svg>\n";
    return out.str();
}

} // namespace plot
