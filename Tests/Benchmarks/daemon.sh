# What the benchmarks of the daemon share: a gateway on core 1, a daemon on core 0, and apps. Sourced after common.sh, with
# `build` (the C programs), `program` (pushspool) and `folder` set.

sink=
daemon=
token_endpoint=
readonly run="$folder/run"

# Ends what runs. For a trap.
end_all() {
    local process
    for process in $daemon $sink $token_endpoint; do kill "$process" 2>/dev/null || true; done
    wait
    rm -rf "$folder"
}

# Clears the folder of the last round. Its files are only put aside if `aside` is set: ext4 searches past all inodes that were freed
# in the last minutes for each file that a program creates, and a daemon with many apps creates more than one with few.
clear_run() {
    if [ -n "${aside:-}" ] && [ -e "$run" ]; then mv "$run" "$(mktemp -d "$folder/ended.XXXXXX")"; else rm -rf "$run"; fi
}

stop() {
    printf 'error: %s\n' "$1" >&2
    [ ! -s "$folder/log" ] || tail -n 20 "$folder/log" >&2
    exit 1
}

# Starts a gateway for a transport; sets `port`.
start_sink() {
    local announcement
    exec {sink_lines}< <(pinned 1 "$build/gateway-sink" "$1" 0 \
        "$folder/localhost.pem" "$folder/localhost.key" "$folder/ca.pem" "${@:2}")
    sink=$!
    read -r announcement <&"$sink_lines"
    port=${announcement//[^0-9]/}
}

# Asks the gateway for what came since the last time; sets `counted`.
ask_sink() {
    kill -USR1 "$sink"
    read -r counted <&"$sink_lines"
}

# Ends the gateway; sets `counted` to what came since it was asked.
stop_sink() {
    kill -TERM "$sink"
    read -r counted <&"$sink_lines"
    wait "$sink"
    sink=
    exec {sink_lines}<&-
}

# Writes the configuration of a daemon and of so many apps, each bench or bench-0001 and so on, in a folder of its own. They
# present a certificate, or what `credentials` says; those of FCM get their access tokens from a simulator. In the sandbox each answer would be searched for Apple's own id.
# The binary protocol's silence is as short as can be: what it proves costs no processor time, but seconds.
configure() {
    local -r transport=$1 app_count=${2:-1}
    local app binary= identity=${credentials:-"{certificate: $folder/client.pem, key: $folder/client.key}"}
    [ "$transport" != binary ] || binary='binary: {confirm_after: 100ms}'
    clear_run
    mkdir -p "$run/apps" "$run/spool"
    printf 'spool: spool\nstate: state\napps: apps\nnode: bench\n' >"$run/pushspool.yaml"
    if [ "$transport" = fcm ]; then
        configure_fcm "$app_count"
        return
    fi
    for app in $(apps "$app_count"); do
        cat >"$run/apps/$app.yaml" <<END
protocol: $transport
environment: production
topic: com.example.benchmark
credentials: $identity
gateway: localhost:$port
trust: $folder/ca.pem
$binary
END
    done
}

configure_fcm() {
    local app
    [ -n "$token_endpoint" ] || start_token_endpoint
    for app in $(apps "$1"); do
        cat >"$run/apps/$app.yaml" <<END
protocol: fcm
credentials: {service_account: $folder/tokens/service-account.json}
gateway: localhost:$port
token_gateway: localhost:$token_port
rate: null
trust: $folder/both-authorities.pem
END
    done
}

# Starts a simulator, which gives access tokens; sets `token_port`.
start_token_endpoint() {
    local line
    exec {token_lines}< <(pinned 1 "$program" simulate --certificates "$folder/tokens" 2>"$folder/tokens.log")
    token_endpoint=$!
    while read -r line <&"$token_lines"; do
        case $line in '# token_gateway: '*) break ;; esac
    done
    token_port=${line##*:}
    cat "$folder/ca.pem" "$folder/tokens/ca.pem" >"$folder/both-authorities.pem"
}

# The names of so many apps.
apps() {
    if [ "$1" -eq 1 ]; then echo bench; else seq --format='bench-%04g' 1 "$1"; fi
}

# Starts the daemon on core 0, or on all if `on_all_cores` is set, and waits until all apps have their folders.
start_daemon() {
    local -r app_count=${1:-1} deadline=$((SECONDS + 120))
    if [ -n "${on_all_cores:-}" ]; then
        "$program" run --config "$run/pushspool.yaml" >"$folder/log" 2>&1 &
    else
        pinned 0 "$program" run --config "$run/pushspool.yaml" >"$folder/log" 2>&1 &
    fi
    daemon=$!
    while [ "$(made_folders)" -lt $((2 * app_count)) ]; do
        kill -0 "$daemon" 2>/dev/null || stop "the daemon ended"
        [ "$SECONDS" -lt "$deadline" ] || stop "the daemon did not start"
        sleep 0.02
    done
}

# How many folders for producers there are: two for each app.
made_folders() (
    shopt -s nullglob
    folders=("$run"/spool/*/{new,tmp})
    echo "${#folders[@]}"
)

stop_daemon() {
    kill -TERM "$daemon"
    wait "$daemon" || stop "the daemon did not end well"
    daemon=
}

# Drops what is staged and waits until it is done; sets `used`. Stops if anything was not accepted. `drop_jobs at-once` stops
# the daemon meanwhile.
drop_jobs() {
    used=$(pinned 1 "$build/drop-jobs" "$run/spool" "$daemon" "$@") || stop "not all jobs were done"
    ! compgen -G "$run/spool/*/done/*/*.result.json" >/dev/null || stop "something was refused"
}

# Stops unless the gateway counted so many notifications.
require_count() {
    [ "$(field "$counted" notifications)" = "$1" ] || stop "the gateway did not get $1 notifications: $counted"
}
