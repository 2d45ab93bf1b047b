import { randomFillSync } from 'node:crypto';

/** Prefixes of public identifiers and what they name. */
export const ID_PREFIXES = {
	assistant: 'asst_',
	knowledge_base: 'kb_',
	document: 'doc_',
	tool: 'tool_',
	webhook: 'wh_',
	event: 'evt_',
	conversation: 'conv_',
	message: 'msg_',
	deployment: 'dep_',
	api_key: 'key_',
	workspace: 'ws_',
	user: 'user_',
	delivery: 'dlv_',
	delivery_attempt: 'att_',
	session: 'sess_',
	generation: 'gen_',
	basis: 'basis_',
	job: 'job_',
	request: 'req_',
} as const;

/** What an identifier can name. */
export type IdKind = keyof typeof ID_PREFIXES;

/** Crockford's base 32: no i, l, o, u, so an id survives being read aloud. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const RANDOM_BYTES = 12;
const POOL_IDS = 256;

const pool = Buffer.alloc(RANDOM_BYTES * POOL_IDS);
let poolAt = pool.length;
let lastMs = 0;
let counter = 0;

/**
 * A new identifier: the prefix of its kind and 32 base-32 characters holding 48 bits of milliseconds, a 16-bit counter
 * within the millisecond and 96 random bits. Ids of one process sort as they were made, also when the clock steps back.
 */
export function newId(kind: IdKind, now: number = Date.now()): string {
	if (now > lastMs) {
		lastMs = now;
		counter = 0;
	} else if (++counter > 0xffff) {
		lastMs += 1;
		counter = 0;
	}
	if (poolAt === pool.length) {
		randomFillSync(pool);
		poolAt = 0;
	}
	const bytes = Buffer.allocUnsafe(20);
	bytes.writeUIntBE(lastMs, 0, 6);
	bytes.writeUInt16BE(counter, 6);
	pool.copy(bytes, 8, poolAt, poolAt + RANDOM_BYTES);
	poolAt += RANDOM_BYTES;
	return ID_PREFIXES[kind] + base32(bytes);
}

/** 20 bytes are exactly 32 characters of 5 bits. */
function base32(bytes: Buffer): string {
	let text = '';
	let bits = 0;
	let value = 0;
	for (const byte of bytes) {
		value = ((value << 8) | byte) & 0x1fff;
		bits += 8;
		while (bits >= 5) {
			bits -= 5;
			text += ALPHABET[(value >> bits) & 31];
		}
	}
	return text;
}

const BODY = /^[0-9a-hjkmnp-tv-z]{32}$/;

/** Whether a string has the form of an identifier of this kind. One that has not can name nothing: answer 404. */
export function isId(kind: IdKind, text: string): boolean {
	const prefix = ID_PREFIXES[kind];
	return text.startsWith(prefix) && BODY.test(text.slice(prefix.length));
}
