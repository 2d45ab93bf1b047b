/** Whether a page of this origin may embed a deployment with these domains: exact ones, `*.example.com` and `*`. */
export function isAllowed(origin: string | undefined, domains: readonly string[]): boolean {
	if (domains.includes('*')) return true;
	if (origin === undefined || !URL.canParse(origin)) return false;
	const { hostname } = new URL(origin);
	return domains.some((domain) =>
		domain.startsWith('*.') ? hostname.endsWith(domain.slice(1)) : hostname === domain.toLowerCase(),
	);
}
