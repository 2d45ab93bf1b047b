import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { SNIFF_BYTES, sniffFormat, unsupportedFileMessage } from '../../src/parsing/index.ts';
import { makeDocx, p } from '../fixtures/documents/docx.ts';
import { parsed } from '../fixtures/documents/parsed.ts';
import { bodyLines, makePdf } from '../fixtures/documents/pdf.ts';
import { zipped } from '../fixtures/documents/zipped.ts';

const pdf = makePdf({ pages: [bodyLines(['Text.'])] });
const docx = makeDocx({ body: p('Text') });
const zip = (...names: string[]) => Buffer.from(zipSync(Object.fromEntries(names.map((name) => [name, strToU8('x')]))));

test('the content precedes name and type', () => {
	assert.equal(sniffFormat(pdf, 'notes.txt', 'text/plain'), 'pdf');
	assert.equal(sniffFormat(docx, 'notes.pdf', 'application/pdf'), 'docx');
	assert.equal(sniffFormat(zip('[Content_Types].xml', '_rels/.rels', 'xl/workbook.xml'), 'a.docx', null), 'xlsx');
	assert.equal(sniffFormat(Buffer.from(' <!-- x --><!DOCTYPE html><p>x'), 'a.txt', null), 'html');
	assert.equal(sniffFormat(Buffer.from('\ufeff<html>x</html>', 'utf16le'), null, null), 'html');
});

test('name and type decide what the content cannot', () => {
	const text = Buffer.from('# Words');
	assert.equal(sniffFormat(text, 'a.md', null), 'md');
	assert.equal(sniffFormat(text, 'A.MARKDOWN', 'text/plain'), 'md');
	assert.equal(sniffFormat(text, null, 'text/markdown; charset=utf-8'), 'md');
	assert.equal(sniffFormat(text, 'a.txt', null), 'txt');
	assert.equal(sniffFormat(text, null, null), 'txt');
	assert.equal(sniffFormat(Buffer.from('<p>Words'), 'readme.md', null), 'md');
	assert.equal(sniffFormat(Buffer.from('<p>Words'), null, 'text/html'), 'html');
});

