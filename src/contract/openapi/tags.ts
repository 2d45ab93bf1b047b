/** What each group of operations is about. A group without a sentence here does not pass the linter. */
export const TAGS: Readonly<Record<string, string>> = {
	Assistants: 'Who answers: instructions, a model, and what it knows and can do.',
	'Knowledge bases': 'What assistants know: sets of documents that are searched together.',
	Documents: 'Files, web pages and texts of a knowledge base, indexed in the background.',
	Tools: 'What assistants can do: calls to HTTP APIs and MCP servers.',
	Deployments: 'Where an assistant may be talked to: a widget on your website, or your own client.',
	Messages: 'Talking to an assistant, whole or streamed.',
	Conversations: 'What was said: reading, following, stopping, archiving.',
	Widget: 'What visitors of your website may do, without a key.',
	Webhooks: 'Signed events, sent to your servers.',
	Events: 'The log of what happened, for whoever would rather poll.',
	Models: 'The models that are configured.',
	'API keys': 'Credentials for servers and automation.',
	Users: 'The people who may sign in.',
	Session: 'Signing in and out.',
	Workspace: 'What all of this belongs to.',
	Server: 'Whether the server runs and takes requests, for supervisors and load balancers.',
};
