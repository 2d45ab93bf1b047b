import type { Round } from './rounds/index.ts';
import { type Figures, World } from './world.ts';

/** The result of a round that ran. */
export interface RoundResult {
	/** Null: the server did what it must. */
	error: unknown;
	/** The folder that a failed round has kept. */
	folder: string | null;
}

/** Runs one round with a seed. */
export async function runRound(round: Round, seed: number, repeats: number, figures: Figures): Promise<RoundResult> {
	await using disk = (await round.disk?.()) ?? null;
	await using world = await World.create(seed, figures, disk);
	figures.rounds++;
	try {
		await round.run(world, repeats);
		return { error: null, folder: null };
	} catch (error) {
		world.keepsFolder = true;
		return { error, folder: world.folder };
	}
}

/** The command that runs a round again. */
export function replayCommand(round: Round, seed: number): string {
	return `npm run torture -- ${round.name}:${seed}`;
}
