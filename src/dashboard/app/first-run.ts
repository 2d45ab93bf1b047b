import { signal } from '@preact/signals';
import { api, resultOf } from '../api/client.ts';
import { currentSession, may } from './session.ts';

/** Whether the start of the dashboard is the guide of the first run; null while that is not known. */
export const showsGuide = signal<boolean | null>(null);

/** This browser remembers which workspaces are set up, so that the start needs no request for it. */
const STORAGE_PREFIX = 'parley-set-up:';
const storageKey = () => STORAGE_PREFIX + currentSession().workspace.id;

/** Decides whether the start of the dashboard is the guide: it is while the workspace is empty, for those who may fill it. */
export async function decideStart(): Promise<void> {
	if (localStorage.getItem(storageKey()) !== null || !may('assistants:write') || !may('knowledge_bases:write')) {
		showsGuide.value = false;
		return;
	}
	try {
		showsGuide.value = await needsGuide();
	} catch {
		// The page that is shown in its place says what is wrong.
		showsGuide.value = false;
	}
}

/** The guide is over, or left. */
export function endGuide(): void {
	localStorage.setItem(storageKey(), 'yes');
	showsGuide.value = false;
}

/** Whether the workspace has at most one assistant, which is not on a website yet. */
async function needsGuide(): Promise<boolean> {
	const query = { status: 'active', order: 'asc', limit: 2 } as const;
	const { data: assistants } = await resultOf(api.GET('/api/v1/assistants', { params: { query } }));
	const [only, ...others] = assistants;
	if (others.length > 0) return false;
	if (!only) return true;
	const deployments = { assistant_id: only.id, status: 'active', limit: 1 } as const;
	const { data } = await resultOf(api.GET('/api/v1/deployments', { params: { query: deployments } }));
	return data.every(({ allowed_domains }) => allowed_domains.length === 0);
}
