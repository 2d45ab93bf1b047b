import { deferred } from '../base/index.ts';
import type { BodyBuffer } from './body-buffer.ts';
import { UNKNOWN_LENGTH } from './framing.ts';
import { GrowingBuffer } from './growing-buffer.ts';
import { payloadTooLargeError } from './json-body.ts';

/**
 * Reads a whole body.
 * @param announcedBytes of the body; `UNKNOWN_LENGTH` for a chunked body
 * @throws AppError `payload_too_large`
 */
export function readBytes(body: BodyBuffer, announcedBytes: number, maxBytes: number): Promise<Uint8Array> {
	const { promise, resolve, reject } = deferred<Uint8Array>();
	const refuse = (): void => {
		body.discard();
		reject(payloadTooLargeError(maxBytes));
	};
	if (announcedBytes !== UNKNOWN_LENGTH && announcedBytes > maxBytes) {
		refuse();
		return promise;
	}
	const arrived = new GrowingBuffer();
	body.setSink({
		write(bytes, last) {
			if (arrived.length + bytes.length > maxBytes) return refuse();
			arrived.append(bytes);
			if (last) resolve(arrived.bytes());
		},
		abort: reject,
	});
	return promise;
}
