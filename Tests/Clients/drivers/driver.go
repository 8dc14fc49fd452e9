// Carries out requests, one JSON object a line, with pushspool.go, and answers each with a line.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"clients/pushspool"
)

type request struct {
	Call, Spool, App string
	Name             *string
	NameHex          string `json:"name_hex"`
	Job              any
	JobHex           string `json:"job_hex"`
	Unique           *bool
	Head             map[string]any
	Recipients       []any
	Breaks, Consume  bool
	Timeout          float64
	Take             int
}

type object = map[string]any

var (
	errEnough = errors.New("enough")
	errBroken = errors.New("the database has gone")
)

func (r request) write(job io.Writer) error {
	encoder := json.NewEncoder(job)
	if r.Call == "lines" {
		if len(r.Head) > 0 {
			encoder.Encode(r.Head)
		}
		for _, recipient := range r.Recipients {
			encoder.Encode(recipient)
		}
		if r.Breaks {
			return errBroken
		}
		return nil
	}
	if text, isText := r.Job.(string); isText || r.Job == nil {
		data, _ := hex.DecodeString(r.JobHex)
		_, err := io.WriteString(job, text+string(data))
		return err
	}
	return encoder.Encode(r.Job)
}

func (r request) answer() (object, error) {
	app := pushspool.App{Folder: filepath.Join(r.Spool, r.App), ExactNames: r.Unique != nil && !*r.Unique}
	name := map[string]string{"submit": "job.json", "lines": "job.jsonl"}[r.Call]
	if r.NameHex != "" {
		data, _ := hex.DecodeString(r.NameHex)
		name = string(data)
	} else if r.Name != nil {
		name = *r.Name
	}
	switch r.Call {
	case "submit", "lines":
		final, err := app.Submit(name, r.write)
		return object{"name_hex": hex.EncodeToString([]byte(final)), "job": final}, err
	case "wait":
		end, err := app.Wait(name, time.Duration(r.Timeout*float64(time.Second)))
		result := json.RawMessage(end.Result)
		isAccepted := end.State == "done" && end.Result == nil
		return object{"name": name, "state": end.State, "path": end.Path, "result": result, "is_accepted": isAccepted}, err
	}
	lines := []any{}
	err := app.Feedback(r.Consume, func(line []byte) error {
		var value map[string]any
		if err := json.Unmarshal(line, &value); err != nil {
			return fmt.Errorf("%w: %v", pushspool.ErrInput, err)
		}
		lines = append(lines, value)
		if r.Take > 0 && len(lines) >= r.Take {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return object{"lines": lines}, err
}

func kind(err error) string {
	switch {
	case errors.Is(err, pushspool.ErrInput), errors.Is(err, os.ErrExist):
		return "input"
	case errors.Is(err, pushspool.ErrNotInTime):
		return "not_in_time"
	case errors.Is(err, pushspool.ErrInDoubt):
		return "in_doubt"
	case errors.Is(err, errBroken):
		return "other"
	}
	return "failed"
}

func main() {
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			return
		}
		var request request
		if err := json.Unmarshal(line, &request); err != nil {
			panic(err)
		}
		result, err := request.answer()
		if err != nil {
			result = object{"error": kind(err), "message": err.Error(), "hint": err.Error(), "job": result["job"]}
		}
		text, err := json.Marshal(result)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
	}
}
