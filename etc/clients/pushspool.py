#!/usr/bin/env python3
"""Drops jobs into a pushspool spool and reads their outcomes.

Needs Python 3.8 or newer on Linux, and no other packages: copy this file, or put its folder on the path.

    import pushspool

    name = pushspool.submit("/var/spool/pushspool", {"token": token, "alert": "Hi"}, "order.json", app="weather")
    end = pushspool.wait("/var/spool/pushspool", name, app="weather")
    for line in pushspool.feedback("/var/spool/pushspool", app="weather", consume=True):
        if line.get("verdict") == "gone":
            forget(line["token"], line.get("gone_since"))

Pass the spool as folder together with app=, or the app's own folder, such as /var/spool/pushspool/weather.

The file is also a command:

    python3 pushspool.py submit --app weather --wait job.json
    python3 pushspool.py feedback --app weather --follow --kind token

pushspool-spool(7) explains the folders, pushspool-job(5) the contents of a job, pushspool-feedback(5) the feedback
lines.
"""

from __future__ import annotations

import argparse
import errno
import hashlib
import json
import os
import secrets
import stat
import sys
import time
from collections import OrderedDict
from contextlib import contextmanager, suppress
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Tuple, Union
from urllib.parse import unquote_to_bytes

__all__ = ["InputFault", "JobEnd", "NotInTime", "PushspoolError", "feedback", "submit", "submit_lines", "wait"]

Folder = Union[str, "os.PathLike[str]"]
Job = Union[Mapping[str, Any], str, bytes]
Recipient = Union[Mapping[str, Any], str, bytes]
# Removes a file from a folder.
_Removal = Callable[[int, str], None]

_ENDINGS = (".json", ".yaml", ".yml", ".jsonl")
_NAME_HINT = (
    "use at most 200 bytes, no leading dot, no slash or control character, and end it in .json, .yaml, .yml or .jsonl"
)
_REMOVAL_HINT = "give the consumer's user permission: setfacl -m u:NAME:rwx feedback"
# Whatever the umask is: the daemon, another user, must be able to read it. Other users cannot enter new/.
_MODE = 0o644
_REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)
_FULL = (errno.ENOSPC, errno.EDQUOT)


class PushspoolError(Exception):
    """A failure; `hint` suggests a remedy, and is empty if none is known.

    If a call that submits raises this, it has dropped nothing and you may repeat it, unless `name` is set: then the job
    is or was in new/ under that name, and only its durability is in doubt.
    """

    def __init__(self, message: str, hint: str = "", name: Optional[str] = None) -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.message = message
        self.hint = hint
        self.name = name


class InputFault(PushspoolError):
    """The input is at fault: a repetition does not help."""


class NotInTime(PushspoolError):
    """The job has not ended within the time-out, or its app sends nothing now; the call did not change it."""


class JobEnd(NamedTuple):
    """The end of a job."""

    #: The name it was dropped under.
    name: str
    #: "done", "failed" or "held": in hold/, and not sent before it is released.
    state: str
    #: Its path from the app's folder on, such as done/2026-11-21/a.json.
    path: str
    #: The contents of its result file (pushspool-feedback(5)); None without one, when everything was accepted.
    result: Optional[Dict[str, Any]]

    @property
    def is_accepted(self) -> bool:
        """Whether all of its notifications were accepted."""
        return self.state == "done" and self.result is None


# Submitting


def submit(
    folder: Folder, job: Job, name: Optional[str] = None, *, app: Optional[str] = None, sync: bool = True,
    unique: bool = True,
) -> str:
    """Drops one job atomically, so that the daemon sees all of it or nothing, and returns its final name.

    The call writes the job to tmp/, syncs it, renames it into new/ without replacing anything, and syncs new/. Once it
    returns, a power loss cannot lose the job.

    :param folder: the spool with `app`, or the app's folder.
    :param job: a mapping, which becomes JSON, or the file's text or bytes.
    :param name: the start and the ending of the final name. The ending sets the format; "urgent-" or "bulk-" at the
        start selects a lane. The default is "job.json".
    :param sync: False leaves the syncs out: much faster, but a power loss may lose the job.
    :param unique: False uses exactly this name, and fails if new/ already has a job of that name. Otherwise 17
        characters before the ending make the name unique.
    :raises PushspoolError: nothing was dropped.
    """
    return _submit(folder, app, [_encoded(job)], "job.json" if name is None else name, sync, unique)


