/**
 * Drops jobs into a pushspool spool and reads their outcomes. Copy this file: it needs only Node.js 18 or newer on Linux.
 *
 *     import { App } from "./pushspool.mjs";
 *     const weather = new App("/var/spool/pushspool", "weather");
 *     const name = await weather.submit({ token, alert: "Hi" }, { name: "order.json" });
 *     const end = await weather.wait(name);
 *     for await (const line of weather.feedback({ consume: true })) await forgetIfGone(line.verdict, line.token);
 * Node.js has no renameat2(2): a unique name has 64 random bits, and `unique: false` uses link(2), after which the file must
 * settle. pushspool-spool(7) explains that and the folders, pushspool-job(5) jobs, pushspool-feedback(5) the lines.
 */
import { randomBytes } from "node:crypto";
import { access, constants as flags, link, lstat, open, readFile, readdir, rename, stat, unlink } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const JOB_NAME = /^(?!\.|.*\.result\.json$)[^\x00-\x1f\x7f/]+(\.(?:json|jsonl|yaml|yml))$/;
const JOB_HINT = "use at most 200 bytes, no leading dot, slash or control character, and end it in .json, .jsonl, .yaml or .yml";
const ESCAPED = /[%\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g; // by the daemon, as %XX
const inodes = new Map(); // of the last jobs with exact names, which other jobs may have had, by their paths
const GROUP_HINT = "run as a member of the group that owns the folder; see pushspool-spool(7)";
const HINTS = {
    EACCES: GROUP_HINT, EPERM: GROUP_HINT, EEXIST: "use another name, or leave unique on", ENOSPC: "free some space, then retry",
    ENOENT: "check the spool's path and the app's name; the daemon creates an app's folders when it starts",
};

/**
 * A failure; `hint` is its remedy. `code` is "INPUT" if a repetition does not help; "NOT_IN_TIME" if a job has not ended;
 * "IN_DOUBT" if the job, named `job`, may have been dropped; else "FAILED". `submit` has dropped nothing otherwise.
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
        fileName(spool && `-${spool.replaceAll("/", "-")}`, "pass the spool's path");
        Object.assign(this, { spool, app, folder: `${spool}/${fileName(app, "use the name of a folder in the spool")}` });
    }

    /**
     * Drops a job atomically and durably, and returns its name. `job` is an object, text or bytes of a file, or a stream of
     * them. The ending of `name` sets the format; "urgent-" or "bulk-" at its start selects a lane. 17 characters before the
     * ending make it unique; `unique: false` uses exactly `name`, and fails if new/ has it.
     */
    async submit(job, { name = "job.json", unique = true } = {}) {
        const ending = JOB_NAME.exec(fileName(name, JOB_HINT))?.[1];
        if (!ending || Buffer.byteLength(name) > 200) refuse(`${JSON.stringify(name)} is not a valid job name`, JOB_HINT);
        const final = unique ? `${name.slice(0, -ending.length)}-${random()}${ending}` : name;
        const isText = typeof job === "string" || job instanceof Uint8Array;
        const pieces = isText ? [job] : job[Symbol.asyncIterator] ? job : [`${JSON.stringify(job)}\n`];
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
            const { size, ino } = await file.stat({ bigint: true });
            if (size === 0n) refuse("the job is empty", "write it as pushspool-job(5) describes");
            // On a shared filesystem a daemon on another host sees by this that the file was renamed after the last write.
            await file.utimes(new Date(), Math.floor(Date.now() / 1000) - 1).catch(fail);
            await file.sync().catch(fail);
            await file.close().catch(fail); // the daemon does not take a file that is still open for writing
            await (unique ? rename : link)(path, `${this.folder}/new/${final}`).catch(fail);
            if (!unique && inodes.set(`${this.folder}/${final}`, ino).size > 10_000) inodes.delete(inodes.keys().next().value);
            // Sync new/, and check that it still has its path. On failure withdraw the job, unless the daemon claimed it.
            const failure = await directory.sync().catch((error) => error);
            const [opened, there] = [await directory.stat(), await lstat(`${this.folder}/new`).catch(() => undefined)];
            const isSame = there?.ino === opened.ino && there.dev === opened.dev;
            if (!failure && isSame) return final;
            const message = failure?.message ?? "new/ was moved, replaced or removed meanwhile";
            const error = await unlink(`${this.folder}/new/${final}`).catch((error) => error);
            if (!error) throw new PushspoolError("FAILED", message, "submit the job again");
            if (error.code === "ENOENT" && isSame) return final;
            const doubt = `${message}, and it is unknown whether '${final}' was dropped: ${error.message}`;
            throw new PushspoolError("IN_DOUBT", doubt, "look for it in new/ before you submit it again", final);
        } finally {
            // The daemon ignores this file; a failure to remove it must not hide the earlier error.
            await Promise.allSettled([file?.close(), unlink(path), directory.close()]);
        }
    }

    /**
     * Drops a job with one notification per line. `recipients` is any iterable of tokens or objects with a `token`, also of
     * millions: 64 KiB are in memory. Its errors pass through. `job` has keys about the job as a whole, among them perhaps
     * the `count`, which is checked before the drop; `defaults` has those that all recipients share.
     */
    async submitLines(recipients, { job, defaults, name = "job.jsonl", unique = true } = {}) {
        async function* lines() {
            let [text, count] = [job || defaults ? `${JSON.stringify({ job, defaults })}\n` : "", 0];
            for await (const recipient of recipients) {
                text += `${JSON.stringify(recipient)}\n`;
                if (text.length >= 65_536) yield text, (text = "");
                count += 1;
            }
            const isWrong = count === 0 || count !== (job?.count ?? count);
            yield isWrong ? refuse(`there are ${count} recipients`, "add at least one, and correct count") : text;
        }
        if (!name.endsWith(".jsonl")) refuse(`${JSON.stringify(name)} is not a valid name for lines`, "end it in .jsonl");
        return this.submit(lines(), { name, unique });
    }

    /**
     * Waits until a job has ended or is held. Returns its `state` ("done", "failed" or "held"), its `path` from the app's
     * folder on, its `result` unless everything was accepted, and `isAccepted`: whether that is so. `timeout` is in
     * milliseconds. Throws at once if the app is stopped. Reads tmp/.jobs/, which has the app's last jobs.
     */
    async wait(name, { timeout = 300_000 } = {}) {
        const deadline = performance.now() + timeout;
        const key = fileName(name, "pass the name that submit returned").replace(ESCAPED, encodeURIComponent);
        const job = { key, inode: inodes.get(`${this.folder}/${name}`), read: new Map() };
        for (let pause = 20; ; pause = Math.min(pause * 2, 500)) {
            const waiting = await lstat(`${this.folder}/new/${name}`, { bigint: true }).catch(ignoreMissing);
            if (waiting) job.inode = waiting.ino;
            const end = waiting ? undefined : await this.#end(job);
            if (end) return { name, ...end, isAccepted: end.state === "done" && !end.result };
            const [rest, obstacle] = [deadline - performance.now(), await this.#obstacle()];
            const message = `${name} has not finished: ${obstacle ?? (waiting ? "it is still in new/" : "it is on its way")}`;
            if (rest <= 0 || obstacle) throw new PushspoolError("NOT_IN_TIME", message, "is the daemon running? see its log");
            await sleep(Math.min(pause, rest));
        }
    }

    /** Returns what a job's last line says. `read` has how much of each file was read, by inode. */
    async #end({ key, inode, read }) {
        const [folder, start] = [`${this.folder}/tmp/.jobs`, `\n${key}\t${inode === undefined ? "" : `${inode}\t`}`];
        await access(`${this.folder}/tmp`, flags.X_OK).catch(fail);
        let [status, path, result] = [await lstat(folder).catch(ignoreMissing)]; // another user may have made it
        for (const name of (await this.#owners()).includes(status?.uid) ? (await readdir(folder)).sort() : []) {
            const file = /^(earlier-|ended-|held$)/.test(name) && (await open(`${folder}/${name}`).catch(ignoreMissing));
            if (!file) continue;
            const { ino, size } = await file.stat();
            // A shorter file has got the inode of a removed one. The list of held jobs is replaced as a whole.
            const from = name !== "held" && read.get(ino) <= size ? read.get(ino) : 0;
            const data = Buffer.concat([Buffer.from("\n"), ...(await file.createReadStream({ start: from }).toArray())]);
            read.set(ino, from + data.lastIndexOf("\n")); // the daemon may be writing the last line
            const place = data.subarray(0, data.lastIndexOf("\n")).lastIndexOf(start);
            if (place >= 0) [, , path, result] = data.toString("utf8", place + 1, data.indexOf("\n", place + 1)).split("\t");
        }
        const [state] = path?.replace("hold", "held").split("/") ?? [];
        return path && { state, path: decodeURIComponent(path), result: result === "{}" ? undefined : JSON.parse(result) };
    }

    /** Returns why the app sends nothing before its configuration changes, as daemons write every 30 s; undefined if it may. */
    async #obstacle() {
        const folder = `${this.spool}/.pushspool/public`;
        const apps = async (path) => Date.now() - (await stat(path)).mtimeMs < 60_000 && JSON.parse(await readFile(path)).apps;
        const nodes = (await readdir(folder).catch(() => [])).map((node) => `${folder}/${node}/status.json`);
        const all = await Promise.all(nodes.map((path) => apps(path).catch(() => [])));
        const found = all.flat().filter(({ app }) => app === this.app);
        if (!found.every(({ state }) => /^(stopped|broken|unconfigured)$/.test(state))) return undefined;
        return found[0] && `${this.app} ${found[0].reason ?? `is ${found[0].state}`}`;
    }

    // Only daemons write in work/.
    #owners = async () => [(await lstat(`${this.folder}/work`).catch(() => lstat(this.folder)).catch(fail)).uid, 0];

    /**
     * Iterates over the app's feedback lines, oldest file first. Files stay, unless you ask for `consume`: then each is
     * deleted when you ask for the line after its last. If you stop early, its lines come again: a line comes at least once.
     * Skips links, pipes, and files of other users than the daemon's and root. A line that is not a JSON object throws.
     */
    async *feedback({ consume = false } = {}) {
        const [folder, owners] = [`${this.folder}/feedback`, await this.#owners()];
        // Fail before the first line: otherwise the lines would come again and again.
        if (consume) await access(folder, flags.W_OK | flags.X_OK).catch(fail);
        for (const name of (await readdir(folder).catch(fail)).filter((name) => /^[^.].*\.jsonl$/s.test(name)).sort()) {
            const file = await open(`${folder}/${name}`, flags.O_NOFOLLOW | flags.O_NONBLOCK).catch(ignoreMissing);
            const status = await file?.stat();
            const isOurs = status?.isFile() && owners.includes(status.uid);
            const lines = (isOurs && (await file.readFile("utf8")).match(/[^\n]+/g)) || [];
            await file?.close();
            for (const [index, line] of lines.entries()) {
                const fault = () => refuse(`feedback/${name}:${index + 1}: not a JSON object`, "move the file away, and check it");
                yield line.startsWith("{") ? await Promise.resolve(line).then(JSON.parse).catch(fault) : fault();
            }
            if (consume && isOurs) await unlink(`${folder}/${name}`).catch(ignoreMissing);
        }
    }
}

function fileName(name, hint) {
    const isValid = /^(?!\.{1,2}$)[^/\0]+$/.test(name) && Buffer.from(name).toString() === name;
    return isValid ? name : refuse(`${JSON.stringify(name)} is not a valid name`, hint);
}
function fail({ code, message, hint = HINTS[code] ?? "check the disk, and that its filesystem is mounted read-write" }) {
    throw new PushspoolError(/^(INPUT|EEXIST)$/.test(code) ? "INPUT" : "FAILED", message, hint);
}
const refuse = (message, hint) => fail({ code: "INPUT", message, hint });
const random = () => randomBytes(8).toString("hex");
const ignoreMissing = (error) => (/ENOENT|ENOTDIR|ELOOP|ENXIO/.test(error.code) ? undefined : fail(error));
