import type fc from 'fast-check';

/** What is fuzzed, with the generator of its inputs. */
export interface FuzzTarget<Input> {
	/** The name on the command line. */
	readonly name: string;
	/** A sentence if the target cannot run here, for example without its documents. */
	readonly skip: string | false;
	/** Generates inputs; the same seed gives the same inputs. */
	readonly inputs: fc.Arbitrary<Input>;
	/** Runs of the short form in `npm test`. */
	readonly shortRuns: number;
	/** Milliseconds for one input: far more than it takes on a busy machine. An input that takes longer hangs. */
	readonly deadlineMs: number;
	/** Opens what the inputs are given to: a server, a process, a page. */
	open(): Promise<FuzzSession<Input>>;
	/** The bytes of an input and the extension of their file, for inputs that are files. */
	fileOf?(input: Input): { bytes: Uint8Array; extension: string };
}

/** An open target. */
export interface FuzzSession<Input> extends AsyncDisposable {
	/** @throws Error if the target does not treat the input as it must */
	run(input: Input): Promise<void>;
}

/** A target whose type of input does not matter to the caller. */
// biome-ignore lint/suspicious/noExplicitAny: only the target itself reads its inputs
export type AnyFuzzTarget = FuzzTarget<any>;
