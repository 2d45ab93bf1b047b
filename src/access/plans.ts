/** What a workspace may use. */
export interface Plan {
	requestsPerMinute: number;
}

const UNLIMITED: Plan = { requestsPerMinute: 6000 };
const PLANS: ReadonlyMap<string | undefined, Plan> = new Map([
	['unlimited', UNLIMITED],
	['free', { requestsPerMinute: 60 }],
	['pro', { requestsPerMinute: 1200 }],
]);

/** The plan of this name; a self-hosted server's default for a name that is not configured. */
export function planOf(name: string | undefined): Plan {
	return PLANS.get(name) ?? UNLIMITED;
}
