import { AppError, type Clock, elapsedMs, exceedsDepth } from '../base/index.ts';
import type { ArgumentCheckJob, ArgumentCheckResult } from '../contract/index.ts';
import { unlessAborted } from './call-deadline.ts';
import { ToolFailure } from './tool-failure.ts';

const MAX_CHARACTERS = 131_072;
const MAX_DEPTH = 64;

/** For so long (ms) a schema whose check did not end in time is not tried again: it would hold up the checks of others. */
const RESPITE_MS = 60_000;

/** Where arguments are held against schemas: in another thread, since that may take long. */
export interface ArgumentChecker {
	/** @throws AppError `unavailable` where it cannot be had now */
	check(job: ArgumentCheckJob): Promise<ArgumentCheckResult>;
}

/** Holds arguments against the schema of one function. */
export class ArgumentCheck {
	readonly #schema: Record<string, unknown>;
	readonly #checker: ArgumentChecker;
	readonly #clock: Clock;
	readonly #isCheckedElsewhere: boolean;
	/** By the time that passes. */
	#restsUntil = Number.NEGATIVE_INFINITY;

	/** @param isCheckedElsewhere whether arguments are taken as they are where the schema cannot be compiled here */
	constructor(
		schema: Record<string, unknown>,
		{ checker, clock }: { checker: ArgumentChecker; clock: Clock },
		isCheckedElsewhere = false,
	) {
		this.#schema = schema;
		this.#checker = checker;
		this.#clock = clock;
		this.#isCheckedElsewhere = isCheckedElsewhere;
	}

	/**
	 * The arguments, where they fit.
	 * @throws ToolFailure `invalid_arguments`, `internal_error`; the signal's reason
	 */
	async read(args: unknown, signal: AbortSignal): Promise<Record<string, unknown>> {
		if (elapsedMs(this.#clock) < this.#restsUntil) throw tooSlow();
		requireBounded(args);
		const result = await unlessAborted(this.#ask(args), signal);
		switch (result.verdict) {
			case 'fits':
				return args;
			case 'misfits':
				throw misfit(result.complaint);
			case 'too_slow':
				this.#restsUntil = elapsedMs(this.#clock) + RESPITE_MS;
				throw tooSlow();
			case 'no_schema':
				if (this.#isCheckedElsewhere) return args;
				throw new ToolFailure('internal_error', "The tool's schema cannot be used any more.");
		}
	}

	async #ask(args: Record<string, unknown>): Promise<ArgumentCheckResult> {
		try {
			return await this.#checker.check({ schema: this.#schema, args });
		} catch (cause) {
			const why = cause instanceof AppError ? cause.message : 'The check failed.';
			throw new ToolFailure('internal_error', `The arguments could not be checked: ${why}`, { cause });
		}
	}
}

/** What holds for arguments whatever their schema. */
function requireBounded(args: unknown): asserts args is Record<string, unknown> {
	if (typeof args !== 'object' || args === null || Array.isArray(args)) throw misfit('they must be a JSON object');
	if (exceedsDepth(args, MAX_DEPTH)) throw misfit(`they are nested deeper than ${MAX_DEPTH} levels`);
	if (JSON.stringify(args).length > MAX_CHARACTERS) throw misfit(`they are longer than ${MAX_CHARACTERS} characters`);
}

function misfit(why: string): ToolFailure {
	return new ToolFailure('invalid_arguments', `The arguments do not fit: ${why}.`);
}

function tooSlow(): ToolFailure {
	const message = "The arguments could not be checked: a pattern in the tool's schema takes too long.";
	return new ToolFailure('invalid_arguments', message);
}
