# What the scripts of the doors share: a simulated gateway, a daemon and a door, and what came out at the gateway. Sourced first,
# with the script's arguments: PUSHSPOOL, with pushspool-door beside it, and a PYTHON that has what requirements.txt asks for.
readonly program=$1 python=$2 topic=com.example.weather
# shellcheck source=common.sh
. ./common.sh
good=$(printf 'ab%.0s' {1..32}) other=$(printf 'cd%.0s' {1..32})
readonly good other

# Waits for a line in a program's log.
await() {
    local tries
    for ((tries = 0; tries < 400; tries++)); do
        if grep --quiet -- "$2" "$folder/$1.log" 2>/dev/null; then return; fi
        sleep 0.05
    done
    cat "$folder/$1.log" >&2
    exit 1
}

# Starts a gateway and a daemon with the app weather. Arguments: more options for the gateway.
# shellcheck disable=SC2120  # Not every script has some.
start_gateway() {
    mkdir -p "$folder"/{apps,spool,run,doorstate}
    start simulator "$program" simulate --certificates "$folder/certificates" --topic "$topic" \
        --ledger "$folder/ledger.jsonl" "$@"
    await simulator '^gateway: .*:[0-9]*$'
    sed '/^$/q' "$folder/simulator.log" >"$folder/apps/weather.yaml"
    printf 'spool: spool\nstate: state\ncontrol: {folder: run}\n' >"$folder/pushspool.yaml"
    start daemon "$program" run --config "$folder/pushspool.yaml"
    await daemon 'app started'
}

# Starts a door. Reads its doors.yaml, but for the folders.
start_door() {
    { printf 'spool: spool\nstate: doorstate\n' && cat; } >"$folder/doors.yaml"
    run_door
}

run_door() {
    # `await` must not read the log of the last run.
    rm -f "$folder/door.log"
    start door "$program-door" run --config "$folder/doors.yaml"
    door=${started[-1]}
    await door ' started path='
}

# The port of a door, by the word in the log. Arguments: the word, and the name of another process than `door`.
port_of() { sed -n "s/.* $1 listens path=.*:\([0-9]*\)\$/\1/p" "$folder/${2:-door}.log"; }

# A Python package and its version.
version_of() { "$python" -c 'import sys; from importlib.metadata import version; print(sys.argv[1], version(sys.argv[1]))' "$1"; }

# Makes a key for a producer of the relay: fleet.p8, and its public half fleet.pem.
make_producer() {
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$folder/fleet.p8" 2>/dev/null
    openssl pkey -in "$folder/fleet.p8" -pubout -out "$folder/fleet.pem"
}

# A provider token of that key, signed by PyJWT.
sign() {
    "$python" - "$folder/fleet.p8" <<'END'
import sys, time, jwt
print(jwt.encode({"iss": "FLEETTEAM1", "iat": int(time.time())}, open(sys.argv[1]).read(), "ES256", {"kid": "DOORKEY001"}))
END
}

# How many notifications the relay's jobs in done/ have.
sent() { cat "$folder"/spool/weather/done/*/relay-*.jsonl 2>/dev/null | grep --count '"token"' || true; }

# Waits until so many were sent in all.
check_sent() {
    local tries
    for ((tries = 0; tries < 400; tries++)); do
        if [ "$(sent)" -ge "$2" ]; then break; fi
        sleep 0.05
    done
    check "$1" "^$2$" "$(sent)"
}

# How many jobs with names of a door the spool has. A job that moves on in the meantime is in the next folder.
jobs_of() {
    (cd "$folder/spool/weather" && find new work done failed -type f) |
        { grep --only-matching "$1-[0-9a-f]\{16\}" || true; } | sort --unique | wc -l
}

# What came out at the gateways: in each line four characters of a token and a payload, or of an FCM address and a message
# without its address and its expirations.
at_gateway() {
    jq --raw-output 'if .target then .address[:4] + " " + (.payload | fromjson | .message |
        del(.token, .topic, .android.ttl, .apns.headers["apns-expiration"]) | tojson)
        else .token[:4] + " " + .payload end' "$folder/ledger.jsonl"
}

# Waits until a line came out at the gateway exactly once.
check_gateway() {
    local tries
    for ((tries = 0; tries < 200; tries++)); do
        if at_gateway | grep --quiet --line-regexp --fixed-strings -- "$2"; then break; fi
        sleep 0.05
    done
    check "$1" '^1$' "$(at_gateway | grep --count --line-regexp --fixed-strings -- "$2")"
}

# Kills the door and starts it once more, with the same state.
kill_door() {
    kill -KILL "$door"
    wait "$door" 2>/dev/null || true
    run_door
}

# Ends the door, and the script.
finish_door() {
    kill -TERM "$door"
    wait "$door" && ended=0 || ended=$?
    check 'the door ends as it is told' '^0$' "$ended"
    finish
}
