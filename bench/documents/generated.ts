import { strToU8, zipSync } from 'fflate';
import type { Corpus } from '../search/corpus.ts';

/** Characters of a page in formats without pages. */
const PAGE_CHARS = 3000;
const LINE_CHARS = 90;
const SENTENCE_WORDS = 12;
const CONTENT_TYPES =
	'<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">' +
	'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
	'<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>';
const RELATIONS =
	'<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">' +
	'<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>';

/** A page of a document: a heading, and paragraphs of sentences. */
interface Page {
	heading: string;
	paragraphs: string[];
}

/** A generated file. */
export interface GeneratedFile {
	file_name: string;
	content_type: string;
	bytes: Uint8Array;
}

/** The generated formats and their writers. */
export const FORMATS: Record<string, (name: string, pages: readonly Page[]) => GeneratedFile> = {
	pdf: (name, pages) => ({ file_name: `${name}.pdf`, content_type: 'application/pdf', bytes: pdf(pages) }),
	docx: (name, pages) => ({
		file_name: `${name}.docx`,
		content_type: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
		bytes: docx(pages),
	}),
	html: (name, pages) => ({ file_name: `${name}.html`, content_type: 'text/html', bytes: strToU8(html(name, pages)) }),
	md: (name, pages) => ({ file_name: `${name}.md`, content_type: 'text/markdown', bytes: strToU8(markdown(pages)) }),
	txt: (name, pages) => ({ file_name: `${name}.txt`, content_type: 'text/plain', bytes: strToU8(plain(pages)) }),
};

/** Pages of generated text. Each call returns other pages of the corpus. */
export function pagesOf(corpus: Corpus, count: number): Page[] {
	return Array.from({ length: count }, () => {
		const { title, chunks } = corpus.document(3);
		let left = PAGE_CHARS;
		const paragraphs = chunks.map(({ text }) => {
			const paragraph = sentences(text).slice(0, left);
			left -= paragraph.length;
			return paragraph;
		});
		return { heading: title, paragraphs: paragraphs.filter((paragraph) => paragraph !== '') };
	});
}

function sentences(text: string): string {
	const words = text.split(' ');
	const found: string[] = [];
	for (let at = 0; at < words.length; at += SENTENCE_WORDS) {
		const sentence = words.slice(at, at + SENTENCE_WORDS).join(' ');
		found.push(`${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`);
	}
	return found.join(' ');
}

function plain(pages: readonly Page[]): string {
	return pages.map(({ heading, paragraphs }) => [heading, ...paragraphs].join('\n\n')).join('\n\n');
}

function markdown(pages: readonly Page[]): string {
	return pages.map(({ heading, paragraphs }) => [`## ${heading}`, ...paragraphs].join('\n\n')).join('\n\n');
}

function html(title: string, pages: readonly Page[]): string {
	const body = pages.map(
		({ heading, paragraphs }) => `<h2>${heading}</h2>${paragraphs.map((text) => `<p>${text}</p>`).join('\n')}`,
	);
	return `<!doctype html><html lang="en"><head><title>${title}</title></head><body><nav><a href="/">Home</a></nav><main><article><h1>${title}</h1>${body.join('\n')}</article></main></body></html>`;
}

function docx(pages: readonly Page[]): Uint8Array {
	const run = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
	const body = pages.flatMap(({ heading, paragraphs }) => [
		`<w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr>${run(heading)}</w:p>`,
		...paragraphs.map((text) => `<w:p>${run(text)}</w:p>`),
	]);
	return zipSync({
		'[Content_Types].xml': strToU8(CONTENT_TYPES),
		'_rels/.rels': strToU8(RELATIONS),
		'word/document.xml': strToU8(
			`<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body.join('')}</w:body></w:document>`,
		),
	});
}

/** PDF 1.4 (ISO 32000-1) with lines in Helvetica. The text has no character that needs an escape. */
function pdf(pages: readonly Page[]): Uint8Array {
	const objects = [
		'<< /Type /Catalog /Pages 2 0 R >>',
		`<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, n) => `${4 + 2 * n} 0 R`).join(' ')}] >>`,
		'<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
	];
	for (const { heading, paragraphs } of pages) {
		const lines = paragraphs.flatMap((text) => text.match(LINE) ?? []);
		const text = lines.map((line) => `(${line.trim()}) '`).join('\n');
		const stream = `BT /F1 16 Tf 20 TL 50 790 Td (${heading}) Tj T* /F1 9 Tf 12 TL\n${text}\nET`;
		objects.push(
			`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${objects.length + 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
			`<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
		);
	}
	let file = '%PDF-1.4\n';
	const offsets = objects.map((object, n) => {
		const at = file.length;
		file += `${n + 1} 0 obj\n${object}\nendobj\n`;
		return `${String(at).padStart(10, '0')} 00000 n \n`;
	});
	const size = objects.length + 1;
	const table = `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join('')}`;
	return strToU8(`${file}${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`);
}

const LINE = new RegExp(`.{1,${LINE_CHARS}}(?:\\s|$)`, 'g');
