import { readFileSync } from 'node:fs';
import { Ajv, type ErrorObject } from 'ajv';
import { messageOf } from '../base/index.ts';
import { isNetwork, isOrigin, isSecretKey } from './formats.ts';
import { normal, SETTINGS, type Settings, SettingsSchema } from './settings.ts';

/** A wrong setting. Its message names the setting and says what it may be. */
export class ConfigError extends Error {
	override readonly name = 'ConfigError';
}

export interface ConfigSources {
	env: Record<string, string | undefined>;
	/** Path of the settings file; a missing one is no error. */
	file: string;
}

const formats = { origin: isOrigin, network: isNetwork, 'secret-key': isSecretKey };
const validate = new Ajv({ useDefaults: true, formats }).compile(SettingsSchema);
const FIELDS = Object.entries(SETTINGS) as Array<[keyof Settings, { variable: string; description: string }]>;

/** Variables with our prefix that belong to the scripts around the server. */
const FOREIGN = new Set(['PARLEY_CHROMIUM']);

/** The process's own sources: the only place where Parley reads its environment. */
export function processSources(): ConfigSources {
	return { env: process.env, file: 'parley.config.json' };
}

/**
 * Reads, merges and checks all settings.
 * @throws ConfigError for an unknown or wrong setting
 */
export function loadConfig(sources: ConfigSources): Settings {
	const variables = FIELDS.map(([, { variable }]) => variable);
	for (const name of Object.keys(sources.env)) {
		if (name.startsWith('PARLEY_') && !variables.includes(name) && !FOREIGN.has(name)) {
			throw new ConfigError(`${name} is not a setting of Parley. Known: ${variables.join(', ')}.`);
		}
	}
	const merged = readFile(sources.file);
	const fromEnvironment = new Set<string>();
	for (const [field, { variable }] of FIELDS) {
		const text = sources.env[variable]?.trim();
		if (text === undefined || text === '') continue;
		fromEnvironment.add(field);
		merged[field] = fromText(field, text);
	}
	if (!validate(merged)) {
		throw new ConfigError(describe(validate.errors?.[0] as ErrorObject, fromEnvironment, sources.file));
	}
	return normal(merged as unknown as Settings);
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
 * What a variable's text means for its field. Text that means nothing is left as it is, for the schema to refuse; only
 * here is anything converted, so that `null` in the file is never taken for 0.
 */
function fromText(field: keyof Settings, text: string): unknown {
	switch ((SettingsSchema.properties[field] as { type?: string }).type) {
		case 'integer':
			return /^-?\d+$/.test(text) ? Number(text) : text;
		case 'boolean':
			return { 0: false, 1: true, false: false, true: true }[text] ?? text;
		case 'array':
			return text.split(',').map((part) => part.trim());
		default:
			return text;
	}
}

/** The sentence about a complaint. It never shows the value, which may be a secret in the wrong place. */
function describe(error: ErrorObject, fromEnvironment: ReadonlySet<string>, file: string): string {
	if (error.keyword === 'additionalProperties') {
		return `${error.params.additionalProperty} in ${file} is not a setting of Parley.`;
	}
	const field = error.instancePath.split('/')[1] as keyof Settings;
	const { variable, description } = SETTINGS[field];
	const name = fromEnvironment.has(field) ? variable : `${field} in ${file}`;
	const complaint = error.keyword === 'format' || error.keyword === 'enum' ? 'is not valid' : error.message;
	return `${name} ${complaint}. ${description}`;
}
