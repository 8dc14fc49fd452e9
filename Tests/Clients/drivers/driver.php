<?php
// Carries out requests, one JSON object a line, with pushspool.php, and answers each with a line.
declare(strict_types=1);

// As frameworks do, turns warnings into exceptions: the client must have no warning of its own.
set_error_handler(static fn (int $level, string $text) => throw new ErrorException($text));
require $argv[1];

function recipients(array $request): Generator {
    yield from $request['recipients'];
    if ($request['breaks'] ?? false) throw new RuntimeException('the database has gone');
}

function taken(iterable $feedback, int $limit): array {
    $lines = [];
    foreach ($feedback as $line) {
        $lines[] = $line;
        if (count($lines) >= $limit) break;
    }
    return $lines;
}

function answer(array $request): array {
    $app = new Pushspool\App($request['spool'], $request['app']);
    $name = isset($request['name_hex']) ? hex2bin($request['name_hex']) : $request['name'] ?? null;
    $names = array_filter(['name' => $name, 'unique' => $request['unique'] ?? true], fn ($value) => $value !== null);
    $job = isset($request['job_hex']) ? hex2bin($request['job_hex']) : $request['job'] ?? null;
    return match ($request['call']) {
        'submit' => ['name_hex' => bin2hex($app->submit($job, ...$names))],
        'lines' => ['name_hex' => bin2hex($app->submitLines(recipients($request), ...$request['head'], ...$names))],
        'wait' => $app->wait($name, $request['timeout']),
        'feedback' => ['lines' => taken($app->feedback($request['consume']), $request['take'] ?? PHP_INT_MAX)],
    };
}

while (($line = fgets(STDIN)) !== false) {
    try {
        $answer = answer(json_decode($line, true, flags: JSON_THROW_ON_ERROR));
    } catch (Pushspool\Failure $error) {
        $answer = ['error' => $error->kind, 'message' => $error->getMessage(), 'hint' => $error->hint, 'job' => $error->job];
    } catch (RuntimeException $error) {
        $answer = ['error' => 'other', 'message' => $error->getMessage(), 'hint' => ''];
    }
    echo json_encode($answer, JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE), "\n";
}
