import { ConfigError } from '../config/index.ts';

/** The environment variables of OpenTelemetry. An empty one counts as absent. */
export class Variables {
	readonly #env: Record<string, string | undefined>;

	constructor(env: Record<string, string | undefined>) {
		this.#env = env;
	}

	read(name: string): string | undefined {
		return this.#env[name]?.trim() || undefined;
	}

	/** @throws ConfigError if the variable is not a whole number from 1 to `max` */
	wholeNumber(name: string, defaultValue: number, max: number): number {
		const value = Number(this.read(name) ?? defaultValue);
		if (!Number.isInteger(value) || value < 1 || value > max)
			throw new ConfigError(`${name} must be a whole number from 1 to ${max}.`);
		return value;
	}

	/** The variable of an exporter's option for traces alone, or else the one for everything that is sent; null: neither is set. */
	exporterOption(option: string): { name: string; value: string; isForTraces: boolean } | null {
		for (const isForTraces of [true, false]) {
			const name = `OTEL_EXPORTER_OTLP_${isForTraces ? 'TRACES_' : ''}${option}`;
			const value = this.read(name);
			if (value !== undefined) return { name, value, isForTraces };
		}
		return null;
	}
}
