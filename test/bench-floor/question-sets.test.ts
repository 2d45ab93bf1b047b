import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { test } from 'node:test';
import { QUESTION_KINDS, QUESTION_SETS, readQuestionSets } from '../../bench/answers/question-sets.ts';

/** The files that a checksum covers: not the page about the sets, and not the checksums. */
const isOfSet = (path: string) => /^(open|held)\//.test(path);

function filesIn(folder: string): string[] {
	return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
		const path = join(folder, entry.name);
		return entry.isDirectory() ? filesIn(path) : [path];
	});
}

test('the question sets are as they were before the answers were tuned', () => {
	// The format of sha256sum.
	const listed = readFileSync(join(QUESTION_SETS, 'checksums.txt'), 'utf8').trimEnd().split('\n').sort();
	const present = filesIn(QUESTION_SETS)
		.map((path) => relative(QUESTION_SETS, path).split(sep).join('/'))
		.filter(isOfSet)
		.map((path) => {
			const hash = createHash('sha256')
				.update(readFileSync(join(QUESTION_SETS, path)))
				.digest('hex');
			return `${hash}  ${path}`;
		});
	assert.deepEqual(present.sort(), listed);
});

test('every judged question can be judged', () => {
	const sets = (['open', 'held'] as const).flatMap((half) => readQuestionSets(half).sets);
	const ids = sets.flatMap(({ questions }) => questions.map(({ id }) => id));
	assert.equal(new Set(ids).size, ids.length, 'an id occurs twice');
	const wrong = sets.flatMap(({ documents, questions }) =>
		questions
			.filter(({ answerable, kind, required, sources, question, history, forbidden }) => {
				const groups = answerable
					? required.length > 0 && required.every((group) => group.length > 0)
					: required.length === 0;
				const known =
					QUESTION_KINDS.includes(kind) && sources.every((name) => documents.some(({ key }) => key === name));
				const texts = [question, ...history, ...forbidden, ...required.flat()];
				return !groups || !known || texts.some((text) => text.trim() === '');
			})
			.map(({ id }) => id),
	);
	assert.deepEqual(wrong, []);
});
