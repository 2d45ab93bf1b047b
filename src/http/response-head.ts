import type * as uWS from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import type { HeaderBlock } from './header-block.ts';
import type { Headers } from './types.ts';

const BROKEN_HEADER = /[\r\n\0]/;

/** The head of an answer. */
export interface ResponseHead {
	status: number;
	headers?: Headers | undefined;
	headerBlock?: HeaderBlock | undefined;
}

/** Writes status and headers, the request's id first. */
export function writeHead(
	res: uWS.HttpResponse,
	requestId: string,
	{ status, headers, headerBlock }: ResponseHead,
): void {
	// The library writes this status by itself.
	if (status !== 200) res.writeStatus(statusLine(status));
	// All headers in one call, which costs as much as all its bytes: each line begins with the end of the one before.
	let lines = requestId;
	if (headerBlock !== undefined) lines += headerBlock.lines;
	// By index: taking pairs apart by iteration shows in the rate of the smallest answers.
	for (let at = 0; headers !== undefined && at < headers.length; at++) {
		const pair = headers[at] as (typeof headers)[number];
		const line = `${pair[0]}: ${pair[1]}`;
		lines += `\r\n${BROKEN_HEADER.test(line) ? sanitisedHeader(pair) : line}`;
	}
	res.writeHeader('x-request-id', lines);
}

/** The line of a header that would break out of it. */
function sanitisedHeader([name, value]: Headers[number]): string {
	return `${name.replace(/[\r\n\0]+/g, '')}: ${value.replace(/[\r\n\0]+/g, ' ')}`;
}

const statusLines = new Map<number, string>();

function statusLine(status: number): string {
	let line = statusLines.get(status);
	if (line === undefined) {
		line = `${status} ${STATUS_CODES[status] ?? ''}`.trim();
		statusLines.set(status, line);
	}
	return line;
}
