import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/listening.ts';
import { skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { findProgram } from '../support/programs.ts';
import { endProgram, temporaryFolder } from '../support/run-command.ts';
import { startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';

const program = findProgram('prometheus');
const skip = program === null ? 'Prometheus is not installed: apt-get install prometheus' : skipWithoutPostgres;
const alerts = fileURLToPath(new URL('../../deploy/alerts.yml', import.meta.url));
const panels = fileURLToPath(new URL('../../deploy/grafana.json', import.meta.url));

test('Prometheus reads the metrics, loads the alerts, and evaluates every query of the Grafana dashboard', {
	skip,
}, async (t) => {
	const [metricsPort, prometheusPort] = [await freePort(), await freePort()];
	const folder = await temporaryFolder(t);
	await using server = await startServer({
		env: { PARLEY_METRICS_LISTEN: `127.0.0.1:${metricsPort}`, PARLEY_BACKUP_DIR: join(folder, 'backups') },
	});
	const assistant = await server.call('POST', '/api/v1/assistants', { name: 'Scene' });
	const deployment = await server.call('POST', '/api/v1/deployments', { assistant_id: assistant.body.id });
	const message = { deployment_id: deployment.body.id, content: 'Where is my order?' };
	assert.equal((await server.call('POST', '/api/v1/messages', message)).status, 201);

	const config = `
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: ['${alerts}']
scrape_configs:
  - job_name: parley
    static_configs: [{ targets: ['127.0.0.1:${metricsPort}'] }]
`;
	await writeFile(join(folder, 'prometheus.yml'), config);
	await using _prometheus = startPrometheus(folder, prometheusPort);
	const read = async (path: string) => {
		const response = await fetch(`http://127.0.0.1:${prometheusPort}/api/v1/${path}`).catch(() => null);
		// 503 while it starts.
		return response === null || response.status === 503
			? null
			: ((await response.json()) as { status: string; data: never; error?: string });
	};
	const query = (expression: string) => read(`query?query=${encodeURIComponent(expression)}`);

	await until('Prometheus has the messages', async () => {
		const answer = (await query('sum(parley_messages_total)')) as {
			data: { result: { value: [number, string] }[] };
		} | null;
		return answer?.data.result[0]?.value[1] === '2';
	});
	const rules = (await read('rules')) as unknown as {
		data: { groups: { rules: { name: string; health: string }[] }[] };
	};
	const all = rules.data.groups.flatMap((group) => group.rules);
	assert.ok(all.length >= 10);
	await until('every alert was evaluated', async () => {
		const { data } = (await read('rules')) as unknown as typeof rules;
		return data.groups.flatMap((group) => group.rules).every(({ health }) => health === 'ok');
	});
	const metrics = `${await metricsAt(metricsPort)}${await metricsOfNode()}`;
	for (const expression of [...(await expressionsOfPanels()), ...(await expressionsOfAlerts())]) {
		const answer = await query(expression);
		assert.equal(answer?.status, 'success', `${expression}: ${answer?.error}`);
		for (const [name] of expression.matchAll(/\b(?:parley|nodejs|process)_[a-z0-9_]+/g)) {
			const base = name.replace(/_(bucket|sum|count)$/, '');
			assert.ok(metrics.includes(`# TYPE ${base} `) || metrics.includes(`# TYPE ${name} `), `${name} is no metric`);
		}
	}
});

async function metricsAt(port: number): Promise<string> {
	return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}

/** The metrics of a server on PostgreSQL. */
async function metricsOfNode(): Promise<string> {
	await using postgres = await startPostgres();
	const port = await freePort();
	await using _node = await startServer({
		env: {
			PARLEY_DATABASE_URL: await postgres.database('metrics'),
			PARLEY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
			PARLEY_METRICS_LISTEN: `127.0.0.1:${port}`,
		},
	});
	return await metricsAt(port);
}

function startPrometheus(folder: string, port: number): AsyncDisposable {
	const child = spawn(
		program as string,
		[
			`--config.file=${join(folder, 'prometheus.yml')}`,
			`--storage.tsdb.path=${join(folder, 'data')}`,
			`--web.listen-address=127.0.0.1:${port}`,
		],
		{ stdio: 'ignore' },
	);
	return { [Symbol.asyncDispose]: () => endProgram(child) };
}

async function expressionsOfPanels(): Promise<string[]> {
	const dashboard = JSON.parse(await readFile(panels, 'utf8')) as { panels: { targets: { expr: string }[] }[] };
	return dashboard.panels.flatMap(({ targets }) =>
		targets.map(({ expr }) => expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m')),
	);
}

async function expressionsOfAlerts(): Promise<string[]> {
	const text = await readFile(alerts, 'utf8');
	return [...text.matchAll(/^ +expr: (?:\|\n((?: {10}.*\n)+)|(.+)\n)/gm)].map(([, block, line]) =>
		(block ?? line ?? '').trim(),
	);
}
