import { useState } from 'preact/hooks';
import { api, type Resource, resultOf } from '../../api/client.ts';
import { usePages } from '../../api/pages.ts';
import { invalidate } from '../../api/queries.ts';
import { may } from '../../app/session.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { confirm } from '../../components/confirm.tsx';
import { EmptyState, PageHeader } from '../../components/page.tsx';
import { PagedContent } from '../../components/paged-content.tsx';
import { showSecretOnce } from '../../components/secret-once.tsx';
import { Table } from '../../components/table.tsx';
import { RelativeTime } from '../../components/time.tsx';
import { useAction } from '../../forms/use-action.ts';
import { fill, strings } from '../../languages/index.ts';
import { NewKeyForm } from './new-key.tsx';
import { ScopeSummary } from './scopes.tsx';

type ApiKey = Resource<'ApiKey'>;

const PAGE_SIZE = 50;

/** The keys of the workspace. */
export default function ApiKeys() {
	const t = strings().accessPages;
	const [isCreating, setCreating] = useState(false);
	const list = usePages<ApiKey>(['api-keys', 'list'], (cursor, signal) => {
		const query = { limit: PAGE_SIZE, ...(cursor && { cursor }) };
		return resultOf(api.GET('/api/v1/api-keys', { params: { query }, signal }));
	});
	const mayChange = may('settings:write');
	const show = (made: { name: string; key: string }) => {
		setCreating(false);
		void invalidate('api-keys');
		const title = fill(t.newKeyTitle, { name: made.name });
		void showSecretOnce({ title, text: t.newKeyText, label: t.titles.apiKeys, secret: made.key });
	};
	return (
		<>
			<PageHeader title={t.titles.apiKeys} purpose={t.keysPurpose}>
				{mayChange && (
					<Button look="primary" icon="plus" onClick={() => setCreating(true)}>
						{t.newKey}
					</Button>
				)}
			</PageHeader>
			{isCreating && <NewKeyForm onCreated={show} onCancel={() => setCreating(false)} />}
			<PagedContent list={list}>
				{(keys) =>
					keys.length === 0 ? (
						<EmptyState title={t.noKeys} text={t.noKeysText}>
							{!isCreating && mayChange && <Button onClick={() => setCreating(true)}>{t.newKey}</Button>}
						</EmptyState>
					) : (
						<KeyTable keys={keys} mayChange={mayChange} />
					)
				}
			</PagedContent>
		</>
	);
}

function KeyTable({ keys, mayChange }: { keys: readonly ApiKey[]; mayChange: boolean }) {
	const t = strings().accessPages;
	const timeOrNever = (at: string | null, never: string) => (at === null ? never : <RelativeTime at={at} />);
	return (
		<Table
			label={t.titles.apiKeys}
			rows={keys}
			pathOf={null}
			columns={[
				{ title: t.name, cell: ({ name }) => name },
				{ title: t.prefix, cell: ({ prefix }) => <code>{prefix}…</code>, isMinor: true },
				{ title: t.scopes, cell: ({ scopes }) => <ScopeSummary scopes={scopes} /> },
				{ title: t.lastUse, cell: ({ last_used_at }) => timeOrNever(last_used_at, t.never) },
				{ title: t.validUntil, cell: ({ expires_at }) => timeOrNever(expires_at, t.forEver), isMinor: true },
				...(mayChange ? [{ title: t.actions, cell: (key: ApiKey) => <RevokeButton apiKey={key} /> }] : []),
			]}
		/>
	);
}

function RevokeButton({ apiKey: { id, name } }: { apiKey: ApiKey }) {
	const t = strings().accessPages;
	const revoke = useAction(async () => {
		const title = fill(t.revokeTitle, { name });
		if (!(await confirm({ title, text: t.revokeText, action: t.revoke }))) return;
		await api.DELETE('/api/v1/api-keys/{id}', { params: { path: { id } } });
		showToast(fill(t.revoked, { name }));
		await invalidate('api-keys');
	});
	return (
		<Button isBusy={revoke.isBusy} onClick={() => void revoke.run()}>
			{t.revoke}
		</Button>
	);
}
