import type { McpToolConfig } from '../contract/index.ts';
import type { ToolRecord } from '../store/index.ts';
import { type McpServer, McpServers, type McpServersOptions } from './mcp/index.ts';
import { openTool, sealedConfig } from './opened-tool.ts';
import type { ToolSecrets } from './tool-secrets.ts';

/** The MCP servers of tools. */
export class ToolMcpServers implements AsyncDisposable {
	readonly #secrets: ToolSecrets;
	readonly #servers: McpServers;

	constructor(secrets: ToolSecrets, options: McpServersOptions) {
		this.#secrets = secrets;
		this.#servers = new McpServers(options);
	}

	/** The server of an MCP tool. Its secrets are opened with each session. */
	serverFor(tool: ToolRecord): McpServer {
		const { url, headers } = sealedConfig<McpToolConfig>(tool);
		return this.#servers.serverFor({
			id: tool.id,
			connectionKey: JSON.stringify([url, headers]),
			url,
			headers: () => openTool<McpToolConfig>(this.#secrets, tool).config.headers,
		});
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.#servers[Symbol.asyncDispose]();
	}
}