def submit_lines(
    folder: Folder, recipients: Iterable[Recipient], *, app: Optional[str] = None,
    job: Optional[Mapping[str, Any]] = None, defaults: Optional[Mapping[str, Any]] = None, name: Optional[str] = None,
    sync: bool = True, unique: bool = True,
) -> str:
    """Drops a job with one notification per line, of any length; otherwise like `submit`.

    Keeps only the current line in memory, so `recipients` may be a generator over millions.

    :param recipients: tokens (text, or bytes from the device) or mappings with a `token` and the recipient's own keys.
    :param job: the keys about the job as a whole, such as `id` and `count`. A `count` is checked before the drop.
    :param defaults: the keys that all recipients share, such as `alert`.
    :param name: as for `submit`, with the ending .jsonl; the default is "job.jsonl".
    :raises PushspoolError: nothing was dropped. Exceptions of `recipients` pass through, and nothing is dropped then.
    """
    name = "job.jsonl" if name is None else name
    if not name.endswith(".jsonl"):
        raise InputFault(f"'{_printable(name)}' is not a valid name for lines", "end it in .jsonl")
    return _submit(folder, app, _lines(recipients, job, defaults), name, sync, unique)


def _lines(
    recipients: Iterable[Recipient], job: Optional[Mapping[str, Any]], defaults: Optional[Mapping[str, Any]]
) -> Iterator[bytes]:
    head = {key: value for key, value in (("job", job), ("defaults", defaults)) if value}
    if head:
        yield _encoded(head)
    count = 0
    for recipient in recipients:
        count += 1
        yield _json(recipient.hex() if isinstance(recipient, bytes) else recipient)
    if count == 0:
        raise InputFault("no recipients", "add at least one")
    if job and job.get("count", count) != count:
        raise InputFault(f"count is {job['count']}, but there are {count} recipients", "correct count")


def _encoded(job: Job) -> bytes:
    if isinstance(job, bytes):
        data = job
    elif isinstance(job, str):
        data = _utf8(job)
    else:
        return _json(job)
    if not data:
        raise InputFault("the job is empty", "write a job as pushspool-job(5) describes")
    return data


def _json(value: Any) -> bytes:
    if isinstance(value, Mapping):
        value = dict(value)
    try:
        return _utf8(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))) + b"\n"
    except (TypeError, ValueError) as error:
        hint = "use text, numbers, lists and mappings"
        raise InputFault(f"the job cannot be written as JSON: {error}", hint) from error


def _utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputFault("the job contains an unpaired surrogate", "pass valid Unicode text") from error


def _submit(
    folder: Folder, app: Optional[str], chunks: Iterable[bytes], name: str, sync: bool, unique: bool
) -> str:
    ending = _ending(name)
    source = _Source(chunks)
    try:
        with _translated(), _opened(_home(folder, app)) as home, _opened("new", home) as new:
            with _staged(home, new, ending) as (directory, temporary, number):
                inode = os.fstat(number).st_ino
                _write(number, source, sync)
                final = _publish(directory, temporary, new, name, ending, unique)
            if not unique:
                _note_inode(_home(folder, app), final, inode)
            _finish(folder, app, new, final, sync)
            return final
    except PushspoolError:
        if source.error is not None:
            raise source.error from None
        raise


class _Source:
    """The pieces of a job. Remembers an error of the caller's iterator, which is passed on unchanged."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self.error: Optional[OSError] = None

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._chunks
        except OSError as error:
            self.error = error
            raise


def _ending(name: str) -> str:
    """Returns the ending of a valid job name."""
    data = _file_name(name)
    ending = next((ending for ending in _ENDINGS if name.endswith(ending)), "")
    is_clean = not any(byte < 0x20 or byte in (0x2F, 0x7F) for byte in data)
    if (
        not ending or not is_clean or name.startswith(".") or name.endswith(".result.json")
        or not len(ending) < len(data) <= 200
    ):
        raise InputFault(f"'{_printable(name)}' is not a valid job name", _NAME_HINT)
    return ending


def _file_name(name: str) -> bytes:
    """Returns the bytes of a file's name. Text from the system contains bytes that are not UTF-8 as surrogates."""
    try:
        return os.fsencode(name)
    except UnicodeEncodeError as error:
        raise InputFault(f"'{_printable(name)}' is not a valid file name", "pass valid Unicode text") from error


