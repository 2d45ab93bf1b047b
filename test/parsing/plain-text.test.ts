import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outlined, parsed } from '../fixtures/documents/parsed.ts';

const blocksOf = async (text: string) => outlined((await parsed(text, 'a.txt')).blocks);
const PROSE = 'Send the kettle with its receipt to our workshop, and we repair it within two weeks.';

test('reads headings that are underlined, numbered, in capitals, marked as in wikis, or alone above a paragraph', async () => {
	const text = `Brook Kettle Manual

${PROSE}

Warranty
========
${PROSE}

Exceptions
----------

1.2 Spare parts

${PROSE}

OPENING HOURS

${PROSE}

## Prices
${PROSE}

== Contact ==

Returns and refunds

${PROSE}
`;
	assert.deepEqual(await blocksOf(text), [
		'h1 Brook Kettle Manual',
		`paragraph ${PROSE}`,
		'h1 Warranty',
		`paragraph ${PROSE}`,
		'h2 Exceptions',
		'h3 1.2 Spare parts',
		`paragraph ${PROSE}`,
		'h2 OPENING HOURS',
		`paragraph ${PROSE}`,
		'h2 Prices',
		`paragraph ${PROSE}`,
		'h1 Contact',
		'h3 Returns and refunds',
		`paragraph ${PROSE}`,
	]);
});

test('a question above its answer is a heading; short lines, greetings and the last line are not, and rulers are left out', async () => {
	const text = `To bring:

tent

lamp

-----

Does it boil milk?

${PROSE}

Kind regards

Anna Smith
`;
	assert.deepEqual(await blocksOf(text), [
		'paragraph To bring:',
		'paragraph tent',
		'paragraph lamp',
		'h3 Does it boil milk?',
		`paragraph ${PROSE}`,
		'paragraph Kind regards',
		'paragraph Anna Smith',
	]);
});

test('lines below which others are indented are entries, and indented first lines begin paragraphs', async () => {
	const entries = `Return policy
    You may return the kettle within 30 days.
Warranty
    Two years, also
    for the lid.`;
	assert.deepEqual(await blocksOf(entries), [
		'item Return policy\nYou may return the kettle within 30 days.',
		'item Warranty\nTwo years, also\nfor the lid.',
	]);
	const prose = `    ${PROSE}\n${PROSE}\n    ${PROSE}\n${PROSE}`;
	assert.deepEqual(await blocksOf(prose), [`paragraph ${PROSE} ${PROSE}`, `paragraph ${PROSE} ${PROSE}`]);
});

test('aligned columns and leaders of dots are rows, and a text below the second column continues it', async () => {
	const hours = `Monday      9-17
Tuesday     9-17
Saturday    9-12, only
            in summer`;
	assert.deepEqual(await blocksOf(hours), [
		'row Monday | 9-17',
		'row Tuesday | 9-17',
		'row Saturday | 9-12, only in summer',
	]);
	assert.deepEqual(await blocksOf('Coffee ........ 2.50\nGreen tea ..... 2.00'), [
		'row Coffee | 2.50',
		'row Green tea | 2.00',
	]);
	assert.deepEqual(await blocksOf('Hours:\n\n    Monday    9-17\n\tTuesday   9-17').then((all) => all.slice(-2)), [
		'row Monday | 9-17',
		'row Tuesday | 9-17',
	]);
	const { blocks } = await parsed('Plan\tMonthly\tYearly\nSolo\t5\t50\nTeam\t9\t90', 'a.txt');
	assert.deepEqual(outlined(blocks), ['row Plan | Monthly | Yearly', 'row Solo | 5 | 50', 'row Team | 9 | 90']);
	assert.deepEqual(blocks[0]?.kind === 'row' && blocks[0].table, { header: true });
});

test('long lines of names and values stay apart, with the lines that each was wrapped into', async () => {
	const text = `Delivery: within two working days in the Netherlands, Belgium and Germany
Payment: by card, by bank transfer, or in cash when you collect the kettle
at our workshop
Returns: within thirty days, unused, with the receipt and the original box`;
	assert.deepEqual(await blocksOf(text), [
		'paragraph Delivery: within two working days in the Netherlands, Belgium and Germany\n' +
			'Payment: by card, by bank transfer, or in cash when you collect the kettle at our workshop\n' +
			'Returns: within thirty days, unused, with the receipt and the original box',
	]);
});

test('a line directly above names with values is their heading', async () => {
	assert.deepEqual(await blocksOf('Sales\nTelephone: 01632 960131\nE-mail: sales@example.com'), [
		'h3 Sales',
		'paragraph Telephone: 01632 960131\nE-mail: sales@example.com',
	]);
});
