// The 5-point stencil by hand: two arrays by turns, the border is never written. The result ends in `out`.

#include <string.h>

static void sweep(long n, const double *restrict from, double *restrict to) {
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++) {
            const double *x = from + i * n + j;
            to[i * n + j] = 0.2 * (x[0] + x[-1] + x[1] + x[n] + x[-n]);
        }
}

double forward(long n, long steps, const double *u, double *other, double *out) {
    double *from = steps % 2 ? other : out, *to = steps % 2 ? out : other;
    memcpy(from, u, n * n * sizeof *u);
    memcpy(to, u, n * n * sizeof *u);
    for (long step = 0; step < steps; step++) {
        sweep(n, from, to);
        double *swap = from;
        from = to, to = swap;
    }
    return 0;
}
