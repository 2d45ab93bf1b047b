import assert from 'node:assert/strict';
import fc from 'fast-check';
import { AppError } from '../../../src/base/index.ts';
import type { ProviderSettings } from '../../../src/models/index.ts';
import {
	ANTHROPIC_MESSAGE,
	CHAT_COMPLETION,
	cutBytes,
	WRITING,
	written,
} from '../../models/fixtures/generated-streams.ts';
import { openProvider, outcomeOf } from '../../models/fixtures/provider.ts';
import { type ModelScript, ModelServer } from '../../support/model-server.ts';
import { type ByteEdit, byteEdit, editBytes } from '../mutations/bytes.ts';
import type { FuzzTarget } from '../target.ts';

/** A stream of a service, changed, and how its connection ends. */
interface ServiceStream {
	type: ProviderSettings['type'];
	/** Base64. */
	bytes: string;
	changes: ByteEdit[];
	cuts: number[];
	/** `flood` repeats the last part without end; `line` sends a line without end. */
	end: 'end' | 'die' | 'reset' | 'hang' | 'flood' | 'line';
}

/** Much shorter than in the server: a stream that hangs ends after it. */
const SILENCE_MS = 250;
/** More than a line or a response may have. */
const LINE_BYTES = 3 * 1024 * 1024;
const FLOOD_BYTES = 40 * 1024 * 1024;

const streamOf = (type: ServiceStream['type'], events: typeof CHAT_COMPLETION): fc.Arbitrary<ServiceStream> =>
	fc.record({
		type: fc.constant(type),
		bytes: fc
			.tuple(events, WRITING)
			.map(([stream, writing]) => Buffer.from(written(stream, writing)).toString('base64')),
		changes: fc.array(byteEdit, { maxLength: 4 }),
		cuts: fc.array(fc.nat(2_000), { maxLength: 8 }),
		end: fc.oneof(
			{ weight: 12, arbitrary: fc.constant<ServiceStream['end']>('end') },
			{ weight: 4, arbitrary: fc.constantFrom<ServiceStream['end']>('die', 'reset', 'hang') },
			{ weight: 1, arbitrary: fc.constantFrom<ServiceStream['end']>('flood', 'line') },
		),
	});

/** Answers of model providers of both protocols: changed, cut, endless, silent. Each call ends, with an answer or with a sentence. */
export const providerStreams: FuzzTarget<ServiceStream> = {
	name: 'provider-streams',
	skip: false,
	shortRuns: 80,
	deadlineMs: 120_000,
	inputs: fc.oneof(streamOf('openai-compatible', CHAT_COMPLETION), streamOf('anthropic', ANTHROPIC_MESSAGE)),
	fileOf: (input) => ({ bytes: bytesOf(input), extension: 'sse' }),
	async open() {
		const service = await ModelServer.start();
		return {
			async run(input) {
				const times = { first_token_timeout_ms: SILENCE_MS, idle_timeout_ms: SILENCE_MS };
				// A provider of its own: failures of earlier streams must not have opened its circuit breaker.
				await using model = openProvider(service.provider({ type: input.type, ...times }));
				service.setDefault(scriptOf(input));
				const { events, error } = await outcomeOf(model.chat);
				if (error !== undefined) {
					assert.ok(error instanceof AppError, `an error that is not expected: ${(error as Error).stack}`);
					assert.match(error.message, /^The .*\.$/s);
				}
				for (const event of events) {
					if (event.type === 'delta') assert.equal(typeof event.text, 'string');
				}
			},
			[Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
		};
	},
};

const bytesOf = ({ bytes, changes }: ServiceStream) => changes.reduce<Buffer>(editBytes, Buffer.from(bytes, 'base64'));

function scriptOf(input: ServiceStream): ModelScript {
	const parts = cutBytes(bytesOf(input), input.cuts).map((raw) => ({ raw }));
	switch (input.end) {
		case 'end':
			return [...parts, { end: true }];
		case 'die':
			return [...parts, { die: true }];
		case 'reset':
			return [...parts, { reset: true }];
		case 'hang':
			return [...parts, { hang: true }];
		case 'line':
			return [...parts, { raw: `data: ${'x'.repeat(LINE_BYTES)}` }, { hang: true }];
		case 'flood': {
			const piece = Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"more "}}]}\n\n'.repeat(4_000));
			return [...parts, ...Array.from({ length: Math.ceil(FLOOD_BYTES / piece.length) }, () => ({ raw: piece }))];
		}
	}
}
