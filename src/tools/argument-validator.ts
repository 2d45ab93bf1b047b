import { AppError, type Clock, elapsedMs, exceedsDepth, rejectOnAbort } from '../base/index.ts';
import type { ArgumentCheckJob, ArgumentCheckResult } from '../contract/index.ts';
import { ToolFailure } from './tool-failure.ts';

const MAX_ARGUMENT_CHARACTERS = 131_072;
const MAX_ARGUMENT_DEPTH = 64;

/** A schema whose validation timed out is not tried again for this long (ms): it would delay the validations of others. */
const SLOW_SCHEMA_COOLDOWN_MS = 60_000;

/** Validates arguments in a worker, because it may take long. */
export interface ArgumentCheckRunner {
	/** @throws AppError `unavailable` while no worker is available */
	check(job: ArgumentCheckJob): Promise<ArgumentCheckResult>;
}

/** Validates arguments against the schema of one function. */
export class ArgumentValidator {
	readonly #schema: Record<string, unknown>;
	readonly #checker: ArgumentCheckRunner;
	readonly #clock: Clock;
	readonly #isValidatedRemotely: boolean;
	/** On the monotonic clock. */
	#suspendedUntil = Number.NEGATIVE_INFINITY;

	/** @param isValidatedRemotely whether arguments are accepted where the schema cannot be compiled: the server validates them */
	constructor(
		schema: Record<string, unknown>,
		{ checker, clock }: { checker: ArgumentCheckRunner; clock: Clock },
		isValidatedRemotely = false,
	) {
		this.#schema = schema;
		this.#checker = checker;
		this.#clock = clock;
		this.#isValidatedRemotely = isValidatedRemotely;
	}

	/**
	 * Returns the arguments if they are valid.
	 * @throws ToolFailure `invalid_arguments`, `internal_error`; the signal's reason
	 */
	async validate(args: unknown, signal: AbortSignal): Promise<Record<string, unknown>> {
		if (elapsedMs(this.#clock) < this.#suspendedUntil) throw tooSlow();
		requireArgumentLimits(args);
		const result = await rejectOnAbort(this.#validateInThread(args), signal);
		switch (result.verdict) {
			case 'valid':
				return args;
			case 'invalid':
				throw invalidArguments(result.problem);
			case 'too_slow':
				this.#suspendedUntil = elapsedMs(this.#clock) + SLOW_SCHEMA_COOLDOWN_MS;
				throw tooSlow();
			case 'no_schema':
				if (this.#isValidatedRemotely) return args;
				throw new ToolFailure('internal_error', "The tool's schema cannot be used any more.");
		}
	}

	async #validateInThread(args: Record<string, unknown>): Promise<ArgumentCheckResult> {
		try {
			return await this.#checker.check({ schema: this.#schema, args });
		} catch (cause) {
			const why = cause instanceof AppError ? cause.message : 'The check failed.';
			throw new ToolFailure('internal_error', `The arguments could not be checked: ${why}`, { cause });
		}
	}
}

/** The rules for arguments of any schema. */
function requireArgumentLimits(args: unknown): asserts args is Record<string, unknown> {
	if (typeof args !== 'object' || args === null || Array.isArray(args))
		throw invalidArguments('they must be a JSON object');
	if (exceedsDepth(args, MAX_ARGUMENT_DEPTH))
		throw invalidArguments(`they are nested deeper than ${MAX_ARGUMENT_DEPTH} levels`);
	if (JSON.stringify(args).length > MAX_ARGUMENT_CHARACTERS)
		throw invalidArguments(`they are longer than ${MAX_ARGUMENT_CHARACTERS} characters`);
}

function invalidArguments(problem: string): ToolFailure {
	return new ToolFailure('invalid_arguments', `The arguments do not fit: ${problem}.`);
}

function tooSlow(): ToolFailure {
	const message = "The arguments could not be checked: a pattern in the tool's schema takes too long.";
	return new ToolFailure('invalid_arguments', message);
}
