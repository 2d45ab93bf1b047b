import { operations } from '../../contract/index.ts';
import type { Route } from '../../http/index.ts';
import { configRoute } from './config.ts';
import { type VisitorMessageOptions, visitorHandlers } from './messages.ts';
import { VisitorAdmission, type VisitorAdmissionOptions } from './visitor-admission.ts';
import { preflightRoute, visitorRoute } from './visitor-route.ts';

export interface WidgetRoutesOptions extends VisitorAdmissionOptions, Omit<VisitorMessageOptions, 'admission'> {}

/** The public routes, which the widget calls without a credential: its configuration, and the visitor's messages. */
export function widgetRoutes(options: WidgetRoutesOptions): Route[] {
	const admission = new VisitorAdmission(options);
	const handlers = visitorHandlers({ ...options, admission });
	const visitorRoutes = (Object.keys(handlers) as (keyof typeof handlers)[]).map((id) =>
		visitorRoute(operations[id], admission, handlers[id]),
	);
	const routes = [configRoute(options.deployments, admission), ...visitorRoutes];
	return [...routes, ...routes.map(preflightRoute)];
}
