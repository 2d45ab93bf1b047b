import assert from 'node:assert/strict';
import { test } from 'node:test';
import { supportedCitations } from '../../src/models/index.ts';

const passage = (index: number, title: string, text: string) => ({ index, title, heading_path: [], text });

const SOURCES = [
	passage(1, 'Care', 'The descaling programme of the kettle takes 25 minutes and must not be interrupted by anyone.'),
	passage(
		2,
		'Opening hours',
		'The shop in the harbour is open from Monday to Friday and is closed on all public holidays.',
	),
	passage(3, 'Garantie', 'Die Garantie gilt zwei Jahre ab dem Tag des Kaufs und wird mit der Rechnung nachgewiesen.'),
];

test('a passage that shares nothing with the statement that cites it is left out', () => {
	const text = 'The descaling programme of the kettle takes 25 minutes [1]. It is sold in red, blue and green [2].';
	assert.deepEqual(supportedCitations(text, SOURCES), [1]);
});

test('a passage counts if one of the statements that cite it has a word or number of it', () => {
	const text =
		'It is sold in many bright colours [2]. The shop is closed on public holidays, too [2]. That means 25 [1].';
	assert.deepEqual(supportedCitations(text, SOURCES), [2, 1]);
});

test('other forms of a word count', () => {
	assert.deepEqual(supportedCitations('You should never interrupt it while it is cleaning itself [1].', SOURCES), [1]);
});

test('a short statement is judged with the sentences before it, and alone it counts', () => {
	assert.deepEqual(supportedCitations('Yes [1].', SOURCES), [1]);
	assert.deepEqual(supportedCitations('The shop is in the harbour. It is so. [2]', SOURCES), [2]);
	assert.deepEqual(supportedCitations('The colours are red, blue and green. They are. [2]', SOURCES), []);
});

test('a passage in another language than the answer counts', () => {
	assert.deepEqual(
		supportedCitations('The warranty lasts for two years and you must show the invoice [3].', SOURCES),
		[3],
	);
});

test('each item of a list and each row of a table is a statement', () => {
	const list =
		'These are the facts that I found:\n- the kettle needs descaling [1]\n- colours are red, blue, green [2]';
	assert.deepEqual(supportedCitations(list, SOURCES), [1]);
});

test('a number without a passage is left out', () => {
	assert.deepEqual(supportedCitations('The descaling programme takes 25 minutes [1][7].', SOURCES), [1]);
});
