import { readFileSync } from 'node:fs';
import { Ajv, type ErrorObject } from 'ajv';
import { isLoopback, messageOf } from '../base/index.ts';
import { checkEmbedder } from './embedder.ts';
import {
	isBaseUrl,
	isCurrency,
	isHeaderWord,
	isIpOrCidr,
	isIssuer,
	isOneLine,
	isOrigin,
	isPostgresUrl,
	isRoleMapping,
	isSecretKey,
	listenAddress,
} from './formats.ts';
import { providersOf } from './providers.ts';
import {
	normaliseSettings,
	type RawSettings,
	SETTINGS,
	type Setting,
	type Settings,
	SettingsSchema,
} from './settings.ts';

/** A wrong setting. The message names the setting and its permitted values. */
export class ConfigError extends Error {
	override readonly name = 'ConfigError';
}

export interface ConfigSources {
	env: Record<string, string | undefined>;
	/** Path of the settings file, which may be missing. */
	file: string;
}

const formats = {
	origin: isOrigin,
	network: isIpOrCidr,
	'secret-key': isSecretKey,
	'postgres-url': isPostgresUrl,
	'base-url': isBaseUrl,
	'header-word': isHeaderWord,
	'listen-address': (text: string) => listenAddress(text) !== null,
	currency: isCurrency,
	'one-line': isOneLine,
	issuer: isIssuer,
	'role-mapping': isRoleMapping,
};
const validate = new Ajv({ useDefaults: true, validateSchema: false, verbose: true, formats }).compile(SettingsSchema);
const FIELDS = Object.entries(SETTINGS) as Array<[keyof Settings, { variable: string; description: string }]>;

/** Variables with the prefix `PARLEY_` that belong to scripts around the server. */
const SCRIPT_VARIABLES = new Set(['PARLEY_CHROMIUM']);

/** The sources of this process. The single binary's `src/binary/main.ts` is the only other place that reads the environment. */
export function processSources(): ConfigSources {
	return { env: process.env, file: 'parley.config.json' };
}

/**
 * Reads, merges and checks all settings.
 * @throws ConfigError for an unknown or wrong setting
 */
export function loadConfig(sources: ConfigSources): Settings {
	const merged = readFile(sources.file);
	const fromEnvironment = new Set<string>();
	for (const [field, { variable }] of FIELDS) {
		const text = sources.env[variable]?.trim();
		if (text === undefined || text === '') continue;
		fromEnvironment.add(field);
		merged[field] = fromText(field, text);
	}
	const variables = [...FIELDS.map(([, { variable }]) => variable), ...variablesNamedBy(merged.providers)];
	for (const name of Object.keys(sources.env)) {
		if (name.startsWith('PARLEY_') && !variables.includes(name) && !SCRIPT_VARIABLES.has(name)) {
			throw new ConfigError(`${name} is not a setting of Parley. Known: ${variables.join(', ')}.`);
		}
	}
	const origins = { fromEnvironment, file: sources.file };
	if (!validate(merged)) throw new ConfigError(validationMessage(validate.errors?.[0] as ErrorObject, origins));
	const rawSettings = merged as unknown as RawSettings;
	requireTlsSettings(rawSettings);
	requireOidcSettings(rawSettings);
	requireClusterSettings(rawSettings);
	const providers = providersOf(
		{
			configured: rawSettings.providers,
			keys: { openai: rawSettings.openai_api_key, anthropic: rawSettings.anthropic_api_key },
			variable: (name) => sources.env[name],
		},
		(path, problem) =>
			new ConfigError(`${locationOf(path, origins)} ${problem}. Meaning: ${SETTINGS.providers.description}`),
	);
	checkEmbedder(
		rawSettings.embedder,
		providers,
		(problem) =>
			new ConfigError(`${locationOf('/embedder', origins)} ${problem}. Meaning: ${SETTINGS.embedder.description}`),
	);
	return normaliseSettings(rawSettings, providers);
}

/** @throws ConfigError for a certificate or key without the other, and for a public address without TLS beside them */
function requireTlsSettings({ tls_cert, tls_key, public_url }: RawSettings): void {
	if (tls_cert !== undefined && tls_key === undefined) throw missingBeside(SETTINGS.tls_cert, SETTINGS.tls_key);
	if (tls_cert === undefined && tls_key !== undefined) throw missingBeside(SETTINGS.tls_key, SETTINGS.tls_cert);
	if (tls_cert === undefined || public_url === undefined || new URL(public_url).protocol === 'https:') return;
	throw new ConfigError(
		`${SETTINGS.public_url.variable} begins with http:, but the server speaks only HTTPS with ${SETTINGS.tls_cert.variable}. Write https:.`,
	);
}

/** The error about a setting that another one needs. */
function missingBeside(present: Setting, missing: Setting): ConfigError {
	const { variable, description } = missing;
	return new ConfigError(`${present.variable} is set without ${variable}. Meaning of ${variable}: ${description}`);
}

/** @throws ConfigError for an issuer without what belongs to it, and for passwords that are off without an issuer */
function requireOidcSettings(settings: RawSettings): void {
	const { oidc_issuer, oidc_client_id, oidc_roles, public_url, host, password_sign_in } = settings;
	if (oidc_issuer === undefined) {
		if (password_sign_in) return;
		throw new ConfigError(
			`${SETTINGS.password_sign_in.variable} is 0 without ${SETTINGS.oidc_issuer.variable}: there would be no way to sign in.`,
		);
	}
	const missing = [
		...(oidc_client_id === undefined ? [SETTINGS.oidc_client_id] : []),
		...(oidc_roles.length === 0 ? [SETTINGS.oidc_roles] : []),
		...(public_url === undefined && !isLoopback(host) ? [SETTINGS.public_url] : []),
	][0];
	if (missing !== undefined) throw missingBeside(SETTINGS.oidc_issuer, missing);
}

