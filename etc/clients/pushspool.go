// Package pushspool drops jobs into a pushspool spool and reads their outcomes. It needs only Go 1.19 or newer on Linux.
//
//	weather := pushspool.App{Folder: "/var/spool/pushspool/weather"}
//	name, err := weather.Submit("order.json", func(job io.Writer) error {
//		return json.NewEncoder(job).Encode(map[string]any{"token": token, "alert": "Hi"})
//	})
//	end, err := weather.Wait(name, 5*time.Minute)
//	err = weather.Feedback(true, func(line []byte) error { return forgetIfGone(line) })
//
// For a job of lines, encode a first line such as {"defaults": {"alert": "Storm"}} to "storm.jsonl", then one token after
// the other: millions need no more memory.
//
// Package syscall has no renameat2(2): a unique name has 64 random bits, and ExactNames uses link(2), after which the file
// must settle. pushspool-spool(7) explains that and the folders, pushspool-job(5) jobs, pushspool-feedback(5) the lines.
package pushspool

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The kinds of errors, for errors.Is. Unless it is ErrInDoubt, Submit has dropped nothing, and you may repeat it.
var (
	ErrInput     = errors.New("faulty input")                         // a repetition does not help
	ErrNotInTime = errors.New("the job has not ended")                // within the time-out, or its app is stopped
	ErrInDoubt   = errors.New("it is unknown whether it was dropped") // Submit returns the job's name in new/, too
)

// App is an app in the spool. Submit puts 17 characters before a name's ending, which make it unique. With ExactNames, it
// uses exactly the name that you pass, and fails if new/ has it.
type App struct {
	Folder     string
	ExactNames bool
}

// End is the end of a job: State is "done", "failed" or "held", Path begins at the app's folder, and Result is JSON with the
// reasons. If the job is done and has none, all of its notifications were accepted.
type End struct {
	State, Path string
	Result      []byte
}

var hints = map[error]string{
	os.ErrPermission: "run as a member of the group that owns the folder; see pushspool-spool(7)",
	os.ErrNotExist:   "check the spool's path and the app's name; the daemon creates an app's folders when it starts",
	os.ErrExist:      "use another name, or no ExactNames",
	syscall.ENOSPC:   "free some space, and submit the job again",
}

// The inodes of the last jobs with exact names, which other jobs may have had, by their paths.
var inodes = struct {
	sync.Mutex
	of map[string]uint64
}{of: map[string]uint64{}}

var jobName = regexp.MustCompile(`^[^.\x00-\x1f\x7f/][^\x00-\x1f\x7f/]*?(\.(?:json|jsonl|yaml|yml))$`)

// Submit drops the job that write writes, atomically and durably, and returns its name. The name's ending sets the format;
// "urgent-" or "bulk-" at its start selects a lane. Errors of write pass through.
func (a App) Submit(name string, write func(job io.Writer) error) (final string, err error) {
	defer recovered(&err)
	match := jobName.FindStringSubmatch(name)
	isValid := match != nil && len(name) <= 200 && !strings.HasSuffix(name, ".result.json")
	require(isValid, ErrInput, "%q is not a valid job name; use at most 200 bytes, no leading dot, slash or control character, "+
		"and end it in .json, .jsonl, .yaml or .yml", name)
	random := make([]byte, 16)
	must(rand.Read(random))
	publish := os.Link
	if !a.ExactNames {
		publish, name = os.Rename, fmt.Sprintf("%s-%x%s", strings.TrimSuffix(name, match[1]), random[8:], match[1])
	}
	directory := must(os.OpenFile(a.Folder+"/new", syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0))
	defer directory.Close()
	stage := "/tmp"
	tmp, err := os.Stat(a.Folder + stage)
	if err != nil || status(tmp).Dev != status(must(directory.Stat())).Dev || syscall.Access(a.Folder+stage, 3) != nil {
		stage = "/new" // a hidden file there, because tmp/ cannot be used
	}
	path := fmt.Sprintf("%s%s/.%x%s", a.Folder, stage, random[:8], match[1])
	file := must(os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644))
	defer os.Remove(path) // the daemon ignores this file
	defer file.Close()
	buffer := bufio.NewWriterSize(file, 1<<16)
	err = write(buffer)
	if check(buffer.Flush()); err != nil {
		return "", err
	}
	require(must(file.Stat()).Size() > 0, ErrInput, "the job is empty; write it as pushspool-job(5) describes")
	check(file.Chmod(0o644)) // whatever the umask is: the daemon, another user, must be able to read it
	// On a shared filesystem a daemon on another host sees by this that the file was renamed after the last write.
	check(os.Chtimes(path, time.Now(), time.Unix(time.Now().Unix()-1, 0)))
	check(file.Sync())
	check(file.Close()) // the daemon does not take a file that is still open for writing
	check(publish(path, a.Folder+"/new/"+name))
	if a.ExactNames {
		a.noteInode(name, status(must(os.Lstat(path))).Ino)
	}
	// Sync new/, and check that it still has its path. On failure withdraw the job, unless the daemon claimed it.
	failure := directory.Sync()
	there, err := os.Lstat(directory.Name())
	isSame := err == nil && os.SameFile(must(directory.Stat()), there)
	if failure == nil && isSame {
		return name, nil
	}
	err = os.Remove(directory.Name() + "/" + name)
	if isSame && errors.Is(err, os.ErrNotExist) {
		return name, nil
	}
	require(err != nil, errors.New("new/ was moved, or cannot be synced"), "%v; submit the job again", failure)
	return name, fmt.Errorf("%w: %v; look for it in new/ before you submit it again", ErrInDoubt, err)
}

