import assert from 'node:assert/strict';
import test from 'node:test';
import { readTracingSettings } from '../../src/tracing/environment.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

test('traces are off unless an endpoint or an exporter is named, and off by the variables that turn them off', () => {
	assert.equal(readTracingSettings({}), null);
	assert.equal(readTracingSettings({ OTEL_SERVICE_NAME: 'chat', OTEL_TRACES_SAMPLER: 'always_on' }), null);
	assert.equal(readTracingSettings({ ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }), null);
	assert.equal(readTracingSettings({ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }), null);
	assert.notEqual(readTracingSettings({ OTEL_TRACES_EXPORTER: 'otlp' }), null);
	assert.notEqual(readTracingSettings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector.example/v1' }), null);
});

test('settings have the defaults of OpenTelemetry', () => {
	assert.deepEqual(readTracingSettings(ENDPOINT), {
		sampler: 'parentbased_always_on',
		ratio: 1,
		scheduleDelayMs: 5_000,
		maxQueueSize: 2_048,
		maxBatchSize: 512,
		exportTimeoutMs: 30_000,
	});
	const own = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25', OTEL_BSP_MAX_QUEUE_SIZE: '100' };
	const settings = readTracingSettings({ ...ENDPOINT, ...own });
	assert.deepEqual([settings?.sampler, settings?.ratio, settings?.maxBatchSize], ['traceidratio', 0.25, 100]);
});

test('a value that is not supported is refused with a sentence that names it', () => {
	for (const [name, value, sentence] of [
		['OTEL_TRACES_EXPORTER', 'zipkin', /must be otlp or none/],
		['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', /must not be grpc/],
		['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', /http or https address/],
		['OTEL_TRACES_SAMPLER', 'jaeger_remote', /must be one of always_on,/],
		['OTEL_TRACES_SAMPLER_ARG', '5', /from 0 to 1/],
		['OTEL_TRACES_SAMPLER_ARG', 'x', /from 0 to 1/],
		['OTEL_BSP_SCHEDULE_DELAY', '-1', /whole number/],
	] as const) {
		assert.throws(() => readTracingSettings({ ...ENDPOINT, [name]: value }), sentence);
	}
});
