export { mcpAnswerText } from './mcp-answer.ts';
export type { McpFunction } from './mcp-function.ts';
export type { McpServer, McpTimes } from './mcp-server.ts';
export { McpServers, type McpServersOptions } from './mcp-servers.ts';
