import {
	type Access,
	ClientNames,
	createFirstWorkspace,
	FirstStartNotice,
	type FirstStartSecrets,
	loadSecretKeyOfCluster,
	loadSecretKeyOfDatabase,
	readTrustedTime,
} from './access/index.ts';
import { docsPageRoutes, serverRoutes } from './api/index.ts';
import type { AppOverrides } from './app-overrides.ts';
import {
	AsyncDisposableStack,
	addressOnThisMachine,
	type Clock,
	ClockJumpDetector,
	createLog,
	descriptorShares,
	elapsedMs,
	httpAddress,
	type Log,
	SecretBox,
	systemClock,
	version,
} from './base/index.ts';
import { ClusterMember, type ClusterMemberOptions, openClusterServer } from './cluster-member.ts';
import { processSources, type Settings, schemeOf } from './config/index.ts';
import {
	checkCertificate,
	createServer,
	endConnections,
	endStreams,
	listen,
	openMetricsServer,
	reloadCertificate,
} from './listeners.ts';
import { Metrics } from './metrics/index.ts';
import { createEmbedders, createModels, createProviders } from './models/index.ts';
import { createNetwork, type Network } from './net/index.ts';
import { openStore } from './open-store.ts';
import { Readiness } from './readiness.ts';
import { censorPersonalData } from './redaction/index.ts';
import { allRoutes } from './routes.ts';
import { createServices, drainServices, type Foundation, startServices } from './services.ts';
import { recognitionOf, requireBackupFolder, thesauriOf } from './start-checks.ts';
import { damagedDatabaseError, dataFolderError, type OpenedStore, type Store } from './store/index.ts';
import { openTracing } from './tracing/index.ts';

export type { OperatorConsole } from './access/index.ts';
export type { AppOverrides } from './app-overrides.ts';

/** A running server. */
export interface App extends AsyncDisposable {
	/** Where it listens, for example `http://127.0.0.1:8080`. */
	url: string;
	/** Whether no owner has a password and there is no identity provider: then no owner can sign in. */
	isSignInImpossible: boolean;
	/** Whether this was the first start on the data folder. */
	isFirstStart: boolean;
	/** Reads the files for TLS again and logs the result. Without TLS it does nothing. */
	reloadCertificate(): void;
	/** Rejects new work and waits up to `ms` milliseconds for running replies. Dispose afterwards. */
	drain(ms: number): Promise<void>;
}

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
		throw dataFolderError(error, settings.data_dir) ?? damagedDatabaseError(error, settings.data_dir) ?? error;
	}
}

