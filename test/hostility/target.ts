import { call, deploy } from '../../bench/load/deploy.ts';
import { AsyncDisposableStack } from '../../src/base/index.ts';
import { ModelServer } from '../support/model-server.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';

/** The page of all visitors. */
export const ORIGIN = 'https://shop.example';
/** Messages a minute of a visitor whose messages are to exceed their limit. */
export const MESSAGES_PER_MINUTE = 20;
/** File descriptors of a small server: it takes 768 connections. */
export const SMALL_SERVER_DESCRIPTORS = 1_024;

/** Which server a scenario attacks. */
export type ServerSize =
	/** As many descriptors as this user may have. API keys may make any number of requests. */
	| 'large'
	/** Few descriptors, and the requests a minute of the default plan. */
	| 'small';

/** A server to attack, and what the scenarios need on it. */
export interface Target extends AsyncDisposable {
	server: ServerProcess;
	/** A key for the attack: the requests of honest clients count for another. */
	hostileKey: string;
	/** A deployment whose visitors may send few messages, with a model beside the server. */
	deployment: string;
	/** Another for each limit of a visitor that is counted apart. */
	deploymentOfRequests: string;
	deploymentOfStreams: string;
	/** Conversations of the first deployment. */
	conversations: string[];
	/** For honest visitors: the built-in model answers them. */
	honestDeployment: string;
	knowledgeBase: string;
}

/** Starts a server and creates what the scenarios need. */
export async function startTarget(size: ServerSize): Promise<Target> {
	await using owned = new AsyncDisposableStack();
	const model = owned.use(await ModelServer.start());
	model.setDefault([{ pause: 20 }, { say: 'Hello.' }]);
	const descriptors = size === 'large' ? '"$(ulimit -H -n)"' : SMALL_SERVER_DESCRIPTORS;
	const server = owned.use(
		await startServer({
			env: {
				PARLEY_PROVIDERS: JSON.stringify([{ id: 'slow', type: 'openai-compatible', base_url: model.baseUrl }]),
				PARLEY_ALLOW_PRIVATE_NETWORK: '1',
				PARLEY_LOG_LEVEL: 'fatal',
				PARLEY_REQUEST_LOG: '0',
				PARLEY_RATE_LIMIT: size === 'large' ? '0' : undefined,
			},
			wrapperCommand: ['sh', '-c', `ulimit -n ${descriptors}; exec "$0" "$@"`],
		}),
	);
	const deployTo = (assistant: object, messages_per_minute: number, knowledgeBases: string[] = []) =>
		deploy(
			server,
			assistant,
			{ allowed_domains: [new URL(ORIGIN).hostname], rate_limit: { messages_per_minute } },
			knowledgeBases,
		);
	const withSlowModel = { model: 'slow/small' };
	const knowledgeBase = await createKnowledgeBase(server);
	const deployment = await deployTo(withSlowModel, MESSAGES_PER_MINUTE);
	const conversations: string[] = [];
	for (let at = 0; at < 6; at++) {
		const message = { deployment_id: deployment, content: 'Hello' };
		conversations.push((await call(server, 'POST', '/api/v1/messages', message)).conversation_id);
	}
	const hostileKey = await call(server, 'POST', '/api/v1/api-keys', { name: 'Hostile', scopes: ['*'] });
	const deploymentOfRequests = await deployTo(withSlowModel, MESSAGES_PER_MINUTE);
	const deploymentOfStreams = await deployTo(withSlowModel, MESSAGES_PER_MINUTE);
	const honestDeployment = await deployTo({}, 1_000, [knowledgeBase]);
	const stack = owned.move();
	return {
		...{
			server,
			deployment,
			deploymentOfRequests,
			deploymentOfStreams,
			conversations,
			honestDeployment,
			knowledgeBase,
		},
		hostileKey: hostileKey.key,
		[Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
	};
}

/** A knowledge base with a document that is indexed. */
async function createKnowledgeBase(server: ServerProcess): Promise<string> {
	const { id } = await call(server, 'POST', '/api/v1/knowledge-bases', { name: 'Orders' });
	const content = 'Orders leave the house within two days. The lid of the kettle is made of brass.';
	const documents = `/api/v1/knowledge-bases/${id}/documents`;
	const document = await call(server, 'POST', documents, { source_type: 'text', content });
	await until(
		'the document is indexed',
		async () => (await call(server, 'GET', `${documents}/${document.id}`)).status === 'indexed',
	);
	return id;
}
