import assert from 'node:assert/strict';
import { openApiDocument } from '../../src/contract/index.ts';
import type { TestApp } from '../support/app.ts';
import { ApiDescription, type JsonSchema, type OpenApiDocument } from '../support/openapi.ts';
import { until } from '../support/until.ts';
import { assertSigned, type PublicEvent, type Receiver, readLog, startReceiver } from './receiver.ts';

interface DescribedWebhooks extends OpenApiDocument {
	webhooks: Record<string, { post: { requestBody: { content: Record<string, { schema: JsonSchema }> } } }>;
}

const document = JSON.parse(JSON.stringify(openApiDocument('1.2.3'))) as DescribedWebhooks;
const api = new ApiDescription(document);

/** Holds the body of a delivery against what the API's description says of its type. */
export function assertDescribed(event: PublicEvent): void {
	const schema = document.webhooks[event.type]?.post.requestBody.content['application/json']?.schema;
	assert.ok(schema, `${event.type} is not described`);
	assert.equal(api.check(schema)(event), null, event.type);
}

/** A receiver of everything, beside the log. */
export interface EventRecorder extends AsyncDisposable {
	receiver: Receiver;
	/**
	 * What was told because of this, in order: from the log, after each of them has been received once, signed, in the same
	 * words, and as described.
	 */
	eventsFrom(cause: () => Promise<unknown>): Promise<PublicEvent[]>;
}

export async function recordEvents(app: TestApp): Promise<EventRecorder> {
	const hook = await startReceiver(app);
	let place: string | null = null;
	return {
		receiver: hook,
		async eventsFrom(cause) {
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
export const typesAndIds = (events: readonly PublicEvent[]) => events.map(({ type, data }) => [type, data.id]);
