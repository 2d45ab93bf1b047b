import { resolve } from 'node:path';
import { type Static, Type } from 'typebox';
import { type HttpScheme, isLoopback, type TlsFiles } from '../base/index.ts';
import { secretKeyBytes } from './formats.ts';
import { ProviderSchema, type ProviderSettings } from './providers.ts';

/** One setting: its source, its schema and its default. */
export interface Setting {
	/** The environment variable. */
	variable: string;
	/** One sentence for the operator. */
	description: string;
}

/**
 * Every setting with its JSON Schema. `parley.config.json` uses the same names in lower case without the prefix; the environment
 * wins over the file.
 */
export const SettingsSchema = Type.Object(
	{
		host: Type.String({ minLength: 1, default: '127.0.0.1' }),
		port: Type.Integer({ minimum: 0, maximum: 65_535, default: 8080 }),
		data_dir: Type.String({ minLength: 1, default: 'data/run' }),
		database_url: Type.Optional(Type.String({ format: 'postgres-url' })),
		cluster_listen: Type.Optional(Type.String({ format: 'listen-address' })),
		cluster_address: Type.Optional(Type.String({ format: 'listen-address' })),
		cache_dir: Type.Optional(Type.String({ minLength: 1 })),
		public_url: Type.Optional(Type.String({ format: 'origin' })),
		tls_cert: Type.Optional(Type.String({ minLength: 1 })),
		tls_key: Type.Optional(Type.String({ minLength: 1 })),
		api_key: Type.Optional(Type.String()),
		secret_key: Type.Optional(Type.String({ format: 'secret-key' })),
		log_level: Type.Unsafe<LogLevel>({
			type: 'string',
			enum: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
			default: 'info',
		}),
		rate_limit: Type.Optional(Type.Integer({ minimum: 0 })),
		trusted_proxies: Type.Array(Type.String({ format: 'network' }), { default: [] }),
		dashboard_networks: Type.Array(Type.String({ format: 'network' }), { default: [] }),
		oidc_issuer: Type.Optional(Type.String({ format: 'issuer' })),
		oidc_client_id: Type.Optional(Type.String({ minLength: 1 })),
		oidc_client_secret: Type.Optional(Type.String({ minLength: 1 })),
		oidc_scopes: Type.String({ pattern: '^(?:[!-~]+ )*openid(?: [!-~]+)*$', default: 'openid email profile' }),
		oidc_role_claim: Type.String({ minLength: 1, default: 'roles' }),
		oidc_roles: Type.Array(Type.String({ format: 'role-mapping' }), { default: [] }),
		oidc_workspace: Type.Optional(Type.String({ minLength: 1 })),
		oidc_label: Type.Optional(Type.String({ format: 'one-line', maxLength: 60 })),
		password_sign_in: Type.Boolean({ default: true }),
		demo: Type.Optional(Type.Boolean()),
		allow_private_network: Type.Boolean({ default: false }),
		refused_networks: Type.Array(Type.String({ format: 'network' }), { default: [] }),
		default_model: Type.String({ minLength: 1, default: 'builtin/extractive' }),
		openai_api_key: Type.Optional(Type.String({ format: 'header-word' })),
		anthropic_api_key: Type.Optional(Type.String({ format: 'header-word' })),
		providers: Type.Array(ProviderSchema, { maxItems: 100, default: [] }),
		currency: Type.String({ format: 'currency', default: 'USD' }),
		embedder: Type.String({ minLength: 1, maxLength: 300, default: 'builtin' }),
		max_upload_bytes: Type.Integer({ minimum: 1, maximum: 1_073_741_824, default: 26_214_400 }),
		workers: Type.Integer({ minimum: 1, maximum: 64, default: 2 }),
		ocr: Type.Optional(Type.String({ pattern: '^[a-z]{3}(_[a-z]+)*(\\+[a-z]{3}(_[a-z]+)*){0,7}$' })),
		ocr_dir: Type.Optional(Type.String({ minLength: 1 })),
		thesauri: Type.Array(Type.String({ minLength: 1 }), { maxItems: 20, default: [] }),
		backup_dir: Type.Optional(Type.String({ minLength: 1 })),
		backup_every: Type.String({ pattern: '^[1-9][0-9]{0,3}[mhd]$', default: '6h' }),
		backup_keep: Type.Integer({ minimum: 1, maximum: 10_000, default: 14 }),
		request_log: Type.Boolean({ default: true }),
		request_log_sample: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 100 }),
		request_log_address: Type.Unsafe<'plain' | 'hashed' | 'off'>({
			type: 'string',
			enum: ['plain', 'hashed', 'off'],
			default: 'hashed',
		}),
		metrics_listen: Type.Optional(Type.String({ format: 'listen-address' })),
		print_key: Type.Boolean({ default: false }),
	},
	{ additionalProperties: false },
);

