import type { GrayPicture, RecognisedLine } from '../contract/index.ts';
import { openPdf, type PdfDocument, type PdfPage } from './pdf-document.ts';
import { type Line, visibleText } from './pdf-lines.ts';
import { coverageOf, drawPictures, MAX_PICTURE_PIXELS, type PageRaster, picturesOf } from './pdf-pictures.ts';
import type { Page } from './pdf-running-heads.ts';

/** Reads the text in pictures. */
export interface TextRecogniser {
	/** The lines of a page in reading order; null if they cannot be read. */
	linesOf(page: GrayPicture): Promise<RecognisedLine[] | null>;
	/** Whether the time of the document is used up: its other pages are not recognised. */
	readonly isExhausted: boolean;
}

/** Scanned pages by what became of them. */
interface ScanCounts {
	scanned: number;
	/** Pages for which the time did not suffice. */
	late: number;
	/** Pages after those that one document may have. */
	above: number;
	/** Pages whose recognition failed or took too long. */
	failed: number;
	/** Pages whose pictures cannot be decoded. */
	undecodable: number;
}

/** What to do about scanned pages: find out whether there are any, or read them. */
export type ScanHandling = 'detect' | TextRecogniser | undefined;

/** Letters and digits of a page that may be a scan with a stamp, a page number or a heading. */
const MAX_SCAN_LETTERS = 200;
/** The least share of a scan that a picture covers. */
const MIN_COVERAGE = 0.25;
/** Milliseconds after which a document goes to text recognition undecided. A page with pictures takes 20 to 200. */
const MAX_EXAMINATION_MS = 8_000;
/** Pages, spread over the document, that are examined first. */
const SAMPLE_PAGES = 8;
const MAX_SCANNED_PAGES = 300;
/** Sizes of letters nearer to the most frequent one are equal to it: measured sizes vary. */
const MAX_SIZE_DEVIATION = 0.2;
/** A larger gap between words, in sizes of the letters, is one between columns. */
const COLUMN_GAP = 0.8;

/** Whether a page may be a scan. */
function hasLittleText({ lines }: Page): boolean {
	let letters = 0;
	for (const { text } of lines) letters += text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
	return letters < MAX_SCAN_LETTERS;
}

/**
 * Whether a document has scanned pages. If the time does not suffice to examine all pages of little text, it is assumed: they are
 * examined when they are recognised.
 */
export async function hasScans(bytes: Uint8Array, pages: readonly Page[]): Promise<boolean> {
	const candidates = pages.filter(hasLittleText);
	if (candidates.length === 0) return false;
	return withPictures(bytes, async (pdf) => {
		const end = performance.now() + MAX_EXAMINATION_MS;
		for (const { number } of sampleFirst(candidates)) {
			if (performance.now() > end || (await isScan(pdf, number))) return true;
		}
		return false;
	});
}

/** All items, beginning with some that are spread evenly. */
function sampleFirst<T>(items: readonly T[]): T[] {
	const step = Math.ceil(items.length / SAMPLE_PAGES);
	const isSampled = (index: number) => index % step === 0;
	return [...items.filter((_, index) => isSampled(index)), ...items.filter((_, index) => !isSampled(index))];
}

/**
 * Adds the text of scanned pages, in place.
 * @returns a sentence about the pages whose text is missing; null if there are none
 */
export async function recogniseScans(
	bytes: Uint8Array,
	pages: readonly Page[],
	recogniser: TextRecogniser,
	maxPages = MAX_SCANNED_PAGES,
): Promise<string | null> {
	const candidates = pages.filter(hasLittleText);
	if (candidates.length === 0) return null;
	return missingTextSentence(await withPictures(bytes, (pdf) => recognisePages(pdf, candidates, recogniser, maxPages)));
}

function missingTextSentence({ scanned, late, above, failed, undecodable }: ScanCounts): string | null {
	const causes: string[] = [];
	if (late > 0) causes.push(`the time limit of text recognition (OCR) ended before ${late}`);
	if (above > 0) causes.push(`${above} are above the limit of a document`);
	if (failed > 0) causes.push(`the recognition of ${failed} failed or took too long`);
	if (undecodable > 0) causes.push(`the pictures of ${undecodable} cannot be decoded (JBIG2 and JPEG 2000 cannot)`);
	if (causes.length === 0) return null;
	return `The text of ${late + above + failed + undecodable} of ${scanned} scanned pages is missing: ${causes.join(', ')}.`;
}

