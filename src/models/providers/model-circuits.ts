import { type Clock, LruCache } from '../../base/index.ts';
import type { UnclosedCircuit } from '../chat-model.ts';
import { CircuitBreaker, type CircuitState } from './circuit-breaker.ts';
import type { ProviderFailure } from './provider-failure.ts';

/** The number of models with a circuit: the most recently used ones. */
const MAX_CIRCUITS = 256;

/** The permission for one call to a model. The first report of an outcome releases it. */
export interface ModelCallPermission {
	/** The answer has begun, so the provider can be reached. The outcome is reported at its end. */
	responseStarted(): void;
	/** The call got an answer, or a justified refusal. */
	succeeded(): void;
	/** @param failure a failure that is the fault of the provider */
	failed(failure: ProviderFailure): void;
	/** The call ended without an outcome. */
	released(): void;
}

/**
 * The circuits of a provider: one for each model, and one for the provider, for failures that concern every model: it cannot
 * be reached, or accepts no more requests. A broken model does not affect the others.
 */
export class ModelCircuits {
	readonly #clock: Clock;
	readonly #onChange: (model: string | null, state: CircuitState) => void;
	readonly #providerCircuit: CircuitBreaker;
	readonly #modelCircuits = new LruCache<string, CircuitBreaker>(MAX_CIRCUITS);

	/**
	 * @param onChange is called with the model and each new state of its circuit; the model is null for the provider's circuit
	 */
	constructor(clock: Clock, onChange: (model: string | null, state: CircuitState) => void) {
		this.#clock = clock;
		this.#onChange = onChange;
		this.#providerCircuit = new CircuitBreaker(clock, (state) => onChange(null, state));
	}

	/** The circuits that are not closed now; the model is null for the provider's circuit. An evicted circuit has no state. */
	unclosed(): UnclosedCircuit[] {
		const circuits: [string | null, CircuitBreaker][] = [
			[null, this.#providerCircuit],
			...this.#modelCircuits.entries(),
		];
		return circuits.flatMap(([model, { state, allowsCall }]) => {
			if (state === 'closed') return [];
			// Once the time of the open state is over, the next call is the trial.
			return [{ model, state: state === 'open' && allowsCall ? 'half-open' : state }];
		});
	}

	/** The permission for a call to a model; null while no call is permitted. */
	tryAcquirePermission(name: string): ModelCallPermission | null {
		const circuit = this.#circuitOf(name);
		// Both must permit the call before either is acquired. A trial call that is not made would have no outcome.
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
