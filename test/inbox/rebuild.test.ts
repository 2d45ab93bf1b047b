import assert from 'node:assert/strict';
import test from 'node:test';
import Database from 'better-sqlite3';
import { databaseFile } from '../../src/store/index.ts';
import { createApiFixture } from '../api/fixture.ts';
import { filesContaining } from '../api/traces.ts';
import { startTestApp } from '../support/app.ts';
import { until } from '../support/until.ts';

test('an inbox that is filled from stored messages equals the inbox that grew with them', async () => {
	await using app = await startTestApp();
	const { deployment } = await createApiFixture(app);
	const send = async (content: string, conversation_id?: string) => {
		const sent = await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content, conversation_id });
		return sent.body.conversation_id as string;
	};
	const first = await send('Where is the first parcel?');
	for (let at = 0; at < 150; at++) await send(`Parcel number ${at}?`, at % 3 === 0 ? first : undefined);
	const lists = async () => {
		const paths = ['limit=100', 'limit=100&search=parcel', 'limit=100&search=%22number%20149%22'];
		const pages = await Promise.all(paths.map((query) => app.call('GET', `/api/v1/inbox?${query}`)));
		return pages.map(({ body }) => body.data);
	};
	const grown = await lists();
	assert.equal(grown[0].length, 100);
	assert.equal(grown[2].length, 1);
	const db = new Database(databaseFile(app.dataDir));
	db.exec(`DELETE FROM inbox_rows; DELETE FROM searchable_messages;
		INSERT INTO message_search (message_search) VALUES ('delete-all');
		UPDATE inbox_progress SET filled_conversation = '', filled_seq = 0`);
	db.close();
	await using restarted = await app.restart();
	const call = restarted.call;
	await until('the inbox is filled', async () => {
		const read = new Database(databaseFile(restarted.dataDir), { readonly: true });
		const rest = read.prepare('SELECT filled_conversation FROM inbox_progress').pluck().get();
		read.close();
		return rest === null;
	});
	app.call = call;
	assert.deepEqual(await lists(), grown);
});

test('an erased conversation leaves no words in the index of messages', async () => {
	await using app = await startTestApp();
	const { deployment } = await createApiFixture(app);
	const content = 'My passport is Xanthoproktologie';
	const { body } = await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content });
	const found = await app.call('GET', '/api/v1/inbox?search=xanthoproktologie');
	assert.equal(found.body.data.length, 1);
	assert.ok((await filesContaining(app.dataDir, ['xanthoproktologie'])).length > 0, 'the index has the word');
	await app.call('DELETE', `/api/v1/conversations/${body.conversation_id}?purge=true`);
	await until('nothing is left', async () => {
		return (await filesContaining(app.dataDir, ['xanthoproktologie', 'Xanthoproktologie'])).length === 0;
	});
});