/** Addresses that listen on every network of the machine. Other nodes cannot connect to them. */
const ANY_ADDRESS = ['0.0.0.0', '::'];

/** @throws ConfigError for PostgreSQL without a secret key or with backups by the server, and for nodes that others cannot reach */
function requireClusterSettings(settings: RawSettings): void {
	const { database_url, cluster_listen, cluster_address, secret_key, backup_dir } = settings;
	if (database_url === undefined) {
		if (cluster_listen !== undefined) throw missingBeside(SETTINGS.cluster_listen, SETTINGS.database_url);
		if (cluster_address !== undefined) throw missingBeside(SETTINGS.cluster_address, SETTINGS.database_url);
		return;
	}
	if (secret_key === undefined) throw missingBeside(SETTINGS.database_url, SETTINGS.secret_key);
	if (backup_dir !== undefined) {
		throw new ConfigError(
			`${SETTINGS.backup_dir.variable} is set with ${SETTINGS.database_url.variable}: back PostgreSQL up with pg_dump or its own archive.`,
		);
	}
	const host = listenAddress(cluster_listen ?? '')?.host;
	if (host !== undefined && ANY_ADDRESS.includes(host) && cluster_address === undefined) {
		throw missingBeside(SETTINGS.cluster_listen, SETTINGS.cluster_address);
	}
}

/** The source of each value. */
interface ValueSources {
	fromEnvironment: ReadonlySet<string>;
	file: string;
}

/** Variables that providers name for their keys. The entries are not validated yet. */
function variablesNamedBy(providers: unknown): string[] {
	const entries: unknown[] = Array.isArray(providers) ? providers : [];
	return entries.flatMap((entry) => {
		const name = (entry as { api_key_env?: unknown } | null)?.api_key_env;
		return typeof name === 'string' ? [name] : [];
	});
}

function readFile(path: string): Record<string, unknown> {
	let text: string;
	try {
		text = readFileSync(path, 'utf8');
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
		throw new ConfigError(`${path} cannot be read: ${messageOf(error)}.`);
	}
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch (error) {
		throw new ConfigError(`${path} is not valid JSON: ${messageOf(error)}.`);
	}
	if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
	throw new ConfigError(`${path} must hold one JSON object.`);
}

/**
 * Converts a variable's text to the type of its field. Text that cannot be converted stays as it is, and the schema refuses it.
 * Only variables are converted, so that `null` in the file never becomes 0.
 */
function fromText(field: keyof Settings, text: string): unknown {
	switch ((SettingsSchema.properties[field] as { type?: string }).type) {
		case 'integer':
			return /^-?\d+$/.test(text) ? Number(text) : text;
		case 'boolean':
			return { 0: false, 1: true, false: false, true: true }[text] ?? text;
		case 'array':
			return field === 'providers' ? fromJson(text) : text.split(',').map((part) => part.trim());
		default:
			return text;
	}
}

function fromJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}

/** The sentence about a validation error. It never shows the value, which may be a secret in the wrong field. */
function validationMessage(error: ErrorObject, origins: ValueSources): string {
	const { instancePath, keyword, params } = error;
	const schema = error.parentSchema as { description?: string; properties?: Record<string, { description?: string }> };
	if (keyword === 'additionalProperties') {
		const { additionalProperty } = params as { additionalProperty: string };
		if (instancePath === '') return `${additionalProperty} in ${origins.file} is not a setting of Parley.`;
		const known = Object.keys(schema.properties ?? {}).join(', ');
		return `${locationOf(instancePath, origins)} has ${additionalProperty}, which is not a setting. Known: ${known}.`;
	}
	const field = instancePath.split('/')[1] as keyof Settings;
	if (keyword === 'required') {
		const { missingProperty } = params as { missingProperty: string };
		const meant = schema.properties?.[missingProperty]?.description ?? SETTINGS[field].description;
		return `${locationOf(`${instancePath}/${missingProperty}`, origins)} is missing. Meaning: ${meant}`;
	}
	return `${locationOf(instancePath, origins)} ${problemOf(error)}. Meaning: ${schema.description ?? SETTINGS[field].description}`;
}

function problemOf({ keyword, params, message }: ErrorObject): string {
	const { limit } = params as { limit?: number };
	switch (keyword) {
		case 'format':
		case 'enum':
		case 'pattern':
			return 'is not valid';
		case 'minimum':
			return `must be at least ${limit}`;
		case 'maximum':
			return `must be at most ${limit}`;
		case 'minLength':
			return 'must not be empty';
		default:
			return String(message);
	}
}

/** Where a person finds a value: its variable or field, and the path inside it. Entries of a list are counted from 1. */
function locationOf(instancePath: string, { fromEnvironment, file }: ValueSources): string {
	const [, field = '', ...path] = instancePath.split('/');
	const name = fromEnvironment.has(field) ? SETTINGS[field as keyof Settings].variable : `${field} in ${file}`;
	if (path.length === 0) return name;
	// Providers are JSON, whose values have paths.
	return field === 'providers' ? `${name} at ${path.join('/')}` : `${name} (entry ${Number(path[0]) + 1})`;
}