@contextmanager
def _staged(home: int, new: int, ending: str) -> Iterator[Tuple[int, str, int]]:
    """Creates an empty file and yields its folder, its name and its descriptor, which the caller closes.

    The file is in tmp/, or a hidden one in new/ if tmp/ cannot be used. It is removed at the end unless it was renamed.
    """
    temporary = f".{_random()}{ending}"
    directory, number = _stage(home, new, temporary)
    try:
        yield directory, temporary, number
    finally:
        # The daemon ignores this file; a failure to remove it must not hide the earlier error.
        with suppress(OSError):
            os.unlink(temporary, dir_fd=directory)
        os.close(directory)


def _stage(home: int, new: int, temporary: str) -> Tuple[int, int]:
    try:
        directory = os.open("tmp", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=home)
    except OSError:
        # If tmp/ cannot be opened for any reason, use a hidden name in new/.
        directory = os.dup(new)
    if os.fstat(directory).st_dev != os.fstat(new).st_dev:
        # A rename from another filesystem would fail.
        os.close(directory)
        directory = os.dup(new)
    try:
        return directory, _create(directory, temporary)
    except OSError as error:
        os.close(directory)
        if error.errno not in _REFUSED:
            raise
    directory = os.dup(new)
    try:
        return directory, _create(directory, temporary)
    except OSError:
        os.close(directory)
        raise


def _create(directory: int, name: str) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(name, flags, _MODE, dir_fd=directory)


def _write(number: int, chunks: Iterable[bytes], sync: bool) -> None:
    """Fills a file, syncs it and closes it: the daemon does not take a file that is still open for writing."""
    try:
        os.fchmod(number, _MODE)
        buffer = bytearray()
        for chunk in chunks:
            buffer += chunk
            if len(buffer) >= 1 << 16:
                _write_all(number, buffer)
                buffer.clear()
        _write_all(number, buffer)
        # On a shared filesystem a daemon on another host sees by this that the file was renamed after the last write.
        now = int(time.time())
        os.utime(number, (now, now - 1))
        if sync:
            os.fsync(number)
    except BaseException:
        with suppress(OSError):
            os.close(number)
        raise
    # On a network filesystem, close reports a full disk.
    os.close(number)


def _write_all(number: int, buffer: bytearray) -> None:
    with memoryview(buffer) as view:
        done = 0
        while done < len(view):
            done += os.write(number, view[done:])


def _publish(directory: int, temporary: str, new: int, name: str, ending: str, unique: bool) -> str:
    for _ in range(8):
        final = f"{name[:-len(ending)]}-{_random()}{ending}" if unique else name
        try:
            _rename_no_replace(directory, temporary, new, final)
            return final
        except FileExistsError as error:
            if not unique:
                hint = "use another name, or leave unique on"
                raise InputFault(f"new/ already has a job named '{_printable(final)}'", hint) from error
    raise PushspoolError("no free name in new/", "check what fills it")


