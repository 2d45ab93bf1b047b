import fc from 'fast-check';
import { type ByteEdit, byteEdit } from '../mutations/bytes.ts';

/** The bytes of one connection, and how they are cut into packets. */
export interface ConnectionInput {
	/** The parts of the requests, as Latin-1. */
	requests: string[];
	changes: ByteEdit[];
	/** Places of cuts, in thousandths of the length; `each` cuts after every byte. */
	cuts: number[] | 'each';
	/** Whether the first line of a request is cut, too. */
	cutsLines: boolean;
}

const chunks = (pieces: string[], size = (piece: string) => piece.length.toString(16)) =>
	`${pieces.map((piece) => `${size(piece)}\r\n${piece}\r\n`).join('')}0\r\n\r\n`;

const word = fc.constantFrom('a', 'kettle', ' ', '0', '\\u00e9', 'GET / HTTP/1.1', '\\r\\n', '0\\r\\n\\r\\n');
const jsonText = fc.array(word, { maxLength: 5 }).map((words) => `"${words.join('')}"`);

const get = fc
	.constantFrom('/next', '/next?a=b', '/absent', '/next/../next', '/%6eext')
	.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
const post = (fields: string, body: string) =>
	`POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${fields}\r\n${body}`;
const withLength = jsonText.map((body) => post(`Content-Length: ${body.length}\r\n`, body));
const chunked = fc.tuple(jsonText, fc.array(fc.nat(30), { maxLength: 4 })).map(([body, sizes]) => {
	const pieces: string[] = [];
	let rest = body;
	for (const size of sizes) {
		if (size === 0 || size >= rest.length) continue;
		pieces.push(rest.slice(0, size));
		rest = rest.slice(size);
	}
	return post('Transfer-Encoding: chunked\r\n', chunks([...pieces, rest]));
});

/** Fields of the length of a body that two readers might understand differently. */
const LENGTH_FIELDS = [
	...[
		'Content-Length: +5\r\n',
		'Content-Length: -1\r\n',
		'Content-Length: 0x5\r\n',
		'Content-Length: 5, 5\r\n',
		'Content-Length: 5 5\r\n',
	],
	...[
		'Content-Length: \r\n',
		'Content-Length: 5\r\nContent-Length: 6\r\n',
		'Content-Length: 5\r\nContent-Length: 5\r\n',
		'Content-Length : 5\r\n',
	],
	...[
		'Content-Length: 00000000000000000005\r\n',
		'Content-Length: 18446744073709551621\r\n',
		'Content-Length: 4294967301\r\n',
		'Content-Length: 1e1\r\n',
	],
	...[
		'Content-Length: ５\r\n',
		' Content-Length: 5\r\n',
		'Content-Length:\t5\t\r\n',
		'Content_Length: 5\r\n',
		'X: y\r\n Content-Length: 5\r\n',
	],
	...[
		'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n',
		'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n',
		'Transfer-Encoding: Chunked\r\n',
	],
	...[
		'Transfer-Encoding: chunked, identity\r\n',
		'Transfer-Encoding: identity, chunked\r\n',
		'Transfer-Encoding: xchunked\r\n',
		'Transfer-Encoding:\tchunked\r\n',
	],
	...[
		'Transfer-Encoding: "chunked"\r\n',
		'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n',
		'Transfer-Encoding : chunked\r\n',
		'Transfer-Encoding: \r\n chunked\r\n',
	],
	...[
		'Transfer-Encoding: chunked;q=1\r\n',
		'Transfer-Encoding: \x0bchunked\r\n',
		'X: y\nTransfer-Encoding: chunked\r\n',
		'X: y\rContent-Length: 5\r\n',
	],
];
const BODIES = [
	'"abc"',
	'5\r\n"abc"\r\n0\r\n\r\n',
	'0\r\n\r\n',
	'5;a=b\r\n"abc"\r\n0\r\n\r\n',
	'5\r\n"abc"\r\n0\r\nX: y\r\n\r\n',
	'5\n"abc"\n0\n\n',
];
const CHUNKED_BODIES = [
	...[
		'-5\r\n"abc"\r\n0\r\n\r\n',
		'0x5\r\n"abc"\r\n0\r\n\r\n',
		'5 \r\n"abc"\r\n0\r\n\r\n',
		'05\r\n"abc"\r\n00\r\n\r\n',
		'5\r\n"abc"0\r\n\r\n',
		'5\r\n"abcd"\r\n0\r\n\r\n',
	],
	...[
		'ffffffffffffffff5\r\n"abc"\r\n0\r\n\r\n',
		'100000005\r\n"abc"\r\n0\r\n\r\n',
		'5;x="\r\n"abc"\r\n0\r\n\r\n',
		'\r\n5\r\n"abc"\r\n0\r\n\r\n',
		'5\r\n"abc"\r\n0\r\n',
		'5\r\n"abc"\r\n0\r\nContent-Length: 9\r\n\r\n',
	],
	...[
		'5\r\n"abc"\r\n0\r\nXX',
		'g\r\n"abc"\r\n0\r\n\r\n',
		'5\r"abc"\r\n0\r\n\r\n',
		';\r\n"abc"\r\n0\r\n\r\n',
		'5\r\n"abc"\r\n-0\r\n\r\n',
	],
];
const smuggling = fc.oneof(
	fc.tuple(fc.constantFrom(...LENGTH_FIELDS), fc.constantFrom(...BODIES)).map(([fields, body]) => post(fields, body)),
	fc.constantFrom(...CHUNKED_BODIES).map((body) => post('Transfer-Encoding: chunked\r\n', body)),
);

