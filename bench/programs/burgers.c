// Burgers' equation by hand; the gradient keeps every state and gathers: each cotangent is computed once from its neighbours,
// as the cotangents g of a step's results, zero on the border, spread over what the step read.

#include <string.h>

static void step(long n, double c, double d, const double *restrict u, const double *restrict v, double *restrict u2, double *restrict v2) {
    for (long i = 1; i < n - 1; i++)
        for (long k = i * n + 1; k < i * n + n - 1; k++) {
            double a = u[k], b = v[k];
            u2[k] = a - c * (a * (a - u[k - 1]) + b * (a - u[k - n])) + d * (u[k + 1] + u[k - 1] + u[k + n] + u[k - n] - 4 * a);
            v2[k] = b - c * (a * (b - v[k - 1]) + b * (b - v[k - n])) + d * (v[k + 1] + v[k - 1] + v[k + n] + v[k - n] - 4 * b);
        }
}

static double squares(long count, const double *u) {
    double part[16] = {0}, total = 0;
    long k = 0;
    for (; k + 16 <= count; k += 16)
        for (int lane = 0; lane < 16; lane++) part[lane] += u[k + lane] * u[k + lane];
    for (; k < count; k++) total += u[k] * u[k];
    for (int lane = 0; lane < 16; lane++) total += part[lane];
    return total;
}

double forward(long n, long steps, double c, double d, const double *u0, const double *v0, double *u, double *v) {
    long nn = n * n;
    for (int half = 0; half < 2; half++) {
        memcpy(u + half * nn, u0, nn * sizeof *u);
        memcpy(v + half * nn, v0, nn * sizeof *v);
    }
    for (long t = 0; t < steps; t++) step(n, c, d, u + t % 2 * nn, v + t % 2 * nn, u + (t + 1) % 2 * nn, v + (t + 1) % 2 * nn);
    return squares(nn, u + steps % 2 * nn) + squares(nn, v + steps % 2 * nn);
}

// The interior of the cotangents (gu, gv), which have a border of zeros, through one step, into (ru, rv).
static void inside(long n, double c, double d, const double *restrict u, const double *restrict v, const double *restrict gu, const double *restrict gv,
                   double *restrict ru, double *restrict rv) {
    for (long i = 1; i < n - 1; i++)
        for (long k = i * n + 1; k < i * n + n - 1; k++) {
            double a = u[k], b = v[k], du = gu[k], dv = gv[k];
            ru[k] = du * (1 - c * (2 * a - u[k - 1] + b) - 4 * d) - dv * (c * (b - v[k - 1]))
                + gu[k + 1] * (c * u[k + 1] + d) + gu[k + n] * (c * v[k + n] + d) + d * (gu[k - 1] + gu[k - n]);
            rv[k] = dv * (1 - c * (a + 2 * b - v[k - n]) - 4 * d) - du * (c * (a - u[k - n]))
                + gv[k + 1] * (c * u[k + 1] + d) + gv[k + n] * (c * v[k + n] + d) + d * (gv[k - 1] + gv[k - n]);
        }
}

// What the interior of g gives to the border of the array x that was read: x's cotangents there only collect.
static void border(long n, double c, double d, const double *u, const double *v, const double *g, double *edge) {
    for (long k = 1; k < n - 1; k++) {
        long low = n + k, left = k * n + 1, high = (n - 2) * n + k, right = k * n + n - 2;
        edge[k] += g[low] * (c * v[low] + d);
        edge[k * n] += g[left] * (c * u[left] + d);
        edge[high + n] += g[high] * d;
        edge[right + 1] += g[right] * d;
    }
}

static void start(long n, const double *x, double *inner, double *edge) {
    memset(inner, 0, n * n * sizeof *inner);
    for (long k = 0; k < n * n; k++) edge[k] = 2 * x[k];
    for (long i = 1; i < n - 1; i++)
        for (long k = i * n + 1; k < i * n + n - 1; k++) inner[k] = edge[k];
}

double gradient(long n, long steps, double c, double d, const double *u0, const double *v0, double *u, double *v, double *gu, double *gv, double *du, double *dv) {
    double *ru = u + steps * n * n, *rv = v + steps * n * n; // the last row of the tape is read once, then it is the other half of the cotangents
    long nn = n * n;
    memcpy(u, u0, nn * sizeof *u);
    memcpy(v, v0, nn * sizeof *v);
    for (long t = 0; t < steps; t++) {
        for (int side = 0; side < 2; side++) {
            double *x = (side ? v : u) + (t + 1) * nn, *from = side ? v + t * nn : u + t * nn;
            memcpy(x, from, n * sizeof *x);
            memcpy(x + nn - n, from + nn - n, n * sizeof *x);
            for (long i = 1; i < n - 1; i++) x[i * n] = from[i * n], x[i * n + n - 1] = from[i * n + n - 1];
        }
        step(n, c, d, u + t * nn, v + t * nn, u + (t + 1) * nn, v + (t + 1) * nn);
    }
    double value = squares(nn, u + steps * nn) + squares(nn, v + steps * nn);
    start(n, u + steps * nn, gu, du);
    start(n, v + steps * nn, gv, dv);
    memset(ru, 0, nn * sizeof *ru);
    memset(rv, 0, nn * sizeof *rv);
    double *fu = gu, *fv = gv;
    for (long t = steps - 1; t >= 0; t--) {
        border(n, c, d, u + t * nn, v + t * nn, fu, du);
        border(n, c, d, u + t * nn, v + t * nn, fv, dv);
        inside(n, c, d, u + t * nn, v + t * nn, fu, fv, ru, rv);
        double *swap_u = fu, *swap_v = fv;
        fu = ru, fv = rv, ru = swap_u, rv = swap_v;
    }
    for (long i = 1; i < n - 1; i++) {
        memcpy(du + i * n + 1, fu + i * n + 1, (n - 2) * sizeof *du);
        memcpy(dv + i * n + 1, fv + i * n + 1, (n - 2) * sizeof *dv);
    }
    return value;
}
