import { readFileSync } from 'node:fs';
import { makeOdf } from '../../fixtures/documents/odf.ts';
import { bodyLines, makePdf } from '../../fixtures/documents/pdf.ts';
import { ap, makePptx, shape } from '../../fixtures/documents/pptx.ts';
import { makeXlsx, xlsxRow } from '../../fixtures/documents/xlsx.ts';
import { zipped } from '../../fixtures/documents/zipped.ts';
import { SHARED_DOCUMENTS, sharedDocuments } from '../../support/shared-documents.ts';

/** A document to be changed. */
export interface OriginalDocument {
	name: string;
	/** Read on first use. */
	bytes(): Buffer;
}

function once(make: () => Buffer): () => Buffer {
	let made: Buffer | undefined;
	return () => {
		made ??= make();
		return made;
	};
}

/** The real documents beside the repository; none where they are missing. */
export const REAL_DOCUMENTS: readonly OriginalDocument[] = sharedDocuments.map(({ file }) => ({
	name: file,
	bytes: once(() => readFileSync(new URL(file, SHARED_DOCUMENTS))),
}));

const LINES = Array.from(
	{ length: 12 },
	(_, index) => `Line ${index} of the page has a few words about kettles and lids.`,
);
const cell = (text: string, more = '') =>
	`<table:table-cell office:value-type="string"${more}><text:p>${text}</text:p></table:table-cell>`;
const xhtml = (body: string) =>
	`<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>${body}</body></html>`;

/** One document of each format, made here. */
export const MADE_DOCUMENTS: readonly OriginalDocument[] = Object.entries<() => Buffer>({
	'a.xlsx': () =>
		makeXlsx({
			sheets: [
				{
					name: 'Parts',
					data:
						xlsxRow(1, ['Part', 'Name', 'Price']) + xlsxRow(2, ['P-1', 'Lid', 5.5]) + xlsxRow(3, ['P-2', null, 44_887]),
					after: '<mergeCells><mergeCell ref="A1:B1"/></mergeCells>',
				},
			],
			strings: ['one', 'two'],
			formats: [0, 14, '[h]:mm', '#,##0.00 "EUR"'],
		}),
	'a.pptx': () =>
		makePptx([
			{
				shapes:
					shape([ap('Opening hours')], 'title') + shape([ap('Monday', '<a:buChar char="-"/>'), ap('Tuesday')], 'body'),
			},
			{ shapes: shape([ap('The second slide')]), notes: ['Say hello.'] },
		]),
	'a.odt': () =>
		makeOdf('text', {
			title: 'Guide',
			styles: '<style:style style:name="H" style:default-outline-level="1"/>',
			body: `<text:h text:outline-level="1">Fees</text:h><text:p>It costs <text:span>five</text:span>.</text:p><text:list><text:list-item><text:p>One</text:p></text:list-item></text:list><table:table><table:table-row>${cell('a')}${cell('b', ' table:number-columns-spanned="2"')}</table:table-row></table:table>`,
		}),
	'a.ods': () =>
		makeOdf('spreadsheet', {
			body: `<table:table table:name="S"><table:table-row table:number-rows-repeated="3">${cell('a')}${cell('b', ' table:number-columns-repeated="4"')}</table:table-row></table:table>`,
		}),
	'a.odp': () =>
		makeOdf('presentation', {
			body: '<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>Title</text:p></draw:text-box></draw:frame></draw:page>',
		}),
	'a.epub': () =>
		zipped({
			mimetype: 'application/epub+zip',
			'META-INF/container.xml':
				'<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>',
			'book.opf':
				'<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>Book</dc:title></metadata><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/><item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest><spine toc="n"><itemref idref="a"/></spine></package>',
			'a.xhtml': xhtml('<h1>First</h1><p>One.</p><table><tr><th>a</th><td rowspan="2">b</td></tr></table>'),
			'toc.ncx':
				'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel><text>First</text></navLabel><content src="a.xhtml"/></navPoint></navMap></ncx>',
		}),
	'a.rtf': () =>
		Buffer.from(
			"{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0\\fswiss Arial;}{\\f1\\fcharset204 Times;}}{\\stylesheet{\\s1\\outlinelevel0 heading 1;}}\\pard\\s1 Fees\\par\\pard It costs 5\\~\\'80 or \\u8364?5.\\par{\\trowd\\cellx100\\cellx200 a\\cell b\\cell\\row}{\\pict 0102}{\\bin4 abcd}}",
		),
	'a.eml': () =>
		Buffer.from(
			'From: =?utf-8?Q?J=C3=B6rg?= <a@shop.example>\r\nSubject: Order\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nIt left=20today.\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>It left <b>today</b>.</p>\r\n--b--\r\n',
		),
	'a.csv': () => Buffer.from('Part;Name;Price\r\nP-1;"Lid; ""large""";5,50\r\nP-2;Kettle;"12\n13"\r\n'),
	'a.md': () =>
		Buffer.from(
			'# Fees\n\n- one\n  - two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```js\nx\n```\n> quote [link](https://a.example)\n',
		),
	'a.html': () =>
		Buffer.from(
			xhtml(`<article><h1>Fees</h1><p>${LINES.join(' ')}</p><table><tr><td>a<td>b</table><ul><li>c</ul></article>`),
		),
	'a.pdf': () => makePdf({ pages: [bodyLines(LINES), bodyLines(LINES)] }),
}).map(([name, make]) => ({ name, bytes: once(make) }));
