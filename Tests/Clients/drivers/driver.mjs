// Carries out requests, one JSON object a line, with pushspool.mjs, and answers each with a line.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { App, PushspoolError } = await import(pathToFileURL(process.argv[2]));
const hex = (text) => Buffer.from(text).toString("hex");
const job = (request) => (request.job_hex === undefined ? request.job : Buffer.from(request.job_hex, "hex"));

async function answer({ call, spool, app, ...request }) {
    const target = new App(spool, app);
    const { name, unique } = request;
    switch (call) {
        case "submit": return { name_hex: hex(await target.submit(job(request), { name, unique })) };
        case "lines": return { name_hex: hex(await target.submitLines(recipients(request), { ...request.head, name, unique })) };
        case "wait": return target.wait(name, { timeout: request.timeout * 1000 });
        case "feedback": return { lines: await taken(target.feedback(request), request.take) };
    }
}

function* recipients({ recipients, breaks }) {
    yield* recipients;
    if (breaks) throw Object.assign(new Error("the database has gone"), { code: "ECONNRESET" });
}

async function taken(feedback, limit = Infinity) {
    const lines = [];
    for await (const line of feedback) {
        lines.push(line);
        if (lines.length >= limit) break;
    }
    return lines;
}

for await (const line of createInterface({ input: process.stdin })) {
    const result = await answer(JSON.parse(line)).catch((error) => {
        const kind = error instanceof PushspoolError ? error.code.toLowerCase() : "other";
        return { error: kind, message: error.message, hint: error.hint ?? "", job: error.job };
    });
    console.log(JSON.stringify(result));
}
