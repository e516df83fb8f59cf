/* The cases of expressions.py by hand: a reverse sweep, Taylor arithmetic of order 4, dual numbers with all directions at once. */

#include <math.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Seconds of the best of many runs. */
#define BEST(run)                                          \
    double best = 1e9, end = now() + 0.3;                  \
    do {                                                   \
        double begin = now();                              \
        run;                                               \
        double taken = now() - begin;                      \
        best = taken < best ? taken : best;                \
    } while (now() < end);                                 \
    return best;

#ifdef TIMER
/* of a function as CasADi writes them */
double timed(int (*f)(const double **, double **, long long *, double *, int), const double **arg, double **res, long long *iw, double *w) {
    BEST(f(arg, res, iw, w, 0))
}
#else

/* chain: what each step is and reads */
static const int steps[STEPS][3] = {
#include "chain.h"
};

static void chain_once(const double *at, double *gradient) {
    double v[STEPS + 4], d[STEPS + 4], t[STEPS];
    memcpy(v, at, 4 * sizeof(double));
    for (int k = 0; k < STEPS; k++) {
        double a = v[steps[k][1]], b = v[steps[k][2]];
        if (steps[k][0]) {
            t[k] = sin(a);
            v[k + 4] = t[k] * b + 0.5 * a;
        } else {
            t[k] = tanh(a - b);
            v[k + 4] = t[k] * 0.9 + b;
        }
    }
    memset(d, 0, sizeof d);
    d[STEPS + 3] = d[STEPS + 2] = d[STEPS + 1] = d[STEPS] = d[0] = 1;
    for (int k = STEPS - 1; k >= 0; k--) {
        double ct = d[k + 4], *da = &d[steps[k][1]], *db = &d[steps[k][2]];
        if (steps[k][0]) {
            *db += ct * t[k];
            *da += ct * (cos(v[steps[k][1]]) * v[steps[k][2]] + 0.5);
        } else {
            double slope = ct * 0.9 * (1 - t[k] * t[k]);
            *da += slope;
            *db += ct - slope;
        }
    }
    memcpy(gradient, d, 4 * sizeof(double));
}

double chain(const double *at, double *gradient) { BEST(chain_once(at, gradient)) }

/* functional: truncated Taylor series (Griewank and Walther, chapter 13) */
#define N 5
typedef struct { double c[N]; } T;

static inline T tn(double x) { T r = {{x}}; return r; }
static inline T tadd(T a, T b) { for (int i = 0; i < N; i++) a.c[i] += b.c[i]; return a; }
static inline T tscale(double x, T a) { for (int i = 0; i < N; i++) a.c[i] *= x; return a; }
static inline T tmul(T a, T b) {
    T r = {{0}};
    for (int i = 0; i < N; i++) for (int j = 0; j <= i; j++) r.c[i] += a.c[j] * b.c[i - j];
    return r;
}
static inline T tdiv(T a, T b) {
    double inverse = 1 / b.c[0];
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) a.c[i] -= a.c[j] * b.c[i - j];
        a.c[i] *= inverse;
    }
    return a;
}
static inline T texp(T a) {
    T r = {{exp(a.c[0])}};
    for (int i = 1; i < N; i++) { for (int j = 1; j <= i; j++) r.c[i] += j * a.c[j] * r.c[i - j]; r.c[i] /= i; }
    return r;
}
static inline T tlog(T a) {
    T r = {{log(a.c[0])}};
    double inverse = 1 / a.c[0];
    for (int i = 1; i < N; i++) {
        r.c[i] = i * a.c[i];
        for (int j = 1; j < i; j++) r.c[i] -= j * r.c[j] * a.c[i - j];
        r.c[i] *= inverse / i;
    }
    return r;
}
static inline T tpow(T a, double p) {
    T r = {{pow(a.c[0], p)}};
    double inverse = 1 / a.c[0];
    for (int i = 1; i < N; i++) {
        for (int j = 1; j <= i; j++) r.c[i] += (p * j - (i - j)) * a.c[j] * r.c[i - j];
        r.c[i] *= inverse / i;
    }
    return r;
}

