// A program: hostile clients beside honest ones. scripts/hostility.mjs starts it.
import { parseArgs } from 'node:util';
import { percentile } from '../soak/slope.ts';
import { carryOut, type Outcome } from './attack.ts';
import { MIB } from './scenario.ts';
import { scenariosOf } from './scenarios.ts';

const USAGE = `npm run hostility [-- [options] [WORDS …]]

Attacks servers on the loopback address, and measures their memory and the latency of honest clients meanwhile. WORDS run the
scenarios whose names have one of them.

  --scale N     the part of the connections, from 0 to 1 (default: 1)
  --seconds N   how long a flood lasts, and how long connections are held (default: 8)

Scenarios:
${scenariosOf({ scale: 1, seconds: 1, quietSeconds: 0, spareBytes: 0 })
	.map(({ name }) => `  ${name}`)
	.join('\n')}
`;

/** The latency that honest clients may have in any case (ms), or twice their latency without an attack. */
const MAX_P95_MS = 10;
const MAX_RATIO = 2;

const { values, positionals: words } = parseArgs({
	allowPositionals: true,
	options: {
		seconds: { type: 'string', default: '8' },
		scale: { type: 'string', default: '1' },
		help: { type: 'boolean' },
	},
});
const seconds = Number(values.seconds);
const extent = {
	seconds,
	scale: Number(values.scale),
	quietSeconds: seconds,
	spareBytes: 0,
};

async function main(): Promise<number> {
	if (values.help === true) {
		process.stdout.write(USAGE);
		return 0;
	}
	if (!(extent.seconds > 0) || !(extent.scale > 0 && extent.scale <= 1))
		throw new Error('--seconds needs a number above 0, --scale one from 0 to 1.');
	const all = scenariosOf(extent);
	const scenarios = words.length === 0 ? all : all.filter(({ name }) => words.some((word) => name.includes(word)));
	if (scenarios.length === 0) throw new Error(`No scenario has one of the words ${words.join(', ')}.\n\n${USAGE}`);
	let failed = 0;
	for await (const outcome of carryOut(scenarios, extent)) if (!report(outcome)) failed++;
	return failed === 0 ? 0 : 1;
}

/** Prints what was seen of a scenario. @returns whether every bound was kept, that of the latencies too */
function report({ name, quiet, busy, whileHeld, attack, growthBytes, descriptors, problems }: Outcome): boolean {
	const p95 = (kind: 'reads' | 'messages') => [quiet, busy].map((figures) => percentile(figures[kind], 0.95));
	const heldP95 = (kind: 'reads' | 'messages') =>
		whileHeld === null || whileHeld[kind].length === 0
			? ''
			: ` (${percentile(whileHeld[kind], 0.95).toFixed(1)} when all were open)`;
	const slow = (['reads', 'messages'] as const).filter((kind) => {
		const [before = 0, during = 0] = p95(kind);
		return during > Math.max(MAX_P95_MS, MAX_RATIO * before);
	});
	const all = [...slow.map((kind) => `honest clients wait too long for their ${kind}`), ...problems];
	const line = [
		...(['reads', 'messages'] as const).map(
			(kind) =>
				`${kind} p95 ${p95(kind)
					.map((ms) => ms.toFixed(1))
					.join(' → ')} ms${heldP95(kind)} in ${busy[kind].length}`,
		),
		`memory +${Math.round(growthBytes / MIB)} MiB`,
		`${attack.open} open and ${attack.closed} closed`,
		`${descriptors} descriptors`,
		`answers ${JSON.stringify(attack.statuses)}`,
	].join(', ');
	console.log(`${all.length === 0 ? 'ok    ' : 'FAILED'} ${name}: ${line}`);
	for (const problem of all) console.log(`       ${problem}`);
	return all.length === 0;
}

main().then(
	(code) => process.exit(code),
	(error: Error) => {
		process.stderr.write(`${error.message}\n`);
		process.exit(2);
	},
);
