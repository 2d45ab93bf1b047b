// Sends a message and prints the reply while it is written, with its sources.
//
//   PARLEY=http://127.0.0.1:8080 KEY=sk_… node examples/stream-reply.mjs dep_… "What does error code E3 mean?"
import { randomUUID } from 'node:crypto';

const server = process.env.PARLEY ?? 'http://127.0.0.1:8080';
const key = process.env.KEY;
const [deployment, question] = process.argv.slice(2);
if (!key || !deployment || !question) {
	console.error('Usage: PARLEY=http://… KEY=sk_… node examples/stream-reply.mjs DEPLOYMENT QUESTION');
	process.exit(2);
}

/** Attempts to send the request when its connection breaks. */
const ATTEMPTS = 5;
/** The same key on every attempt: the message gets one reply, and a repeat joins the running reply. */
const idempotencyKey = randomUUID();
/** Characters of the reply that are on the screen. */
let printed = 0;

for (let attempt = 1; ; attempt++) {
	try {
		process.exitCode = await streamReply();
		break;
	} catch (error) {
		if (attempt === ATTEMPTS) throw error;
		await new Promise((resolve) => setTimeout(resolve, 1000 * attempt));
	}
}

/** Resolves with the exit code when the reply has ended. Rejects if the connection breaks. */
async function streamReply() {
	const response = await fetch(`${server}/api/v1/messages`, {
		method: 'POST',
		headers: {
			authorization: `Bearer ${key}`,
			'content-type': 'application/json',
			'idempotency-key': idempotencyKey,
		},
		body: JSON.stringify({ deployment_id: deployment, content: question, stream: true }),
	});
	if (!response.ok) {
		const { error } = await response.json();
		console.error(`${response.status} ${error.code}: ${error.message} (${error.request_id})`);
		return 1;
	}
	for await (const event of eventsOf(response.body)) {
		switch (event.type) {
			case 'message.delta':
				// A repeat begins at the reply's first character.
				process.stdout.write(event.delta.slice(Math.max(0, printed - event.index)));
				printed = Math.max(printed, event.index + event.delta.length);
				break;
			case 'message.reset':
				// The server was restarted and writes the reply again.
				process.stdout.write('\n');
				printed = 0;
				break;
			case 'message.completed':
				process.stdout.write(`${event.message.content.slice(printed)}\n`);
				for (const { index, title, page } of event.message.citations) {
					console.log(`[${index}] ${title}${page === null ? '' : `, page ${page}`}`);
				}
				return 0;
			case 'message.failed':
				console.error(`\n${event.error.message}`);
				return 1;
		}
	}
	throw new Error('The connection ended before the reply.');
}

/** The data of each server-sent event. Each event of this server has one line of data. */
async function* eventsOf(body) {
	let buffer = '';
	for await (const text of body.pipeThrough(new TextDecoderStream())) {
		buffer += text;
		const events = buffer.split('\n\n');
		buffer = events.pop();
		for (const event of events) {
			const data = /^data: ?(.*)$/m.exec(event)?.[1];
			if (data !== undefined) yield JSON.parse(data);
		}
	}
}
