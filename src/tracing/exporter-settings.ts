import { readFileSync } from 'node:fs';
import { messageOf, parseUrl } from '../base/index.ts';
import { ConfigError } from '../config/index.ts';
import type { CollectorSettings } from '../net/index.ts';
import type { Variables } from './variables.ts';

/** A collector on this machine. */
const DEFAULT_URL = 'http://localhost:4318/v1/traces';
const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 3_600_000;
/** The client of the collector sets these itself. */
const RESERVED_HEADERS = /^(connection|content-.*|expect|host|keep-alive|transfer-encoding|upgrade|user-agent)$/i;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * Reads the variables of OpenTelemetry's exporters (https://opentelemetry.io/docs/specs/otel/protocol/exporter).
 * @throws ConfigError for a value that this server does not support, and for a file that cannot be read
 */
export function readExporterSettings(variables: Variables): CollectorSettings {
	const protocol = variables.exporterOption('PROTOCOL');
	if (protocol !== null && protocol.value !== 'http/protobuf')
		throw new ConfigError(
			`Traces are sent with the protocol http/protobuf. ${protocol.name} must not be ${protocol.value}.`,
		);
	const compression = variables.exporterOption('COMPRESSION');
	if (compression !== null && !['gzip', 'none'].includes(compression.value))
		throw new ConfigError(`${compression.name} must be gzip or none, and not ${compression.value}.`);
	const timeout = variables.exporterOption('TIMEOUT');
	return {
		url: urlOf(variables),
		headers: headersOf(variables),
		timeoutMs: timeout === null ? DEFAULT_TIMEOUT_MS : variables.wholeNumber(timeout.name, 0, MAX_TIMEOUT_MS),
		isCompressed: compression?.value === 'gzip',
		tls: {
			...fileOf(variables, 'CERTIFICATE', 'ca'),
			...fileOf(variables, 'CLIENT_KEY', 'key'),
			...fileOf(variables, 'CLIENT_CERTIFICATE', 'cert'),
		},
	};
}

/** The address for traces alone is used as it is; the common one is a base. */
function urlOf(variables: Variables): string {
	const endpoint = variables.exporterOption('ENDPOINT');
	if (endpoint === null) return DEFAULT_URL;
	const { name, value, isForTraces } = endpoint;
	const url = /^https?:\/\/[^/]/.test(value) ? parseUrl(value) : null;
	if (url === null) throw new ConfigError(`${name} must be an http or https address.`);
	if (!isForTraces) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
	return url.href;
}

/** Headers are `name=value` with commas between them, the values in percent-encoding. Those for traces go before the common ones. */
function headersOf(variables: Variables): Record<string, string> {
	const headers: Record<string, string> = {};
	for (const name of ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS']) {
		for (const pair of (variables.read(name) ?? '').split(',').filter((part) => part.trim() !== '')) {
			const [key = '', ...rest] = pair.split('=');
			const value = decoded(rest.join('=').trim());
			// The message has no value: it is often a secret.
			if (!HEADER_NAME.test(key.trim()) || rest.length === 0 || value === null || !HEADER_VALUE.test(value))
				throw new ConfigError(`${name} must be pairs name=value with commas between them.`);
			if (RESERVED_HEADERS.test(key.trim())) throw new ConfigError(`${name} must not set ${key.trim()}.`);
			headers[key.trim().toLowerCase()] = value;
		}
	}
	return headers;
}

function decoded(text: string): string | null {
	try {
		return decodeURIComponent(text);
	} catch {
		return null;
	}
}

function fileOf(variables: Variables, option: string, as: 'ca' | 'key' | 'cert'): CollectorSettings['tls'] {
	const file = variables.exporterOption(option);
	if (file === null) return {};
	try {
		return { [as]: readFileSync(file.value) };
	} catch (error) {
		throw new ConfigError(`The file that ${file.name} names cannot be read: ${messageOf(error)}`);
	}
}
