import net from 'node:net';
import type { TestContext } from 'node:test';
import { createLog } from '../../src/base/index.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions, type Route } from '../../src/http/index.ts';

export interface RunningServer {
	server: HttpServer;
	port: number;
	url: string;
}

/** A server on a free port, closed when the test ends. */
export async function start(
	t: TestContext,
	routes: Route[],
	options: Partial<HttpServerOptions> = {},
): Promise<RunningServer> {
	const server = createHttpServer({
		host: '127.0.0.1',
		port: 0,
		log: createLog('silent'),
		environment: process.env,
		routes,
		...options,
	});
	const { port } = await server.listen();
	t.after(() => server[Symbol.asyncDispose]());
	return { server, port, url: `http://127.0.0.1:${port}` };
}

/** A raw connection, for bytes that a well-behaved client does not send. */
export class RawClient {
	readonly socket: net.Socket;
	closed = false;
	/** Bytes received. */
	size = 0;
	#pieces: Buffer[] = [];
	#text = '';
	readonly #waiting: Array<() => void> = [];

	constructor(t: TestContext, port: number) {
		this.socket = net.connect(port, '127.0.0.1');
		this.socket.on('data', (bytes) => {
			this.size += bytes.length;
			this.#pieces.push(bytes);
			this.#changed();
		});
		this.socket.on('error', () => {});
		this.socket.on('close', () => {
			this.closed = true;
			this.#changed();
		});
		t.after(() => this.socket.destroy());
	}

	/** The received bytes as Latin-1, concatenated when read. */
	get text(): string {
		if (this.#pieces.length > 0) this.#text += Buffer.concat(this.#pieces.splice(0)).toString('latin1');
		return this.#text;
	}

	send(text: string | Uint8Array): void {
		this.socket.write(text);
	}

	/** Resolves when the condition holds. Rejects after two minutes. */
	async until(condition: () => boolean): Promise<void> {
		const limit = performance.now() + 120_000;
		while (!condition()) {
			if (performance.now() > limit)
				throw new Error(`The condition did not hold within two minutes. Received: ${this.text}`);
			await new Promise<void>((resolve) => {
				this.#waiting.push(resolve);
				setTimeout(resolve, 50).unref();
			});
		}
	}

	async untilClosed(): Promise<string> {
		await this.until(() => this.closed);
		return this.text;
	}

	async untilText(part: string): Promise<string> {
		await this.until(() => this.text.includes(part));
		return this.text;
	}

	#changed(): void {
		for (const wake of this.#waiting.splice(0)) wake();
	}
}

/** Waits for a condition, checking it every two milliseconds. */
export async function eventually(condition: () => boolean, what: string, limitMs = 60_000): Promise<void> {
	const limit = performance.now() + limitMs;
	while (!condition()) {
		if (performance.now() > limit) throw new Error(`Timed out before ${what}.`);
		await new Promise((resolve) => setTimeout(resolve, 2));
	}
}

/** The error envelope's code. */
export function codeOf(body: unknown): string {
	return (body as { error: { code: string } }).error.code;
}

/** A JSON response. */
export function json(status: number, value: unknown): { status: number; headers: [string, string][]; body: string } {
	return { status, headers: [['content-type', 'application/json']], body: JSON.stringify(value) };
}
