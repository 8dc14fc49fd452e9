/// A producer who tries what it may not, and what may harm: a program for Python, run as a user of its own.
///
/// It prints a line `ALLOWED: …` for each thing that was let through and must not be, and how often it tried.
enum Trespasser {
    /// The arguments: the app's folder, the daemon's own folders and files (a job among them that is no producer's to
    /// send), how many things it does, and a seed.
    static let program = #"""
        import ctypes, json, os, random, socket, sys

        app, spool, state, secret, key, acts, seed = sys.argv[1:8]
        random.seed(int(seed))
        new, tmp = app + "/new", app + "/tmp"
        libc = ctypes.CDLL(None, use_errno=True)
        tries = 0
        names = 0
        os.umask(0o027)


        def fresh(ending=".json"):
            global names
            names += 1
            return "%s/mine-%d%s" % (new, names, ending)


        def good(number):
            return json.dumps({"token": "cd" * 28 + "%08x" % number, "alert": "mine"}).encode()


        def put(path, data):
            with open(path, "wb") as file:
                file.write(data)


        def staged(data):
            path = "%s/mine-%d" % (tmp, random.getrandbits(60))
            put(path, data)
            return path


        def swap(one, other):
            if libc.renameat2(-100, one.encode(), -100, other.encode(), 2) != 0:
                raise OSError(ctypes.get_errno(), "renameat2")


        def forbidden(what, act):
            global tries
            tries += 1
            try:
                act()
            except OSError:
                return
            print("ALLOWED: " + what, flush=True)


        def is_others(path):
            try:
                return os.lstat(path).st_uid != os.getuid()
            except OSError:
                return False


        def others():
            return [n for n in os.listdir(new) if is_others(new + "/" + n)]


        def read(path):
            os.close(os.open(path, os.O_RDONLY))


        def make(folder):
            return lambda: put("%s/%s/x.json" % (app, folder), good(0))


        def trespass():
            for folder in ["hold", "done", "failed", "work", "work/node-a"]:
                forbidden("list " + folder, lambda: os.listdir(app + "/" + folder))
            for folder in ["", "hold", "done", "failed", "work", "work/node-a", "feedback"]:
                forbidden("make a file in " + folder, make(folder))
                forbidden("make a folder in " + folder, lambda: os.mkdir("%s/%s/new2" % (app, folder)))
            for folder in [spool, spool + "/.pushspool", spool + "/.pushspool/public"]:
                forbidden("make a file in " + folder, lambda: put(folder + "/x.json", b"x"))
            for path in [secret, key, spool + "/.pushspool/node-a/journal"]:
                forbidden("read " + path, lambda: read(path))
            forbidden("list the state", lambda: os.listdir(state))
            forbidden("rename new", lambda: os.rename(new, app + "/old"))
            forbidden("change new's mode", lambda: os.chmod(new, 0o777))
            if open("/proc/sys/fs/protected_hardlinks").read().strip() == "1":
                forbidden("link the daemon's file", lambda: os.link(secret, fresh()))
            for name in others():
                path = new + "/" + name
                forbidden("unlink another's job", lambda: os.unlink(path))
                forbidden("rename another's job", lambda: os.rename(path, fresh()))
                forbidden("write to another's job", lambda: os.close(os.open(path, os.O_WRONLY)))
                # By exchange: a plain rename would do no harm where the job has just been taken.
                forbidden("replace another's job", lambda: swap(staged(b"{}"), path))


        def linked():
            os.symlink(random.choice([secret, key, "/dev/zero", "/nowhere", fresh(), new, state]), fresh())


        def swapped():
            path, link = fresh(), tmp + "/link-%d" % names
            put(path, b"{")
            os.symlink(secret, link)
            for _ in range(200):
                swap(path, link)


        def special():
            kind = random.randrange(3)
            if kind == 0:
                os.mkfifo(fresh())
            elif kind == 1:
                server = socket.socket(socket.AF_UNIX)
                here = os.getcwd()
                os.chdir(new)
                server.bind("mine-socket-%d.json" % random.getrandbits(40))
                os.chdir(here)
                server.close()
            else:
                folder = fresh()
                os.mkdir(folder)
                put(folder + "/x.json", good(1))


        def changing():
            path = fresh()
            source = staged(good(names))
            file = os.open(source, os.O_RDWR)
            os.rename(source, path)
            for _ in range(20):
                os.pwrite(file, random.randbytes(8), random.randrange(90))
                os.ftruncate(file, random.randrange(100))
            os.close(file)


        def odd():
            name = random.choice(
                [b"-rf.json", b"mine\n.json", b"mine\xff\xfe.json", b"mine\x1b[31m.json", b"m" * 250 + b".json", b"mine%41.json"])
            os.rename(staged(good(2)), new.encode() + b"/" + name)


        def barred():
            path = staged(good(3))
            os.chmod(path, 0)
            os.rename(path, fresh())


        def sparse():
            path = staged(b"")
            os.truncate(path, 1 << 36)
            os.rename(path, fresh())


        def flood():
            for _ in range(30):
                os.rename(staged(good(names)), fresh())


        trespass()
        for _ in range(int(acts)):
            act = random.choice([trespass, linked, swapped, special, changing, odd, barred, sparse, flood])
            try:
                act()
            except OSError as error:
                # Its own files go while it works on them: the daemon takes them away.
                if error.errno not in (2, 17):
                    print("its own: %s: %s" % (act.__name__, error), flush=True)
        print("tried %d" % tries, flush=True)
        """#
}