def _rename_no_replace(source: int, name: str, target: int, new_name: str) -> None:
    """Calls renameat2(2) with RENAME_NOREPLACE; uses link(2) and unlink(2) if the filesystem or libc lacks it."""
    code = _renameat2(source, name, target, new_name)
    if code == 0:
        return
    if code not in (errno.EINVAL, errno.ENOSYS):
        raise OSError(code, os.strerror(code), new_name)
    try:
        os.link(name, new_name, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
            raise
        # No links either. This has a race with another process, but names made here are unique.
        if _exists(new_name, target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new_name) from error
        os.rename(name, new_name, src_dir_fd=source, dst_dir_fd=target)
        return
    os.unlink(name, dir_fd=source)


def _renameat2(source: int, name: str, target: int, new_name: str) -> int:
    """Returns 0 or errno; ENOSYS if the call does not exist."""
    try:
        import ctypes

        library = ctypes.CDLL(None, use_errno=True)
        call = library.renameat2
    except (ImportError, OSError, AttributeError):
        return errno.ENOSYS
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    if call(source, os.fsencode(name), target, os.fsencode(new_name), 1) == 0:
        return 0
    return ctypes.get_errno()


def _finish(folder: Folder, app: Optional[str], new: int, name: str, sync: bool) -> None:
    """Syncs new/, and checks that it still has its path: operators move, restore and mount folders.

    On failure withdraws the job, unless it was claimed: then it is in the daemon's journal.
    """
    try:
        if sync:
            os.fsync(new)
        if not _leads_to(new, folder, app):
            raise PushspoolError("new/ was moved, replaced or removed meanwhile", "submit the job again")
    except (OSError, PushspoolError) as failure:
        try:
            os.unlink(name, dir_fd=new)
            if sync and isinstance(failure, PushspoolError):
                # Otherwise a power loss could bring the job back, and the folder may be moved back, too.
                os.fsync(new)
        except OSError as error:
            # Who removes the folder removes the job with it.
            if isinstance(error, FileNotFoundError) and os.fstat(new).st_nlink > 0:
                return
            hint = "check new/ for it before you submit it again"
            message = f"{failure}, and it is unknown whether '{name}' was dropped: {error}"
            raise PushspoolError(message, hint, name) from error
        raise failure


def _leads_to(new: int, folder: Folder, app: Optional[str]) -> bool:
    """Whether the path of new/ leads to this open folder."""
    try:
        with _opened(_home(folder, app)) as home:
            return os.path.samestat(os.stat("new", dir_fd=home, follow_symlinks=False), os.fstat(new))
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ESTALE):
            raise
        return False


# Waiting


def wait(folder: Folder, name: str, *, app: Optional[str] = None, timeout: float = 300.0) -> JobEnd:
    """Waits until a job has ended or is held, and returns its end.

    Looks at most twice a second: into each day's folder in done/ and failed/, or, if the user may only drop jobs, into the
    files in tmp/.jobs/ (pushspool-spool(7)), which have the last jobs of the app.

    :param name: the name that `submit` returned. If you use names again (`unique=False`), call this in the process that
        submitted, or it may return the end of an earlier job.
    :param timeout: the longest wait in seconds.
    :raises NotInTime: the job has not ended, or the app is stopped, so that nothing of it is sent.
    :raises PushspoolError: a folder cannot be read.
    """
    if _file_name(name) in (b"", b".", b"..") or "/" in name or "\0" in name:
        raise InputFault(f"'{_printable(name)}' is not a valid file name", "pass the name that submit returned")
    deadline = time.monotonic() + timeout
    pause = 0.02
    search = _Search(name, _inodes.get((_home(folder, app), name)))
    while True:
        with _translated(), _opened(_home(folder, app)) as home:
            end, is_waiting = search.find(home)
        if end:
            return end
        rest = deadline - time.monotonic()
        obstacle = _obstacle(_home(folder, app))
        if rest <= 0 or obstacle:
            where = "still in new/" if is_waiting else "still being sent, or its file was removed"
            time_text = "" if obstacle else f" after {timeout:g} s"
            message = f"{_printable(name)} has not finished{time_text}: {where}{obstacle}"
            raise NotInTime(message, "it is dropped: do not submit it again; is the daemon running? see its log")
        time.sleep(min(pause, rest))
        pause = min(pause * 2, 0.5)


# The inodes of the last jobs with names that may be used again, by the app's folder and the name.
_inodes: OrderedDict[Tuple[str, str], int] = OrderedDict()


def _note_inode(home: str, name: str, inode: int) -> None:
    _inodes[home, name] = inode
    while len(_inodes) > 10_000:
        _inodes.popitem(last=False)


