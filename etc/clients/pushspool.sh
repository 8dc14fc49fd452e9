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
# They need coreutils or busybox, pushspool_wait also grep and sed, and run in subshells: they change neither your variables
# nor your options. Each prints errors and hints to standard error, and returns 0 on success, 64 for wrong usage, 65 for
# faulty input, 69 if a job is or may be dropped and its end is not known, 75 for failures that may pass.
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
    pushspool_begin
    if [ $# -lt 3 ] || [ $# -gt 4 ]; then
        pushspool_fail 64 "wrong number of arguments" "pushspool_submit SPOOL APP FILE|- [NAME]"
    fi
    _ps_home=$(pushspool_home "$1" "$2") || exit
    _ps_file=$3
    case $_ps_file in
    -) _ps_name=${4-stdin.json} ;;
    *) _ps_name=${4-${_ps_file##*/}} ;;
    esac
    pushspool_check_name "$_ps_name" || exit
    if [ "$_ps_file" != - ] && { [ -d "$_ps_file" ] || [ ! -r "$_ps_file" ]; }; then
        pushspool_fail 65 "cannot read $_ps_file" "check the path and its permissions"
    fi
    _ps_staged=
    trap 'test -z "$_ps_staged" || command rm -f "$_ps_staged"' EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    _ps_staged=$(pushspool_stage "$_ps_home") || exit
    # Whatever the umask is: the daemon, another user, must be able to read it. Other users cannot enter new/.
    chmod 644 "$_ps_staged" || pushspool_fail 75 "cannot set the mode of $_ps_staged" "check the filesystem"
    if [ "$_ps_file" = - ]; then command cat; else command cat <"$_ps_file"; fi >"$_ps_staged" ||
        pushspool_fail 75 "cannot copy the job to $_ps_staged" "free some space, and submit the job again"
    [ -s "$_ps_staged" ] || pushspool_fail 65 "the job is empty" "write a job as pushspool-job(5) describes"
    # On a shared filesystem a daemon on another host sees by this that the file was renamed after the last write.
    touch -m -t "$(date +%Y%m%d%H%M.%S)" "$_ps_staged" ||
        pushspool_fail 75 "cannot set the time of $_ps_staged" "check the filesystem"
    pushspool_sync "$_ps_staged" ||
        pushspool_fail 75 "$_ps_staged cannot be synced" "check the disk, then submit the job again"
    _ps_published=$(pushspool_publish "$_ps_staged" "$_ps_home/new" "$_ps_name") || exit
    _ps_staged=
    if ! pushspool_sync "$_ps_home/new"; then
        # Withdraw the job, unless the daemon has claimed it: then it is in the daemon's journal.
        if command rm "$_ps_home/new/$_ps_published" 2>/dev/null; then
            pushspool_fail 75 "$_ps_home/new cannot be synced" "check the disk, then submit the job again"
        elif [ -e "$_ps_home/new/$_ps_published" ]; then
            pushspool_fail 69 "$_ps_home/new cannot be synced, and $_ps_published cannot be removed" \
                "check new/ for it before you submit it again"
        fi
    fi
    printf '%s\n' "$_ps_published"
)

# pushspool_wait SPOOL APP NAME [SECONDS]
#
# Waits until a job has ended or is held, 300 seconds at most, and prints its state (done, failed, held) and its path from
# the spool on, followed by its result file if it has one. Without one, everything was accepted. Returns 0 if everything
# was accepted, 65 if not, 69 after the time-out. If the user may only drop jobs, the function reads tmp/.jobs/
# (pushspool-spool(7)), which has the last jobs of the app. It does not know names with control characters there.
pushspool_wait() (
    pushspool_begin
    if [ $# -lt 3 ] || [ $# -gt 4 ]; then
        pushspool_fail 64 "wrong number of arguments" "pushspool_wait SPOOL APP NAME [SECONDS]"
    fi
    _ps_home=$(pushspool_home "$1" "$2") || exit
    _ps_name=$3
    case $_ps_name in
    '' | . | .. | */*)
        pushspool_fail 65 "'$_ps_name' is not a valid file name" "pass the name that pushspool_submit printed"
        ;;
    esac
    case ${4-300} in
    '' | *[!0-9]* | 0?*)
        pushspool_fail 64 "'$4' is not a whole number of seconds" "pushspool_wait SPOOL APP NAME [SECONDS]"
        ;;
    esac
    _ps_told=
    for _ps_folder in hold 'done' failed; do
        if [ ! -r "$_ps_home/$_ps_folder" ] || [ ! -x "$_ps_home/$_ps_folder" ]; then _ps_told=$_ps_home/tmp/.jobs; fi
    done
    if [ ! -x "$_ps_home/new" ] || { [ -n "$_ps_told" ] && [ ! -x "$_ps_home/tmp" ]; }; then
        pushspool_fail 75 "no permission to enter $_ps_home/new and tmp" "run as a member of their group"
    fi
    # The daemon writes names like this.
    _ps_escaped=$(printf '%s.' "$_ps_name" | sed 's/%/%25/g') || exit
    _ps_escaped=${_ps_escaped%.}
    _ps_end=$(($(date +%s) + ${4-300}))
    while :; do
        # Look in the order in which jobs move, so as not to miss one.
        if [ ! -e "$_ps_home/new/$_ps_name" ] && [ -n "$_ps_told" ]; then
            pushspool_tell_told "$1" "$2"
        elif [ ! -e "$_ps_home/new/$_ps_name" ]; then
            [ ! -e "$_ps_home/hold/$_ps_name" ] || pushspool_tell held "$1" "$2/hold/$_ps_name"
            for _ps_state in 'done' failed; do
                for _ps_found in "$_ps_home/$_ps_state"/*/"$_ps_name"; do
                    [ ! -f "$_ps_found" ] || pushspool_tell "$_ps_state" "$1" "$2/${_ps_found#"$_ps_home/"}"
                done
            done
        fi
        [ "$(date +%s)" -lt "$_ps_end" ] ||
            pushspool_fail 69 "$_ps_name has not finished after ${4-300} s" "is the daemon running? see its log"
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
    pushspool_begin
    if [ $# -lt 2 ] || [ $# -gt 3 ]; then
        pushspool_fail 64 "wrong number of arguments" "pushspool_feedback SPOOL APP [FILTER]"
    fi
    _ps_home=$(pushspool_home "$1" "$2") || exit
    _ps_filter=${3:-.}
    if [ "$_ps_filter" != . ] && ! command -v jq >/dev/null; then
        pushspool_fail 75 "a filter needs jq" "install jq, or filter the output"
    fi
    if [ ! -r "$_ps_home/feedback" ] || [ ! -x "$_ps_home/feedback" ]; then
        pushspool_fail 75 "no permission to read $_ps_home/feedback" \
            "give the consumer's user permission: setfacl -m u:NAME:rx feedback"
    fi
    for _ps_file in "$_ps_home/feedback"/*.jsonl; do
        pushspool_is_feedback "$_ps_file" || continue
        pushspool_show "$_ps_filter" <"$_ps_file" || [ ! -e "$_ps_file" ] ||
            pushspool_fail 65 "cannot print the lines of $_ps_file" "check the file, and where the output goes"
    done
)

# pushspool_consume SPOOL APP [FOLDER]
#
# Prints the complete lines of all feedback files, oldest first, and deletes each file after all of it is printed, or moves
# it to FOLDER: filter the output afterwards. Lines come at least once: drop repeats by kind, id and index. A file whose
# lines could not be printed stays, and output to a file is synced first. With jq, each file is checked. Links, other
# non-regular files, and files of other users than the daemon's and root are skipped.
pushspool_consume() (
    pushspool_begin
    if [ $# -lt 2 ] || [ $# -gt 3 ]; then
        pushspool_fail 64 "wrong number of arguments" "pushspool_consume SPOOL APP [FOLDER]"
    fi
    _ps_home=$(pushspool_home "$1" "$2") || exit
    _ps_target=${3:-}
    if [ ! -r "$_ps_home/feedback" ] || [ ! -w "$_ps_home/feedback" ] || [ ! -x "$_ps_home/feedback" ]; then
        pushspool_fail 75 "no permission to read and remove files in $_ps_home/feedback" \
            "give the consumer's user permission: setfacl -m u:NAME:rwx feedback"
    fi
    [ -z "$_ps_target" ] || [ -d "$_ps_target" ] ||
        pushspool_fail 65 "$_ps_target is not a folder" "create it"
    for _ps_file in "$_ps_home/feedback"/*.jsonl; do
        pushspool_is_feedback "$_ps_file" || continue
        if ! pushspool_show . <"$_ps_file"; then
            # Another consumer has removed it.
            [ -e "$_ps_file" ] || continue
            pushspool_fail 65 "cannot print the lines of $_ps_file" "it stays: check it, and where the output goes"
        fi
        # A pipe or a terminal has nothing to sync.
        [ ! -f /dev/stdout ] || pushspool_sync /dev/stdout ||
            pushspool_fail 75 "cannot sync the output" "$_ps_file stays: check the disk"
        if [ -z "$_ps_target" ]; then
            command rm -f "$_ps_file"
        else
            command mv -n "$_ps_file" "$_ps_target/" && [ ! -e "$_ps_file" ]
        fi || pushspool_fail 75 "cannot remove $_ps_file" "its lines will be printed again: check its folder"
    done
)

# Internal functions.

# Undoes what the caller has set, for the subshell. Only readonly variables stay: ours begin with _ps_.
pushspool_begin() {
    set +e
    set +f
    set +u
    set +C
    # shellcheck disable=SC3044 # only bash gets here
    [ -z "${BASH_VERSION-}" ] || shopt -u failglob nullglob dotglob nocaseglob nocasematch
    # shellcheck disable=SC2030 # a trial
    if (LC_ALL=C) 2>/dev/null; then
        LC_ALL=C
        export LC_ALL
    fi
}

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
    [ -n "$1" ] || pushspool_fail 65 "the spool's path is empty" "pass the path of the spool"
    # Prefix ./ so that a path never looks like an option.
    case $1 in
    /* | ./* | ../*) _ps_home=$1/$2 ;;
    *) _ps_home=./$1/$2 ;;
    esac
    { [ -d "$_ps_home/new" ] && [ ! -L "$_ps_home/new" ]; } ||
        pushspool_fail 75 "$_ps_home/new does not exist, is a link, or this user cannot see it" \
        "check the spool's path and the app's name; the daemon creates an app's folders when it starts"
    printf '%s\n' "$_ps_home"
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
    [ -f "$1" ] && [ ! -L "$1" ] && pushspool_is_daemons "$1"
}

# Whether a file or a folder belongs to the daemon's user or to root.
pushspool_is_daemons() {
    # Without stat, which both coreutils and busybox have, the owner cannot be checked.
    command -v stat >/dev/null || return 0
    _ps_owner=$(stat -c %u "$1" 2>/dev/null) || return
    [ "$_ps_owner" = 0 ] ||
        [ "$_ps_owner" = "$(stat -c %u "$_ps_home/work" 2>/dev/null || stat -c %u "$_ps_home")" ]
}

# Prints lines; with jq, checks and filters them.
pushspool_show() {
    if command -v jq >/dev/null; then
        jq -cr "$1"
    else
        command cat
    fi
}

# Creates an empty file in tmp/, or a hidden one in new/ if tmp/ cannot be used, and prints its path.
pushspool_stage() {
    for _ps_folder in tmp new; do
        # Across filesystems mv copies, and a copy is not atomic.
        [ "$(stat -c %d "$1/$_ps_folder" 2>/dev/null)" = "$(stat -c %d "$1/new" 2>/dev/null)" ] || continue
        mktemp "$1/$_ps_folder/.submit-XXXXXXXXXX" 2>/dev/null && return
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
    _ps_ending=.${3##*.}
    for _ps_try in 1 2 3 4 5 6 7 8; do
        _ps_final=${3%"$_ps_ending"}-$(pushspool_random)$_ps_ending
        # mv -n may succeed although the name is taken: only the disappearance of the source proves the rename.
        _ps_moved=yes
        command mv -n "$1" "$2/$_ps_final" 2>/dev/null || _ps_moved=no
        if [ ! -e "$1" ]; then
            [ "$_ps_moved" = yes ] || [ -e "$2/$_ps_final" ] || pushspool_fail 75 "$1 has disappeared" \
                "its folder was moved, replaced or removed; submit the job again"
            printf '%s\n' "$_ps_final"
            return
        fi
        [ -e "$2/$_ps_final" ] || pushspool_fail 75 "$1 cannot be renamed into $2" \
            "run as a member of its group; free some space if the volume is full"
    done
    pushspool_fail 75 "no free name in $2" "check what fills it"
}

# Prints 16 random hexadecimal digits.
pushspool_random() {
    od -A n -N 8 -t x1 /dev/urandom | tr -d ' \n'
}

# Prints where a job is and its result, as the daemon tells those who may drop jobs, and ends the subshell. Returns if the
# job has not ended.
pushspool_tell_told() {
    # Another user may have made a folder of this name before the daemon.
    if [ ! -d "$_ps_told" ] || ! pushspool_is_daemons "$_ps_told"; then return; fi
    _ps_tab=$(printf '\t')
    LC_ALL=C command grep -hF -e "$_ps_escaped$_ps_tab" "$_ps_told"/earlier-* "$_ps_told"/ended-* "$_ps_told"/held 2>/dev/null | {
        _ps_found=
        while IFS=$_ps_tab read -r _ps_first _ps_inode _ps_path _ps_result; do
            # The daemon may be writing the last line.
            case $_ps_result in *'}') [ "$_ps_first" != "$_ps_escaped" ] || _ps_found=$_ps_path$_ps_tab$_ps_result ;; esac
        done
        [ -n "$_ps_found" ] || exit 1
        _ps_state=${_ps_found%%/*}
        [ "$_ps_state" != hold ] || _ps_state=held
        printf '%s %s\n' "$_ps_state" "$2/${_ps_found%%"$_ps_tab"*}"
        case $_ps_found in
        'done'/*"$_ps_tab{}") exit 0 ;;
        hold/*) exit 65 ;;
        esac
        printf '%s\n' "${_ps_found#*"$_ps_tab"}"
        exit 65
    }
    case $? in
    0) exit 0 ;;
    65) exit 65 ;;
    esac
}

# Prints where a job is, and its result, and ends the subshell.
pushspool_tell() {
    printf '%s %s\n' "$1" "$3"
    _ps_result=$2/$3.result.json
    if [ -f "$_ps_result" ]; then
        command cat "$_ps_result"
        exit 65
    fi
    [ "$1" = 'done' ] || exit 65
    exit 0
}
