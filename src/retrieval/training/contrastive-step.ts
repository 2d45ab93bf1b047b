import { FloatRows } from './float-rows.ts';

/** The temperature of the softmax over a batch. */
const TEMPERATURE = 0.1;
/** The rate of AdaGrad. */
const LEARNING_RATE = 0.03;

/** A smaller derivative of a cosine is left out: most texts of a batch are far from a question. */
const NEGLIGIBLE_ERROR = 1e-4;

/** Rows that are added at a time for the gradients of terms. */
const MORE_TERM_GRADIENTS = 1024;

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
	readonly #rows: FloatRows;
	readonly #terms: number;
	/** The first row of the unit vectors of a batch's questions and texts, of their gradients, and of the gradients of its terms. */
	readonly #questions: number;
	readonly #texts: number;
	readonly #questionGradients: number;
	readonly #textGradients: number;
	readonly #termGradients: number;
	#termGradientCount = 0;
	readonly #questionLengths: Float32Array;
	readonly #textLengths: Float32Array;
	/** The sum of the squared gradients of each term so far. */
	readonly #squares: Float32Array;
	/** The position of each term among the terms of a batch; -1 without one. */
	readonly #positions: Int32Array;

	/** @param directions one row of `width` values for each term; they are copied */
	constructor(directions: Float32Array, width: number, batchSize: number) {
		this.#terms = directions.length / width;
		this.#rows = new FloatRows(width);
		this.#rows.append(this.#terms);
		for (let row = 0; row < this.#terms; row++) {
			this.#rows.row(row).set(directions.subarray(row * width, (row + 1) * width));
		}
		this.#questions = this.#rows.append(batchSize);
		this.#texts = this.#rows.append(batchSize);
		this.#questionGradients = this.#rows.append(batchSize);
		this.#textGradients = this.#rows.append(batchSize);
		this.#termGradients = this.#rows.append(0);
		this.#questionLengths = new Float32Array(batchSize);
		this.#textLengths = new Float32Array(batchSize);
		this.#squares = new Float32Array(this.#terms);
		this.#positions = new Int32Array(this.#terms).fill(-1);
	}

	/** Writes the directions as they are now. */
	copyTo(directions: Float32Array): void {
		const width = directions.length / this.#terms;
		for (let row = 0; row < this.#terms; row++) directions.set(this.#rows.row(row), row * width);
	}

	/**
	 * Moves the directions of the batch's terms against the gradient of the mean loss.
	 * @returns the mean loss before the step
	 */
	run(batch: readonly TextPair[]): number {
		const rows = this.#rows;
		let loss = 0;
		const size = batch.length;
		batch.forEach((pair, i) => {
			this.#questionLengths[i] = this.#project(pair.question, this.#questions + i);
			this.#textLengths[i] = this.#project(pair.text, this.#texts + i);
		});
		rows.clear(this.#questionGradients, size);
		rows.clear(this.#textGradients, size);
		for (let i = 0; i < size; i++) {
			const errors = this.#errors(batch, i);
			loss -= Math.log(1 + (errors[i] as number)) / size;
			for (let j = 0; j < size; j++) {
				const error = errors[j] as number;
				if (Math.abs(error) < NEGLIGIBLE_ERROR) continue;
				rows.addScaled(this.#questionGradients + i, error / (TEMPERATURE * size), this.#texts + j);
				rows.addScaled(this.#textGradients + j, error / (TEMPERATURE * size), this.#questions + i);
			}
		}
		const touched: number[] = [];
		batch.forEach((pair, i) => {
			const questionLength = this.#questionLengths[i] as number;
			this.#spread(pair.question, this.#questionGradients + i, this.#questions + i, questionLength, touched);
			this.#spread(pair.text, this.#textGradients + i, this.#texts + i, this.#textLengths[i] as number, touched);
		});
		for (const [position, row] of touched.entries()) this.#descend(row, this.#termGradients + position);
		return loss;
	}

	/** Writes the unit vector of a text. @returns its length before */
	#project({ rows, values }: WeightedTerms, into: number): number {
		this.#rows.clear(into, 1);
		for (let k = 0; k < rows.length; k++) {
			this.#rows.addScaled(into, values[k] as number, rows[k] as number);
		}
		const length = Math.sqrt(this.#rows.dot(into, into));
		if (length === 0) return 0;
		const unit = this.#rows.row(into);
		for (let i = 0; i < unit.length; i++) (unit[i] as number) /= length;
		return length;
	}

	/** The derivatives of question i's loss with respect to its cosines (times the temperature): probability minus target. */
	#errors(batch: readonly TextPair[], i: number): Float64Array {
		const size = batch.length;
		const errors = new Float64Array(size);
		let sum = 0;
		for (let j = 0; j < size; j++) {
			if (j !== i && batch[j]?.key === batch[i]?.key) continue;
			const cosine = this.#rows.dot(this.#questions + i, this.#texts + j);
			errors[j] = Math.exp((cosine - 1) / TEMPERATURE);
			sum += errors[j] as number;
		}
		for (let j = 0; j < size; j++) (errors[j] as number) /= sum || 1;
		(errors[i] as number) -= 1;
		return errors;
	}

	/** Adds the gradient of a text's unit vector to the gradients of its terms. */
	#spread({ rows, values }: WeightedTerms, gradient: number, unit: number, length: number, touched: number[]): void {
		if (length === 0) return;
		// The gradient through the unit length.
		this.#rows.addScaled(gradient, -this.#rows.dot(gradient, unit), unit);
		for (let k = 0; k < rows.length; k++) {
			const position = this.#positionOf(rows[k] as number, touched);
			this.#rows.addScaled(this.#termGradients + position, (values[k] as number) / length, gradient);
		}
	}

	#positionOf(row: number, touched: number[]): number {
		let position = this.#positions[row] as number;
		if (position !== -1) return position;
		position = touched.length;
		this.#positions[row] = position;
		touched.push(row);
		if (position < this.#termGradientCount) this.#rows.clear(this.#termGradients + position, 1);
		else {
			this.#rows.append(MORE_TERM_GRADIENTS);
			this.#termGradientCount += MORE_TERM_GRADIENTS;
		}
		return position;
	}

	#descend(row: number, gradient: number): void {
		const square = this.#rows.dot(gradient, gradient);
		this.#positions[row] = -1;
		if (square === 0) return;
		(this.#squares[row] as number) += square;
		this.#rows.addScaled(row, -LEARNING_RATE / Math.sqrt(this.#squares[row] as number), gradient);
	}
}
