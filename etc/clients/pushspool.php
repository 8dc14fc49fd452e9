<?php
/**
 * Drops jobs into a pushspool spool and reads their outcomes. Copy this file: it needs only PHP 8.1 or newer on Linux.
 *
 *     require 'pushspool.php';
 *     $weather = new Pushspool\App('/var/spool/pushspool', 'weather');
 *     $name = $weather->submit(['token' => $token, 'alert' => 'Hi'], 'order.json');
 *     $end = $weather->wait($name);
 *     foreach ($weather->feedback(consume: true) as $line) {
 *         if (($line['verdict'] ?? '') === 'gone') forget($line['token'], $line['gone_since'] ?? null);
 *     }
 *
 * PHP has no renameat2(2). A unique name has 64 random bits, so rename(2) replaces nothing. `unique: false` uses link(2),
 * which never replaces: the daemon then lets the file settle for 1 s, or for 10 s if it is YAML or lines that do not mark
 * their end. PHP 8.1 is the first with fsync(2), which also syncs a folder that fopen() has opened.
 * pushspool-spool(7) explains the folders, pushspool-job(5) the contents of a job, pushspool-feedback(5) the lines.
 */
declare(strict_types=1);
namespace Pushspool;

/**
 * A failure; $hint is its remedy. $kind is 'input' if the input is at fault, so that a repetition does not help;
 * 'not_in_time' if a job has not ended; 'in_doubt' if it is unknown whether the job was dropped, which is or was in new/
 * under the name $job; else 'failed'. Unless it is 'in_doubt', submit() has dropped nothing, and you may repeat it.
 */
final class Failure extends \RuntimeException {
    public function __construct(
        public readonly string $kind, string $message, public readonly string $hint, public readonly ?string $job = null,
    ) {
        parent::__construct("$message; $hint");
    }
}

