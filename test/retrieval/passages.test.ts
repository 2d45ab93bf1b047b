import assert from 'node:assert/strict';
import { test } from 'node:test';
import { distinctPassages, textAfter, textBefore } from '../../src/retrieval/index.ts';

const hit = (document_id: string, score: number, text: string) => ({ document_id, score, text });
const TEXT = 'The warranty covers faults of material for two years from the day of the purchase of a kettle.';

test('a text that repeats a better hit gives way to another one', () => {
	const hits = [
		hit('a', 0.9, TEXT),
		hit('b', 0.8, `${TEXT} Thank you.`),
		hit('c', 0.7, 'Parcels are delivered within three days to every country of the union.'),
	];
	assert.deepEqual(
		distinctPassages(hits, 2).map(({ document_id }) => document_id),
		['a', 'c'],
	);
});

test('the same text with other numbers is another passage', () => {
	const price = (year: number, euros: number) =>
		`In ${year} the standard delivery of a parcel costs ${euros} euros in all.`;
	const hits = [hit('a', 0.9, price(2025, 5)), hit('b', 0.8, price(2026, 6))];
	assert.equal(distinctPassages(hits, 2).length, 2);
});

test('a document has at most half of the passages where others match about as well', () => {
	const subjects = ['kettle', 'toaster', 'mug', 'lamp', 'chair', 'table'];
	const long = subjects.map((subject, at) =>
		hit('long', 0.9 - at / 100, `All about one ${subject} of our range, in short.`),
	);
	const near = hit('other', 0.7, 'Returns are free of charge within thirty days.');
	const far = hit('far', 0.3, 'Our office is closed on public holidays.');
	const chosen = distinctPassages([...long, near, far], 4);
	assert.deepEqual(
		chosen.map(({ document_id, score }) => [document_id, score]),
		[
			['long', 0.9],
			['long', 0.89],
			['long', 0.88],
			['other', 0.7],
		],
	);
});

test('a single document may have all passages', () => {
	const hits = ['kettle', 'toaster', 'mug'].map((subject, at) =>
		hit('a', 0.9 - at / 10, `About the ${subject} alone.`),
	);
	assert.deepEqual(distinctPassages(hits, 3), hits);
	assert.deepEqual(distinctPassages([], 3), []);
});

test('the text around a chunk is whole lines or sentences that the chunk does not have', () => {
	const steps = Array.from({ length: 12 }, (_, at) => `${at + 1}. Step number ${at + 1} of the descaling programme.`);
	const text = steps.slice(4, 8).join('\n');
	assert.equal(textBefore(steps.slice(0, 5).join('\n'), text), steps.slice(0, 4).join('\n'));
	assert.equal(textAfter(text, steps.slice(7, 12).join('\n')), steps.slice(8, 12).join('\n'));
	assert.equal(textBefore(text, text), '', 'nothing but what the chunk repeats');
});

test('the text around a chunk is bounded', () => {
	const paragraph = Array.from({ length: 100 }, (_, at) => `This is sentence number ${at} of a long paragraph.`).join(
		' ',
	);
	const before = textBefore(paragraph, 'Another text.');
	assert.ok(before.length <= 520 && before.endsWith('number 99 of a long paragraph.'), before);
	assert.ok(textAfter('Another text.', paragraph).startsWith('This is sentence number 0'));
	assert.equal(textAfter('x', 'y'.repeat(2_000)), '', 'a part of a sentence is not given');
});
