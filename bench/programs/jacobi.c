// The two sweeps of jacobi_2d by hand, and their adjoint: the stencil is linear and symmetric, so nothing is kept.

#include <string.h>

static void sweep(long n, const double *restrict from, double *restrict to) {
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++) {
            const double *x = from + i * n + j;
            to[i * n + j] = 0.2 * (x[0] + x[-1] + x[1] + x[n] + x[-n]);
        }
}

double forward(long n, long steps, const double *a0, const double *b0, double *a, double *b) {
    memcpy(a, a0, n * n * sizeof *a);
    memcpy(b, b0, n * n * sizeof *b);
    for (long step = 0; step < steps; step++) {
        sweep(n, a, b);
        sweep(n, b, a);
    }
    // 16 partial sums: one would be a chain of n² additions.
    double part[16] = {0}, total = 0;
    long k = 0;
    for (; k + 16 <= n * n; k += 16)
        for (int lane = 0; lane < 16; lane++) part[lane] += a[k + lane];
    for (; k < n * n; k++) total += a[k];
    for (int lane = 0; lane < 16; lane++) total += part[lane];
    return total;
}

// What a sweep's cotangents on the interior of `ct` give to the border of the array that it read.
static void border(long n, const double *ct, double *edge) {
    for (long k = 1; k < n - 1; k++) {
        edge[k] += 0.2 * ct[n + k];
        edge[(n - 1) * n + k] += 0.2 * ct[(n - 2) * n + k];
        edge[k * n] += 0.2 * ct[k * n + 1];
        edge[k * n + n - 1] += 0.2 * ct[k * n + n - 2];
    }
}

// The interiors of da and db are cotangents with a border of zeros, so the adjoint of a sweep on the interior is a sweep;
// the borders, which no sweep writes, only collect: they are apart, in the edges.
double gradient(long n, long steps, const double *a0, const double *b0, double *a, double *b, double *a_edge, double *b_edge, double *da, double *db) {
    double value = forward(n, steps, a0, b0, a, b);
    long bytes = n * n * sizeof *a;
    memset(a_edge, 0, bytes);
    memset(b_edge, 0, bytes);
    memset(da, 0, bytes);
    memset(db, 0, bytes);
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) {
            int inside = i > 0 && i < n - 1 && j > 0 && j < n - 1;
            (inside ? da : a_edge)[i * n + j] = 1;
        }
    for (long step = 0; step < steps; step++) {
        sweep(n, da, db);
        border(n, da, b_edge);
        sweep(n, db, da);
        border(n, db, a_edge);
    }
    memset(db, 0, bytes); // the first sweep overwrites the interior of B
    for (long k = 0; k < n; k++)
        for (int side = 0; side < 4; side++) {
            long at = side == 0 ? k : side == 1 ? (n - 1) * n + k : side == 2 ? k * n : k * n + n - 1;
            da[at] = a_edge[at];
            db[at] = b_edge[at];
        }
    return value;
}