class _Search:
    """A search for one job, repeated until it has ended."""

    def __init__(self, name: str, inode: Optional[int]) -> None:
        self._name = name
        # Of the job's file, if it is known: other jobs may have had its name.
        self._inode = inode
        # How much of each file in tmp/.jobs/ was read in vain, by inode.
        self._read: Dict[int, int] = {}

    def find(self, home: int) -> Tuple[Optional[JobEnd], bool]:
        """Returns the end of the job, or None, and whether it waits in new/."""
        with _opened("new", home) as directory:
            status = _status(self._name, directory)
            if status is not None:
                self._inode = status.st_ino
                return None, True
        try:
            with _opened("hold", home) as directory:
                if self._is_ours(_status(self._name, directory)):
                    return JobEnd(self._name, "held", f"hold/{self._name}", None), False
            for place in ("done", "failed"):
                with _opened(place, home) as archive:
                    for day in sorted(os.listdir(archive), reverse=True):
                        end = self._find_on(day, archive, place)
                        if end:
                            return end, False
        except PermissionError:
            return self._find_told(home), False
        return None, False

    def _is_ours(self, status: Optional[os.stat_result]) -> bool:
        return status is not None and self._inode in (None, status.st_ino)

    def _find_on(self, day: str, archive: int, place: str) -> Optional[JobEnd]:
        try:
            with _opened(day, archive) as directory:
                if not self._is_ours(_status(self._name, directory)):
                    return None
                # The result file appears before the job.
                text = _contents(f"{self._name}.result.json", directory)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return JobEnd(self._name, place, f"{place}/{day}/{self._name}", None if text is None else json.loads(text))

    def _find_told(self, home: int) -> Optional[JobEnd]:
        """Returns the end of the job as the daemon tells those who may drop jobs."""
        with suppress(FileNotFoundError), _opened("tmp", home) as staging, _opened(".jobs", staging) as directory:
            # Only the daemon writes there. Another user may have made a folder of this name before.
            if os.fstat(directory).st_uid not in (_daemon_user(home), 0):
                return None
            # The list of held jobs comes first in this order.
            for file in sorted(os.listdir(directory), reverse=True):
                if file == "held" or file.startswith(("ended-", "earlier-")):
                    end = self._find_in(file, directory)
                    if end:
                        return end
        return None

    def _find_in(self, file: str, directory: int) -> Optional[JobEnd]:
        try:
            opened = os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory), "rb")
        except FileNotFoundError:
            return None
        with opened:
            key, head = os.fstat(opened.fileno()).st_ino, opened.read(256)
            end, beginning = self._read.get(key, (0, b""))
            # A file that begins otherwise is another, which has got the inode of a removed one.
            start = opened.seek(end if head.startswith(beginning) else 0)
            text = opened.read()
        # The daemon may be writing the last line.
        text = text[: text.rfind(b"\n") + 1]
        for line in reversed(text.splitlines()):
            fields = line.split(b"\t", 3)
            if len(fields) == 4 and self._is_meant(fields[0]) and self._inode in (None, int(fields[1])):
                path = os.fsdecode(unquote_to_bytes(fields[2]))
                state = path.split("/")[0].replace("hold", "held")
                return JobEnd(self._name, state, path, json.loads(fields[3]) or None)
        # The list of held jobs is replaced as a whole.
        if file != "held":
            self._read[key] = (start + len(text), head)
        return None

    def _is_meant(self, escaped: bytes) -> bool:
        return (unquote_to_bytes(escaped) if b"%" in escaped else escaped) == os.fsencode(self._name)


def _obstacle(home: str) -> str:
    """Returns why the daemons say that the app sends nothing before its configuration changes; empty if it may."""
    spool, app = os.path.split(os.path.abspath(home))
    public = os.path.join(spool, ".pushspool", "public")
    reasons = []
    for node in os.listdir(public) if os.path.isdir(public) else []:
        try:
            path = os.path.join(public, node, "status.json")
            # A daemon writes it every 30 s.
            if time.time() - os.stat(path).st_mtime > 60:
                continue
            with open(path, "rb") as file:
                apps = json.load(file)["apps"]
        except (OSError, ValueError, KeyError):
            # There is none yet, or the node is being removed.
            continue
        reasons += [found for found in apps if found.get("app") == app]
    if not reasons or any(found.get("state") not in ("stopped", "broken", "unconfigured") for found in reasons):
        return ""
    return f": {app} {reasons[0].get('reason') or 'is ' + reasons[0]['state']}"


def _contents(name: str, directory: int) -> Optional[bytes]:
    try:
        number = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    except FileNotFoundError:
        return None
    with os.fdopen(number, "rb") as file:
        return file.read()


# Feedback