test('other office formats, pictures, archives and programs are refused', async () => {
	const others: Array<[name: string, bytes: Buffer]> = [
		['a.vsdx', zip('[Content_Types].xml', 'visio/document.xml')],
		['a.odg', zipped({ mimetype: 'application/vnd.oasis.opendocument.graphics', 'content.xml': 'x' })],
		['a.odg', zip('mimetype', 'content.xml')],
		['a.zip', zip('photo.jpg')],
		['a.doc', Buffer.from('d0cf11e0a1b11ae1', 'hex')],
		['a.png', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')],
		['a.jpg', Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex')],
		['a.svg', Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>')],
		['a.txt', randomBytes(50_000)],
	];
	for (const [name, bytes] of others) {
		assert.equal(sniffFormat(bytes, name, null), null, name);
		await assert.rejects(parsed(bytes, name), { code: 'unsupported_file_type' }, name);
	}
});

test('the first 64 KiB are enough, also if they cut a character in two', () => {
	const text = Buffer.from(`a${'é'.repeat(SNIFF_BYTES)}`).subarray(0, SNIFF_BYTES);
	assert.equal(sniffFormat(text, 'a.txt', null), 'txt');
});

test('rejects data after a beginning that looks like text', async () => {
	const bytes = Buffer.concat([Buffer.from('Words. '.repeat(10_000)), randomBytes(50_000)]);
	await assert.rejects(parsed(bytes, 'a.txt'), { code: 'unsupported_file_type' });
});

test('a file that claims to be a PDF or Word document is rejected for its content, not for its type', async () => {
	for (const name of ['a.pdf', 'a.docx']) {
		await assert.rejects(parsed(randomBytes(1000), name), { code: 'unreadable_file' }, name);
		await assert.rejects(parsed('', name), { code: 'unreadable_file' }, name);
	}
});

test('a file of an unsupported type is refused with its type and the way out', async () => {
	const compound = Buffer.from('d0cf11e0a1b11ae1', 'hex');
	const refused: Array<[name: string, bytes: Buffer, sentence: RegExp]> = [
		['a.doc', compound, /Old Word documents \(\.doc\).*\.docx/],
		['a.xls', compound, /Old Excel files \(\.xls\).*\.xlsx or CSV/],
		['a.ppt', compound, /Old PowerPoint files \(\.ppt\).*PDF/],
		['data', Buffer.concat([compound, Buffer.from('Workbook', 'utf16le')]), /Old Excel files/],
		['a.png', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), /Pictures \(PNG\).*OCR/],
		['a.jpg', Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'), /Pictures \(JPEG\).*OCR/],
		['a.msg', compound, /Outlook messages \(\.msg\).*\.eml/],
		['a.xlsb', zip('[Content_Types].xml', 'xl/workbook.bin'), /Binary Excel files \(\.xlsb\).*\.xlsx/],
		['a.pages', zip('Index/Document.iwa'), /Pages documents.*PDF or Word/],
		['a.numbers', zip('Index/Document.iwa'), /Numbers.*CSV/],
		['a.key', zip('Index/Document.iwa'), /Keynote.*PowerPoint/],
		['a.mobi', Buffer.concat([Buffer.alloc(60), Buffer.from('BOOKMOBI\0\0\x01')]), /Kindle books.*EPUB/],
		[
			'mail',
			Buffer.from('From anna@x.example Mon Nov 23 09:00:00 2026\r\nSubject: Tea\r\n\r\nText.\r\n'),
			/Mailboxes.*\.eml/,
		],
		[
			'a.mht',
			Buffer.from(
				'From: <Saved by Blink>\nSubject: Tea\nMIME-Version: 1.0\nContent-Type: multipart/related;\n\tboundary=b\n\n--b\n',
			),
			/Web archives \(\.mht\).*HTML or PDF/,
		],
		['a.odg', zipped({ mimetype: 'application/vnd.oasis.opendocument.graphics' }), /OpenDocument.*\.odt.*PDF/],
	];
	for (const [name, bytes, message] of refused) {
		await assert.rejects(parsed(bytes, name), { code: 'unsupported_file_type', message }, name);
	}
	assert.equal(unsupportedFileMessage(zip('photo.raw'), 'a.zip'), undefined);
});

test('a file within a file does not decide the format', () => {
	const embedded = zipSync({ 'xl/workbook.xml': strToU8('x') });
	const files = {
		'[Content_Types].xml': strToU8('x'),
		'a/embeddings/b.xlsx': embedded,
		'word/document.xml': strToU8('x'),
	};
	assert.equal(sniffFormat(zipSync(files, { level: 0 }), 'a', null), 'docx');
});

test('a file with a password is named so whatever Office format its name has', async () => {
	const locked = Buffer.concat([
		Buffer.from('d0cf11e0a1b11ae1', 'hex'),
		Buffer.alloc(70_000),
		Buffer.from('EncryptedPackage', 'utf16le'),
	]);
	await assert.rejects(parsed(locked, 'a.xlsx'), { code: 'unreadable_file', message: /spreadsheet.*password/ });
	await assert.rejects(parsed(locked, 'a.docx'), { code: 'unreadable_file', message: /Word document.*password/ });
	const early = Buffer.concat([locked.subarray(0, 8), locked.subarray(-40)]);
	await assert.rejects(parsed(early, 'data'), { code: 'unsupported_file_type', message: /password/ });
});

test('a book and OpenDocument files without the part for their type have that of their name', () => {
	assert.equal(sniffFormat(zip('META-INF/container.xml', 'OEBPS/book.opf'), 'a.epub', null), 'epub');
	assert.equal(sniffFormat(zip('content.xml', 'styles.xml'), 'a.odt', null), 'odt');
	assert.equal(sniffFormat(zip('meta.xml', 'content.xml'), 'a.ods', null), 'ods');
	assert.equal(sniffFormat(zip('content.xml'), 'a.zip', null), null);
});
