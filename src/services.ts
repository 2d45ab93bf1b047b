import {
	Access,
	CredentialMonitor,
	DashboardNetworks,
	DeviceCookies,
	Idempotency,
	OidcAccounts,
	OidcSignIns,
	OwnAccount,
	PasswordSignIn,
	Passwords,
	PasswordVerifier,
	PendingSignIns,
	SecondFactor,
	Sessions,
	SharedRateLimits,
	Sweeper,
	TotpSetup,
	Users,
	VisitorTokenSettings,
	VisitorTokens,
} from './access/index.ts';
import type { AppOverrides } from './app-overrides.ts';
import { BackupSchedule, runBackupProcess } from './backup/index.ts';
import {
	type AsyncDisposableStack,
	type Clock,
	type ClockJumpDetector,
	type descriptorShares,
	type Log,
	SecretBox,
	version,
} from './base/index.ts';
import { durationMs, type Settings, schemeOf } from './config/index.ts';
import type { TextRecognition } from './contract/index.ts';
import { Conversations, Retention } from './conversations/index.ts';
import { Costs } from './costs/index.ts';
import { Deployments, type RemoteVisitorLimits, visitorAccount } from './deployments/index.ts';
import { IdleCollector } from './idle-collection.ts';
import { Inbox, InboxProjector } from './inbox/index.ts';
import { ChangeNotices, Knowledge } from './knowledge/index.ts';
import type { Metrics } from './metrics/index.ts';
import type { createEmbedders, createModels } from './models/index.ts';
import type { Network } from './net/index.ts';
import { IdentityProvider, roleMapping } from './oidc/index.ts';
import { Notices, Outbox } from './outbox/index.ts';
import { createWorkerPool } from './pool/index.ts';
import { EndUserErasures } from './privacy/index.ts';
import { Statistics } from './statistics/index.ts';
import { backupSeries, DatabaseCopies, type FenceOf, type OpenedStore } from './store/index.ts';
import type { Thesauri } from './thesauri/index.ts';
import { Tools, type ToolsOptions } from './tools/index.ts';
import { Deliverer, DeliveryNotices, Sender, SigningSecrets } from './webhooks/index.ts';

const REPLY_MS = 5 * 60_000;
/** In a cluster, changes of another node are seen within this time. */
const CHANGE_VISIBLE_MS = 1_000;
const CREDENTIAL_CHECK_MS = 500;
/** A search on PostgreSQL may load its index first. */
const SEARCH_LOAD_MS = 180_000;

/** What the services are constructed on. */
export interface Foundation {
	settings: Settings;
	overrides: AppOverrides;
	clock: Clock;
	log: Log;
	/** Shared by all services that erase data: a jump that one of them detects stops all. */
	jumpDetector: ClockJumpDetector;
	shares: ReturnType<typeof descriptorShares>;
	network: Network;
	embedders: ReturnType<typeof createEmbedders>;
	models: ReturnType<typeof createModels>;
	store: OpenedStore;
	/** What this node of a cluster serves. Undefined: this server is the only one. */
	fenceOf: FenceOf | undefined;
	/** Counts visitors in a cluster. Undefined: this server is the only one. */
	remoteLimits: RemoteVisitorLimits | undefined;
	metrics: Metrics;
	/** This server's address as browsers see it, from the settings. */
	address: () => string;
	secretKey: Buffer;
	/** Absent: the text of scans is not recognised. */
	recognition: TextRecognition | undefined;
	thesauri: Thesauri;
}

export type Services = ReturnType<typeof createServices>;

/**
 * Constructs the services in the order of their dependencies. They do nothing until `startServices`.
 * @param resources gets each service that must be closed
 */
