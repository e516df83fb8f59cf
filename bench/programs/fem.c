// Stable neo-Hookean tetrahedra by hand: eight elements in the lanes, corners loaded and added lane by lane. The gradient keeps positions.

#include <string.h>

enum { LANES = 8 };
typedef double vec __attribute__((vector_size(8 * LANES)));

typedef struct {
    long nodes, blocks;
    const vec *mu, *lam, *B, *volume; // B: nine components, each over all elements
    const long (*corner)[LANES];      // four corners, each over all elements
    const double *w;
} Mesh;

#define EACH(i) for (int i = 0; i < 3; i++)

static inline void cross(const vec a[3], const vec b[3], vec out[3]) {
    EACH(i) out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static inline void load(const Mesh *m, long e, const double *x, vec D[3][3]) { // D[k] is the edge to corner k + 1
    vec p[4][3];
    for (int k = 0; k < 4; k++)
        for (int lane = 0; lane < LANES; lane++) {
            const double *at = x + 3 * m->corner[k * m->blocks + e][lane];
            EACH(i) p[k][i][lane] = at[i];
        }
    EACH(k) EACH(i) D[k][i] = p[k + 1][i] - p[0][i];
}

static inline void add(const Mesh *m, long e, vec H[3][3], double *f) { // H[k] to corner k + 1, minus their sum to corner 0
    for (int lane = 0; lane < LANES; lane++) {
        double *f0 = f + 3 * m->corner[e][lane];
        EACH(i) f0[i] -= H[0][i][lane] + H[1][i][lane] + H[2][i][lane];
        EACH(k) {
            double *at = f + 3 * m->corner[(k + 1) * m->blocks + e][lane];
            EACH(i) at[i] += H[k][i][lane];
        }
    }
}

// F by columns, their cofactors C, I + 1 and J - 1.
static inline void deform(vec D[3][3], vec B[3][3], vec F[3][3], vec C[3][3], vec *I1, vec *J1) {
    EACH(j) EACH(i) F[j][i] = D[0][i] * B[0][j] + D[1][i] * B[1][j] + D[2][i] * B[2][j];
    cross(F[1], F[2], C[0]);
    cross(F[2], F[0], C[1]);
    cross(F[0], F[1], C[2]);
    *I1 = (vec){0} + 1.0;
    EACH(j) EACH(i) *I1 += F[j][i] * F[j][i];
    *J1 = F[0][0] * C[0][0] + F[0][1] * C[0][1] + F[0][2] * C[0][2] - 1.0;
}

static void forces(const Mesh *m, const double *x, double *f) {
    memset(f, 0, 3 * m->nodes * sizeof *f);
    for (long e = 0; e < m->blocks; e++) {
        vec D[3][3], B[3][3], F[3][3], C[3][3], H[3][3], I1, J1;
        load(m, e, x, D);
        EACH(k) EACH(j) B[k][j] = m->B[(3 * k + j) * m->blocks + e];
        deform(D, B, F, C, &I1, &J1);
        vec a = -m->volume[e] * m->mu[e] * (1.0 - 1.0 / I1), b = -m->volume[e] * (m->lam[e] * J1 - 0.75 * m->mu[e]);
        EACH(k) EACH(i) {
            vec sum = {0};
            EACH(j) sum += (a * F[j][i] + b * C[j][i]) * B[k][j];
            H[k][i] = sum;
        }
        add(m, e, H, f);
    }
}

// Cotangents g of the forces at x: added to those of x, mu and lam.
static void back(const Mesh *m, const double *x, const double *g, double *dx, vec *dmu, vec *dlam) {
    for (long e = 0; e < m->blocks; e++) {
        vec D[3][3], B[3][3], F[3][3], C[3][3], G[3][3], gP[3][3], gF[3][3], turn[3], I1, J1;
        load(m, e, x, D);
        load(m, e, g, G);
        EACH(k) EACH(j) B[k][j] = m->B[(3 * k + j) * m->blocks + e];
        deform(D, B, F, C, &I1, &J1);
        EACH(j) EACH(i) gP[j][i] = -m->volume[e] * (G[0][i] * B[0][j] + G[1][i] * B[1][j] + G[2][i] * B[2][j]);
        vec along_F = {0}, along_C = {0}, shrink = 1.0 / I1, mu = m->mu[e], lam = m->lam[e];
        EACH(j) EACH(i) along_F += gP[j][i] * F[j][i], along_C += gP[j][i] * C[j][i];
        vec a = mu * (1.0 - shrink), b = lam * J1 - 0.75 * mu, bend = 2.0 * mu * shrink * shrink * along_F, press = lam * along_C;
        dmu[e] += along_F * (1.0 - shrink) - 0.75 * along_C;
        dlam[e] += along_C * J1;
        EACH(j) {
            int next = (j + 1) % 3, last = (j + 2) % 3; // C[last] = F[j] × F[next], C[next] = F[last] × F[j]
            EACH(i) gF[j][i] = a * gP[j][i] + bend * F[j][i] + press * C[j][i];
            cross(F[next], gP[last], turn);
            EACH(i) gF[j][i] += b * turn[i];
            cross(gP[next], F[last], turn);
            EACH(i) gF[j][i] += b * turn[i];
        }
        EACH(k) EACH(i) D[k][i] = gF[0][i] * B[k][0] + gF[1][i] * B[k][1] + gF[2][i] * B[k][2];
        add(m, e, D, dx);
    }
}

static void step(const Mesh *m, double dt, double *x, double *v, double *f) {
    forces(m, x, f);
    for (long n = 0; n < m->nodes; n++) EACH(i) {
        v[3 * n + i] += dt * m->w[n] * f[3 * n + i];
        x[3 * n + i] += dt * v[3 * n + i];
    }
}

static double final(long count, const double *x, const double *v, const double *X) {
    double total = 0;
    for (long k = 0; k < count; k++) total += (x[k] - X[k]) * (x[k] - X[k]) + v[k] * v[k];
    return total;
}

// What both take: the mesh, its first velocities and its moduli.
#define GIVEN \
    long nodes, long count, long steps, double dt, const double *v0, const vec *mu, const vec *lam, const double *X, \
    const long (*corner)[LANES], const vec *B, const vec *volume, const double *w

double forward(GIVEN, double *x, double *v, double *f) {
    Mesh m = {nodes, count / LANES, mu, lam, B, volume, corner, w};
    memcpy(x, X, 3 * nodes * sizeof *x);
    memcpy(v, v0, 3 * nodes * sizeof *v);
    for (long t = 0; t < steps; t++) step(&m, dt, x, v, f);
    return final(3 * nodes, x, v, X);
}

double gradient(GIVEN, double *x, double *v, double *f, double *tape, double *dx, double *dv, vec *dmu, vec *dlam) {
    Mesh m = {nodes, count / LANES, mu, lam, B, volume, corner, w};
    long row = 3 * nodes;
    memcpy(x, X, row * sizeof *x);
    memcpy(v, v0, row * sizeof *v);
    for (long t = 0; t < steps; t++) {
        memcpy(tape + t * row, x, row * sizeof *x);
        step(&m, dt, x, v, f);
    }
    double value = final(row, x, v, X);
    memset(dmu, 0, count * sizeof(double));
    memset(dlam, 0, count * sizeof(double));
    for (long k = 0; k < row; k++) dx[k] = 2 * (x[k] - X[k]), dv[k] = 2 * v[k];
    for (long t = steps - 1; t >= 0; t--) {
        for (long n = 0; n < nodes; n++) EACH(i) {
            dv[3 * n + i] += dt * dx[3 * n + i];
            f[3 * n + i] = dt * w[n] * dv[3 * n + i];
        }
        back(&m, tape + t * row, f, dx, dmu, dlam);
    }
    return value;
}
