import {
	Access,
	ClientNames,
	CredentialMonitor,
	createFirstWorkspace,
	DeviceCookies,
	FirstStartNotice,
	type FirstStartSecrets,
	Idempotency,
	loadSecretKeyOfDatabase,
	type OperatorConsole,
	Passwords,
	readTrustedTime,
	Sessions,
	Sweeper,
	Users,
	VisitorTokenSettings,
	VisitorTokens,
} from './access/index.ts';
import {
	apiRoutes,
	Cursors,
	DemoOrigin,
	DRAIN_SAFE_PATHS,
	demoPageRoutes,
	docsPageRoutes,
	passwordPageRoutes,
	SameOriginCheck,
	serverRoutes,
	startPageRoutes,
	type Unready,
	unhandledApi,
	widgetErrorHeaders,
	widgetFileRoutes,
} from './api/index.ts';
import {
	AppError,
	AsyncDisposableStack,
	addressOnThisMachine,
	type Clock,
	ClockJumpDetector,
	createLog,
	descriptorShares,
	httpAddress,
	type Log,
	messageOf,
	SecretBox,
	systemClock,
	version,
} from './base/index.ts';
import { processSources, type Settings } from './config/index.ts';
import { Conversations, Retention } from './conversations/index.ts';
import { Deployments } from './deployments/index.ts';
import { createHttpServer, RequestLog } from './http/index.ts';
import { Knowledge } from './knowledge/index.ts';
import { type ChatProvider, createEmbedders, createModels, createProviders } from './models/index.ts';
import { createNetwork, type Network } from './net/index.ts';
import { Outbox } from './outbox/index.ts';
import { createWorkerPool, type WorkerPool, workerEntry } from './pool/index.ts';
import { dataFolderError, openSqliteStore, type Store } from './store/index.ts';
import { Tools } from './tools/index.ts';
import { Deliverer, Sender, SigningSecrets } from './webhooks/index.ts';

export type { OperatorConsole } from './access/index.ts';

/** Replacements for tests. */
export interface AppOverrides {
	clock?: Clock;
	log?: Log;
	network?: Network;
	pool?: WorkerPool;
	/** Model providers beside the built-in one. */
	providers?: ChatProvider[];
	/** Receives what the first start made, once it is stored. */
	onFirstStart?: (first: FirstStartSecrets) => void;
	/** The operator's console; without it, nothing is written or printed. */
	console?: OperatorConsole;
	/** How passwords are hashed. */
	passwords?: Passwords;
	/** Milliseconds that a model may take for a reply. */
	replyTimeoutMs?: number;
	/** Event streams and replies that may be in flight at once with one API key or session. */
	streamsPerCredential?: number;
	/** Milliseconds between checks for conversations whose retention has ended. */
	retentionIntervalMs?: number;
}

/** A running server. */
export interface App extends AsyncDisposable {
	/** Where it listens, for example `http://127.0.0.1:8080`. */
	url: string;
	/** Whether no owner has a password: then no owner can sign in. */
	isSignInImpossible: boolean;
	/** Whether this was the first start on the data folder. */
	isFirstStart: boolean;
	/** Rejects new work and waits up to `ms` milliseconds for running replies. Dispose afterwards. */
	drain(ms: number): Promise<void>;
}

const REPLY_MS = 5 * 60_000;
const NOT_READY = {
	starting: { reason: 'starting', message: 'The server is starting.' },
	stopping: { reason: 'stopping', message: 'The server is stopping.' },
} as const;
/** How long event streams may take to send their last events during a shutdown. */
const STREAM_DRAIN_MS = 2_000;
/** Owners that are searched for one with a password. */
const MAX_OWNERS_CHECKED = 100;

/**
 * Listens, then constructs every part in the order of its dependencies. On failure the constructed parts are closed.
 * @throws AppError `unavailable` with a sentence for a problem that the operator can resolve
 */
export async function startApp(settings: Settings, overrides: AppOverrides = {}): Promise<App> {
	try {
		return await buildApp(settings, overrides);
	} catch (error) {
		throw dataFolderError(error, settings.data_dir) ?? error;
	}
}

