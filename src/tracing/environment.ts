import { ConfigError } from '../config/index.ts';

type Environment = Record<string, string | undefined>;

/** The names of samplers in OTEL_TRACES_SAMPLER, of OpenTelemetry's specification of environment variables. */
export const SAMPLERS = [
	'always_on',
	'always_off',
	'traceidratio',
	'parentbased_always_on',
	'parentbased_always_off',
	'parentbased_traceidratio',
] as const;

/** How spans are sampled and sent. The exporter reads its own variables (endpoint, headers, timeout, certificates) itself. */
export interface TracingSettings {
	sampler: (typeof SAMPLERS)[number];
	/** The part of the traces that is sampled, 0..1. */
	ratio: number;
	/** Milliseconds between two exports. */
	scheduleDelayMs: number;
	/** Spans that wait for their export at most. Further ones are dropped. */
	maxQueueSize: number;
	maxBatchSize: number;
	/** Milliseconds that an export may take. */
	exportTimeoutMs: number;
}

/**
 * Reads the standard variables of OpenTelemetry. Traces are sent if an endpoint for OTLP is named.
 * @returns null if traces are off
 * @throws ConfigError for a value that this server does not support
 */
export function readTracingSettings(env: Environment): TracingSettings | null {
	const read = (name: string) => env[name]?.trim() || undefined;
	const exporter = read('OTEL_TRACES_EXPORTER');
	if (read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' || exporter === 'none') return null;
	const endpoint = read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? read('OTEL_EXPORTER_OTLP_ENDPOINT');
	if (endpoint === undefined && exporter === undefined) return null;
	if (exporter !== undefined && exporter !== 'otlp')
		throw new ConfigError(`OTEL_TRACES_EXPORTER must be otlp or none, and not ${exporter}.`);
	const protocol = read('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? read('OTEL_EXPORTER_OTLP_PROTOCOL');
	if (protocol !== undefined && protocol !== 'http/protobuf')
		throw new ConfigError(
			`Traces are sent with the protocol http/protobuf. OTEL_EXPORTER_OTLP_PROTOCOL must not be ${protocol}.`,
		);
	if (endpoint !== undefined && !/^https?:\/\/[^/]/.test(endpoint))
		throw new ConfigError('OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https address.');
	const maxQueueSize = wholeNumber(read, 'OTEL_BSP_MAX_QUEUE_SIZE', 2_048, 1_000_000);
	return {
		sampler: samplerOf(read('OTEL_TRACES_SAMPLER')),
		ratio: ratioOf(read('OTEL_TRACES_SAMPLER_ARG')),
		scheduleDelayMs: wholeNumber(read, 'OTEL_BSP_SCHEDULE_DELAY', 5_000, 3_600_000),
		maxQueueSize,
		maxBatchSize: Math.min(wholeNumber(read, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512, 1_000_000), maxQueueSize),
		exportTimeoutMs: wholeNumber(read, 'OTEL_BSP_EXPORT_TIMEOUT', 30_000, 3_600_000),
	};
}

function samplerOf(name = 'parentbased_always_on'): TracingSettings['sampler'] {
	const sampler = SAMPLERS.find((known) => known === name);
	if (sampler === undefined) throw new ConfigError(`OTEL_TRACES_SAMPLER must be one of ${SAMPLERS.join(', ')}.`);
	return sampler;
}

function ratioOf(text = '1'): number {
	const ratio = Number(text);
	if (!(ratio >= 0 && ratio <= 1)) throw new ConfigError('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.');
	return ratio;
}

function wholeNumber(
	read: (name: string) => string | undefined,
	name: string,
	defaultValue: number,
	max: number,
): number {
	const text = read(name) ?? String(defaultValue);
	const value = Number(text);
	if (!Number.isInteger(value) || value < 1 || value > max)
		throw new ConfigError(`${name} must be a whole number from 1 to ${max}.`);
	return value;
}
