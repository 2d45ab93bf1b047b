// Own process: it measures the buffers of the process.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { makeDocx, p, r, style, table } from '../fixtures/documents/docx.ts';
import { outlined, parsed } from '../fixtures/documents/parsed.ts';

test('recognises headings by style name, inheritance and outline level, whatever the id of the style', async () => {
	const styles =
		style('berschrift1', 'heading 1') +
		style('Mine', 'House heading', '<w:basedOn w:val="berschrift1"/>') +
		style('T2', 'Titre 2') +
		style('Deep', 'Custom', '<w:pPr><w:outlineLvl w:val="2"/></w:pPr>');
	const body =
		p('One', 'berschrift1') +
		p('Two', 'T2') +
		p('Three', 'Deep') +
		p('Again', 'Mine') +
		`<w:p><w:pPr><w:outlineLvl w:val="1"/></w:pPr>${r('By itself')}</w:p>` +
		p('Text');
	const { blocks } = await parsed(makeDocx({ body, styles }), 'a.docx');
	assert.deepEqual(outlined(blocks), ['h1 One', 'h2 Two', 'h3 Three', 'h1 Again', 'h2 By itself', 'paragraph Text']);
});

test('a style that inherits from itself does not hang the parser', async () => {
	const styles = style('A', 'a', '<w:basedOn w:val="B"/>') + style('B', 'b', '<w:basedOn w:val="A"/>');
	const { blocks } = await parsed(makeDocx({ body: p('Text', 'A'), styles }), 'a.docx');
	assert.deepEqual(outlined(blocks), ['paragraph Text']);
});

test('reads the strict edition of the format and a main part of another name', async () => {
	const { blocks } = await parsed(makeDocx({ body: p('Text'), strict: true, main: 'word/document2.xml' }), 'a.docx');
	assert.deepEqual(outlined(blocks), ['paragraph Text']);
});

test('keeps the structure of lists and tables', async () => {
	const item = (text: string) => `<w:p><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>${r(text)}</w:p>`;
	const rows = [
		['Plan', 'Price'],
		['Basic', '5 euros'],
	];
	const { blocks } = await parsed(makeDocx({ body: item('one') + item('two') + table(rows) }), 'a.docx');
	assert.deepEqual(outlined(blocks), ['item - one', 'item - two', 'row Plan | Price', 'row Basic | 5 euros']);
	assert.deepEqual(
		blocks.map((block) => (block.kind === 'heading' ? undefined : block.table)),
		[undefined, undefined, { header: true }, undefined],
	);
});

test('list items have the numbers that Word shows', async () => {
	const lvl = (level: number, format: string, text: string, start = 1) =>
		`<w:lvl w:ilvl="${level}"><w:start w:val="${start}"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`;
	const numbering =
		`<w:abstractNum w:abstractNumId="7">${lvl(0, 'decimal', '%1.')}${lvl(1, 'lowerLetter', '%1%2)')}${lvl(2, 'upperRoman', '(%3)', 4)}</w:abstractNum>` +
		`<w:abstractNum w:abstractNumId="8">${lvl(0, 'bullet', '\uf0b7')}</w:abstractNum>` +
		'<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>' +
		'<w:num w:numId="3"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="10"/></w:lvlOverride></w:num>';
	const item = (text: string, id: number, level = 0) =>
		`<w:p><w:pPr><w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${id}"/></w:numPr></w:pPr>${r(text)}</w:p>`;
	const body =
		item('One', 1) +
		item('inner', 1, 1) +
		item('next', 1, 1) +
		item('deep', 1, 2) +
		p('Text') +
		item('Two', 1) +
		item('again', 1, 1) +
		item('Dot', 2) +
		item('Ten', 3) +
		item('Eleven', 3) +
		item('None', 0) +
		p('Styled', 'Steps');
	const styles = style('Steps', 'Steps', '<w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr>');
	assert.deepEqual(outlined((await parsed(makeDocx({ body, styles, numbering }), 'a.docx')).blocks), [
		'item 1. One',
		'item 1a) inner',
		'item 1b) next',
		'item (IV) deep',
		'paragraph Text',
		'item 2. Two',
		'item 2a) again',
		'item - Dot',
		'item 10. Ten',
		'item 11. Eleven',
		'paragraph None',
		'item 12. Styled',
	]);
});

