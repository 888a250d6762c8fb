/* The works that somebody would write by hand in C, and what the machine can do at most (memory bandwidth, multiply-adds).
   Compiled by bench/run: gcc -O3 -march=native -ffast-math (which also brings glibc's vector functions). One thread, but for the limits.
   Answers the same requests as the other sides: check NAME | time NAME MILLISECONDS | limits | quit. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { million = 1000000 };

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static void* memory(size_t bytes) {
    void* p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!p) abort();
    memset(p, 0, bytes);
    return p;
}

/* ---- chains of functions ---- */

static double *chain_in_64, *chain_out_64;
static float *chain_in_32, *chain_out_32;

static void make_chain(void) {
    chain_in_64 = memory(million * sizeof(double)), chain_out_64 = memory(million * sizeof(double));
    chain_in_32 = memory(million * sizeof(float)), chain_out_32 = memory(million * sizeof(float));
    for (int i = 0; i < million; ++i) {
        chain_in_64[i] = -3 + 6 * (double)i / (million - 1);
        chain_in_32[i] = (float)chain_in_64[i];
    }
}

static void chain_f64(void) {
    for (int i = 0; i < million; ++i) {
        const double x = chain_in_64[i];
        chain_out_64[i] = exp(-x * x) * sin(x) + 0.5;
    }
}

static void chain_f32(void) {
    for (int i = 0; i < million; ++i) {
        const float x = chain_in_32[i];
        chain_out_32[i] = expf(-x * x) * sinf(x) + 0.5f;
    }
}

/* ---- a scalar recurrence ---- */

static double recurrence_start = 1, recurrence_end;

static void scan_1e7(void) {
    double s = *(volatile double*)&recurrence_start;
    for (int i = 0; i < 10000000; ++i) s = s * 0.999999 + 1e-3;
    *(volatile double*)&recurrence_end = s;
}

/* ---- springs ---- */

enum { masses = 200, spring_steps = 5000, chunk = 50 };
static double stiffness[masses][masses] __attribute__((aligned(64)));
static double spring_start[masses], spring_end;
static double (*path)[masses]; /* positions of all steps */
static double (*gradient)[masses];

static void make_springs(void) {
    path = memory(sizeof(double[spring_steps][masses]));
    gradient = memory(sizeof(double[masses][masses]));
    for (int i = 0; i < masses; ++i) {
        spring_start[i] = (i + 1) / (double)masses;
        for (int j = 0; j < masses; ++j) stiffness[i][j] = i != j;
    }
}

/* y += factor * matrix x, four rows at once */
static void add_product(double* y, double factor, const double* x) {
    for (int i = 0; i < masses; i += 4) {
        double a = 0, b = 0, c = 0, d = 0;
        for (int j = 0; j < masses; ++j) {
            a += stiffness[i][j] * x[j];
            b += stiffness[i + 1][j] * x[j];
            c += stiffness[i + 2][j] * x[j];
            d += stiffness[i + 3][j] * x[j];
        }
        y[i] += factor * a, y[i + 1] += factor * b, y[i + 2] += factor * c, y[i + 3] += factor * d;
    }
}

/* y += factor * transposed matrix x */
static void add_transposed_product(double* restrict y, double factor, const double* restrict x) {
    for (int i = 0; i < masses; i += 4) {
        const double a = factor * x[i], b = factor * x[i + 1], c = factor * x[i + 2], d = factor * x[i + 3];
        for (int j = 0; j < masses; ++j)
            y[j] += a * stiffness[i][j] + b * stiffness[i + 1][j] + c * stiffness[i + 2][j] + d * stiffness[i + 3][j];
    }
}

static void run_springs(int keep) {
    const double dt = 1.0 / spring_steps;
    double x[masses], v[masses] = {0};
    memcpy(x, spring_start, sizeof x);
    for (int k = 0; k < spring_steps; ++k) {
        if (keep) memcpy(path[k], x, sizeof x);
        add_product(v, dt, x);
        for (int i = 0; i < masses; ++i) x[i] += dt * v[i];
    }
    spring_end = x[0];
}

static void springs_primal(void) { run_springs(0); }

