# What the benchmarks' scripts share. Sourced, after `folder` was set to a folder that is deleted afterwards.

# Prints what went wrong, and ends.
stop() {
    printf 'error: %s\n' "$1" >&2
    exit 1
}

# Prints a port of 127.0.0.1 that nobody listens on, for servers that cannot choose one themselves.
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# Waits until something listens on a port, for 10 s at most.
await_port() {
    local tries
    for ((tries = 0; tries < 200; tries++)); do
        if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
        sleep 0.05
    done
    tail -n 20 "$folder"/*log >&2
    stop "nothing listens on port $1"
}

# Makes an authority, and from it the identities of a server (localhost) and of a client.
make_certificates() {
    local name
    local -r curve=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1)
    openssl req -x509 "${curve[@]}" -subj "/CN=Benchmark authority" \
        -keyout "$folder/ca.key" -out "$folder/ca.pem" 2>/dev/null
    for name in localhost client; do
        openssl req -x509 "${curve[@]}" -CA "$folder/ca.pem" -CAkey "$folder/ca.key" \
            -subj "/CN=$name" -addext "subjectAltName=DNS:$name" -addext "basicConstraints=critical,CA:FALSE" \
            -keyout "$folder/$name.key" -out "$folder/$name.pem" 2>/dev/null
    done
}

# Runs a command on one core, or anywhere when the machine has but one.
pinned() {
    local -r core=$1
    shift
    if [ "$(nproc)" -gt 1 ]; then exec taskset --cpu-list "$core" "$@"; else exec "$@"; fi
}

# The machine, in one line.
describe_machine() {
    printf '%s, %s cores, Linux %s, %s' "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
        "$(nproc)" "$(uname -r)" "$(openssl version | cut -d ' ' -f 1-2)"
}

# The number that a key has in a line of JSON, where it comes first.
field() { grep --only-matching "\"$2\":[0-9.]*" <<<"$1" | head -n 1 | cut -d : -f 2; }

# The lines of the results that hold a text, the one with the lowest value of a key first.
ranked() {
    awk -v text="$1" -v key="\"$2\":" 'index($0, text) && (at = index($0, key)) {
        print substr($0, at + length(key)) + 0, $0 }' "$folder/results" | sort --numeric-sort | cut -d ' ' -f 2-
}

# Of those lines the first, and the one in the middle.
best() { ranked "$1" "$2" | sed -n 1p; }
middle() {
    local lines
    lines=$(ranked "$1" "$2")
    sed -n "$((($(wc -l <<<"$lines") + 1) / 2))p" <<<"$lines"
}

# A term as a number with so many digits behind the point.
term() { awk "BEGIN { printf \"%.$1f\", $2 }"; }

# Whether a condition holds: yes or no.
verdict() { awk "BEGIN { print ($1) ? \"yes\" : \"no\" }"; }

# Whether it holds in the best rounds and in the middle ones.
verdict_of_both() {
    local -r best=$(verdict "$1") middle=$(verdict "$2")
    case $best$middle in
    yesyes) echo yes ;;
    nono) echo no ;;
    yesno) echo 'best round only' ;;
    *) echo 'median only' ;;
    esac
}

# Adds a row to the table of all numbers: row, target, measured, peer, ratio, sink share, met.
note_row() {
    local IFS=$'\t'
    printf '%s\n' "$*" >>"${ROWS:-/dev/null}"
}

# Writes machine, what else is given, and all results to the file of figures, if there is one.
write_figures() {
    [ -z "$json" ] || printf '{"machine":"%s",%s,"runs":[%s]}\n' \
        "$(describe_machine)" "$1" "$(paste --serial --delimiters=, "$folder/results")" >"$json"
}
