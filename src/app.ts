import { readFileSync } from 'node:fs';
import { Access, createApiKey, firstStart, Idempotency, insertKey, loadSecretKey } from './access/index.ts';
import { LocalPlacement } from './actors/index.ts';
import { apiRoutes, Cursors, SERVED_WHILE_DRAINING, serverRoutes, widgetErrorHeaders } from './api/index.ts';
import { AppError, type Clock, createLog, type Log, messageOf, Owned, SecretBox, systemClock } from './base/index.ts';
import type { Settings } from './config/index.ts';
import { Conversations } from './conversations/index.ts';
import { Deployments } from './deployments/index.ts';
import { createHttpServer } from './http/index.ts';
import { Knowledge } from './knowledge/index.ts';
import { type ChatProvider, createModels } from './models/index.ts';
import { createNetwork, type Network } from './net/index.ts';
import { Outbox } from './outbox/index.ts';
import { createPool, type Pool, workerEntry } from './pool/index.ts';
import { openSqliteStore } from './store/index.ts';

export { createApiKey } from './access/index.ts';

/**
 * Makes an API key with every scope in the first workspace; also beside a running server.
 * @throws AppError `not_found` where the server was never started on this folder
 */
export async function createKey(settings: Settings, name: string): Promise<string> {
	const writer = workerEntry('store');
	await using store = await openSqliteStore({ dataDir: settings.data_dir, writer, role: 'tool' });
	const [workspace] = await store.list('workspaces', { where: {}, order: 'asc', limit: 1 });
	if (!workspace)
		throw new AppError('not_found', `There is no workspace in ${settings.data_dir} yet: start the server once.`);
	const key = createApiKey();
	const write = insertKey(workspace.id, key, { name, scopes: ['*'], now: systemClock.now() });
	const { outcome } = await store.commit({ write: [write] });
	if (outcome !== 'committed')
		throw new AppError('unavailable', 'The server was started or stopped just now. Run the command again.');
	return key;
}

/** What tests put in the place of the real thing. */
export interface AppOverrides {
	clock?: Clock;
	log?: Log;
	network?: Network;
	pool?: Pool;
	/** Model providers beside the built-in one. */
	providers?: ChatProvider[];
	/** Is told the first API key as soon as it is stored, before anything else can fail: it cannot be had again. */
	onFirstKey?: (key: string) => void;
	/** Milliseconds that a model may take for a reply. */
	replyMs?: number;
}

/** A running server. */
export interface App extends AsyncDisposable {
	/** Where it listens, for example `http://127.0.0.1:8080`. */
	url: string;
	/** Takes no new work and lets running replies end, for `ms` at most. Dispose afterwards. */
	drain(ms: number): Promise<void>;
}

const REPLY_MS = 5 * 60_000;
/** Event streams that have nothing to wait for any more are given so long to send what they have. */
const STREAMS_MS = 2_000;

/** Builds every part in the order of its dependencies, and listens. On failure what was built is closed again. */
export async function startApp(settings: Settings, overrides: AppOverrides = {}): Promise<App> {
	await using parts = new Owned();
	const clock = overrides.clock ?? systemClock;
	const log = overrides.log ?? createLog(settings.log_level);

	const models = createModels({ defaultModel: settings.default_model, providers: overrides.providers });
	const store = parts.use(
		await openSqliteStore({
			dataDir: settings.data_dir,
			writer: workerEntry('store'),
			onFailure(error) {
				// Nothing can be written any more. Whoever watches over the process starts it anew.
				log.fatal({ error: messageOf(error) }, 'the database writer has ended');
				setTimeout(() => process.exit(1), 200);
			},
		}),
	);
	const firstKey = await firstStart(store, clock, settings.api_key);
	if (firstKey !== null) overrides.onFirstKey?.(firstKey);
	const secretKey = await loadSecretKey(settings.data_dir);
	const cursors = new Cursors(secretKey);
	const secrets = new SecretBox(secretKey);
	const pool = parts.use(overrides.pool ?? createPool({ threads: settings.workers }));
	const network = parts.use(
		overrides.network ?? createNetwork({ allowPrivateNetwork: settings.allow_private_network }),
	);
	const outbox = parts.use(new Outbox(store));
	const knowledge = parts.use(new Knowledge({ store, pool, network, clock, log }));
	const deployments = parts.use(new Deployments({ store, clock, log }));
	const replyMs = overrides.replyMs ?? REPLY_MS;
	const conversations = parts.use(new Conversations({ store, outbox, knowledge, models, clock, log, replyMs }));
	const placement = new LocalPlacement(store.fence.owner, store.fence.epoch);
	let drainMs = 0;
	placement.onLost(() => conversations.drain(drainMs));
	const idempotency = new Idempotency({ store, clock });
	const access = new Access({ store, clock, rateLimit: settings.rate_limit });

	let ready = false;
	const server = parts.use(
		createHttpServer({
			host: settings.host,
			port: settings.port,
			routes: [
				...apiRoutes({
					access,
					clock,
					conversations,
					cursors,
					deployments,
					documents: knowledge.documents,
					idempotency,
					knowledge,
					log,
					maxUploadBytes: settings.max_upload_bytes,
					models,
					network,
					secrets,
					store,
				}),
				...(await serverRoutes({ isReady: () => ready, version: version() })),
			],
			log,
			trustedProxies: settings.trusted_proxies,
			servedWhileDraining: SERVED_WHILE_DRAINING,
			errorHeaders: widgetErrorHeaders,
		}),
	);
	await conversations.start();
	knowledge.start();
	const { host, port } = await server.listen().catch((cause: unknown) => {
		throw new AppError('unavailable', messageOf(cause), { cause });
	});
	ready = true;

	const owned = parts.move();
	return {
		url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
		async drain(ms) {
			ready = false;
			server.drain();
			drainMs = ms;
			await placement.drain();
			await Promise.race([server.settled(), new Promise((resolve) => setTimeout(resolve, STREAMS_MS).unref())]);
			await server.closeStreams();
		},
		[Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
	};
}

/** The version of this Parley, from its package. */
export function version(): string {
	for (const place of ['../package.json', '../../package.json']) {
		try {
			return (JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as { version: string }).version;
		} catch {
			// The bundle lies one folder below the package, the sources too; elsewhere there is none.
		}
	}
	return '0.0.0';
}
