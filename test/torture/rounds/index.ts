import { clock } from './clock.ts';
import { cluster } from './cluster.ts';
import { damage } from './damage.ts';
import { failingWrites } from './failing-writes.ts';
import { kill } from './kill.ts';
import { powerLoss } from './power-loss.ts';
import type { Round } from './round.ts';
import { shortage } from './shortage.ts';
import { smallDisk } from './small-disk.ts';
import { stop } from './stop.ts';
import { workerDeath } from './worker-death.ts';

export type { Round } from './round.ts';

/** All kinds of torture, in the order of a run. */
export const rounds: readonly Round[] = [
	kill,
	stop,
	powerLoss,
	failingWrites,
	smallDisk,
	damage,
	shortage,
	workerDeath,
	clock,
	cluster,
];
