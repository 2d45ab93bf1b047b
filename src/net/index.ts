export { isPublicAddress } from './address.ts';
export type { Download, DownloadOptions } from './download.ts';
export { type Endpoint, EndpointError, type EndpointFetch, type EndpointOptions } from './endpoint.ts';
export type { GuardOptions, UrlRules } from './guard.ts';
export { createNetwork, type Network } from './network.ts';
export type { PostOptions, PostOutcome } from './post.ts';
export { type Resolve, type ResolvedAddress, resolverOfDns } from './resolve.ts';
