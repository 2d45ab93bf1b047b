import { useEffect } from 'preact/hooks';
import { linkTo } from '../../app/route.ts';
import { EmptyState, PageHeader } from '../../components/page.tsx';
import { PagedContent } from '../../components/paged-content.tsx';
import { Table } from '../../components/table.tsx';
import { absoluteText, RelativeTime } from '../../components/time.tsx';
import { locale, strings } from '../../languages/index.ts';
import { ErasureStatus } from './erasure-status.tsx';
import { FindPerson } from './find-person.tsx';
import { type Erasure, useErasures } from './queries.ts';
import { Receipt } from './receipt.tsx';

/** Between two loads of the list while an erasure in it runs (ms). */
const RELOAD_MS = 3_000;

/** Export and erasure of one person, and earlier erasures; below it the receipt of one. */
export default function Privacy({ path: [id] }: { path: readonly string[] }) {
	return id === undefined ? <Overview /> : <Receipt key={id} id={id} />;
}

function Overview() {
	const t = strings().privacyPages;
	const list = useErasures();
	const isRunning = list.rows?.some(({ status }) => status !== 'done') === true;
	useEffect(() => {
		if (!isRunning) return undefined;
		const timer = setInterval(list.reload, RELOAD_MS);
		return () => clearInterval(timer);
	}, [isRunning]);
	return (
		<>
			<PageHeader title={t.title} purpose={t.purpose} />
			<FindPerson />
			<h2 class="list-title">{t.erasures}</h2>
			<PagedContent list={list}>
				{(rows) => (rows.length === 0 ? <EmptyState title={t.none} text={t.noneText} /> : <ErasureTable rows={rows} />)}
			</PagedContent>
		</>
	);
}

function ErasureTable({ rows }: { rows: readonly Erasure[] }) {
	const t = strings().privacyPages;
	return (
		<Table
			label={t.erasures}
			rows={rows}
			pathOf={({ id }) => ['privacy', id]}
			columns={[
				{
					title: t.requested,
					cell: ({ id, created_at }) => (
						<a href={linkTo(['privacy', id])}>
							<RelativeTime at={created_at} />
						</a>
					),
				},
				{ title: t.status, cell: ({ status }) => <ErasureStatus status={status} /> },
				{
					title: t.conversations,
					cell: ({ counts }) => counts.conversations.toLocaleString(locale.value),
					isNumber: true,
				},
				{
					title: t.messages,
					cell: ({ counts }) => counts.messages.toLocaleString(locale.value),
					isNumber: true,
					isMinor: true,
				},
				{ title: t.backupsUntil, cell: ({ backups }) => backups && <BackupsGone backups={backups} /> },
			]}
		/>
	);
}

function BackupsGone({ backups }: { backups: NonNullable<Erasure['backups']> }) {
	const times = [backups.backups_gone_at, backups.upgrade_copies_gone_at].filter((time) => time !== null).toSorted();
	const last = times.at(-1);
	return <>{last === undefined ? strings().privacyPages.noBackups : absoluteText(new Date(last))}</>;
}
