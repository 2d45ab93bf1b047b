import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passage } from '../support/passage.ts';
import { ask } from './fixtures/ask.ts';

const prices = (...countries: string[]) =>
	passage(
		`| Country | Standard | Express |
|---|---|---|
${countries.map((country, at) => `| ${country} | £${at + 3} | £${at + 10} |`).join('\n')}`,
		{ heading_path: ['Delivery'] },
	);

test('selects a row by an acronym or its long form', async () => {
	const long = [prices('United Kingdom', 'United States', 'Germany')];
	const short = [prices('UK', 'US', 'EU')];
	const expected: Array<[question: string, passages: typeof long, answer: string]> = [
		['What does express delivery to the UK cost?', long, 'United Kingdom, Express: £10 [1]'],
		['What does express delivery to the US cost?', long, 'United States, Express: £11 [1]'],
		['What does express delivery to the United Kingdom cost?', short, 'UK, Express: £10 [1]'],
		['What does standard delivery to the United States cost?', short, 'US, Standard: £4 [1]'],
		['What does standard delivery to the European Union cost?', short, 'EU, Standard: £5 [1]'],
	];
	for (const [question, passages, answer] of expected) assert.equal(await ask(question, passages), answer, question);
});

test('reads the acronyms that the passages define', async () => {
	const passages = [
		passage('Our Service Level Agreement (SLA) is part of each contract.', { heading_path: ['Contracts'] }),
		passage('The service level agreement promises an availability of 99.9 % per month.', {
			index: 2,
			heading_path: ['Availability'],
		}),
	];
	assert.match(await ask('What does the SLA promise?', passages), /^The service level agreement promises .* \[2\]/);
});
