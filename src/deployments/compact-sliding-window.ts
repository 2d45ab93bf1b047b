import { getRandomValues } from 'node:crypto';
import { type Clock, SlidingWindowLog } from '../base/index.ts';

/** Keys fill at most two thirds of a generation's slots. */
const SLOTS_PER_KEY = 1.5;
/** In place of the time of a key's only event, where it has several. */
const MULTIPLE_EVENTS = Number.NaN;

/**
 * Counts events per key in an exact sliding window, as `SlidingWindowLimiter` does, for keys that mostly occur once: the only event of
 * a key takes a few bytes in a typed array, which garbage collection does not scan. Keys are in two generations: when the younger one
 * is full, the older one is dropped as a whole. So at least the last `keys` different keys are remembered, and at most twice as many.
 * A key is identified by a 64-bit hash that clients cannot predict.
 */
export class CompactSlidingWindow {
	readonly #clock: Clock;
	readonly #windowMs: number;
	readonly #keys: number;
	#younger: HashGeneration;
	#older: HashGeneration;
	/** Keys that are in both generations. */
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
	 * Counts one event. Returns 0 within the limit, else the whole seconds until an event is within it again.
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

	/** All times of a key; none where its only time was too long ago, and `now` has replaced it. */
	#logOf(slot: number, now: number, limit: number): SlidingWindowLog | undefined {
		const { singleEventTimes, logs } = this.#younger;
		const before = singleEventTimes[slot] as number;
		if (Number.isNaN(before)) return logs.get(slot);
		if (before <= now - this.#windowMs) {
			singleEventTimes[slot] = now;
			return undefined;
		}
		const log = new SlidingWindowLog(this.#windowMs);
		// After the clock was set back, the event counts as of now.
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

/** A hash table with open addressing. Single keys are never removed. */
class HashGeneration {
	size = 0;
	/** The time of a key's only event (ms), by slot. */
	readonly singleEventTimes: Float64Array;
	/** The events of the other keys, by slot. */
	readonly logs = new Map<number, SlidingWindowLog>();
	/** Two hashes per slot. The first is 0 where the slot is free. */
	readonly #hashes: Int32Array;
	readonly #mask: number;

	/** @param slots a power of two */
	constructor(slots: number) {
		this.singleEventTimes = new Float64Array(slots);
		this.#hashes = new Int32Array(2 * slots);
		this.#mask = slots - 1;
	}

	/** The slot of a key; -1 where it is missing. */
	find(first: number, second: number): number {
		const hashes = this.#hashes;
		for (let slot = second & this.#mask; hashes[2 * slot] !== 0; slot = (slot + 1) & this.#mask) {
			if (hashes[2 * slot] === first && hashes[2 * slot + 1] === second) return slot;
		}
		return -1;
	}

	/** Assigns a free slot to a new key. There must be one. */
	add(first: number, second: number): number {
		const hashes = this.#hashes;
		let slot = second & this.#mask;
		while (hashes[2 * slot] !== 0) slot = (slot + 1) & this.#mask;
		hashes[2 * slot] = first;
		hashes[2 * slot + 1] = second;
		this.size++;
		return slot;
	}

	/** Copies the events of a key from another generation. */
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

/** Sets both hashes of a key, the first of them never 0. They are in variables, because an object per request would cost time. */
function hashKey(group: string, member: string): void {
	firstHash = seeds[0] as number;
	secondHash = seeds[1] as number;
	mixIn(group);
	// The boundary between the two halves is part of the key.
	mixIn(member, group.length);
	// The finaliser of MurmurHash3: each bit depends on all others.
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
