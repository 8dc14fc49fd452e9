<?php
/**
 * Drops jobs into a pushspool spool and reads their outcomes. Copy this file: it needs only PHP 8.1 or newer on Linux.
 *     require 'pushspool.php';
 *     $weather = new Pushspool\App('/var/spool/pushspool', 'weather');
 *     $end = $weather->wait($weather->submit(['token' => $token, 'alert' => 'Hi'], 'order.json'));
 *     foreach ($weather->feedback(consume: true) as $line) forgetIfGone($line);
 * PHP has no renameat2(2): a unique name has 64 random bits, and `unique: false` uses link(2), after which the file must
 * settle. pushspool-spool(7) explains that and the folders, pushspool-job(5) jobs, pushspool-feedback(5) the lines.
 */
declare(strict_types=1);
namespace Pushspool;
/**
 * A failure; $hint is its remedy. $kind is 'input' if a repetition does not help; 'not_in_time' if a job has not ended;
 * 'in_doubt' if the job, named $job, may have been dropped; else 'failed'. submit() has dropped nothing otherwise.
 */
final class Failure extends \RuntimeException {
    public function __construct(
        public readonly string $kind, string $message, public readonly string $hint, public readonly ?string $job = null,
    ) { parent::__construct("$message; $hint"); }
}

/** An app's folder in the spool. */
final class App {
    private const JOB_NAME = '~^(?!\.)(?!.*\.result\.json$)[^\x00-\x1f\x7f/]+(\.(?:json|jsonl|yaml|yml))$~D';
    private const JSON_FLAGS = JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION;
    private const JOB_HINT = 'use at most 200 bytes, no leading dot, slash or control; end it in .json, .jsonl, .yaml or .yml';
    private static array $inodes = []; // of the last jobs with exact names, which other jobs may have had, by their paths
    private readonly string $folder;
    public function __construct(private readonly string $spool, private readonly string $app) {
        self::check($spool === '' ? '' : '-' . strtr($spool, '/', '-'), "pass the spool's path");
        $this->folder = "$spool/" . self::check($app, 'use the name of a folder in the spool');
    }

    /**
     * Drops a job atomically and durably, and returns its name. $job is an array, the file's text, or an iterator over
     * pieces of it. The ending of $name sets the format; 'urgent-' or 'bulk-' at its start selects a lane. 17 characters
     * before the ending make it unique; `unique: false` uses exactly $name, and fails if new/ has it.
     */
    public function submit(array|string|\Traversable $job, string $name = 'job.json', bool $unique = true): string {
        $isValid = preg_match(self::JOB_NAME, $name, $parts) && strlen($name) <= 200;
        if (!$isValid) self::refuse("'" . addcslashes($name, "\0..\37\177") . "' is not a valid job name", self::JOB_HINT);
        $final = $unique ? substr($name, 0, -strlen($parts[1])) . '-' . bin2hex(random_bytes(8)) . $parts[1] : $name;
        $directory = self::call('fopen', "$this->folder/new", 're');
        // A hidden file in new/ if tmp/ cannot be used, or is on another filesystem, from which rename() would copy.
        $isUsable = is_writable("$this->folder/tmp") && stat("$this->folder/tmp")['dev'] === fstat($directory)['dev'];
        $path = "$this->folder/" . ($isUsable ? 'tmp' : 'new') . '/.' . bin2hex(random_bytes(8)) . $parts[1];
        $file = self::call('fopen', $path, 'xbe');
        try {
            // Whatever the umask is: the daemon, another user, must be able to read it. Other users cannot enter new/.
            self::call('chmod', $path, 0644);
            foreach (is_string($job) ? [$job] : (is_array($job) ? [self::json($job)] : $job) as $piece)
                while ($piece !== '') $piece = substr($piece, self::call('fwrite', $file, $piece));
            if (!fstat($file)['size']) self::refuse('the job is empty', 'write it as pushspool-job(5) describes');
            // On a shared filesystem a daemon on another host sees by this that the file was renamed after the last write.
            self::call('touch', $path, time() - 1);
            self::call('fsync', $file);
            self::call('fclose', $file); // the daemon does not take a file that is still open for writing
            self::call($unique ? 'rename' : 'link', $path, "$this->folder/new/$final");
            if (!$unique) self::$inodes = [...array_slice(self::$inodes, -9999), "$this->folder/$final" => fileinode($path)];
            // Sync new/, and check that it still has its path. On failure withdraw the job, unless the daemon claimed it.
            [$isSynced, $there] = [self::attempt($failure, 'fsync', $directory), self::attempt($failure, 'lstat', "$this->folder/new")];
            $isSame = $there && $there['ino'] === fstat($directory)['ino'] && $there['dev'] === fstat($directory)['dev'];
            if ($isSynced && $isSame) return $final;
            $failure ??= 'new/ was moved or replaced meanwhile';
            if (self::attempt($error, 'unlink', "$this->folder/new/$final")) throw new Failure('failed', $failure, 'try again');
            if ($isSame && str_contains($error, 'No such file')) return $final;
            $doubt = "$failure, and it is unknown whether '$final' was dropped: $error";
            throw new Failure('in_doubt', $doubt, 'look for it in new/ before you submit it again', $final);
        } finally {
            self::attempt($ignored, 'unlink', $path); // the daemon ignores this file
        }
    }

