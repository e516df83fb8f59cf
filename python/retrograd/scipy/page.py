"""The page of the documentation about SciPy's functions, made of the table."""

from . import table
from .stats import TABLE

_TITLES = {
    "special": "`scipy.special`",
    "stats": "`scipy.stats`",
    "linalg": "`scipy.linalg`",
    "integrate": "`scipy.integrate`",
    "interpolate": "`scipy.interpolate`",
    "signal": "`scipy.signal`",
    "ndimage": "`scipy.ndimage`",
    "spatial": "`scipy.spatial.distance`",
    "sparse": "`scipy.sparse`",
    "optimize": "`scipy.optimize`",
}
_METHODS = {False: "pdf, logpdf, cdf, logcdf, sf, logsf, ppf, isf", True: "pmf, logpmf, cdf, logcdf, sf, logsf"}


def markdown(bounds):
    """The page; `bounds` are the largest errors in ULP that the tests allow."""
    lines = [
        "# SciPy on traced arrays",
        "",
        "Made by `BLESS=1 pytest python/tests/test_scipy_page.py` from the table of functions; a test holds it current.",
        "",
        "Values are held against SciPy, those of `scipy.special` against numbers made by mpmath; derivatives of first and second order against finite",
        "differences. Keywords are implemented or refused by name. Where all elements of the arguments are known, SciPy itself computes. Nothing imports",
        "SciPy but you. `rg.root`, `rg.fixed_point` and `rg.minimize` take the place of `scipy.optimize`.",
        "",
    ]
    for topic, title in _TITLES.items():
        rows = sorted(name for name in table.RULES if name.startswith(f"{topic}."))
        refused = {}
        for name, why in table.REFUSED.items():
            if name.startswith(f"{topic}."):
                refused.setdefault(why, []).append(name)
        lines += [f"## {title}", ""]
        if topic == "special":
            lines += [
                "Errors in units in the last place, of oscillating functions in those of their amplitude. There is no derivative by an order: it is a known",
                "number, of Bessel functions any from -50 to 50. Of incomplete functions the derivative by x is the density, that by a shape follows the series or continued fraction of the value; that of",
                "an inverse is by the implicit function theorem. At infinity Bessel functions and densities have their limit where SciPy has NaN.",
                "",
            ]
            lines += [
                "| function | ULP | how |",
                "|---|---|---|",
                *(f"| `{_short(name)}` | {_bound(bounds, _short(name))} | {_how(name)} |" for name in rows),
                "",
            ]
        elif topic == "stats":
            lines += [
                "Each with `loc` and `scale`, called, frozen, or frozen outside.",
                "",
                "| distribution | shapes | methods |",
                "|---|---|---|",
            ]
            lines += [
                f"| `{name}` | {', '.join(row.shapes) or '–'} | {_methods(row)} |"
                for name, row in TABLE.items()
            ]
            lines += [
                "| `multivariate_normal` | mean, cov | pdf, logpdf, entropy |",
                "| `multivariate_t` | loc, shape, df | pdf, logpdf |",
                "| `wishart` | df, scale | pdf, logpdf |",
                "| `multinomial` | n, p | pmf, logpmf |",
                "| `dirichlet` | alpha | pdf, logpdf |",
                "",
                "| function of samples | how |",
                "|---|---|",
                *(f"| `{_short(name)}` | {_how(name)} |" for name in rows),
                "",
            ]
        elif rows:
            lines += ["| function | how |", "|---|---|", *(f"| `{_short(name)}` | {_how(name)} |" for name in rows), ""]
        if refused:
            lines += [
                "| refused | why |",
                "|---|---|",
                *(f"| {', '.join(f'`{_short(name)}`' for name in names)} | {why} |" for why, names in refused.items()),
                "",
            ]
    return "\n".join(lines)


def _methods(row):
    """The methods that a distribution has."""
    names = _METHODS[row.discrete].split(", ") if row.discrete or "cdf" in row.given else ["pdf", "logpdf"]
    names += [*(["median"] if not row.discrete and "ppf" in row.given else []), *(name for name, rule in row.moments.items() if rule)]
    return ", ".join([*names, *(["std"] if row.moments.get("var") else [])])


def _short(name):
    return name.split(".")[-1]


def _bound(bounds, name):
    found = [bound for key, bound in bounds.items() if key == name or key.rstrip("0123456789") == name and key != name]
    return str(max(found)) if found else "–"


def _how(name):
    """The first sentence of what is said at the rule."""
    rule = table.RULES[name][0]
    text = " ".join((rule.__doc__ or "").split())
    return text.split(". ")[0].rstrip(".").replace("|", "\\|") if text else ""
