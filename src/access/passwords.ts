import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { Semaphore, type SemaphoreQueue } from '../base/index.ts';

/** Cost of scrypt (RFC 7914). N is 2 to the power of `ln`. */
interface Cost {
	ln: number;
	r: number;
	p: number;
}

/** As OWASP's password storage cheat sheet recommends: 32 MiB and about a quarter of a second each. */
const COST: Cost = { ln: 15, r: 8, p: 3 };
/** The highest cost that a stored hash may name: a damaged row must not take all memory. */
const MAX_COST: Cost = { ln: 20, r: 16, p: 16 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Each takes 32 MiB and a thread of Node's pool, which file and DNS operations share. */
const MAX_CONCURRENT_HASHES = 2;
/** About ten seconds of work. */
const MAX_QUEUED_HASHES = 64;

const PHC = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{4,86})\$([A-Za-z0-9+/]{22,86})$/;

/** Derives a key from a password: Node's scrypt, outside the event loop. */
export type DeriveKey = (password: string, salt: Buffer, bytes: number, options: ScryptOptions) => Promise<Buffer>;

const derive: DeriveKey = (password, salt, bytes, options) =>
	new Promise((resolve, reject) => {
		scrypt(password, salt, bytes, options, (error, key) => (error ? reject(error) : resolve(key)));
	});

/**
 * Stored passwords: a memory-hard hash with its cost and salt in the PHC string format, so that the cost can be raised later.
 * Concurrency and queue are small for all callers. Known devices wait in the queue `preferred`: a flood of guesses fills the other
 * queue and does not get them rejected.
 */
export class Passwords {
	readonly #semaphore = new Semaphore(MAX_CONCURRENT_HASHES, MAX_QUEUED_HASHES);
	readonly #derive: DeriveKey;
	/** The hash of a random password, to compare with where there is no account. */
	readonly #dummyHash = format(COST, randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));

	constructor(deriveKey: DeriveKey = derive) {
		this.#derive = deriveKey;
	}

	/** @throws AppError `unavailable` when the queue is full */
	async hash(password: string, queue: SemaphoreQueue = 'common'): Promise<string> {
		const salt = randomBytes(SALT_BYTES);
		return format(COST, salt, await this.#key(password, { salt, bytes: HASH_BYTES, cost: COST, queue }));
	}

	/**
	 * Whether a password matches a stored hash.
	 * @param stored null where there is no account or no password yet: the cost is the same, the result is false
	 * @throws AppError `unavailable` when the queue is full
	 */
	async verify(password: string, stored: string | null, queue: SemaphoreQueue = 'common'): Promise<boolean> {
		const { cost, salt, hash } = parse(stored ?? this.#dummyHash);
		const key = await this.#key(password, { salt, bytes: hash.length, cost, queue });
		return timingSafeEqual(key, hash) && stored !== null;
	}

	#key(
		password: string,
		{ salt, bytes, cost: { ln, r, p }, queue }: { salt: Buffer; bytes: number; cost: Cost; queue: SemaphoreQueue },
	): Promise<Buffer> {
		const N = 2 ** ln;
		// Keyboards may send the same letters in different Unicode forms (RFC 8265, section 4).
		const text = password.normalize('NFC');
		return this.#semaphore.run(
			() => this.#derive(text, salt, bytes, { N, r, p, maxmem: 256 * N * r }),
			undefined,
			queue,
		);
	}
}

function format({ ln, r, p }: Cost, salt: Buffer, hash: Buffer): string {
	return `$scrypt$ln=${ln},r=${r},p=${p}$${unpadded(salt)}$${unpadded(hash)}`;
}

function unpadded(bytes: Buffer): string {
	return bytes.toString('base64').replaceAll('=', '');
}

function parse(stored: string): { cost: Cost; salt: Buffer; hash: Buffer } {
	const [, ln, r, p, salt = '', hash = ''] = PHC.exec(stored) ?? [];
	const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
	const fits = (name: keyof Cost) => cost[name] >= 1 && cost[name] <= MAX_COST[name];
	if (!fits('ln') || !fits('r') || !fits('p')) throw new Error('A stored password hash is damaged.');
	return { cost, salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') };
}
