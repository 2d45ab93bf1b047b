import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import type { Clock } from '../../../src/base/index.ts';
import { startTestApp } from '../../support/app.ts';
import { until } from '../../support/until.ts';
import { startReceiver } from '../receiver.ts';

const HOUR = 3_600_000;
/** Time goes on, and the test moves it forward. */
let ahead = 0;
const clock: Clock = { now: () => Date.now() + ahead };
const app = await startTestApp({ settings: { allow_private_network: true }, overrides: { clock } });
after(() => app[Symbol.asyncDispose]());

test('an endpoint disabled for failures shows why, and receives again once it is enabled', async () => {
	await using hook = await startReceiver(app, ['assistant.updated']);
	const { body: assistant } = await app.call('POST', '/api/v1/assistants', { name: 'Guide' });
	const rename = (name: string) => app.call('PATCH', `/api/v1/assistants/${assistant.id}`, { name });
	const shown = async () => (await app.call('GET', hook.path)).body;
	const statuses = async () => {
		const { body } = await app.call('GET', `${hook.path}/deliveries?order=asc`);
		return body.data.map(({ status, attempts }: { status: string; attempts: number }) => `${status} ${attempts}`);
	};
	hook.respond = () => ({ status: 503 });
	await rename('One');
	await until('it is refused', async () => (await statuses()).join() === 'pending 1');
	ahead += 121 * HOUR;
	await rename('Two');
	await until('it is disabled', async () => (await shown()).status === 'disabled');
	assert.match((await shown()).disabled_reason, /^Every attempt since \d{4}-\S+Z has failed\.$/);
	await until('nothing waits', async () => (await statuses()).every((status: string) => !status.startsWith('pending')));
	assert.match((await statuses()).join(), /^failed 1,cancelled 1$|^cancelled [12],cancelled 1$/);
	const before = hook.received.length;
	await rename('Three');
	hook.respond = () => ({ status: 204 });
	const revived = await app.call('PATCH', hook.path, { status: 'active' });
	assert.deepEqual([revived.body.status, revived.body.disabled_reason], ['active', null]);
	await rename('Four');
	await until('it is delivered', async () => (await statuses()).at(-1) === 'delivered 1');
	assert.deepEqual(
		hook.received.slice(before).map(({ event }) => event.data.name),
		['Four'],
	);
	// Its failures are forgotten: one more disables nothing.
	hook.respond = () => ({ status: 503 });
	await rename('Five');
	await until('it is refused', async () => (await statuses()).at(-1) === 'pending 1');
	assert.equal((await shown()).status, 'active');
});