/* gradient += factor * sum over the chunk of u x^T, in blocks of 4 by 40 */
static void add_outer_products(double factor, double (*u)[masses], double (*x)[masses]) {
    for (int i = 0; i < masses; i += 4)
        for (int j = 0; j < masses; j += 40) {
            double sums[4][40] = {{0}};
            for (int k = 0; k < chunk; ++k)
                for (int r = 0; r < 4; ++r)
                    for (int c = 0; c < 40; ++c) sums[r][c] += u[k][i + r] * x[k][j + c];
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 40; ++c) gradient[i + r][j + c] += factor * sums[r][c];
        }
}

static void springs_gradient(void) {
    const double dt = 1.0 / spring_steps;
    static double u[chunk][masses];
    double lx[masses] = {1}, lv[masses] = {0};
    run_springs(1);
    memset(gradient, 0, sizeof(double[masses][masses]));
    for (int k = spring_steps - 1; k >= 0; --k) {
        for (int i = 0; i < masses; ++i) lv[i] += dt * lx[i];
        memcpy(u[k % chunk], lv, sizeof lv);
        add_transposed_product(lx, dt, lv);
        if (k % chunk == 0) add_outer_products(dt, u, path + k);
    }
}

/* ---- 60 leaves ---- */

enum { leaves = 60, leaf_steps = 100 };
static double leaf_gradient[leaves];

static void scan_60_leaves(void) {
    static double states[leaf_steps][leaves];
    double s[leaves], g[leaves], h[leaves];
    for (int i = 0; i < leaves; ++i) s[i] = i / 60.0, g[i] = 1;
    for (int k = 0; k < leaf_steps; ++k) {
        memcpy(states[k], s, sizeof s);
        for (int i = 0; i < leaves; ++i) h[i] = sin(s[i]) * 0.5;
        for (int i = 0; i < leaves - 1; ++i) h[i] += s[i + 1] * 0.1;
        h[leaves - 1] += s[0] * 0.1;
        memcpy(s, h, sizeof s);
    }
    for (int k = leaf_steps - 1; k >= 0; --k) {
        for (int i = 0; i < leaves; ++i) h[i] = cos(states[k][i]) * 0.5 * g[i];
        for (int i = 1; i < leaves; ++i) h[i] += g[i - 1] * 0.1;
        h[0] += g[leaves - 1] * 0.1;
        memcpy(g, h, sizeof g);
    }
    memcpy(leaf_gradient, g, sizeof g);
}

/* ---- lynx and hare ---- */

static const double pelts[21][2] = {{30.0, 4.0},  {47.2, 6.1},  {70.2, 9.8},  {77.4, 35.2}, {36.3, 59.4}, {20.6, 41.7}, {18.1, 19.0},
                                    {21.4, 13.0}, {22.0, 8.3},  {25.4, 9.1},  {27.1, 7.4},  {40.3, 8.0},  {57.0, 12.3}, {76.6, 19.5},
                                    {52.3, 45.7}, {19.5, 51.1}, {11.2, 29.7}, {7.6, 15.8},  {14.6, 9.7},  {16.2, 10.1}, {24.7, 8.6}};
static volatile double lynx_parameters[8] = {0.5, 0.02, 0.8, 0.02, 30, 4, 0.3, 0.3};
static double lynx_value;

static void lynx_hare_value(void) {
    const double a = lynx_parameters[0], b = lynx_parameters[1], g = lynx_parameters[2], d = lynx_parameters[3], h = 0.01;
    double x = lynx_parameters[4], y = lynx_parameters[5], squares[2] = {0, 0};
    for (int t = 0;; ++t) {
        const double rx = log(pelts[t][0]) - log(x), ry = log(pelts[t][1]) - log(y);
        squares[0] += rx * rx, squares[1] += ry * ry;
        if (t == 20) break;
        for (int s = 0; s < 100; ++s) {
            const double x1 = x * (a - b * y), y1 = y * (d * x - g);
            const double p = x + h / 2 * x1, q = y + h / 2 * y1, x2 = p * (a - b * q), y2 = q * (d * p - g);
            const double r = x + h / 2 * x2, e = y + h / 2 * y2, x3 = r * (a - b * e), y3 = e * (d * r - g);
            const double f = x + h * x3, i = y + h * y3, x4 = f * (a - b * i), y4 = i * (d * f - g);
            x += h / 6 * (x1 + 2 * (x2 + x3) + x4);
            y += h / 6 * (y1 + 2 * (y2 + y3) + y4);
        }
    }
    lynx_value = 0;
    for (int k = 0; k < 2; ++k) {
        const double sigma = lynx_parameters[6 + k];
        lynx_value += 21 * log(sigma) + squares[k] / (2 * sigma * sigma);
    }
}

