// Own process: a target may block it or end it, and then only this file fails.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fuzz } from './run-target.ts';
import { TARGETS } from './targets/index.ts';

/** The same inputs in every run. `npm run fuzz` takes others. */
const SEED = 20_261_126;
const folder = fileURLToPath(new URL('../../.build/fuzz/', import.meta.url));

for (const target of TARGETS) {
	test(`generated inputs do not break ${target.name}`, { skip: target.skip }, async () => {
		const { runs, failure } = await fuzz(target, { seed: SEED, runs: target.shortRuns, folder });
		assert.equal(failure, null, String(failure));
		assert.equal(runs, target.shortRuns);
	});
}
