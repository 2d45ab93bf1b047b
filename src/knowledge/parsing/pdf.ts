import { getResolvedPDFJS } from 'unpdf';
import { AppError, messageOf } from '../../base/index.ts';
import { type Block, type ExtractedDocument, languageOf, oneLine } from './blocks.ts';
import { MAX_PAGES, TextBudget } from './limits.ts';
import { refusePdfBomb } from './pdf-bomb.ts';
import { dropFurniture, type Page } from './pdf-furniture.ts';
import { headingLevels, type OutlineEntry } from './pdf-headings.ts';
import { layOut } from './pdf-layout.ts';
import { linesOf, type TextRun } from './pdf-lines.ts';

type PdfDocument = Awaited<ReturnType<Awaited<ReturnType<typeof getResolvedPDFJS>>['getDocument']>['promise']>;

const OUTLINE_ENTRIES = 5000;

/**
 * Reads the text of a PDF, page by page. A scan has none and gives no blocks.
 * @throws AppError `unreadable_file` with a sentence that says what is wrong with it
 */
export async function parsePdf(bytes: Uint8Array): Promise<ExtractedDocument> {
	await refusePdfBomb(bytes);
	const pdf = await open(bytes);
	try {
		if (pdf.numPages > MAX_PAGES) {
			const pages = `${pdf.numPages} pages`;
			throw new AppError('unreadable_file', `The PDF has ${pages}; at most ${MAX_PAGES} are read. Split it.`);
		}
		const pages = await readPages(pdf);
		dropFurniture(pages);
		const lines = pages.flatMap((page) => page.lines);
		const blocks = layOut(lines, headingLevels(lines, await outlineOf(pdf)));
		const { title, language } = await declaredBy(pdf);
		return {
			format: 'pdf',
			title: title ?? titleHeading(blocks),
			declared_language: language,
			page_count: pdf.numPages,
			blocks,
		};
	} finally {
		await pdf.destroy();
	}
}

/** A first heading that reads like a title; one with a number heads a section, one with more signs than letters a form. */
function titleHeading(blocks: Block[]): string | null {
	const first = blocks.find((block) => block.kind === 'heading');
	if (first?.kind !== 'heading' || first.level !== 1 || first.page !== 1 || /^[\d§]/.test(first.text)) return null;
	const letters = first.text.match(/\p{L}/gu)?.length ?? 0;
	return letters >= 0.6 * first.text.length ? first.text : null;
}

async function open(bytes: Uint8Array): Promise<PdfDocument> {
	const { getDocument } = await getResolvedPDFJS();
	try {
		// PDF.js takes the buffer for itself. Nothing is ever fetched and no code is made from fonts.
		return await getDocument({
			data: new Uint8Array(bytes),
			isEvalSupported: false,
			useWorkerFetch: false,
			disableFontFace: true,
			useSystemFonts: false,
			enableXfa: false,
			verbosity: 0,
		}).promise;
	} catch (error) {
		throw refusal(error);
	}
}

function refusal(error: unknown): AppError {
	const name = error instanceof Error ? error.name : '';
	const message =
		name === 'PasswordException'
			? 'The PDF is protected with a password. Remove the password and upload it again.'
			: 'The PDF is damaged or is no PDF: it cannot be opened.';
	return new AppError('unreadable_file', message, { cause: messageOf(error) });
}

/** One bad page does not lose the others; only where none can be read the file is at fault. */
async function readPages(pdf: PdfDocument): Promise<Page[]> {
	const pages: Page[] = [];
	const budget = new TextBudget();
	let failure: unknown;
	for (let number = 1; number <= pdf.numPages; number++) {
		try {
			pages.push(await readPage(pdf, number));
		} catch (error) {
			failure = error;
			continue;
		}
		for (const line of pages.at(-1)?.lines ?? []) budget.take(line.text);
	}
	if (pages.length === 0) throw refusal(failure);
	return pages;
}

async function readPage(pdf: PdfDocument, number: number): Promise<Page> {
	const page = await pdf.getPage(number);
	const { items } = await page.getTextContent();
	const runs = items.filter((item): item is typeof item & TextRun => 'str' in item);
	const [, bottom = 0, , top = 0] = page.view;
	page.cleanup();
	const lines = linesOf(runs, number);
	// Pages may be cut out of a larger sheet: count from their own lower edge.
	for (const line of lines) if (line.upright) line.level -= bottom;
	return { lines, height: top - bottom };
}

/** The outline flattened; what is wrong with it makes it absent. */
async function outlineOf(pdf: PdfDocument): Promise<OutlineEntry[]> {
	type Node = { title: string; items: Node[] };
	const entries: OutlineEntry[] = [];
	const add = (nodes: Node[], level: number) => {
		for (const node of nodes) {
			if (entries.length === OUTLINE_ENTRIES) return;
			entries.push({ title: node.title, level });
			add(node.items, level + 1);
		}
	};
	add(((await pdf.getOutline().catch(() => null)) ?? []) as Node[], 1);
	return entries;
}

/** Titles that programs write by themselves. */
const NO_TITLE =
	/^(?:untitled|document\d*|title|microsoft \w+ - .*|.*\.(?:docx?|txt|rtf|odt|tex|dvi|indd|qxd|pdf|pages))$/i;

async function declaredBy(pdf: PdfDocument): Promise<{ title: string | null; language: string | null }> {
	const metadata = await pdf.getMetadata().catch(() => null);
	const info = (metadata?.info ?? {}) as { Title?: unknown; Language?: unknown };
	const title = typeof info.Title === 'string' ? oneLine(info.Title) : '';
	return {
		title: title === '' || NO_TITLE.test(title) ? null : title,
		language: typeof info.Language === 'string' ? languageOf(info.Language) : null,
	};
}
