// Compresses for gzip as small as the format allows, within reason: for files that are made once and fetched by everybody.
import { crc32, gunzipSync, gzipSync } from 'node:zlib';

const WINDOW = 32_768;
const LONGEST_MATCH = 258;
const LONGEST_CODE = 15;
const END = 256;
const ROUNDS = 15;
const SPLITS = 2;
const MOST_BLOCKS = 12;
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** The symbol of a length or a distance, its extra bits and the number that these count from (RFC 1951, section 3.2.5). */
const lengthSymbols = new Array(LONGEST_MATCH + 1);
for (let symbol = 257, base = 3; symbol < 285; symbol++) {
	const extra = symbol < 261 ? 0 : (symbol - 261) >> 2;
	for (let length = base; length < base + (1 << extra) && length < LONGEST_MATCH; length++) {
		lengthSymbols[length] = { symbol, extra, base };
	}
	base += 1 << extra;
}
lengthSymbols[LONGEST_MATCH] = { symbol: 285, extra: 0, base: LONGEST_MATCH };
const distanceSymbols = new Array(WINDOW + 1);
for (let symbol = 0, base = 1; symbol < 30; symbol++) {
	const extra = symbol < 2 ? 0 : (symbol - 2) >> 1;
	for (let distance = base; distance < base + (1 << extra); distance++) {
		distanceSymbols[distance] = { symbol, extra, base };
	}
	base += 1 << extra;
}

/**
 * A gzip file of these bytes: never larger than zlib's smallest. Where zlib takes the next good match, this looks for the
 * cheapest way through the whole text, again and again with what the way before has shown each symbol to cost, as Zopfli does.
 * @param {Buffer} bytes at most some hundred kilobytes: the time grows with their repetitions
 */
export function smallGzip(bytes) {
	const forms = [5, 6, 7, 8, 9].map((memLevel) => gzipSync(bytes, { level: 9, memLevel }));
	const ours = gzipFile(bytes, deflate(bytes));
	if (!gunzipSync(ours).equals(bytes)) throw new Error('What was compressed is not what it was.');
	return [ours, ...forms].reduce((best, form) => (form.length < best.length ? form : best));
}

function gzipFile(bytes, deflated) {
	const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255]);
	const trailer = Buffer.alloc(8);
	trailer.writeUInt32LE(crc32(bytes), 0);
	trailer.writeUInt32LE(bytes.length, 4);
	return Buffer.concat([header, deflated, trailer]);
}

function deflate(bytes) {
	const matches = findMatches(bytes);
	let blocks = [cheapestWay(bytes, matches, 0, bytes.length)];
	let best = null;
	for (let round = 0; round < SPLITS; round++) {
		// Ways that were found for one part each know better where the parts had better end.
		blocks = split(blocks.flat()).map(([from, to]) => cheapestWay(bytes, matches, from, to));
		const bits = createBits();
		blocks.forEach((way, index) => {
			writeBlock(bits, way, index === blocks.length - 1);
		});
		const written = bits.end();
		if (!best || written.length < best.length) best = written;
	}
	return best;
}

/** For each position the longer and longer matches, [length, distance], each by its nearest place. */
function findMatches(bytes) {
	const before = new Int32Array(bytes.length).fill(-1);
	const last = new Map();
	const found = [];
	for (let at = 0; at < bytes.length; at++) {
		const here = [];
		if (at + 3 <= bytes.length) {
			const key = (bytes[at] << 16) | (bytes[at + 1] << 8) | bytes[at + 2];
			before[at] = last.get(key) ?? -1;
			last.set(key, at);
			const most = Math.min(LONGEST_MATCH, bytes.length - at);
			let longest = 2;
			for (let from = before[at]; from >= 0 && at - from <= WINDOW && longest < most; from = before[from]) {
				if (bytes[from + longest] !== bytes[at + longest]) continue;
				let length = 3;
				while (length < most && bytes[from + length] === bytes[at + length]) length++;
				if (length > longest) here.push([length, at - from]);
				longest = Math.max(length, longest);
			}
		}
		found.push(here);
	}
	return found;
}

/** The steps through a part of the text that take the fewest bits: {at, length, distance}, a byte where there is no distance. */
function cheapestWay(bytes, matches, from, to) {
	let costs = { symbol: (symbol) => (symbol < END ? 8 : 7), distance: () => 5 };
	let best = null;
	for (let round = 0; round < ROUNDS; round++) {
		const steps = wayWith(costs, bytes, matches, from, to);
		const counts = count(steps);
		const way = { steps, bits: blockBits(counts) };
		if (!best || way.bits < best.bits) best = way;
		const entropy = (numbers) => {
			const total = numbers.reduce((sum, number) => sum + number, 0) || 1;
			const bits = numbers.map((number) => Math.log2(total / (number || 0.5)));
			return (symbol) => bits[symbol];
		};
		costs = { symbol: entropy(counts.symbols), distance: entropy(counts.distances) };
	}
	return best.steps;
}

