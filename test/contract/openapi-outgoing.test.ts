import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENT_TYPES, openApiDocument } from '../../src/contract/index.ts';
import { newSigningSecret, signatureHeaders } from '../../src/webhooks/index.ts';
import { ApiDescription, type Media, type OpenApiDocument, type Parameter } from '../support/openapi.ts';

interface Outgoing {
	post: {
		operationId: string;
		summary: string;
		tags: string[];
		security: object[];
		parameters: Parameter[];
		requestBody: { required: boolean; content: Record<string, Media> };
	};
}

const document = JSON.parse(JSON.stringify(openApiDocument('1.2.3'))) as OpenApiDocument & {
	webhooks: Record<string, Outgoing>;
};
const api = new ApiDescription(document);
const described = Object.entries(document.webhooks);

test('describes every type of event that is sent, and the ping', () => {
	assert.deepEqual(
		described.map(([type]) => type),
		[...EVENT_TYPES, 'ping'],
	);
	const ids = described.map(([, { post }]) => post.operationId);
	assert.equal(new Set([...ids, ...api.operations.map(({ id }) => id)]).size, ids.length + api.operations.length);
	for (const [type, { post }] of described) {
		assert.ok(post.summary, type);
		assert.deepEqual([post.tags, post.security], [['Webhooks'], []]);
	}
});

test('describes the body of each as the event with its resource, also in the example', () => {
	for (const [type, { post }] of described) {
		assert.equal(post.requestBody.required, true);
		const media = post.requestBody.content['application/json'] ?? assert.fail(type);
		const check = api.check(media.schema);
		const [[, example] = assert.fail(type)] = api.examples(media);
		assert.equal(check(example), null, type);
		const event = example as { id: string; type: string; data: object };
		assert.equal(event.type, type);
		assert.match(event.id, /^evt_/);
		assert.doesNotMatch(JSON.stringify(example), /…/, `${type}: a field's schema needs examples`);
		assert.notEqual(check({ ...event, type: 'other' }), null);
		for (const name of Object.keys(event.data)) {
			const { [name as never]: _left, ...rest } = event.data;
			assert.notEqual(check({ ...event, data: rest }), null, `${type} without ${name}`);
		}
	}
});

test('describes exactly the headers that are sent', () => {
	const body = '{}';
	for (const [type, { post }] of described) {
		const event = { id: 'evt_06gzhmza00001mjww6bbdevcx5ss2c8f', type, body };
		const sent = signatureHeaders(event, [newSigningSecret(), newSigningSecret()], Date.now());
		const parameters = post.parameters.map((parameter) => api.resolve<Parameter>(parameter));
		assert.deepEqual(parameters.map(({ name }) => name.toLowerCase()).toSorted(), Object.keys(sent).toSorted());
		for (const { name, in: place, required, description, schema } of parameters) {
			assert.deepEqual([place, required], ['header', true], name);
			assert.ok(description);
			const check = api.check(schema);
			for (const value of [sent[name.toLowerCase()], ...(schema.examples ?? [])])
				assert.equal(check(value), null, name);
		}
	}
});