/* ---- what the machine can do ---- */

#ifdef __AVX512F__
typedef double doubles __attribute__((vector_size(64)));
typedef float floats __attribute__((vector_size(64)));
#else
typedef double doubles __attribute__((vector_size(32)));
typedef float floats __attribute__((vector_size(32)));
#endif
enum { accumulators = 12, repeats = 40 };

struct part {
    doubles *from, *to;
    size_t count; /* vectors; a multiple of 8 */
    int kind;
};
enum { reading, copying, filling, adding_64, adding_32 };

#define KEEP(x) __asm__ volatile("" : : "v"(x) : "memory")

static void* work_part(void* argument) {
    const struct part p = *(struct part*)argument;
    for (int r = 0; r < repeats; ++r) {
        if (p.kind == reading) {
            doubles s[8] = {{0}};
            for (size_t i = 0; i < p.count; i += 8)
                for (int k = 0; k < 8; ++k) s[k] += p.from[i + (size_t)k];
            for (int k = 0; k < 8; ++k) KEEP(s[k]);
        } else if (p.kind == copying) {
            for (size_t i = 0; i < p.count; ++i) p.to[i] = p.from[i] + 1.0;
            KEEP(p.to[0]);
        } else if (p.kind == filling) {
            for (size_t i = 0; i < p.count; ++i) p.to[i] = (doubles){0} + (double)r;
            KEEP(p.to[0]);
        } else if (p.kind == adding_64) {
            doubles s[accumulators];
            for (int k = 0; k < accumulators; ++k) s[k] = (doubles){0} + (double)k;
            for (size_t i = 0; i < p.count; ++i)
                for (int k = 0; k < accumulators; ++k) s[k] = s[k] * 0.9999 + 0.5;
            for (int k = 0; k < accumulators; ++k) KEEP(s[k]);
        } else {
            floats s[accumulators];
            for (int k = 0; k < accumulators; ++k) s[k] = (floats){0} + (float)k;
            for (size_t i = 0; i < p.count; ++i)
                for (int k = 0; k < accumulators; ++k) s[k] = s[k] * 0.9999f + 0.5f;
            for (int k = 0; k < accumulators; ++k) KEEP(s[k]);
        }
    }
    return 0;
}

/* Microseconds of one repetition of `kind` on `count` vectors, shared by `threads`. */
static double limit_us(int kind, size_t count, int threads) {
    doubles *from = memory(count * sizeof(doubles)), *to = memory(count * sizeof(doubles));
    const size_t each = count / (size_t)threads / 8 * 8;
    double best = 1e300;
    for (int round = 0; round < 12; ++round) {
        struct part parts[64];
        pthread_t others[64];
        const double start = now_us();
        for (int t = 0; t < threads; ++t) {
            parts[t] = (struct part){from + (size_t)t * each, to + (size_t)t * each, each, kind};
            if (t > 0 && pthread_create(&others[t], 0, work_part, &parts[t])) abort();
        }
        work_part(&parts[0]);
        for (int t = 1; t < threads; ++t) pthread_join(others[t], 0);
        const double us = (now_us() - start) / repeats;
        if (us < best) best = us;
    }
    free(from), free(to);
    return best;
}

