/** Sends requests to a server's API. */
export interface ApiCaller {
	/** A request with an API key. The body is sent as JSON, unless it is a form. */
	// biome-ignore lint/suspicious/noExplicitAny: responses of every kind
	call(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }>;
}

/** A server with an API: Parley or the conventional server. */
export interface ApiClient extends ApiCaller {
	readonly port: number;
	/** An API key. */
	readonly key: string;
}

/** Calls the API and returns the body of the response. @throws Error for an error response */
// biome-ignore lint/suspicious/noExplicitAny: responses of every kind
export async function call(server: ApiCaller, method: string, path: string, body?: unknown): Promise<any> {
	const response = await server.call(method, path, body);
	if (response.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(response.body)}`);
	return response.body;
}

/** Creates an assistant with knowledge bases and a deployment of it. @returns the deployment's id */
export async function deploy(
	server: ApiCaller,
	assistant: object = {},
	deployment: object = {},
	knowledgeBaseIds: readonly string[] = [],
): Promise<string> {
	const { id } = await call(server, 'POST', '/api/v1/assistants', { name: 'Bench', ...assistant });
	for (const knowledge_base_id of knowledgeBaseIds) {
		await call(server, 'POST', `/api/v1/assistants/${id}/knowledge-bases`, { knowledge_base_id });
	}
	return (await call(server, 'POST', '/api/v1/deployments', { assistant_id: id, ...deployment })).id;
}
