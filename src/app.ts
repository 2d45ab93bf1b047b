import { readFileSync } from 'node:fs';
import {
	Access,
	CredentialWatch,
	DeviceCookies,
	type FirstStart,
	firstStart,
	Idempotency,
	Passwords,
	passwordLink,
	Sessions,
	Sweeper,
	secretKeyOf,
	TokenSettings,
	Users,
	VisitorTokens,
} from './access/index.ts';
import { LocalPlacement } from './actors/index.ts';
import {
	apiRoutes,
	Cursors,
	DemoOrigin,
	demoPageRoutes,
	OwnOrigin,
	passwordPageRoutes,
	SERVED_WHILE_DRAINING,
	serverRoutes,
	widgetErrorHeaders,
	widgetFileRoutes,
} from './api/index.ts';
import {
	AppError,
	type Clock,
	createLog,
	httpAddress,
	type Log,
	localAddress,
	messageOf,
	Owned,
	SecretBox,
	systemClock,
} from './base/index.ts';
import type { Settings } from './config/index.ts';
import { Conversations, Retention } from './conversations/index.ts';
import { Deployments } from './deployments/index.ts';
import { createHttpServer } from './http/index.ts';
import { Knowledge } from './knowledge/index.ts';
import { type ChatProvider, createEmbedders, createModels, createProviders } from './models/index.ts';
import { createNetwork, type Network } from './net/index.ts';
import { Outbox } from './outbox/index.ts';
import { createPool, type Pool, workerEntry } from './pool/index.ts';
import { openSqliteStore } from './store/index.ts';
import { Tools } from './tools/index.ts';
import { Deliverer, Sender, SigningSecrets } from './webhooks/index.ts';

export { FIRST_OWNER } from './access/index.ts';

/** What tests put in the place of the real thing. */
export interface AppOverrides {
	clock?: Clock;
	log?: Log;
	network?: Network;
	pool?: Pool;
	/** Model providers beside the built-in one. */
	providers?: ChatProvider[];
	/** Is told what the first start made as soon as it is stored, before anything else can fail: it cannot be had again. */
	onFirstStart?: (first: FirstStart) => void;
	/** How passwords are hashed. */
	passwords?: Passwords;
	/** Milliseconds that a model may take for a reply. */
	replyMs?: number;
	/** Milliseconds from one look for conversations that are kept no longer to the next. */
	retentionMs?: number;
}

/** A running server. */
export interface App extends AsyncDisposable {
	/** Where it listens, for example `http://127.0.0.1:8080`. */
	url: string;
	/** The link by which a password is set, with the server's address as browsers see it. */
	passwordLink(token: string): string;
	/** Whether there is no owner with a password: then the dashboard is closed to everybody. */
	nobodyCanSignIn: boolean;
	/** Takes no new work and lets running replies end, for `ms` at most. Dispose afterwards. */
	drain(ms: number): Promise<void>;
}

const REPLY_MS = 5 * 60_000;
/** Event streams that have nothing to wait for any more are given so long to send what they have. */
const STREAMS_MS = 2_000;
/** Owners that are looked at for one with a password. */
const OWNERS = 100;

