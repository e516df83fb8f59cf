"""The page about SciPy is made of the table."""

import os
import pathlib

import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.sparse.linalg
import scipy.spatial.distance
import scipy.special
import scipy.stats
from test_scipy_special import BOUNDS

from retrograd.scipy import page, table

PAGE = pathlib.Path(__file__).parents[1] / "SCIPY.md"


def test_page_is_current():
    table._bind()
    text = page.markdown(BOUNDS)
    if os.environ.get("BLESS"):
        PAGE.write_text(text)
    assert PAGE.read_text() == text, "run BLESS=1 pytest python/tests/test_scipy_page.py"


def test_every_name_of_the_table_is_one_of_scipy():
    # Not in every version.
    known = {"special.softplus"}
    assert (
        scipy.special
        and scipy.stats
        and scipy.linalg
        and scipy.ndimage
        and scipy.signal
        and scipy.optimize
        and scipy.integrate
        and scipy.interpolate
        and scipy.spatial
    )
    names = [*table.RULES, *table.REFUSED, *table.CLASSES]
    assert [name for name in names if table._named(name) is None and name not in known] == []
