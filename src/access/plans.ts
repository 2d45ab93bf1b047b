import { AppError } from '../base/index.ts';
import { type Commit, expectVersion, type Store } from '../store/index.ts';

/** The limits of a workspace. Null: no limit. */
export interface Plan {
	requestsPerMinute: number;
	/** Active assistants. */
	assistants: number | null;
	/** Tools attached to active assistants, in total. */
	tool_attachments: number | null;
}

const UNLIMITED: Plan = { requestsPerMinute: 6000, assistants: null, tool_attachments: null };
const PLANS: ReadonlyMap<string | undefined, Plan> = new Map([
	['unlimited', UNLIMITED],
	['free', { requestsPerMinute: 60, assistants: 3, tool_attachments: 5 }],
	['pro', { requestsPerMinute: 1200, assistants: 50, tool_attachments: 100 }],
]);

/** The names of all plans. */
export const PLAN_NAMES = [...PLANS.keys()] as readonly string[];

/** The plan with this name; the default plan of a self-hosted server for an unknown name. */
export function planOf(name: string | undefined): Plan {
	return PLANS.get(name) ?? UNLIMITED;
}

/** What a change adds to the counts of a plan. */
export interface PlanUsage {
	assistants?: number;
	tool_attachments?: number;
}

const PLAN_UNITS = { assistants: 'active assistants', tool_attachments: 'attached tools' } as const;

/**
 * Checks that a change keeps a workspace within its plan.
 * @returns parts of the change's commit, by which of two concurrent changes at the limit only one can succeed
 * @throws AppError `plan_limit_exceeded`
 */
export async function requirePlanCapacity(
	store: Pick<Store, 'assistants' | 'get'>,
	workspaceId: string,
	addition: PlanUsage,
): Promise<Required<Pick<Commit, 'expect' | 'write'>>> {
	const grown = (Object.keys(PLAN_UNITS) as (keyof PlanUsage)[]).filter((name) => (addition[name] ?? 0) > 0);
	const workspace = await store.get('workspaces', workspaceId);
	const plan = planOf(workspace?.plan);
	const limited = grown.filter((name) => plan[name] !== null);
	if (limited.length === 0) return { expect: [], write: [] };
	const guard = await store.get('workspace_guards', workspaceId);
	if (!guard) throw new Error(`The workspace ${workspaceId} has no guard.`);
	const counts = await store.assistants.planUsage(workspaceId);
	for (const name of limited) {
		const limit = plan[name] as number;
		if (counts[name] + (addition[name] as number) <= limit) continue;
		throw new AppError(
			'plan_limit_exceeded',
			`The plan ${workspace?.plan} allows ${limit} ${PLAN_UNITS[name]}; there are ${counts[name]}.`,
		);
	}
	return {
		expect: [expectVersion('workspace_guards', guard)],
		write: [{ op: 'patch', kind: 'workspace_guards', id: guard.id, set: {} }],
	};
}