export function createServices(foundation: Foundation, resources: AsyncDisposableStack) {
	const { settings, overrides, clock, log, jumpDetector, shares, network, embedders, models, store } = foundation;
	const { recognition, thesauri, metrics, fenceOf } = foundation;
	const secrets = new SecretBox(foundation.secretKey);
	const pool = resources.use(
		overrides.pool ??
			createWorkerPool({
				...{ threads: settings.workers, log, recognition, onRestart: metrics.work.onWorkerRestart },
				limits: settings.database_url === undefined ? {} : { searchStopMs: SEARCH_LOAD_MS },
			}),
	);
	resources.use(new IdleCollector());
	const outbox = resources.use(new Outbox(store, fenceOf));
	const notices = new Notices();
	resources.use(new ChangeNotices({ store, notices, log }));
	resources.use(new DeliveryNotices({ store, notices, log }));
	const timeouts = toolTimeouts(overrides);
	const tools = resources.use(new Tools({ network, checker: pool, secrets, clock, log, version: version(), timeouts }));
	const knowledge = resources.use(
		new Knowledge({
			...{ store, pool, network, embedders, thesauri, clock, log, fenceOf },
			crawlDelayMs: overrides.crawlDelayMs,
			onSearch: metrics.work.onSearch,
		}),
	);
	const tokenSettings = new VisitorTokenSettings({ secrets, network });
	const deployments = resources.use(
		new Deployments({
			...{ store, clock, log, tokenSettings, remoteLimits: foundation.remoteLimits },
			maxAgeMs: fenceOf && CHANGE_VISIBLE_MS,
		}),
	);
	const { replyTimeoutMs = REPLY_MS, searchTimeoutMs, rewriteTimeoutMs } = overrides;
	const conversations = resources.use(
		new Conversations({
			...{ store, outbox, knowledge, models, tools, clock, log, currency: settings.currency },
			...{ replyTimeoutMs, searchTimeoutMs, rewriteTimeoutMs, fenceOf },
		}),
	);
	const retention = resources.use(
		new Retention({ store, conversations, jumpDetector, log, fenceOf, intervalMs: overrides.retentionIntervalMs }),
	);
	const databaseCopies = createDatabaseCopies(foundation, resources);
	const erasures = resources.use(
		new EndUserErasures({
			...{ store, conversations, clock, log, fenceOf },
			visitorAccount: (deploymentId, visitorKey) => visitorAccount(secrets, deploymentId, visitorKey),
			backupExpiry: async () => ({
				backups_gone_at: fenceOf === undefined ? backupsGoneAt(settings, clock.now()) : null,
				upgrade_copies_gone_at: (await databaseCopies?.goneAt()) ?? null,
			}),
			intervalMs: overrides.erasureIntervalMs,
		}),
	);
	const inboxProjector = resources.use(new InboxProjector({ store, log, fenceOf }));
	const sender = new Sender({ network, secrets: new SigningSecrets(secrets), clock });
	const deliverer = resources.use(
		new Deliverer({
			...{ store, sender, clock, jumpDetector, log, fenceOf, maxConcurrency: shares.deliveries },
			onAttempt: metrics.work.attempts,
		}),
	);
	const statistics = resources.use(new Statistics({ store, clock, log, fenceOf }));
	return {
		...createAccess(foundation, secrets, resources),
		backupSchedule: createBackupSchedule(foundation, resources),
		conversations,
		costs: new Costs({ store, clock, currency: settings.currency }),
		deliverer,
		deployments,
		erasures,
		inbox: new Inbox({ store, projector: inboxProjector, clock, freshnessMs: overrides.inboxFreshnessMs }),
		inboxProjector,
		idempotency: new Idempotency({ store, jumpDetector }),
		knowledge,
		notices,
		outbox,
		retention,
		secrets,
		statistics,
		sweeper: resources.use(new Sweeper({ store, jumpDetector, log, fenceOf })),
		tools,
		databaseCopies,
		visitorTokens: new VisitorTokens({ secrets, network, clock, log }),
	};
}

/** When the backups that the server has by now are deleted, if it makes the next ones as configured; null: it makes none. */
function backupsGoneAt({ backup_dir, backup_every, backup_keep }: Settings, now: number): number | null {
	return backup_dir === undefined ? null : now + backup_keep * durationMs(backup_every);
}

/** Removes copies of the embedded database from before an upgrade; null: the database is PostgreSQL's. */
function createDatabaseCopies({ settings, jumpDetector, log, fenceOf }: Foundation, resources: AsyncDisposableStack) {
	if (fenceOf !== undefined) return null;
	return resources.use(new DatabaseCopies({ dataDir: settings.data_dir, jumpDetector, log }));
}

/** The backups that the server makes; null without a folder for them, and where the database is PostgreSQL's. */
function createBackupSchedule({ settings, clock, log, fenceOf }: Foundation, resources: AsyncDisposableStack) {
	const { backup_dir: folder, backup_every, backup_keep, data_dir } = settings;
	if (folder === undefined || fenceOf !== undefined) return null;
	const makeBackup = (signal: AbortSignal) => runBackupProcess(folder, backup_keep, signal);
	const series = backupSeries(data_dir);
	return resources.use(
		new BackupSchedule({ folder, series, everyMs: durationMs(backup_every), makeBackup, clock, log }),
	);
}

