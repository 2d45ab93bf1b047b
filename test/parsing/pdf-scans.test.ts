import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { RecognisedLine } from '../../src/contract/index.ts';
import { parsePdf } from '../../src/parsing/pdf.ts';
import type { PdfPage } from '../../src/parsing/pdf-document.ts';
import { drawPictures } from '../../src/parsing/pdf-pictures.ts';
import type { Page } from '../../src/parsing/pdf-running-heads.ts';
import { hasScans, recogniseScans } from '../../src/parsing/pdf-scans.ts';
import { pdfOf } from '../fixtures/documents/pdf.ts';

test('no picture of a PDF is decoded whose pages all have text', async () => {
	const text = 'The warranty covers all parts for two years. '.repeat(10);
	const line = { text, page: 1, left: 0, right: 500, baseline: 700, size: 10, isUpright: true, font: null, pieces: [] };
	const pages: Page[] = [{ number: 1, lines: [line], height: 800 }];
	const unopened = Buffer.from('not opened');
	assert.equal(await hasScans(unopened, pages), false);
	await recogniseScans(unopened, pages, { isExhausted: false, linesOf: () => assert.fail('nothing to recognise') });
	await assert.rejects(hasScans(unopened, [{ number: 1, lines: [], height: 800 }]), { code: 'unreadable_file' });
});

/** Two scanned pages. */
const SCAN = new URL('../fixtures/documents/scan.pdf', import.meta.url);

test('pages that were not reached in time, or could not be recognised, are missing with a reason, and the others are kept', async () => {
	const bytes = await readFile(SCAN);
	const line: RecognisedLine = { words: [{ text: 'Recognised', left: 10, right: 90 }], baseline: 20, size: 10 };
	const missingAfter = async (answers: Array<RecognisedLine[] | null>) => {
		let pages = 0;
		const recogniser = {
			get isExhausted() {
				return pages >= answers.length;
			},
			linesOf: async () => answers[pages++] ?? null,
		};
		const { blocks, missing_text } = await parsePdf(bytes, recogniser);
		return [blocks.filter(({ text }) => text.includes('Recognised')).length, missing_text];
	};
	assert.deepEqual(await missingAfter([[line], [line]]), [2, undefined]);
	const start = 'of 2 scanned pages is missing: ';
	const late = 'the time limit of text recognition (OCR) ended before';
	assert.deepEqual(await missingAfter([[line]]), [1, `The text of 1 ${start}${late} 1.`]);
	assert.deepEqual(await missingAfter([]), [0, `The text of 2 ${start}${late} 2.`]);
	const failed = 'the recognition of 1 failed or took too long.';
	assert.deepEqual(await missingAfter([null, [line]]), [1, `The text of 1 ${start}${failed}`]);
});

test('keeps the pages up to the limit of a document, and names the number of the others', async () => {
	const bytes = await readFile(SCAN);
	const line: RecognisedLine = { words: [{ text: 'Recognised', left: 10, right: 90 }], baseline: 20, size: 10 };
	const pages: Page[] = [1, 2].map((number) => ({ number, lines: [], height: 800 }));
	const missing = await recogniseScans(bytes, pages, { isExhausted: false, linesOf: async () => [line] }, 1);
	assert.equal(missing, 'The text of 1 of 2 scanned pages is missing: 1 are above the limit of a document.');
	assert.deepEqual(
		pages.map(({ lines }) => lines.length),
		[1, 0],
	);
});

test('converts a picture once that a page paints many times, and not more pixels than a page may have', async () => {
	const decoded: string[] = [];
	const objs = {
		get(name: string, use: (picture: object) => void) {
			decoded.push(name);
			use({ width: 2, height: 2, kind: 1, data: new Uint8Array(2) });
		},
	};
	const page = { objs, commonObjs: objs } as unknown as PdfPage;
	/** A fine picture is small on the page, so that it does not make the raster fine. */
	const paint = (data: string, side = 2) => ({
		matrix: side > 2 ? ([10, 0, 0, 10, 0, 0] as const) : ([100, 0, 0, 100, 0, 0] as const),
		width: side,
		height: side,
		isMask: false,
		data,
	});
	const pictures = [...Array.from({ length: 400 }, () => paint('a')), paint('b')];
	assert.ok(await drawPictures(page, { width: 100, height: 100, pictures }));
	assert.deepEqual(decoded, ['a', 'b']);
	decoded.length = 0;
	const large = Array.from({ length: 50 }, (_, at) => paint(`large ${at}`, 6_000));
	assert.ok(await drawPictures(page, { width: 100, height: 100, pictures: [paint('a'), ...large] }));
	assert.equal(decoded.length, 3, '36 million pixels each');
});

for (const filter of ['JBIG2Decode', 'JPXDecode']) {
	test(`a scan whose pictures cannot be decoded (${filter}) says so`, async () => {
		const objects = [
			'<</Type/Catalog/Pages 2 0 R>>',
			'<</Type/Pages/Kids[3 0 R]/Count 1>>',
			'<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Resources<</XObject<</I 4 0 R>>>>/Contents 5 0 R>>',
			`<</Type/XObject/Subtype/Image/Width 50/Height 50/BitsPerComponent 1/ColorSpace/DeviceGray/Filter/${filter}/Length 4>>stream\nabcd\nendstream`,
			'<</Length 28>>stream\nq 200 0 0 200 0 0 cm /I Do Q\nendstream',
		];
		const { blocks, missing_text } = await parsePdf(pdfOf(objects), { isExhausted: false, linesOf: async () => [] });
		assert.deepEqual(blocks, []);
		assert.match(
			missing_text ?? '',
			/^The text of 1 of 1 scanned pages is missing: the pictures of 1 cannot be decoded/,
		);
	});
}