type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
/** The settings as written. */
export type RawSettings = Static<typeof SettingsSchema>;
/** The settings as the server uses them. */
export type Settings = Omit<RawSettings, 'providers' | 'demo'> & { providers: ProviderSettings[]; demo: boolean };

/** The settings' documentation, in the order of the table in docs/configuration.md. */
export const SETTINGS: { readonly [K in keyof Required<Settings>]: Setting } = {
	host: { variable: 'PARLEY_HOST', description: 'Address to listen on.' },
	port: { variable: 'PARLEY_PORT', description: 'Port to listen on; 0 takes a free one.' },
	data_dir: { variable: 'PARLEY_DATA_DIR', description: 'Folder of the embedded database and the uploaded files.' },
	database_url: {
		variable: 'PARLEY_DATABASE_URL',
		description:
			'The URL of a PostgreSQL database (15 or newer) instead of the embedded one: postgres://user:password@host/name. Servers with the same URL are the nodes of one cluster. It needs secret_key.',
	},
	cluster_listen: {
		variable: 'PARLEY_CLUSTER_LISTEN',
		description:
			'Address and port of the listener for the other nodes of the cluster, for example 10.0.0.7:9090. Default: a free port of 127.0.0.1, for nodes on one machine. Let only the nodes reach it.',
	},
	cluster_address: {
		variable: 'PARLEY_CLUSTER_ADDRESS',
		description:
			'Where the other nodes reach that listener, if it is another address: behind a translation of addresses, or where cluster_listen is 0.0.0.0.',
	},
	// Read by src/binary, before the settings can be loaded.
	cache_dir: {
		variable: 'PARLEY_CACHE_DIR',
		description: 'Folder that the one-file server unpacks itself into; without meaning for others.',
	},
	public_url: {
		variable: 'PARLEY_PUBLIC_URL',
		description: "The server's own address as browsers see it, for example https://chat.example.com.",
	},
	tls_cert: {
		variable: 'PARLEY_TLS_CERT',
		description:
			'File with the certificate of the server and the intermediate ones after it, in PEM. With it, the server speaks HTTPS and no plain HTTP.',
	},
	tls_key: {
		variable: 'PARLEY_TLS_KEY',
		description: 'File with the private key of that certificate, in PEM and without a password.',
	},
	api_key: {
		variable: 'PARLEY_API_KEY',
		description: 'The first API key (`sk_…`), instead of a generated one. Only used when the database is new.',
	},
	secret_key: {
		variable: 'PARLEY_SECRET_KEY',
		description:
			'The key that encrypts stored secrets: 32 bytes in base64 or in hexadecimal. Instead of the one in secret.key in the data folder.',
	},
	log_level: { variable: 'PARLEY_LOG_LEVEL', description: 'One of trace, debug, info, warn, error, fatal or silent.' },
	rate_limit: {
		variable: 'PARLEY_RATE_LIMIT',
		description: 'Requests a minute per API key, instead of the plan’s; 0 means no limit.',
	},
	trusted_proxies: {
		variable: 'PARLEY_TRUSTED_PROXIES',
		description: 'Addresses or CIDR ranges, separated by commas, whose X-Forwarded-For is believed.',
	},
	dashboard_networks: {
		variable: 'PARLEY_DASHBOARD_NETWORKS',
		description:
			'Addresses or CIDR ranges, separated by commas, from which the dashboard and its sessions may be used; API keys and the widget are not concerned. Empty: any address.',
	},
	oidc_issuer: {
		variable: 'PARLEY_OIDC_ISSUER',
		description:
			'The URL of an OpenID Connect issuer with which people sign in to the dashboard: https, or http on this machine. It needs oidc_client_id, oidc_roles and, unless the server listens on loopback, public_url.',
	},
	oidc_client_id: {
		variable: 'PARLEY_OIDC_CLIENT_ID',
		description: 'The id of this server at the issuer.',
	},
	oidc_client_secret: {
		variable: 'PARLEY_OIDC_CLIENT_SECRET',
		description: 'The secret of this server at the issuer. Without it, the server is a public client.',
	},
	oidc_scopes: {
		variable: 'PARLEY_OIDC_SCOPES',
		description: 'Scopes that are requested, separated by spaces; openid is one of them.',
	},
	oidc_role_claim: {
		variable: 'PARLEY_OIDC_ROLE_CLAIM',
		description: 'The claim that decides the role: a name such as groups, or a path such as realm_access.roles.',
	},
	oidc_roles: {
		variable: 'PARLEY_OIDC_ROLES',
		description:
			'Values of that claim with their roles (owner, admin, member, agent or viewer), separated by commas: parley-admins=admin,support=agent. A person without any of them is refused.',
	},
	oidc_workspace: {
		variable: 'PARLEY_OIDC_WORKSPACE',
		description: 'The id of the workspace into which these people sign in. Default: the oldest.',
	},
	oidc_label: {
		variable: 'PARLEY_OIDC_LABEL',
		description: 'The name of the issuer on the sign-in page, after "Sign in with". Default: its host.',
	},
	password_sign_in: {
		variable: 'PARLEY_PASSWORD_SIGN_IN',
		description:
			'0 switches passwords off where people sign in with an issuer. An owner’s password link stays a way back in.',
	},
	demo: {
		variable: 'PARLEY_DEMO',
		description:
			'1 or 0: whether there is the page /demo, which shows any deployment’s widget whatever its allowlist. Default: 1 where the server listens on loopback and has no public_url.',
	},
	allow_private_network: {
		variable: 'PARLEY_ALLOW_PRIVATE_NETWORK',
		description:
			'1 lets the server reach private addresses, and over plain HTTP: for URL imports, tools, webhooks and key sets (tests, intranets).',
	},
	refused_networks: {
		variable: 'PARLEY_REFUSED_NETWORKS',
		description:
			'Addresses or CIDR ranges, separated by commas, that URL imports, tools, webhooks and key sets never reach, whether or not private ones may be.',
	},
	default_model: { variable: 'PARLEY_DEFAULT_MODEL', description: 'Model of assistants that name none.' },
	openai_api_key: {
		variable: 'PARLEY_OPENAI_API_KEY',
		description: 'A key for the models of OpenAI, which are then named openai/….',
	},
	anthropic_api_key: {
		variable: 'PARLEY_ANTHROPIC_API_KEY',
		description: 'A key for the models of Anthropic, which are then named anthropic/….',
	},
	providers: {
		variable: 'PARLEY_PROVIDERS',
		description: 'Providers of models: a list of objects with an id, a type and more; in the variable as JSON.',
	},
	currency: {
		variable: 'PARLEY_CURRENCY',
		description: 'The currency of the prices of models and of budgets: a code of ISO 4217, such as USD or EUR.',
	},
	embedder: {
		variable: 'PARLEY_EMBEDDER',
		description:
			'What makes the vectors of new indexes: builtin, or provider/name, with ?dimensions=1 to 4096 behind it where the model lets that be chosen.',
	},
	max_upload_bytes: { variable: 'PARLEY_MAX_UPLOAD_BYTES', description: 'Largest file that may be uploaded.' },
	workers: { variable: 'PARLEY_WORKERS', description: 'Threads for parsing and embedding (searching has one more).' },
	ocr: {
		variable: 'PARLEY_OCR',
		description:
			'Languages of scanned PDF pages whose text is recognised, as packages @tesseract.js-data/… are named: eng, or eng+deu. Without it, scans are rejected.',
	},
	ocr_dir: {
		variable: 'PARLEY_OCR_DIR',
		description: 'Folder whose node_modules has tesseract.js and the packages of these languages.',
	},
	thesauri: {
		variable: 'PARLEY_THESAURI',
		description:
			'Folders with MyThes thesauri (th_*.idx and th_*.dat), separated by commas, for synonyms of words that the documents do not have; on Debian /usr/share/mythes.',
	},
	backup_dir: {
		variable: 'PARLEY_BACKUP_DIR',
		description: 'Folder in which the running server makes a backup at an interval. Without it, it makes none.',
	},
	backup_every: {
		variable: 'PARLEY_BACKUP_EVERY',
		description: 'The time from one backup to the next: a number of minutes, hours or days, as 30m, 6h or 1d.',
	},
	backup_keep: {
		variable: 'PARLEY_BACKUP_KEEP',
		description: 'Backups that stay in that folder; older ones are deleted after a new one is verified.',
	},
	request_log: {
		variable: 'PARLEY_REQUEST_LOG',
		description: '1 or 0: whether each request has a line in the log, at the level info.',
	},
	request_log_sample: {
		variable: 'PARLEY_REQUEST_LOG_SAMPLE',
		description:
			'Of successful requests for widget configurations, static files and health checks, one in so many has a line; 0: none.',
	},
	request_log_address: {
		variable: 'PARLEY_REQUEST_LOG_ADDRESS',
		description: 'How these lines name a client’s address: plain, hashed (with the secret key) or off.',
	},
	metrics_listen: {
		variable: 'PARLEY_METRICS_LISTEN',
		description:
			'Address and port of a listener that serves /metrics without a key, for example 127.0.0.1:9464. Without it, /metrics is on the main port and needs a key with the scope settings:read.',
	},
	print_key: {
		variable: 'PARLEY_PRINT_KEY',
		description:
			'1 prints what the first start makes (the API key and the password link) also where the output is no terminal.',
	},
};

