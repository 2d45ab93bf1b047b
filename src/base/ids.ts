import { randomFillSync } from 'node:crypto';

/** The prefix of each kind of identifier. */
export const ID_PREFIXES = {
	assistant: 'asst_',
	knowledge_base: 'kb_',
	document: 'doc_',
	source: 'src_',
	source_page: 'page_',
	tool: 'tool_',
	webhook: 'wh_',
	event: 'evt_',
	conversation: 'conv_',
	message: 'msg_',
	note: 'note_',
	erasure: 'era_',
	canned_reply: 'canned_',
	deployment: 'dep_',
	api_key: 'key_',
	workspace: 'ws_',
	user: 'user_',
	delivery: 'dlv_',
	delivery_attempt: 'att_',
	session: 'sess_',
	audit_record: 'aud_',
	unanswered: 'unq_',
	generation: 'gen_',
	basis: 'basis_',
	job: 'job_',
	request: 'req_',
} as const;

/** A kind of identifier. */
export type IdKind = keyof typeof ID_PREFIXES;

/** Crockford's base 32: no i, l, o, u, so that ids can be read aloud. */
const BASE32_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** Two characters at a time, by their 10 bits. Every request gets an id, so this affects the highest request rate. */
const BASE32_PAIRS = Array.from(BASE32_ALPHABET, (first) =>
	Array.from(BASE32_ALPHABET, (second) => first + second),
).flat();
const RANDOM_BYTES = 12;
const IDS_PER_REFILL = 1024;

/** What an `IdGenerator` depends on. A simulation gives its own. */
export interface IdSources {
	/** Milliseconds since the epoch. */
	now(): number;
	/** Fills a buffer with random bytes. */
	fillRandom(buffer: Buffer): void;
}

const systemSources: IdSources = { now: () => Date.now(), fillRandom: (buffer) => void randomFillSync(buffer) };

/** Makes the identifiers of one process. */
export class IdGenerator {
	readonly #sources: IdSources;
	readonly #randomBytes = Buffer.alloc(RANDOM_BYTES * IDS_PER_REFILL);
	#randomOffset = RANDOM_BYTES * IDS_PER_REFILL;
	#lastMs = 0;
	#counter = 0;
	/** A time and the text of all but its last 8 bits. */
	#cachedTimeMs = -1;
	#cachedTimeText = '';

	constructor(sources: IdSources = systemSources) {
		this.#sources = sources;
	}

	/** See `newId`. */
	next(kind: IdKind, now: number = this.#sources.now()): string {
		if (now > this.#lastMs) {
			this.#lastMs = now;
			this.#counter = 0;
		} else if (++this.#counter > 0xffff) {
			this.#lastMs += 1;
			this.#counter = 0;
		}
		const randomBytes = this.#randomBytes;
		if (this.#randomOffset === randomBytes.length) {
			this.#sources.fillRandom(randomBytes);
			this.#randomOffset = 0;
		}
		const lastMs = this.#lastMs;
		const counter = this.#counter;
		if (this.#cachedTimeMs !== lastMs) {
			this.#cachedTimeMs = lastMs;
			const high = Math.floor(lastMs / 0x100000000);
			const low = lastMs >>> 0;
			this.#cachedTimeText = encodeFiveBytes(high >> 8, high & 255, low >>> 24, (low >> 16) & 255, (low >> 8) & 255);
		}
		const at = this.#randomOffset;
		this.#randomOffset += RANDOM_BYTES;
		const random = (index: number): number => randomBytes[at + index] as number;
		return (
			ID_PREFIXES[kind] +
			this.#cachedTimeText +
			encodeFiveBytes(lastMs & 255, counter >> 8, counter & 255, random(0), random(1)) +
			encodeFiveBytes(random(2), random(3), random(4), random(5), random(6)) +
			encodeFiveBytes(random(7), random(8), random(9), random(10), random(11))
		);
	}
}

let generator = new IdGenerator();

/** Makes `newId` use another generator from now on. A simulation starts each of its processes with a generator of its own. */
export function useIdGenerator(other: IdGenerator): void {
	generator = other;
}

/**
 * A new identifier: the prefix of its kind and 32 base-32 characters holding 48 bits of milliseconds, a 16-bit counter
 * within the millisecond and 96 random bits. Ids of one process sort in order of creation, even when the clock is set back.
 */
export function newId(kind: IdKind, now?: number): string {
	return generator.next(kind, now);
}

/** Five bytes are exactly eight characters of 5 bits. */
function encodeFiveBytes(a: number, b: number, c: number, d: number, e: number): string {
	const first = BASE32_PAIRS[(a << 2) | (b >> 6)] as string;
	const second = BASE32_PAIRS[((b & 63) << 4) | (c >> 4)] as string;
	const third = BASE32_PAIRS[((c & 15) << 6) | (d >> 2)] as string;
	return first + second + third + (BASE32_PAIRS[((d & 3) << 8) | e] as string);
}

/** When an identifier was made (ms since the epoch). */
export function timeOfId(id: string): number {
	const time = id.slice(id.indexOf('_') + 1).slice(0, TIME_CHARS);
	let value = 0;
	for (const character of time) value = value * 32 + BASE32_ALPHABET.indexOf(character);
	// Two bits of the last character belong to the counter.
	return Math.floor(value / 4);
}

/** Characters of 5 bits that hold the 48 bits of the time. */
const TIME_CHARS = 10;

/** The kind of an identifier by its prefix; null for any other text. */
export function kindOfId(text: string): IdKind | null {
	const prefix = text.slice(0, text.indexOf('_') + 1);
	const [kind] = Object.entries(ID_PREFIXES).find(([, known]) => known === prefix) ?? [];
	return (kind as IdKind | undefined) ?? null;
}

const ID_BODY = /^[0-9a-hjkmnp-tv-z]{32}$/;

/** Whether a string has the form of an identifier of this kind. Any other string names nothing: respond with 404. */
export function isId(kind: IdKind, text: string): boolean {
	const prefix = ID_PREFIXES[kind];
	return text.startsWith(prefix) && ID_BODY.test(text.slice(prefix.length));
}
