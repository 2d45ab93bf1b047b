import { type Clock, LruCache } from '../../base/index.ts';
import { CircuitBreaker, type CircuitState } from './circuit-breaker.ts';
import type { Failure } from './failure.ts';

/** Models whose failures are remembered: of those that were asked last. */
const KEPT = 256;

/** The leave to ask one model; it is given back once, by saying how that went. */
export interface ModelPermit {
	/** The answer has begun: there is somebody, and whether it comes to its end remains to be seen. */
	began(): void;
	/** There was an answer, or a refusal with good reason. */
	succeeded(): void;
	/** @param failure one that is the provider's fault */
	failed(failure: Failure): void;
	/** The call ended before it could tell anything. */
	abandoned(): void;
}

/**
 * The circuits of a provider: one for each of its models, and one of its own for what meets whatever model is asked: that it
 * cannot be reached, or takes no more requests. One model that is broken leaves the others as they are.
 */
export class ModelCircuits {
	readonly #clock: Clock;
	readonly #onChange: (model: string | null, state: CircuitState) => void;
	readonly #own: CircuitBreaker;
	readonly #models = new LruCache<string, CircuitBreaker>(KEPT);

	/** @param onChange is told each new state, with the model whose circuit it is; null: the provider's own */
	constructor(clock: Clock, onChange: (model: string | null, state: CircuitState) => void) {
		this.#clock = clock;
		this.#onChange = onChange;
		this.#own = new CircuitBreaker(clock, (state) => onChange(null, state));
	}

	/** The leave to ask a model; null while nobody may. */
	enter(name: string): ModelPermit | null {
		const circuit = this.#of(name);
		// Neither is entered unless both may be: a try that is not made would tell nothing.
		if (!this.#own.isPassable || !circuit.isPassable) return null;
		const [own, model] = [this.#own.enter(), circuit.enter()];
		if (own === null || model === null) return null;
		let hasBegun = false;
		return {
			began: () => {
				hasBegun = true;
				own.succeeded();
				model.began();
			},
			succeeded: () => {
				own.succeeded();
				model.succeeded();
			},
			failed: ({ concerns }) => {
				if (concerns === 'provider' && !hasBegun) {
					own.failed();
					model.abandoned();
				} else {
					own.succeeded();
					model.failed();
				}
			},
			abandoned: () => {
				own.abandoned();
				model.abandoned();
			},
		};
	}

	#of(name: string): CircuitBreaker {
		let circuit = this.#models.get(name);
		if (!circuit) {
			circuit = new CircuitBreaker(this.#clock, (state) => this.#onChange(name, state));
			this.#models.set(name, circuit);
		}
		return circuit;
	}
}
