import { AppError } from '../base/index.ts';
import { type Block, type ExtractedDocument, languageOf, toSingleLine } from './blocks.ts';
import { MAX_PAGES, resourceLimit, TextBudget } from './limits.ts';
import { requireNoPdfBomb } from './pdf-bomb.ts';
import { NO_PICTURES, openFailure, openPdf, type PdfDocument } from './pdf-document.ts';
import { boldFonts } from './pdf-fonts.ts';
import { addFormValues } from './pdf-forms.ts';
import { headingLevels, type OutlineEntry } from './pdf-headings.ts';
import { linesToBlocks } from './pdf-layout.ts';
import { removeLeaders } from './pdf-leaders.ts';
import { type Line, LineWriter, type TextRun } from './pdf-lines.ts';
import { type Page, removeRunningHeads } from './pdf-running-heads.ts';
import { hasScans, recogniseScans, type ScanHandling } from './pdf-scans.ts';

const MAX_OUTLINE_ENTRIES = 5000;
/** Each chunk keeps the headings above it, one for each level. */
const MAX_OUTLINE_LEVELS = 9;
/** Text runs. A page of prose has 50 to 1,000. */
const MAX_RUNS = 5_000_000;

/**
 * Reads the text of a PDF, page by page. A scan has none: it is looked for, or its text recognised, only as `scans` says.
 * @throws AppError `unreadable_file` or `resource_limit` with a sentence that names the problem
 */
export async function parsePdf(bytes: Uint8Array, scans: ScanHandling = undefined): Promise<ExtractedDocument> {
	const { hasLargeDrawing } = await requireNoPdfBomb(bytes);
	const pdf = await openPdf(bytes, NO_PICTURES);
	try {
		if (pdf.numPages > MAX_PAGES) {
			const pages = `${pdf.numPages} pages`;
			throw resourceLimit(`The PDF has ${pages}; at most ${MAX_PAGES} are read. Split it.`);
		}
		const budget = new PageBudget();
		const pages = await readPages(pdf, budget);
		const found = scans === 'detect' && (await hasScans(bytes, pages));
		const missing = typeof scans === 'object' ? await recogniseScans(bytes, pages, scans) : null;
		await addFormValues(pdf, pages, budget);
		removeRunningHeads(pages);
		const lines = pages.flatMap((page) => page.lines);
		removeLeaders(lines);
		const outline = await outlineOf(pdf);
		// The operators of a large drawing, which tell the fonts, could exhaust the memory.
		const bold = hasLargeDrawing ? new Set<string>() : await boldFonts(pdf, pages);
		const blocks = linesToBlocks(lines, headingLevels(lines, outline, bold));
		const { title, language } = await metadataOf(pdf);
		return {
			format: 'pdf',
			title: title ?? titleHeading(blocks),
			declared_language: language,
			page_count: pdf.numPages,
			has_scans: found,
			...(missing === null ? {} : { missing_text: missing }),
			blocks,
		};
	} finally {
		await pdf.destroy();
	}
}

/** A first heading that looks like a title. A heading with a number belongs to a section, and a heading with more signs than letters to a form. */
function titleHeading(blocks: Block[]): string | null {
	const first = blocks.find((block) => block.kind === 'heading');
	if (first?.kind !== 'heading' || first.level !== 1 || first.page !== 1 || /^[\d§]/.test(first.text)) return null;
	const letters = first.text.match(/\p{L}/gu)?.length ?? 0;
	return letters >= 0.6 * first.text.length ? first.text : null;
}

/** A bad page does not affect the others. The file is unreadable only if no page can be read. */
async function readPages(pdf: PdfDocument, budget: PageBudget): Promise<Page[]> {
	const pages: Page[] = [];
	let failure: unknown;
	for (let number = 1; number <= pdf.numPages; number++) {
		try {
			pages.push(await readPage(pdf, number, budget));
		} catch (error) {
			if (error instanceof AppError) throw error;
			failure = error;
		}
	}
	if (pages.length === 0) throw openFailure(failure);
	return pages;
}

/** The limits of all pages together. */
class PageBudget extends TextBudget {
	#runs = 0;

	/** @throws AppError `resource_limit` */
	spendRun(): void {
		if (++this.#runs > MAX_RUNS)
			throw resourceLimit('The PDF draws its text in too many pieces. Split it into smaller files.');
	}
}

/** Reads a page's text as a stream, so that an endless page is given up early. */
async function readPage(pdf: PdfDocument, number: number, budget: PageBudget): Promise<Page> {
	const page = await pdf.getPage(number);
	const lines: Line[] = [];
	const writer = new LineWriter(number, (line) => {
		budget.spend(line.text);
		lines.push(line);
	});
	const reader = page.streamTextContent().getReader();
	try {
		for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
			for (const item of value.items as Array<TextRun | { type: string }>) {
				if (!('str' in item)) continue;
				budget.spendRun();
				writer.add(item);
			}
		}
		writer.end();
	} catch (error) {
		await reader.cancel(error).catch(() => {});
		throw error;
	} finally {
		page.cleanup();
	}
	const [, bottom = 0, , top = 0] = page.view;
	// Pages may be cropped from a larger sheet: count from their own lower edge.
	for (const line of lines) if (line.isUpright) line.baseline -= bottom;
	return { number, lines, height: top - bottom };
}

/** The flattened outline; empty if it is damaged. */
async function outlineOf(pdf: PdfDocument): Promise<OutlineEntry[]> {
	type Node = { title: string; items: Node[] };
	const entries: OutlineEntry[] = [];
	const add = (nodes: Node[], level: number) => {
		for (const node of nodes) {
			if (entries.length === MAX_OUTLINE_ENTRIES) return;
			entries.push({ title: node.title, level });
			add(node.items, Math.min(level + 1, MAX_OUTLINE_LEVELS));
		}
	};
	add(((await pdf.getOutline().catch(() => null)) ?? []) as Node[], 1);
	return entries;
}

/** Titles that programs generate. */
const NO_TITLE =
	/^(?:untitled|document\d*|title|microsoft \w+ - .*|.*\.(?:docx?|txt|rtf|odt|tex|dvi|indd|qxd|pdf|pages|html?|xlsx?|pptx?))$/i;

async function metadataOf(pdf: PdfDocument): Promise<{ title: string | null; language: string | null }> {
	const metadata = await pdf.getMetadata().catch(() => null);
	const info = (metadata?.info ?? {}) as { Title?: unknown; Language?: unknown };
	const title = typeof info.Title === 'string' ? toSingleLine(info.Title) : '';
	return {
		title: title === '' || NO_TITLE.test(title) ? null : title,
		language: typeof info.Language === 'string' ? languageOf(info.Language) : null,
	};
}