static double fourth(double density, double sigma) {
    const double pi = 3.14159265358979323846, kappa = 0.804, mu = 0.2195149727645171, beta = 0.06672455060314922;
    const double gamma = (1 - 0.69314718055994530942) / (pi * pi), a = 0.0310907;
    T n = {{density, 1}}, one = tn(1);
    T s2 = tscale(sigma / (4 * pow(3 * pi * pi, 2.0 / 3)), tpow(n, -8.0 / 3));
    T enhance = tadd(tn(1 + kappa), tscale(-kappa, tdiv(one, tadd(one, tscale(mu / kappa, s2)))));
    T exchange = tscale(-0.75 * cbrt(3 / pi), tmul(tpow(n, 4.0 / 3), enhance));
    T rs = tscale(cbrt(3 / (4 * pi)), tpow(n, -1.0 / 3)), root = tscale(pow(3 / (4 * pi), 1.0 / 6), tpow(n, -1.0 / 6));
    T fit = tadd(tadd(tscale(7.5957, root), tscale(3.5876, rs)), tadd(tscale(1.6382, tmul(rs, root)), tscale(0.49294, tmul(rs, rs))));
    T eps = tscale(-2 * a, tmul(tadd(one, tscale(0.21370, rs)), tlog(tadd(one, tdiv(one, tscale(2 * a, fit))))));
    T t2 = tscale(sigma * cbrt(pi / 3) / 16, tpow(n, -7.0 / 3));
    T big = tdiv(tn(beta / gamma), tadd(texp(tscale(-1 / gamma, eps)), tn(-1)));
    T bt = tmul(big, t2), above = tadd(one, bt);
    T inside = tscale(beta / gamma, tdiv(tmul(t2, above), tadd(above, tmul(bt, bt))));
    T h = tscale(gamma, tlog(tadd(one, inside)));
    return 24 * tadd(exchange, tmul(n, tadd(eps, h))).c[4];
}

static void functional_once(const double *density, const double *sigma, double *result) {
    for (int k = 0; k < 1000; k++) result[k] = fourth(density[k], sigma[k]);
}

double functional(const double *density, const double *sigma, double *result) { BEST(functional_once(density, sigma, result)) }

/* robot: dual numbers with twelve directions */
#define JOINTS 6
#define D (2 * JOINTS)
typedef struct { double v; double d[D]; } Dual;

static inline Dual num(double x) { Dual r = {x, {0}}; return r; }
static inline Dual add(Dual a, Dual b) { a.v += b.v; for (int i = 0; i < D; i++) a.d[i] += b.d[i]; return a; }
static inline Dual sub(Dual a, Dual b) { a.v -= b.v; for (int i = 0; i < D; i++) a.d[i] -= b.d[i]; return a; }
static inline Dual scale(double x, Dual a) { a.v *= x; for (int i = 0; i < D; i++) a.d[i] *= x; return a; }
static inline Dual mul(Dual a, Dual b) {
    Dual r = {a.v * b.v, {0}};
    for (int i = 0; i < D; i++) r.d[i] = a.v * b.d[i] + a.d[i] * b.v;
    return r;
}
typedef struct { Dual x[3]; } V;
static inline V vadd(V a, V b) { for (int i = 0; i < 3; i++) a.x[i] = add(a.x[i], b.x[i]); return a; }
static inline V cross(V a, V b) {
    V r = {{sub(mul(a.x[1], b.x[2]), mul(a.x[2], b.x[1])), sub(mul(a.x[2], b.x[0]), mul(a.x[0], b.x[2])), sub(mul(a.x[0], b.x[1]), mul(a.x[1], b.x[0]))}};
    return r;
}
/* a vector times one that is constant */
static inline V cross_c(V a, const double *b) {
    V r = {{sub(scale(b[2], a.x[1]), scale(b[1], a.x[2])), sub(scale(b[0], a.x[2]), scale(b[2], a.x[0])), sub(scale(b[1], a.x[0]), scale(b[0], a.x[1]))}};
    return r;
}
static inline V c_cross(const double *a, V b) { V r = cross_c(b, a); for (int i = 0; i < 3; i++) r.x[i] = scale(-1, r.x[i]); return r; }
/* into the frame of a link and back, with s and c of its angle */
static inline V into(Dual s, Dual c, double st, double ct, V v) {
    Dual along = add(mul(c, v.x[0]), mul(s, v.x[1])), across = sub(mul(c, v.x[1]), mul(s, v.x[0]));
    V r = {{along, add(scale(ct, across), scale(st, v.x[2])), add(scale(-st, across), scale(ct, v.x[2]))}};
    return r;
}
static inline V outof(Dual s, Dual c, double st, double ct, V v) {
    Dual across = sub(scale(ct, v.x[1]), scale(st, v.x[2]));
    V r = {{sub(mul(c, v.x[0]), mul(s, across)), add(mul(s, v.x[0]), mul(c, across)), add(scale(st, v.x[1]), scale(ct, v.x[2]))}};
    return r;
}

