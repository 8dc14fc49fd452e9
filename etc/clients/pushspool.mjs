/**
 * Drops jobs into a pushspool spool and reads their outcomes. Copy this file: it needs only Node.js 18 or newer on Linux.
 *
 *     import { App } from "./pushspool.mjs";
 *
 *     const weather = new App("/var/spool/pushspool", "weather");
 *     const name = await weather.submit({ token, alert: "Hi" }, { name: "order.json" });
 *     const end = await weather.wait(name);
 *     for await (const line of weather.feedback({ consume: true })) {
 *         if (line.verdict === "gone") await forget(line.token, line.gone_since);
 *     }
 *
 * Node.js has no renameat2(2). A unique name has 64 random bits, so rename(2) replaces nothing. `unique: false` uses
 * link(2), which never replaces: the daemon then lets the file settle for 1 s, or for 10 s if it is YAML or lines that do
 * not mark their end. Node.js syncs a folder like a file, once it is open for reading.
 * pushspool-spool(7) explains the folders, pushspool-job(5) the contents of a job, pushspool-feedback(5) the lines.
 */
import { randomBytes } from "node:crypto";
import { access, constants as flags, link, lstat, open, readFile, readdir, rename, unlink } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const JOB_NAME = /^(?!\.|.*\.result\.json$)[^\x00-\x1f\x7f/]+(\.(?:json|jsonl|yaml|yml))$/;
const JOB_HINT = "use at most 200 bytes, no leading dot, slash or control character, and end it in .json, .jsonl, .yaml or .yml";
const DISK_HINT = "check the disk, and that its filesystem is mounted read-write";
const HINTS = {
    EACCES: "run as a member of the group that owns the folder; see pushspool-spool(7)",
    EPERM: "run as a member of the group that owns the folder; see pushspool-spool(7)",
    EEXIST: "use another name, or leave unique on",
    ENOENT: "check the spool's path and the app's name; the daemon creates an app's folders when it starts",
    ENOSPC: "free some space, and submit the job again",
};

/**
 * A failure; `hint` is its remedy. `code` is "INPUT" if the input is at fault, so that a repetition does not help;
 * "NOT_IN_TIME" if a job has not ended; "IN_DOUBT" if it is unknown whether the job was dropped, which is or was in new/
 * under the name `job`; else "FAILED". Unless it is "IN_DOUBT", `submit` has dropped nothing, and you may repeat it.
 */
export class PushspoolError extends Error {
    constructor(code, message, hint, job) {
        super(`${message}; ${hint}`);
        Object.assign(this, { name: "PushspoolError", code, hint, job });
    }
}

/** An app's folder in the spool. */
export class App {
    constructor(spool, app) {
        this.folder = `${spool}/${fileName(app, "use the name of a folder in the spool")}`;
        fileName(spool && `-${spool.replaceAll("/", "-")}`, "pass the spool's path");
    }

    /**
     * Drops a job atomically and durably, and returns its name. `job` is an object, the file's text or bytes, or a stream of
     * them. The ending of `name` sets the format; "urgent-" or "bulk-" at its start selects a lane. 17 characters before the
     * ending make it unique; `unique: false` uses exactly `name`, and fails if new/ has it.
     */
    async submit(job, { name = "job.json", unique = true } = {}) {
        const ending = JOB_NAME.exec(fileName(name, JOB_HINT))?.[1];
        if (!ending || Buffer.byteLength(name) > 200) refuse(`${JSON.stringify(name)} is not a valid job name`, JOB_HINT);
        const final = unique ? `${name.slice(0, -ending.length)}-${random()}${ending}` : name;
        const isWhole = typeof job === "string" || job instanceof Uint8Array;
        const pieces = isWhole ? [job] : job[Symbol.asyncIterator] ? job : [`${JSON.stringify(job)}\n`];
        const directory = await open(`${this.folder}/new`, flags.O_DIRECTORY | flags.O_NOFOLLOW).catch(fail);
        let path, file;
        const create = (folder) => open((path = `${this.folder}/${folder}/.${random()}${ending}`), "wx");
        try {
            const tmp = await lstat(`${this.folder}/tmp`).catch(() => undefined);
            // A hidden file in new/ if tmp/ cannot be used, or is on another filesystem.
            const isUsable = tmp?.isDirectory() && tmp.dev === (await directory.stat()).dev;
            file = await (isUsable ? create("tmp").catch(() => create("new")) : create("new")).catch(fail);
            // Whatever the umask is: the daemon, another user, must be able to read it. Other users cannot enter new/.
            await file.chmod(0o644).catch(fail);
            for await (const piece of pieces) await file.writeFile(piece).catch(fail);
            if ((await file.stat()).size === 0) refuse("the job is empty", "write it as pushspool-job(5) describes");
            // On a shared filesystem a daemon on another host sees by this that the file was renamed after the last write.
            await file.utimes(new Date(), Math.floor(Date.now() / 1000) - 1).catch(fail);
            await file.sync().catch(fail);
            await file.close().catch(fail); // the daemon does not take a file that is still open for writing
            await (unique ? rename : link)(path, `${this.folder}/new/${final}`).catch(fail);
            return await this.#finish(directory, final);
        } finally {
            // The daemon ignores this file; a failure to remove it must not hide the earlier error.
            await file?.close().catch(() => {});
            await unlink(path).catch(() => {});
            await directory.close();
        }
    }