    /**
     * Drops a job with one notification per line. $recipients are tokens, or arrays with a 'token'; a generator's exceptions
     * pass through. $job has keys about the job as a whole, such as a 'count' to check, $defaults those that all share.
     */
    public function submitLines(
        iterable $recipients, array $job = [], array $defaults = [], string $name = 'job.jsonl', bool $unique = true,
    ): string {
        $lines = static function () use ($recipients, $job, $defaults): \Generator {
            if ($head = array_filter(['job' => $job, 'defaults' => $defaults])) yield self::json($head);
            $count = 0;
            foreach ($recipients as $recipient) yield $count++ => self::json($recipient);
            if ($count > 0 && $count === ($job['count'] ?? $count)) return;
            self::refuse("there are $count recipients", 'add at least one, and correct count');
        };
        if (!str_ends_with($name, '.jsonl')) self::refuse("'$name' is not a valid name for lines", 'end it in .jsonl');
        return $this->submit($lines(), $name, $unique);
    }

    /**
     * Waits until a job has ended or is held, at most $timeout seconds, or the app is stopped. Returns an array: 'state' is
     * 'done', 'failed' or 'held', 'path' begins at the app's folder, 'result' has the reasons, 'is_accepted' tells whether all
     * notifications were accepted. Reads tmp/.jobs/, which has the app's last jobs.
     */
    public function wait(string $name, float $timeout = 300): array {
        self::check($name, 'pass the name that submit() returned');
        [$deadline, $inode, $read] = [microtime(true) + $timeout, self::$inodes["$this->folder/$name"] ?? null, []];
        for ($pause = 0.02; ; $pause = min($pause * 2, 0.5)) {
            $waiting = self::attempt($ignored, 'lstat', "$this->folder/new/$name");
            $inode = $waiting ? $waiting['ino'] : $inode;
            if (!$waiting && $line = $this->line($name, $inode, $read)) {
                [$path, $result] = [rawurldecode($line[2]), json_decode($line[3], true) ?: null];
                $state = strtr(strtok($path, '/'), ['hold' => 'held']);
                return compact('name', 'state', 'path', 'result') + ['is_accepted' => $state === 'done' && !$result];
            }
            [$rest, $stop] = [$deadline - microtime(true), $this->obstacle()];
            $why = "$name has not finished: " . ($stop ?? ($waiting ? 'it is still in new/' : 'it is on its way'));
            if ($stop || $rest <= 0) throw new Failure('not_in_time', $why, 'is the daemon running? see its log');
            usleep((int) (min($pause, $rest) * 1e6));
        }
    }

    /**
     * Iterates over the app's feedback lines, oldest file first. Files stay, unless you ask to consume: then each is deleted
     * when you ask for the line after its last. If you stop early, its lines come again. Skips links, pipes, and files of
     * other users than the daemon's and root. A line that is not a JSON object throws.
     */
    public function feedback(bool $consume = false): \Generator {
        $names = preg_grep('~^[^.].*\.jsonl$~sD', self::call('scandir', $folder = "$this->folder/feedback"));
        // Fail before the first line: otherwise the lines would come again and again.
        if ($consume && !is_writable($folder)) throw self::failed("no permission to remove files in $folder: denied");
        $owners = $this->owners();
        foreach ($names as $name) {
            $path = "$folder/$name";
            $isOurs = is_file($path) && !is_link($path) && in_array(self::attempt($failure, 'fileowner', $path), $owners, true);
            $file = $isOurs ? self::attempt($failure, 'fopen', $path, 'rbne') : null; // n: a pipe would wait for its writer
            if ($isOurs && !$file && file_exists($path)) throw self::failed($failure);
            if (!$file || !in_array(fstat($file)['uid'], $owners, true)) continue;
            for ($number = 1; ($text = fgets($file)) !== false; $number++) {
                $line = $text[0] === '{' ? json_decode($text, true) : null;
                yield $line ?? self::refuse("feedback/$name:$number: not a JSON object", 'move the file away, and check it');
            }
            if ($consume && !self::attempt($failure, 'unlink', $path) && file_exists($path)) throw self::failed($failure);
        }
    }

