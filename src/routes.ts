import {
	apiRoutes,
	Cursors,
	DemoOrigin,
	dashboardFileRoutes,
	demoPageRoutes,
	insideDashboardNetworks,
	metricsRoute,
	passwordPageRoutes,
	SameOriginCheck,
	startPageRoutes,
	widgetFileRoutes,
} from './api/index.ts';
import { version } from './base/index.ts';
import type { Route } from './http/index.ts';
import type { Foundation, Services } from './services.ts';

/** The routes of the API and of the pages. */
export async function allRoutes(foundation: Foundation, services: Services, address: () => string): Promise<Route[]> {
	const { settings, clock, log, network, models, store, secretKey, metrics } = foundation;
	const sameOriginCheck = new SameOriginCheck(settings.public_url);
	return [
		...apiRoutes({
			access: services.access,
			address,
			clock,
			conversations: services.conversations,
			costs: services.costs,
			credentialMonitor: services.credentialMonitor,
			cursors: new Cursors(secretKey),
			deliverer: services.deliverer,
			demo: settings.demo ? new DemoOrigin(settings.public_url) : null,
			deployments: services.deployments,
			documents: services.knowledge.documents,
			erasures: services.erasures,
			idempotency: services.idempotency,
			inbox: services.inbox,
			knowledge: services.knowledge,
			log,
			maxUploadBytes: settings.max_upload_bytes,
			models,
			network,
			notices: services.notices,
			oidcSignIns: services.oidcSignIns,
			outbox: services.outbox,
			ownAccount: services.ownAccount,
			passwordSignIn: services.passwordSignIn,
			sameOriginCheck,
			secrets: services.secrets,
			sessions: services.sessions,
			sources: services.knowledge.sources,
			statistics: services.statistics,
			store,
			tools: services.tools,
			totpSetup: services.totpSetup,
			users: services.users,
			visitorTokens: services.visitorTokens,
		}),
		...startPageRoutes({ demo: settings.demo, version: version() }),
		...insideDashboardNetworks(services.access, [
			...passwordPageRoutes(),
			...(await dashboardFileRoutes({ access: services.access, sameOriginCheck, log })),
		]),
		...(await widgetFileRoutes()),
		...(settings.demo ? demoPageRoutes() : []),
		...(settings.metrics_listen === undefined
			? [metricsRoute(metrics, { access: services.access, sameOriginCheck, log })]
			: []),
	];
}
