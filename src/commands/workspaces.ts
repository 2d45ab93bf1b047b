import { insertWorkspace, PLAN_NAMES } from '../access/index.ts';
import { newId, systemClock } from '../base/index.ts';
import { decideAndCommit } from '../store/index.ts';
import { alignColumns, type Command, UsageError } from './command.ts';
import { findWorkspace, listAll, withStore } from './data-folder.ts';
import { requireName } from './options.ts';

const create: Command = {
	name: 'workspaces create',
	positionals: ['NAME'],
	summary: 'make a workspace, isolated from the others, and print its id',
	async run(invocation) {
		const [name = ''] = invocation.positionals;
		requireName(name);
		const id = newId('workspace');
		const write = insertWorkspace(id, name, systemClock.now());
		await withStore(invocation.settings(), (store) =>
			decideAndCommit(store, async () => ({ commit: { write }, result: undefined })),
		);
		invocation.print(id);
		invocation.printInfo(`Next: parley users create EMAIL --workspace ${id}, or parley keys create --workspace ${id}`);
	},
};

const list: Command = {
	name: 'workspaces list',
	summary: 'list workspaces',
	async run(invocation) {
		const rows = [['ID', 'PLAN', 'NAME']];
		await withStore(invocation.settings(), async (store) => {
			for await (const { id, plan, name } of listAll(store, 'workspaces', {})) rows.push([id, plan, name]);
		});
		for (const line of alignColumns(rows)) invocation.print(line);
	},
};

const setPlan: Command = {
	name: 'workspaces set-plan',
	positionals: ['ID', 'PLAN'],
	summary: 'change the plan of a workspace, from the next request on',
	async run(invocation) {
		const [id = '', plan = ''] = invocation.positionals;
		if (!PLAN_NAMES.includes(plan)) throw new UsageError(`A plan is one of ${PLAN_NAMES.join(', ')}.`);
		const settings = invocation.settings();
		await withStore(settings, (store) =>
			decideAndCommit(store, async () => {
				const workspace = await findWorkspace(store, id, settings);
				const set = { plan, updated_at: systemClock.now() };
				const commit = { write: [{ op: 'patch', kind: 'workspaces', id: workspace.id, set } as const] };
				return { commit, result: undefined };
			}),
		);
		invocation.print(`${id} is on the plan ${plan}.`);
	},
};

/** Commands about workspaces. */
export const workspaceCommands = [create, list, setPlan];