/** An app's folder in the spool. */
final class App {
    private const JOB_NAME = '~^(?!\.)(?!.*\.result\.json$)[^\x00-\x1f\x7f/]+(\.(?:json|jsonl|yaml|yml))$~D';
    private const JOB_HINT =
        'use at most 200 bytes, no leading dot, slash or control character, and end it in .json, .jsonl, .yaml or .yml';
    private readonly string $folder;
    public function __construct(string $spool, string $app) {
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
            foreach (is_string($job) ? [$job] : (is_array($job) ? [self::json($job)] : $job) as $piece) {
                for ($done = 0; $done < strlen($piece); ) {
                    $done += self::call('fwrite', $file, $done ? substr($piece, $done) : $piece);
                }
            }
            if (!fstat($file)['size']) self::refuse('the job is empty', 'write it as pushspool-job(5) describes');
            // On a shared filesystem a daemon on another host sees by this that the file was renamed after the last write.
            self::call('touch', $path, time() - 1);
            self::call('fsync', $file);
            self::call('fclose', $file); // the daemon does not take a file that is still open for writing
            self::call($unique ? 'rename' : 'link', $path, "$this->folder/new/$final");
            return $this->finish($directory, $final);
        } finally {
            self::attempt($ignored, 'unlink', $path); // the daemon ignores this file
        }
    }

    /** Syncs new/, and checks")
    /** Syncs new/, and checks that it still has its path. On failure withdraws the job, unless the daemon claimed it. */
    private function finish($directory, string $name): string {
        clearstatcache();
        $isSynced = self::attempt($failure, 'fsync', $directory);
        $there = self::attempt($failure, 'lstat', "$this->folder/new");
        $isSame = $there && $there['ino'] === fstat($directory)['ino'] && $there['dev'] === fstat($directory)['dev'];
        if ($isSynced && $isSame) return $name;
        $failure ??= 'new/ was moved or replaced meanwhile';
        if (self::attempt($error, 'unlink', "$this->folder/new/$name")) throw new Failure('failed', $failure, 'submit it again');
        if ($isSame && str_contains($error, 'No such file')) return $name;
        $doubt = "$failure, and it is unknown whether '$name' was dropped: $error";
        throw new Failure('in_doubt', $doubt, 'look for it in new/ before you submit it again', $name);
    }

    /**
     * Drops a job with one notification per line. $recipients are tokens, or arrays with a 'token'; a generator may yield
     * millions, as only one is in memory, and its exceptions pass through. $job has the keys about the job as a whole,
     * $defaults those that all recipients share. A 'count' in $job is checked before the drop.
     */
    public function submitLines(
        iterable $recipients, array $job = [], array $defaults = [], string $name = 'job.jsonl', bool $unique = true,
    ): string {
        $lines = static function () use ($recipients, $job, $defaults): \Generator {
            if ($head = array_filter(['job' => $job, 'defaults' => $defaults])) yield self::json($head);
            $count = 0;
            foreach ($recipients as $recipient) {
                $count++;
                yield self::json($recipient);
            }
            if ($count > 0 && $count === ($job['count'] ?? $count)) return;
            self::refuse("there are $count recipients", 'add at least one, and correct count');
        };
        if (!str_ends_with($name, '.jsonl')) self::refuse("'$name' is not a valid name for lines", 'end it in .jsonl');
        return $this->submit($lines(), $name, $unique);
    }

    /**
     * Waits until a job has ended or is held, at most $timeout seconds. Returns an array: 'state' is 'done', 'failed' or
     * 'held'; 'path' begins at the app's folder; 'result' is the contents of its result file, or null; 'is_accepted' tells
     * whether all notifications were accepted. Only members of their group can read done/ and failed/.
     */
    public function wait(string $name, float $timeout = 300): array {
        self::check($name, 'pass the name that submit() returned');
        $deadline = microtime(true) + $timeout;
        for ($pause = 0.02; !($path = $this->find($name)) || $path === "new/$name"; $pause = min($pause * 2, 0.5)) {
            $rest = $deadline - microtime(true);
            $message = "$name has not finished after $timeout s" . ($path ? ': it is still in new/' : '');
            if ($rest <= 0) throw new Failure('not_in_time', $message, 'is the daemon running? see its log');
            usleep((int) (min($pause, $rest) * 1e6));
        }
        // The result file appears before the job.
        $text = self::attempt($failure, 'file_get_contents', "$this->folder/$path.result.json");
        if (!$text && file_exists("$this->folder/$path.result.json")) throw self::failed($failure);
        [$state, $result] = [strtr(strtok($path, '/'), ['hold' => 'held']), $text ? json_decode($text, true) : null];
        return compact('name', 'state', 'path', 'result') + ['is_accepted' => $state === 'done' && !$text];
    }

    private function find(string $name): ?string {
        clearstatcache();
        $places = ['new', 'hold']; // in the order in which jobs move
        foreach (['done', 'failed'] as $state) {
            foreach (preg_grep('~^[^.]~', self::call('scandir', "$this->folder/$state")) as $day) $places[] = "$state/$day";
        }
        foreach ($places as $place) if (file_exists("$this->folder/$place/$name")) return "$place/$name";
        return null;
    }

    /**
     * Iterates over the app's feedback lines, oldest file first. Files stay, unless you ask to consume: then each is deleted
     * when you ask for the line after its last. If you stop early, its lines come again: a line comes at least once. Skips
     * links, pipes, and files of other users than the daemon's and root. A line that is not a JSON object throws.
     */
    public function feedback(bool $consume = false): \Generator {
        $names = preg_grep('~^[^.].*\.jsonl$~sD', self::call('scandir', $folder = "$this->folder/feedback"));
        // Fail before the first line: otherwise the lines would come again and again.
        if ($consume && !is_writable($folder)) throw self::failed("no permission to remove files in $folder: denied");
        $owners = [fileowner(is_dir("$this->folder/work") ? "$this->folder/work" : $this->folder), 0];
        foreach ($names as $name) {
            clearstatcache();
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

    private static function json(mixed $value): string {
        return json_encode($value, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION) . "\n";
    }
    private static function check(string $name, string $hint): string {
        return preg_match('~^(?!\.{1,2}$)[^/\0]+$~D', $name) ? $name : self::refuse("'$name' is not a valid name", $hint);
    }
    /** Calls a function of PHP; if it fails, sets $failure to its warning. */
    private static function attempt(?string &$failure, string $function, mixed ...$arguments): mixed {
        set_error_handler(static function (int $level, string $text) use (&$failure): bool { $failure ??= $text; return true; });
        try { $result = $function(...$arguments); } finally { restore_error_handler(); }
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
