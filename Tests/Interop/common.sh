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

# Prints a port of 127.0.0.1 that nobody listens on, for servers that cannot choose one themselves.
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# Starts a program in the background, its output in a log of its own; cleanup ends it.
start() {
    local -r name=$1
    shift
    "$@" >"$folder/$name.log" 2>&1 &
    started+=($!)
}

# Waits until something listens on a port, for 10 s at most.
await_port() {
    local tries
    for ((tries = 0; tries < 200; tries++)); do
        if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
        sleep 0.05
    done
    printf 'error: nothing listens on port %s\n' "$1" >&2
    tail -n 20 "$folder"/*.log >&2
    exit 1
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
