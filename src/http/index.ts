export { createClientAddress } from './client-address.ts';
export {
	etagOf,
	ifMatchVersions,
	matchesEtag,
	notModified,
	parseEntityTags,
	versionEtag,
} from './conditional.ts';
export { createCors } from './cors.ts';
export { errorResponse } from './errors.ts';
export { HeaderBlock } from './header-block.ts';
export { type IncomingRequest, TIMEOUT_HEADER } from './request.ts';
export { RequestLog, type RequestObserver } from './request-log.ts';
export type { RequestTracer } from './request-tracer.ts';
export { Router } from './router.ts';
export { createHttpServer, type HttpServer, type HttpServerOptions } from './server.ts';
export { StaticFiles } from './static.ts';
export type {
	BytesResponse,
	ChunkedResponse,
	EncodableEvent,
	EventStreamResponse,
	FilePart,
	Headers,
	HttpRequest,
	JsonOptions,
	MultipartFields,
	MultipartOptions,
	RequestLogFields,
	Route,
	RouteResponse,
	Unhandled,
} from './types.ts';
