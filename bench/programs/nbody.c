// Bodies under softened gravity by hand, eight bodies i in the lanes, all bodies j in a loop: no sum crosses lanes.
// Arrays are (3, blocks) of vectors; lanes beyond n have no mass. The gradient keeps positions.

#include <string.h>

enum { LANES = 8 };
typedef double vec __attribute__((vector_size(8 * LANES)));

static inline vec root(vec x) {
    for (int lane = 0; lane < LANES; lane++) x[lane] = __builtin_sqrt(x[lane]);
    return x;
}

static void step(long n, long blocks, double dt, double softening, vec *x, vec *v, const vec *m) {
    const double *xj = (double *)x, *yj = (double *)(x + blocks), *zj = (double *)(x + 2 * blocks), *mj = (double *)m;
    for (long b = 0; b < blocks; b++) {
        vec ax = {0}, ay = {0}, az = {0};
        for (long j = 0; j < n; j++) {
            vec dx = xj[j] - x[b], dy = yj[j] - x[blocks + b], dz = zj[j] - x[2 * blocks + b];
            vec r2 = dx * dx + dy * dy + dz * dz + softening;
            vec w = mj[j] / (r2 * root(r2));
            ax += w * dx, ay += w * dy, az += w * dz;
        }
        v[b] += dt * ax, v[blocks + b] += dt * ay, v[2 * blocks + b] += dt * az;
    }
    for (long k = 0; k < 3 * blocks; k++) x[k] += dt * v[k];
}

static double squares(long n, long blocks, const vec *x) {
    double total = 0;
    for (int axis = 0; axis < 3; axis++)
        for (long i = 0; i < n; i++) {
            double y = ((double *)(x + axis * blocks))[i];
            total += y * y;
        }
    return total;
}

double forward(long n, long steps, double dt, double softening, const vec *x0, const vec *v0, const vec *m, vec *x, vec *v) {
    long blocks = (n + LANES - 1) / LANES;
    memcpy(x, x0, 3 * blocks * sizeof *x);
    memcpy(v, v0, 3 * blocks * sizeof *v);
    for (long t = 0; t < steps; t++) step(n, blocks, dt, softening, x, v, m);
    return squares(n, blocks, x) + squares(n, blocks, v);
}

// Cotangents g of the accelerations at positions x, added to dx and dm. Body i's force on j is minus j's on i, per mass.
static void back(long n, long blocks, double softening, const vec *x, const vec *m, const vec *g, vec *dx, vec *dm) {
    const double *xj = (double *)x, *yj = (double *)(x + blocks), *zj = (double *)(x + 2 * blocks), *mj = (double *)m;
    const double *gx = (double *)g, *gy = (double *)(g + blocks), *gz = (double *)(g + 2 * blocks);
    for (long b = 0; b < blocks; b++) {
        vec sx = {0}, sy = {0}, sz = {0}, sm = {0};
        for (long j = 0; j < n; j++) {
            vec ex = xj[j] - x[b], ey = yj[j] - x[blocks + b], ez = zj[j] - x[2 * blocks + b];
            vec r2 = ex * ex + ey * ey + ez * ez + softening;
            vec w = 1.0 / (r2 * root(r2));
            sm -= w * (gx[j] * ex + gy[j] * ey + gz[j] * ez);
            vec hx = m[b] * gx[j] - mj[j] * g[b], hy = m[b] * gy[j] - mj[j] * g[blocks + b], hz = m[b] * gz[j] - mj[j] * g[2 * blocks + b];
            vec along = 3.0 / r2 * (hx * ex + hy * ey + hz * ez);
            sx += w * (hx - along * ex), sy += w * (hy - along * ey), sz += w * (hz - along * ez);
        }
        dx[b] += sx, dx[blocks + b] += sy, dx[2 * blocks + b] += sz, dm[b] += sm;
    }
}

double gradient(long n, long steps, double dt, double softening, const vec *x0, const vec *v0, const vec *m, vec *x, vec *v, vec *tape, vec *dx, vec *dv, vec *dm) {
    long blocks = (n + LANES - 1) / LANES, row = 3 * blocks;
    memcpy(x, x0, row * sizeof *x);
    memcpy(v, v0, row * sizeof *v);
    for (long t = 0; t < steps; t++) {
        memcpy(tape + t * row, x, row * sizeof *x);
        step(n, blocks, dt, softening, x, v, m);
    }
    double value = squares(n, blocks, x) + squares(n, blocks, v);
    memset(dm, 0, blocks * sizeof *dm);
    for (long k = 0; k < row; k++) dx[k] = 2 * x[k], dv[k] = 2 * v[k];
    for (long t = steps - 1; t >= 0; t--) {
        for (long k = 0; k < row; k++) dv[k] += dt * dx[k], v[k] = dt * dv[k]; // the final v is done with: cotangents of accelerations
        back(n, blocks, softening, tape + t * row, m, v, dx, dm);
    }
    return value;
}
