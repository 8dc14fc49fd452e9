# shellcheck shell=sh
# Functions for any POSIX shell that drop jobs into a pushspool spool and read their outcomes.
#
#   . ./pushspool.sh
#   name=$(pushspool_submit /var/spool/pushspool weather job.json)
#   generate | pushspool_submit /var/spool/pushspool weather - campaign.jsonl
#   pushspool_wait /var/spool/pushspool weather "$name" 60
#   pushspool_feedback /var/spool/pushspool weather 'select(.verdict == "gone") | [.token, .gone_since]'
#   pushspool_consume /var/spool/pushspool weather >>feedback.jsonl
#
# They need coreutils or busybox, and run in subshells, so they do not change your variables. Each prints errors and hints
# to standard error, and returns 0 on success, 64 for wrong usage, 65 for faulty input, 75 for failures that may pass.
# pushspool-spool(7) explains the folders, pushspool-feedback(5) the feedback lines.

# pushspool_submit SPOOL APP FILE|- [NAME]
#
# Drops one job atomically, so that the daemon sees all of it or nothing, and prints its final name: 17 characters before
# the ending make it unique. NAME defaults to FILE's own name, or stdin.json. Its ending sets the format; "urgent-" or
# "bulk-" at its start selects a lane.
#
# The function copies the job to tmp/, syncs it, renames it into new/ without replacing anything, and syncs new/. After
# that, a power loss cannot lose it. PUSHSPOOL_SYNC=no leaves the syncs out. If the function fails, nothing was dropped,
# unless the error says otherwise. If a pipe's writer dies, its output looks complete: give the job a `count`, or write it
# to a file first.
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
        pushspool_fail 65 "cannot read $file" "check the path and its permissions"
    fi
    staged=
    trap 'test -z "$staged" || rm -f "$staged"' EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    staged=$(pushspool_stage "$home") || exit
    # Whatever the umask is: the daemon, another user, must be able to read it. Other users cannot enter new/.
    chmod 644 "$staged" || pushspool_fail 75 "cannot set the mode of $staged" "check the filesystem"
    if [ "$file" = - ]; then cat; else cat <"$file"; fi >"$staged" ||
        pushspool_fail 75 "cannot copy the job to $staged" "free some space, and submit the job again"
    [ -s "$staged" ] || pushspool_fail 65 "the job is empty" "write a job as pushspool-job(5) describes"
    pushspool_sync "$staged" || pushspool_fail 75 "$staged cannot be synced" "check the disk, then submit the job again"
    published=$(pushspool_publish "$staged" "$home/new" "$name") || exit
    staged=
    if ! pushspool_sync "$home/new"; then
        # Withdraw the job, unless the daemon has claimed it: then it is in the daemon's journal.
        if rm "$home/new/$published" 2>/dev/null; then
            pushspool_fail 75 "$home/new cannot be synced" "check the disk, then submit the job again"
        elif [ -e "$home/new/$published" ]; then
            pushspool_fail 75 "$home/new cannot be synced, and $published cannot be removed" \
                "check new/ for it before you submit it again"
        fi
    fi
    printf '%s\n' "$published"
)