/** Users, their sessions, and what a credential may do. */
function createAccess(foundation: Foundation, secrets: SecretBox, resources: AsyncDisposableStack) {
	const { settings, overrides, clock, log, store } = foundation;
	const passwords = overrides.passwords ?? new Passwords();
	const secure = schemeOf(settings) === 'https' || settings.public_url?.startsWith('https:') === true;
	const users = new Users({ store, passwords, clock });
	const devices = new DeviceCookies(secrets.key('device cookies'), secure);
	const sharedLimits = store.sharedLimits ?? undefined;
	const verifier = new PasswordVerifier({ store, users, passwords, devices, clock, sharedLimits });
	const cookies = { secrets, clock, secure };
	const pendingSignIns = new PendingSignIns(cookies);
	const passwordSignIn = new PasswordSignIn({ isEnabled: settings.password_sign_in, ...cookies });
	const secondFactor = new SecondFactor(secrets);
	const steps = { pendingSignIns, passwordSignIn, secondFactor };
	const sessions = new Sessions({ store, verifier, devices, ...steps, clock, log, secure });
	const totpSetup = new TotpSetup({ store, verifier, secondFactor, clock });
	const ownAccount = new OwnAccount({ store, verifier, passwords, clock });
	const dashboardNetworks = new DashboardNetworks(settings.dashboard_networks);
	const sharedRateLimits = sharedLimits && resources.use(new SharedRateLimits({ store: sharedLimits, clock, log }));
	const access = new Access({
		...{ store, sessions, dashboardNetworks, clock, log, sharedRateLimits },
		rateLimit: settings.rate_limit,
	});
	const credentialMonitor = resources.use(
		new CredentialMonitor({
			...{ access, clock, log, concurrencyLimit: overrides.streamsPerCredential },
			...(sharedLimits && { recheckIntervalMs: CREDENTIAL_CHECK_MS }),
		}),
	);
	const oidcSignIns = createOidcSignIns(foundation, { sessions, ...cookies });
	return { access, credentialMonitor, sessions, users, ownAccount, totpSetup, passwordSignIn, oidcSignIns };
}

/** Sign-ins with the issuer of the settings; null without one. */
function createOidcSignIns(
	{ settings, overrides, clock, log, network, store, address }: Foundation,
	parts: { sessions: Sessions; secrets: SecretBox; secure: boolean },
): OidcSignIns | null {
	const { oidc_issuer: issuer, oidc_client_id: clientId, oidc_role_claim: roleClaim } = settings;
	if (issuer === undefined || clientId === undefined) return null;
	const provider = new IdentityProvider({
		...{ network, clock, log, issuer, clientId, roleClaim },
		clientSecret: settings.oidc_client_secret,
		scopes: settings.oidc_scopes,
		timeoutMs: overrides.identityProviderTimeoutMs,
	});
	const roles = roleMapping(roleClaim, settings.oidc_roles);
	const accounts = new OidcAccounts({ store, roles, workspaceId: settings.oidc_workspace });
	const label = settings.oidc_label ?? new URL(issuer).host;
	return new OidcSignIns({ ...parts, store, provider, accounts, clock, address, label });
}

/** Continues the work that the last stop interrupted, then starts the background tasks. */
export async function startServices(services: Services): Promise<void> {
	await services.conversations.start();
	await services.knowledge.markForReindex();
	services.knowledge.start();
	services.inboxProjector.start();
	services.sweeper.start();
	services.deliverer.start();
	services.retention.start();
	services.erasures.start();
	services.statistics.start();
	services.backupSchedule?.start();
	services.databaseCopies?.start();
}

/** Waits up to `ms` milliseconds for running replies, then for the deliveries that they caused. Starts no new work. */
export async function drainServices(services: Services, ms: number): Promise<void> {
	const { retention, erasures, conversations, deliverer } = services;
	retention.stop();
	erasures.stop();
	await conversations.drain(ms);
	await deliverer.drain();
}

function toolTimeouts({ toolListTimeoutMs: ms }: AppOverrides): ToolsOptions['timeouts'] {
	return ms === undefined ? undefined : { openTimeoutMs: ms, listTimeoutMs: ms };
}
