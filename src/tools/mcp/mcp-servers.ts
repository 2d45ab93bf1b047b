import { LruCache } from '../../base/index.ts';
import { McpServer, type McpServerOptions, type McpTimeouts } from './mcp-server.ts';

/** Servers whose sessions are kept open. */
const MAX_SERVERS = 256;

/** The server of one tool, as long as its address and headers stay the same. */
interface Entry {
	server: McpServer;
	/** Its address and headers. */
	connectionKey: string;
	idleTimer: NodeJS.Timeout;
}

/** The address of a tool's server. */
export interface McpAddress extends Pick<McpServerOptions, 'url' | 'headers'> {
	/** The tool's id. */
	id: string;
	/** Changes with the URL and the headers. */
	connectionKey: string;
}

export interface McpServersOptions extends Omit<McpServerOptions, 'url' | 'headers'> {
	times: McpTimeouts & {
		/** Milliseconds without use after which a session is closed. */
		idleMs: number;
	};
}

/** The MCP servers of the tools in use. The session of an unused server is closed after a while. */
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
