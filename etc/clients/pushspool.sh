# shellcheck shell=sh
# Drops jobs into a spool of pushspool, and reads what became of them: functions for any POSIX shell.
#
#   . ./pushspool.sh
#   name=$(pushspool_submit /var/spool/pushspool weather job.json)
#   generate | pushspool_submit /var/spool/pushspool weather - campaign.jsonl
#   pushspool_wait /var/spool/pushspool weather "$name" 60
#   pushspool_feedback /var/spool/pushspool weather 'select(.verdict == "gone") | [.token, .gone_since]'
#   pushspool_consume /var/spool/pushspool weather >>feedback.jsonl
#
# They need coreutils or busybox, and run in subshells, so that all variables are their own. Each says on standard error
# what went wrong and what to try, and returns 0 when all is well, 64 for wrong usage, 65 when the input is at fault, 75
# when it may work later. pushspool-spool(7) tells what the folders are for, pushspool-feedback(5) what comes back.

# pushspool_submit SPOOL APP FILE|- [NAME]
#
# Drops one job so that the daemon sees it whole or not at all, and prints the name it was dropped by: 17 characters
# before the ending make it one that nobody else has. NAME is FILE's own unless given, or stdin.json; its ending tells
# the format, "urgent-" or "bulk-" at its start asks for a lane.
#
# The job is copied to tmp/, synced, renamed into new/ without replacing anything, and new/ is synced: after that, a
# power loss cannot take it. PUSHSPOOL_SYNC=no leaves the syncs out. When it fails, nothing was dropped, unless it says
# so. A pipe whose writer dies looks like one that is done: give the job a `count`, or write it to a file first.
pushspool_submit() (
    LC_ALL=C
    export LC_ALL
    if [ $# -lt 3 ] || [ $# -gt 4 ]; then
        pushspool_fail 64 "wrong number of arguments" "pushspool_submit SPOOL APP FILE|- [NAME]"
    fi
    home=$(pushspool_home "$1" "$2") || exit
    file=$3
    case $file in
    -) name=${4:-stdin.json} ;;
    *) name=${4:-${file##*/}} ;;
    esac
    pushspool_check_name "$name" || exit
    if [ "$file" != - ] && { [ -d "$file" ] || [ ! -r "$file" ]; }; then
        pushspool_fail 65 "$file is no file that can be read" "check the path and its permissions"
    fi
    staged=
    trap 'test -z "$staged" || rm -f "$staged"' EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    staged=$(pushspool_stage "$home") || exit
    # Exactly so whatever the umask is: the daemon, another user, must be able to read it. Nobody else gets into new/.
    chmod 644 "$staged" || pushspool_fail 75 "$staged cannot be given its mode" "look after the filesystem"
    if [ "$file" = - ]; then cat; else cat <"$file"; fi >"$staged" ||
        pushspool_fail 75 "the job cannot be copied to $staged" "free some space and submit again"
    [ -s "$staged" ] || pushspool_fail 65 "the job is empty" "write what pushspool-job(5) says"
    pushspool_sync "$staged" || pushspool_fail 75 "$staged cannot be synced" "look after the disk, then submit again"
    published=$(pushspool_publish "$staged" "$home/new" "$name") || exit
    staged=
    if ! pushspool_sync "$home/new"; then
        # The job is taken back, unless the daemon has claimed it: then it is in its journal.
        if rm "$home/new/$published" 2>/dev/null; then
            pushspool_fail 75 "$home/new cannot be synced" "look after the disk, then submit again"
        elif [ -e "$home/new/$published" ]; then
            pushspool_fail 75 "$home/new cannot be synced, and $published not be taken back" \
                "look for it there before you submit it again"
        fi
    fi
    printf '%s\n' "$published"
)

# pushspool_wait SPOOL APP NAME [SECONDS]
#
# Waits until a job is over, or held, 300 seconds at most, and prints where it is: its state (done, failed, held) and,
# from the spool on, its path. Below that comes its result file, if it has one; without one everything was accepted.
# Returns 0 if everything was accepted, 65 if not, 75 if it is not over in time. done/ and failed/ are for their group.
pushspool_wait() (
    LC_ALL=C
    export LC_ALL
    if [ $# -lt 3 ] || [ $# -gt 4 ]; then
        pushspool_fail 64 "wrong number of arguments" "pushspool_wait SPOOL APP NAME [SECONDS]"
    fi
    home=$(pushspool_home "$1" "$2") || exit
    name=$3
    for folder in new hold 'done' failed; do
        if [ ! -r "$home/$folder" ] || [ ! -x "$home/$folder" ]; then
            pushspool_fail 75 "$home/$folder cannot be looked into" "run as a member of its group"
        fi
    done
    set +f
    end=$(($(date +%s) + ${4:-300}))
    while :; do
        # In the way that jobs go, so that none is overtaken.
        if [ ! -e "$home/new/$name" ]; then
            [ ! -e "$home/hold/$name" ] || pushspool_tell held "$1" "$2/hold/$name"
            for state in 'done' failed; do
                for found in "$home/$state"/*/"$name"; do
                    [ ! -f "$found" ] || pushspool_tell "$state" "$1" "$2/${found#"$home/"}"
                done
            done
        fi
        [ "$(date +%s)" -lt "$end" ] ||
            pushspool_fail 75 "$name is not over after ${4:-300} s" "is the daemon running? see its log"
        sleep 0.2 2>/dev/null || sleep 1
    done
)

# pushspool_feedback SPOOL APP [FILTER]
#
# Prints the lines of all feedback files there are, oldest first; the files stay. With jq each file is checked, and its
# lines go through FILTER, "." unless given; without jq they are printed as they are, and a FILTER other than "." is
# refused. Links, and what else is no file, are passed over.
pushspool_feedback() (
    LC_ALL=C
    export LC_ALL
    if [ $# -lt 2 ] || [ $# -gt 3 ]; then
        pushspool_fail 64 "wrong number of arguments" "pushspool_feedback SPOOL APP [FILTER]"
    fi
    home=$(pushspool_home "$1" "$2") || exit
    filter=${3:-.}
    if [ "$filter" != . ] && ! command -v jq >/dev/null; then
        pushspool_fail 75 "a filter needs jq" "install it, or filter what is printed"
    fi
    if [ ! -r "$home/feedback" ] || [ ! -x "$home/feedback" ]; then
        pushspool_fail 75 "$home/feedback cannot be looked into" \
            "give the consumer's user the right: setfacl -m u:NAME:rx feedback"
    fi
    set +f
    for file in "$home/feedback"/*.jsonl; do
        pushspool_is_feedback "$file" || continue
        pushspool_show "$filter" <"$file" ||
            pushspool_fail 65 "the lines of $file cannot be printed" "look into it, and where the output goes"
    done
)

# pushspool_consume SPOOL APP [FOLDER]
#
# Prints the lines of all feedback files there are, oldest first and each whole, and deletes each file when all of it is
# out, or moves it to FOLDER: choose among the lines behind it. Lines come at least once: drop repeats by kind, id and
# index. A file whose lines could not be printed stays, and what goes to a file is synced before. With jq each file is
# checked. Links, and what else is no file, are passed over.
pushspool_consume() (
    LC_ALL=C
    export LC_ALL
    if [ $# -lt 2 ] || [ $# -gt 3 ]; then
        pushspool_fail 64 "wrong number of arguments" "pushspool_consume SPOOL APP [FOLDER]"
    fi
    home=$(pushspool_home "$1" "$2") || exit
    target=${3:-}
    if [ ! -r "$home/feedback" ] || [ ! -w "$home/feedback" ] || [ ! -x "$home/feedback" ]; then
        pushspool_fail 75 "files in $home/feedback cannot be read and removed" \
            "give the consumer's user the right: setfacl -m u:NAME:rwx feedback"
    fi
    [ -z "$target" ] || [ -d "$target" ] ||
        pushspool_fail 65 "$target is no folder" "make it"
    set +f
    for file in "$home/feedback"/*.jsonl; do
        pushspool_is_feedback "$file" || continue
        pushspool_show . <"$file" ||
            pushspool_fail 65 "the lines of $file cannot be printed" "it stays: look into it, and where the output goes"
        # A pipe or a terminal has nothing to sync.
        [ ! -f /dev/stdout ] || pushspool_sync /dev/stdout ||
            pushspool_fail 75 "what was printed cannot be synced" "$file stays: look after the disk"
        if [ -z "$target" ]; then
            rm -f "$file"
        else
            mv -n "$file" "$target/" && [ ! -e "$file" ]
        fi || pushspool_fail 75 "$file cannot be removed" "its lines come again: look after its folder"
    done
)

# The rest is for the functions above.

# Says what went wrong, and what to try, and ends the subshell.
pushspool_fail() {
    printf 'pushspool: %s\nhint: %s\n' "$2" "$3" >&2
    exit "$1"
}

# Prints the folder of an app that is there.
pushspool_home() {
    case $2 in
    '' | . | .. | */*) pushspool_fail 65 "'$2' is no name of an app" "name a folder of the spool" ;;
    esac
    # A path is never taken for an option.
    case $1 in
    /* | ./* | ../*) home=$1/$2 ;;
    *) home=./$1/$2 ;;
    esac
    [ -d "$home/new" ] || pushspool_fail 75 "there is no $home/new that we may see" \
        "check the spool's path and the app's name; the daemon makes an app's folders when it starts"
    printf '%s\n' "$home"
}

# Whether a file of this name may be a job.
pushspool_check_name() {
    case $1 in
    .* | */* | *[[:cntrl:]]* | *.result.json) ;;
    ?*.json | ?*.yaml | ?*.yml | ?*.jsonl) [ ${#1} -gt 200 ] || return 0 ;;
    esac
    pushspool_fail 65 "'$(printf '%s' "$1" | tr '[:cntrl:]' '?')' is no name for a job" \
        "at most 200 bytes, no point first, no slash or control character, and .json, .yaml, .yml or .jsonl at the end"
}

# Whether there is such a file of feedback. There may be none, or another consumer may have been faster. What a link leads
# to is not the daemon's.
pushspool_is_feedback() {
    [ -f "$1" ] && [ ! -L "$1" ]
}

# Prints lines through a filter, and checks them, where there is jq.
pushspool_show() {
    if command -v jq >/dev/null; then
        jq -c "$1"
    else
        cat
    fi
}

# Makes an empty file in tmp/, or a hidden one in new/ where tmp/ is of no use, and prints its path.
pushspool_stage() {
    for folder in tmp new; do
        # Between two filesystems mv copies, and a copy is not there in one step.
        [ "$(stat -c %d "$1/$folder" 2>/dev/null)" = "$(stat -c %d "$1/new" 2>/dev/null)" ] || continue
        mktemp "$1/$folder/.submit-XXXXXXXXXX" 2>/dev/null && return
    done
    pushspool_fail 75 "no file can be made in $1/tmp and $1/new" \
        "run as a member of the group that they belong to; free some space if the volume is full"
}

# Syncs a file or a folder, where there is a sync(1).
pushspool_sync() {
    [ "${PUSHSPOOL_SYNC:-yes}" != no ] || return 0
    command -v sync >/dev/null || return 0
    sync "$1"
}

# Renames a staged file into a folder, by a name of its own, which it prints; never replaces one that is there.
pushspool_publish() {
    ending=.${3##*.}
    for _ in 1 2 3 4 5 6 7 8; do
        final=${3%"$ending"}-$(pushspool_random)$ending
        # mv -n is content when the name is taken: that the file has gone tells the truth.
        mv -n "$1" "$2/$final" 2>/dev/null || :
        if [ ! -e "$1" ]; then
            printf '%s\n' "$final"
            return
        fi
        [ -e "$2/$final" ] || pushspool_fail 75 "$1 cannot be renamed into $2" \
            "run as a member of its group; free some space if the volume is full"
    done
    pushspool_fail 75 "no name is free in $2" "look what fills it"
}

# Prints 16 random hexadecimal digits.
pushspool_random() {
    od -A n -N 8 -t x1 /dev/urandom | tr -d ' \n'
}

# Prints where a job is, and its result, and ends the waiting.
pushspool_tell() {
    printf '%s %s\n' "$1" "$3"
    result=$2/$3.result.json
    if [ -f "$result" ]; then
        cat "$result"
        exit 65
    fi
    [ "$1" = 'done' ] || exit 65
    exit 0
}
