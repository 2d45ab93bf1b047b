import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passage } from '../support/passage.ts';
import { ask } from './fixtures/ask.ts';

const passages = [
	passage('Die Herstellergarantie der Geräte gilt drei Jahre ab dem Kauf.', { heading_path: ['Geräte'] }),
	passage('Der Abfall wird am Dienstag abgeholt. Die Tonnen stehen vor dem Haus.', {
		index: 2,
		heading_path: ['Haus'],
	}),
];

test('a synonym of a thesaurus stands for a word that no passage has', async () => {
	const question = 'Wann wird der Müll abgeholt?';
	const synonyms = [{ word: 'mull', synonyms: ['Abfall', 'Unrat'] }];
	assert.match(await ask(question, passages, { synonyms }), /^Der Abfall wird am Dienstag abgeholt\./);
});
