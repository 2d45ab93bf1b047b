import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ALL_BOMBS } from '../fixtures/documents/all-bombs.ts';
import { RANDOM_BOMBS } from '../fixtures/documents/bombs.ts';

/** The heap in MB, less than a parser has in the server. */
const HEAP_MB = 400;

interface Outcome {
	name: string;
	end: string;
}

/** Parses a corpus in a separate process with a small heap. Rejects with the last output if the process crashes. */
function parseCorpus(corpus: 'known' | 'random'): Promise<Outcome[]> {
	const program = fileURLToPath(new URL('./parse-bombs.ts', import.meta.url));
	const args = [`--max-old-space-size=${HEAP_MB}`, '--import', 'tsx', program, corpus];
	return new Promise((resolve, reject) => {
		execFile(process.execPath, args, { maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
			if (error) reject(new Error(`${error.message}\n${stdout.slice(-300)}\n${stderr.slice(-1000)}`));
			else
				resolve(
					stdout
						.trim()
						.split('\n')
						.map((line) => JSON.parse(line))
						.filter((line) => 'end' in line),
				);
		});
	});
}

const READ = ['text', 'no_text'];

test('rejects or reads every known bomb in a small heap', async () => {
	const outcomes = await parseCorpus('known');
	assert.equal(outcomes.length, ALL_BOMBS.length);
	const wrong = outcomes.filter(({ end }, index) => {
		const expected = ALL_BOMBS[index]?.end;
		return expected === 'any' ? ![...READ, 'resource_limit', 'unreadable_file'].includes(end) : end !== expected;
	});
	assert.deepEqual(wrong, []);
});

test('reads or rejects random sequences of tags, marks and elements in a small heap', async () => {
	const outcomes = await parseCorpus('random');
	assert.equal(outcomes.length, RANDOM_BOMBS);
	const codes = [...READ, 'resource_limit', 'unreadable_file', 'unsupported_file_type'];
	assert.deepEqual(
		outcomes.filter(({ end }) => !codes.includes(end)),
		[],
	);
});
