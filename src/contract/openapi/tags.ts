/** The description of each group of operations. The linter rejects a group without one. */
export const TAGS: Readonly<Record<string, string>> = {
	Assistants: 'Assistants answer messages, by instructions, a model, knowledge bases and tools.',
	'Knowledge bases': 'Sets of documents that assistants search together.',
	Documents: 'Files, web pages and texts of a knowledge base, indexed in the background.',
	Tools: 'HTTP APIs and MCP servers that assistants can call.',
	Deployments: 'Places where people talk to an assistant: a widget on your website, or your own client.',
	Messages: 'Send a message to an assistant and get the reply, whole or streamed.',
	Conversations: 'Read, follow, take over, stop and archive conversations.',
	Widget: 'Operations for visitors of your website, without an API key.',
	Webhooks: 'Signed events, sent to your servers.',
	Events: 'The event log, for clients that poll.',
	Models: 'The configured models.',
	'API keys': 'Credentials for servers and automation.',
	Users: 'People who may sign in.',
	Session: 'Sign in and out.',
	Workspace: 'The owner of all other resources.',
	Server: 'The server’s state, for supervisors and load balancers.',
};
