"""pushspool.sh, under every shell that is there."""

import os
import shlex
import shutil
import signal
import subprocess
import unittest

from spool import IS_ROOT, SHELL_CLIENT, SpoolTest, become_nobody, can_unshare, die_with_parent, eventually

BAD_NAMES = [
    ".json", ".a.json", "..json", "a/b.json", "../a.json", "a.result.json", "a.txt", "a.json~", "a.JSON", "a",
    "a\n.json", "\x7f.json", "x" * 196 + ".json",
]
# What the client runs, in front of each of which it may die.
TOOLS = ["cat", "chmod", "mktemp", "mv", "od", "rm", "stat", "sync", "tr"]


class ShellTests:
    """For one shell; `shell` is how it is called."""

    shell = []
    #: Tools that come before the system's.
    tools = ""

    def environment(self, **more):
        return {**os.environ, "PATH": self.tools + os.environ["PATH"], "CLIENT": SHELL_CLIENT, **more}

    def start(self, script, *arguments, **more):
        environment = self.environment(**more.pop("environment", {}))
        return subprocess.Popen(
            [*self.shell, "-c", '. "$CLIENT"\n' + script, "sh", *arguments], env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            **{"preexec_fn": die_with_parent, **more})

    def run_script(self, script, *arguments, **more):
        text = more.pop("input", "")
        with self.start(script, *arguments, **more) as child:
            output, errors = child.communicate(text, timeout=60)
        return subprocess.CompletedProcess(arguments, child.returncode, output, errors)

    def submit(self, *arguments, script='pushspool_submit "$@"', **more):
        return self.run_script(script, self.spool, "weather", *arguments, **more)

    # Submitting

    def test_a_job_is_dropped_whole_under_a_name_of_its_own(self):
        text = '{"n":"' + "x" * 200_000 + '"}'
        path = self.outside("urgent storm.json", text)
        names = [self.submit(path).stdout.rstrip("\n") for _ in range(2)]
        self.assertEqual(self.jobs(), sorted(names))
        for name in names:
            self.assertRegex(name, r"^urgent storm-[0-9a-f]{16}\.json$")
            self.assertEqual(self.text("new", name), text)
        self.assertEqual(self.names("tmp"), [])

    def test_standard_input_is_a_job_and_a_name_may_be_given(self):
        cases = [(["-"], r"^stdin-.{16}\.json$"), (["-", "bulk-é.jsonl"], r"^bulk-é-.{16}\.jsonl$")]
        for arguments, pattern in cases:
            result = self.submit(*arguments, input='"ab"\n')
            self.assertRegex(result.stdout, pattern, result.stderr)
            self.assertEqual(self.text("new", result.stdout.rstrip("\n")), '"ab"\n')

    def test_a_path_that_is_relative_or_begins_with_a_dash_is_a_path(self):
        self.outside("-rf.json", "{}")
        result = self.run_script('pushspool_submit spool weather -rf.json', cwd=self.place)
        self.assertEqual(self.jobs(), [result.stdout.rstrip("\n")])

    def test_the_daemon_can_read_it_whatever_the_umask_is(self):
        result = self.submit("-", input="{}", script='umask 077; pushspool_submit "$@"')
        self.assertEqual(os.stat(self.path("new", result.stdout.rstrip("\n"))).st_mode & 0o777, 0o644)

    def test_the_options_of_the_caller_change_nothing(self):
        result = self.submit("-", input="{}", script='set -euf; IFS=/; pushspool_submit "$@"; echo "$-"')
        self.assertEqual(self.jobs(), [result.stdout.split("\n")[0]])
        self.assertIn("f", result.stdout.split("\n")[1])

    def test_no_option_and_no_readonly_variable_of_the_caller_keeps_a_job_from_being_dropped(self):
        names = "home file name staged published folder end state found filter target ending final result LC_ALL _"
        settings = ["set -C", "set -C -e -u -f", "set -a", "set -v", "IFS=0123456789", "alias rm='rm -i' mv='mv -i'"]
        settings += [f"readonly {name}=x" for name in names.split()]
        if "bash" in self.shell[0]:
            settings += [f"shopt -s {name}" for name in ("failglob", "nullglob", "nocasematch", "extglob dotglob")]
            settings += ["set -o pipefail", "set -o posix", "set -E -T"]
        for setting in settings:
            script = setting + '; pushspool_submit "$@" || exit'
            result = self.submit("-", "a.json", input="{}", script=script)
            self.assertEqual((result.returncode, len(self.jobs())), (0, 1), (setting, result.stderr))
            job = result.stdout.rstrip("\n")
            os.makedirs(self.path("done", "2026-11-21"), exist_ok=True)
            os.rename(self.path("new", job), self.path("done", "2026-11-21", job))
            self.put('{"kind":"job"}\n', "feedback", "1-a.jsonl")
            read = 'pushspool_wait "$1" "$2" "$3" 5 && pushspool_feedback "$1" "$2" && pushspool_consume "$1" "$2"'
            result = self.submit(job, script=f"{setting}; {read}")
            self.assertEqual(result.stdout.count('"kind"'), 2, (setting, result.stderr))
            self.assertEqual(self.names("feedback"), [], setting)

    def test_an_empty_name_path_or_number_is_refused_and_never_replaced_by_a_default(self):
        path = self.outside("a.json", "{}")
        scripts = ['pushspool_submit "$1" "$2" "$3" ""', 'pushspool_wait "$1" "$2" ""', 'pushspool_wait "$1" "$2" ..']
        for script in scripts:
            result = self.submit(path, script=script)
            self.assertEqual((result.returncode, result.stdout), (65, ""), script)
            self.assertIn("\nhint: ", result.stderr)
        for script in ('pushspool_submit "" weather "$3"', 'pushspool_feedback "" weather'):
            result = self.submit(path, script=script, cwd=self.spool)
            self.assertEqual(result.returncode, 65, script)
        for seconds in ("", "x", "1.5", "08", "-1"):
            result = self.submit("a.json", script=f'pushspool_wait "$@" "{seconds}"')
            self.assertEqual(result.returncode, 64, (seconds, result.stderr))
        self.assert_nothing_dropped()

    def test_a_job_whose_folder_is_moved_before_the_rename_is_refused(self):
        script = 'pushspool_random() { mv "$APP" "$APP.old"; mkdir -p "$APP/new" "$APP/tmp"; echo 1; }\n'
        script += 'pushspool_submit "$@"'
        result = self.submit("-", "a.json", input="{}", environment={"APP": self.app}, script=script)
        self.assertEqual((result.returncode, result.stdout), (75, ""), result.stderr)
        self.assertIn("was moved, replaced or removed; submit the job again", result.stderr)
        self.assert_nothing_dropped()

    def test_what_is_no_name_of_a_job_is_refused(self):
        for name in BAD_NAMES:
            result = self.submit("-", name, input="{}")
            self.assertEqual(result.returncode, 65, name)
            self.assertIn("no leading dot", result.stderr)
        self.assert_nothing_dropped()

    def test_what_is_no_job_is_refused_with_a_remedy(self):
        (self.outside("empty.json", ""), os.mkdir(self.place + "/folder.json"))
        cases = [
            (["-"], 65), ([self.place + "/nowhere.json"], 65), ([self.place + "/empty.json"], 65),
            ([self.place + "/folder.json"], 65), ([], 64), (["-", "a.json", "b"], 64),
        ]
        for arguments, code in cases:
            result = self.submit(*arguments)
            self.assertEqual(result.returncode, code, (arguments, result.stderr))
            self.assertIn("\nhint: ", result.stderr)
        for app in ("nobody", "", ".", "..", "a/b"):
            result = self.run_script('pushspool_submit "$@"', self.spool, app, "-", input="{}")
            self.assertIn(result.returncode, (65, 75))
            self.assertIn("\nhint: ", result.stderr)
        self.assert_nothing_dropped()

    def test_a_name_that_is_taken_is_not_used(self):
        script = 'pushspool_random() { cat "$DIGITS"; echo 1 >>"$DIGITS"; }; pushspool_submit "$@"'
        self.put("old", "new", "a-0.json")
        digits = self.outside("digits", "0")
        self.submit("-", "a.json", input="new", environment={"DIGITS": digits}, script=script.replace("echo", "printf"))
        self.assertEqual(self.jobs(), ["a-0.json", "a-01.json"])
        self.assertEqual([self.text("new", name) for name in self.jobs()], ["old", "new"])

    def test_many_who_want_one_name_all_get_one_of_their_own(self):
        texts = [str(number) * 50_000 for number in range(8)]
        children = [self.start('pushspool_submit "$@"', self.spool, "weather", "-", "one.json") for _ in texts]
        for child, text in zip(children, texts):
            child.stdin.write(text)
        for child in children:
            self.assertEqual(len(child.communicate(timeout=60)[0].split()), 1)
        self.assertEqual(sorted(self.text("new", name) for name in self.jobs()), texts)
        self.assertEqual(self.names("tmp"), [])

    def test_without_a_place_to_stage_a_hidden_name_will_do(self):
        os.rmdir(self.path("tmp"))
        name = self.submit("-", input="{}").stdout.rstrip("\n")
        self.assertEqual(self.names("new"), [name])

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_who_may_not_drop_is_told_what_to_do(self):
        client = shutil.copy(SHELL_CLIENT, self.place)
        self.let_nobody_in("feedback")
        result = self.submit("-", input="{}", preexec_fn=become_nobody, environment={"CLIENT": client})
        self.assertEqual(result.returncode, 75)
        self.assertIn("hint: run as a member of the group", result.stderr)
        self.assert_nothing_dropped()

    # Faults of the system

    @unittest.skipUnless(can_unshare(), "needs root and mount namespaces")
    def test_a_full_volume_takes_nothing_and_says_so(self):
        path = self.outside("job.json", "x" * 1_000_000)
        script = """
            mount -t tmpfs -o size=256k none "$1" && mkdir -p "$1/weather/new" "$1/weather/tmp"
            pushspool_submit "$@"; echo "code $?"; ls -A "$1/weather/new" "$1/weather/tmp" """
        result = self.in_namespace(script, path)
        self.assertIn("code 75", result.stdout)
        self.assertIn("hint: free some space", result.stderr)
        self.assertNotRegex(result.stdout, "job|submit")

    @unittest.skipUnless(can_unshare(), "needs root and mount namespaces")
    def test_a_staging_folder_on_another_filesystem_is_done_without(self):
        script = 'mount -t tmpfs none "$1/weather/tmp"; pushspool_submit "$@"; ls -A "$1/weather/tmp"'
        result = self.in_namespace(script, self.outside("a.json", "{}"))
        self.assertEqual(self.names("new"), result.stdout.split("\n")[:-1], result.stderr)

    def in_namespace(self, script, path):
        return subprocess.run(
            ["unshare", "--mount", *self.shell, "-c", '. "$CLIENT"\n' + script, "sh", self.spool, "weather", path],
            env=self.environment(), text=True, capture_output=True, timeout=60, preexec_fn=die_with_parent)

    def test_a_file_size_limit_drops_nothing(self):
        result = self.submit(self.outside("a.json", "x" * 100_000), script='ulimit -f 8; pushspool_submit "$@"')
        self.assertNotEqual(result.returncode, 0)
        self.assert_nothing_dropped()

    def shims(self, *bodies):
        """A folder of tools that do something before the system's do: `bodies` are names and lines of a script."""
        folder = os.path.join(self.place, "shims")
        os.makedirs(folder, exist_ok=True)
        for name, lines in bodies:
            real = shutil.which(name, path=self.tools + os.environ["PATH"])
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\n{lines.replace('REAL', shlex.quote(real))}\nexec {shlex.quote(real)} \"$@\"\n")
            os.chmod(path, 0o755)
        return {"PATH": folder + ":" + self.tools + os.environ["PATH"], "NOTES": self.place + "/notes"}

    def notes(self):
        with open(self.place + "/notes", encoding="utf-8") as file:
            return file.read().splitlines()

    def test_the_file_is_synced_before_its_rename_and_the_folder_behind_it(self):
        note = 'test -d "$1" && what=folder || what=file; echo "${0##*/} $what" >>"$NOTES"'
        environment = self.shims(("sync", note), ("mv", 'echo mv >>"$NOTES"'))
        self.submit("-", input="{}", environment=environment)
        self.assertEqual(self.notes(), ["sync file", "mv", "sync folder"])
        os.unlink(self.place + "/notes")
        self.submit("-", input="{}", environment={**environment, "PUSHSPOOL_SYNC": "no"})
        self.assertEqual(self.notes(), ["mv"])

    def test_a_sync_that_fails_drops_nothing(self):
        for test in ("-f", "-d"):
            result = self.submit("-", input="{}", environment=self.shims(("sync", f'[ ! {test} "$1" ] || exit 1')))
            self.assertEqual(result.returncode, 75)
            self.assertIn("cannot be synced\nhint: ", result.stderr)
            self.assert_nothing_dropped()

    def test_a_job_that_was_claimed_before_it_could_be_taken_back_is_dropped(self):
        lines = '[ ! -d "$1" ] || { mv "$1"/* "$1/../done/"; exit 1; }'
        result = self.submit("-", input="{}", environment=self.shims(("sync", lines)))
        self.assertEqual([result.stdout.rstrip("\n")], self.names("done"), result.stderr)

    def test_a_rename_that_fails_drops_nothing(self):
        result = self.submit("-", input="{}", environment=self.shims(("mv", "exit 1")))
        self.assertEqual(result.returncode, 75)
        self.assertIn("cannot be renamed", result.stderr)
        self.assert_nothing_dropped()

    def test_wherever_it_dies_new_has_the_whole_job_or_nothing(self):
        text = "x" * 200_000
        path = self.outside("a.json", text)
        died = []
        for when in ("before", "behind"):
            for tool in TOOLS:
                kill = "kill -9 $PPID"
                lines = kill + "; exit 1" if when == "before" else f'REAL "$@"; {kill}; exit 1'
                result = self.submit(path, environment=self.shims((tool, lines)))
                os.unlink(self.place + "/shims/" + tool)
                if result.returncode != 0:
                    died.append(tool)
                for name in self.jobs():
                    self.assertEqual(self.text("new", name), text, (when, tool))
                    os.unlink(self.path("new", name))
        self.assertTrue({"cat", "mv", "sync"}.issubset(died), died)

    def test_a_signal_in_the_middle_leaves_nothing(self):
        signals = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

        def heed_signals():
            # In the background tests are started with some ignored, and what a shell finds ignored it cannot trap.
            die_with_parent()
            for number in signals:
                signal.signal(number, signal.SIG_DFL)

        for number in signals:
            # The terminal sends it to all of them.
            child = self.start(
                'pushspool_submit "$@"', self.spool, "weather", "-", start_new_session=True, preexec_fn=heed_signals)
            child.stdin.write("x" * 100_000)
            child.stdin.flush()
            eventually(lambda: any(os.path.getsize(self.path("tmp", name)) for name in self.names("tmp")), "a part")
            os.killpg(child.pid, number)
            child.communicate(timeout=60)
            eventually(lambda: not self.names("tmp"), "the end of the part")
            self.assert_nothing_dropped()

    # Waiting

    def wait(self, name, seconds="0"):
        return self.run_script('pushspool_wait "$@"', self.spool, "weather", name, seconds)

    def test_a_job_that_is_over_tells_how(self):
        self.put("{}", "done", "2026-11-20", "a b.json")
        self.put("{}", "failed", "2026-11-21", "b.json")
        self.put('{"code":"invalid"}\n', "failed", "2026-11-21", "b.json.result.json")
        self.put("{}", "hold", "c.json")
        cases = [
            ("a b.json", 0, "done weather/done/2026-11-20/a b.json\n"),
            ("b.json", 65, 'failed weather/failed/2026-11-21/b.json\n{"code":"invalid"}\n'),
            ("c.json", 65, "held weather/hold/c.json\n"),
        ]
        for name, code, text in cases:
            result = self.wait(name)
            self.assertEqual((result.returncode, result.stdout), (code, text), result.stderr)

    def test_a_job_is_waited_for_on_its_way(self):
        self.put("{}", "new", "a.json")
        os.makedirs(self.path("done", "2026-11-21"))
        child = self.start('pushspool_wait "$@"', self.spool, "weather", "a.json", "60")
        os.rename(self.path("new", "a.json"), self.path("tmp", "a.json"))
        self.assertIsNone(child.poll())
        os.rename(self.path("tmp", "a.json"), self.path("done", "2026-11-21", "a.json"))
        self.assertEqual(child.communicate(timeout=60)[0], "done weather/done/2026-11-21/a.json\n")

    def test_a_job_that_does_not_end_is_told(self):
        self.put("{}", "new", "a.json")
        for name in ("a.json", "nowhere.json"):
            result = self.wait(name)
            self.assertEqual(result.returncode, 69)
            self.assertIn("hint: is the daemon running?", result.stderr)

    # Feedback

    def feedback(self, *arguments, **more):
        return self.run_script('pushspool_feedback "$@"', self.spool, "weather", *arguments, **more)

    def consume(self, *arguments, **more):
        return self.run_script('pushspool_consume "$@"', self.spool, "weather", *arguments, **more)

    def without_jq(self):
        """Only what the client needs, so that no jq is found."""
        folder = os.path.join(self.place, "few")
        os.makedirs(folder)
        for name in ("cat", "rm", "mv", "sync"):
            os.symlink(shutil.which(name), os.path.join(folder, name))
        return {"PATH": folder}

    def test_lines_come_in_the_order_of_their_files_which_only_consume_removes(self):
        for environment in ({}, self.without_jq()):
            self.put('{"k":2}\n{"k":3}\n', "feedback", "20261121T120001.000000Z-b.jsonl")
            self.put('{"k":1}\n', "feedback", "20261121T120000.000000Z-c.jsonl")
            self.put("half", "feedback", ".c.tmp")
            names = self.names("feedback")
            for read, left in ((self.feedback, names), (self.consume, [".c.tmp"])):
                result = read(environment=environment)
                self.assertEqual(result.stdout, '{"k":1}\n{"k":2}\n{"k":3}\n', result.stderr)
                self.assertEqual(self.names("feedback"), left)
        self.assertEqual(self.feedback().stdout, "")

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_files_of_other_users_are_passed_over(self):
        self.put('{"k":7}\n', "feedback", "1-a.jsonl")
        os.chown(self.path("feedback", "1-a.jsonl"), 65534, 65534)
        self.put('{"k":1}\n', "feedback", "2-a.jsonl")
        for read in (self.feedback, self.consume):
            result = read()
            self.assertEqual((result.returncode, result.stdout), (0, '{"k":1}\n'), result.stderr)
        self.assertEqual(self.names("feedback"), ["1-a.jsonl"])

    def test_links_are_passed_over(self):
        os.symlink(self.outside("secret", '{"k":7}\n'), self.path("feedback", "1-a.jsonl"))
        os.mkfifo(self.path("feedback", "2-a.jsonl"))
        for environment in ({}, self.without_jq()):
            self.put('{"k":1}\n', "feedback", "3-a.jsonl")
            for read in (self.feedback, self.consume):
                result = read(environment=environment)
                self.assertEqual((result.returncode, result.stdout), (0, '{"k":1}\n'), result.stderr)
            self.assertEqual(self.names("feedback"), ["1-a.jsonl", "2-a.jsonl"])

    def test_a_file_that_cannot_be_printed_stays(self):
        self.put('{"k":1}\n', "feedback", "1-a.jsonl")
        for environment in ({}, self.without_jq()):
            for function in ("pushspool_feedback", "pushspool_consume"):
                result = self.run_script(
                    function + ' "$@" >/dev/full', self.spool, "weather", environment=environment)
                self.assertEqual(result.returncode, 65)
            self.assertEqual(self.names("feedback"), ["1-a.jsonl"])

    def test_what_goes_to_a_file_is_synced_before_its_source_goes(self):
        self.put('{"k":1}\n', "feedback", "1-a.jsonl")
        environment = {"PRINTED": self.place + "/printed", "FEEDBACK": self.path("feedback")}
        printing = 'pushspool_consume "$@" >"$PRINTED"'
        failing = 'sync() { cat "$PRINTED" >&2; ls "$FEEDBACK" >&2; return 7; }\n'
        result = self.run_script(failing + printing, self.spool, "weather", environment=environment)
        self.assertEqual(result.returncode, 75, result.stderr)
        self.assertTrue(result.stderr.startswith('{"k":1}\n1-a.jsonl\n'), result.stderr)
        self.assertEqual(self.names("feedback"), ["1-a.jsonl"])
        result = self.run_script(printing, self.spool, "weather", environment=environment)
        self.assertEqual((result.returncode, self.names("feedback")), (0, []), result.stderr)

    def test_files_are_moved_on_request_and_replace_none(self):
        os.mkdir(self.path("read"))
        self.put('{"k":1}\n', "feedback", "1-a.jsonl")
        self.consume(self.path("read"))
        self.assertEqual((self.names("feedback"), self.names("read")), ([], ["1-a.jsonl"]))
        self.put('{"k":2}\n', "feedback", "1-a.jsonl")
        self.assertEqual(self.consume(self.path("read")).returncode, 75)
        self.assertEqual(self.text("read", "1-a.jsonl"), '{"k":1}\n')
        self.assertEqual(self.consume(self.place + "/nowhere").returncode, 65)

    @unittest.skipUnless(shutil.which("jq"), "needs jq")
    def test_a_filter_chooses_and_a_damaged_file_stays(self):
        self.put('{"k":1,"verdict":"gone"}\n{"k":2}\n', "feedback", "1-a.jsonl")
        result = self.feedback('select(.verdict == "gone") | .k')
        self.assertEqual((result.stdout, self.names("feedback")), ("1\n", ["1-a.jsonl"]), result.stderr)
        self.put('{"k":1}\n{"k', "feedback", "1-a.jsonl")
        self.assertEqual(self.consume().returncode, 65)
        self.assertEqual(self.names("feedback"), ["1-a.jsonl"])

    def test_a_filter_without_jq_is_refused(self):
        self.put('{"k":1}\n', "feedback", "1-a.jsonl")
        result = self.feedback(".k", environment=self.without_jq())
        self.assertEqual((result.returncode, self.names("feedback")), (75, ["1-a.jsonl"]), result.stderr)

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_who_may_not_remove_files_is_told_before_the_first_line(self):
        client = shutil.copy(SHELL_CLIENT, self.place)
        self.let_nobody_in("new")
        self.put('{"k":1}\n', "feedback", "1-a.jsonl")
        os.chmod(self.path("feedback"), 0o755)
        result = self.consume(preexec_fn=become_nobody, environment={"CLIENT": client})
        self.assertEqual((result.returncode, result.stdout), (75, ""))
        self.assertIn("setfacl", result.stderr)


class SystemShellTests(ShellTests, SpoolTest):
    shell = ["/bin/sh"]


@unittest.skipUnless(shutil.which("dash"), "needs dash")
class DashTests(ShellTests, SpoolTest):
    shell = [shutil.which("dash")]


@unittest.skipUnless(shutil.which("bash"), "needs bash")
class BashTests(ShellTests, SpoolTest):
    shell = [shutil.which("bash")]


@unittest.skipUnless(shutil.which("busybox"), "needs busybox")
class BusyboxTests(ShellTests, SpoolTest):
    """With busybox's tools as well as its shell."""

    shell = [shutil.which("busybox"), "sh"]

    def setUp(self):
        super().setUp()
        folder = os.path.join(self.place, "busybox")
        os.mkdir(folder)
        for name in [*TOOLS, "date", "sleep"]:
            os.symlink(self.shell[0], os.path.join(folder, name))
        self.tools = folder + ":"


class TextTests(unittest.TestCase):
    @unittest.skipUnless(shutil.which("shellcheck"), "needs shellcheck")
    def test_shellcheck_finds_nothing(self):
        result = subprocess.run(["shellcheck", SHELL_CLIENT], text=True, capture_output=True)
        self.assertEqual((result.returncode, result.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
