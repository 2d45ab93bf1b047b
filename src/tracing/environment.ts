import { ConfigError } from '../config/index.ts';
import type { CollectorSettings } from '../net/index.ts';
import { readExporterSettings } from './exporter-settings.ts';
import { Variables } from './variables.ts';

/** The names of samplers in OTEL_TRACES_SAMPLER, of OpenTelemetry's specification of environment variables. */
export const SAMPLERS = [
	'always_on',
	'always_off',
	'traceidratio',
	'parentbased_always_on',
	'parentbased_always_off',
	'parentbased_traceidratio',
] as const;

/** Spans that wait at most. */
const MAX_QUEUE_SIZE = 8_192;
/**
 * Spans of an export. OpenTelemetry's defaults are a quarter of these: an export takes about as much processor time as the spans of 50
 * messages, whatever its length.
 */
const MAX_BATCH_SIZE = 2_048;

/** How spans are sampled, collected and sent. */
export interface TracingSettings {
	sampler: (typeof SAMPLERS)[number];
	/** The part of the traces that is sampled, 0..1. */
	ratio: number;
	/** Milliseconds between two exports. */
	scheduleDelayMs: number;
	/** Spans that wait for their export at most. Further ones are dropped. */
	maxQueueSize: number;
	maxBatchSize: number;
	exporter: CollectorSettings;
}

/**
 * Reads the standard variables of OpenTelemetry. Traces are sent if an endpoint for OTLP is named.
 * @returns null if traces are off
 * @throws ConfigError for a value that this server does not support
 */
export function readTracingSettings(env: Record<string, string | undefined>): TracingSettings | null {
	const variables = new Variables(env);
	const exporter = variables.read('OTEL_TRACES_EXPORTER');
	if (variables.read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' || exporter === 'none') return null;
	if (exporter === undefined && variables.exporterOption('ENDPOINT') === null) return null;
	if (exporter !== undefined && exporter !== 'otlp')
		throw new ConfigError(`OTEL_TRACES_EXPORTER must be otlp or none, and not ${exporter}.`);
	const maxQueueSize = variables.wholeNumber('OTEL_BSP_MAX_QUEUE_SIZE', MAX_QUEUE_SIZE, 1_000_000);
	const maxBatchSize = variables.wholeNumber(
		'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
		// There must be room for spans while a batch is sent.
		Math.min(MAX_BATCH_SIZE, Math.ceil(maxQueueSize / 4)),
		1_000_000,
	);
	const settings = readExporterSettings(variables);
	const exportTimeoutMs = variables.wholeNumber('OTEL_BSP_EXPORT_TIMEOUT', 30_000, 3_600_000);
	return {
		sampler: samplerOf(variables.read('OTEL_TRACES_SAMPLER')),
		ratio: ratioOf(variables.read('OTEL_TRACES_SAMPLER_ARG')),
		scheduleDelayMs: variables.wholeNumber('OTEL_BSP_SCHEDULE_DELAY', 5_000, 3_600_000),
		maxQueueSize,
		maxBatchSize: Math.min(maxBatchSize, maxQueueSize),
		exporter: { ...settings, timeoutMs: Math.min(settings.timeoutMs, exportTimeoutMs) },
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
