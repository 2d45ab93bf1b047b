import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ParsedDocument } from '../../src/contract/index.ts';
import parse from '../../workers/parse.ts';
import {
	noSharedDocuments,
	SHARED_DOCUMENTS,
	type SharedDocument,
	sharedDocuments,
} from '../support/shared-documents.ts';

const plain = (text: string) => text.normalize('NFKC').toLowerCase();
const wordsIn = (text: string) => new Set(plain(text).match(/[\p{L}\p{N}]+/gu) ?? []);

function allText(document: ParsedDocument): string {
	return [document.title ?? '', ...document.chunks.flatMap((chunk) => [...chunk.heading_path, chunk.text])].join('\n');
}

/** The F1 score of words: the harmonic mean of recall and precision. */
function agreement(found: Set<string>, expected: Set<string>): number {
	const both = [...found].filter((word) => expected.has(word)).length;
	return (2 * both) / (found.size + expected.size);
}

function checkText(document: ParsedDocument, entry: SharedDocument): void {
	const text = plain(allText(document));
	const contains = entry.contains ?? [];
	const missing = contains.filter((word) => !text.includes(plain(word)));
	assert.ok(missing.length <= 0.05 * contains.length, `missing: ${missing.join(' ')}`);
	assert.ok(document.chunks.length > 0);
	const body = wordsIn(document.chunks.map((chunk) => chunk.text).join('\n'));
	const around = (entry.boilerplate ?? []).filter((word) => body.has(plain(word)));
	assert.ok(around.length <= 0.1 * (entry.boilerplate?.length ?? 0), `boilerplate: ${around.join(' ')}`);
	if (entry.title !== undefined)
		assert.ok(plain(document.title ?? '').includes(plain(entry.title)), String(document.title));
	if (entry.pages !== undefined) assert.equal(document.page_count, entry.pages);
	const lines = new Set(document.chunks.flatMap((chunk) => [...chunk.heading_path, ...chunk.text.split('\n')]));
	const lost = (entry.headings ?? []).filter(([, heading]) => !lines.has(heading));
	assert.deepEqual(lost, []);
	// The reference of Word documents leaves out notes, but notes are text.
	if (entry.expected_text !== undefined && !entry.file.includes('footnotes')) {
		const expected = wordsIn(readFileSync(new URL(entry.expected_text, SHARED_DOCUMENTS), 'utf8'));
		assert.ok(agreement(wordsIn(allText(document)), expected) >= 0.9);
	}
	for (const chunk of document.chunks) {
		if (document.page_count !== null) assert.ok((chunk.page ?? 0) >= 1 && (chunk.page ?? 0) <= document.page_count);
		assert.ok(chunk.body_terms !== '' && chunk.text.length < 5000);
	}
}

describe('real documents', { skip: noSharedDocuments }, () => {
	for (const entry of sharedDocuments) {
		test(`${entry.file} ends as ${entry.expect}`, { timeout: 120_000 }, async () => {
			const path = fileURLToPath(new URL(entry.file, SHARED_DOCUMENTS));
			const answer = await parse({ path, file_name: basename(path), content_type: null, title: null, url: null });
			if (entry.expect === 'text') {
				assert.ok(answer.ok, JSON.stringify(answer));
				checkText(answer.value, entry);
			} else if (entry.expect === 'no_text') {
				const length = answer.ok ? answer.value.chunks.reduce((sum, chunk) => sum + chunk.text.length, 0) : 0;
				assert.ok(answer.ok ? length > 0 && length < 100 : answer.error.code === 'no_text');
			} else if (entry.expect === 'password') {
				assert.ok(!answer.ok && answer.error.code === 'unreadable_file');
				assert.match(answer.error.message, /password/);
			} else if (entry.expect === 'malformed' || entry.expect === 'no_text_or_error') {
				assert.ok(!answer.ok && ['no_text', 'unreadable_file'].includes(answer.error.code), JSON.stringify(answer));
			} else if (!answer.ok) {
				assert.match(answer.error.code, /^(?:no_text|unreadable_file|unsupported_file_type)$/);
			}
		});
	}
});