def feedback(
    folder: Folder, *, app: Optional[str] = None, follow: bool = False, poll: float = 1.0, consume: bool = False,
    move_to: Optional[Folder] = None, remember: int = 65_536, until: Optional[Callable[[], bool]] = None,
) -> Iterator[Dict[str, Any]]:
    """Iterates over an app's feedback lines, oldest file first. All files stay, unless you ask otherwise.

    With `consume`, each file is deleted once you have taken all of its lines, of every kind: filter the lines yourself.
    A line counts as taken when you ask for the next one. If you stop early, or your process dies, you get the lines of
    the current file again: each line comes at least once. Repeats are dropped as far as they are remembered. A repeat
    is a line with the `kind`, `id` and `index` of an earlier one and no new information. A line that corrects an
    earlier one is not dropped.

    Symbolic links, pipes, other non-regular files, and files of other users than the daemon's and root are skipped.

    :param follow: continue when there are no more lines, and look again every `poll` seconds.
    :param consume: delete each file when all of its lines were taken.
    :param move_to: move each file there instead, on the same filesystem.
    :param remember: the number of remembered lines, 200 bytes each.
    :param until: called at each pause of `follow`; True ends the iteration.
    :raises PushspoolError: the folder cannot be read, or files cannot be removed.
    :raises InputFault: a line is not JSON; its file stays.
    """
    repeats = _Repeats(remember)
    for file in _files(folder, app, follow, poll, _removal(consume, move_to), until):
        for number, text in enumerate(file, 1):
            line = _parsed(text, file.name, number)
            if repeats.is_news(line):
                yield line
        file.finish()


class _FeedbackFile:
    """An open feedback file."""

    def __init__(self, directory: int, name: str, number: int, removal: Optional[_Removal]) -> None:
        self.name = name
        self._directory = directory
        self._removal = removal
        self._file = os.fdopen(number, "rb")

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._file)

    def close(self) -> None:
        self._file.close()

    def finish(self) -> None:
        """Deletes or moves the file, if requested."""
        self.close()
        if self._removal is None:
            return
        with _translated(_REMOVAL_HINT):
            try:
                self._removal(self._directory, self.name)
            except FileNotFoundError:
                # Another consumer removed the file. If the file still exists, the target folder is missing.
                if _exists(self.name, self._directory):
                    raise


def _files(
    folder: Folder, app: Optional[str], follow: bool, poll: float, removal: Optional[_Removal],
    until: Optional[Callable[[], bool]],
) -> Iterator[_FeedbackFile]:
    latest: Dict[str, str] = {}
    path = os.path.join(_home(folder, app), "feedback")
    if removal is not None and os.path.isdir(path) and not os.access(path, os.W_OK | os.X_OK, effective_ids=True):
        # Fail before the first line: otherwise the lines would come again and again.
        raise PushspoolError(f"no permission to remove files in {path}", _REMOVAL_HINT)
    while True:
        # Open the folder each time, because it may have been replaced.
        with _translated(), _opened(_home(folder, app)) as home, _opened("feedback", home) as directory:
            owners = (_daemon_user(home), 0)
            for name in _names(directory):
                node = name[23:]
                if removal is None and name <= latest.get(node, ""):
                    continue
                number = _opened_file(name, directory, owners)
                if number is None:
                    continue
                latest[node] = name
                file = _FeedbackFile(directory, name, number, removal)
                try:
                    yield file
                finally:
                    file.close()
        if not follow or (until is not None and until()):
            return
        time.sleep(poll)


def _names(directory: int) -> List[str]:
    """Returns complete files, oldest first: in order for one node, and across nodes as far as their clocks agree."""
    return sorted(name for name in os.listdir(directory) if name.endswith(".jsonl") and not name.startswith("."))


def _removal(consume: bool, move_to: Optional[Folder]) -> Optional[_Removal]:
    """Returns the function that removes files, or None if they stay."""
    if move_to is None:
        return (lambda directory, name: os.unlink(name, dir_fd=directory)) if consume else None
    if consume:
        raise InputFault("consume and move_to cannot be combined", "use only one of them")
    target_path = os.fspath(move_to)
    if not os.path.isdir(target_path):
        raise InputFault(f"{target_path} is not a folder", "create it on the filesystem of the spool")

    def move(directory: int, name: str) -> None:
        with _opened(target_path) as target:
            _rename_no_replace(directory, name, target, name)

    return move


def _parsed(text: bytes, file: str, number: int) -> Dict[str, Any]:
    try:
        line = json.loads(text)
    except ValueError as error:
        raise InputFault(f"feedback/{file}:{number}: not JSON: {error}", "move the file away, and check it") from error
    if not isinstance(line, dict):
        raise InputFault(f"feedback/{file}:{number}: not an object", "move the file away, and check it")
    return line


