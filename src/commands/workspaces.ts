import { insertWorkspace, PLAN_NAMES } from '../access/index.ts';
import { newId, systemClock } from '../base/index.ts';
import { decideAndCommit } from '../store/index.ts';
import { type Command, columns, UsageError } from './command.ts';
import { everyOf, withStore, workspaceNamed } from './data-folder.ts';
import { requireName } from './options.ts';

const create: Command = {
	name: 'workspaces create',
	words: ['NAME'],
	summary: 'make a workspace, which sees nothing of the others, and print its id',
	async run(given) {
		const [name = ''] = given.words;
		requireName(name);
		const id = newId('workspace');
		const write = insertWorkspace(id, name, systemClock.now());
		await withStore(given.settings(), (store) =>
			decideAndCommit(store, async () => ({ commit: { write }, result: undefined })),
		);
		given.print(id);
		given.note(`Next: parley users create EMAIL --workspace ${id}, or parley keys create --workspace ${id}`);
	},
};

const list: Command = {
	name: 'workspaces list',
	summary: 'list workspaces',
	async run(given) {
		const rows = [['ID', 'PLAN', 'NAME']];
		await withStore(given.settings(), async (store) => {
			for await (const { id, plan, name } of everyOf(store, 'workspaces', {})) rows.push([id, plan, name]);
		});
		for (const line of columns(rows)) given.print(line);
	},
};

const setPlan: Command = {
	name: 'workspaces set-plan',
	words: ['ID', 'PLAN'],
	summary: 'put a workspace on another plan, from the next request on',
	async run(given) {
		const [id = '', plan = ''] = given.words;
		if (!PLAN_NAMES.includes(plan)) throw new UsageError(`A plan is one of ${PLAN_NAMES.join(', ')}.`);
		const settings = given.settings();
		await withStore(settings, (store) =>
			decideAndCommit(store, async () => {
				const workspace = await workspaceNamed(store, id, settings);
				const set = { plan, updated_at: systemClock.now() };
				const commit = { write: [{ op: 'patch', kind: 'workspaces', id: workspace.id, set } as const] };
				return { commit, result: undefined };
			}),
		);
		given.print(`${id} is on the plan ${plan}.`);
	},
};

/** Commands about workspaces. */
export const workspaceCommands = [create, list, setPlan];