test('merged cells of a Word table are read in each row and column that they span', async () => {
	const tc = (text: string, properties = '') => `<w:tc><w:tcPr>${properties}</w:tcPr>${p(text)}</w:tc>`;
	const rows = [
		`<w:trPr><w:tblHeader/></w:trPr>${tc('', '<w:vMerge w:val="restart"/>')}${tc('Home')}${tc('Work', '<w:gridSpan w:val="2"/>')}`,
		`<w:trPr><w:tblHeader/></w:trPr>${tc('', '<w:vMerge/>')}${tc('Solo')}${tc('Team')}${tc('Firm')}`,
		tc('Limits', '<w:gridSpan w:val="4"/>'),
		`${tc('Users', '<w:vMerge w:val="restart"/>')}${tc('1')}${tc('5')}${tc('9')}`,
		`${tc('', '<w:vMerge/>')}${tc('2')}${tc('many', '<w:gridSpan w:val="2"/>')}`,
	];
	const body = `<w:tbl>${rows.map((row) => `<w:tr>${row}</w:tr>`).join('')}</w:tbl>`;
	assert.deepEqual(outlined((await parsed(makeDocx({ body }), 'a.docx')).blocks), [
		'paragraph Limits',
		'row | Home Solo | Work Team | Work Firm',
		'row Users | 1 | 5 | 9',
		'row Users | 2 | many | many',
	]);
});

test('properties of a table before a change are not read', async () => {
	const tc = (text: string, properties = '') => `<w:tc><w:tcPr>${properties}</w:tcPr>${p(text)}</w:tc>`;
	const was = '<w:tcPrChange><w:tcPr><w:gridSpan w:val="3"/><w:vMerge/></w:tcPr></w:tcPrChange>';
	const rowWas = '<w:trPr><w:trPrChange><w:trPr><w:tblHeader/></w:trPr></w:trPrChange></w:trPr>';
	const rows = [`${tc('Plan')}${tc('Price')}`, `${tc('Solo', was)}${tc('5')}`, `${rowWas}${tc('Firm')}${tc('9')}`];
	const body = `<w:tbl>${rows.map((row) => `<w:tr>${row}</w:tr>`).join('')}</w:tbl>`;
	assert.deepEqual(outlined((await parsed(makeDocx({ body }), 'a.docx')).blocks), [
		'row Plan | Price',
		'row Solo | 5',
		'row Firm | 9',
	]);
});

test('a cell that continues no cell keeps its text', async () => {
	const tc = (text: string, properties = '') => `<w:tc><w:tcPr>${properties}</w:tcPr>${p(text)}</w:tc>`;
	const rows = [`${tc('Plan', '<w:vMerge/>')}${tc('Price')}`, `${tc('', '<w:vMerge/>')}${tc('5')}`];
	const body = `<w:tbl>${rows.map((row) => `<w:tr>${row}</w:tr>`).join('')}</w:tbl>`;
	assert.deepEqual(outlined((await parsed(makeDocx({ body }), 'a.docx')).blocks), ['row Plan | Price', 'row Plan | 5']);
});

test('a title over two rows, and a second row of names, are read as such without any mark', async () => {
	const tc = (text: string, properties = '') => `<w:tc><w:tcPr>${properties}</w:tcPr>${p(text)}</w:tc>`;
	const rows = [
		tc('Prices', '<w:gridSpan w:val="3"/><w:vMerge w:val="restart"/>'),
		tc('', '<w:gridSpan w:val="3"/><w:vMerge/>'),
		`${tc('Kind', '<w:vMerge w:val="restart"/>')}${tc('Ticket', '<w:gridSpan w:val="2"/>')}`,
		`${tc('', '<w:vMerge/>')}${tc('Adult')}${tc('Child')}`,
		`${tc('Day')}${tc('6')}${tc('3')}`,
	];
	const body = `<w:tbl>${rows.map((row) => `<w:tr>${row}</w:tr>`).join('')}</w:tbl>`;
	assert.deepEqual(outlined((await parsed(makeDocx({ body }), 'a.docx')).blocks), [
		'paragraph Prices',
		'row Kind | Ticket Adult | Ticket Child',
		'row Day | 6 | 3',
	]);
});

