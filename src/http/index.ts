export { type ClientAddress, createClientAddress } from './client-address.ts';
export {
	type EntityTag,
	etagOf,
	namesEtag,
	notModified,
	parseEntityTags,
	versionEtag,
	versionsOf,
} from './conditional.ts';
export { type Cors, type CorsRules, createCors } from './cors.ts';
export { errorReply } from './errors.ts';
export { HeaderBlock } from './header-block.ts';
export { DEFAULT_LIMITS, type HttpLimits } from './limits.ts';
export { RequestLog, type RequestLogOptions } from './request-log.ts';
export { Router } from './router.ts';
export { createHttpServer, type HttpServer, type HttpServerOptions } from './server.ts';
export { StaticFiles, type StaticRules } from './static.ts';
export type * from './types.ts';