async function recognisePages(
	pdf: PdfDocument,
	candidates: readonly Page[],
	recogniser: TextRecogniser,
	maxPages: number,
): Promise<ScanCounts> {
	const counts: ScanCounts = { scanned: 0, late: 0, above: 0, failed: 0, undecodable: 0 };
	const recognised: Line[] = [];
	for (const page of candidates) {
		const isAbove = counts.scanned >= maxPages;
		if (recogniser.isExhausted || isAbove) {
			if (await isScan(pdf, page.number)) {
				counts.scanned++;
				counts[isAbove ? 'above' : 'late']++;
			}
			continue;
		}
		const scan = await scanOf(pdf, page.number);
		if (scan === null) continue;
		counts.scanned++;
		const { raster, height } = scan;
		if (raster === null) {
			counts.undecodable++;
			continue;
		}
		const found = await recogniser.linesOf(raster);
		if (found === null) {
			counts.failed++;
			continue;
		}
		const lines = found.map((line) => pageLine(line, page.number, raster));
		if (page.lines.length === 0) page.height = height;
		const added = lines.filter((line) => !page.lines.some((drawn) => overlap(drawn, line)));
		page.lines.push(...added);
		recognised.push(...added);
	}
	equalizeSizes(recognised);
	return counts;
}

/** A scanned page. */
interface Scan {
	/** The height of the page in points. */
	height: number;
	/** Null if its pictures cannot be decoded. */
	raster: PageRaster | null;
}

/** Whether pictures cover so much of a page that it may be a scan. */
function isScan(pdf: PdfDocument, number: number): Promise<boolean> {
	return withPage(pdf, number, async (page) => coverageOf(await picturesOf(page)) >= MIN_COVERAGE, false);
}

/** The pictures of a page as one; null if it is no scan. */
function scanOf(pdf: PdfDocument, number: number): Promise<Scan | null> {
	const draw = async (page: PdfPage) => {
		const pictures = await picturesOf(page);
		if (coverageOf(pictures) < MIN_COVERAGE) return null;
		return { height: pictures.height, raster: await drawPictures(page, pictures) };
	};
	return withPage(pdf, number, draw, null);
}

/** Opens a PDF with its pictures. Only pages of little text are used so: a page of text may have pictures that no memory holds. */
async function withPictures<T>(bytes: Uint8Array, use: (pdf: PdfDocument) => Promise<T>): Promise<T> {
	const pdf = await openPdf(bytes, MAX_PICTURE_PIXELS);
	try {
		return await use(pdf);
	} finally {
		await pdf.destroy();
	}
}

/** Uses a page, and then frees its decoded pictures. A damaged page does not affect the others. */
async function withPage<T>(
	pdf: PdfDocument,
	number: number,
	use: (page: PdfPage) => Promise<T>,
	fallback: T,
): Promise<T> {
	try {
		const page = await pdf.getPage(number);
		try {
			return await use(page);
		} finally {
			page.cleanup();
		}
	} catch {
		return fallback;
	}
}

/** A recognised line in points from the lower left corner of its page. */
function pageLine({ words, baseline, size }: RecognisedLine, page: number, { height, scale }: PageRaster): Line {
	const pieces: Line['pieces'] = [];
	for (const { text, left, right } of words) {
		const last = pieces.at(-1);
		if (last !== undefined && left / scale - last.right < (COLUMN_GAP * size) / scale) {
			last.text += ` ${text}`;
			last.right = Math.max(last.right, right / scale);
		} else pieces.push({ text: visibleText(text), left: left / scale, right: right / scale });
	}
	return {
		text: visibleText(words.map(({ text }) => text).join(' ')),
		page,
		left: Math.min(...pieces.map(({ left }) => left)),
		right: Math.max(...pieces.map(({ right }) => right)),
		baseline: (height - baseline) / scale,
		size: size / scale,
		isUpright: true,
		font: null,
		pieces,
	};
}

/** Whether two lines stand at the same place: the page has the text of its scan already. */
function overlap(drawn: Line, found: Line): boolean {
	return (
		Math.abs(drawn.baseline - found.baseline) < 0.6 * found.size && drawn.left < found.right && drawn.right > found.left
	);
}

/** Gives body text one size, so that headings differ from it by theirs. */
function equalizeSizes(lines: Line[]): void {
	const sizes = lines.flatMap(({ size, text }) => Array.from({ length: Math.ceil(text.length / 10) }, () => size));
	const body = sizes.sort((a, b) => a - b)[sizes.length >> 1];
	if (body === undefined) return;
	for (const line of lines) if (Math.abs(line.size - body) < MAX_SIZE_DEVIATION * body) line.size = body;
}
