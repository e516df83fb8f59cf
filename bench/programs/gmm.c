// ADBench's Gaussian mixture by hand: eight points in the lanes, all mixtures of a point at once; nothing is kept between points,
// for the gradient of a point needs only that point's own terms.

#include <math.h>
#include "vector_math.h"

enum { D = 16, MIXTURES = 64 }; // the most that there is room for

static inline double sum(vec x) {
    double total = 0;
    for (int lane = 0; lane < LANES; lane++) total += x[lane];
    return total;
}

// Q (x - mean) of eight points for one mixture; the factors below the diagonal lie column by column.
static inline void transform(long d, const double *mean, const double *diagonal, const double *below, const vec *x, vec *centred, vec *moved) {
    for (long i = 0; i < d; i++) {
        centred[i] = x[i] - mean[i];
        moved[i] = diagonal[i] * centred[i];
    }
    for (long j = 0; j < d; j++)
        for (long i = j + 1; i < d; i++) moved[i] += *below++ * centred[j];
}

// The log of a sum of exponentials of eight points; e becomes each term's share.
static inline vec log_sum(long K, vec *e) {
    vec most = e[0], total = {0};
    for (long k = 1; k < K; k++) most = choose(e[k] > most, e[k], most);
    for (long k = 0; k < K; k++) total += e[k] = vector_exp(e[k] - most);
    for (long k = 0; k < K; k++) e[k] /= total;
    for (int lane = 0; lane < LANES; lane++) total[lane] = log(total[lane]);
    return most + total;
}

#define GIVEN \
    long d, long K, long n, double gamma, double constant, const double *alphas, const double *means, const double *factors, const double *points

static double run(GIVEN, double *dalphas, double *dmeans, double *dfactors) {
    long row = d + d * (d - 1) / 2;
    double diagonal[MIXTURES * D], sums[MIXTURES], total = constant, all = 0, squares = 0;
    static vec accumulated[MIXTURES * (1 + D + D * (D + 1) / 2)]; // per mixture: alpha, mean, factors
    if (dalphas) memset(accumulated, 0, K * (1 + d + row) * sizeof *accumulated);
    for (long k = 0; k < K; k++) {
        sums[k] = 0;
        for (long i = 0; i < d; i++) {
            sums[k] += factors[k * row + i];
            diagonal[k * d + i] = exp(factors[k * row + i]);
            squares += diagonal[k * d + i] * diagonal[k * d + i];
        }
        for (long i = d; i < row; i++) squares += factors[k * row + i] * factors[k * row + i];
        all += exp(alphas[k]);
    }
    for (long first = 0; first < n; first += LANES) {
        vec x[D], centred[D], moved[MIXTURES][D], term[MIXTURES], live = {0};
        for (int lane = 0; lane < LANES; lane++) {
            long point = first + lane < n ? first + lane : n - 1; // lanes beyond the last point repeat it and count nothing
            live[lane] = first + lane < n;
            for (long i = 0; i < d; i++) x[i][lane] = points[point * d + i];
        }
        for (long k = 0; k < K; k++) {
            transform(d, means + k * d, diagonal + k * d, factors + k * row + d, x, centred, moved[k]);
            vec length = {0};
            for (long i = 0; i < d; i++) length += moved[k][i] * moved[k][i];
            term[k] = alphas[k] + sums[k] - 0.5 * length;
        }
        total += sum(live * log_sum(K, term));
        if (!dalphas) continue;
        for (long k = 0; k < K; k++) {
            const double *below = factors + k * row + d;
            vec share = live * term[k], *out = accumulated + k * (1 + d + row), *dmean = out + 1, *dfactor = out + 1 + d, ct[D];
            *out += share;
            for (long i = 0; i < d; i++) {
                centred[i] = x[i] - means[k * d + i];
                moved[k][i] *= -share;
                ct[i] = diagonal[k * d + i] * moved[k][i];
                dfactor[i] += moved[k][i] * centred[i];
            }
            dfactor += d;
            for (long j = 0; j < d; j++)
                for (long i = j + 1; i < d; i++) {
                    ct[j] += *below++ * moved[k][i];
                    *dfactor++ += moved[k][i] * centred[j];
                }
            for (long i = 0; i < d; i++) dmean[i] -= ct[i];
        }
    }
    for (long k = 0; dalphas && k < K; k++) {
        const vec *out = accumulated + k * (1 + d + row);
        double share = sum(out[0]);
        dalphas[k] = share - n * exp(alphas[k]) / all;
        for (long i = 0; i < d; i++) dmeans[k * d + i] = sum(out[1 + i]);
        for (long i = 0; i < row; i++) {
            double ct = sum(out[1 + d + i]), q = diagonal[k * d + (i < d ? i : 0)];
            dfactors[k * row + i] = i < d ? ct * q + share + gamma * gamma * q * q : ct + gamma * gamma * factors[k * row + i];
        }
    }
    return total - n * log(all) + 0.5 * gamma * gamma * squares;
}

double forward(GIVEN) {
    return run(d, K, n, gamma, constant, alphas, means, factors, points, 0, 0, 0);
}

double gradient(GIVEN, double *dalphas, double *dmeans, double *dfactors) {
    return run(d, K, n, gamma, constant, alphas, means, factors, points, dalphas, dmeans, dfactors);
}
