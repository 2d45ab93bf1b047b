import assert from 'node:assert/strict';
import test from 'node:test';
import { createApiFixture } from '../api/fixture.ts';
import { startTestApp } from '../support/app.ts';

const HOURS = `# Opening hours

Monday to Sunday: 9:00–17:00

# Parking

Parking costs two pounds per hour. Dogs are welcome in the garden of the museum.`;

test('"today" is the day of the message in the time zone of the deployment', async () => {
	await using app = await startTestApp();
	const { deployment } = await createApiFixture(app, { texts: [HOURS] });
	const replyIn = async (time_zone: string) => {
		await app.call('PATCH', `/api/v1/deployments/${deployment}`, { time_zone });
		const { status, body } = await app.call('POST', '/api/v1/messages', {
			deployment_id: deployment,
			content: 'Are you open today?',
		});
		assert.equal(status, 201, JSON.stringify(body));
		const day = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: time_zone });
		return { content: body.content as string, day: day.format(new Date(body.created_at)) };
	};
	// They are more than a day apart.
	for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
		const { content, day } = await replyIn(zone);
		assert.ok(content.startsWith(`${day} – `), `${zone} ${day} ${content}`);
	}
	const { content, day } = await replyIn('UTC');
	assert.ok(content.startsWith(`${day} (UTC) – `), content);
});