static void print_limits(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const int n = (int)(cores < 1 ? 1 : cores > 64 ? 64 : cores);
    /* GB/s are thousands of bytes, GF/s thousands of operations, a microsecond */
    const double vector = sizeof(doubles), lanes = vector / sizeof(double);
    const size_t vectors_8mb = (size_t)(8e6 / vector), vectors_4mb = (size_t)(4e6 / vector), l2 = (size_t)(320e3 / vector), many = 100000;
    printf("{\"cores\": %d, \"read_8mb_gbs\": %.2f, \"read_4mb_gbs\": %.2f, \"copy_8mb_gbs\": %.2f, \"copy_4mb_gbs\": %.2f, "
           "\"fill_8mb_gbs\": %.2f, "
           "\"read_320kb_one_core_gbs\": %.2f, \"f64_gflops\": %.1f, \"f32_gflops\": %.1f, \"f64_one_core_gflops\": %.1f}\n",
           n, 8e3 / limit_us(reading, vectors_8mb, n), 4e3 / limit_us(reading, vectors_4mb, n), 16e3 / limit_us(copying, vectors_8mb, n),
           8e3 / limit_us(copying, vectors_4mb, n), 8e3 / limit_us(filling, vectors_8mb, n), 0.32e3 / limit_us(reading, l2, 1),
           2e-3 * accumulators * lanes * (double)many / limit_us(adding_64, many, n),
           4e-3 * accumulators * lanes * (double)many / limit_us(adding_32, many, n),
           2e-3 * accumulators * lanes * (double)many / limit_us(adding_64, many, 1));
}

/* ---- requests ---- */

struct sums {
    double count, sum, magnitude, weighted;
};

static void add(struct sums* s, double v) {
    s->sum += v, s->magnitude += fabs(v), s->weighted += v * (double)((long)s->count % 97 + 1) / 97;
    s->count += 1;
}

struct work {
    const char* name;
    void (*make)(void);
    void (*run)(void);
};
static void nothing(void) {}
static const struct work works[] = {{"chain_f64", make_chain, chain_f64},
                                    {"chain_f32", make_chain, chain_f32},
                                    {"scan_1e7", nothing, scan_1e7},
                                    {"springs_primal", make_springs, springs_primal},
                                    {"springs_gradient", make_springs, springs_gradient},
                                    {"scan_60_leaves", nothing, scan_60_leaves},
                                    {"lynx_hare_value", nothing, lynx_hare_value}};
enum { work_count = sizeof works / sizeof works[0] };

static void print_check(const struct work* w) {
    struct sums s = {0, 0, 0, 0};
    w->run();
    if (w->run == chain_f64)
        for (int i = 0; i < million; ++i) add(&s, chain_out_64[i]);
    else if (w->run == chain_f32)
        for (int i = 0; i < million; ++i) add(&s, chain_out_32[i]);
    else if (w->run == scan_1e7)
        add(&s, recurrence_end);
    else if (w->run == springs_primal)
        add(&s, spring_end);
    else if (w->run == springs_gradient)
        for (int i = 0; i < masses * masses; ++i) add(&s, gradient[i / masses][i % masses]);
    else if (w->run == scan_60_leaves)
        for (int i = 0; i < leaves; ++i) add(&s, leaf_gradient[i]);
    else
        add(&s, lynx_value);
    printf("{\"check\": [%.17g, %.17g, %.17g, %.17g]}\n", s.count, s.sum, s.magnitude, s.weighted);
}

static void print_time(const struct work* w, double budget_ms) {
    double start = now_us(), spent = 0, best = 1e300;
    w->run();
    double one = now_us() - start;
    const long n = one > 200 ? 1 : (long)(200 / (one > 0.01 ? one : 0.01));
    for (int samples = 0; samples < 3 || spent < 1e3 * budget_ms; ++samples) {
        start = now_us();
        for (long i = 0; i < n; ++i) w->run();
        const double sample = now_us() - start;
        spent += sample;
        if (sample / (double)n < best) best = sample / (double)n;
    }
    printf("{\"us\": %.6f}\n", best);
}

int main(void) {
    char line[256], command[16], name[64];
    int made[work_count] = {0};
    while (fgets(line, sizeof line, stdin)) {
        double budget_ms = 100;
        name[0] = 0;
        if (sscanf(line, "%15s %63s %lf", command, name, &budget_ms) < 1 || !strcmp(command, "quit")) break;
        int found = -1;
        for (int i = 0; i < work_count; ++i)
            if (!strcmp(works[i].name, name)) found = i;
        if (!strcmp(command, "limits"))
            print_limits();
        else if (found < 0)
            printf("{\"error\": \"no such work: %s\"}\n", name);
        else {
            if (!made[found]) works[found].make(), made[found] = 1;
            if (!strcmp(command, "check"))
                print_check(&works[found]);
            else
                print_time(&works[found], budget_ms);
        }
        fflush(stdout);
    }
    return 0;
}