/** Builds every part in the order of its dependencies, and listens. On failure what was built is closed again. */
export async function startApp(settings: Settings, overrides: AppOverrides = {}): Promise<App> {
	await using parts = new Owned();
	const clock = overrides.clock ?? systemClock;
	const log = overrides.log ?? createLog(settings.log_level);

	const network = parts.use(
		overrides.network ??
			createNetwork({
				allowPrivateNetwork: settings.allow_private_network,
				refusedNetworks: settings.refused_networks,
			}),
	);
	const providers = [...createProviders(settings.providers, { network, clock, log }), ...(overrides.providers ?? [])];
	const embedders = createEmbedders(settings.embedder, settings.providers, { network, clock, log });
	const models = createModels({ defaultModel: settings.default_model, providers });
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
	const secretKey = await secretKeyOf(store, settings.data_dir, settings.secret_key, clock.now());
	const first = await firstStart(store, clock, settings.api_key);
	if (first !== null) overrides.onFirstStart?.(first);
	const owners = await store.list('users', { where: { role: 'owner' }, order: 'asc', limit: OWNERS });
	const cursors = new Cursors(secretKey);
	const secrets = new SecretBox(secretKey);
	const pool = parts.use(overrides.pool ?? createPool({ threads: settings.workers }));
	const outbox = parts.use(new Outbox(store));
	const tools = parts.use(new Tools({ network, checker: pool, secrets, clock, log, version: version() }));
	const knowledge = parts.use(new Knowledge({ store, pool, network, embedders, clock, log }));
	const tokenSettings = new TokenSettings({ secrets, network });
	const deployments = parts.use(new Deployments({ store, clock, log, tokenSettings }));
	const replyMs = overrides.replyMs ?? REPLY_MS;
	const conversations = parts.use(new Conversations({ store, outbox, knowledge, models, tools, clock, log, replyMs }));
	const retention = parts.use(new Retention({ store, conversations, clock, log, everyMs: overrides.retentionMs }));
	const sender = new Sender({ network, secrets: new SigningSecrets(secrets), clock });
	const deliverer = parts.use(new Deliverer({ store, sender, clock, log }));
	const placement = new LocalPlacement(store.fence.owner, store.fence.epoch);
	let drainMs = 0;
	placement.onLost(() => retention.stop());
	placement.onLost(() => conversations.drain(drainMs));
	const idempotency = new Idempotency({ store, clock });
	const passwords = overrides.passwords ?? new Passwords();
	const secure = settings.public_url?.startsWith('https:') ?? false;
	const users = new Users({ store, passwords, clock });
	const devices = new DeviceCookies(secrets.key('device cookies'), secure);
	const sessions = new Sessions({ store, users, passwords, devices, clock, secure });
	const access = new Access({ store, sessions, clock, log, rateLimit: settings.rate_limit });
	const watch = parts.use(new CredentialWatch({ access, log }));
	const sweeper = parts.use(new Sweeper({ store, clock, log }));
	const visitorTokens = new VisitorTokens({ secrets, network, clock, log });

	let ready = false;
	/** Known once it listens: nobody asks before. */
	let ownAddress = '';
	const address = () => settings.public_url ?? ownAddress;
	const server = parts.use(
		createHttpServer({
			host: settings.host,
			port: settings.port,
			routes: [
				...apiRoutes({
					access,
					address,
					clock,
					conversations,
					cursors,
					demo: settings.demo ? new DemoOrigin(settings.public_url) : null,
					deliverer,
					deployments,
					documents: knowledge.documents,
					idempotency,
					knowledge,
					log,
					maxUploadBytes: settings.max_upload_bytes,
					models,
					network,
					ownOrigin: new OwnOrigin(settings.public_url),
					secrets,
					sessions,
					store,
					tools,
					users,
					visitorTokens,
					watch,
				}),
				...passwordPageRoutes(),
				...(await widgetFileRoutes()),
				...(settings.demo ? demoPageRoutes() : []),
				...serverRoutes({ isReady: () => ready, version: version() }),
			],
			log,
			trustedProxies: settings.trusted_proxies,
			servedWhileDraining: SERVED_WHILE_DRAINING,
			errorHeaders: widgetErrorHeaders,
		}),
	);
	await conversations.start();
	await knowledge.markForReindex();
	knowledge.start();
	sweeper.start();
	deliverer.start();
	retention.start();
	const { host, port } = await server.listen().catch((cause: unknown) => {
		throw new AppError('unavailable', messageOf(cause), { cause });
	});
	ownAddress = localAddress(host, port);
	ready = true;

	const owned = parts.move();
	return {
		url: httpAddress(host, port),
		passwordLink: (token) => passwordLink(address(), token),
		nobodyCanSignIn: owners.every(({ password_hash }) => password_hash === null),
		async drain(ms) {
			ready = false;
			server.drain();
			drainMs = ms;
			await placement.drain();
			await deliverer.drain();
			await Promise.race([server.settled(), new Promise((resolve) => setTimeout(resolve, STREAMS_MS).unref())]);
			await server.closeStreams();
		},
		[Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
	};
}

/** The version of this Parley, from its package. */
export function version(): string {
	for (const place of ['./package.json', '../package.json']) {
		try {
			return (JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as { version: string }).version;
		} catch {
			// The bundle has one beside it; the sources lie one folder below theirs.
		}
	}
	return '0.0.0';
}
