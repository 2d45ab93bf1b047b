import type { World } from '../world.ts';

/** One kind of torture. Everything that a run does is determined by the seed of its world, apart from the timing of the machine. */
export interface Round {
	name: string;
	/** What happens to the server, for the report. */
	summary: string;
	/** How often it happens in one round: of the short form, and of the long one. */
	repeats: { short: number; long: number };
	/** Rounds of a whole run. */
	rounds: number;
	/** Why it cannot run here; false where it can. */
	skip(): Promise<string | false> | string | false;
	/** A place for the data folder that is not the system's temporary folder. */
	disk?(): Promise<{ folder: string } & AsyncDisposable>;
	/** @throws Error when the server does what it must not */
	run(world: World, repeats: number): Promise<void>;
}
