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
// Package syscall has no renameat2(2). A unique name has 64 random bits, so rename(2) replaces nothing. ExactNames uses
// link(2), which never replaces: the daemon then lets the file settle for 1 s, or for 10 s if it is YAML or lines that do
// not mark their end. pushspool-spool(7) explains the folders, pushspool-job(5) jobs, pushspool-feedback(5) the lines.
package pushspool

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// The kinds of errors, for errors.Is. Unless it is ErrInDoubt, Submit has dropped nothing, and you may repeat it.
var (
	ErrInput     = errors.New("faulty input")                         // a repetition does not help
	ErrNotInTime = errors.New("the job has not ended")                // within the time-out
	ErrInDoubt   = errors.New("it is unknown whether it was dropped") // Submit returns the job's name in new/, too
)

// App is an app in the spool. Submit puts 17 characters before a name's ending, which make it unique. With ExactNames, it
// uses exactly the name that you pass, and fails if new/ has it.
type App struct {
	Folder     string
	ExactNames bool
}

// End is the end of a job: State is "done", "failed" or "held", Path begins at the app's folder, and Result is the contents
// of its result file. If the job is done and has none, all of its notifications were accepted.
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

// Wait waits until a job has ended or is held. Only members of their group can read done/ and failed/.
func (a App) Wait(name string, timeout time.Duration) (end End, err error) {
	defer recovered(&err)
	require(strings.Trim(name, ".") != "" && !strings.ContainsAny(name, "/\x00"), ErrInput, "%q: pass what Submit returned", name)
	for deadline := time.Now().Add(timeout); ; time.Sleep(100 * time.Millisecond) {
		check(syscall.Access(a.Folder+"/done", 5)) // to read and search
		days := append(must(fs.Glob(os.DirFS(a.Folder), "done/*")), must(fs.Glob(os.DirFS(a.Folder), "failed/*"))...)
		for _, folder := range append([]string{"new", "hold"}, days...) { // in the order in which jobs move
			path := folder + "/" + name
			if _, err := os.Lstat(a.Folder + "/" + path); folder == "new" && err == nil {
				break
			} else if !isMissing(err) {
				// The result file appears before the job.
				result, err := os.ReadFile(a.Folder + "/" + path + ".result.json")
				isMissing(err)
				return End{strings.Replace(strings.Split(path, "/")[0], "hold", "held", 1), path, result}, nil
			}
		}
		require(time.Now().Before(deadline), ErrNotInTime, "%s; is the daemon running? see its log", name)
	}
}

// Feedback calls take with each feedback line, oldest file first. Files stay, unless you consume them: then each is deleted
// once take has returned nil for all of its lines. If take fails, they come again: a line comes at least once. Feedback
// skips links, pipes, and files of other users than the daemon's and root.
func (a App) Feedback(consume bool, take func(line []byte) error) (err error) {
	defer recovered(&err)
	// Fail before the first line if it cannot be written: otherwise the lines would come again and again.
	check(syscall.Access(a.Folder+"/feedback", map[bool]uint32{false: 5, true: 7}[consume]))
	daemon := status(must(os.Lstat(a.Folder + "/work"))).Uid
	for _, name := range must(fs.Glob(os.DirFS(a.Folder), "feedback/[^.]*.jsonl")) {
		seen, err := os.Lstat(a.Folder + "/" + name)
		if isMissing(err) || !seen.Mode().IsRegular() || status(seen).Uid != 0 && status(seen).Uid != daemon {
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
func status(file os.FileInfo) *syscall.Stat_t { return file.Sys().(*syscall.Stat_t) }
