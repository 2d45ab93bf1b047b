/** A server with an API: Parley or the conventional server. */
export interface ApiClient {
	readonly port: number;
	/** An API key. */
	readonly key: string;
	/** A JSON request with the key. */
	// biome-ignore lint/suspicious/noExplicitAny: responses of every kind
	call(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }>;
}

/** Calls the API and returns the body of the response. @throws Error for an error response */
// biome-ignore lint/suspicious/noExplicitAny: responses of every kind
export async function call(server: ApiClient, method: string, path: string, body?: unknown): Promise<any> {
	const response = await server.call(method, path, body);
	if (response.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(response.body)}`);
	return response.body;
}

/** Creates an assistant and a deployment of it. @returns the deployment's id */
export async function deploy(server: ApiClient, assistant: object = {}, deployment: object = {}): Promise<string> {
	const { id } = await call(server, 'POST', '/api/v1/assistants', { name: 'Bench', ...assistant });
	return (await call(server, 'POST', '/api/v1/deployments', { assistant_id: id, ...deployment })).id;
}