func (a App) noteInode(name string, inode uint64) {
	inodes.Lock()
	defer inodes.Unlock()
	for path := range inodes.of {
		if len(inodes.of) < 10_000 {
			break
		}
		delete(inodes.of, path)
	}
	inodes.of[a.Folder+"/new/"+name] = inode
}

// Wait waits until a job has ended or is held. It fails at once if the app is stopped. It reads tmp/.jobs/, which has the
// app's last jobs.
func (a App) Wait(name string, timeout time.Duration) (end End, err error) {
	defer recovered(&err)
	require(strings.Trim(name, ".") != "" && !strings.ContainsAny(name, "/\x00"), ErrInput, "%q: pass what Submit returned", name)
	inodes.Lock()
	inode, read := inodes.of[a.Folder+"/new/"+name], map[uint64]int64{}
	inodes.Unlock()
	for deadline := time.Now().Add(timeout); ; time.Sleep(100 * time.Millisecond) {
		waiting, err := os.Lstat(a.Folder + "/new/" + name)
		if !isMissing(err) {
			inode = status(waiting).Ino
		} else if end := a.told(name, inode, read); end.State != "" {
			return end, nil
		}
		reason := a.obstacle()
		isInTime := reason == "" && time.Now().Before(deadline)
		require(isInTime, ErrNotInTime, "%s%s; is the daemon running? see its log", name, reason)
	}
}

// told returns what the last line about a job says. read has how much of each file was read, by inode.
func (a App) told(name string, inode uint64, read map[uint64]int64) (end End) {
	check(syscall.Access(a.Folder+"/tmp", 5)) // to read and search
	folder, err := os.Lstat(a.Folder + "/tmp/.jobs")
	if isMissing(err) || !a.isDaemons(folder) {
		return // another user may have made it before the daemon
	}
	paths := must(fs.Glob(os.DirFS(a.Folder), "tmp/.jobs/e[an]*-*")) // earlier-NODE and ended-NODE
	for _, path := range append(paths, "tmp/.jobs/held") {
		file, err := os.Open(a.Folder + "/" + path)
		if isMissing(err) {
			continue
		}
		seen := must(file.Stat())
		start := read[status(seen).Ino]
		if start > seen.Size() || strings.HasSuffix(path, "/held") {
			start = 0 // another file has got the inode of a removed one; the list of held jobs is replaced as a whole
		}
		data := must(io.ReadAll(io.NewSectionReader(file, start, 1<<40)))
		check(file.Close())
		data = data[:bytes.LastIndexByte(data, '\n')+1] // the daemon may be writing the last line
		read[status(seen).Ino] = start + int64(len(data))
		for _, line := range strings.Split(string(data), "\n") {
			fields := strings.SplitN(line, "\t", 4)
			dropped, err := url.PathUnescape(fields[0])
			if len(fields) < 4 || err != nil || dropped != name || inode != 0 && fields[1] != fmt.Sprint(inode) {
				continue
			}
			path := must(url.PathUnescape(fields[2]))
			state, _, _ := strings.Cut(strings.Replace(path, "hold", "held", 1), "/")
			if end = (End{state, path, nil}); fields[3] != "{}" {
				end.Result = []byte(fields[3])
			}
		}
	}
	return end
}

