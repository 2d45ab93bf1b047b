import { useState } from 'preact/hooks';
import { api, resultOf } from '../../api/client.ts';
import { usePages } from '../../api/pages.ts';
import { invalidate } from '../../api/queries.ts';
import { currentSession, may } from '../../app/session.ts';
import { Button } from '../../components/button.tsx';
import { PageHeader } from '../../components/page.tsx';
import { PagedContent } from '../../components/paged-content.tsx';
import { showSecretOnce } from '../../components/secret-once.tsx';
import { Status } from '../../components/status.tsx';
import { Table } from '../../components/table.tsx';
import { absoluteText, RelativeTime } from '../../components/time.tsx';
import { fill, strings } from '../../languages/index.ts';
import { InviteForm } from './invite.tsx';
import { PersonActions, RoleCell } from './person.tsx';
import type { PasswordLink, User } from './queries.ts';

const PAGE_SIZE = 50;

/** The people of the workspace. */
export default function People() {
	const t = strings().accessPages;
	const [isInviting, setInviting] = useState(false);
	const list = usePages<User>(['users', 'list'], (cursor, signal) => {
		const query = { limit: PAGE_SIZE, ...(cursor && { cursor }) };
		return resultOf(api.GET('/api/v1/users', { params: { query }, signal }));
	});
	const mayChange = may('settings:write');
	const show = ({ email, password_link, password_link_expires_at }: PasswordLink) => {
		setInviting(false);
		void invalidate('users');
		const text = fill(t.linkText, { time: absoluteText(new Date(password_link_expires_at)) });
		void showSecretOnce({ title: fill(t.linkTitle, { email }), text, label: t.link, secret: password_link });
	};
	return (
		<>
			<PageHeader title={t.titles.people} purpose={t.peoplePurpose}>
				{mayChange && (
					<Button look="primary" icon="plus" onClick={() => setInviting(true)}>
						{t.invite}
					</Button>
				)}
			</PageHeader>
			{isInviting && <InviteForm onInvited={show} onCancel={() => setInviting(false)} />}
			<PagedContent list={list}>
				{(people) => <PeopleTable people={people} mayChange={mayChange} onLink={show} />}
			</PagedContent>
		</>
	);
}

function PeopleTable({
	people,
	mayChange,
	onLink,
}: {
	people: readonly User[];
	mayChange: boolean;
	onLink: (link: PasswordLink) => void;
}) {
	const t = strings().accessPages;
	const ownId = currentSession().user.id;
	/** Owners are changed by owners only. The own account is changed on its page. */
	const isChangeable = (user: User) => mayChange && user.id !== ownId && (user.role !== 'owner' || may('*'));
	return (
		<Table
			label={t.titles.people}
			rows={people}
			pathOf={null}
			columns={[
				{
					title: t.name,
					cell: ({ id, name, email, status, has_password, has_oidc, has_totp }) => (
						<>
							<strong>{name}</strong> {id === ownId && <span class="soft">({t.you})</span>}{' '}
							{status === 'deactivated' && <Status tone="red">{t.deactivated}</Status>}
							{!has_password && !has_oidc && <Status tone="amber">{t.noPassword}</Status>}
							{has_totp && <Status tone="green">{t.secondFactor}</Status>}
							<br />
							<span class="hint">{email}</span>
						</>
					),
				},
				{ title: t.role, cell: (user) => <RoleCell user={user} isChangeable={isChangeable(user)} /> },
				{ title: t.created, cell: ({ created_at }) => <RelativeTime at={created_at} />, isMinor: true },
				...(mayChange
					? [
							{
								title: t.actions,
								cell: (user: User) => (isChangeable(user) ? <PersonActions user={user} onLink={onLink} /> : null),
							},
						]
					: []),
			]}
		/>
	);
}