class _Repeats:
    """Digests of the last lines, up to a limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._told: OrderedDict[bytes, bytes] = OrderedDict()

    def is_news(self, line: Mapping[str, Any]) -> bool:
        # A line about a token has no id; the token identifies it.
        subject = [line.get("kind"), line.get("app"), line.get("id"), line.get("index")]
        if line.get("id") is None:
            subject.append(line.get("token"))
        # A repeated line may have another time, and after a take-over another node.
        news = {name: value for name, value in line.items() if name not in ("at", "node") and not name.endswith("_at")}
        key, value = _digest(subject), _digest(news)
        is_news = self._told.pop(key, None) != value
        self._told[key] = value
        while len(self._told) > self._limit:
            self._told.popitem(last=False)
        return is_news


def _digest(value: Any) -> bytes:
    return hashlib.blake2b(json.dumps(value, sort_keys=True).encode("ascii"), digest_size=16).digest()


# Folders and faults


def _home(folder: Folder, app: Optional[str]) -> str:
    path = os.fspath(folder)
    if not _file_name(path) or "\0" in path:
        raise InputFault(f"'{_printable(path)}' is not a valid path", "pass the path of the spool")
    if app is None:
        return path
    if _file_name(app) in (b"", b".", b"..") or "/" in app or "\0" in app:
        raise InputFault(f"'{_printable(app)}' is not a valid app name", "use the name of a folder in the spool")
    return os.path.join(path, app)


@contextmanager
def _opened(path: str, parent: Optional[int] = None) -> Iterator[int]:
    """Opens a folder; inside an app's folder, it does not follow symbolic links."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    number = os.open(path, flags) if parent is None else os.open(path, flags | os.O_NOFOLLOW, dir_fd=parent)
    try:
        yield number
    finally:
        os.close(number)


def _daemon_user(home: int) -> int:
    """Returns the user to whom the daemon's files belong: only daemons write in work/."""
    try:
        return os.stat("work", dir_fd=home, follow_symlinks=False).st_uid
    except FileNotFoundError:
        return os.fstat(home).st_uid


def _opened_file(name: str, directory: int, owners: Tuple[int, ...]) -> Optional[int]:
    """Opens a regular file of these users for reading; None if there is none of this name."""
    try:
        if os.stat(name, dir_fd=directory, follow_symlinks=False).st_uid not in owners:
            return None
        # O_NONBLOCK: otherwise opening a pipe would wait for its writer.
        number = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    except OSError as error:
        # Removed by another consumer; a link; a socket; or a device without a driver.
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENXIO, errno.ENODEV):
            return None
        raise
    status = os.fstat(number)
    if stat.S_ISREG(status.st_mode) and status.st_uid in owners:
        return number
    os.close(number)
    return None


def _exists(name: str, directory: int) -> bool:
    return _status(name, directory) is not None


def _status(name: str, directory: int) -> Optional[os.stat_result]:
    try:
        return os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None


@contextmanager
def _translated(refusal: str = "") -> Iterator[None]:
    """Turns an OSError into an error with a remedy."""
    try:
        yield
    except OSError as error:
        raise PushspoolError(str(error), _remedy(error, refusal)) from error


def _remedy(error: OSError, refusal: str) -> str:
    if error.errno == errno.EROFS:
        return "under systemd add the folder to ReadWritePaths= of the unit; otherwise mount its filesystem read-write"
    if error.errno in _REFUSED:
        return refusal or "run as a member of the group that owns the folder; see pushspool-spool(7)"
    if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
        return "check the spool's path and the app's name; the daemon creates an app's folders when it starts"
    if error.errno in _FULL:
        return "free some space, and submit the job again"
    if error.errno == errno.EEXIST:
        return "rename or move the file that has that name"
    if error.errno == errno.EXDEV:
        return "keep both folders on one filesystem, without separate mounts or subvolumes"
    if error.errno == errno.EIO:
        return "check the disk, and try again"
    return ""


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() else f"%{ord(letter):02X}" for letter in name)


def _random() -> str:
    return secrets.token_hex(8)


# The command