static void robot_once(const double *state, const double *push, double *jacobian) {
    const double half = 1.57079632679489661923, tilts[3] = {half, 0, -half};
    Dual s[JOINTS], c[JOINTS];
    V force[JOINTS], moment[JOINTS], w, dw, dv;
    for (int i = 0; i < 3; i++) { w.x[i] = dw.x[i] = num(0); dv.x[i] = num(i == 2 ? 9.81 : 0); }
    for (int k = 0; k < JOINTS; k++) {
        double st = sin(tilts[k % 3]), ct = cos(tilts[k % 3]), along = 0.1 * (k + 1), offset = 0.05 * k;
        double p[3] = {along, offset * st, offset * ct}, centre[3] = {-along / 2, 0.02, 0.03 * (k + 1)}, inertia[3] = {0.02 + 0.001 * k, 0.03, 0.015};
        s[k] = num(sin(state[k])); c[k] = num(cos(state[k])); s[k].d[k] = c[k].v; c[k].d[k] = -s[k].v;
        Dual speed = num(state[JOINTS + k]);
        speed.d[JOINTS + k] = 1;
        V turning = {{add(dw.x[0], mul(w.x[1], speed)), sub(dw.x[1], mul(w.x[0], speed)), add(dw.x[2], num(push[k]))}};
        w.x[2] = add(w.x[2], speed);
        w = into(s[k], c[k], st, ct, w);
        dw = into(s[k], c[k], st, ct, turning);
        dv = vadd(into(s[k], c[k], st, ct, dv), vadd(cross_c(dw, p), cross(w, cross_c(w, p))));
        V at = vadd(dv, vadd(cross_c(dw, centre), cross(w, cross_c(w, centre))));
        V spin;
        for (int i = 0; i < 3; i++) { force[k].x[i] = scale(2.0 - 0.2 * k, at.x[i]); spin.x[i] = scale(inertia[i], w.x[i]); }
        moment[k] = cross(w, spin);
        for (int i = 0; i < 3; i++) moment[k].x[i] = add(moment[k].x[i], scale(inertia[i], dw.x[i]));
    }
    V f, n;
    for (int i = 0; i < 3; i++) f.x[i] = n.x[i] = num(0);
    for (int k = JOINTS - 1; k >= 0; k--) {
        double st = sin(tilts[k % 3]), ct = cos(tilts[k % 3]), along = 0.1 * (k + 1), offset = 0.05 * k;
        double p[3] = {along, offset * st, offset * ct}, arm[3] = {along / 2, offset * st + 0.02, offset * ct + 0.03 * (k + 1)};
        n = vadd(vadd(n, c_cross(p, f)), vadd(c_cross(arm, force[k]), moment[k]));
        f = vadd(f, force[k]);
        f = outof(s[k], c[k], st, ct, f);
        n = outof(s[k], c[k], st, ct, n);
        memcpy(jacobian + k * D, n.x[2].d, sizeof n.x[2].d);
    }
}

double robot(const double *state, const double *push, double *jacobian) { BEST(robot_once(state, push, jacobian)) }
#endif
