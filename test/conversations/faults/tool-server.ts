import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Deferred, deferred } from '../../../src/base/index.ts';
import { createResource } from '../../api/fixture.ts';
import type { TestApp } from '../../support/app.ts';

/** A server of orders, with paths that fail in all kinds of ways. */
export class ToolServer implements AsyncDisposable {
	/** The paths that were asked for, by the deployment that the asker named. */
	readonly #asked = new Map<string, string[]>();
	/** What waits for `open`, by its asker; how often an asker left before its answer. */
	readonly #held = new Map<string, Deferred<void>>();
	readonly #left = new Map<string, number>();
	readonly #server = createServer((request, response) => {
		const { pathname } = new URL(request.url ?? '', 'http://orders');
		const asker = String(request.headers['x-asker'] ?? '');
		this.#asked.set(asker, [...(this.#asked.get(asker) ?? []), pathname]);
		const answer = (type: string, body: string | Buffer) => {
			response.writeHead(200, { 'content-type': type }).end(body);
		};
		switch (pathname) {
			case '/orders/never':
				return;
			case '/orders/held':
				response.on('close', () => {
					if (!response.writableFinished) this.#left.set(asker, this.leftBy(asker) + 1);
				});
				return void this.#gateOf(asker).promise.then(() => answer('application/json', '{"state":"shipped"}'));
			case '/orders/lost':
				return void response.writeHead(500, { 'content-type': 'text/plain' }).end('out of order');
			case '/orders/broken':
				response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' }).write('half');
				return void setImmediate(() => response.destroy());
			case '/orders/bytes':
				return answer('image/png', Buffer.alloc(100, 0x89));
			case '/orders/huge':
				return answer('text/plain', 'x'.repeat(1_000_000));
			case '/orders/odd':
				return answer('text/plain', Buffer.from([0x61, 0xff, 0x63]));
			case '/orders/nul':
				return answer('text/plain', 'a\0b');
			default:
				return answer('application/json', '{"state":"shipped"}');
		}
	});

	static async start(): Promise<ToolServer> {
		const server = new ToolServer();
		await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
		return server;
	}

	/** The paths that somebody asked for. */
	askedBy(asker: string): readonly string[] {
		return this.#asked.get(asker) ?? [];
	}

	/** Lets what somebody asks for at `held` be answered. */
	open(asker: string): void {
		this.#gateOf(asker).resolve();
	}

	/** How often somebody left `held` before the answer. */
	leftBy(asker: string): number {
		return this.#left.get(asker) ?? 0;
	}

	/**
	 * Gives an assistant three tools that ask in the name of `asker`: `order`, by its `path`; `gone`, which is nowhere; and
	 * `never`, which does not answer.
	 */
	async attach(app: TestApp, assistant: string, asker: string, patienceMs = 500): Promise<void> {
		const { port } = this.#server.address() as AddressInfo;
		const origin = `http://127.0.0.1:${port}`;
		const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
		const configs: Record<string, object> = {
			order: { url: `${origin}/orders/{path}`, parameters },
			// This server has the port, and listens at its other address only.
			gone: { url: `http://[::1]:${port}/` },
			never: { url: `${origin}/orders/never`, timeout_ms: patienceMs },
		};
		for (const [name, config] of Object.entries(configs)) {
			const full = { method: 'GET', headers: { 'X-Asker': asker }, ...config };
			const tool_id = await createResource(app, '/api/v1/tools', {
				name,
				description: name,
				type: 'api',
				config: full,
			});
			await app.call('POST', `/api/v1/assistants/${assistant}/tools`, { tool_id });
		}
	}

	#gateOf(asker: string): Deferred<void> {
		const gate = this.#held.get(asker) ?? deferred();
		this.#held.set(asker, gate);
		return gate;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#server.closeAllConnections();
		await new Promise((resolve) => this.#server.close(resolve));
	}
}
