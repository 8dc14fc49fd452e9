# What the benchmarks' scripts share. Sourced, after `folder` was set to a folder that is deleted afterwards.

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
