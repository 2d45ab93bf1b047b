import { type Clock, LruCache } from '../../base/index.ts';
import { CircuitBreaker, type CircuitState } from './circuit-breaker.ts';
import type { ProviderFailure } from './provider-failure.ts';

/** Models whose failures are remembered: of those that were asked last. */
const MAX_CIRCUITS = 256;

/** The leave to ask one model; it is given back once, by saying how that went. */
export interface ModelCallPermission {
	/** The answer has begun: there is somebody, and whether it comes to its end remains to be seen. */
	responseStarted(): void;
	/** There was an answer, or a refusal with good reason. */
	succeeded(): void;
	/** @param failure one that is the provider's fault */
	failed(failure: ProviderFailure): void;
	/** The call ended before it could tell anything. */
	released(): void;
}

/**
 * The circuits of a provider: one for each of its models, and one of its own for what meets whatever model is asked: that it
 * cannot be reached, or takes no more requests. One model that is broken leaves the others as they are.
 */
export class ModelCircuits {
	readonly #clock: Clock;
	readonly #onChange: (model: string | null, state: CircuitState) => void;
	readonly #providerCircuit: CircuitBreaker;
	readonly #modelCircuits = new LruCache<string, CircuitBreaker>(MAX_CIRCUITS);

	/** @param onChange is told each new state, with the model whose circuit it is; null: the provider's own */
	constructor(clock: Clock, onChange: (model: string | null, state: CircuitState) => void) {
		this.#clock = clock;
		this.#onChange = onChange;
		this.#providerCircuit = new CircuitBreaker(clock, (state) => onChange(null, state));
	}

	/** The leave to ask a model; null while nobody may. */
	tryAcquirePermission(name: string): ModelCallPermission | null {
		const circuit = this.#circuitOf(name);
		// Neither is entered unless both may be: a try that is not made would tell nothing.
		if (!this.#providerCircuit.allowsCall || !circuit.allowsCall) return null;
		const [provider, model] = [this.#providerCircuit.tryAcquirePermission(), circuit.tryAcquirePermission()];
		if (provider === null || model === null) return null;
		let hasBegun = false;
		return {
			responseStarted: () => {
				hasBegun = true;
				provider.succeeded();
				model.responseStarted();
			},
			succeeded: () => {
				provider.succeeded();
				model.succeeded();
			},
			failed: ({ scope }) => {
				if (scope === 'provider' && !hasBegun) {
					provider.failed();
					model.released();
				} else {
					provider.succeeded();
					model.failed();
				}
			},
			released: () => {
				provider.released();
				model.released();
			},
		};
	}

	#circuitOf(name: string): CircuitBreaker {
		let circuit = this.#modelCircuits.get(name);
		if (!circuit) {
			circuit = new CircuitBreaker(this.#clock, (state) => this.#onChange(name, state));
			this.#modelCircuits.set(name, circuit);
		}
		return circuit;
	}
}
