import { connect, type Socket } from 'node:net';

/** Receives an answer of the model. */
export interface AnswerListener {
	text(delta: string): void;
	end(): void;
}

/** Keep-alive connections to the scripted model, without an HTTP library. An answer must be chunked and in ASCII. */
export class ModelConnections implements Disposable {
	readonly #port: number;
	/** The most recently used is last. */
	readonly #idle: ModelConnection[] = [];
	readonly #all = new Set<ModelConnection>();

	constructor(port: number) {
		this.#port = port;
	}

	ask(model: string, question: string, listener: AnswerListener): void {
		const connection = this.#idle.pop() ?? this.#open();
		connection.ask(model, question, listener);
	}

	[Symbol.dispose](): void {
		for (const connection of this.#all) connection.close();
	}

	#open(): ModelConnection {
		const connection: ModelConnection = new ModelConnection(this.#port, {
			onIdle: () => this.#idle.push(connection),
			// The model closes connections that are idle for seconds.
			onClose: () => {
				this.#all.delete(connection);
				const at = this.#idle.indexOf(connection);
				if (at >= 0) this.#idle.splice(at, 1);
			},
		});
		this.#all.add(connection);
		return connection;
	}
}

class ModelConnection {
	readonly #socket: Socket;
	readonly #host: string;
	readonly #onIdle: () => void;
	#listener: AnswerListener | null = null;
	#inBody = false;
	/** What has arrived of the head, or of the next chunk. */
	#bytes = '';
	/** What has arrived of the next line of the stream. */
	#line = '';

	constructor(port: number, { onIdle, onClose }: { onIdle(): void; onClose(): void }) {
		this.#host = `127.0.0.1:${port}`;
		this.#onIdle = onIdle;
		this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
		this.#socket.setEncoding('latin1');
		this.#socket.on('data', (bytes: unknown) => this.#read(bytes as string));
		this.#socket.on('error', () => {});
		this.#socket.on('close', () => {
			onClose();
			if (this.#listener !== null) throw new Error('The model closed the connection in the middle of an answer.');
		});
	}

	ask(model: string, question: string, listener: AnswerListener): void {
		this.#listener = listener;
		const messages = [
			{ role: 'system', content: 'You help the customers of a shop.' },
			{ role: 'user', content: question },
		];
		const body = JSON.stringify({ model, messages, stream: true });
		this.#socket.write(
			`POST /v1/chat/completions HTTP/1.1\r\nHost: ${this.#host}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
		);
	}

	close(): void {
		this.#listener = null;
		this.#socket.destroy();
	}

	#read(bytes: string): void {
		this.#bytes += bytes;
		if (this.#inBody || this.#readHead()) this.#readChunks();
	}

	#readHead(): boolean {
		const end = this.#bytes.indexOf('\r\n\r\n');
		if (end < 0) return false;
		if (!this.#bytes.startsWith('HTTP/1.1 200 ')) throw new Error(`The model answered: ${this.#bytes}`);
		this.#inBody = true;
		this.#bytes = this.#bytes.slice(end + 4);
		return true;
	}

	/** Takes a chunk as soon as it is complete: the library of the model sends the line end after it with the next one. */
	#readChunks(): void {
		for (;;) {
			const from = this.#bytes.startsWith('\r\n') ? 2 : 0;
			const end = this.#bytes.indexOf('\r\n', from);
			if (end < 0) return;
			const size = Number.parseInt(this.#bytes.slice(from, end), 16);
			const next = end + 2 + (size === 0 ? 2 : size);
			if (this.#bytes.length < next) return;
			const chunk = this.#bytes.slice(end + 2, end + 2 + size);
			this.#bytes = this.#bytes.slice(next);
			if (size === 0) {
				this.#end();
				return;
			}
			this.#readLines(chunk);
		}
	}

	#readLines(chunk: string): void {
		const lines = (this.#line + chunk).split('\n');
		this.#line = lines.pop() as string;
		for (const line of lines) {
			if (!line.startsWith('data: {')) continue;
			const delta = JSON.parse(line.slice(6)).choices[0]?.delta.content;
			if (delta) this.#listener?.text(delta);
		}
	}

	#end(): void {
		const listener = this.#listener;
		this.#listener = null;
		this.#inBody = false;
		this.#bytes = '';
		this.#onIdle();
		listener?.end();
	}
}
