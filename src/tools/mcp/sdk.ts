/** The parts of the MCP project's SDK that are used. */
export type McpSdk = Awaited<ReturnType<typeof load>>;

let loading: Promise<McpSdk> | undefined;

/** The SDK, loaded on first use: it is large, and a server without MCP tools never needs it. */
export function loadSdk(): Promise<McpSdk> {
	loading ??= load().catch((error: unknown) => {
		loading = undefined;
		throw error;
	});
	return loading;
}

async function load() {
	const [{ Client }, { StreamableHTTPClientTransport, StreamableHTTPError }, types] = await Promise.all([
		import('@modelcontextprotocol/sdk/client/index.js'),
		import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
		import('@modelcontextprotocol/sdk/types.js'),
	]);
	const { CallToolResultSchema, ListToolsResultSchema, McpError, ToolListChangedNotificationSchema } = types;
	return {
		Client,
		StreamableHTTPClientTransport,
		StreamableHTTPError,
		CallToolResultSchema,
		ListToolsResultSchema,
		McpError,
		ToolListChangedNotificationSchema,
	};
}