    /** Returns the fields of the last line about a job in the daemon's files; $read has how much of each was read, by inode. */
    private function line(string $name, ?int $inode, array &$read): ?array {
        [$folder, $found] = ["$this->folder/tmp/.jobs", null];
        self::call('scandir', "$this->folder/tmp");
        $isTrusted = in_array(self::attempt($ignored, 'lstat', $folder)['uid'] ?? -1, $this->owners(), true);
        foreach ($isTrusted ? preg_grep('~^(earlier-|ended-|held$)~D', self::call('scandir', $folder)) : [] as $file) {
            $lines = self::attempt($failure, 'fopen', "$folder/$file", 'rbe');
            if (!$lines && !file_exists("$folder/$file")) continue;
            ['ino' => $number, 'size' => $size] = fstat($lines ?: throw self::failed($failure));
            // The list of held jobs is replaced as a whole. A shorter file has got the inode of a removed one.
            fseek($lines, $file === 'held' || ($read[$number] ?? 0) > $size ? 0 : $read[$number] ?? 0);
            while (str_ends_with($line = (string) fgets($lines), "\n")) { // the daemon may be writing the last line
                $read[$number] = ftell($lines);
                $fields = explode("\t", rtrim($line, "\n"));
                $isMeant = count($fields) === 4 && rawurldecode($fields[0]) === $name;
                if ($isMeant && in_array($inode, [null, (int) $fields[1]], true)) $found = $fields;
            }
        }
        return $found;
    }
    /** Returns why the app sends nothing before its configuration changes, as daemons write every 30 s; null if it may. */
    private function obstacle(): ?string {
        [$folder, $found] = ["$this->spool/.pushspool/public", []];
        foreach (self::attempt($ignored, 'scandir', $folder) ?: [] as $node) {
            if (time() - (int) self::attempt($ignored, 'filemtime', "$folder/$node/status.json") >= 60) continue;
            $status = json_decode((string) self::attempt($ignored, 'file_get_contents', "$folder/$node/status.json"), true);
            foreach ($status['apps'] ?? [] as $each) if ($each['app'] === $this->app) $found[] = $each;
        }
        $isStopped = $found && !array_diff(array_column($found, 'state'), ['stopped', 'broken', 'unconfigured']);
        return $isStopped ? "$this->app " . ($found[0]['reason'] ?? "is {$found[0]['state']}") : null;
    }
    private function owners(): array { // of the daemon's files
        return [self::call('lstat', is_dir("$this->folder/work") ? "$this->folder/work" : $this->folder)['uid'], 0];
    }
    private static function json(mixed $value): string { return json_encode($value, self::JSON_FLAGS) . "\n"; }
    private static function check(string $name, string $hint): string {
        return preg_match('~^(?!\.{1,2}$)[^/\0]+$~D', $name) ? $name : self::refuse("'$name' is not a valid name", $hint);
    }
    /** Calls a function of PHP; if it fails, sets $failure to its warning. */
    private static function attempt(?string &$failure, string $function, mixed ...$arguments): mixed {
        set_error_handler(static function (int $level, string $text) use (&$failure): bool { $failure ??= $text; return true; });
        try { clearstatcache(); $result = $function(...$arguments); } finally { restore_error_handler(); }
        if (!$result) $failure ??= "$function() has failed"; // fsync() has no warning
        return $result;
    }
    private static function call(string $function, mixed ...$arguments): mixed {
        return self::attempt($failure, $function, ...$arguments) ?: throw self::failed($failure);
    }
    private static function failed(string $failure): Failure {
        $says = static fn (string $words): bool => preg_match("~$words~", strrchr($failure, ':') ?: $failure) === 1;
        return new Failure($says('File exists') ? 'input' : 'failed', $failure, match (true) {
            $says('denied|not permitted') => 'run as a member of the group that owns the folder; see pushspool-spool(7)',
            $says('No such|Not a dir') => "check the spool's path and the app's name; the daemon makes the folders at its start",
            $says('No space|quota') => 'free some space, and submit the job again',
            $says('File exists') => 'use another name, or leave unique on',
            default => 'check the disk, and that its filesystem is mounted read-write',
        });
    }
    private static function refuse(string $message, string $hint): never { throw new Failure('input', $message, $hint); }
}
