import assert from 'node:assert/strict';
import { openApiDocument } from '../../src/contract/index.ts';
import type { TestApp } from '../support/app.ts';
import { ApiDescription, type JsonSchema, type OpenApiDocument } from '../support/openapi.ts';
import { until } from '../support/until.ts';
import { assertSigned, type Receiver, readLog, receiver, type ToldEvent } from './receiver.ts';

interface DescribedWebhooks extends OpenApiDocument {
	webhooks: Record<string, { post: { requestBody: { content: Record<string, { schema: JsonSchema }> } } }>;
}

const document = JSON.parse(JSON.stringify(openApiDocument('1.2.3'))) as DescribedWebhooks;
const api = new ApiDescription(document);

/** Holds the body of a delivery against what the API's description says of its type. */
export function assertDescribed(event: ToldEvent): void {
	const schema = document.webhooks[event.type]?.post.requestBody.content['application/json']?.schema;
	assert.ok(schema, `${event.type} is not described`);
	assert.equal(api.check(schema)(event), null, event.type);
}

/** A receiver of everything, beside the log. */
export interface Listener extends AsyncDisposable {
	receiver: Receiver;
	/**
	 * What was told because of this, in order: from the log, after each of them has been received once, signed, in the same
	 * words, and as described.
	 */
	told(cause: () => Promise<unknown>): Promise<ToldEvent[]>;
}

export async function listener(app: TestApp): Promise<Listener> {
	const hook = await receiver(app);
	let place: string | null = null;
	return {
		receiver: hook,
		async told(cause) {
			place = (await readLog(app, place)).cursor;
			await cause();
			const { events, cursor } = await readLog(app, place);
			place = cursor;
			for (const event of events) {
				const same = () => hook.received.filter((received) => received.event.id === event.id);
				await until(`${event.type} is received`, () => same().length > 0);
				const [received, ...more] = same();
				assert.equal(more.length, 0, `${event.type} is received once`);
				assert.ok(received);
				assertSigned(received, hook.signing_secret);
				assert.equal(received.raw.toString(), JSON.stringify(event), 'it is what the log shows, byte for byte');
				assertDescribed(received.event);
			}
			return events;
		},
		[Symbol.asyncDispose]: () => hook[Symbol.asyncDispose](),
	};
}

/** Types and the ids of what they are about. */
export const brief = (events: readonly ToldEvent[]) => events.map(({ type, data }) => [type, data.id]);
