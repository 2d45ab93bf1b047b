import { useState } from 'preact/hooks';
import { linkTo } from '../../app/route.ts';
import { may } from '../../app/session.ts';
import { Button } from '../../components/button.tsx';
import { DetailList } from '../../components/detail-list.tsx';
import { DownloadButton } from '../../components/download-button.tsx';
import { TextField } from '../../components/field.tsx';
import { RelativeTime } from '../../components/time.tsx';
import { eraseEndUser, exportPathOf } from '../../forms/erase-end-user.ts';
import { useAction } from '../../forms/use-action.ts';
import { fill, strings } from '../../languages/index.ts';
import { type EndUser, findEndUser } from './queries.ts';

/** Conversations that are shown, so that it is clear who it is. */
const SHOWN = 5;

/** Finds a person by id. The id is not in the address: it would stay in the history of the browser. */
export function FindPerson() {
	const t = strings().privacyPages;
	const [id, setId] = useState('');
	/** Undefined until it was searched for. */
	const [found, setFound] = useState<EndUser | null | undefined>(undefined);
	const find = useAction(async () => setFound(await findEndUser(id.trim())));
	return (
		<section class="card narrow" aria-label={t.find}>
			<form
				onSubmit={(event) => {
					event.preventDefault();
					void find.run();
				}}
			>
				<TextField
					label={t.endUserId}
					hint={t.endUserIdHint}
					maxLength={500}
					autocomplete="off"
					placeholder="customer-4711"
					value={id}
					onChange={(text) => {
						setId(text);
						setFound(undefined);
					}}
				/>
				<Button type="submit" look="primary" icon="search" isBusy={find.isBusy} disabled={id.trim() === ''}>
					{t.findAction}
				</Button>
			</form>
			<div role="status">
				{found === null && (
					<div class="person">
						<p>{t.notFound}</p>
						<p class="hint">{t.notFoundHint}</p>
					</div>
				)}
				{found && <Person key={found.id} person={found} />}
			</div>
		</section>
	);
}

function Person({ person: { id, name, email, conversations, hasMore } }: { person: EndUser }) {
	const t = strings().privacyPages;
	const erase = useAction(() => eraseEndUser(id));
	const n = conversations.length;
	return (
		<div class="person">
			<DetailList
				items={[
					{ label: t.name, value: name },
					{ label: t.email, value: email },
					{ label: t.conversations, value: hasMore ? fill(t.moreThan, { n }) : n },
					{ label: t.latest, value: <Latest conversations={conversations.slice(0, SHOWN)} /> },
				]}
			/>
			<div class="actions">
				<DownloadButton icon="download" path={exportPathOf(id)}>
					{t.exportAll}
				</DownloadButton>
				{may('conversations:write') && (
					<Button look="danger" icon="remove" isBusy={erase.isBusy} onClick={() => void erase.run()}>
						{t.erase}
					</Button>
				)}
			</div>
			<p class="hint">{t.exportHint}</p>
		</div>
	);
}

function Latest({ conversations }: Pick<EndUser, 'conversations'>) {
	const t = strings().privacyPages;
	return (
		<ul class="earlier">
			{conversations.map(({ id, title, created_at }) => (
				<li key={id}>
					<a href={linkTo(['inbox', id])}>{title ?? t.untitled}</a> <RelativeTime at={created_at} />
				</li>
			))}
		</ul>
	);
}