async function buildApp(settings: Settings, overrides: AppOverrides): Promise<App> {
	await using resources = new AsyncDisposableStack();
	const clock = overrides.clock ?? systemClock;
	const log = overrides.log ?? createLog(settings.log_level);
	const clientNames = new ClientNames(settings.request_log_address);

	let state: 'starting' | 'ready' | 'stopping' = 'starting';
	let writes: { readonly problem: Unready | null } = { problem: null };
	const currentUnreadiness = () => (state === 'ready' ? writes.problem : NOT_READY[state]);
	const stateRoutes = [...serverRoutes({ currentUnreadiness }), ...docsPageRoutes({ version: version() })];
	/** Null while the server starts: then errors show no rate limit. */
	let errorHeaderAccess: Access | null = null;
	// The port is reserved first: if it is taken, the start fails before secrets are created that are shown only once.
	const server = resources.use(
		createHttpServer({
			host: settings.host,
			port: settings.port,
			routes: stateRoutes,
			isStarting: true,
			log,
			observer: requestLog(settings, log, clientNames),
			trustedProxies: settings.trusted_proxies,
			drainSafePaths: DRAIN_SAFE_PATHS,
			environment: processSources().env,
			unhandled(request) {
				const api = errorHeaderAccess && unhandledApi(errorHeaderAccess, request);
				return { headers: [...widgetErrorHeaders(request), ...(api?.headers ?? [])], refusal: api?.refusal ?? null };
			},
		}),
	);
	const { host, port } = await server.listen().catch((cause: unknown) => {
		const remedy = 'Set PARLEY_PORT to another port, or PARLEY_HOST to an address of this machine.';
		throw new AppError('unavailable', `${messageOf(cause)} ${remedy}`, { cause });
	});
	const address = () => settings.public_url ?? addressOnThisMachine(host, port);

	const shares = descriptorShares();
	const network = resources.use(
		overrides.network ??
			createNetwork({
				allowPrivateNetwork: settings.allow_private_network,
				refusedNetworks: settings.refused_networks,
				serviceConnections: Math.ceil(shares.models / Math.max(settings.providers.length, 1)),
				fetchConnections: shares.tools,
			}),
	);
	const providers = [...createProviders(settings.providers, { network, clock, log }), ...(overrides.providers ?? [])];
	const embedders = createEmbedders(settings.embedder, settings.providers, { network, clock, log });
	const models = createModels({ defaultModel: settings.default_model, providers });
	const store = resources.use(
		await openSqliteStore({
			dataDir: settings.data_dir,
			writer: workerEntry('store'),
			log,
			onFailure(error) {
				// Nothing can be written any more. The supervisor restarts the process.
				log.fatal({ error: messageOf(error) }, 'the database writer has ended');
				setTimeout(() => process.exit(1), 200);
			},
		}),
	);
	const secretKey = await loadSecretKeyOfDatabase(store, settings.data_dir, settings.secret_key, clock.now(), log);
	writes = store.health;
	clientNames.useKey(new SecretBox(secretKey).key('client addresses'));
	const first = await runFirstStart(store, clock, settings, overrides, address());
	const owners = await store.list('users', { where: { role: 'owner' }, order: 'asc', limit: MAX_OWNERS_CHECKED });
	// Shared by all parts that erase data: a jump that one of them detects stops all.
	const jumpDetector = new ClockJumpDetector(clock, await readTrustedTime(store));
	const cursors = new Cursors(secretKey);
	const secrets = new SecretBox(secretKey);
	const pool = resources.use(overrides.pool ?? createWorkerPool({ threads: settings.workers, log }));
	const outbox = resources.use(new Outbox(store));
	const tools = resources.use(new Tools({ network, checker: pool, secrets, clock, log, version: version() }));
	const knowledge = resources.use(new Knowledge({ store, pool, network, embedders, clock, log }));
	const tokenSettings = new VisitorTokenSettings({ secrets, network });
	const deployments = resources.use(new Deployments({ store, clock, log, tokenSettings }));
	const replyTimeoutMs = overrides.replyTimeoutMs ?? REPLY_MS;
	const conversations = resources.use(
		new Conversations({ store, outbox, knowledge, models, tools, clock, log, replyTimeoutMs }),
	);
	const retention = resources.use(
		new Retention({ store, conversations, jumpDetector, log, intervalMs: overrides.retentionIntervalMs }),
	);
	const sender = new Sender({ network, secrets: new SigningSecrets(secrets), clock });
	const deliverer = resources.use(
		new Deliverer({ store, sender, clock, jumpDetector, log, maxConcurrency: shares.deliveries }),
	);
	const idempotency = new Idempotency({ store, clock, jumpDetector });
	const passwords = overrides.passwords ?? new Passwords();
	const secure = settings.public_url?.startsWith('https:') ?? false;
	const users = new Users({ store, passwords, clock });
	const devices = new DeviceCookies(secrets.key('device cookies'), secure);
	const sessions = new Sessions({ store, users, passwords, devices, clock, secure });
	const access = new Access({ store, sessions, clock, log, rateLimit: settings.rate_limit });
	errorHeaderAccess = access;
	const credentialMonitor = resources.use(
		new CredentialMonitor({ access, clock, log, concurrencyLimit: overrides.streamsPerCredential }),
	);
	const sweeper = resources.use(new Sweeper({ store, jumpDetector, log }));
	const visitorTokens = new VisitorTokens({ secrets, network, clock, log });

	const routes = [
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
			sameOriginCheck: new SameOriginCheck(settings.public_url),
			secrets,
			sessions,
			store,
			tools,
			users,
			visitorTokens,
			credentialMonitor,
		}),
		...startPageRoutes({ demo: settings.demo, version: version() }),
		...passwordPageRoutes(),
		...(await widgetFileRoutes()),
		...(settings.demo ? demoPageRoutes() : []),
		...stateRoutes,
	];
	await conversations.start();
	await knowledge.markForReindex();
	knowledge.start();
	sweeper.start();
	deliverer.start();
	retention.start();
	server.replaceRoutes(routes);
	state = 'ready';
	// Closed before the parts that its requests use.
	resources.use(server);

	const ownedResources = resources.move();
	return {
		url: httpAddress(host, port),
		isFirstStart: first !== null,
		isSignInImpossible: owners.every(({ password_hash }) => password_hash === null),
		async drain(ms) {
			state = 'stopping';
			server.drain();
			await Promise.all([retention.stop(), conversations.drain(ms)]);
			await deliverer.drain();
			await Promise.race([
				server.waitUntilIdle(),
				new Promise((resolve) => setTimeout(resolve, STREAM_DRAIN_MS).unref()),
			]);
			await server.closeStreams();
		},
		[Symbol.asyncDispose]: () => ownedResources[Symbol.asyncDispose](),
	};
}

/** The request log; null where no line would be written. */
function requestLog(settings: Settings, log: Log, names: ClientNames): RequestLog | null {
	if (!settings.request_log || !log.isLevelEnabled('info')) return null;
	return new RequestLog({
		log,
		sampleInterval: settings.request_log_sample,
		clientNameOf: (address) => names.nameOf(address),
	});
}

/** Creates the first workspace, owner and key where there are none, and shows them to the operator. */
async function runFirstStart(
	store: Store,
	clock: Clock,
	settings: Settings,
	{ console, onFirstStart }: AppOverrides,
	address: string,
): Promise<FirstStartSecrets | null> {
	const { data_dir: dataDir, api_key } = settings;
	const notice = console && new FirstStartNotice({ dataDir, console, keyIsGiven: api_key !== undefined, address });
	const first = await createFirstWorkspace(store, clock, api_key, (made) => notice?.save(made) ?? Promise.resolve());
	if (first === null) {
		await notice?.remind();
		return null;
	}
	await notice?.print();
	onFirstStart?.(first);
	return first;
}
