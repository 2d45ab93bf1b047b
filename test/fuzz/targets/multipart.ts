import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { createLog } from '../../../src/base/index.ts';
import { createHttpServer, type Route } from '../../../src/http/index.ts';
import { postPackets, sendPackets } from '../http/packet-client.ts';
import { type ByteEdit, byteEdit, editBytes } from '../mutations/bytes.ts';
import type { FuzzTarget } from '../target.ts';

/** One part of a form. */
interface Part {
	name: string;
	/** Null for a text field. */
	fileName: string | null;
	content: string;
	/** Further headers, as text. */
	more: string;
}

interface Form {
	boundary: string;
	parts: Part[];
	/** What stands in the place of the closing boundary, if not the boundary. */
	end: string | null;
	contentType: string | null;
	changes: ByteEdit[];
	cuts: number[];
	/** Whether the handler reads the files or leaves them. */
	reads: boolean;
}

const MAX_FILE_BYTES = 200_000;
const BOUNDARIES = ['XX', '----WebKitFormBoundary7MA4YWxk', 'x'.repeat(70), "a'()+_,-./:=?", '--', '0'];
const CONTENTS = [
	'',
	'a',
	'\r\n',
	'\r\n--',
	'\r\n--XX',
	'\r\n--XY\r\n',
	'--XX--',
	'\r',
	'\n',
	'\0',
	'Größe',
	'\r\n\r\n',
	'x'.repeat(5_000),
	'-'.repeat(70_000),
	'\r\n--X'.repeat(9_000),
];
const MORE = [
	'',
	'Content-Type: text/plain',
	'Content-Type: a/b; c=d',
	'Content-Type: \x01',
	'Content-Transfer-Encoding: base64',
	'X: y\r\nX: z',
	'no colon',
	`X: ${'y'.repeat(9_000)}`,
	'Content-Disposition: form-data; name=again',
];
const NAMES = [
	'file',
	'title',
	'',
	'a"b',
	'a%22b',
	'__proto__',
	'x'.repeat(300),
	'日本',
	'../../etc/passwd',
	'C:\\a\\b.txt',
	'.',
	'\u202egpj.exe',
];

const part: fc.Arbitrary<Part> = fc.record({
	name: fc.constantFrom(...NAMES),
	fileName: fc.option(fc.constantFrom(...NAMES)),
	content: fc.constantFrom(...CONTENTS),
	more: fc.oneof({ weight: 3, arbitrary: fc.constant('') }, { weight: 1, arbitrary: fc.constantFrom(...MORE) }),
});

const form: fc.Arbitrary<Form> = fc.record({
	boundary: fc.constantFrom(...BOUNDARIES),
	parts: fc.array(part, { maxLength: 5 }),
	end: fc.option(fc.constantFrom('', '--', '--XX', '--XX-', '\r\n'), { freq: 3 }),
	contentType: fc.option(
		fc.constantFrom(
			...[
				'multipart/form-data',
				'multipart/form-data; boundary=',
				'multipart/form-data; boundary="XX"',
				'multipart/mixed; boundary=XX',
			],
			...[
				'multipart/form-data; boundary=XX; boundary=YY',
				'multipart/form-data;boundary="a',
				`multipart/form-data; boundary=${'b'.repeat(3_000)}`,
			],
		),
		{ freq: 6 },
	),
	changes: fc.oneof(
		{ weight: 1, arbitrary: fc.constant<ByteEdit[]>([]) },
		fc.array(byteEdit, { minLength: 1, maxLength: 3 }) as fc.Arbitrary<ByteEdit[]>,
	),
	cuts: fc.array(fc.nat(999), { maxLength: 6 }),
	reads: fc.boolean(),
});

function bodyOf({ boundary, parts, end, changes }: Form): Buffer {
	const texts = parts.map(({ name, fileName, content, more }) => {
		const file = fileName === null ? '' : `; filename="${fileName}"`;
		return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${more === '' ? '' : `${more}\r\n`}\r\n${content}\r\n`;
	});
	return changes.reduce<Buffer>(editBytes, Buffer.from(texts.join('') + (end ?? `--${boundary}--\r\n`)));
}

/** Forms: parts that look like boundaries, broken heads, changed bytes. Each has an answer; a plain form arrives byte for byte. */
export const multipart: FuzzTarget<Form> = {
	name: 'multipart',
	skip: false,
	shortRuns: 200,
	deadlineMs: 60_000,
	inputs: form,
	fileOf: (input) => ({ bytes: bodyOf(input), extension: 'form' }),
	async open() {
		const server = createHttpServer({
			host: '127.0.0.1',
			port: 0,
			log: createLog('silent'),
			environment: process.env,
			routes: [route('/read', true), route('/leave', false)],
		});
		const { port } = await server.listen();
		return {
			async run(input) {
				const type = input.contentType ?? `multipart/form-data; boundary="${input.boundary}"`;
				const path = input.reads ? '/read' : '/leave';
				const { status, text } = await sendPackets(port, postPackets(path, type, bodyOf(input), input.cuts));
				assert.ok(status === 200 || (status >= 400 && status < 500), `status ${status}: ${text}`);
				if (isPlain(input)) assert.deepEqual([status, JSON.parse(text)], [200, expected(input)]);
			},
			[Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
		};
	},
};

const hashOf = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

function route(path: string, reads: boolean): Route {
	return {
		method: 'POST',
		path,
		async handle(request) {
			const files: string[] = [];
			const fields = await request.multipart({
				maxFileBytes: MAX_FILE_BYTES,
				maxFieldBytes: 1_000,
				async onFile({ name, pieces }) {
					if (!reads) return;
					const chunks: Buffer[] = [];
					for await (const bytes of pieces) chunks.push(Buffer.from(bytes));
					files.push(`${name} ${hashOf(Buffer.concat(chunks))}`);
				},
			});
			return {
				status: 200,
				headers: [['content-type', 'application/json']],
				body: JSON.stringify({ files, fields: fields.map(({ name, value }) => `${name} ${hashOf(value)}`) }),
			};
		},
	};
}

/** Whether nothing about a form is unusual except the contents, which do not contain its boundary. */
function isPlain({ boundary, parts, end, contentType, changes }: Form): boolean {
	if (changes.length > 0 || contentType !== null || end !== null || parts.length === 0 || boundary === '--')
		return false;
	return parts.every(({ name, fileName, content, more }) => {
		const fits = fileName === null ? content.length <= 900 : content.length < MAX_FILE_BYTES;
		return (
			/^[a-z]{1,9}$/.test(name) &&
			/^(?:[a-z]{1,9})?$/.test(fileName ?? '') &&
			more === '' &&
			fits &&
			!`\r\n${content}`.includes(`\r\n--${boundary}`)
		);
	});
}

function expected({ parts, reads }: Form): { files: string[]; fields: string[] } {
	const describe = ({ name, content }: Part) => `${name} ${hashOf(content)}`;
	return {
		files: reads ? parts.filter(({ fileName }) => fileName !== null).map(describe) : [],
		fields: parts.filter(({ fileName }) => fileName === null).map(describe),
	};
}
