import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sniffFormat } from '../../src/parsing/index.ts';
import { makeOdf, type OdfContent } from '../fixtures/documents/odf.ts';
import { outlined, parsed } from '../fixtures/documents/parsed.ts';

const text = async (content: OdfContent) => parsed(makeOdf('text', content), 'a.odt');
const linesOf = async (body: string, automatic = '') => outlined((await text({ body, automatic })).blocks);
const p = (content: string, style = 'P1') => `<text:p text:style-name="${style}">${content}</text:p>`;

test('reads headings, paragraphs, notes and text boxes of an OpenDocument text, without its comments', async () => {
	const body =
		p('The<text:s text:c="2"/>guide', 'P9') +
		'<text:h text:outline-level="2">Fees</text:h>' +
		p(
			'Ten<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Since May.</text:p></text:note-body></text:note> euros\n a\tday<text:line-break/>each',
		) +
		p('Box<draw:frame><draw:text-box><text:p>Inside</text:p></draw:text-box></draw:frame>') +
		p('End<office:annotation><text:p>Check!</text:p></office:annotation>') +
		'<text:table-of-content><text:index-body><text:p>Fees 2</text:p></text:index-body></text:table-of-content>';
	const styles = '<style:style style:name="Title" style:display-name="Title" style:family="paragraph"/>';
	const automatic = '<style:style style:name="P9" style:parent-style-name="Title"/>';
	const { blocks, format, title, declared_language } = await text({ body, styles, automatic });
	assert.deepEqual([format, title, declared_language], ['odt', 'The guide', 'de']);
	assert.deepEqual(outlined(blocks), [
		'h1 The guide',
		'h2 Fees',
		'paragraph Ten euros a day\neach',
		'paragraph Since May.',
		'paragraph Box',
		'paragraph Inside',
		'paragraph End',
	]);
});

test('lists of an OpenDocument text keep bullets and numbers, also where one list continues another', async () => {
	const automatic =
		'<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/></text:list-style>' +
		'<text:list-style style:name="L2"><text:list-level-style-bullet text:level="1"/></text:list-style>';
	const item = (content: string) => `<text:list-item>${content}</text:list-item>`;
	const body =
		`<text:list text:style-name="L1">${item(p('One') + p('More of it'))}${item(p('Two'))}</text:list>` +
		`<text:list text:style-name="L2">${item(`${p('Dot')}<text:list>${item(p('Inner'))}</text:list>`)}</text:list>` +
		`<text:list text:style-name="L1" text:continue-numbering="true">${item(p('Three'))}</text:list>`;
	assert.deepEqual(await linesOf(body, automatic), [
		'item 1. One',
		'paragraph More of it',
		'item 2. Two',
		'item - Dot',
		'item - Inner',
		'item 3. Three',
	]);
});

test('tables of an OpenDocument text keep their header, spans and empty cells', async () => {
	const cell = (content: string, more = '') => `<table:table-cell${more}>${p(content)}</table:table-cell>`;
	const row = (cells: string) => `<table:table-row>${cells}</table:table-row>`;
	const covered = '<table:covered-table-cell/>';
	const body = `<table:table><table:table-header-rows>${row(cell('Plan') + cell('Month') + cell('Year'))}</table:table-header-rows>${row(
		cell('Solo', ' table:number-rows-spanned="2"') + cell('5') + cell('50'),
	)}${row(covered + cell('6', ' table:number-columns-spanned="2"') + covered)}${row(
		`<table:table-cell table:number-columns-repeated="2"/>${cell('9')}`,
	)}</table:table>`;
	assert.deepEqual(await linesOf(body), [
		'row Plan | Month | Year',
		'row Solo | 5 | 50',
		'row Solo | 6 | 6',
		'row |  | 9',
	]);
});

test('deleted and hidden parts of an OpenDocument text are not read', async () => {
	const automatic = '<style:style style:name="H"><style:text-properties text:display="none"/></style:style>';
	const body =
		`<text:tracked-changes>${p('Old')}</text:tracked-changes>` +
		`<text:section text:display="none">${p('Secret')}</text:section>${p('Shown<text:span text:style-name="H"> not</text:span>')}${p('Gone', 'H')}`;
	assert.deepEqual(await linesOf(body, automatic), ['paragraph Shown']);
});

const cell = (content: string, more = '') => `<table:table-cell${more}><text:p>${content}</text:p></table:table-cell>`;
const row = (cells: string, more = '') => `<table:table-row${more}>${cells}</table:table-row>`;
const sheet = (name: string, rows: string, more = '') =>
	`<table:table table:name="${name}"${more}>${rows}</table:table>`;

test('reads each visible sheet of an OpenDocument spreadsheet as a table under its name', async () => {
	const automatic = '<style:style style:name="ta2"><style:table-properties table:display="false"/></style:style>';
	const gap = '<table:table-cell table:number-columns-repeated="900"/>';
	const prices = [
		row(
			cell('Prices', ' table:number-columns-spanned="3"') +
				'<table:covered-table-cell table:number-columns-repeated="2"/>',
		),
		row('', ' table:number-rows-repeated="3"'),
		row(cell('Part') + cell('Cost') + gap + cell('Price')),
		row(cell('Lid') + cell('1') + gap + cell('5 €<office:annotation><text:p>new</text:p></office:annotation>')),
		row(cell('Gone') + cell('1') + gap + cell('6 €'), ' table:visibility="collapse"'),
		row(cell('Cup', ' table:number-rows-spanned="2"') + cell('2') + gap + cell('7 €')),
		row(`<table:covered-table-cell>${p('old')}</table:covered-table-cell>${cell('3')}${gap}${cell('8 €')}`),
		row('<table:table-cell table:number-columns-repeated="16384"/>', ' table:number-rows-repeated="1048500"'),
	];
	const columns =
		'<table:table-column/><table:table-column table:visibility="collapse"/><table:table-column table:number-columns-repeated="901"/>';
	const body =
		sheet('Offer', columns + prices.join('')) +
		sheet('Old', row(cell('Secret')), ' table:style-name="ta2"') +
		sheet('Notes', row(`<table:table-cell office:string-value="kept"/>${cell('x')}`));
	const { blocks, format } = await parsed(makeOdf('spreadsheet', { body, automatic }), 'a.ods');
	assert.equal(format, 'ods');
	assert.deepEqual(outlined(blocks), [
		'h1 Offer',
		'paragraph Prices',
		'row Part | Price',
		'row Lid | 5 €',
		'row Cup | 7 €',
		'row Cup | 8 €',
		'h1 Notes',
		'row kept | x',
	]);
});

