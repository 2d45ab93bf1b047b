import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { ORIGIN, type Target } from './target.ts';

/** Another address than the attack's. */
const ADDRESS = '127.0.0.2';
/** Between two reads, and between two messages. */
const READ_PAUSE_MS = 10;
const MESSAGE_PAUSE_MS = 100;
/** Only a failure takes so long. */
const DEADLINE_MS = 120_000;

/** Latencies of honest requests (ms). */
export interface Latencies {
	reads: number[];
	/** From a visitor's message to the reply by the built-in model. */
	messages: number[];
}

/** Honest requests, with those that were refused or failed. */
export interface HonestFigures extends Latencies {
	failed: string[];
}

export function noFigures(): HonestFigures {
	return { reads: [], messages: [], failed: [] };
}

/**
 * A program that reads and a visitor who sends messages, one after the other each, until the signal aborts.
 * @param figures get each latency when it is measured
 */
export async function useHonestly(
	target: Target,
	signal: AbortSignal,
	figures: HonestFigures = noFigures(),
): Promise<HonestFigures> {
	const { server, honestDeployment } = target;
	const agent = new Agent({
		...{ connections: 4, localAddress: ADDRESS, connect: { timeout: DEADLINE_MS } },
		...{ headersTimeout: DEADLINE_MS, bodyTimeout: DEADLINE_MS },
	});
	const timed = async (into: number[], path: string, headers: Record<string, string>, body?: object) => {
		const begun = performance.now();
		try {
			const response = await request(server.url + path, {
				dispatcher: agent,
				method: body === undefined ? 'GET' : 'POST',
				headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
				...(body === undefined ? {} : { body: JSON.stringify(body) }),
			});
			await response.body.dump();
			if (response.statusCode >= 300) figures.failed.push(`${path}: ${response.statusCode}`);
		} catch (error) {
			figures.failed.push(`${path}: ${(error as Error).message}`);
		}
		into.push(performance.now() - begun);
	};
	const authorization = `Bearer ${server.key}`;
	const read = async () => {
		const config = `/api/v1/widget/config?deployment_id=${honestDeployment}`;
		for (let at = 0; !signal.aborted; at++) {
			// A visitor has 600 configurations a minute.
			if (at % 30 === 1) await timed(figures.reads, config, { origin: ORIGIN });
			else if (at % 2 === 0) await timed(figures.reads, '/healthz', {});
			else await timed(figures.reads, '/api/v1/assistants?limit=1', { authorization });
			await sleep(READ_PAUSE_MS);
		}
	};
	const message = { deployment_id: honestDeployment, content: 'What is the lid of the kettle made of?' };
	const send = async () => {
		while (!signal.aborted) {
			await timed(figures.messages, '/api/v1/widget/messages', { origin: ORIGIN }, message);
			await sleep(MESSAGE_PAUSE_MS, undefined, { signal }).catch(() => {});
		}
	};
	await Promise.all([read(), send()]);
	await agent.close();
	return figures;
}
