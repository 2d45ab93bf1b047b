// A stand-in for a provider of chat models: it streams one text, a word every half second. So there is time to end a node meanwhile.
import { once } from 'node:events';
import { createServer } from 'node:http';

const WORD_MS = 500;
const TEXT =
	'I am a slow model. While I write, end the node that serves this conversation. Another node takes the conversation over within a few seconds, asks me again, and the answer goes on to its last word. The page loses nothing.';

/** Starts it on a free port of 127.0.0.1. @returns its base URL, and `stop` */
export async function startSlowModel() {
	const server = createServer((request, response) => {
		if (request.url === '/v1/models') {
			response.writeHead(200, { 'content-type': 'application/json' });
			response.end(JSON.stringify({ object: 'list', data: [{ id: 'slow', object: 'model' }] }));
			return;
		}
		request.resume();
		response.writeHead(200, { 'content-type': 'text/event-stream' });
		const chunk = (delta, finish_reason = null) => {
			const choices = [{ index: 0, delta, finish_reason }];
			const body = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model: 'slow', choices };
			response.write(`data: ${JSON.stringify(body)}\n\n`);
		};
		const words = TEXT.split(/(?<= )/);
		const timer = setInterval(() => {
			const word = words.shift();
			if (word !== undefined) return chunk({ role: 'assistant', content: word });
			clearInterval(timer);
			chunk({}, 'stop');
			response.end('data: [DONE]\n\n');
		}, WORD_MS);
		response.on('close', () => clearInterval(timer));
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		url: `http://127.0.0.1:${server.address().port}/v1`,
		async stop() {
			server.closeAllConnections();
			server.close();
		},
	};
}
