import { LruCache } from '../../base/index.ts';
import { McpServer, type McpServerOptions, type McpTimeouts } from './mcp-server.ts';

/** Servers that sessions are kept with. */
const MAX_SERVERS = 256;

/** One tool's server, for as long as it is reached in the same way. */
interface Entry {
	server: McpServer;
	/** How it is reached. */
	connectionKey: string;
	idleTimer: NodeJS.Timeout;
}

/** How a tool's server is reached. */
export interface McpAddress extends Pick<McpServerOptions, 'url' | 'headers'> {
	/** The tool's id. */
	id: string;
	/** Changes with the URL and the headers. */
	connectionKey: string;
}

export interface McpServersOptions extends Omit<McpServerOptions, 'url' | 'headers'> {
	times: McpTimeouts & {
		/** Milliseconds without use after which a session is ended. */
		idleMs: number;
	};
}

/** The MCP servers of the tools in use; who is not used for a while is left. */
export class McpServers implements AsyncDisposable {
	readonly #options: McpServersOptions;
	readonly #entries = new LruCache<string, Entry>(MAX_SERVERS + 1);

	constructor(options: McpServersOptions) {
		this.#options = options;
	}

	/** The server of a tool. */
	serverFor({ id, connectionKey, url, headers }: McpAddress): McpServer {
		const known = this.#entries.get(id);
		if (known?.connectionKey === connectionKey) {
			known.idleTimer.refresh();
			return known.server;
		}
		if (known) this.#evict(id, known);
		const server = new McpServer({ ...this.#options, url, headers });
		const idleTimer = setTimeout(() => this.#evict(id, entry), this.#options.times.idleMs).unref();
		const entry: Entry = { server, connectionKey, idleTimer };
		this.#entries.set(id, entry);
		if (this.#entries.size > MAX_SERVERS) retire(this.#entries.evictOldest());
		return server;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		const closing: Array<Promise<void>> = [];
		for (let entry = this.#entries.evictOldest(); entry; entry = this.#entries.evictOldest()) {
			clearTimeout(entry.idleTimer);
			closing.push(entry.server[Symbol.asyncDispose]());
		}
		await Promise.all(closing);
	}

	#evict(id: string, entry: Entry): void {
		if (this.#entries.get(id) === entry) this.#entries.delete(id);
		retire(entry);
	}
}

function retire(entry: Entry | undefined): void {
	if (!entry) return;
	clearTimeout(entry.idleTimer);
	entry.server.retire();
}
