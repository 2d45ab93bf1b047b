import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createTraceState } from '@opentelemetry/api';
import { type EndedSpan, exportRequestFrom, SPAN_KINDS } from '../../src/tracing/span-message.ts';
import { readExport } from '../support/trace-collector.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const encode = exportRequestFrom({ resource: { 'service.name': 'parley' }, version: '1.2.3' });

function spanWith(fields: Partial<EndedSpan> = {}): EndedSpan {
	return {
		trace: { context: { traceId: TRACE, traceFlags: 1 }, clockOffset: 1_700_000_000_000 },
		high: 0x00f067aa,
		low: 0x0ba902b7,
		parent: null,
		name: 'reply',
		kind: SPAN_KINDS.internal,
		startedAt: 10.5,
		endedAt: 12.75,
		attributes: null,
		failed: false,
		...fields,
	};
}

suite('the body of an export of spans', () => {
	test('has the ids, times, kind and failure of a span', () => {
		const traceState = createTraceState('vendor=1');
		const { resource, spans } = readExport(
			encode([
				spanWith(),
				spanWith({
					trace: { context: { traceId: TRACE, traceFlags: 1, traceState }, clockOffset: 0 },
					high: -1,
					low: -(2 ** 31),
					parent: { high: 1, low: 2 },
					kind: SPAN_KINDS.server,
					failed: true,
				}),
			]),
		);
		assert.deepEqual(resource, { 'service.name': 'parley' });
		const [first, second] = spans;
		assert.equal(first?.traceId, TRACE);
		assert.equal(first.id, '00f067aa0ba902b7');
		assert.equal(first.parentId, '');
		assert.equal(first.traceState, '');
		assert.equal(first.flags, 0x101);
		assert.equal(first.failed, false);
		// 256 ns is the distance of two numbers of this size.
		assert.ok(Math.abs(Number(first.startedNs - 1_700_000_000_010_500_000n)) <= 256);
		assert.ok(Math.abs(Number(first.durationNs - 2_250_000n)) <= 512);
		assert.equal(second?.id, 'ffffffff80000000');
		assert.equal(second.parentId, '0000000100000002');
		assert.equal(second.traceState, 'vendor=1');
		assert.equal(second.kind, 2);
		assert.equal(second.flags, 0x301);
		assert.equal(second.failed, true);
	});

	test('has attributes of each type and of any length', () => {
		const values = [true, false, 0, 1, 127, 128, 2 ** 32, Number.MAX_SAFE_INTEGER, -1, 0.5, -1e300];
		const texts = Array.from({ length: 200 }, (_, length) => 'a'.repeat(length));
		const others = ['ä', '€'.repeat(199), '😀'.repeat(100), `${'a'.repeat(150)}é`];
		const attributes = Object.fromEntries(
			[...values, ...texts, ...others].map((value, at) => [`attribute.${at}`, value]),
		);
		const spans = Array.from({ length: 300 }, () => spanWith({ attributes }));
		const received = readExport(encode(spans));
		assert.equal(received.spans.length, 300);
		for (const span of received.spans) assert.deepEqual(span.attributes, attributes);
	});

	test('has at most 200 characters of the value of a span, and the whole value of the resource', () => {
		const [span] = readExport(encode([spanWith({ attributes: { long: 'x'.repeat(1_000) } })])).spans;
		assert.equal(span?.attributes.long, 'x'.repeat(200));
		const encodeFor = exportRequestFrom({ resource: { 'service.name': 'n'.repeat(255) }, version: '1' });
		assert.equal(readExport(encodeFor([])).resource['service.name'], 'n'.repeat(255));
	});
});
