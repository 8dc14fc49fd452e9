// Sends notifications with Node's http2 module to a gateway on localhost, and counts the answers.
//
// usage: node http2-client.mjs PORT CA COUNT TOKEN
//
// If PORT and CA are -, it connects to Apple's host, and trusts what Node trusts. TOKEN is a provider token. Prints one line: each status and how often it came.
import { connect } from 'node:http2';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';

const [port, authority, count, token] = process.argv.slice(2);
const client = port === '-' ? connect('https://api.push.apple.com')
    : connect(`https://localhost:${port}`, { ca: readFileSync(authority) });
const answers = {};
const send = () => new Promise((resolve, reject) => {
    const request = client.request({
        ':method': 'POST', ':path': `/3/device/${randomBytes(32).toString('hex')}`, authorization: `bearer ${token}`,
        'apns-topic': 'com.example.weather', 'apns-push-type': 'alert',
    });
    request.on('response', (head) => { answers[head[':status']] = (answers[head[':status']] ?? 0) + 1; });
    request.on('end', resolve).on('error', reject).resume();
    request.end(JSON.stringify({ aps: { alert: 'Good morning' } }));
});
await Promise.all(Array.from({ length: Number(count) }, send));
client.close();
console.log(Object.entries(answers).map(([status, times]) => `${status}: ${times}`).join(', '));
