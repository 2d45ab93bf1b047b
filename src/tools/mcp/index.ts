export type { McpFunction } from './mcp-function.ts';
export { mcpResultText } from './mcp-result.ts';
export type { McpServer, McpTimeouts } from './mcp-server.ts';
export { McpServers, type McpServersOptions } from './mcp-servers.ts';
