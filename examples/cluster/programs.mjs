// Child processes of the example, and free ports.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Milliseconds that a program may take to end after its signal. */
const STOP_MS = 45_000;

/**
 * Starts a program. Its output goes to `onOutput`.
 * @returns the process, a promise of its end, and `stop`, which ends it
 */
export function start(command, args, { onOutput = () => {}, ...options } = {}) {
	// Of a process group of its own: Ctrl-C is for the example, which ends its programs in order.
	const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true, ...options });
	for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => onOutput(bytes.toString()));
	const ended = new Promise((resolve) => {
		child.once('error', (error) => resolve(error.message));
		child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
	});
	return {
		pid: child.pid,
		ended,
		async stop(signal = 'SIGTERM') {
			child.kill(signal);
			const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
			await ended;
			clearTimeout(timer);
		},
	};
}

/** A port of 127.0.0.1 that is free now. */
export async function freePort() {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address();
	server.close();
	await once(server, 'close');
	return port;
}

/** @throws Error where another program listens on a port of 127.0.0.1 */
export async function requireFree(port) {
	const server = createServer().listen(port, '127.0.0.1');
	await once(server, 'listening').catch((error) => {
		throw new Error(`Port ${port} cannot be used: ${error.message}. Set PORT to another one, or to 0 for a free one.`);
	});
	server.close();
	await once(server, 'close');
}

/** Checks until the result is truthy. @throws Error after a minute */
export async function until(what, check) {
	const deadline = Date.now() + 60_000;
	for (;;) {
		const result = await check();
		if (result) return result;
		if (Date.now() > deadline) throw new Error(`Waited for a minute in vain until ${what}.`);
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
}
