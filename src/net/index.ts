export { isPublicAddress } from './address.ts';
export { FileTooLargeError } from './decode.ts';
export type { Download, DownloadOptions } from './download.ts';
export { createNetwork, type Network } from './network.ts';
export type { PostOptions, PostOutcome } from './post.ts';
export { dnsResolver, type ResolvedAddress, type ResolveHost } from './resolve.ts';
export { type ServiceClient, type ServiceClientOptions, ServiceError, type ServiceFetch } from './service-client.ts';
export type { SsrfGuardOptions, UrlRules } from './ssrf-guard.ts';
