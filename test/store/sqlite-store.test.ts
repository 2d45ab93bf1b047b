import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../src/base/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';
import { openTemporaryStore } from '../support/temporary-store.ts';
import { storeContract } from './contract.ts';
import { message } from './samples.ts';

storeContract((dataDir) => openSqliteStore({ dataDir, writer: workerEntry('store') }));

test('a text keeps the character NUL', async () => {
	const store = await openTemporaryStore();
	const record = message({ conversation_id: newId('conversation'), content: 'a\0b' });
	await store.commit({ write: [{ op: 'insert', kind: 'messages', record }] });
	assert.equal((await store.get('messages', record.id))?.content, 'a\0b');
});
