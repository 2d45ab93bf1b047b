/** The temperature of the softmax over a batch. */
const TEMPERATURE = 0.1;
/** The rate of AdaGrad. */
const LEARNING_RATE = 0.03;

/** A smaller derivative of a cosine is left out: most texts of a batch are far from a question. */
const NEGLIGIBLE_ERROR = 1e-4;

/** A text as weighted rows of the basis. */
export interface WeightedTerms {
	rows: Uint32Array;
	values: Float32Array;
}

/** Two texts that belong together: what a question may say, and the text that answers it. */
export interface TextPair {
	question: WeightedTerms;
	text: WeightedTerms;
	/** Pairs with the same key are no negatives of each other. */
	key: string;
}

/**
 * Steps of gradient descent on batches of pairs, with the rates of AdaGrad for each term. The loss of a question is the negative
 * logarithm of the softmax probability of its own text among the texts of the batch, by cosine.
 */
export class ContrastiveStep {
	readonly #directions: Float32Array;
	readonly #width: number;
	readonly #questions: Float32Array;
	readonly #texts: Float32Array;
	readonly #questionLengths: Float32Array;
	readonly #textLengths: Float32Array;
	/** The sum of the squared gradients of each term so far. */
	readonly #squares: Float32Array;
	/** The gradients of the terms of a batch, and the position of each term's gradient in them; -1 without one. */
	#gradients: Float32Array;
	readonly #positions: Int32Array;

	constructor(directions: Float32Array, width: number, batchSize: number) {
		this.#directions = directions;
		this.#width = width;
		this.#questions = new Float32Array(batchSize * width);
		this.#texts = new Float32Array(batchSize * width);
		this.#questionLengths = new Float32Array(batchSize);
		this.#textLengths = new Float32Array(batchSize);
		const terms = directions.length / width;
		this.#squares = new Float32Array(terms);
		this.#positions = new Int32Array(terms).fill(-1);
		this.#gradients = new Float32Array(1024 * width);
	}

	/**
	 * Moves the directions of the batch's terms against the gradient of the mean loss.
	 * @returns the mean loss before the step
	 */
	run(batch: readonly TextPair[]): number {
		let loss = 0;
		const width = this.#width;
		const size = batch.length;
		batch.forEach((pair, i) => {
			this.#questionLengths[i] = this.#project(pair.question, this.#questions, i);
			this.#textLengths[i] = this.#project(pair.text, this.#texts, i);
		});
		const questionGradients = new Float32Array(size * width);
		const textGradients = new Float32Array(size * width);
		for (let i = 0; i < size; i++) {
			const errors = this.#errors(batch, i);
			loss -= Math.log(1 + (errors[i] as number)) / size;
			for (let j = 0; j < size; j++) {
				const error = errors[j] as number;
				if (Math.abs(error) < NEGLIGIBLE_ERROR) continue;
				addScaled(questionGradients, i * width, error / (TEMPERATURE * size), this.#texts, j * width, width);
				addScaled(textGradients, j * width, error / (TEMPERATURE * size), this.#questions, i * width, width);
			}
		}
		const touched: number[] = [];
		batch.forEach((pair, i) => {
			this.#spread(pair.question, questionGradients, this.#questions, this.#questionLengths[i] as number, i, touched);
			this.#spread(pair.text, textGradients, this.#texts, this.#textLengths[i] as number, i, touched);
		});
		for (const [position, row] of touched.entries()) this.#descend(row, position);
		return loss;
	}

	/** Writes the unit vector of a text. @returns its length before */
	#project({ rows, values }: WeightedTerms, into: Float32Array, at: number): number {
		const width = this.#width;
		const start = at * width;
		into.fill(0, start, start + width);
		for (let k = 0; k < rows.length; k++) {
			addScaled(into, start, values[k] as number, this.#directions, (rows[k] as number) * width, width);
		}
		const length = Math.sqrt(dot(into, start, into, start, width));
		if (length > 0) for (let i = start; i < start + width; i++) (into[i] as number) /= length;
		return length;
	}

	/** The derivatives of question i's loss with respect to its cosines (times the temperature): probability minus target. */
	#errors(batch: readonly TextPair[], i: number): Float64Array {
		const width = this.#width;
		const size = batch.length;
		const errors = new Float64Array(size);
		let sum = 0;
		for (let j = 0; j < size; j++) {
			if (j !== i && batch[j]?.key === batch[i]?.key) continue;
			const cosine = dot(this.#questions, i * width, this.#texts, j * width, width);
			errors[j] = Math.exp((cosine - 1) / TEMPERATURE);
			sum += errors[j] as number;
		}
		for (let j = 0; j < size; j++) (errors[j] as number) /= sum || 1;
		(errors[i] as number) -= 1;
		return errors;
	}

	/** Adds the gradient of a text's unit vector to the gradients of its terms. */
	#spread(
		{ rows, values }: WeightedTerms,
		gradients: Float32Array,
		units: Float32Array,
		length: number,
		at: number,
		touched: number[],
	): void {
		if (length === 0) return;
		const width = this.#width;
		const from = at * width;
		// The gradient through the unit length.
		addScaled(gradients, from, -dot(gradients, from, units, from, width), units, from, width);
		for (let k = 0; k < rows.length; k++) {
			const position = this.#positionOf(rows[k] as number, touched);
			addScaled(this.#gradients, position * width, (values[k] as number) / length, gradients, from, width);
		}
	}

	#positionOf(row: number, touched: number[]): number {
		let position = this.#positions[row] as number;
		if (position !== -1) return position;
		position = touched.length;
		this.#positions[row] = position;
		touched.push(row);
		if ((position + 1) * this.#width > this.#gradients.length) {
			const larger = new Float32Array(2 * this.#gradients.length);
			larger.set(this.#gradients);
			this.#gradients = larger;
		}
		this.#gradients.fill(0, position * this.#width, (position + 1) * this.#width);
		return position;
	}

	#descend(row: number, position: number): void {
		const width = this.#width;
		const from = position * width;
		const square = dot(this.#gradients, from, this.#gradients, from, width);
		this.#positions[row] = -1;
		if (square === 0) return;
		(this.#squares[row] as number) += square;
		const rate = LEARNING_RATE / Math.sqrt(this.#squares[row] as number);
		addScaled(this.#directions, row * width, -rate, this.#gradients, from, width);
	}
}

/** Adds `factor` times a row to another row, in place. */
function addScaled(
	to: Float32Array,
	toAt: number,
	factor: number,
	from: Float32Array,
	fromAt: number,
	width: number,
): void {
	for (let i = 0; i < width; i++) (to[toAt + i] as number) += factor * (from[fromAt + i] as number);
}

function dot(a: Float32Array, aAt: number, b: Float32Array, bAt: number, width: number): number {
	let sum = 0;
	for (let i = 0; i < width; i++) sum += (a[aAt + i] as number) * (b[bAt + i] as number);
	return sum;
}
