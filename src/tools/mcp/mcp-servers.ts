import { LruCache } from '../../base/index.ts';
import { McpServer, type McpServerOptions, type McpTimes } from './mcp-server.ts';

/** Servers that sessions are kept with. */
const CAPACITY = 256;

/** One tool's server, for as long as it is reached in the same way. */
interface Entry {
	server: McpServer;
	/** How it is reached. */
	way: string;
	idle: NodeJS.Timeout;
}

/** How a tool's server is reached. */
export interface McpPlace extends Pick<McpServerOptions, 'url' | 'headers'> {
	/** The tool's id. */
	id: string;
	/** Changes with the URL and the headers. */
	way: string;
}

export interface McpServersOptions extends Omit<McpServerOptions, 'url' | 'headers'> {
	times: McpTimes & {
		/** Milliseconds without use after which a session is ended. */
		idleMs: number;
	};
}

/** The MCP servers of the tools in use; who is not used for a while is left. */
export class McpServers implements AsyncDisposable {
	readonly #options: McpServersOptions;
	readonly #entries = new LruCache<string, Entry>(CAPACITY + 1);

	constructor(options: McpServersOptions) {
		this.#options = options;
	}

	/** The server of a tool. */
	of({ id, way, url, headers }: McpPlace): McpServer {
		const known = this.#entries.get(id);
		if (known?.way === way) {
			known.idle.refresh();
			return known.server;
		}
		if (known) this.#leave(id, known);
		const server = new McpServer({ ...this.#options, url, headers });
		const idle = setTimeout(() => this.#leave(id, entry), this.#options.times.idleMs).unref();
		const entry: Entry = { server, way, idle };
		this.#entries.set(id, entry);
		if (this.#entries.size > CAPACITY) end(this.#entries.evictOldest());
		return server;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		const closing: Array<Promise<void>> = [];
		for (let entry = this.#entries.evictOldest(); entry; entry = this.#entries.evictOldest()) {
			clearTimeout(entry.idle);
			closing.push(entry.server[Symbol.asyncDispose]());
		}
		await Promise.all(closing);
	}

	#leave(id: string, entry: Entry): void {
		if (this.#entries.get(id) === entry) this.#entries.delete(id);
		end(entry);
	}
}

function end(entry: Entry | undefined): void {
	if (!entry) return;
	clearTimeout(entry.idle);
	entry.server.retire();
}
