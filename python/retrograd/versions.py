"""What a report of a problem should say."""

import os
import sys


def show_versions() -> None:
    """Prints the versions of Retrograd, Python, NumPy and the packages whose arrays it takes, and what machine this is; nothing is imported for it.

        >>> rg.show_versions()                    # doctest: +ELLIPSIS
        retrograd ...
    """
    import importlib.metadata
    import platform

    for name in ("retrograd", "numpy", "scipy", "pandas", "jax", "torch"):
        try:
            print(name, importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            print(name, "not installed")
    print("python", sys.version.split()[0])
    print("machine", platform.platform(), platform.machine(), f"{os.cpu_count()} cores")
