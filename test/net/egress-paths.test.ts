import assert from 'node:assert/strict';
import test from 'node:test';
import { AppError } from '../../src/base/index.ts';
import { createNetwork, isPublicAddress, type Network, type SsrfGuardOptions } from '../../src/net/index.ts';
import { type ApiResponse, startTestApp, type TestApp } from '../support/app.ts';
import { ModelServer } from '../support/model-server.ts';
import { type Canary, startCanary } from './canary.ts';
import { type EgressContext, type EgressPath, egressPaths } from './egress-paths.ts';
import { hostileUrls, resolveHostile } from './hostile-urls.ts';
import { httpServer, type TestServer } from './servers.ts';

/** `npm run test:long` gives every URL to every path. Otherwise each URL goes to one of the six paths, in turn. */
const IS_FULL = process.env.EGRESS === 'full';
const SHARE = IS_FULL ? 1 : 6;

/** The rows of a table that a path is given, by the number of the path. */
function rowsOf<T>(table: readonly T[], path: number): T[] {
	return table.filter((_, row) => row % SHARE === path % SHARE);
}

const STRICT: SsrfGuardOptions = { allowPrivateNetwork: false, resolve: resolveHostile };
/** An address of this machine that stands in for a public address. */
const FRONT = '127.0.0.9';
const FRONT_NAME = 'front.example';
/** The sentences about a redirect: of the guard, of downloads, and of the paths that follow none. */
const NOT_FOLLOWED =
	/^(url_not_allowed|unreadable_file|bad_status|unavailable|unreachable)\b|redirects are not followed/;

/** The guard's sentence, for an outcome without a code. */
const REFUSAL =
	/url_not_allowed|is not on the public internet|^Only https? |user name or password|not a valid absolute URL|^Port \d/;
/** The code of a path that hides the reason from visitors. */
const NO_KEYS = '503 unavailable';

/** A network that records why downloads failed, by URL, because some paths hide the reason. */
function kept(network: Network): { network: Network; failures: Map<string, string> } {
	const failures = new Map<string, string>();
	const download: Network['download'] = (url, options) =>
		network.download(url, options).catch((thrown: unknown) => {
			failures.set(url, thrown instanceof AppError ? thrown.code : String(thrown));
			throw thrown;
		});
	return { network: { ...network, download }, failures };
}

/** The same network without the rule that some URLs must be https, which would be checked before the others. */
function overHttp(network: Network): Network {
	return {
		...network,
		checkUrl: (url, rules) => network.checkUrl(url, { ...rules, httpsOnly: false }),
		download: (url, options) => network.download(url, { ...options, httpsOnly: false }),
		post: (url, options) => network.post(url, { ...options, httpsOnly: false }),
		fetch: (url, init, rules) => network.fetch(url, init, { ...rules, httpsOnly: false }),
	};
}

/** Runs a few at a time, because the tables are long. */
async function forEach<T>(items: Iterable<T>, use: (item: T) => Promise<void>): Promise<void> {
	const left = items[Symbol.iterator]();
	const worker = async () => {
		for (let next = left.next(); !next.done; next = left.next()) await use(next.value);
	};
	await Promise.all(Array.from({ length: 4 }, worker));
}

const portOf = (url: string) => Number(new URL(url).port);

/** The contract may refuse characters that no URL may contain before the guard does. */
function assertRefused(answer: ApiResponse, url: string, what: string): void {
	const codes = /[\s\0]/.test(url) ? ['url_not_allowed', 'invalid_request'] : ['url_not_allowed'];
	assert.equal(answer.status, 400, what);
	assert.ok(codes.includes(answer.body.error.code), `${what}: ${answer.body.error.code}`);
}

/** Uses the given URL, which the guard refuses. */
async function assertUseRefused(
	app: TestApp,
	way: EgressPath,
	given: EgressContext,
	failures: Map<string, string>,
): Promise<void> {
	const outcome = await way.use(app, given);
	const reason = outcome === NO_KEYS ? (failures.get(given.jwt.jwks_url) ?? 'nothing was fetched') : outcome;
	assert.match(reason, REFUSAL, `${way.name}: ${JSON.stringify(given)}`);
}

test('refuses hostile URLs on every path, and does not connect to the addresses of hostile names', async () => {
	await using canary = await startCanary();
	const { network, failures } = kept(createNetwork(STRICT));
	await using app = await startTestApp({ overrides: { network } });
	canary.allow(portOf(app.url));
	for (const [number, way] of egressPaths().entries()) {
		const taken: EgressContext[] = [];
		await forEach(rowsOf(hostileUrls(canary.port), number), async ({ url, refused }) => {
			const what = `${way.name}: ${JSON.stringify(url)}`;
			const answer = await way.give(app, url);
			if (refused === 'given') return assertRefused(answer, url, what);
			assert.equal(answer.status, 201, `${what} ${JSON.stringify(answer.body)}`);
			taken.push(answer.body);
		});
		assert.ok(taken.length >= 30 / SHARE);
		await forEach(taken, (given) => assertUseRefused(app, way, given, failures));
	}
	assert.deepEqual(canary.seen, []);
});

