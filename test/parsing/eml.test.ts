import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseEml } from '../../src/parsing/eml.ts';
import { sniffFormat } from '../../src/parsing/index.ts';
import { outlined, parsed } from '../fixtures/documents/parsed.ts';
import { ap, makePptx, shape } from '../fixtures/documents/pptx.ts';

const HEAD = [
	'From: =?utf-8?Q?J=C3=B6rg?= <joerg@shop.example>',
	'Date: Mon, 23 Nov 2026 08:30:00 +0100',
	'Subject: Your order',
	'MIME-Version: 1.0',
];
const PICTURE = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const part = (type: string, content: string, more: string[] = []) =>
	[`Content-Type: ${type}`, ...more, '', content].join('\r\n');
const multipart = (kind: string, parts: string[], mark = 'b') =>
	[
		`Content-Type: multipart/${kind}; boundary=${mark}`,
		'',
		...parts.map((each) => `--${mark}\r\n${each}`),
		`--${mark}--`,
		'',
	].join('\r\n');
const message = (content: string, head = HEAD) => [...head, content].join('\r\n');
const attached = (name: string, type: string, bytes: Buffer | string) =>
	part(
		type,
		Buffer.from(bytes as string)
			.toString('base64')
			.replace(/.{76}/g, '$&\r\n'),
		['Content-Transfer-Encoding: base64', `Content-Disposition: attachment; filename="${name}"`],
	);

test('reads the subject, the sender, the date and the text of a message', async () => {
	const { blocks, format, title } = await parsed(
		message(part('text/plain; charset=utf-8', 'It left today.\r\n\r\n- one lid')),
		'a.eml',
	);
	assert.deepEqual([format, title], ['eml', 'Your order']);
	assert.deepEqual(outlined(blocks), [
		'h1 Your order',
		'paragraph From: Jörg <joerg@shop.example>\nDate: 2026-11-23',
		'paragraph It left today.',
		'item - one lid',
	]);
});

test('reads the form of a message with markup once, with its tables', async () => {
	const html =
		'<html><body><p>Hello,</p><table><tr><th>Part</th><th>Price</th></tr><tr><td>Lid</td><td>5</td></tr></table></body></html>';
	const parts = [part('text/plain', 'Hello, plain'), part('text/html', html)];
	const { blocks } = await parsed(message(multipart('alternative', parts)), 'a.eml');
	assert.deepEqual(outlined(blocks).slice(2), ['paragraph Hello,', 'row Part | Price', 'row Lid | 5']);
});

test('appends attachments that are documents as sections, and names all others', async () => {
	const slides = makePptx([{ shapes: shape([ap('Plan')], 'title') + shape([ap('Two steps.')]) }]);
	const inner = message(part('text/plain', 'Inner text'), ['From: a@b.example', 'Subject: Inner']);
	const parts = [
		part('text/plain', 'See below.'),
		attached('prices.csv', 'text/csv', 'Part,Price\nLid,5\n'),
		attached('photo.png', 'image/png', PICTURE),
		attached('logo.png', 'image/png', PICTURE).replace('attachment;', 'inline;'),
		attached('invite.ics', 'text/calendar', 'BEGIN:VCALENDAR\r\nEND:VCALENDAR'),
		attached('broken.docx', 'application/octet-stream', 'PK\x03\x04 nothing'),
		attached('slides.pptx', 'application/octet-stream', slides),
		attached('inner.eml', 'application/octet-stream', inner),
		part('message/rfc822', inner.replace('Subject: Inner', 'Subject: Forwarded')),
	];
	const { blocks } = await parsed(message(multipart('mixed', parts)), 'a.eml');
	assert.deepEqual(outlined(blocks).slice(2), [
		'paragraph See below.',
		'h1 prices.csv',
		'row Part | Price',
		'row Lid | 5',
		'paragraph The attachment broken.docx could not be read.',
		'h1 slides.pptx',
		'h2 Plan',
		'paragraph Two steps.',
		'h1 inner.eml',
		'h2 Inner',
		'paragraph From: a@b.example',
		'paragraph Inner text',
		'h1 Forwarded',
		'paragraph From: a@b.example',
		'paragraph Inner text',
		'paragraph Attachments that are no documents: photo.png, invite.ics',
	]);
	assert.ok(blocks.every(({ page }) => page === null));
});

test('messages within messages are read to a certain depth', async () => {
	let file = message(part('text/plain', 'Innermost'));
	for (let depth = 0; depth < 6; depth++)
		file = message(multipart('mixed', [attached(`${depth}.eml`, 'application/octet-stream', file)]));
	await assert.rejects(parsed(file, 'a.eml'), { code: 'resource_limit', message: /within each other/ });
});

test('the first lines show that a file without a name is a message', () => {
	const bytes = Buffer.from(['Received: by x', 'Message-ID: <1@x>', ...HEAD, '', 'Text'].join('\r\n'));
	assert.equal(sniffFormat(bytes, null, null), 'eml');
	assert.equal(sniffFormat(bytes, 'a.txt', null), 'txt');
	assert.equal(sniffFormat(Buffer.from('From: the start\nof a story'), null, null), 'txt');
});

test('reads each of several texts with markup', async () => {
	const page = (text: string) =>
		part('text/html', `<html><head><style>p{}</style></head><body><p>${text}</p></body></html>`);
	const { blocks } = await parsed(message(multipart('mixed', [page('First.'), page('Second.')])), 'a.eml');
	assert.deepEqual(outlined(blocks).slice(2), ['paragraph First.', 'paragraph Second.']);
});

test('the attachments after too much text are not parsed', async () => {
	const parts = ['a.txt', 'b.txt', 'c.txt', 'd.txt'].map((name) => attached(name, 'text/plain', 'words'));
	const text = 'words '.repeat(1_000_000);
	let count = 0;
	const parse = async () => {
		count++;
		const blocks = [{ kind: 'paragraph' as const, text, page: null }];
		return { format: 'txt' as const, title: null, declared_language: null, page_count: null, blocks };
	};
	await assert.rejects(parseEml(Buffer.from(message(multipart('mixed', parts))), parse), { code: 'resource_limit' });
	assert.equal(count, 2);
});

test('the date of a message is the day of its sender', async () => {
	const head = ['From: a@b.example', 'Date: Mon, 23 Nov 2026 23:30:00 -0500', 'Subject: Late', 'MIME-Version: 1.0'];
	const { blocks } = await parsed(message(part('text/plain', 'Text'), head), 'a.eml');
	assert.match(blocks[1]?.text ?? '', /Date: 2026-11-23$/);
});
