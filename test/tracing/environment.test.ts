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

test('settings have the defaults of OpenTelemetry, with larger batches', () => {
	assert.deepEqual(readTracingSettings(ENDPOINT), {
		sampler: 'parentbased_always_on',
		ratio: 1,
		scheduleDelayMs: 5_000,
		maxQueueSize: 8_192,
		maxBatchSize: 2_048,
		exporter: {
			url: 'http://127.0.0.1:4318/v1/traces',
			headers: {},
			timeoutMs: 10_000,
			isCompressed: false,
			tls: {},
		},
	});
	const own = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25', OTEL_BSP_MAX_QUEUE_SIZE: '100' };
	const settings = readTracingSettings({ ...ENDPOINT, ...own });
	assert.deepEqual([settings?.sampler, settings?.ratio, settings?.maxBatchSize], ['traceidratio', 0.25, 25]);
});

test('an address for traces is used as it is, and the common one is a base', () => {
	for (const [env, url] of [
		[{ OTEL_TRACES_EXPORTER: 'otlp' }, 'http://localhost:4318/v1/traces'],
		[{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example/' }, 'https://collector.example/v1/traces'],
		[{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c.example/a?b=1' }, 'http://c.example/a/v1/traces?b=1'],
		[{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c.example/in' }, 'http://c.example/in'],
		[{ ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c.example/in' }, 'http://c.example/in'],
	] as [Record<string, string>, string][])
		assert.equal(readTracingSettings(env)?.exporter.url, url);
});

test('options for traces go before the common ones, and headers are joined', () => {
	const settings = readTracingSettings({
		...ENDPOINT,
		OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20a%3D%3D, x-team = support ,',
		OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-team=chat,x-signed=a=b',
		OTEL_EXPORTER_OTLP_TIMEOUT: '5000',
		OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '7000',
		OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
	});
	assert.deepEqual(settings?.exporter.headers, { authorization: 'Basic a==', 'x-team': 'chat', 'x-signed': 'a=b' });
	assert.equal(settings.exporter.timeoutMs, 7_000);
	assert.equal(settings.exporter.isCompressed, true);
	const limited = readTracingSettings({ ...ENDPOINT, OTEL_BSP_EXPORT_TIMEOUT: '400' });
	assert.equal(limited?.exporter.timeoutMs, 400);
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
		['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'soon', /^OTEL_EXPORTER_OTLP_TRACES_TIMEOUT must be a whole number/],
		['OTEL_EXPORTER_OTLP_COMPRESSION', 'br', /must be gzip or none, and not br/],
		['OTEL_EXPORTER_OTLP_HEADERS', 'secret', /must be pairs name=value/],
		['OTEL_EXPORTER_OTLP_HEADERS', 'a=%zz', /must be pairs name=value/],
		['OTEL_EXPORTER_OTLP_HEADERS', 'a=b%0d%0ac', /must be pairs name=value/],
		['OTEL_EXPORTER_OTLP_HEADERS', 'a=%E2%82%AC', /must be pairs name=value/],
		['OTEL_EXPORTER_OTLP_HEADERS', 'Content-Length=5', /must not set Content-Length/],
		['OTEL_EXPORTER_OTLP_CERTIFICATE', '/does/not/exist.pem', /OTEL_EXPORTER_OTLP_CERTIFICATE names cannot be read/],
	] as const) {
		assert.throws(
			() => readTracingSettings({ ...ENDPOINT, [name]: value }),
			(error: Error) => sentence.test(error.message) && !error.message.includes('secret'),
		);
	}
});
