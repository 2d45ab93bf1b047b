import type { Route } from '../http/index.ts';

const JSON_HEADER = ['content-type', 'application/json; charset=utf-8'] as const;
const NO_STORE = ['cache-control', 'no-store'] as const;

/** Why the server does not accept traffic now. */
export interface Unready {
	/** For programs. */
	reason: string;
	/** For people. */
	message: string;
}

export interface ServerRoutesOptions {
	/** Null while the server accepts traffic. */
	currentUnreadiness(): Unready | null;
}

/** Health routes: whether the process runs, and whether it accepts traffic. */
export function serverRoutes({ currentUnreadiness }: ServerRoutesOptions): Route[] {
	const stateResponse = (status: number, body: object) => ({
		status,
		headers: [JSON_HEADER, NO_STORE],
		body: JSON.stringify(body),
	});
	const readiness = () => {
		const unready = currentUnreadiness();
		return unready === null
			? stateResponse(200, { status: 'ready' })
			: stateResponse(503, { status: 'not ready', ...unready });
	};
	return [
		{ method: 'GET', path: '/healthz', isLogSampled: true, handle: () => stateResponse(200, { status: 'alive' }) },
		{ method: 'GET', path: '/readyz', isLogSampled: true, handle: readiness },
	];
}

/** The routes that respond also while the server drains. */
export const DRAIN_SAFE_PATHS = ['/healthz', '/readyz'];
