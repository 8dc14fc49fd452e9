# What the interop scripts share. Sourced first; makes `folder`, which is deleted at the end, and stops what was started.
# shellcheck source=../Benchmarks/common.sh
. ../Benchmarks/common.sh

folder=$(mktemp -d)
started=()
failures=0

cleanup() {
    local process
    for process in "${started[@]}"; do kill "$process" 2>/dev/null || true; done
    wait
    rm -rf "$folder"
}
trap cleanup EXIT

# Starts a program in the background, its output in a log of its own; cleanup ends it.
start() {
    local -r name=$1
    shift
    "$@" >"$folder/$name.log" 2>&1 &
    started+=($!)
}

# Says how a check came out. Arguments: what it proves, what was wanted as a pattern, what came.
check() {
    if grep --quiet --extended-regexp -- "$2" <<<"$3"; then
        printf 'ok: %s\n' "$1"
    else
        printf 'FAILED: %s\n    wanted: %s\n    came:   %s\n' "$1" "$2" "$3"
        failures=$((failures + 1))
    fi
}

# Ends the script: well if every check was.
finish() {
    [ "$failures" = 0 ] || { printf '%s checks failed\n' "$failures" >&2; exit 1; }
}
