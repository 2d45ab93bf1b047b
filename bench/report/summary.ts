/** The table of all parts, each as it was last measured; the same as JSON and as a drawing in .build/bench. */
import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { chart } from './chart.ts';
import { FIGURES, readFindings } from './report.ts';
import { table } from './table.ts';

const parts = await readFindings();
const facts = {
	node: process.version,
	cores: availableParallelism(),
	processor: cpus()[0]?.model ?? 'unknown',
};
await writeFile(join(FIGURES, 'figures.json'), `${JSON.stringify({ ...facts, parts }, null, '\t')}\n`);
await writeFile(join(FIGURES, 'chart.svg'), chart(parts));
console.log(`\n${table(parts)}\n`);
const seconds = parts.reduce((sum, part) => sum + part.seconds, 0);
console.log(`${facts.cores} cores (${facts.processor}), Node ${facts.node}, ${seconds} s in all.`);
console.log('Also in .build/bench/figures.json and .build/bench/chart.svg.');
