import { errorOfBody } from './api-error.ts';
import { BASE_URL, reportUnauthorized } from './client.ts';

/** A form that is sent with its progress. */
export interface Upload {
	/** Below the server's address, for example `api/v1/…`. */
	path: string;
	form: FormData;
	/** For `Idempotency-Key`: a repeat with the same key adds nothing twice. */
	key: string;
	/** @param share of the bytes that were sent, 0..1 */
	onProgress(share: number): void;
	signal: AbortSignal;
}

/**
 * Sends a form and returns the parsed response. It uses XMLHttpRequest, because `fetch` reports no progress of a request's body.
 * @throws ApiError, TypeError where the connection breaks, the reason of the signal
 */
export function sendForm<T>({ path, form, key, onProgress, signal }: Upload): Promise<T> {
	return new Promise((resolve, reject) => {
		signal.throwIfAborted();
		const request = new XMLHttpRequest();
		const abort = () => request.abort();
		signal.addEventListener('abort', abort, { once: true });
		request.open('POST', new URL(path, BASE_URL));
		request.setRequestHeader('Idempotency-Key', key);
		request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total);
		request.onload = () => {
			const { status, responseText } = request;
			if (status < 300) resolve(JSON.parse(responseText) as T);
			else {
				if (status === 401) reportUnauthorized();
				reject(errorOfBody(status, responseText));
			}
		};
		request.onerror = () => reject(new TypeError('The connection broke.'));
		request.onabort = () => reject(signal.reason);
		request.onloadend = () => signal.removeEventListener('abort', abort);
		request.send(form);
	});
}