/** Makes paths absolute, the public address an origin as browsers write it, and keys base64. */
export function normaliseSettings(settings: RawSettings, providers: ProviderSettings[]): Settings {
	const { public_url, secret_key, ocr_dir, backup_dir, tls_cert, tls_key } = settings;
	return {
		...settings,
		providers,
		// A server that is reachable from outside shows every deployment only if the operator says so.
		demo: settings.demo ?? (public_url === undefined && isLoopback(settings.host)),
		data_dir: resolve(settings.data_dir),
		thesauri: settings.thesauri.map((folder) => resolve(folder)),
		...(backup_dir === undefined ? {} : { backup_dir: resolve(backup_dir) }),
		...(tls_cert === undefined ? {} : { tls_cert: resolve(tls_cert) }),
		...(tls_key === undefined ? {} : { tls_key: resolve(tls_key) }),
		...(ocr_dir === undefined ? {} : { ocr_dir: resolve(ocr_dir) }),
		...(public_url === undefined ? {} : { public_url: new URL(public_url).origin }),
		...(secret_key === undefined ? {} : { secret_key: secretKeyBytes(secret_key).toString('base64') }),
	};
}

/** The files for TLS; null for plain HTTP. */
export function tlsFiles({ tls_cert, tls_key }: Settings): TlsFiles | null {
	return tls_cert === undefined || tls_key === undefined ? null : { certificate: tls_cert, key: tls_key };
}

/** The scheme of the server's own address. */
export function schemeOf(settings: Settings): HttpScheme {
	return tlsFiles(settings) === null ? 'http' : 'https';
}
