#!/bin/sh
# Prepare this folder for work: virtual environment, pinned packages, Java, jars.
# Running it again does only what is missing; a stamp in .venv, keyed by the pinned versions, tells.
#
#   scripts/setup.sh browser               install Chromium too, for the tests of the web pages
#   scripts/setup.sh dbt|airflow|dagster|tpcds
#                                          an environment for one of these too, over the other one
#   PYTHON=python3.12 scripts/setup.sh     choose the interpreter
#   STREAMTABLES_SKIP_JAVA=1               leave Java and the jars alone (no Spark)

set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

new_enough='import sys; sys.exit(0 if sys.version_info >= (3, 11) else 1)'

find_python() {
    for candidate in ${PYTHON:-} python3 python3.12 python3.11 python3.13 python; do
        if command -v "$candidate" >/dev/null 2>&1 && "$candidate" -c "$new_enough" 2>/dev/null; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

java_major() {
    java_command="${JAVA_HOME:+$JAVA_HOME/bin/}java"
    command -v "$java_command" >/dev/null 2>&1 || return 1
    "$java_command" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1
}

# Install a package of the system where that is allowed: as root, or by sudo without a password.
install_package() {
    command -v apt-get >/dev/null 2>&1 || return 1
    if [ "$(id -u)" = 0 ]; then as_root=""
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then as_root="sudo -n"
    else return 1; fi
    say "setup: installing $2 ($1)"
    export DEBIAN_FRONTEND=noninteractive
    $as_root apt-get update -qq >/dev/null 2>&1 || true
    $as_root apt-get install -y -qq --no-install-recommends "$1" >/dev/null 2>&1
}

install_java() { install_package openjdk-17-jre-headless "Java 17"; }

has_browser() {
    for candidate in chromium chromium-browser google-chrome; do
        command -v "$candidate" >/dev/null 2>&1 && return 0
    done
    return 1
}

# Only the tests of the pages need it, and they say so where it is missing.
setup_browser() { has_browser || install_package chromium "a browser" || true; }

setup_packages() {
    if [ ! -x .venv/bin/python ] || ! .venv/bin/python -c "$new_enough" 2>/dev/null; then
        python=$(find_python) || fail "Python 3.11 or newer is needed; install it, or name it: make setup PYTHON=/path/to/python3"
        say "setup: making .venv with $("$python" --version)"
        rm -rf .venv
        "$python" -m venv .venv || fail "this Python cannot make virtual environments; install its venv module (Debian: python3-venv)"
    fi
    # The project's own file counts too: entry points and package data come from it.
    wanted=$(cat constraints.txt pyproject.toml | .venv/bin/python -c 'import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())')
    [ "$(cat .venv/.installed 2>/dev/null || true)" = "$wanted" ] && return 0
    say "setup: installing the pinned packages (a few minutes the first time)"
    # The list is complete; with dependencies, pip would look for newer versions of what has an extra.
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r constraints.txt
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
    printf '%s\n' "$wanted" > .venv/.installed
}

setup_java() {
    major=$(java_major) || major=""
    if [ -z "$major" ] || [ "$major" -lt 17 ]; then
        install_java || true
        major=$(java_major) || major=""
    fi
    if [ -z "$major" ] || [ "$major" -lt 17 ]; then
        fail "Java 17 or newer is needed by Spark; install it (Debian, Ubuntu: apt-get install openjdk-17-jre-headless) or set JAVA_HOME, then run make setup again"
    fi
}

setup_jars() {
    # Asked each time, because the jars live outside this folder and may have gone. The warehouse
    # that is named does not exist, so that nobody's own catalog decides about the set-up.
    doctor=".venv/bin/streamtables doctor --warehouse .venv/none"
    $doctor >/dev/null 2>&1 && return 0
    say "setup: fetching the Delta and PostgreSQL jars"
    $doctor --fix || fail "the machine is not ready; the lines above say what is missing"
}

# Some frameworks want other versions of some packages: those that differ are in .venv/NAME, all
# others below it.
setup_over() {
    wanted=$(cat "constraints-$1.txt" .venv/.installed | .venv/bin/python -c 'import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())')
    [ "$(cat ".venv/$1/.installed" 2>/dev/null || true)" = "$wanted" ] && return 0
    say "setup: installing $1, in an environment of its own"
    rm -rf ".venv/$1"
    .venv/bin/python -m venv ".venv/$1"
    below=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    above=$(".venv/$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    printf 'import site; site.addsitedir("%s")\n' "$below" > "$above/below.pth"
    ".venv/$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r "constraints-$1.txt"
    printf '%s\n' "$wanted" > ".venv/$1/.installed"
}

setup_packages
if [ -z "${STREAMTABLES_SKIP_JAVA:-}" ]; then
    setup_java
    setup_jars
fi
if [ "${1:-}" = browser ]; then setup_browser; fi
case "${1:-}" in dbt|airflow|dagster|tpcds) setup_over "$1" ;; esac