    /** Syncs new/, and checks that it still has its path. On failure withdraws the job, unless the daemon claimed it. */
    async #finish(directory, name) {
        const failure = await directory.sync().catch((error) => error);
        const [opened, there] = [await directory.stat(), await lstat(`${this.folder}/new`).catch(() => undefined)];
        const isMoved = there?.ino !== opened.ino || there.dev !== opened.dev;
        if (!failure && !isMoved) return name;
        const message = failure?.message ?? "new/ was moved, replaced or removed meanwhile";
        const error = await unlink(`${this.folder}/new/${name}`).catch((error) => error);
        if (!error) throw new PushspoolError("FAILED", message, "submit the job again");
        if (error.code === "ENOENT" && !isMoved) return name;
        const doubt = `${message}, and it is unknown whether '${name}' was dropped: ${error.message}`;
        throw new PushspoolError("IN_DOUBT", doubt, "look for it in new/ before you submit it again", name);
    }

    /**
     * Drops a job with one notification per line. `recipients` is any iterable of tokens or objects with a `token`, also an
     * asynchronous one with millions: only 64 KiB are in memory. Its errors pass through. `job` has the keys about the job
     * as a whole, `defaults` those that all recipients share. A `count` in `job` is checked before the drop.
     */
    async submitLines(recipients, { job, defaults, name = "job.jsonl", unique = true } = {}) {
        async function* lines() {
            let [text, count] = [job || defaults ? `${JSON.stringify({ job, defaults })}\n` : "", 0];
            for await (const recipient of recipients) {
                text += `${JSON.stringify(recipient)}\n`;
                if (text.length >= 65_536) yield text, (text = "");
                count += 1;
            }
            const isRight = count > 0 && count === (job?.count ?? count);
            yield isRight ? text : refuse(`there are ${count} recipients`, "add at least one, and correct count");
        }
        if (!name.endsWith(".jsonl")) refuse(`${JSON.stringify(name)} is not a valid name for lines`, "end it in .jsonl");
        return this.submit(lines(), { name, unique });
    }

    /**
     * Waits until a job has ended or is held. Returns its `state` ("done", "failed" or "held"), its `path` from the app's
     * folder on, its `result` file's contents if there is one, and `isAccepted`: whether all notifications were accepted.
     * `timeout` is in milliseconds. Only members of their group can read done/ and failed/.
     */
    async wait(name, { timeout = 300_000 } = {}) {
        const deadline = performance.now() + timeout;
        fileName(name, "pass the name that submit returned");
        for (let pause = 20; ; pause = Math.min(pause * 2, 500)) {
            const folder = await this.#find(name);
            if (folder && folder !== "new") {
                // The result file appears before the job.
                const text = await readFile(`${this.folder}/${folder}/${name}.result.json`, "utf8").catch(ignoreMissing);
                const [state, result] = [folder === "hold" ? "held" : folder.split("/")[0], text && JSON.parse(text)];
                return { name, state, path: `${folder}/${name}`, result, isAccepted: state === "done" && !result };
            }
            const rest = deadline - performance.now();
            const message = `${name} has not finished after ${timeout} ms${folder ? ": it is still in new/" : ""}`;
            if (rest <= 0) throw new PushspoolError("NOT_IN_TIME", message, "is the daemon running? see its log");
            await sleep(Math.min(pause, rest));
        }
    }

    async #find(name) {
        const days = async (state) => (await readdir(`${this.folder}/${state}`).catch(fail)).map((day) => `${state}/${day}`);
        // This is the order in which jobs move.
        for (const folder of ["new", "hold", ...(await days("done")), ...(await days("failed"))]) {
            if (await lstat(`${this.folder}/${folder}/${name}`).catch(ignoreMissing)) return folder;
        }
    }

    /**
     * Iterates over the app's feedback lines, oldest file first. Files stay, unless you ask for `consume`: then each is
     * deleted when you ask for the line after its last. If you stop early, its lines come again: a line comes at least once.
     * Skips links, pipes, and files of other users than the daemon's and root. A line that is not a JSON object throws.
     */
    async *feedback({ consume = false } = {}) {
        const folder = `${this.folder}/feedback`;
        // Fail before the first line: otherwise the lines would come again and again.
        if (consume) await access(folder, flags.W_OK | flags.X_OK).catch(fail);
        const { uid } = await lstat(`${this.folder}/work`).catch(() => lstat(this.folder)).catch(fail);
        for (const name of (await readdir(folder).catch(fail)).sort()) {
            if (!/^[^.].*\.jsonl$/s.test(name)) continue;
            const file = await open(`${folder}/${name}`, flags.O_NOFOLLOW | flags.O_NONBLOCK).catch(ignoreMissing);
            try {
                const status = await file?.stat();
                if (!status?.isFile() || ![uid, 0].includes(status.uid)) continue;
                const lines = (await file.readFile("utf8")).match(/[^\n]+/g) ?? [];
                for (const [index, line] of lines.entries()) yield parsed(line, `feedback/${name}:${index + 1}`);
                if (consume) await unlink(`${folder}/${name}`).catch(ignoreMissing);
            } finally {
                await file?.close();
            }
        }
    }
}

function parsed(line, place) {
    try {
        if (line.startsWith("{")) return JSON.parse(line);
    } catch {} // reported below
    refuse(`${place}: not a JSON object`, "move the file away, and check it");
}

function fileName(name, hint) {
    const isValid = /^(?!\.{1,2}$)[^/\0]+$/.test(name) && Buffer.from(name).toString() === name;
    return isValid ? name : refuse(`${JSON.stringify(name)} is not a valid name`, hint);
}
const random = () => randomBytes(8).toString("hex");
const ignoreMissing = (error) => (/ENOENT|ENOTDIR|ELOOP|ENXIO/.test(error.code) ? undefined : fail(error));
function refuse(message, hint) {
    throw new PushspoolError("INPUT", message, hint);
}

function fail({ code, message }) {
    throw new PushspoolError(code === "EEXIST" ? "INPUT" : "FAILED", message, HINTS[code] ?? DISK_HINT);
}
