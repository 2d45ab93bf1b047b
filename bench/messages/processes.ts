import { type ServerProcess, startServer } from '../../test/support/server-process.ts';
import { type ApiClient, deploy } from '../load/deploy.ts';
import { type LoadProcess, startLoadProcess } from '../load/load-process.ts';
import { inspectable } from '../load/memory.ts';
import type { ModelCommand, ModelReady } from '../load/model.ts';
import { durationOf, type ModelScript, modelNamed } from '../load/model-script.ts';
import type { HeldStreams, StreamsCommand, StreamsResult, SustainCommand } from '../load/streams.ts';
import type { ServerName } from '../report/figure.ts';
import { WARM_UP } from './cases.ts';

const QUESTION = 'Where is my order, and can I still return a part of it?';
const START_TIMEOUT_MS = 60_000;
/** Time besides the measurement: connecting, the warm-up, and reading to the end. */
const TIMEOUT_MARGIN_MS = 60_000;

/** The processes beside the servers. */
export interface BenchProcesses {
	model: ScriptedModel;
	load: LoadProcess<StreamsCommand, StreamsResult | HeldStreams>;
}

/** A measured server and its process. */
export interface ServerUnderTest extends ApiClient {
	readonly pid: number;
	readonly who: ServerName;
}

/** The process of the scripted model. */
export interface ScriptedModel extends Disposable {
	readonly pid: number;
	readonly port: number;
}

/** Starts it. @param cpu the core to run on; absent: any */
export async function startModel(cpu?: number): Promise<ScriptedModel> {
	const child = startLoadProcess<ModelCommand, ModelReady>(new URL('../load/model.ts', import.meta.url), cpu);
	const { port } = await child.send({ listen: true }, START_TIMEOUT_MS);
	return { pid: child.pid, port, [Symbol.dispose]: () => child[Symbol.dispose]() };
}

/** Starts the process that sends the load. @param cpu the core to run on; absent: any */
export function startLoad(cpu?: number): LoadProcess<StreamsCommand, StreamsResult | HeldStreams> {
	return startLoadProcess(new URL('../load/streams.ts', import.meta.url), cpu);
}

/** Starts the built server with the scripted model as its only provider. */
export function startServerWithModel(
	model: ScriptedModel,
	{
		dataDir,
		key,
		nodeOptions = [],
		env = {},
	}: { dataDir: string; key?: string | undefined; nodeOptions?: string[]; env?: Record<string, string> },
): Promise<ServerProcess> {
	const providers = [{ id: 'scripted', type: 'openai-compatible', base_url: `http://127.0.0.1:${model.port}/v1` }];
	return startServer({
		dataDir,
		...(key === undefined ? {} : { key }),
		env: { PARLEY_PROVIDERS: JSON.stringify(providers), PARLEY_ALLOW_PRIVATE_NETWORK: '1', ...env },
		wrapperCommand: inspectable(...nodeOptions),
	});
}

/** Creates a deployment whose assistant has the scripted model. @returns its id */
export function deployScripted(server: ApiClient, script: ModelScript): Promise<string> {
	const assistant = { model: `scripted/${modelNamed(script)}`, master_prompt: 'You help the customers of a shop.' };
	return deploy(server, assistant, { rate_limit: { messages_per_minute: 1000 } });
}

/** Before a measurement: a cold server takes several times as long for each token. */
export async function warmUp(load: BenchProcesses['load'], server: ServerUnderTest): Promise<void> {
	const { script, streams, seconds } = WARM_UP;
	const deployment = await deployScripted(server, script);
	await sustainStreams(load, messagesTo(server, deployment, { streams, spreadMs: durationOf(script), seconds }));
}

/** Number of streams and duration. */
export type StreamLoad = Pick<SustainCommand, 'streams' | 'spreadMs' | 'seconds'> &
	Partial<Pick<SustainCommand, 'arrivalsPerSecond'>>;

/** Streamed messages to a deployment, each the first of its conversation. @param headers further ones */
export function messagesTo(
	server: ApiClient,
	deployment: string,
	amount: StreamLoad,
	headers: readonly string[] = [],
): SustainCommand {
	const body = JSON.stringify({ deployment_id: deployment, content: QUESTION, stream: true });
	return {
		port: server.port,
		request: post('/api/v1/messages', server.port, body, [`Authorization: Bearer ${server.key}`, ...headers]),
		first: 'event: message.delta',
		end: 'event: message.completed',
		arrivalsPerSecond: null,
		...amount,
	};
}

/** The same question, directly to the model. */
export function questionsTo(model: ScriptedModel, script: ModelScript, amount: StreamLoad): SustainCommand {
	const messages = [{ role: 'user', content: QUESTION }];
	const body = JSON.stringify({ model: modelNamed(script), messages, stream: true });
	return {
		port: model.port,
		request: post('/v1/chat/completions', model.port, body, []),
		first: '"content":"@',
		end: 'data: [DONE]',
		arrivalsPerSecond: null,
		...amount,
	};
}

function post(path: string, port: number, body: string, headers: string[]): string {
	const head = [
		`POST ${path} HTTP/1.1`,
		`Host: 127.0.0.1:${port}`,
		'Content-Type: application/json',
		'Accept: text/event-stream',
		`Content-Length: ${body.length}`,
		...headers,
	];
	return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** Keeps streams running in the load's process. @throws Error if a stream failed */
export async function sustainStreams(
	load: LoadProcess<StreamsCommand, StreamsResult | HeldStreams>,
	order: SustainCommand,
): Promise<StreamsResult> {
	const seen = (await load.send(order, order.seconds * 1000 + order.spreadMs + TIMEOUT_MARGIN_MS)) as StreamsResult;
	if (seen.failed > 0) throw new Error(`${seen.failed} streams failed. The first: ${seen.firstFailure}`);
	return seen;
}
