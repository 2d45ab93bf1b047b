import type { Answering } from './answering.ts';

/** Gives the socket as much of a body as it takes, and more whenever it takes more. */
export function writeLarge(answering: Answering, bytes: Uint8Array): void {
	const { res } = answering;
	const give = (offset: number): boolean => {
		answering.stopReading();
		const [ok, done] = res.tryEnd(offset === 0 ? bytes : bytes.subarray(offset), bytes.length);
		if (done) answering.release();
		else if (!ok) answering.waitForRoom();
		return ok;
	};
	res.onWritable((offset) => {
		answering.roomAgain();
		let ok = true;
		res.cork(() => {
			ok = give(offset);
		});
		return ok;
	});
	give(0);
}