test('repetitions in a spreadsheet are read in bounded size', async () => {
	const many = ' table:number-columns-repeated="1000000"';
	const body = sheet('A', row(cell('x', many), ' table:number-rows-repeated="1000000"'));
	const { blocks } = await parsed(makeOdf('spreadsheet', { body }), 'a.ods');
	assert.ok(blocks.length <= 201);
	assert.ok(blocks.every((block) => block.text.length <= 1000));
});

test('the content shows which OpenDocument file it is, and one with a password is refused with that reason', async () => {
	assert.equal(sniffFormat(makeOdf('text', { body: '' }), 'a.docx', null), 'odt');
	assert.equal(sniffFormat(makeOdf('spreadsheet', { body: '' }), null, null), 'ods');
	const locked = makeOdf('text', { body: '', isEncrypted: true });
	await assert.rejects(parsed(locked, 'a.odt'), { code: 'unreadable_file', message: /password/ });
});

test('a note of an item leaves the marker to the item', async () => {
	const note = `<text:note><text:note-citation>1</text:note-citation><text:note-body>${p('A note.')}</text:note-body></text:note>`;
	const body = `<text:list text:style-name="L1"><text:list-item>${p(`One${note}`)}</text:list-item></text:list>`;
	assert.deepEqual(await linesOf(body), ['item - One', 'paragraph A note.']);
});

test('rows of an OpenDocument spreadsheet that a filter hides are read', async () => {
	const rows = [
		row(cell('Part') + cell('Price')),
		row(cell('Lid') + cell('5'), ' table:visibility="filter"'),
		row(cell('Cup') + cell('6'), ' table:visibility="collapse"'),
	];
	const { blocks } = await parsed(makeOdf('spreadsheet', { body: sheet('Sheet1', rows.join('')) }), 'a.ods');
	assert.deepEqual(outlined(blocks), ['row Part | Price', 'row Lid | 5']);
});

test('reads the slides of a presentation under their titles, with their notes, and leaves out the margins', async () => {
	const frame = (kind: string, text: string) =>
		`<draw:frame presentation:class="${kind}"><draw:text-box>${text}</draw:text-box></draw:frame>`;
	const slide = (title: string, text: string, notes = '') =>
		`<draw:page>${frame('title', `<text:p>${title}</text:p>`)}${frame('outline', text)}${frame('page-number', '<text:p>7</text:p>')}${notes}</draw:page>`;
	const list = '<text:list><text:list-item><text:p>Two litres</text:p></text:list-item></text:list>';
	const table =
		'<draw:frame><table:table><table:table-row><table:table-cell><text:p>Lid</text:p></table:table-cell><table:table-cell><text:p>4.50</text:p></table:table-cell></table:table-row></table:table></draw:frame>';
	const notes = `<presentation:notes>${frame('notes', '<text:p>Say hello.</text:p>')}</presentation:notes>`;
	const body = slide('Kettles', list, notes) + slide('Prices', table);
	const { blocks, format, page_count } = await parsed(makeOdf('presentation', { body }), 'a.odp');
	assert.deepEqual([format, page_count], ['odp', 2]);
	assert.deepEqual(
		blocks.map(({ kind, text, page }) => [page, kind, text]),
		[
			[1, 'heading', 'Kettles'],
			[1, 'item', '- Two litres'],
			[1, 'paragraph', 'Say hello.'],
			[2, 'heading', 'Prices'],
			[2, 'row', 'Lid | 4.50'],
		],
	);
});

test('keeps superscripts, the numbers of lists as they are written, and tables in text boxes', async () => {
	const automatic =
		'<style:style style:name="up"><style:text-properties style:text-position="super 58%"/></style:style>' +
		'<text:list-style style:name="letters"><text:list-level-style-number text:level="1" style:num-format="a" style:num-suffix=")"/></text:list-style>';
	const item = (text: string) => `<text:list-item><text:p>${text}</text:p></text:list-item>`;
	const cell = (text: string) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`;
	const body =
		'<text:p>Area: 5 m<text:span text:style-name="up">2</text:span></text:p>' +
		`<text:list text:style-name="letters">${item('one')}${item('two')}</text:list>` +
		`<text:p>Prices<draw:frame><draw:text-box><table:table><table:table-row>${cell('Lid')}${cell('4.50')}</table:table-row><table:table-row>${cell('Cup')}${cell('6')}</table:table-row></table:table></draw:text-box></draw:frame></text:p>`;
	assert.deepEqual(outlined((await parsed(makeOdf('text', { body, automatic }), 'a.odt')).blocks), [
		'paragraph Area: 5 m²',
		'item a) one',
		'item b) two',
		'paragraph Prices',
		'row Lid | 4.50',
		'row Cup | 6',
	]);
});