test('an empty corner of a Word table keeps its column', async () => {
	const rows = [
		['', 'Monday', 'Tuesday'],
		['Pool', '9–18', 'closed'],
	];
	const { blocks } = await parsed(makeDocx({ body: table(rows) }), 'a.docx');
	assert.deepEqual(outlined(blocks), ['row | Monday | Tuesday', 'row Pool | 9–18 | closed']);
	assert.deepEqual(blocks[0]?.kind === 'row' && blocks[0].table, { header: true });
});

test('a footnote follows the paragraph that refers to it', async () => {
	const body = `<w:p>${r('Claim.')}<w:r><w:footnoteReference w:id="2"/></w:r></w:p>${p('Next.')}`;
	const footnotes =
		`<w:footnote w:type="separator" w:id="0">${p('---')}</w:footnote>` +
		`<w:footnote w:id="2">${p('Proof.')}</w:footnote>`;
	const { blocks } = await parsed(makeDocx({ body, footnotes }), 'a.docx');
	assert.deepEqual(outlined(blocks), ['paragraph Claim.', 'paragraph Proof.', 'paragraph Next.']);
});

test('a text box is read once, though the file holds it twice', async () => {
	const box = `<w:txbxContent>${p('In the box')}</w:txbxContent>`;
	const body =
		`<w:p>${r('Around')}<w:r><mc:AlternateContent><mc:Choice Requires="wps">${box}</mc:Choice>` +
		`<mc:Fallback>${box}</mc:Fallback></mc:AlternateContent></w:r></w:p>`;
	const { blocks } = await parsed(makeDocx({ body }), 'a.docx');
	assert.deepEqual(outlined(blocks), ['paragraph Around', 'paragraph In the box']);
});

test('a table in a text box keeps its rows, also if the box is anchored in a cell', async () => {
	const cell = (content: string) => `<w:tc>${content}</w:tc>`;
	const table = (...rows: string[][]) =>
		`<w:tbl>${rows.map((cells) => `<w:tr>${cells.map(cell).join('')}</w:tr>`).join('')}</w:tbl>`;
	const inner = table([p('Day'), p('Hours')], [p('Monday'), p('9–17')]);
	const box = `<w:p>${r('Around')}<w:r><w:pict><w:txbxContent>${inner}</w:txbxContent></w:pict></w:r></w:p>`;
	const free = await parsed(makeDocx({ body: box }), 'a.docx');
	assert.deepEqual(outlined(free.blocks), ['paragraph Around', 'row Day | Hours', 'row Monday | 9–17']);
	const inCell = await parsed(makeDocx({ body: table([p('Shop'), box], [p('Store'), p('closed')]) }), 'a.docx');
	assert.deepEqual(outlined(inCell.blocks), ['row Shop | Around Day \\| Hours Monday \\| 9–17', 'row Store | closed']);
});

test('leaves out tracked deletions and reads tracked insertions', async () => {
	const body =
		`<w:p>${r('The fee is ')}<w:del><w:r><w:delText>ten</w:delText></w:r></w:del>` +
		`<w:ins>${r('twelve')}</w:ins><w:moveFrom>${r(' old')}</w:moveFrom>${r(' euros')}</w:p>`;
	const { blocks } = await parsed(makeDocx({ body }), 'a.docx');
	assert.deepEqual(outlined(blocks), ['paragraph The fee is twelve euros']);
});

test('the title comes from the properties, else from the title paragraph; a table of contents is no text', async () => {
	const styles = style('Title', 'Title') + style('TOC1', 'toc 1');
	const body = p('Guide', 'Title') + p('Chapter 1 ... 3', 'TOC1') + p('Text');
	const { title, blocks } = await parsed(makeDocx({ body, styles }), 'a.docx');
	assert.equal(title, 'Guide');
	assert.deepEqual(outlined(blocks), ['h1 Guide', 'paragraph Text']);
	assert.equal((await parsed(makeDocx({ body, styles, title: 'The Guide' }), 'a.docx')).title, 'The Guide');
});

