import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sniffFormat } from '../../src/parsing/index.ts';
import { outlined, parsed } from '../fixtures/documents/parsed.ts';

const HEAD =
	'{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0\\fswiss Arial;}{\\f1\\fcharset204 Times;}}' +
	'{\\stylesheet{\\s0 Normal;}{\\s1\\sbasedon0\\outlinelevel0 heading 1;}}{\\*\\generator Word;}';
const linesOf = async (body: string, head = HEAD) => outlined((await parsed(`${head}${body}}`, 'a.rtf')).blocks);

test('reads headings, paragraphs and characters of every charset of an RTF document', async () => {
	const body =
		'{\\info{\\title The guide}{\\author A}}{\\header Page 1\\par}\\pard\\plain\\s1 Fees\\par\\pard\\plain ' +
		"It costs 5\\~\\'80 \\endash  or \\u8364?5.\\line Ask {\\b J\\'f6rg}.\\par\r\n{\\f1 \\'cc\\'f3\\'e7\\'e5\\'e9}\\par{\\v hidden}" +
		'\\{a\\\\b\\}{\\pict 0102}{\\*\\unknown words}\\u-10179?\\u-8704?';
	const { blocks, format, title } = await parsed(`${HEAD}${body}}`, 'a.rtf');
	assert.deepEqual([format, title], ['rtf', 'The guide']);
	assert.deepEqual(outlined(blocks), [
		'h1 Fees',
		'paragraph It costs 5 € – or €5.\nAsk Jörg.',
		'paragraph Музей',
		'paragraph {a\\b}😀',
	]);
});

test('lists of an RTF document keep bullets and numbers, and notes follow their paragraph', async () => {
	const body =
		"{\\listtext\\pard\\plain\\f0 \\'b7\\tab}One{\\super 1}{\\footnote\\pard\\plain A note.\\par Its end.} more\\par" +
		'{\\pntext 2.\\tab}Two\\par\\pard Text\\par';
	assert.deepEqual(await linesOf(body), [
		'item - One more',
		'paragraph A note.\nIts end.',
		'item 2. Two',
		'paragraph Text',
	]);
});

test('tables of an RTF document keep their rows, headers and merged cells', async () => {
	const row = (cells: string[], definition = '\\cellx1\\cellx2\\cellx3') =>
		`\\trowd${definition}\\pard\\intbl ${cells.map((cell) => `${cell}\\cell `).join('')}\\row\\pard `;
	const body =
		`Before\\par${row(['Plan', 'Price', ''], '\\trhdr\\cellx1\\cellx2\\cellx3')}${row(['Solo', '5\\par 6', 'a'], '\\clvmgf\\cellx1\\cellx2\\cellx3')}` +
		`${row(['', '7', 'b'], '\\clvmrg\\cellx1\\cellx2\\cellx3')}After\\par`;
	assert.deepEqual(await linesOf(body), [
		'paragraph Before',
		'row Plan | Price |',
		'row Solo | 5 6 | a',
		'row Solo | 7 | b',
		'paragraph After',
	]);
});

test('the content shows that a file is an RTF document, and a broken one is read as far as it goes', async () => {
	assert.equal(sniffFormat(Buffer.from('{\\rtf1 Words}'), 'a.doc', 'application/msword'), 'rtf');
	assert.equal(sniffFormat(Buffer.from('Words'), 'a.rtf', null), 'txt');
	assert.deepEqual(await linesOf("Words\\'", '{\\rtf1 '), ['paragraph Words']);
	assert.deepEqual(await linesOf('}}Words {\\b more\\bin9999 x', '{\\rtf1 '), ['paragraph Words more']);
});

test('superscript numbers stay apart from the number before them, and signs of the font Symbol are themselves', async () => {
	const fonts =
		'{\\rtf1\\ansi\\ansicpg1251{\\fonttbl{\\f0\\fcharset1 Arial;}{\\f3\\fcharset2{\\*\\panose 0505}Symbol;}{\\f4\\fcharset0 A;}}';
	const body = "\\f0 10{\\super 6} m{\\super 2}, \\'cc, 5 {\\f3 m\\'b3 \\u-3987?}g, {\\f3\\'e6}{\\f4 m}\\par";
	assert.deepEqual(await linesOf(body, fonts), ['paragraph 10^6 m², М, 5 μ≥ μg, \ufffdm']);
});

test('many single bytes of an RTF document take little memory', async () => {
	const count = 2_000_000;
	const before = process.memoryUsage().arrayBuffers;
	const { blocks } = await parsed(`${HEAD}${"\\'e4".repeat(count)}\\par}`, 'a.rtf');
	const after = process.memoryUsage().arrayBuffers;
	assert.equal(
		blocks.reduce((sum, { text }) => sum + text.length, 0),
		count,
	);
	assert.ok(after - before < 64 * 1024 * 1024);
});

test('a table within a cell of an RTF document is part of the text of the cell', async () => {
	const nested =
		'\\pard\\intbl\\itap2 Mon\\nestcell{\\nonesttables\\par }9\\nestcell{\\nonesttables\\par }' +
		'{\\*\\nesttableprops\\trowd\\cellx1\\cellx2\\nestrow}{\\nonesttables\\par }';
	const row = (cells: string) => `\\trowd\\cellx1\\cellx2 ${cells}\\row`;
	const body = `${row('\\pard\\intbl Day\\cell Note\\cell')}${row(`${nested}\\pard\\intbl Open\\cell yes\\cell`)}\\pard Text\\par`;
	assert.deepEqual(await linesOf(body), ['row Day | Note', 'row Mon, 9 Open | yes', 'paragraph Text']);
});

test('a text box of an RTF document is read once, after the paragraph in which it stands', async () => {
	const box =
		'{\\shp{\\*\\shpinst\\shpleft0{\\sp{\\sn fLine}{\\sv 0}}{\\shptxt \\pard\\plain In the box\\par Its end\\par}}{\\shprslt\\par In the box\\par}}';
	assert.deepEqual(await linesOf(`\\pard\\s1 Opening ${box}hours\\par\\pard Text\\par`), [
		'h1 Opening hours',
		'paragraph In the box\nIts end',
		'paragraph Text',
	]);
});

test('a table of contents of an RTF document is not read', async () => {
	const head = HEAD.replace('heading 1;}', 'heading 1;}{\\s7 toc 1;}');
	const body = '\\pard\\s7 Fees\\tab 3\\par\\pard\\s7 Hours\\tab 4\\par\\pard\\s1 Fees\\par\\pard Five\\par';
	assert.deepEqual(await linesOf(body, head), ['h1 Fees', 'paragraph Five']);
});

test('cells of an RTF table that are joined to the one before them span columns', async () => {
	const row = (cells: string[], definition: string) =>
		`\\trowd${definition}\\pard\\intbl ${cells.map((cell) => `${cell}\\cell `).join('')}\\row\\pard `;
	const plain = '\\cellx1\\cellx2\\cellx3';
	const body =
		row(['', 'Price', ''], '\\trhdr\\cellx1\\clmgf\\cellx2\\clmrg\\cellx3') +
		row(['', 'Month', 'Year'], `\\trhdr${plain}`) +
		row(['Cups', '', ''], '\\clmgf\\cellx1\\clmrg\\cellx2\\clmrg\\cellx3') +
		row(['Solo', '5', '50'], plain);
	assert.deepEqual(await linesOf(body), ['paragraph Cups', 'row | Price Month | Price Year', 'row Solo | 5 | 50']);
});
