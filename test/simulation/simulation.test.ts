import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const program = fileURLToPath(new URL('../../scripts/simulate.mjs', import.meta.url));

/**
 * Runs `npm run simulate` in processes of its own: the test runner tracks every promise, which takes several times as long as the
 * simulations themselves.
 */
async function simulate(...args: string[]): Promise<{ code: number; output: string }> {
	try {
		const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, ...args], { maxBuffer: 2 ** 28 });
		return { code: 0, output: stdout + stderr };
	} catch (error) {
		const { code, stdout = '', stderr = '' } = error as { code?: number; stdout?: string; stderr?: string };
		return { code: code ?? 1, output: stdout + stderr };
	}
}

test('200 simulations of conversations with crashes, faults of the disk and takeovers, each fourth on two nodes, keep all rules', async () => {
	const { code, output } = await simulate('--seeds', '200');
	assert.equal(code, 0, output);
	// Simulations in which nothing happens would keep all rules.
	const totals = JSON.parse(/\{.*\}/.exec(output)?.[0] ?? '{}');
	assert.ok(totals.messages > 1_000 && totals.processes > 200 && totals.faults > 40, output);
});

test('a seed always gives the same trace, alone and after others', async () => {
	const [first, second, after] = await Promise.all([
		simulate('--seed', '20'),
		simulate('--seed', '20'),
		simulate('--from', '18', '--seeds', '3', '--hashes'),
	]);
	const hash = /Seed 20: .* trace ([0-9a-f]{64})/.exec(first.output)?.[1];
	assert.ok(hash, first.output.slice(-500));
	assert.equal(second.output, first.output);
	assert.ok(after.output.includes(`Seed 20: trace ${hash}`), after.output);
});

test('planted faults are found, the fence of a cluster that is switched off among them, and the seed that finds one is named', async () => {
	const names = [
		'a takeover does not end the running reply',
		'the receipt of a request is not stored',
		'the fence of a commit is not checked',
	];
	const { code, output } = await simulate('--mutations', ...names);
	assert.equal(code, 0, output);
	for (const name of names) assert.match(output, new RegExp(`found by seed \\d+: ${name}`));
});
