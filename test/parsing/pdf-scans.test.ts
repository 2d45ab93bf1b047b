import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from '../../src/parsing/pdf-running-heads.ts';
import { hasScans, recogniseScans } from '../../src/parsing/pdf-scans.ts';

test('no picture of a PDF is decoded whose pages all have text', async () => {
	const text = 'The warranty covers all parts for two years. '.repeat(10);
	const line = { text, page: 1, left: 0, right: 500, baseline: 700, size: 10, isUpright: true, font: null, pieces: [] };
	const pages: Page[] = [{ number: 1, lines: [line], height: 800 }];
	const unopened = Buffer.from('not opened');
	assert.equal(await hasScans(unopened, pages), false);
	await recogniseScans(unopened, pages, { linesOf: () => assert.fail('nothing to recognise') });
	await assert.rejects(hasScans(unopened, [{ number: 1, lines: [], height: 800 }]), { code: 'unreadable_file' });
});
