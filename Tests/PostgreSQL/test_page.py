"""What pushspool-pg(1) and the files around it say, against the program."""

from outbox import *

from steps import load

PAGE = os.path.join(ROOT, "etc", "man", "pushspool-pg.1")
UNIT = os.path.join(ROOT, "etc", "systemd", "pushspool-pg.service")


def page():
    """The page, as a reader sees its characters."""
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    for escape, character in (("\\-", "-"), ("\\(aq", "'"), ("\\e", "\\"), ("\\fB", ""), ("\\fR", "")):
        text = text.replace(escape, character)
    return text


def commands():
    """The parser of each command."""
    (action,) = [action for action in load()._parser()._actions if action.dest == "command"]
    return action.choices


class ManualTests(unittest.TestCase):
    def test_the_page_has_every_option_with_its_default_and_no_other(self):
        known = set()
        for parser in commands().values():
            for action in parser._actions:
                known |= {word for word in action.option_strings if word.startswith("--")}
                if action.default not in (None, False, "", "==SUPPRESS==") and action.dest != "node":
                    self.assertIn(f"Default: {action.default}.", page(), action.dest)
        entries = page().split("\n.SH OPTIONS\n")[1].split("\n.SH ")[0]
        self.assertEqual(set(re.findall(r"(?m)^(?:-\w, )?(--[a-z-]+)", entries)), known)

    def test_the_page_has_every_command_and_column_and_log_line(self):
        for name in commands():
            self.assertIn(f".B pushspool-pg {name}", page())
        outbox, sent, outcome = re.findall(r"(?s)CREATE TABLE IF NOT EXISTS pushspool\.\w+ \((.*?)\n\)", load().SCHEMA)
        for column in re.findall(r"(?m)^    ([a-z_]+) ", outbox + outcome):
            self.assertRegex(page(), rf"(?m)^(\.BR? .*)?\b{column}\b")
        with open(PROGRAM, encoding="utf-8") as file:
            program = file.read()
        log = page().split("\n.SH LOG\n")[1].split("\n.SH ")[0]
        for line in re.findall(r"(?m)^\.I ([a-z].*)$", log):
            for text in re.split(", (?!so )", line):
                # The program composes some lines of two parts.
                for part in re.split(r"(?<=, so )| NAME$", text):
                    self.assertTrue(part in program or part.startswith("pushspool."), part)

    def test_the_unit_starts_the_bridge_with_a_command_that_it_knows(self):
        with open(UNIT, encoding="utf-8") as file:
            unit = file.read()
        (command,) = re.findall(r"(?m)^ExecStart=/usr/bin/pushspool-pg (.*) \$OPTIONS$", unit)
        options = load()._parser().parse_args([command])
        self.assertIn(f"ReadWritePaths=-{options.spool}\n", unit)
        with open(os.path.join(ROOT, "etc", "systemd", "pushspool.sysusers"), encoding="utf-8") as file:
            self.assertIn("\nu pushspool-pg - ", file.read())

    def test_a_fault_of_the_command_line_ends_with_64_and_shows_no_password(self):
        for words in (
            [], ["nonsense"], ["run", "--poll", "0.1"], ["run", "--poll", "nan"], ["run", "--group", "0"],
            ["run", "--group", "1e3"],
            ["run", "--node", ""], ["run", "--node", "a\nb"], ["run", "--node", "a" * 65], ["release"],
            ["status", "--database", "host=db password=secret"], ["status", "--database", "postgresql://u:secret@db/x"],
            ["status", "--database", "host=db secret"],
        ):
            result = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=LIMIT)
            self.assertEqual(result.returncode, 64, words)
            self.assertNotIn("secret", result.stdout + result.stderr)
            self.assertNotIn("Traceback", result.stderr)

    def test_the_program_is_for_Python_3_8_and_later(self):
        import ast

        with open(PROGRAM, encoding="utf-8") as file:
            ast.parse(file.read(), feature_version=(3, 8))

    def test_without_psycopg_the_program_says_what_to_install(self):
        result = subprocess.run(
            ["/usr/bin/python3", "-S", "-B", PROGRAM, "schema"], capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(result.returncode, 78)
        self.assertIn("hint: install psycopg 3: apt-get install python3-psycopg", result.stderr)
