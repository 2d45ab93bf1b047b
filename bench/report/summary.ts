/**
 * Prints the table of all parts, and writes it as JSON and SVG to .build/bench. Arguments: the parts that were run. A part without
 * figures has failed.
 */
import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { chart } from './chart.ts';
import { FIGURES, readPartResults } from './report.ts';
import { table } from './table.ts';

const wanted = process.argv.slice(2);
const parts = (await readPartResults()).filter(({ part }) => wanted.includes(part));
const failed = wanted.filter((name) => !parts.some(({ part }) => part === name));
const facts = {
	node: process.version,
	cores: availableParallelism(),
	processor: cpus()[0]?.model ?? 'unknown',
};
await writeFile(join(FIGURES, 'figures.json'), `${JSON.stringify({ ...facts, failed, parts }, null, '\t')}\n`);
await writeFile(join(FIGURES, 'chart.svg'), chart(parts));
console.log(`\n${table(parts)}\n`);
const seconds = parts.reduce((sum, part) => sum + part.seconds, 0);
console.log(`${facts.cores} cores (${facts.processor}), Node ${facts.node}, ${seconds} s in all.`);
if (failed.length > 0) console.log(`Without figures, because they failed: ${failed.join(', ')}.`);
console.log('Also in .build/bench/figures.json and .build/bench/chart.svg.');
