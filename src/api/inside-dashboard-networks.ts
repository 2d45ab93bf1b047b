import type { Access } from '../access/index.ts';
import type { Route } from '../http/index.ts';

/** The same routes, for clients whose address may use the dashboard. */
export function insideDashboardNetworks(access: Pick<Access, 'requireDashboardNetwork'>, routes: Route[]): Route[] {
	return routes.map((route) => ({
		...route,
		handle(request) {
			access.requireDashboardNetwork(request.clientAddress);
			return route.handle(request);
		},
	}));
}