/** The start, step by step. The resources are closed in reverse order. */
async function buildApp(settings: Settings, overrides: AppOverrides): Promise<App> {
	await using resources = new AsyncDisposableStack();
	const clock = overrides.clock ?? systemClock;
	const log = overrides.log ?? createLog(settings.log_level, censorPersonalData);
	checkCertificate(settings, clock, log);
	await requireBackupFolder(settings);
	const recognition = recognitionOf(settings);
	const thesauri = resources.use(await thesauriOf(settings));
	const readiness = new Readiness();
	const metrics = new Metrics(version());
	const tracing = await openTracing(processSources().env, { version: version(), log });
	if (tracing !== null) resources.use(tracing);
	const clientNames = new ClientNames(settings.request_log_address);
	const stateRoutes = [
		...serverRoutes({ currentUnreadiness: () => readiness.problem }),
		...docsPageRoutes({ version: version() }),
	];
	/** Null while the server starts: then errors show no rate limit. */
	let errorHeaderAccess: Access | null = null;

	// The port is reserved first: if it is taken, the start fails before secrets are created that are shown only once.
	const server = resources.use(
		createServer({
			settings,
			log,
			routes: stateRoutes,
			metrics,
			tracing,
			clientNames,
			errorHeaderAccess: () => errorHeaderAccess,
		}),
	);
	const { host, port } = await listen(server);
	const scheme = schemeOf(settings);
	const address = () => settings.public_url ?? addressOnThisMachine(host, port, scheme);

	const shares = descriptorShares();
	const network = resources.use(overrides.network ?? openNetwork(settings, shares));
	const modelServices = createModelServices(settings, overrides, { network, clock, log });
	const nodes = settings.database_url === undefined ? null : await openClusterServer(settings, log, tracing);
	if (nodes !== null) resources.use(nodes.server);
	const store = resources.use(await openStore({ settings, log, metrics, address: nodes?.address ?? null }));
	readiness.conditions.push(store.health);
	const secretKey = await loadKey(store, settings, clock, log);
	clientNames.useKey(new SecretBox(secretKey).key('client addresses'));
	const first = await store.exclusively('first start', () => {
		return runFirstStart(store, clock, settings, overrides, address());
	});
	const isSignInImpossible = settings.oidc_issuer === undefined && (await hasNoPasswordOfOwner(store));
	const jumpDetector = new ClockJumpDetector(clock, await readTrustedTime(store));

	const base = { settings, overrides, clock, log, jumpDetector, shares, recognition, thesauri, metrics, address };
	const member = openMember(store, {
		secretKey,
		clock,
		jumpDetector,
		log,
		onPeerFailure: metrics.work.onPeerFailure,
	});
	if (member !== null) readiness.conditions.push(resources.use(member));
	const inCluster = { fenceOf: member?.fenceOf, remoteLimits: member?.visitorLimits };
	const foundation = { ...base, network, ...modelServices, store, secretKey, ...inCluster };
	const services = createServices(foundation, resources);
	errorHeaderAccess = services.access;
	const { conversations, deployments } = services;
	const { placement = null } = member ?? {};
	metrics.observe({
		...{ store, http: server, conversations, deployments, placement },
		...{ backups: services.backupSchedule, models: modelServices.models },
	});
	const metricsServer = await openMetricsServer(settings, log, metrics);
	if (metricsServer !== null) resources.use(metricsServer);
	const routes = await allRoutes(foundation, services, address);
	if (member !== null) {
		nodes?.server.replaceRoutes(member.forNodes(routes, deployments));
		await member.start({ conversations, deliverer: services.deliverer });
	}
	await startServices(services);
	server.replaceRoutes([...(member?.forwarding(routes) ?? routes), ...stateRoutes]);
	readiness.state = 'ready';
	// Closed before the parts that their requests use.
	if (nodes !== null) resources.use(nodes.server);
	resources.use(server);

	const ownedResources = resources.move();
	return {
		url: httpAddress(host, port, scheme),
		isFirstStart: first !== null,
		isSignInImpossible,
		reloadCertificate: () => reloadCertificate(server, clock, log),
		async drain(ms) {
			readiness.state = 'stopping';
			const begunAt = elapsedMs(clock);
			// Other nodes serve the clients from now on; until they do, this one does.
			const rest = () => Math.max(0, begunAt + ms - elapsedMs(clock));
			const isElsewhere = (await member?.leave(ms / 2)) === true;
			if (isElsewhere) await endConnections(server, rest());
			server.drain();
			await drainServices(services, rest());
			nodes?.server.drain();
			await Promise.all([server, ...(nodes === null ? [] : [nodes.server])].map(endStreams));
		},
		[Symbol.asyncDispose]: () => ownedResources[Symbol.asyncDispose](),
	};
}

function openNetwork(settings: Settings, shares: Foundation['shares']): Network {
	return createNetwork({
		allowPrivateNetwork: settings.allow_private_network,
		refusedNetworks: settings.refused_networks,
		serviceConnections: Math.ceil(shares.models / Math.max(settings.providers.length, 1)),
		fetchConnections: shares.tools,
	});
}

function createModelServices(
	settings: Settings,
	overrides: AppOverrides,
	parts: { network: Network; clock: Clock; log: Log },
): Pick<Foundation, 'embedders' | 'models'> {
	const providers = [...createProviders(settings.providers, parts), ...(overrides.providers ?? [])];
	return {
		embedders: createEmbedders(settings.embedder, settings.providers, parts),
		models: createModels({ defaultModel: settings.default_model, providers, currency: settings.currency }),
	};
}

/** The key of the database: nodes of a cluster have theirs from the settings, one server may have it in a file. */
function loadKey(store: OpenedStore, settings: Settings, clock: Clock, log: Log): Promise<Buffer> {
	const { database_url, secret_key, data_dir } = settings;
	if (database_url !== undefined && secret_key !== undefined) {
		return loadSecretKeyOfCluster(store, secret_key, clock.now());
	}
	return loadSecretKeyOfDatabase(store, data_dir, secret_key, clock.now(), log);
}

/** This process as a node; null where it is the only one on its store. */
function openMember(
	{ placement, fence }: OpenedStore,
	parts: Omit<ClusterMemberOptions, 'store' | 'nodeId'>,
): ClusterMember | null {
	return placement === null ? null : new ClusterMember({ store: placement, nodeId: fence.owner, ...parts });
}

/** Whether no owner has a password. */
async function hasNoPasswordOfOwner(store: Store): Promise<boolean> {
	const owners = await store.list('users', { where: { role: 'owner' }, order: 'asc', limit: MAX_OWNERS_CHECKED });
	return owners.every(({ password_hash }) => password_hash === null);
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
