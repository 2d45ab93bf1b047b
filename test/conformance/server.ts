import { createNetwork } from '../../src/net/index.ts';
import { startIssuer, type TestIssuer } from '../access/identity-provider.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ApiDescription, type OpenApiDocument } from '../support/openapi.ts';

/** A running server and its API description. */
export interface ConformanceServer extends AsyncDisposable {
	app: TestApp;
	api: ApiDescription;
	/** Where people sign in by OpenID Connect. */
	issuer: TestIssuer;
}

/** Starts a server that cannot reach other hosts, so that generated URLs cause no traffic. */
export async function startConformanceServer(): Promise<ConformanceServer> {
	const network = createNetwork({ allowPrivateNetwork: false, resolve: async () => [] });
	const issuer = await startIssuer();
	const settings = { trusted_proxies: ['127.0.0.1'], ...issuer.settings };
	const app = await startTestApp({ settings, overrides: { network } });
	const document = (await (await fetch(`${app.url}/api/openapi.json`)).json()) as OpenApiDocument;
	return {
		app,
		api: new ApiDescription(document),
		issuer,
		async [Symbol.asyncDispose]() {
			await app[Symbol.asyncDispose]();
			await issuer[Symbol.asyncDispose]();
		},
	};
}