function wayWith(costs, bytes, matches, from, to) {
	const size = to - from;
	const cost = new Float64Array(size + 1).fill(Number.POSITIVE_INFINITY);
	const lengths = new Int32Array(size + 1);
	const distances = new Int32Array(size + 1);
	const lengthCost = lengthSymbols.map(({ symbol, extra }) => costs.symbol(symbol) + extra);
	cost[0] = 0;
	for (let at = 0; at < size; at++) {
		const literal = cost[at] + costs.symbol(bytes[from + at]);
		if (literal < cost[at + 1]) {
			cost[at + 1] = literal;
			lengths[at + 1] = 1;
			distances[at + 1] = 0;
		}
		let length = 3;
		for (const [longest, distance] of matches[from + at]) {
			const { symbol, extra } = distanceSymbols[distance];
			const base = cost[at] + costs.distance(symbol) + extra;
			for (; length <= longest && at + length <= size; length++) {
				const sum = base + lengthCost[length];
				if (sum >= cost[at + length]) continue;
				cost[at + length] = sum;
				lengths[at + length] = length;
				distances[at + length] = distance;
			}
		}
	}
	const steps = [];
	for (let at = size; at > 0; at -= lengths[at]) {
		const length = lengths[at];
		steps.push({ at: from + at - length, length, distance: distances[at], byte: bytes[from + at - length] });
	}
	return steps.reverse();
}

function count(steps, from = 0, to = steps.length) {
	const symbols = new Array(286).fill(0);
	const distances = new Array(30).fill(0);
	let extra = 0;
	for (let index = from; index < to; index++) {
		const { length, distance, byte } = steps[index];
		if (distance === 0) symbols[byte]++;
		else {
			symbols[lengthSymbols[length].symbol]++;
			distances[distanceSymbols[distance].symbol]++;
			extra += lengthSymbols[length].extra + distanceSymbols[distance].extra;
		}
	}
	symbols[END] = 1;
	return { symbols, distances, extra };
}

/** Where the text had better be in blocks with codes of their own: [from, to] of each, in bytes. */
function split(steps) {
	const bitsOf = (from, to) => blockBits(count(steps, from, to));
	const parts = [{ from: 0, to: steps.length }];
	const cut = (part) => {
		const { from, to } = part;
		let [low, high, at, least] = [from + 1, to - 1, -1, Number.POSITIVE_INFINITY];
		while (high - low > 2) {
			const tries = Array.from({ length: 9 }, (_, index) => Math.floor(low + ((high - low) * (index + 0.5)) / 9));
			const sums = tries.map((middle) => bitsOf(from, middle) + bitsOf(middle, to));
			const index = sums.indexOf(Math.min(...sums));
			if (sums[index] >= least) break;
			[at, least] = [tries[index], sums[index]];
			[low, high] = [tries[index - 1] ?? low, tries[index + 1] ?? high];
		}
		Object.assign(part, { at, gain: bitsOf(from, to) - least });
	};
	cut(parts[0]);
	while (parts.length < MOST_BLOCKS) {
		const part = parts.reduce((best, one) => (one.gain > best.gain ? one : best));
		if (!(part.gain > 0)) break;
		const halves = [
			{ from: part.from, to: part.at },
			{ from: part.at, to: part.to },
		];
		parts.splice(parts.indexOf(part), 1, ...halves);
		halves.forEach(cut);
	}
	const last = steps.at(-1);
	const end = last ? last.at + last.length : 0;
	return parts.map(({ from, to }) => [steps[from]?.at ?? 0, steps[to]?.at ?? end]);
}

/** The lengths of a Huffman code, none longer than allowed: by package-merge. */
function codeLengths(counts, longest) {
	const lengths = new Array(counts.length).fill(0);
	const leaves = [];
	for (const [symbol, weight] of counts.entries()) if (weight > 0) leaves.push({ weight, symbol });
	if (leaves.length < 2) {
		// A code of one has a second that is never used; some readers want it so.
		lengths[leaves[0]?.symbol ?? 0] = 1;
		lengths[(leaves[0]?.symbol ?? 0) === 0 ? 1 : 0] = 1;
		return lengths;
	}
	leaves.sort((one, other) => one.weight - other.weight);
	let packages = [];
	for (let level = 0; level < longest; level++) {
		const pairs = [];
		for (let at = 0; at + 1 < packages.length; at += 2) {
			const [one, other] = [packages[at], packages[at + 1]];
			pairs.push({ weight: one.weight + other.weight, one, other });
		}
		packages = [...leaves, ...pairs].sort((one, other) => one.weight - other.weight);
	}
	const walk = (item) => {
		if (item.symbol !== undefined) lengths[item.symbol]++;
		else {
			walk(item.one);
			walk(item.other);
		}
	};
	packages.slice(0, 2 * leaves.length - 2).forEach(walk);
	return lengths;
}

