import { floods } from './floods.ts';
import { heldConnections } from './held-connections.ts';
import type { Extent, Scenario } from './scenario.ts';

/** All scenarios. */
export function scenariosOf(extent: Extent): Scenario[] {
	return [...heldConnections(extent), ...floods(extent)];
}
