#!/usr/bin/env bash
# Installs what the build, the tests and the benchmarks need. Safe to run again; fast when all is there.
#
#   tools/setup.sh            Debian packages, and the Python packages in .deps/venv
#   tools/setup.sh --rivals   the same, and tries again to install rivals that failed before
#
# PYTHON names the interpreter that makes the venv (default: python3).
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
venv=.deps/venv
retry_rivals=no
case "${1:-}" in
    "") ;;
    --rivals) retry_rivals=yes ;;
    *) echo "usage: tools/setup.sh [--rivals]" >&2; exit 2 ;;
esac

# Names of the Debian packages that are missing or too old, one per line.
missing_debian_packages() {
    local name minimum installed
    declare -A version_of=()
    while read -r name installed; do
        version_of[${name%%:*}]=$installed
    done < <(dpkg-query -W -f '${db:Status-Abbrev} ${Package} ${Version}\n' \
                 $(sed 's/#.*//; s/ .*//' tools/requirements-debian.txt) 2>/dev/null |
             sed -n 's/^ii *//p')
    while read -r name minimum; do
        installed=${version_of[$name]:-}
        installed=${installed#*:}  # without the epoch
        if [[ -z $installed ]] || dpkg --compare-versions "$installed" lt "$minimum"; then
            echo "$name"
        fi
    done < <(sed 's/#.*//; /^ *$/d' tools/requirements-debian.txt)
}

install_debian_packages() {
    if ! command -v dpkg-query >/dev/null; then
        echo "setup: not a Debian system; install the equivalents of these yourself:" >&2
        sed 's/#.*//; /^ *$/d; s/^/    /' tools/requirements-debian.txt >&2
        return 0
    fi
    local missing
    missing=$(missing_debian_packages | tr '\n' ' ')
    [[ -z $missing ]] && return 0
    if [[ $(id -u) -ne 0 ]]; then
        echo "setup: Debian packages are missing or too old. Run this, then try again:" >&2
        echo "    sudo apt-get update && sudo apt-get install -y --no-install-recommends $missing" >&2
        exit 1
    fi
    echo "setup: installing $missing"
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing; } >&2
    missing=$(missing_debian_packages | tr '\n' ' ')
    if [[ -n $missing ]]; then
        echo "setup: this release of Debian has no new enough version of: $missing" >&2
        exit 1
    fi
}

# The list, and where the venv stands, since its scripts hold that path.
hash_of() {
    { cat "$1"; pwd -P; } | sha256sum | cut -d ' ' -f 1
}

pip_install() {
    "$venv/bin/python" -m pip install --quiet --no-input --disable-pip-version-check -r "$1"
}

install_build_packages() {
    local list=tools/requirements-build.txt stamp=.deps/build.stamp hash
    hash=$(hash_of "$list")
    [[ -f $stamp && $(<"$stamp") == "$hash" ]] && "$venv/bin/python" -c '' && return 0
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        echo "setup: $python is older than 3.11; name a newer one in PYTHON" >&2
        exit 1
    fi
    if [[ -e .deps && ! -w .deps ]]; then
        echo "setup: .deps belongs to another user and is of no use to this one; remove it" >&2
        exit 1
    fi
    echo "setup: installing $list into $venv"
    rm -rf "$venv" .deps/*.stamp
    mkdir -p .deps
    "$python" -m venv "$venv"
    pip_install "$list"
    echo "$hash" >"$stamp"
}

install_rivals() {
    local list=tools/requirements-rivals.txt stamp=.deps/rivals.stamp hash known=""
    hash=$(hash_of "$list")
    [[ -f $stamp ]] && known=$(<"$stamp")
    [[ $known == "$hash" ]] && return 0
    [[ $known == "failed $hash" && $retry_rivals == no ]] && return 0
    echo "setup: installing $list into $venv"
    if pip_install "$list"; then
        echo "$hash" >"$stamp"
    else
        echo "failed $hash" >"$stamp"
        echo "setup: warning: no rivals to benchmark against; tools/setup.sh --rivals tries again" >&2
    fi
}

install_debian_packages
install_build_packages
install_rivals