def _main(arguments: Optional[List[str]] = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except PushspoolError as error:
        is_dropped = error.name is not None or isinstance(error, NotInTime)
        return _complain(error, 65 if isinstance(error, InputFault) else 69 if is_dropped else 75)
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        # Nothing more can be printed. Without this, Python would try to flush the rest at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return 141
        return _complain(PushspoolError(str(error), "check where the output goes"), 75)


def _complain(error: PushspoolError, code: int) -> int:
    print(f"pushspool.py: {error.message}", file=sys.stderr)
    if error.hint:
        print(f"hint: {error.hint}", file=sys.stderr)
    return code


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        self.print_usage(sys.stderr)
        self.exit(64, f"{self.prog}: {message}\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="pushspool.py", description="Drop jobs into a pushspool spool and read their feedback.")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    both = _Parser(add_help=False)
    both.add_argument("--spool", default="/var/spool/pushspool", help="the spool (%(default)s)")
    both.add_argument("-a", "--app", required=True, help="the app")

    drop = commands.add_parser("submit", parents=[both], help="drop complete, synced jobs and print their names")
    drop.add_argument("-w", "--wait", action="store_true", help="wait until the jobs have finished")
    drop.add_argument("--timeout", type=float, default=300, help="the most seconds to wait (%(default)s)")
    formats = ("json", "yaml", "jsonl")
    drop.add_argument("--format", choices=formats, default="json", help="the format of standard input (%(default)s)")
    drop.add_argument("--no-sync", action="store_true", help="do not sync: a power loss may lose the job")
    drop.add_argument("files", nargs="+", metavar="file", help="job files; - reads standard input")
    drop.set_defaults(run=_run_submit)

    read = commands.add_parser("feedback", parents=[both], help="print the lines of feedback files")
    read.add_argument("-f", "--follow", action="store_true", help="wait for new lines; look every second")
    # With a filter, lines that were not shown would be deleted.
    rest = read.add_mutually_exclusive_group()
    rest.add_argument("--kind", choices=("job", "notification", "token"), help="print only lines of this kind")
    rest.add_argument("--consume", action="store_true", help="delete each file when all of its lines are printed")
    rest.add_argument("--move-to", metavar="folder", help="move each file there when all of its lines are printed")
    read.set_defaults(run=_run_feedback)
    return parser


def _run_submit(options: argparse.Namespace) -> int:
    names = []
    for path in options.files:
        name = f"stdin.{options.format}" if path == "-" else os.path.basename(path)
        try:
            file = sys.stdin.buffer if path == "-" else open(path, "rb")
        except OSError as error:
            raise InputFault(str(error), "check the path and its permissions") from error
        with file:
            names.append(_submit(options.spool, options.app, _pieces(file, path), name, not options.no_sync, True))
        print(names[-1], flush=True)
    code = 0
    for name in names if options.wait else []:
        try:
            end = wait(options.spool, name, app=options.app, timeout=options.timeout)
        except PushspoolError as error:
            error.name = name
            raise
        print(f"{name}: {end.state}{', all accepted' if end.is_accepted else ''}")
        if end.result is not None:
            print(json.dumps(end.result, ensure_ascii=False, indent=2))
        code = code if end.is_accepted else 65
    return code


def _pieces(file: Any, path: str) -> Iterator[bytes]:
    piece = file.read(1 << 16)
    if not piece:
        raise InputFault(f"{path} is empty", "write a job as pushspool-job(5) describes")
    while piece:
        yield piece
        piece = file.read(1 << 16)


def _run_feedback(options: argparse.Namespace) -> int:
    repeats = _Repeats(65_536)
    removal = _removal(options.consume, options.move_to)
    for file in _files(options.spool, options.app, options.follow, 1.0, removal, None):
        for number, text in enumerate(file, 1):
            line = _parsed(text, file.name, number)
            if repeats.is_news(line) and options.kind in (None, line.get("kind")):
                sys.stdout.buffer.write(text if text.endswith(b"\n") else text + b"\n")
        sys.stdout.buffer.flush()
        if removal is not None:
            # Unwritten output would be lost with its file.
            _sync_output(sys.stdout.fileno())
        file.finish()
    return 0


def _sync_output(number: int) -> None:
    """Syncs the output if it goes to a file; a pipe or a terminal has nothing to sync."""
    if stat.S_ISREG(os.fstat(number).st_mode):
        os.fsync(number)


if __name__ == "__main__":
    sys.exit(_main())
