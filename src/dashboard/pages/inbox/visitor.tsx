import { BASE_URL } from '../../api/client.ts';
import { useCurrency } from '../../api/prices.ts';
import { useQuery } from '../../api/queries.ts';
import { changeQuery, linkTo, route } from '../../app/route.ts';
import { may } from '../../app/session.ts';
import { Button } from '../../components/button.tsx';
import { ShortId } from '../../components/copy-button.tsx';
import { DownloadButton } from '../../components/download-button.tsx';
import { SelectField } from '../../components/field.tsx';
import { optionsOf } from '../../components/options.ts';
import { RelativeTime } from '../../components/time.tsx';
import { eraseEndUser, exportPathOf } from '../../forms/erase-end-user.ts';
import { useAction } from '../../forms/use-action.ts';
import { locale, strings } from '../../languages/index.ts';
import { formatMoney } from '../../languages/money.ts';
import { assign, erase } from './actions.ts';
import { visitorName } from './list.tsx';
import { Notes } from './notes.tsx';
import { assignees, type Conversation, conversationsOf, useDeploymentName } from './queries.ts';

/** Who the visitor is, who takes care of the conversation, and what can be done with it as a whole. */
export function VisitorPanel({
	conversation,
	onChanged,
	onErased,
}: {
	conversation: Conversation;
	onChanged: () => void;
	onErased: () => void;
}) {
	const s = strings();
	const t = s.inboxPages;
	const { end_user, metadata, id, cost_micros } = conversation;
	const currency = useCurrency();
	const deployment = useDeploymentName(conversation.deployment_id);
	const Title = route.value.query.get('details') === '1' ? 'h1' : 'h2';
	const eraseNow = async () => {
		if (await erase(conversation)) onErased();
	};
	const facts: [string, preact.ComponentChildren][] = [
		// The address that the visitor left is the one to answer.
		[t.contactEmail, conversation.contact_email],
		[t.email, end_user?.email === conversation.contact_email ? null : end_user?.email],
		[t.id, end_user && <code>{end_user.id}</code>],
		[t.deployment, deployment],
		[t.channel, conversation.channel === 'api' ? t.channelApi : t.channelWidget],
		[t.started, <RelativeTime key="started" at={conversation.created_at} />],
		[t.messageCount, conversation.message_count],
		[s.costTexts.cost, currency !== null && cost_micros !== null && formatMoney(cost_micros, currency, locale.value)],
	];
	return (
		<aside class="inbox-visitor" aria-label={t.visitor}>
			<div class="visitor-close">
				<Button look="quiet" onClick={() => changeQuery({ details: undefined })}>
					{s.close}
				</Button>
			</div>
			{/* On narrow screens the panel is the whole page. */}
			<Title>{visitorName(conversation)}</Title>
			<Facts facts={facts} />
			<AssigneePicker conversation={conversation} onChanged={onChanged} />
			<Notes key={id} id={id} />
			{Object.keys(metadata).length > 0 && (
				<section>
					<h2>{t.metadata}</h2>
					<Facts facts={Object.entries(metadata).map(([name, value]) => [name, textOf(value)])} />
				</section>
			)}
			<section>
				<h2>{t.earlierConversations}</h2>
				{end_user ? <Earlier endUserId={end_user.id} except={id} /> : <p class="hint">{t.noEarlier}</p>}
			</section>
			<section>
				<h2>{t.exportTitle}</h2>
				<div class="actions">
					<ExportLink id={id} format="json" label={t.exportJson} />
					<ExportLink id={id} format="markdown" label={t.exportMarkdown} />
				</div>
			</section>
			{end_user && <Person id={end_user.id} />}
			<section class="visitor-foot">
				<ShortId id={id} />
				{may('conversations:write') && (
					<Button look="danger" onClick={() => void eraseNow()}>
						{t.erase}
					</Button>
				)}
			</section>
		</aside>
	);
}

/** Export and erasure of everything that is stored about the visitor. */
function Person({ id }: { id: string }) {
	const t = strings().privacyPages;
	const erase = useAction(() => eraseEndUser(id));
	return (
		<section>
			<h2>{strings().inboxPages.wholePerson}</h2>
			<div class="actions">
				<DownloadButton path={exportPathOf(id)}>{t.exportAll}</DownloadButton>
				{may('conversations:write') && (
					<Button look="danger" isBusy={erase.isBusy} onClick={() => void erase.run()}>
						{t.erase}
					</Button>
				)}
			</div>
		</section>
	);
}

function Facts({ facts }: { facts: [string, preact.ComponentChildren][] }) {
	return (
		<dl class="facts">
			{facts
				.filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false)
				.map(([name, value]) => (
					<div key={name}>
						<dt>{name}</dt>
						<dd>{value}</dd>
					</div>
				))}
		</dl>
	);
}

function AssigneePicker({ conversation, onChanged }: { conversation: Conversation; onChanged: () => void }) {
	const t = strings().inboxPages;
	const people = useQuery(assignees()).data;
	const options = [{ value: '', label: t.nobody }, ...optionsOf(people)];
	const choose = async (value: string) => {
		const name = people?.rows.find(({ id }) => id === value)?.name ?? null;
		if (await assign(conversation.id, value || null, name)) onChanged();
	};
	return (
		<SelectField
			label={t.assignee}
			value={conversation.assignee_id ?? ''}
			disabled={!may('conversations:write')}
			options={options}
			onChange={(value) => void choose(value)}
		/>
	);
}

function Earlier({ endUserId, except }: { endUserId: string; except: string }) {
	const t = strings().inboxPages;
	const others = useQuery(conversationsOf(endUserId)).data?.filter(({ id }) => id !== except);
	if (others === undefined) return null;
	if (others.length === 0) return <p class="hint">{t.noEarlier}</p>;
	return (
		<ul class="earlier">
			{others.map(({ id, title, created_at }) => (
				<li key={id}>
					<a href={linkTo(['inbox', id])}>{title ?? t.untitled}</a> <RelativeTime at={created_at} />
				</li>
			))}
		</ul>
	);
}

function ExportLink({ id, format, label }: { id: string; format: 'json' | 'markdown'; label: string }) {
	const url = new URL(`api/v1/conversations/${id}/export?format=${format}`, BASE_URL);
	return (
		<a class="button button-secondary" href={url.href} download>
			{label}
		</a>
	);
}

function textOf(value: unknown): string {
	return typeof value === 'string' ? value : JSON.stringify(value);
}