test('an empty Word document is read as empty', async () => {
	assert.deepEqual((await parsed(makeDocx({ body: '<w:p/>' }), 'a.docx')).blocks, []);
});

test('a zip bomb in a Word document is refused before it is unpacked', async () => {
	const bomb = Buffer.from(zipSync({ 'word/document.xml': new Uint8Array(32 * 1024 * 1024) }));
	const before = process.memoryUsage().arrayBuffers;
	await assert.rejects(parsed(bomb, 'a.docx'), { code: 'resource_limit', message: /unpacks/ });
	assert.ok(process.memoryUsage().arrayBuffers - before < 16 * 1024 * 1024);
});

test('entities that multiply end as an error', async () => {
	const laughs = '<!DOCTYPE l [<!ENTITY a "ha ha"><!ENTITY b "&a;&a;&a;">]>';
	const file = Buffer.from(zipSync({ 'word/document.xml': strToU8(`${laughs}<w:document>&b;</w:document>`) }));
	await assert.rejects(parsed(file, 'a.docx'), { code: 'unreadable_file', message: /not valid XML/ });
});

test('a broken archive, a password and an old .doc each have their own error sentence', async () => {
	const whole = makeDocx({ body: p('Text') });
	await assert.rejects(parsed(whole.subarray(0, whole.length - 60), 'a.docx'), { message: /archive cannot be opened/ });
	const compound = Buffer.from('d0cf11e0a1b11ae1', 'hex');
	const locked = Buffer.concat([compound, Buffer.from('EncryptedPackage', 'utf16le')]);
	await assert.rejects(parsed(locked, 'a.docx'), { code: 'unreadable_file', message: /password/ });
	await assert.rejects(parsed(compound, 'a.docx'), { code: 'unsupported_file_type', message: /\.doc\b/ });
	await assert.rejects(parsed('words', 'a.docx'), { code: 'unreadable_file', message: /not a Word document/ });
});

/** A decimal list of three levels: 1, 1.1, 1.1.1. */
const DECIMALS =
	'<w:abstractNum w:abstractNumId="7">' +
	['%1', '%1.%2', '%1.%2.%3']
		.map(
			(text, level) =>
				`<w:lvl w:ilvl="${level}"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="${text}"/></w:lvl>`,
		)
		.join('') +
	'</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>';

const listed = (text: string, level: number, more = '') =>
	`<w:p><w:pPr><w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="1"/></w:numPr>${more}</w:pPr>${r(text)}</w:p>`;

test('numbered headings advance the numbers of their list and show theirs', async () => {
	const styles =
		style('H1', 'heading 1', '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>') +
		style('H2', 'heading 2', '<w:basedOn w:val="H1"/><w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr></w:pPr>') +
		style('Plain', 'House heading', '<w:basedOn w:val="H1"/><w:pPr><w:numPr><w:numId w:val="0"/></w:numPr></w:pPr>');
	const body =
		p('Scope', 'H1') +
		listed('First', 1) +
		p('Preface', 'Plain') +
		p('Fees', 'H1') +
		p('Due', 'H2') +
		listed('Late', 2);
	assert.deepEqual(outlined((await parsed(makeDocx({ body, styles, numbering: DECIMALS }), 'a.docx')).blocks), [
		'h1 1 Scope',
		'item 1.1 First',
		'h1 Preface',
		'h1 2 Fees',
		'h2 2.1 Due',
		'item 2.1.1 Late',
	]);
});

test('numbered paragraphs in cells and empty ones count, deleted ones do not', async () => {
	const deleted = '<w:rPr><w:del w:id="1"/></w:rPr>';
	const rows = ['Name', 'Age'].map((name) => `<w:tr><w:tc>${listed('', 0)}</w:tc><w:tc>${p(name)}</w:tc></w:tr>`);
	const body = [listed('', 0), listed('', 0, deleted), `<w:tbl>${rows.join('')}</w:tbl>`, listed('After', 0)].join('');
	assert.deepEqual(outlined((await parsed(makeDocx({ body, numbering: DECIMALS }), 'a.docx')).blocks), [
		'row 2 | Name',
		'row 3 | Age',
		'item 4 After',
	]);
});