/** Code lengths as a block's head tells them: [symbol, extra bits, their number], runs in short. */
function runsOf(lengths) {
	const runs = [];
	for (let at = 0; at < lengths.length; ) {
		const length = lengths[at];
		let left = 1;
		while (lengths[at + left] === length) left++;
		at += left;
		if (length !== 0) {
			runs.push([length, 0, 0]);
			left--;
		}
		while (left >= 3) {
			const most = length === 0 ? 138 : 6;
			// What is left of a long run is told in one, if it can be.
			const taken = left > most && left < most + 3 ? left - 3 : Math.min(left, most);
			if (length !== 0) runs.push([16, taken - 3, 2]);
			else if (taken < 11) runs.push([17, taken - 3, 3]);
			else runs.push([18, taken - 11, 7]);
			left -= taken;
		}
		for (; left > 0; left--) runs.push([length, 0, 0]);
	}
	return runs;
}

function headOf({ symbols, distances }) {
	const codes = codeLengths(symbols, LONGEST_CODE);
	const distanceCodes = codeLengths(distances, LONGEST_CODE);
	const used = (lengths, least) => Math.max(least, lengths.findLastIndex((length) => length > 0) + 1);
	const [symbolCount, distanceCount] = [used(codes, 257), used(distanceCodes, 1)];
	const runs = runsOf([...codes.slice(0, symbolCount), ...distanceCodes.slice(0, distanceCount)]);
	const runCounts = new Array(19).fill(0);
	for (const [symbol] of runs) runCounts[symbol]++;
	const runCodes = codeLengths(runCounts, 7);
	const told = Math.max(4, ORDER.findLastIndex((symbol) => runCodes[symbol] > 0) + 1);
	return { codes, distanceCodes, symbolCount, distanceCount, runs, runCodes, told };
}

function blockBits(counts) {
	const { codes, distanceCodes, runs, runCodes, told } = headOf(counts);
	let bits = 17 + told * 3 + counts.extra;
	for (const [symbol, , extra] of runs) bits += runCodes[symbol] + extra;
	for (const [symbol, number] of counts.symbols.entries()) bits += number * codes[symbol];
	for (const [symbol, number] of counts.distances.entries()) bits += number * distanceCodes[symbol];
	return bits;
}

function writeBlock(bits, steps, isLast) {
	const { codes, distanceCodes, symbolCount, distanceCount, runs, runCodes, told } = headOf(count(steps));
	bits.number(isLast ? 1 : 0, 1);
	bits.number(2, 2);
	bits.number(symbolCount - 257, 5);
	bits.number(distanceCount - 1, 5);
	bits.number(told - 4, 4);
	for (const symbol of ORDER.slice(0, told)) bits.number(runCodes[symbol], 3);
	const [writeRun, writeSymbol, writeDistance] = [runCodes, codes, distanceCodes].map((lengths) => bits.code(lengths));
	for (const [symbol, value, extra] of runs) {
		writeRun(symbol);
		bits.number(value, extra);
	}
	for (const { length, distance, byte } of steps) {
		if (distance === 0) writeSymbol(byte);
		else {
			const [one, other] = [lengthSymbols[length], distanceSymbols[distance]];
			writeSymbol(one.symbol);
			bits.number(length - one.base, one.extra);
			writeDistance(other.symbol);
			bits.number(distance - other.base, other.extra);
		}
	}
	writeSymbol(END);
}

/** Bits in the order in which deflate wants them: numbers from their lowest, codes from their highest. */
function createBits() {
	const bytes = [];
	let current = 0;
	let filled = 0;
	const bit = (value) => {
		current |= value << filled++;
		if (filled < 8) return;
		bytes.push(current);
		current = filled = 0;
	};
	return {
		number(value, size) {
			for (let at = 0; at < size; at++) bit((value >> at) & 1);
		},
		/** Writes symbols of the canonical code with these lengths. */
		code(lengths) {
			const codes = [];
			let code = 0;
			for (let length = 1; length <= LONGEST_CODE; length++) {
				for (const [symbol, one] of lengths.entries()) if (one === length) codes[symbol] = code++;
				code <<= 1;
			}
			return (symbol) => {
				for (let at = lengths[symbol] - 1; at >= 0; at--) bit((codes[symbol] >> at) & 1);
			};
		},
		end() {
			while (filled > 0) bit(0);
			return Buffer.from(bytes);
		},
	};
}
