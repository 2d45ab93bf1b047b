import type { PdfDocument } from './pdf-document.ts';
import type { Page } from './pdf-running-heads.ts';

/** Pages whose fonts are loaded. A document has the same few fonts on most of its pages. */
const MAX_EXAMINED_PAGES = 8;
const BOLD = /bold|black|heavy|demi|[-,]b(?:d|i)?$/i;

/** A font as PDF.js loads it. */
interface LoadedFont {
	name?: unknown;
	bold?: unknown;
	black?: unknown;
}

/** The fonts of the lines that are bold. PDF.js gives the properties of a font only with the operators of a page that uses it. */
export async function boldFonts(pdf: PdfDocument, pages: readonly Page[]): Promise<ReadonlySet<string>> {
	const bold = new Set<string>();
	const known = new Set<string>();
	let examined = 0;
	for (const { number, lines } of pages) {
		const unknown = new Set(lines.flatMap(({ font }) => (font === null || known.has(font) ? [] : [font])));
		if (unknown.size === 0) continue;
		if (++examined > MAX_EXAMINED_PAGES) break;
		const page = await pdf.getPage(number);
		try {
			await page.getOperatorList();
			// A font is there one turn of the event loop after the operators that use it.
			await new Promise(setImmediate);
			for (const font of unknown) {
				known.add(font);
				if (page.commonObjs.has(font) && isBold(page.commonObjs.get(font))) bold.add(font);
			}
		} catch {
			// A damaged page has no headings of another weight.
		} finally {
			page.cleanup();
		}
	}
	return bold;
}

function isBold({ name, bold, black }: LoadedFont): boolean {
	return bold === true || black === true || (typeof name === 'string' && BOLD.test(name));
}
