"""Interpolation, filters and images inside of traced functions: values against SciPy, derivatives of orders 1 and 2 against differences."""

import numpy as np
import pytest
import scipy.interpolate
import scipy.ndimage
import scipy.signal
from test_scipy_arrays import check_case

import retrograd as rg
from retrograd.scipy import table

rng = np.random.default_rng(3)
x = np.array([0.0, 0.7, 1.1, 2.0, 2.6, 3.5])
y = np.sin(2 * x) + 0.3 * x
Y = np.stack([y, np.cos(x)], axis=1)
t = np.array([-0.3, 0.1, 0.71, 1.9, 2.65, 3.4, 3.9])
s = np.array([0.1, 0.75, 1.9, 2.65, 3.4])
line, kernel, plane, small, large = (
    rng.standard_normal(9),
    rng.standard_normal(4),
    rng.standard_normal((6, 5)),
    rng.standard_normal((3, 2)),
    rng.standard_normal((6, 6)),
)
long = rng.standard_normal(30)
LABELS = np.arange(30).reshape(6, 5) // 7 % 3
ip, sg, nd = scipy.interpolate, scipy.signal, scipy.ndimage

CASES = {
    "interpolate.CubicSpline": [
        (lambda y, t: ip.CubicSpline(x, y)(t), [y, t]),
        (lambda x, y: ip.CubicSpline(x, y)(s), [x, y]),
        (lambda y: ip.CubicSpline(x, y, bc_type="natural")(s), [Y]),
        (lambda y: ip.CubicSpline(x, y, bc_type="clamped")(s, 1), [y]),
        (lambda y: ip.CubicSpline(x, y, bc_type=((1, 0.5), (2, -0.3))).derivative()(s), [y]),
        (lambda y, a: ip.CubicSpline(x, y).integrate(a, 3.0), [y, np.array(0.2)]),
        (lambda y: ip.CubicSpline(x[:3], y)(s), [y[:3]]),
        (lambda y: ip.CubicSpline(x[:2], y)(s), [y[:2]]),
    ],
    "interpolate.PchipInterpolator": [
        (lambda y, t: ip.PchipInterpolator(x, y)(t), [y, t]),
        (lambda x, y: ip.PchipInterpolator(x, y)(s), [x, y]),
    ],
    "interpolate.interp1d": [
        (lambda y, t: ip.interp1d(x, y)(t), [y, s]),
        (lambda y, t: ip.interp1d(x, y, kind="cubic", fill_value="extrapolate")(t), [y, t]),
        (lambda y, t: ip.interp1d(x, y, bounds_error=False, fill_value=(7.0, 8.0))(t), [y, t]),
    ],
    "interpolate.make_interp_spline": [
        (lambda y, t: ip.make_interp_spline(x, y)(t), [y, s]),
        (lambda y, t: ip.make_interp_spline(x, y, k=1)(t), [y, s]),
    ],
    "signal.convolve": [
        *[(lambda a, b, mode=mode: sg.convolve(a, b, mode), [line, kernel]) for mode in ("full", "same", "valid")],
        (lambda a, b: sg.convolve(a, b, "same"), [plane, small]),
        (lambda a, b: sg.convolve(a, b), [line, long]),
    ],
    "signal.correlate": [
        *[(lambda a, b, mode=mode: sg.correlate(a, b, mode), [line, kernel]) for mode in ("full", "same", "valid")],
        (lambda a, b: sg.correlate(a, b, "valid"), [kernel, line]),
    ],
    "signal.convolve2d": [
        *[
            (lambda a, b, boundary=boundary: sg.convolve2d(a, b, "same", boundary), [plane, small])
            for boundary in ("fill", "wrap", "symm")
        ],
        (lambda a, b: sg.convolve2d(a, b, fillvalue=2.0), [plane, large]),
    ],
    "signal.correlate2d": [
        (lambda a, b: sg.correlate2d(a, b, "valid"), [plane, small]),
        (lambda a, b: sg.correlate2d(a, b, "valid"), [small, plane]),
        *[(lambda a, b, boundary=boundary: sg.correlate2d(a, b, "same", boundary, 0.5), [plane, kernel[:, None] * kernel[:2]]) for boundary in ("fill", "wrap", "symm")],
    ],
    **{f"signal.{name}": [(lambda a, b, name=name, mode=mode: getattr(sg, name)(a, b, mode), [plane, small]) for mode in ("full", "same", "valid")] for name in ("fftconvolve", "oaconvolve")},
    "signal.sosfilt": [(lambda x: sg.sosfilt([[0.5, 0.2, 0.1, 1.0, -0.3, 0.1], [1.0, 0.4, 0.0, 1.0, 0.2, 0.0]], x), [line])],
    "signal.filtfilt": [
        (lambda b, a, x: sg.filtfilt(b, a, x), [np.array([0.3, 0.2]), np.array([1.0, -0.5]), line]),
        (lambda x: sg.filtfilt([0.3, 0.2, 0.1], [1.0, -0.5], x, axis=0, padlen=3), [plane]),
        (lambda x: sg.filtfilt([0.3, 0.2], 1.0, x, padtype=None), [line]),
    ],
    "signal.detrend": [(lambda x: sg.detrend(x), [line]), (lambda x: sg.detrend(x, axis=0), [plane]), (lambda x: sg.detrend(x, type="constant"), [plane])],
    "signal.savgol_filter": [
        (lambda x: sg.savgol_filter(x, 5, 2), [line]),
        (lambda x: sg.savgol_filter(x, 5, 3, deriv=1, delta=0.5, axis=0), [plane]),
        (lambda x: sg.savgol_filter(x, 5, 2, mode="nearest"), [line]),
        (lambda x: sg.savgol_filter(x, 3, 1, deriv=1, mode="wrap"), [line]),
    ],
    "signal.upfirdn": [(lambda h, x: sg.upfirdn(h, x, 3, 2), [kernel, line]), (lambda h, x: sg.upfirdn(h, x, 1, 2, axis=0), [kernel, plane])],
    "signal.resample_poly": [(lambda x: sg.resample_poly(x, 3, 2), [line]), (lambda x: sg.resample_poly(x, 2, 4, axis=1), [plane])],
    "signal.medfilt": [(lambda x: sg.medfilt(x, 3), [line]), (lambda x: sg.medfilt(x), [plane])],
    "signal.lfilter": [
        (lambda b, a, x: sg.lfilter(b, a, x), [np.array([0.3, 0.2, -0.1]), np.array([1.3, -0.5]), line]),
        (lambda b, x: sg.lfilter(b, [1.0, 0.4], x, axis=0), [np.array([0.5, 0.2]), plane]),
        (lambda x, z: sg.lfilter([0.5, 0.2], [1.0, 0.4], x, zi=z)[0], [line, np.array([0.7])]),
    ],
    "ndimage.convolve": [
        *[
            (lambda a, w, mode=mode: nd.convolve(a, w, mode=mode, cval=0.7), [plane, small])
            for mode in ("reflect", "constant", "nearest", "mirror", "wrap")
        ],
        (lambda a, w: nd.convolve(a, w, origin=(1, 0)), [plane, small]),
    ],
    "ndimage.correlate": [(lambda a, w: nd.correlate(a, w), [plane, small])],
    "ndimage.convolve1d": [
        (lambda a, w: nd.convolve1d(a, w, axis=0), [plane, kernel]),
        (lambda a, w: nd.convolve1d(a, w, mode="wrap", origin=1), [line, kernel]),
    ],
    "ndimage.correlate1d": [(lambda a, w: nd.correlate1d(a, w, axis=1, origin=-1), [plane, kernel])],
    "ndimage.gaussian_filter": [
        (lambda a: nd.gaussian_filter(a, 0.7), [plane]),
        (lambda a: nd.gaussian_filter(a, (0.7, 1.5), order=(1, 0), mode="nearest"), [plane]),
    ],
    "ndimage.gaussian_filter1d": [(lambda a: nd.gaussian_filter1d(a, 1.2, axis=0, order=2), [plane])],
    "ndimage.uniform_filter1d": [(lambda a: nd.uniform_filter1d(a, 3), [plane])],
    "ndimage.uniform_filter": [(lambda a: nd.uniform_filter(a, 3), [plane]), (lambda a: nd.uniform_filter(a, (2, 3), mode=("wrap", "nearest")), [plane])],
    **{f"ndimage.{name}": [(lambda a, name=name, axis=axis: getattr(nd, name)(a, axis, mode="mirror"), [plane]) for axis in (0, -1)] for name in ("sobel", "prewitt")},
    "ndimage.laplace": [(lambda a: nd.laplace(a), [plane])],
    "ndimage.gaussian_laplace": [(lambda a: nd.gaussian_laplace(a, 0.8), [plane])],
    "ndimage.gaussian_gradient_magnitude": [(lambda a: nd.gaussian_gradient_magnitude(a, 0.8, mode="nearest"), [plane])],
    **{
        f"ndimage.{name}": [(lambda a, name=name: getattr(nd, name)(a, 3), [plane]), (lambda a, name=name: getattr(nd, name)(a, (2, 3), mode="constant", cval=0.2), [plane]),
                            (lambda a, name=name: getattr(nd, name)(a, footprint=[[1, 0], [1, 1]], origin=(0, -1)), [plane])]
        for name in ("maximum_filter", "minimum_filter", "median_filter")
    },
    **{f"ndimage.{name}": [(lambda a, name=name: getattr(nd, name)(a, 3, axis=0, origin=1), [plane])] for name in ("maximum_filter1d", "minimum_filter1d")},
    "ndimage.map_coordinates": [
        *[(lambda a, t, mode=mode: nd.map_coordinates(a, t, order=1, mode=mode, cval=0.3), [plane, np.array([[0.3, 2.7, -1.4, 6.2, 12.3], [1.2, 3.6, 0.4, -0.7, 2.3]])])
          for mode in ("constant", "nearest", "mirror", "reflect")],
        (lambda a: nd.map_coordinates(a, [[0.3, 2.7], [1.2, 3.6]], order=0), [plane]),
    ],
    "ndimage.shift": [(lambda a, s: nd.shift(a, s, order=1), [plane, np.array([0.3, -1.2])]), (lambda a: nd.shift(a, 1.3, order=1, mode="nearest"), [line])],
    "ndimage.zoom": [(lambda a: nd.zoom(a, 2, order=1), [plane]), (lambda a: nd.zoom(a, (0.5, 1.5), order=1, mode="nearest"), [plane])],
    "ndimage.affine_transform": [(lambda a, m, o: nd.affine_transform(a, m, o, order=1, mode="nearest"), [plane, np.array([[0.9, 0.2], [-0.1, 1.1]]), np.array([0.13, -0.37])])],
    **{
        f"ndimage.{name}": [(lambda a, name=name: getattr(nd, name)(a), [plane]), (lambda a, name=name: getattr(nd, name)(a, LABELS), [plane]), (lambda a, name=name: getattr(nd, name)(a, LABELS, [0, 1, 2]), [plane])]
        for name in ("sum", "sum_labels", "mean", "variance", "standard_deviation")
    },
    "ndimage.center_of_mass": [(lambda a: np.array(nd.center_of_mass(a)), [np.abs(plane)]), (lambda a: np.array(nd.center_of_mass(a, LABELS)), [np.abs(plane)])],
}
FLAT = [(name, k) for name, cases in CASES.items() for k in range(len(cases))]


