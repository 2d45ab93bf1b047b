import type { ResponseChannel } from './response-channel.ts';

/** Writes as much of a body as the socket takes, and the rest whenever the socket takes more. */
export function writeLargeBody(channel: ResponseChannel, bytes: Uint8Array): void {
	const { res } = channel;
	const writeFrom = (offset: number): boolean => {
		channel.pauseReading();
		const [ok, done] = res.tryEnd(offset === 0 ? bytes : bytes.subarray(offset), bytes.length);
		if (done) channel.release();
		else if (!ok) channel.startStallTimer();
		return ok;
	};
	res.onWritable((offset) => {
		channel.stopStallTimer();
		let ok = true;
		res.cork(() => {
			ok = writeFrom(offset);
		});
		return ok;
	});
	writeFrom(0);
}
