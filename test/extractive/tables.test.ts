import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QuotablePassage } from '../../src/extractive/index.ts';
import { citedIndexes } from '../../src/models/index.ts';
import { passage } from '../support/passage.ts';
import { ask } from './fixtures/ask.ts';
import { companyPassages } from './fixtures/company-passages.ts';

/** A table in the text of a passage, read from its lines alone. */
interface TextTable {
	passage: QuotablePassage;
	header: string[];
	rows: string[][];
}

const cellsOf = (line: string) =>
	line
		.replace(/^\|/, ' |')
		.split(/(?<!\\)\|/)
		.map((cell) => cell.trim());

/** The tables of at least three lines with an equal number of cells. */
function tablesOf(one: QuotablePassage): TextTable[] {
	return one.text.split(/\n\n+/).flatMap((block) => {
		const [header, ...rows] = block.split('\n').map(cellsOf);
		const isTable =
			header && header.length > 1 && rows.length > 1 && rows.every(({ length }) => length === header.length);
		return isTable ? [{ passage: one, header, rows }] : [];
	});
}

/** The values of other rows that do not stand in this row or in the names of the columns. */
function foreignValues({ header, rows }: TextTable, row: string[]): string[] {
	const own = [...row, ...header].join(' ').toLowerCase();
	const others = rows.filter((other) => other !== row).flat();
	return [...new Set(others)].filter((value) => value.length > 3 && !own.includes(value.toLowerCase()));
}

test('pairs no row of a table with a value of another row', async () => {
	const tables = (await companyPassages()).flatMap(tablesOf);
	assert.ok(tables.length >= 20, `${tables.length} tables`);
	const wrong: string[] = [];
	let answered = 0;
	let asked = 0;
	for (const table of tables) {
		const isLabel = (text: string) => table.rows.filter(([name]) => name === text).length === 1;
		for (const row of table.rows) {
			const [label = ''] = row;
			if (label === '' || !isLabel(label)) continue;
			const questions = [`${label}?`, ...table.header.slice(1).map((name) => `${label} ${name}?`)];
			for (const question of questions) {
				const answer = await ask(question, [table.passage]);
				asked++;
				if (citedIndexes(answer, [table.passage]).length === 0) continue;
				answered++;
				const lines = answer.split('\n').filter((line) => line.toLowerCase().includes(label.toLowerCase()));
				for (const line of lines) {
					const other = foreignValues(table, row).filter((value) => line.includes(value));
					if (other.length > 0) wrong.push(`${question} → ${line} has ${other.join(', ')}`);
				}
			}
		}
	}
	assert.deepEqual(wrong, []);
	assert.ok(answered > asked * 0.7, `${answered} of ${asked} questions answered`);
});

test('pairs no row of a table with a value of another row in follow-ups', async () => {
	const tables = (await companyPassages()).flatMap(tablesOf);
	const wrong: string[] = [];
	let answered = 0;
	let asked = 0;
	for (const table of tables) {
		const { header, rows } = table;
		for (const [at, row] of rows.entries()) {
			const before = rows[at === 0 ? rows.length - 1 : at - 1] as string[];
			const [label = '', other = ''] = [row[0], before[0]];
			const isUnique = [label, other].every((name) => rows.filter(([own]) => own === name).length === 1);
			const name = header[1 + (at % (header.length - 1))] ?? '';
			if (label === '' || other === '' || name === '' || !isUnique) continue;
			const question = `${other} ${name}?`;
			const reply = await ask(question, [table.passage]);
			const history = [
				{ role: 'user' as const, content: question },
				{ role: 'assistant' as const, content: reply },
			];
			asked++;
			const answer = await ask(`And ${label}?`, [table.passage], { history });
			if (citedIndexes(answer, [table.passage]).length === 0) continue;
			answered++;
			for (const line of answer.split('\n').filter((one) => one.toLowerCase().includes(label.toLowerCase()))) {
				const foreign = foreignValues(table, row).filter((value) => line.includes(value));
				if (foreign.length > 0) wrong.push(`${question} And ${label}? → ${line} has ${foreign.join(', ')}`);
			}
		}
	}
	assert.deepEqual(wrong, []);
	assert.ok(asked >= 100 && answered > asked * 0.6, `${answered} of ${asked} follow-ups answered`);
});

test('gives the value of the row and the column that the question names', async () => {
	const tables = (await companyPassages()).flatMap(tablesOf);
	let right = 0;
	let asked = 0;
	for (const table of tables) {
		// Without an empty corner, the first column may be a value too.
		if (table.header[0] !== '') continue;
		for (const row of table.rows) {
			for (const [column, value] of row.entries()) {
				const [label, name] = [row[0] ?? '', table.header[column] ?? ''];
				if (column === 0 || label === '' || name === '' || value === '') continue;
				asked++;
				const answer = await ask(`${label}, ${name}?`, [table.passage]);
				if (answer.replaceAll('\\', '').includes(`: ${value} [1]`)) right++;
			}
		}
	}
	assert.ok(asked >= 100, `${asked} cells`);
	assert.ok(right >= asked * 0.9, `${right} of ${asked} cells`);
});

const PLANS =
	'| Studio | Firm\nMonthly price | £13 | £22\nStorage | 150 GB | 2 TB\nSupport | E-mail | E-mail and phone';
const ERRORS =
	'Code | Cause | Remedy\nE1 | No water | Fill the tank\nE2 | Too hot | Let it cool for 15 minutes\nE3 | Sensor failed | Unplug the base for one minute';

test('answers with one cell, its labels before it', async () => {
	assert.equal(await ask('What is the monthly price of Studio?', [passage(PLANS)]), 'Monthly price, Studio: £13 [1]');
	assert.equal(await ask('How much storage does Firm have?', [passage(PLANS)]), 'Storage, Firm: 2 TB [1]');
});

test('gives a code with its own cause and remedy', async () => {
	const answer = await ask('What does E3 mean?', [passage(ERRORS)]);
	assert.equal(answer, 'E3 – Cause: Sensor failed; Remedy: Unplug the base for one minute [1]');
});

test('does not answer about a code that no table has', async () => {
	const answer = await ask('What does E7 mean?', [passage(ERRORS)]);
	assert.deepEqual(citedIndexes(answer, [{ index: 1 }]), []);
});

test('a follow-up puts its new name in the place of the old one', async () => {
	const history = [
		{ role: 'user' as const, content: 'What is the monthly price of Studio?' },
		{ role: 'assistant' as const, content: 'Monthly price, Studio: £13 [1]' },
	];
	assert.equal(await ask('And Firm?', [passage(PLANS)], { history }), 'Monthly price, Firm: £22 [1]');
});

test('compares two rows under the same column', async () => {
	const table = 'Course | Fee | Lessons\nCrawl | €104 | 8\nDiving | €132 | 10\nAqua fit | €72 | 12';
	const answer = await ask('Is Crawl or Diving cheaper?', [passage(table)]);
	assert.equal(answer, '- Crawl, Fee: €104\n- Diving, Fee: €132 [1]');
});