// obstacle returns why the app sends nothing before its configuration changes, as daemons write every 30 s, or "".
func (a App) obstacle() (reason string) {
	spool, app := filepath.Split(filepath.Clean(a.Folder))
	public := os.DirFS(spool + ".pushspool/public")
	paths, _ := fs.Glob(public, "*/status.json") // the pattern is right
	for _, path := range paths {
		var told struct {
			Apps []struct{ App, State, Reason string }
		}
		file, err := fs.Stat(public, path)
		data, _ := fs.ReadFile(public, path) // a node may be removed meanwhile
		if err != nil || time.Since(file.ModTime()) > time.Minute || json.Unmarshal(data, &told) != nil {
			continue
		}
		for _, found := range told.Apps {
			if found.App == app && !strings.Contains("stopped broken unconfigured", found.State) {
				return ""
			} else if found.App == app && found.Reason != "" {
				reason = ": " + app + " " + found.Reason
			} else if found.App == app && reason == "" {
				reason = ": " + app + " is " + found.State
			}
		}
	}
	return reason
}

// Feedback calls take with each feedback line, oldest file first. Files stay, unless you consume them: then each is deleted
// once take has returned nil for all of its lines. If take fails, they come again: a line comes at least once. Feedback
// skips links, pipes, and files of other users than the daemon's and root.
func (a App) Feedback(consume bool, take func(line []byte) error) (err error) {
	defer recovered(&err)
	// Fail before the first line if it cannot be written: otherwise the lines would come again and again.
	check(syscall.Access(a.Folder+"/feedback", map[bool]uint32{false: 5, true: 7}[consume]))
	for _, name := range must(fs.Glob(os.DirFS(a.Folder), "feedback/[^.]*.jsonl")) {
		seen, err := os.Lstat(a.Folder + "/" + name)
		if isMissing(err) || !seen.Mode().IsRegular() || !a.isDaemons(seen) {
			continue
		}
		file, err := os.OpenFile(a.Folder+"/"+name, syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
		if isMissing(err) {
			continue
		}
		data := must(io.ReadAll(file))
		check(file.Close())
		for _, line := range bytes.FieldsFunc(data, func(letter rune) bool { return letter == '\n' }) {
			if err := take(line); err != nil {
				return err
			}
		}
		if consume {
			isMissing(os.Remove(a.Folder + "/" + name))
		}
	}
	return nil
}

type failed struct{ error } // thrown by check and require, caught by recovered

func recovered(err *error) {
	if failure := recover(); failure != nil {
		*err = failure.(failed).error
	}
}
func must[Value any](value Value, err error) Value {
	check(err)
	return value
}
func check(err error) {
	hint := "check the disk, and that its filesystem is mounted read-write"
	for cause, text := range hints {
		if errors.Is(err, cause) {
			hint = text
		}
	}
	require(err == nil, err, "%s", hint)
}
func isMissing(err error) bool {
	if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		check(err)
	}
	return err != nil
}
func require(isRight bool, kind error, format string, arguments ...any) {
	if !isRight {
		panic(failed{fmt.Errorf("%w: "+format, append([]any{kind}, arguments...)...)})
	}
}

// isDaemons tells whether a file belongs to the daemon's user, who alone writes in work/, or to root.
func (a App) isDaemons(file os.FileInfo) bool {
	uid := status(file).Uid
	return uid == 0 || uid == status(must(os.Lstat(a.Folder+"/work"))).Uid
}
func status(file os.FileInfo) *syscall.Stat_t { return file.Sys().(*syscall.Stat_t) }
