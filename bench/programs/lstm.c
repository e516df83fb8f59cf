// ADBench's LSTM by hand: 14 cells are two vectors of eight lanes; the gradient keeps the gates of every step.

#include <math.h>
#include "vector_math.h"

enum { WIDTH = 14, WIDE = 2 };
typedef struct { vec at[WIDE]; } Row; // lanes 14 and 15 are zero

#define EACH(i) for (int i = 0; i < WIDE; i++)

// What the backward sweep reads of a layer: its input, its old state, the gates and the tanh of the new cell.
typedef struct { Row x, hidden, cell, forget, in, out, change, tanh_cell; } Kept;

static inline Row row(const double *from) {
    Row r = {0};
    memcpy(&r, from, WIDTH * sizeof *from);
    return r;
}

static inline vec logistic(vec x) { return 1.0 / (1.0 + vector_exp(-x)); }

static inline double sum(Row r) {
    double total = 0;
    for (int k = 0; k < WIDTH; k++) total += r.at[k / LANES][k % LANES];
    return total;
}

// One layer; state is (hidden, cell). Returns the new hidden state, which is the next layer's input.
static inline Row layer(const double *weight, const double *bias, Row *state, Row x, Kept *kept) {
    Row w[4], b[4];
    for (int gate = 0; gate < 4; gate++) w[gate] = row(weight + gate * WIDTH), b[gate] = row(bias + gate * WIDTH);
    Kept k = {.x = x, .hidden = state[0], .cell = state[1]};
    EACH(i) {
        k.forget.at[i] = logistic(x.at[i] * w[0].at[i] + b[0].at[i]);
        k.in.at[i] = logistic(k.hidden.at[i] * w[1].at[i] + b[1].at[i]);
        k.out.at[i] = logistic(x.at[i] * w[2].at[i] + b[2].at[i]);
        k.change.at[i] = vector_tanh(k.hidden.at[i] * w[3].at[i] + b[3].at[i]);
        state[1].at[i] = k.cell.at[i] * k.forget.at[i] + k.in.at[i] * k.change.at[i];
        k.tanh_cell.at[i] = vector_tanh(state[1].at[i]);
        state[0].at[i] = k.out.at[i] * k.tanh_cell.at[i];
    }
    if (kept) *kept = k;
    return state[0];
}

// The loss of a prediction; its cotangent by y, where one is wanted.
static inline double predict(Row y, Row gold, Row *ct) {
    Row e;
    EACH(i) e.at[i] = vector_exp(y.at[i]);
    double all = sum(e) + 2.0, golds = sum(gold);
    if (ct) EACH(i) ct->at[i] = gold.at[i] - e.at[i] * (golds / all);
    EACH(i) y.at[i] *= gold.at[i];
    return sum(y) - golds * log(all);
}

static inline Row ends_of(Row x, const double *ends) {
    Row w = row(ends + WIDTH), b = row(ends + 2 * WIDTH);
    EACH(i) x.at[i] = x.at[i] * w.at[i] + b.at[i];
    return x;
}

static void start(long layers, const double *from, Row *state) {
    for (long k = 0; k < 2 * layers; k++) state[k] = row(from + k * WIDTH);
}

static double run(long layers, long length, const double *weights, const double *ends, const double *state0, const double *sequence, Row *state, Kept *tape) {
    double total = 0;
    start(layers, state0, state);
    for (long t = 0; t < length - 1; t++) {
        Row x = row(sequence + t * WIDTH), first = row(ends);
        EACH(i) x.at[i] *= first.at[i];
        for (long k = 0; k < layers; k++)
            x = layer(weights + 8 * k * WIDTH, weights + (8 * k + 4) * WIDTH, state + 2 * k, x, tape ? tape + t * layers + k : 0);
        total += predict(ends_of(x, ends), row(sequence + (t + 1) * WIDTH), 0);
    }
    return -total / ((length - 1) * WIDTH);
}

double forward(long layers, long length, const double *weights, const double *ends, const double *state0, const double *sequence, Row *state) {
    return run(layers, length, weights, ends, state0, sequence, state, 0);
}

static inline void add(double *to, Row r) {
    for (int k = 0; k < WIDTH; k++) to[k] += r.at[k / LANES][k % LANES];
}

// One layer backwards: `ct` (hidden, cell) of the new state become those of the old; returns the cotangent of the input.
static inline Row layer_back(const double *weight, const Kept *k, Row *ct, Row ct_x, double *dweight) {
    Row w[4], dw[4], db[4], dx;
    for (int gate = 0; gate < 4; gate++) w[gate] = row(weight + gate * WIDTH);
    EACH(i) {
        vec h = ct[0].at[i] + ct_x.at[i], c = ct[1].at[i] + h * k->out.at[i] * (1.0 - k->tanh_cell.at[i] * k->tanh_cell.at[i]);
        vec forget = c * k->cell.at[i] * k->forget.at[i] * (1.0 - k->forget.at[i]);
        vec in = c * k->change.at[i] * k->in.at[i] * (1.0 - k->in.at[i]);
        vec out = h * k->tanh_cell.at[i] * k->out.at[i] * (1.0 - k->out.at[i]);
        vec change = c * k->in.at[i] * (1.0 - k->change.at[i] * k->change.at[i]);
        db[0].at[i] = forget, db[1].at[i] = in, db[2].at[i] = out, db[3].at[i] = change;
        dw[0].at[i] = forget * k->x.at[i], dw[1].at[i] = in * k->hidden.at[i], dw[2].at[i] = out * k->x.at[i], dw[3].at[i] = change * k->hidden.at[i];
        ct[0].at[i] = in * w[1].at[i] + change * w[3].at[i];
        ct[1].at[i] = c * k->forget.at[i];
        dx.at[i] = forget * w[0].at[i] + out * w[2].at[i];
    }
    for (int gate = 0; gate < 4; gate++) add(dweight + gate * WIDTH, dw[gate]), add(dweight + (4 + gate) * WIDTH, db[gate]);
    return dx;
}

double gradient(long layers, long length, const double *weights, const double *ends, const double *state0, const double *sequence, Kept *tape, Row *state, double *dweights, double *dends) {
    double value = run(layers, length, weights, ends, state0, sequence, state, tape), scale = -1.0 / ((length - 1) * WIDTH);
    memset(dweights, 0, 8 * layers * WIDTH * sizeof *dweights);
    memset(dends, 0, 3 * WIDTH * sizeof *dends);
    memset(state, 0, 2 * layers * sizeof *state); // from here on, cotangents of the states
    for (long t = length - 2; t >= 0; t--) {
        const Kept *kept = tape + t * layers;
        Row x, ct, product, w = row(ends + WIDTH);
        EACH(i) x.at[i] = kept[layers - 1].out.at[i] * kept[layers - 1].tanh_cell.at[i];
        predict(ends_of(x, ends), row(sequence + (t + 1) * WIDTH), &ct);
        EACH(i) ct.at[i] *= scale;
        EACH(i) product.at[i] = ct.at[i] * x.at[i];
        add(dends + WIDTH, product);
        add(dends + 2 * WIDTH, ct);
        EACH(i) ct.at[i] *= w.at[i];
        for (long k = layers - 1; k >= 0; k--) ct = layer_back(weights + 8 * k * WIDTH, kept + k, state + 2 * k, ct, dweights + 8 * k * WIDTH);
        x = row(sequence + t * WIDTH);
        EACH(i) product.at[i] = ct.at[i] * x.at[i];
        add(dends, product);
    }
    return value;
}