# pushspool_wait SPOOL APP NAME [SECONDS]
#
# Waits until a job has ended or is held, 300 seconds at most, and prints its state (done, failed, held) and its path from
# the spool on, followed by its result file if it has one. Without one, everything was accepted. Returns 0 if everything
# was accepted, 65 if not, 75 after the time-out. Only members of their group can read done/ and failed/.
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
            pushspool_fail 75 "no permission to read $home/$folder" "run as a member of its group"
        fi
    done
    set +f
    end=$(($(date +%s) + ${4:-300}))
    while :; do
        # Look in the order in which jobs move, so as not to miss one.
        if [ ! -e "$home/new/$name" ]; then
            [ ! -e "$home/hold/$name" ] || pushspool_tell held "$1" "$2/hold/$name"
            for state in 'done' failed; do
                for found in "$home/$state"/*/"$name"; do
                    [ ! -f "$found" ] || pushspool_tell "$state" "$1" "$2/${found#"$home/"}"
                done
            done
        fi
        [ "$(date +%s)" -lt "$end" ] ||
            pushspool_fail 75 "$name has not finished after ${4:-300} s" "is the daemon running? see its log"
        sleep 0.2 2>/dev/null || sleep 1
    done
)

# pushspool_feedback SPOOL APP [FILTER]
#
# Prints the lines of all feedback files, oldest first; the files stay. With jq, each file is checked, and its lines go
# through FILTER, by default "."; a string that it makes is printed without quotes. Without jq they are printed as they
# are, and a FILTER other than "." is refused. Links, other non-regular files, and files of other users than the daemon's
# and root are skipped.
pushspool_feedback() (
    LC_ALL=C
    export LC_ALL
    if [ $# -lt 2 ] || [ $# -gt 3 ]; then
        pushspool_fail 64 "wrong number of arguments" "pushspool_feedback SPOOL APP [FILTER]"
    fi
    home=$(pushspool_home "$1" "$2") || exit
    filter=${3:-.}
    if [ "$filter" != . ] && ! command -v jq >/dev/null; then
        pushspool_fail 75 "a filter needs jq" "install jq, or filter the output"
    fi
    if [ ! -r "$home/feedback" ] || [ ! -x "$home/feedback" ]; then
        pushspool_fail 75 "no permission to read $home/feedback" \
            "give the consumer's user permission: setfacl -m u:NAME:rx feedback"
    fi
    set +f
    for file in "$home/feedback"/*.jsonl; do
        pushspool_is_feedback "$file" || continue
        pushspool_show "$filter" <"$file" ||
            pushspool_fail 65 "cannot print the lines of $file" "check the file, and where the output goes"
    done
)

# pushspool_consume SPOOL APP [FOLDER]
#
# Prints the complete lines of all feedback files, oldest first, and deletes each file after all of it is printed, or moves
# it to FOLDER: filter the output afterwards. Lines come at least once: drop repeats by kind, id and index. A file whose
# lines could not be printed stays, and output to a file is synced first. With jq, each file is checked. Links, other
# non-regular files, and files of other users than the daemon's and root are skipped.
pushspool_consume() (
    LC_ALL=C
    export LC_ALL
    if [ $# -lt 2 ] || [ $# -gt 3 ]; then
        pushspool_fail 64 "wrong number of arguments" "pushspool_consume SPOOL APP [FOLDER]"
    fi
    home=$(pushspool_home "$1" "$2") || exit
    target=${3:-}
    if [ ! -r "$home/feedback" ] || [ ! -w "$home/feedback" ] || [ ! -x "$home/feedback" ]; then
        pushspool_fail 75 "no permission to read and remove files in $home/feedback" \
            "give the consumer's user permission: setfacl -m u:NAME:rwx feedback"
    fi
    [ -z "$target" ] || [ -d "$target" ] ||
        pushspool_fail 65 "$target is not a folder" "create it"
    set +f
    for file in "$home/feedback"/*.jsonl; do
        pushspool_is_feedback "$file" || continue
        pushspool_show . <"$file" ||
            pushspool_fail 65 "cannot print the lines of $file" "it stays: check it, and where the output goes"
        # A pipe or a terminal has nothing to sync.
        [ ! -f /dev/stdout ] || pushspool_sync /dev/stdout ||
            pushspool_fail 75 "cannot sync the output" "$file stays: check the disk"
        if [ -z "$target" ]; then
            rm -f "$file"
        else
            mv -n "$file" "$target/" && [ ! -e "$file" ]
        fi || pushspool_fail 75 "cannot remove $file" "its lines will be printed again: check its folder"
    done
)

# Internal functions.

# Prints an error and a hint, and ends the subshell.
pushspool_fail() {
    printf 'pushspool: %s\nhint: %s\n' "$2" "$3" >&2
    exit "$1"
}

# Prints the folder of an existing app.
pushspool_home() {
    case $2 in
    '' | . | .. | */*) pushspool_fail 65 "'$2' is not a valid app name" "use the name of a folder in the spool" ;;
    esac
    # Prefix ./ so that a path never looks like an option.
    case $1 in
    /* | ./* | ../*) home=$1/$2 ;;
    *) home=./$1/$2 ;;
    esac
    [ -d "$home/new" ] || pushspool_fail 75 "$home/new does not exist, or this user cannot see it" \
        "check the spool's path and the app's name; the daemon creates an app's folders when it starts"
    printf '%s\n' "$home"
}

# Whether a file of this name may be a job.
pushspool_check_name() {
    case $1 in
    .* | */* | *[[:cntrl:]]* | *.result.json) ;;
    ?*.json | ?*.yaml | ?*.yml | ?*.jsonl) [ ${#1} -gt 200 ] || return 0 ;;
    esac
    pushspool_fail 65 "'$(printf '%s' "$1" | tr '[:cntrl:]' '?')' is not a valid job name" \
        "use at most 200 bytes, no leading dot, no slash or control character, and end it in .json, .yaml, .yml or .jsonl"
}

# Whether this is a feedback file. The pattern may match nothing, or another consumer may have removed the file. Links do not
# lead to the daemon's files, and files of other users than the daemon's, which owns work/, and root may be forged.
pushspool_is_feedback() {
    [ -f "$1" ] && [ ! -L "$1" ] || return
    # Without stat, which both coreutils and busybox have, the owner cannot be checked.
    command -v stat >/dev/null || return 0
    pushspool_owner=$(stat -c %u "$1" 2>/dev/null) || return
    [ "$pushspool_owner" = 0 ] ||
        [ "$pushspool_owner" = "$(stat -c %u "$home/work" 2>/dev/null || stat -c %u "$home")" ]
}

# Prints lines; with jq, checks and filters them.
pushspool_show() {
    if command -v jq >/dev/null; then
        jq -cr "$1"
    else
        cat
    fi
}

# Creates an empty file in tmp/, or a hidden one in new/ if tmp/ cannot be used, and prints its path.
pushspool_stage() {
    for folder in tmp new; do
        # Across filesystems mv copies, and a copy is not atomic.
        [ "$(stat -c %d "$1/$folder" 2>/dev/null)" = "$(stat -c %d "$1/new" 2>/dev/null)" ] || continue
        mktemp "$1/$folder/.submit-XXXXXXXXXX" 2>/dev/null && return
    done
    pushspool_fail 75 "cannot create a file in $1/tmp or $1/new" \
        "run as a member of the group that owns them; free some space if the volume is full"
}

# Syncs a file or a folder, if sync(1) exists.
pushspool_sync() {
    [ "${PUSHSPOOL_SYNC:-yes}" != no ] || return 0
    command -v sync >/dev/null || return 0
    sync "$1"
}

# Renames a staged file into a folder under a unique name, which it prints; never replaces an existing file.
pushspool_publish() {
    ending=.${3##*.}
    for _ in 1 2 3 4 5 6 7 8; do
        final=${3%"$ending"}-$(pushspool_random)$ending
        # mv -n may succeed although the name is taken: only the disappearance of the source proves the rename.
        mv -n "$1" "$2/$final" 2>/dev/null || :
        if [ ! -e "$1" ]; then
            printf '%s\n' "$final"
            return
        fi
        [ -e "$2/$final" ] || pushspool_fail 75 "$1 cannot be renamed into $2" \
            "run as a member of its group; free some space if the volume is full"
    done
    pushspool_fail 75 "no free name in $2" "check what fills it"
}

# Prints 16 random hexadecimal digits.
pushspool_random() {
    od -A n -N 8 -t x1 /dev/urandom | tr -d ' \n'
}

# Prints where a job is, and its result, and ends the subshell.
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
