import { createCors, type Headers, type HttpRequest } from '../../http/index.ts';

const PREFIX = '/api/v1/widget/';
const PREFIX_SEGMENTS = PREFIX.split('/').length - 1;

/** CORS of the widget's routes: pages of every origin may call them, and the deployment's allowlist decides. */
export const widgetCors = createCors({
	methods: ['GET', 'POST'],
	requestHeaders: ['Content-Type', 'Authorization', 'Last-Event-ID', 'Idempotency-Key', 'If-None-Match'],
	exposedHeaders: ['Retry-After', 'ETag', 'X-Request-Id'],
	maxAgeSeconds: 86_400,
});

/** CORS headers for responses that no handler made: a widget must be able to read why its request was rejected. */
export function widgetErrorHeaders(request: HttpRequest): Headers {
	return isWidgetPath(request.path) ? widgetCors.headers(request.header('origin')) : [];
}

/** Decodes the prefix as the router does: any character may be percent-encoded, and a later segment may be malformed. */
function isWidgetPath(path: string): boolean {
	if (path.startsWith(PREFIX) || !path.includes('%')) return path.startsWith(PREFIX);
	try {
		return `${path.split('/', PREFIX_SEGMENTS).map(decodeURIComponent).join('/')}/`.startsWith(PREFIX);
	} catch {
		return false;
	}
}