@pytest.mark.parametrize("name, k", FLAT)
def test_values_and_derivatives(name, k):
    check_case(*CASES[name][k])


CURVE = scipy.interpolate.CubicSpline(x, y)


def test_curves_made_outside_are_read_at_traced_points():
    check_case(lambda t: CURVE(t) * CURVE.integrate(0.0, t[0]), [t])


def test_what_is_not_there_is_refused_by_name():
    def outside(t):
        return np.sum(scipy.interpolate.interp1d(x, y)(t))

    with pytest.raises(rg.CheckError, match="outside the interpolation range"):
        rg.grad(outside)(np.array([9.0]))

    def quintic(v):
        return np.sum(scipy.interpolate.make_interp_spline(x, v, k=5)(1.0))

    def fourier(v):
        return np.sum(np.real(scipy.signal.hilbert(v)))

    def width(v):
        return np.sum(scipy.ndimage.gaussian_filter(y, v[0]))

    for f, words in [(quintic, "k=1 and k=3"), (fourier, "Fourier transform"), (width, "traced sigma")]:
        with pytest.raises(rg.Unsupported, match=words) as caught:
            rg.grad(f)(y)
        assert caught.value.pos[0] == __file__


def test_every_rule_has_a_case():
    assert {name for name in table.RULES if name.startswith(("interpolate.", "signal.", "ndimage."))} == set(CASES)
