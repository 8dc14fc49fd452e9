# The clients of the HTTP/2 benchmarks. Sourced after common.sh, with `driver`, `requests` and `body_size`. With `transport=fcm`
# they send FCM's requests instead of Apple's.

# What h2load sends: a body as long as ours, and as many different tokens, each in a path of its own.
make_load() {
    local padding
    padding=$(printf 'x%.0s' {1..216})
    printf '{"aps":{"alert":"%s"}}' "$padding" >"$folder/body"
    [ "$(stat --format=%s "$folder/body")" = "$body_size" ] || stop "the body has the wrong length"
    awk 'BEGIN {
        srand(1)
        for (token = 0; token < 1024; token++) {
            path = "/3/device/"
            for (digit = 0; digit < 64; digit++) path = path sprintf("%x", int(rand() * 16))
            print path
        }
    }' >"$folder/paths"
    # As long as a provider token with its `bearer `: 191 characters.
    bearer="bearer $(openssl rand -base64 138 | tr -d '\n' | tr '+/' '-_')"
    [ "${#bearer}" = 191 ] || stop "the provider token has the wrong length"
}

# The same for FCM, whose tokens are in the body: one path, a body of 424 bytes, and an access token of 1,024 characters.
make_fcm_load() {
    local token text
    token=$(openssl rand -base64 123 | tr -d '\n' | tr '+/' '-_' | cut -c 1-163)
    text=$(printf 'x%.0s' {1..210})
    printf '{"message":{"token":"%s","notification":{"body":"%s"}}}' "$token" "$text" >"$folder/fcm-body"
    [ "$(stat --format=%s "$folder/fcm-body")" = 424 ] || stop "the message has the wrong length"
    fcm_bearer="Bearer $(openssl rand -base64 768 | tr -d '\n' | tr '+/' '-_')"
    [ "${#fcm_bearer}" = 1031 ] || stop "the access token has the wrong length"
}

# The clients; each prints what it has to say about its requests, and gets the sink's port.
run_h2load() {
    if [ "${transport:-http2}" = fcm ]; then
        pinned 0 h2load --clients=1 --max-concurrent-streams=100 --requests="$requests" --data="$folder/fcm-body" \
            --header='content-type: application/json' --header="authorization: $fcm_bearer" \
            "https://localhost:$1/v1/projects/benchmark/messages:send"
        return
    fi
    sed "s,^,https://localhost:$1," "$folder/paths" >"$folder/uris"
    pinned 0 h2load --clients=1 --max-concurrent-streams=1000 --requests="$requests" --data="$folder/body" \
        --input-file="$folder/uris" --header='apns-topic: com.example.benchmark' --header='apns-push-type: alert' \
        --header='apns-priority: 10' --header='apns-expiration: 2000000000' \
        --header='apns-id: 00112233-4455-8677-8899-aabbccddeeff' --header="authorization: $bearer"
}
run_pushspool() {
    local -r port=$1
    shift
    pinned 0 "$driver" "${transport:-http2}" localhost "$port" "$folder/client.pem" "$folder/client.key" "$folder/ca.pem" "$requests" "$@"
}

# Stops unless a client says that all its requests were answered with 200.
require_answers() {
    case $1 in
    h2load) grep --quiet "^status codes: $2 2xx" <<<"$3" ;;
    *) grep --quiet "\"outcomes\":{\"accepted\":$2}" <<<"$3" ;;
    esac || stop "not all requests of $1 were accepted: $3"
}
