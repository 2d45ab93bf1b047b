// The package has no types. What the tests use of it.
declare module 'oidc-provider' {
	import type { RequestListener } from 'node:http';

	/** An OpenID Connect issuer. */
	export class Provider {
		constructor(issuer: string, configuration: object);
		callback(): RequestListener;
		readonly Client: { prototype: { redirectUriAllowed(uri: string): boolean } };
		readonly Grant: new (options: { clientId: string; accountId: string }) => {
			addOIDCScope(scope: string): void;
			save(): Promise<string>;
		};
	}
}
