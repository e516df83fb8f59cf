# Makes .venv and installs into it what is asked for. Sourced by `run`, `test` and `bench/run`, from the root of the project.
# A fresh machine has Rust, Python 3 and a C compiler; everything else comes from here.
set -euo pipefail
prepare() {
    [ -x .venv/bin/python ] || python3 -m venv .venv
    .venv/bin/python -m pip install --quiet --disable-pip-version-check "maturin>=1.9,<2" "numpy>=2.1" "$@"
    export VIRTUAL_ENV="$PWD/.venv" PATH="$PWD/.venv/bin:$PATH"
}
