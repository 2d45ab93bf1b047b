import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog, type Span, type SpanAttributes } from '../../src/base/index.ts';
import { rewriteQuery } from '../../src/conversations/query-rewrite.ts';
import { progressFrom } from '../../src/conversations/reply-progress.ts';
import type { ChatModel, ChatRequest } from '../../src/models/index.ts';

/** A span that takes notes of itself and of its children. */
class NotedSpan implements Span {
	readonly children: NotedSpan[] = [];
	readonly attributes: Record<string, unknown> = {};
	/** Undefined before the end; null: it ended well. */
	error: unknown;
	readonly name: string;
	readonly kind: string;

	constructor(name: string, kind = 'internal') {
		this.name = name;
		this.kind = kind;
	}

	get headers() {
		return { traceparent: `the span ${this.name}` };
	}

	child(name: string, kind?: 'internal' | 'client'): Span {
		const child = new NotedSpan(name, kind);
		this.children.push(child);
		return child;
	}

	set(attributes: SpanAttributes): void {
		Object.assign(this.attributes, attributes);
	}

	end(error: unknown = null): void {
		this.error = error;
	}
}

/** Lets a model write a query. @returns the query, the span of the reply, and what the model was asked */
async function rewrite(stream: ChatModel['stream'], setting: 'always' | 'never' = 'always') {
	const requests: ChatRequest[] = [];
	const span = new NotedSpan('reply');
	const model: ChatModel = {
		stream(request, ...rest) {
			requests.push(request);
			return stream(request, ...rest);
		},
	};
	const query = await rewriteQuery(
		{
			...{ setting, modelId: 'stand-in/small', model, name: 'small', reservedTokens: undefined, span },
			...{ question: 'And the blue one?', history: [], progress: progressFrom([]), log: createLog('silent') },
			timeoutMs: 120_000,
		},
		new AbortController().signal,
	);
	return { query, span, requests };
}

test('the call for a query is a part of the reply and sends its trace to the provider', async () => {
	const { query, span, requests } = await rewrite(async (_request, _signal, onEvent) => {
		onEvent({ type: 'delta', text: 'price of the blue kettle' });
	});
	assert.equal(query, 'price of the blue kettle');
	const [own, ...others] = span.children;
	assert.deepEqual([own?.name, own?.kind, own?.error, others], ['rewrite_query', 'client', null, []]);
	assert.equal(own?.attributes['gen_ai.request.model'], 'stand-in/small');
	assert.deepEqual(requests[0]?.trace_headers, own?.headers);
});

test('a failed call for a query is marked in its span, and without a call there is none', async () => {
	const failure = new Error('The provider failed.');
	const failed = await rewrite(async () => {
		throw failure;
	});
	assert.equal(failed.query, null);
	assert.equal(failed.span.children[0]?.error, failure);
	const without = await rewrite(async () => {}, 'never');
	assert.deepEqual([without.query, without.span.children, without.requests], [null, [], []]);
});