test('the first pair of a Word table of pairs is no header', async () => {
	const headerOf = async (rows: string[][], look = '') => {
		const body = table(rows).replace('<w:tbl>', `<w:tbl><w:tblPr>${look}</w:tblPr>`);
		const [first] = (await parsed(makeDocx({ body }), 'a.docx')).blocks;
		return first?.kind === 'row' && first.table?.header;
	};
	const pairs = [
		['Phone', '0800 555 55'],
		['E-mail', 'a@b.example'],
	];
	const texts = [
		['Name', 'Ann'],
		['Town', 'Oslo'],
	];
	const prices = [
		['Plan', 'Price', 'Note'],
		['Solo', '5', 'monthly'],
	];
	const words = prices.map((row) => row.map((cell) => cell.replace('5', 'free')));
	assert.equal(await headerOf(pairs), false);
	assert.equal(await headerOf(texts), false);
	assert.equal(await headerOf(words), true);
	for (const look of ['<w:tblLook w:firstRow="0"/>', '<w:tblLook w:val="0600"/>']) {
		assert.equal(await headerOf(prices, look), true);
		assert.equal(await headerOf(words, look), false);
	}
});

test('superscript numbers stay apart from the number before them, and signs of fonts with signs are themselves', async () => {
	const raised = (text: string) => `<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>${text}</w:t></w:r>`;
	const sym = (font: string, char: string) => `<w:r><w:sym w:font="${font}" w:char="${char}"/></w:r>`;
	const body = `<w:p>${r('£13')}${raised('1')}${raised('2')}${r(' 1')}${raised('st')}${r(' m')}${raised('2')}${r(' 5 ')}${sym('Symbol', 'F06D')}${r('g')}${sym('Wingdings', 'F0FC')}${sym('Other', 'F041')}</w:p>`;
	assert.deepEqual(outlined((await parsed(makeDocx({ body }), 'a.docx')).blocks), [
		'paragraph £13^12 1st m² 5 μg✓\ufffd',
	]);
});

test('numbers of Word lists are legal, continue or come from a list style as their levels say', async () => {
	const level = (index: number, format: string, text: string, more = '') =>
		`<w:lvl w:ilvl="${index}"><w:start w:val="1"/><w:numFmt w:val="${format}"/>${more}<w:lvlText w:val="${text}"/></w:lvl>`;
	const levels =
		level(0, 'upperRoman', '%1.') +
		level(1, 'decimal', '%1.%2', '<w:isLgl/>') +
		level(2, 'decimal', '(%3)', '<w:lvlRestart w:val="0"/>');
	const numbering =
		`<w:abstractNum w:abstractNumId="3"><w:styleLink w:val="House"/>${levels}</w:abstractNum>` +
		'<w:abstractNum w:abstractNumId="7"><w:numStyleLink w:val="House"/></w:abstractNum>' +
		'<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>';
	const body = listed('One', 0) + listed('a', 1) + listed('x', 2) + listed('Two', 0) + listed('b', 1) + listed('y', 2);
	assert.deepEqual(outlined((await parsed(makeDocx({ body, numbering }), 'a.docx')).blocks), [
		'item I. One',
		'item 1.1 a',
		'item (1) x',
		'item II. Two',
		'item 2.1 b',
		'item (2) y',
	]);
});

test('the prompt of an empty content control of Word is not read, what was entered is', async () => {
	const control = (properties: string, text: string) =>
		`<w:sdt><w:sdtPr>${properties}</w:sdtPr><w:sdtContent>${p(text)}</w:sdtContent></w:sdt>`;
	const body = control('<w:showingPlcHdr/>', 'Click to enter text.') + control('', 'Anna Smith') + p('End');
	assert.deepEqual(outlined((await parsed(makeDocx({ body }), 'a.docx')).blocks), [
		'paragraph Anna Smith',
		'paragraph End',
	]);
});
