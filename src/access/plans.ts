/** What a workspace may use. */
export interface Plan {
	requestsPerMinute: number;
}

const PLANS: Readonly<Record<string, Plan>> = {
	unlimited: { requestsPerMinute: 6000 },
	free: { requestsPerMinute: 60 },
	pro: { requestsPerMinute: 1200 },
};

/** The plan of this name; a self-hosted server's default for a name that is not configured. */
export function planOf(name: string | undefined): Plan {
	return PLANS[name ?? ''] ?? (PLANS.unlimited as Plan);
}
