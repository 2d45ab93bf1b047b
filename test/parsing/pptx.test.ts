import assert from 'node:assert/strict';
import { test } from 'node:test';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { sniffFormat } from '../../src/parsing/index.ts';
import { outlined, parsed } from '../fixtures/documents/parsed.ts';
import { ap, makePptx, shape } from '../fixtures/documents/pptx.ts';

test('reads the slides in the order of the presentation, each under its title, with its number as page', async () => {
	const file = makePptx(
		[
			{ shapes: shape([ap('Welcome')], 'ctrTitle') + shape([ap('Autumn 2026')], 'subTitle') },
			{ shapes: shape([ap('Draft')], 'title'), isHidden: true },
			{
				shapes: shape([ap('First'), ap('Second'), ap('Note', '<a:buNone/>')], '') + shape([ap('Prices')], 'title'),
				notes: ['Say hello.', 'Then the prices.'],
			},
		],
		'Training',
	);
	const { blocks, format, title, page_count } = await parsed(file, 'a.pptx');
	assert.deepEqual([format, title, page_count], ['pptx', 'Training', 3]);
	assert.deepEqual(outlined(blocks), [
		'h1 Welcome',
		'paragraph Autumn 2026',
		'h1 Prices',
		'item - First',
		'item - Second',
		'paragraph Note',
		'paragraph Say hello.',
		'paragraph Then the prices.',
	]);
	assert.deepEqual(
		blocks.map(({ page }) => page),
		[1, 1, 3, 3, 3, 3, 3, 3],
	);
});

test('reads the tables of a slide with their spans, and numbered lists with their numbers', async () => {
	const tc = (text: string, more = '') => `<a:tc${more}><a:txBody>${ap(text)}</a:txBody></a:tc>`;
	const rows = [
		tc('Plan', ' rowSpan="2"') + tc('Price', ' gridSpan="2"') + tc('', ' hMerge="1"'),
		tc('', ' vMerge="1"') + tc('Month') + tc('Year'),
		tc('Solo') + tc('5') + tc('50'),
	];
	const table = `<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tblPr firstRow="1"/>${rows
		.map((row) => `<a:tr>${row}</a:tr>`)
		.join('')}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`;
	const number = '<a:buAutoNum type="arabicPeriod"/>';
	const steps = shape([ap('Open it', number), ap('Close it', number)]);
	const { blocks } = await parsed(makePptx([{ shapes: shape([ap('T')], 'title') + table + steps }]), 'a.pptx');
	assert.deepEqual(outlined(blocks), [
		'h1 T',
		'row Plan | Price Month | Price Year',
		'row Solo | 5 | 50',
		'item 1. Open it',
		'item 2. Close it',
	]);
});

test('a slide without a title has a heading of its own, and repeated placeholders are not read', async () => {
	const footer = shape([ap('Company confidential')], 'ftr') + shape([ap('4')], 'sldNum');
	const file = makePptx([
		{ shapes: shape([ap('One')], 'title') + shape([ap('Text.')]) },
		{ shapes: shape([ap('Agenda')]) + shape([ap('Lunch at noon.')]) + footer },
		{ shapes: shape([ap(`Long ${'word '.repeat(40)}`)]) },
		{ shapes: footer },
	]);
	const { blocks, title } = await parsed(file, 'a.pptx');
	assert.equal(title, 'One');
	assert.deepEqual(
		outlined(blocks).map((line) => line.slice(0, 24)),
		['h1 One', 'paragraph Text.', 'h1 Agenda', 'paragraph Lunch at noon.', 'h1 Slide 3', 'paragraph Long word word'],
	);
});

test('an alternative form of a shape is read once, and a hidden shape is not', async () => {
	const text = shape([ap('Once')]);
	const both = `<mc:AlternateContent><mc:Choice Requires="x">${text}</mc:Choice><mc:Fallback>${text}</mc:Fallback></mc:AlternateContent>`;
	const hidden = shape([ap('Hidden')]).replace('<p:cNvPr ', '<p:cNvPr hidden="1" ');
	const { blocks } = await parsed(makePptx([{ shapes: shape([ap('T')], 'title') + both + hidden }]), 'a.pptx');
	assert.deepEqual(outlined(blocks), ['h1 T', 'paragraph Once']);
});

test('the content shows that a file is a presentation, and a broken one is named so', async () => {
	const file = makePptx([{ shapes: shape([ap('T')], 'title') }]);
	assert.equal(sniffFormat(file, 'a.docx', null), 'pptx');
	await assert.rejects(parsed(file.subarray(0, file.length - 60), 'a.pptx'), { message: /presentation is damaged/ });
});

test('a table of a slide whose first row is not set off has no header', async () => {
	const cells = (texts: string[]) =>
		`<a:tr>${texts.map((text) => `<a:tc><a:txBody>${ap(text)}</a:txBody></a:tc>`).join('')}</a:tr>`;
	const shapes = `<a:tbl><a:tblPr firstRow="0"/>${cells(['Red', 'Blue', 'Green'])}${cells(['Sun', 'Sea', 'Tree'])}</a:tbl>`;
	const { blocks } = await parsed(makePptx([{ shapes }]), 'a.pptx');
	const row = blocks.find(({ kind }) => kind === 'row');
	assert.deepEqual(row?.kind === 'row' && row.table, { header: false });
});

test('superscript numbers of a slide stay apart from the number before them', async () => {
	const run = (text: string, properties = '') => `<a:r><a:rPr${properties}/><a:t>${text}</a:t></a:r>`;
	const paragraph = `<a:p>${run('10')}${run('6', ' baseline="30000"')}${run(' or 5')}${run('m')}${run('2', ' baseline="30000"')}</a:p>`;
	const { blocks } = await parsed(makePptx([{ shapes: shape([paragraph]) }]), 'a.pptx');
	assert.equal(blocks.at(-1)?.text, '10^6 or 5m²');
});

test('the notes of a slide are read once, however often it refers to them', async () => {
	const files = unzipSync(makePptx([{ shapes: shape([ap('Text')]), notes: ['Say hello.'] }]));
	const name = 'ppt/slides/_rels/slide1.xml.rels';
	const relationships = strFromU8(files[name] ?? new Uint8Array());
	files[name] = strToU8(relationships.replace(/<Relationship .*\/>/, (one) => one + one.replace('"n"', '"m"')));
	const { blocks } = await parsed(Buffer.from(zipSync(files)), 'a.pptx');
	assert.equal(blocks.filter(({ text }) => text === 'Say hello.').length, 1);
});

test('the shapes of a hidden group are not read', async () => {
	const group = (hidden: string, inner: string) =>
		`<p:grpSp><p:nvGrpSpPr><p:cNvPr id="1" name="g"${hidden}/></p:nvGrpSpPr>${inner}</p:grpSp>`;
	const shapes = group(' hidden="1"', group('', shape([ap('Hidden')]))) + group('', shape([ap('Shown')]));
	const { blocks } = await parsed(makePptx([{ shapes: shape([ap('T')], 'title') + shapes }]), 'a.pptx');
	assert.deepEqual(outlined(blocks), ['h1 T', 'paragraph Shown']);
});
