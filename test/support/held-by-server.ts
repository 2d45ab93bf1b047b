import { descriptorsOf, threadsOf } from '../soak/process-figures.ts';
import type { ServerProcess } from './server-process.ts';

/** What a server holds for its clients. */
export interface Held {
	connections: number;
	streams: number;
	/** Messages that wait for an actor. */
	waiting: number;
	descriptors: number;
	threads: number;
	/** Actors in memory. */
	actors: number;
}

/** Reads what a server holds for its clients, the connection of this request included. */
export async function heldBy(server: ServerProcess): Promise<Held> {
	const response = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${server.key}` } });
	const text = await response.text();
	const sum = (name: string) => {
		const values = [...text.matchAll(new RegExp(`^parley_${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))];
		if (values.length === 0) throw new Error(`/metrics has no ${name}: ${response.status}`);
		return values.reduce((total, [, value]) => total + Number(value), 0);
	};
	return {
		connections: sum('http_open_connections'),
		streams: sum('http_open_streams'),
		waiting: sum('actor_waiting_messages'),
		actors: sum('actors'),
		descriptors: await descriptorsOf(server.pid),
		threads: await threadsOf(server.pid),
	};
}
