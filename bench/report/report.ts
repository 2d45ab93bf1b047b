import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Figure, isMet, type PartResult } from './figure.ts';
import { table } from './table.ts';

/** The folder of figures, which git ignores. */
export const FIGURES = fileURLToPath(new URL('../../.build/bench/', import.meta.url));
const PARTS = join(FIGURES, 'parts');

/** Collects the figures of a part of the bench. */
export class Report {
	readonly #part: string;
	readonly #startedAt = performance.now();
	readonly #figures: Figure[] = [];

	constructor(part: string) {
		this.#part = part;
		const load = (loadavg()[0] as number).toFixed(2);
		console.log(`${availableParallelism()} cores, shared by all that takes part; load average before: ${load}`);
	}

	add(...figures: Figure[]): void {
		this.#figures.push(...figures);
	}

	/** Prints the table, and stores it for the table of all parts. The process exits with 1 if a binding goal is missed. */
	async close(): Promise<void> {
		const findings: PartResult = {
			part: this.#part,
			at: new Date().toISOString(),
			seconds: Math.round((performance.now() - this.#startedAt) / 1000),
			figures: this.#figures,
		};
		console.log(table([findings]));
		await mkdir(PARTS, { recursive: true });
		await writeFile(join(PARTS, `${this.#part}.json`), `${JSON.stringify(findings, null, '\t')}\n`);
		if (this.#figures.some((figure) => figure.goal?.binding && !isMet(figure))) process.exitCode = 1;
	}
}

/** The stored results of all parts, sorted by name. */
export async function readPartResults(): Promise<PartResult[]> {
	const names = (await readdir(PARTS)).filter((name) => name.endsWith('.json')).sort();
	return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(PARTS, name), 'utf8'))));
}
