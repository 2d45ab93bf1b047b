export { type ClientAddress, createClientAddress } from './client-address.ts';
export {
	type EntityTag,
	etagOf,
	ifMatchVersions,
	matchesEtag,
	notModified,
	parseEntityTags,
	versionEtag,
} from './conditional.ts';
export { type Cors, type CorsRules, createCors } from './cors.ts';
export { errorResponse } from './errors.ts';
export { HeaderBlock } from './header-block.ts';
export { DEFAULT_LIMITS, type HttpLimits } from './limits.ts';
export { RequestLog, type RequestLogOptions } from './request-log.ts';
export { Router } from './router.ts';
export { createHttpServer, type HttpServer, type HttpServerOptions } from './server.ts';
export { StaticFiles, type StaticFilesOptions } from './static.ts';
export type * from './types.ts';