const ODD_HEADS = [
	...[
		'GET /next HTTP/1.1\r\n\r\n',
		'GET /next HTTP/1.1\nHost: a\n\n',
		'GET /next HTTP/1.0\r\nHost: a\r\n\r\n',
		'GET /next HTTP/2.0\r\nHost: a\r\n\r\n',
	],
	...[
		'GET  /next HTTP/1.1\r\nHost: a\r\n\r\n',
		'GET http://b/next HTTP/1.1\r\nHost: a\r\n\r\n',
		'get /next HTTP/1.1\r\nHost: a\r\n\r\n',
		'GET /next\r\n\r\n',
	],
	...[
		'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
		'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n',
		'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
		'TRACE /next HTTP/1.1\r\nHost: a\r\n\r\n',
	],
	...[
		'GET /next HTTP/1.1\r\nHost: a, b\r\n\r\n',
		'GET /next HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
		'GET /next HTTP/1.1\r\nHost: a/b\r\n\r\n',
		'GET /next HTTP/1.1\r\nHost:\r\n\r\n',
	],
	...[
		'GET /next HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n',
		'GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n',
		'GET /%00%ff%zz HTTP/1.1\r\nHost: a\r\n\r\n',
		'\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n',
	],
	...[
		'POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n',
		'GET /next HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n',
	],
	...[
		'GET /next HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n',
		'GET /next HTTP/1.1\r\nHost: a\r\nX\x01: y\r\n\r\n',
		'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
	],
	`GET /next HTTP/1.1\r\nHost: a\r\n${'X: y\r\n'.repeat(120)}\r\n`,
	`GET /${'n'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
];
const odd = fc.constantFrom(...ODD_HEADS);

export const connectionInput: fc.Arbitrary<ConnectionInput> = fc.record({
	requests: fc.array(
		fc.oneof(
			{ weight: 3, arbitrary: get },
			{ weight: 3, arbitrary: withLength },
			{ weight: 2, arbitrary: chunked },
			{ weight: 3, arbitrary: smuggling },
			{ weight: 1, arbitrary: odd },
		),
		{ minLength: 1, maxLength: 4 },
	),
	changes: fc.oneof(
		{ weight: 2, arbitrary: fc.constant<ByteEdit[]>([]) },
		{ weight: 1, arbitrary: fc.array(byteEdit, { minLength: 1, maxLength: 3 }) },
	),
	cuts: fc.oneof(
		{ weight: 3, arbitrary: fc.array(fc.nat(999), { maxLength: 6 }) as fc.Arbitrary<ConnectionInput['cuts']> },
		{ weight: 1, arbitrary: fc.constant('each' as const) },
	),
	cutsLines: fc.nat(4).map((dice) => dice === 0),
});
