import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type Clock, createLog, newId, SecretBox } from '../../src/base/index.ts';
import { createNetwork, type Network } from '../../src/net/index.ts';
import type { ToolRecord } from '../../src/store/index.ts';
import { completeConfig, type ToolFunction, ToolSecrets, Tools, type ToolsOptions } from '../../src/tools/index.ts';
import { openSharedWorkerPool } from '../support/shared-worker-pool.ts';

/** The tools of a server without the rest of it. */
export interface ToolsHarness extends AsyncDisposable {
	tools: Tools;
	network: Network;
	clock: { now(): number; advance(ms: number): void };
	/** An API tool as it is stored. */
	api(config: Record<string, unknown>, more?: Partial<ToolRecord>): ToolRecord;
	/** An MCP tool as it is stored. */
	mcp(config: Record<string, unknown>, more?: Partial<ToolRecord>): ToolRecord;
	/** The functions of tools by their names. */
	functions(...tools: ToolRecord[]): Promise<Record<string, ToolFunction>>;
	/** The one function of a tool. */
	only(tool: ToolRecord): Promise<ToolFunction>;
}

/** The threads in which arguments are checked. All files of a process share them, and idle they do not keep it running. */
export const pool = openSharedWorkerPool();

/** A signal that does not abort. */
export const neverAborts = new AbortController().signal;

export function toolsHarness(options: Partial<ToolsOptions> & { network?: Network } = {}): ToolsHarness {
	const network = options.network ?? createNetwork({ allowPrivateNetwork: true });
	const box = new SecretBox(randomBytes(32));
	const secrets = new ToolSecrets(box);
	let shift = 0;
	const clock: Clock & { advance(ms: number): void } = {
		now: () => Date.now() + shift,
		advance: (ms) => {
			shift += ms;
		},
	};
	const log = createLog('silent');
	// A busy machine is no slow server.
	const timeouts = { openTimeoutMs: 30_000, listTimeoutMs: 30_000, ...options.timeouts };
	const tools = new Tools({ checker: pool, clock, log, version: '1.2.3', ...options, timeouts, secrets: box, network });
	const anywhere = createNetwork({ allowPrivateNetwork: true });
	const record = (type: ToolRecord['type'], config: Record<string, unknown>, more: Partial<ToolRecord> = {}) => ({
		id: newId('tool'),
		version: 1,
		workspace_id: newId('workspace'),
		name: type,
		description: null,
		type,
		status: 'active' as const,
		created_at: 0,
		updated_at: 0,
		...more,
		config: { ...secrets.seal(completeConfig(type, config, anywhere), null) },
	});
	const listed = (records: ToolRecord[]) => tools.functionsOf(records, neverAborts);
	return {
		tools,
		network,
		clock,
		api: (config, more) => record('api', config, more),
		mcp: (config, more) => record('mcp', config, more),
		async functions(...records) {
			return Object.fromEntries((await listed(records)).map((each) => [each.name, each]));
		},
		async only(tool) {
			const [only, ...others] = await listed([tool]);
			assert.equal(others.length, 0);
			return only ?? assert.fail('the tool offers nothing');
		},
		async [Symbol.asyncDispose]() {
			await tools[Symbol.asyncDispose]();
			await network[Symbol.asyncDispose]();
			await anywhere[Symbol.asyncDispose]();
		},
	};
}