test('does not connect to a hostile URL that was stored while private networks were allowed', async () => {
	await using canary = await startCanary();
	const lax = createNetwork({ allowPrivateNetwork: true, resolve: resolveHostile });
	// Documents have to wait for the restart.
	const waiting: Network['download'] = (_url, { signal } = {}) =>
		new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
	const overrides = { network: { ...lax, download: waiting } };
	const before = await startTestApp({ overrides });
	canary.allow(portOf(before.url));
	const taken: Array<[way: EgressPath, given: EgressContext]> = [];
	for (const [number, way] of egressPaths().entries()) {
		await forEach(rowsOf(hostileUrls(canary.port), number), async ({ url }) => {
			const answer = await way.give(before, url);
			if (answer.status === 201) taken.push([way, answer.body]);
			else assertRefused(answer, url, url);
		});
	}
	assert.ok(taken.length >= (6 * 150) / SHARE, `${taken.length} were taken`);
	const { network, failures } = kept(createNetwork(STRICT));
	overrides.network = network;
	await using app = await before.restart();
	canary.allow(portOf(app.url));
	await forEach(taken, ([way, given]) => assertUseRefused(app, way, given, failures));
	assert.deepEqual(canary.seen, []);
});

test('connects to the canary on every path if private networks are allowed', async () => {
	await using canary = await startCanary();
	const network = createNetwork({ allowPrivateNetwork: true, resolve: resolveHostile });
	await using app = await startTestApp({ overrides: { network } });
	canary.allow(portOf(app.url));
	for (const way of egressPaths()) {
		for (const host of ['127.1', '[::ffff:127.0.0.1]', 'loopback.example']) {
			const before = canary.seen.length;
			const { status, body } = await way.give(app, `https://${host}:${canary.port}/`);
			assert.equal(status, 201, JSON.stringify(body));
			await way.use(app, body);
			assert.ok(canary.seen.length > before, `${way.name}, by ${host}`);
		}
	}
});

/** A stand-in for a public server that redirects each request to the URL of the row in its path. */
async function frontOf(
	canary: Canary,
): Promise<{ front: TestServer; rows: string[]; asked: Set<string>; network: Network }> {
	// A header cannot contain all of them.
	const rows = hostileUrls(canary.port).flatMap(({ url }) => (/[\s\0]/.test(url) ? [] : [url]));
	const asked = new Set<string>();
	const front = await httpServer(({ url = '' }, response) => {
		asked.add(url);
		const row = rows[Number(new URL(url, 'http://front').searchParams.get('row'))] ?? '';
		response.writeHead(307, { location: Buffer.from(row).toString('latin1') }).end();
	}, FRONT);
	canary.allow(front.port);
	const network = createNetwork({
		allowPrivateNetwork: false,
		resolve: async (name) => (name === FRONT_NAME ? [{ address: FRONT, family: 4 }] : resolveHostile(name)),
		isAddressAllowed: (address) => address === FRONT || isPublicAddress(address),
	});
	return { front, rows, asked, network };
}

test('follows no redirect of a public server to a hostile URL', async (t) => {
	await using canary = await startCanary();
	const made = await frontOf(canary).catch(() => null);
	if (made === null) return t.skip(`needs the loopback address ${FRONT}, which this system does not have`);
	const { rows, asked, network } = made;
	await using front = made.front;
	const { failures, ...overrides } = kept(overHttp(network));
	await using app = await startTestApp({ overrides });
	canary.allow(portOf(app.url));
	for (const [number, way] of egressPaths().entries()) {
		await forEach(rowsOf([...rows.entries()], number), async ([row, url]) => {
			const what = `${way.name}: ${url}`;
			const path = `/?way=${number}&row=${row}`;
			const { status, body } = await way.give(app, `http://${FRONT_NAME}:${front.port}${path}`);
			assert.equal(status, 201, JSON.stringify(body));
			const outcome = await way.use(app, body);
			const reason = outcome === NO_KEYS ? (failures.get(body.jwt.jwks_url) ?? 'nothing was fetched') : outcome;
			assert.match(reason, NOT_FOLLOWED, what);
			assert.ok(asked.has(path), `${what}: the public server was not asked`);
		});
	}
	assert.deepEqual(canary.seen, []);
});

test('connects to the configured address of a model provider, whatever a client or the provider sends', async () => {
	await using canary = await startCanary();
	await using model = await ModelServer.start();
	const provider = portOf(model.origin);
	await using app = await startTestApp({
		settings: { providers: [model.provider()] },
		overrides: { network: createNetwork(STRICT) },
	});
	for (const port of [portOf(app.url), provider]) canary.allow(port);
	const ask = async (name: string) => {
		const assistant = await app.call('POST', '/api/v1/assistants', { name: 'Guide', model: name });
		if (assistant.status !== 201) return assistant;
		const deployment = await app.call('POST', '/api/v1/deployments', { assistant_id: assistant.body.id });
		return app.call('POST', '/api/v1/messages', { deployment_id: deployment.body.id, content: 'Hello' });
	};
	const table = rowsOf(
		hostileUrls(canary.port).filter(({ url }) => !/[\s\0]/.test(url)),
		0,
	);
	await forEach(table, async ({ url }) => {
		const { body: strange } = await ask(url);
		assert.ok(['unknown_model', 'invalid_request'].includes(strange.error.code), `${url}: ${strange.error.code}`);
		// The name is part of the request and has no effect on its address.
		const { status, body } = await ask(`stand-in/${url}`);
		assert.deepEqual([status, body.content], [201, 'Hello.'], `${url}: ${JSON.stringify(body)}`);
	});
	const names = model.calls.map((call) => (call.path === '/v1/chat/completions' ? call.body.model : call.path));
	assert.deepEqual(names.sort(), table.map(({ url }) => url).sort());
	for (const { url } of table) {
		model.enqueue([{ status: 307, headers: { location: Buffer.from(url).toString('latin1') } }]);
		const { body } = await ask('stand-in/small');
		assert.equal(body.error?.code, 'model_error', `${url}: ${JSON.stringify(body)}`);
	}
	assert.deepEqual(canary.seen, []);
});
