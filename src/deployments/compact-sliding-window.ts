import { getRandomValues } from 'node:crypto';
import { type Clock, SlidingWindowLog } from '../base/index.ts';

/** Keys in a generation fill at most two thirds of its places. */
const SLOTS_PER_KEY = 1.5;
/** Instead of the time of a key's only event, where it has more than one. */
const MULTIPLE_EVENTS = Number.NaN;

/**
 * Counts events per key in a sliding window, exactly, as `SlidingWindowLimiter` does, for keys most of which come once and never
 * again: one event of a key is a few bytes in an array, nothing that garbage collection would have to look at. Keys live in two
 * generations: when the younger one is full, the older one is forgotten at one go. So it remembers the last `keys` different
 * keys at least, and twice as many at most. A key is known by a hash of 64 bits that nobody outside can foresee.
 */
export class CompactSlidingWindow {
	readonly #clock: Clock;
	readonly #windowMs: number;
	readonly #keys: number;
	#younger: HashGeneration;
	#older: HashGeneration;
	/** Keys of the older generation that are in the younger one, too. */
	#inBoth = 0;

	constructor(clock: Clock, windowMs: number, keys: number) {
		this.#clock = clock;
		this.#windowMs = windowMs;
		this.#keys = keys;
		const slots = 2 ** Math.ceil(Math.log2(keys * SLOTS_PER_KEY));
		this.#younger = new HashGeneration(slots);
		this.#older = new HashGeneration(slots);
	}

	/** Keys that are remembered. */
	get size(): number {
		return this.#younger.size + this.#older.size - this.#inBoth;
	}

	/**
	 * Counts one event; 0 where it is within the limit, else whole seconds until one is again.
	 * @param group half of the key, as is `member`
	 */
	tryConsume(group: string, member: string, limit: number): number {
		hashKey(group, member);
		const [first, second] = [firstHash, secondHash];
		const now = this.#clock.now();
		let slot = this.#younger.find(first, second);
		if (slot < 0) {
			if (this.#younger.size >= this.#keys) this.#rotate();
			slot = this.#younger.add(first, second);
			const before = this.#older.find(first, second);
			if (before < 0) {
				this.#younger.singleEventTimes[slot] = now;
				return 0;
			}
			this.#inBoth++;
			this.#younger.copyFrom(slot, this.#older, before);
		}
		const wait = this.#logOf(slot, now, limit)?.tryAdd(now, limit) ?? 0;
		return Math.ceil(wait / 1000);
	}

	/** All times of a key; none where the only one before was too long ago, and `now` has taken its place. */
	#logOf(slot: number, now: number, limit: number): SlidingWindowLog | undefined {
		const { singleEventTimes, logs } = this.#younger;
		const before = singleEventTimes[slot] as number;
		if (Number.isNaN(before)) return logs.get(slot);
		if (before <= now - this.#windowMs) {
			singleEventTimes[slot] = now;
			return undefined;
		}
		const log = new SlidingWindowLog(this.#windowMs);
		// A clock that was set back: it happened at the latest just now.
		log.tryAdd(Math.min(before, now), limit);
		singleEventTimes[slot] = MULTIPLE_EVENTS;
		logs.set(slot, log);
		return log;
	}

	#rotate(): void {
		const recycled = this.#older;
		recycled.clear();
		this.#older = this.#younger;
		this.#younger = recycled;
		this.#inBoth = 0;
	}
}

/** Keys by their hashes: open addressing, and no key ever leaves alone. */
class HashGeneration {
	size = 0;
	/** When a key's only event happened (ms), by its place. */
	readonly singleEventTimes: Float64Array;
	/** The events of the others, by place. */
	readonly logs = new Map<number, SlidingWindowLog>();
	/** Two for each place; a first one of 0 is nobody's. */
	readonly #hashes: Int32Array;
	readonly #mask: number;

	/** @param slots a power of two */
	constructor(slots: number) {
		this.singleEventTimes = new Float64Array(slots);
		this.#hashes = new Int32Array(2 * slots);
		this.#mask = slots - 1;
	}

	/** The place of a key; -1 where it is not here. */
	find(first: number, second: number): number {
		const hashes = this.#hashes;
		for (let slot = second & this.#mask; hashes[2 * slot] !== 0; slot = (slot + 1) & this.#mask) {
			if (hashes[2 * slot] === first && hashes[2 * slot + 1] === second) return slot;
		}
		return -1;
	}

	/** Gives a key that is not here a place. There must be one left. */
	add(first: number, second: number): number {
		const hashes = this.#hashes;
		let slot = second & this.#mask;
		while (hashes[2 * slot] !== 0) slot = (slot + 1) & this.#mask;
		hashes[2 * slot] = first;
		hashes[2 * slot + 1] = second;
		this.size++;
		return slot;
	}

	/** Takes over what another generation knows of a key. */
	copyFrom(slot: number, other: HashGeneration, from: number): void {
		this.singleEventTimes[slot] = other.singleEventTimes[from] as number;
		const times = other.logs.get(from);
		if (times) this.logs.set(slot, times);
	}

	clear(): void {
		this.#hashes.fill(0);
		this.logs.clear();
		this.size = 0;
	}
}

const seeds = getRandomValues(new Int32Array(2));
let firstHash = 0;
let secondHash = 0;

/** Sets both hashes of a key, the first of them never 0. Left in variables: an object for each request would show. */
function hashKey(group: string, member: string): void {
	firstHash = seeds[0] as number;
	secondHash = seeds[1] as number;
	mixIn(group);
	// Where one half ends and the other begins is part of the key.
	mixIn(member, group.length);
	// As MurmurHash3 ends: each bit depends on all others.
	firstHash ^= firstHash >>> 16;
	firstHash = Math.imul(firstHash, 0x85ebca6b) ^ Math.imul(secondHash ^ (secondHash >>> 13), 0xc2b2ae35);
	secondHash ^= secondHash >>> 16;
	secondHash = Math.imul(secondHash, 0x85ebca6b) ^ Math.imul(firstHash ^ (firstHash >>> 13), 0xc2b2ae35);
	firstHash = (firstHash ^ (firstHash >>> 15)) | 0 || 1;
	secondHash = (secondHash ^ (secondHash >>> 15)) | 0;
}

function mixIn(text: string, extra = 0): void {
	let first = firstHash ^ extra;
	let second = secondHash;
	for (let at = 0; at < text.length; at++) {
		const code = text.charCodeAt(at);
		first = Math.imul(first ^ code, 0x9e3779b1);
		second = Math.imul(second ^ code, 0x5f356495);
		first = (first << 13) | (first >>> 19);
		second = (second << 17) | (second >>> 15);
	}
	firstHash = first;
	secondHash = second;
}
