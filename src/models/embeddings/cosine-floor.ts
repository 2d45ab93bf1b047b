/** Texts about unrelated subjects, about as long as the beginning of a paragraph. */
export const UNRELATED_TEXTS: readonly string[] = [
	'The glacier retreated by forty metres last summer, leaving a lake of meltwater behind the moraine.',
	'To change the tyre of a bicycle, release the brake, open the axle and lift the rim with two levers.',
	'The parliament adopted the budget after a debate that lasted until the early morning.',
	'Knead the dough for ten minutes and let it rise under a cloth in a warm place.',
	'A prime number has no divisors besides one and itself; there are infinitely many of them.',
	'The orchestra played the second movement more slowly than the score demands.',
	'Employees may carry over up to five days of unused holiday into the next year.',
	'The compiler reports an error when a variable is used before it has been declared.',
	'Owls hunt at night and hear a mouse under a cover of snow.',
	'The goalkeeper was shown a red card in the last minute of the match.',
	'Take one tablet in the morning with a glass of water, and do not exceed the prescribed dose.',
	'The tenants complained that the heating in the stairwell had been broken for weeks.',
];

/** The text whose vector identifies a model. */
export const SAMPLE_TEXT = UNRELATED_TEXTS[0] as string;

/** Above this, the vectors of unrelated texts are almost the same, and no range is left for related texts. */
const MAX_FLOOR = 0.95;

/** The mean cosine of the unit vectors of unrelated texts, 0..0.95. */
export function meanCosine(vectors: readonly Float32Array[]): number {
	let sum = 0;
	let pairs = 0;
	for (const [at, one] of vectors.entries()) {
		for (const other of vectors.slice(at + 1)) {
			for (let i = 0; i < one.length; i++) sum += (one[i] as number) * (other[i] as number);
			pairs++;
		}
	}
	return Math.min(MAX_FLOOR, Math.max(0, pairs === 0 ? 0 : sum / pairs));
}
