// The tanh loop by hand: s += 0.01 tanh(theta s), 1000 times; the loss is the sum of s².
//
// Two orders of the same arithmetic. Plain: steps outside, elements inside, every state and every tanh on a tape.
// Tiled: elements outside in tiles of 40, steps inside; the tape of one tile (640 kB) stays in the second-level cache.

#include "vector_math.h"

enum { STEPS = 1000, TILE = 5 };

static double sum(vec x) {
    double total = 0;
    for (int lane = 0; lane < LANES; lane++) total += x[lane];
    return total;
}

// All counts are in vectors: n elements are n / LANES of them; arrays are aligned to 64 bytes.

double forward(long vectors, const vec *s0, const vec *theta, vec *s) {
    vec total = {0};
    memcpy(s, s0, vectors * sizeof(vec));
    for (int step = 0; step < STEPS; step++)
        for (long i = 0; i < vectors; i++) s[i] += 0.01 * vector_tanh(theta[i] * s[i]);
    for (long i = 0; i < vectors; i++) total += s[i] * s[i];
    return sum(total);
}

double gradient(long vectors, const vec *s0, const vec *theta, vec *s_tape, vec *tanh_tape, vec *ds, vec *dtheta) {
    vec total = {0};
    memcpy(s_tape, s0, vectors * sizeof(vec));
    for (int step = 0; step < STEPS; step++) {
        vec *s = s_tape + step * vectors, *t = tanh_tape + step * vectors;
        for (long i = 0; i < vectors; i++) {
            t[i] = vector_tanh(theta[i] * s[i]);
            s[vectors + i] = s[i] + 0.01 * t[i];
        }
    }
    vec *last = s_tape + STEPS * vectors;
    for (long i = 0; i < vectors; i++) {
        total += last[i] * last[i];
        ds[i] = 2 * last[i];
        dtheta[i] = (vec){0};
    }
    for (int step = STEPS - 1; step >= 0; step--) {
        vec *s = s_tape + step * vectors, *t = tanh_tape + step * vectors;
        for (long i = 0; i < vectors; i++) {
            vec ct = 0.01 * (1 - t[i] * t[i]) * ds[i];
            dtheta[i] += ct * s[i];
            ds[i] += ct * theta[i];
        }
    }
    return sum(total);
}

// The same with a tape of the states only: tanh is computed again on the way back.
double gradient_states(long vectors, const vec *s0, const vec *theta, vec *s_tape, vec *ds, vec *dtheta) {
    vec total = {0};
    memcpy(s_tape, s0, vectors * sizeof(vec));
    for (int step = 0; step < STEPS; step++) {
        vec *s = s_tape + step * vectors;
        for (long i = 0; i < vectors; i++) s[vectors + i] = s[i] + 0.01 * vector_tanh(theta[i] * s[i]);
    }
    vec *last = s_tape + STEPS * vectors;
    for (long i = 0; i < vectors; i++) {
        total += last[i] * last[i];
        ds[i] = 2 * last[i];
        dtheta[i] = (vec){0};
    }
    for (int step = STEPS - 1; step >= 0; step--) {
        vec *s = s_tape + step * vectors;
        for (long i = 0; i < vectors; i++) {
            vec t = vector_tanh(theta[i] * s[i]);
            vec ct = 0.01 * (1 - t * t) * ds[i];
            dtheta[i] += ct * s[i];
            ds[i] += ct * theta[i];
        }
    }
    return sum(total);
}

double forward_tiled(long vectors, const vec *s0, const vec *theta) {
    vec total = {0};
    for (long tile = 0; tile < vectors; tile += TILE) {
        vec s[TILE];
        memcpy(s, s0 + tile, sizeof s);
        for (int step = 0; step < STEPS; step++)
            for (int i = 0; i < TILE; i++) s[i] += 0.01 * vector_tanh(theta[tile + i] * s[i]);
        for (int i = 0; i < TILE; i++) total += s[i] * s[i];
    }
    return sum(total);
}

double gradient_tiled(long vectors, const vec *s0, const vec *theta, vec (*s_tape)[TILE], vec (*tanh_tape)[TILE], vec *ds, vec *dtheta) {
    vec total = {0};
    for (long tile = 0; tile < vectors; tile += TILE) {
        vec s[TILE], ct_s[TILE], ct_theta[TILE] = {0};
        memcpy(s, s0 + tile, sizeof s);
        for (int step = 0; step < STEPS; step++)
            for (int i = 0; i < TILE; i++) {
                s_tape[step][i] = s[i];
                vec t = tanh_tape[step][i] = vector_tanh(theta[tile + i] * s[i]);
                s[i] += 0.01 * t;
            }
        for (int i = 0; i < TILE; i++) {
            total += s[i] * s[i];
            ct_s[i] = 2 * s[i];
        }
        for (int step = STEPS - 1; step >= 0; step--)
            for (int i = 0; i < TILE; i++) {
                vec t = tanh_tape[step][i];
                vec ct = 0.01 * (1 - t * t) * ct_s[i];
                ct_theta[i] += ct * s_tape[step][i];
                ct_s[i] += ct * theta[tile + i];
            }
        memcpy(ds + tile, ct_s, sizeof ct_s);
        memcpy(dtheta + tile, ct_theta, sizeof ct_theta);
    }
    return sum(total);
}
