import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { messageOf } from '../base/index.ts';
import { absolute, SETTINGS, type Settings, SettingsSchema } from './settings.ts';

/** A wrong setting. Its message names the setting and says what it may be. */
export class ConfigError extends Error {
	override readonly name = 'ConfigError';
}

export interface ConfigSources {
	env: Record<string, string | undefined>;
	/** Path of the settings file; a missing one is no error. */
	file: string;
}

const validate = new Ajv({ useDefaults: true, coerceTypes: true, allErrors: false }).compile(SettingsSchema);

/** The process's own sources: the only place where Parley reads its environment. */
export function processSources(): ConfigSources {
	return { env: process.env, file: 'parley.config.json' };
}

/**
 * Reads, merges and checks all settings.
 * @throws ConfigError for an unknown or wrong setting
 */
export function loadConfig(sources: ConfigSources): Settings {
	const merged: Record<string, unknown> = readFile(sources.file);
	const fields = Object.entries(SETTINGS) as Array<[keyof Settings, { variable: string }]>;
	const known = new Set(fields.map(([, { variable }]) => variable));
	for (const name of Object.keys(sources.env)) {
		if (name.startsWith('PARLEY_') && !known.has(name) && !FOREIGN.has(name)) {
			throw new ConfigError(`${name} is not a setting of Parley. Known: ${[...known].join(', ')}.`);
		}
	}
	for (const [field, { variable }] of fields) {
		const text = sources.env[variable];
		if (text === undefined || text === '') continue;
		merged[field] = fromText(field, text);
	}
	if (!validate(merged)) {
		const error = validate.errors?.[0];
		throw new ConfigError(describe(error?.instancePath.slice(1) ?? '', error?.message, error?.params));
	}
	return absolute(merged as unknown as Settings);
}

/** Variables with our prefix that belong to the scripts around the server. */
const FOREIGN = new Set(['PARLEY_CHROMIUM']);

function readFile(path: string): Record<string, unknown> {
	let text: string;
	try {
		text = readFileSync(path, 'utf8');
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
		throw new ConfigError(`${path} cannot be read: ${messageOf(error)}`);
	}
	try {
		const value: unknown = JSON.parse(text);
		if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
	} catch (error) {
		throw new ConfigError(`${path} is not valid JSON: ${messageOf(error)}`);
	}
	throw new ConfigError(`${path} must hold one JSON object.`);
}

function fromText(field: keyof Settings, text: string): unknown {
	if (field === 'trusted_proxies') return text.split(',').map((part) => part.trim());
	if (field === 'allow_private_network') {
		if (text === '1' || text === 'true') return true;
		if (text === '0' || text === 'false') return false;
		throw new ConfigError(`${SETTINGS[field].variable} must be 0 or 1.`);
	}
	return text;
}

function describe(field: string, message = 'is not valid', params: Record<string, unknown> = {}): string {
	if (field === '' && typeof params.additionalProperty === 'string') {
		return `parley.config.json: ${params.additionalProperty} is not a setting of Parley.`;
	}
	const setting = SETTINGS[field.split('/')[0] as keyof Settings];
	const allowed = Array.isArray(params.allowedValues) ? `: ${params.allowedValues.join(', ')}` : '';
	return `${setting?.variable ?? field} ${message}${allowed}. ${setting?.description ?? ''}`.trim();
}
