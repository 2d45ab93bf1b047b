import type { ComponentChildren } from 'preact';
import { useQuery } from '../../api/queries.ts';
import { linkTo } from '../../app/route.ts';
import { ShortId } from '../../components/copy-button.tsx';
import { DetailList } from '../../components/detail-list.tsx';
import { Icon } from '../../components/icon.tsx';
import { PageHeader } from '../../components/page.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { absoluteText } from '../../components/time.tsx';
import { fill, locale, strings } from '../../languages/index.ts';
import { ErasureStatus } from './erasure-status.tsx';
import { type Erasure, erasureById } from './queries.ts';

/** One erasure: how far it is, what was removed from each place, and which copies still have the data. */
export function Receipt({ id }: { id: string }) {
	const t = strings().privacyPages;
	const query = useQuery(erasureById(id));
	return (
		<>
			<PageHeader
				title={t.receiptTitle}
				purpose={t.receiptPurpose}
				back={{ label: t.title, href: linkTo(['privacy']) }}
			>
				<ShortId id={id} />
			</PageHeader>
			<QueryContent query={query}>
				{(erasure) => (
					<div class="columns">
						<div>
							<Course erasure={erasure} />
							<Copies backups={erasure.backups} />
						</div>
						<Counts erasure={erasure} />
					</div>
				)}
			</QueryContent>
		</>
	);
}

function Counts({ erasure: { status, counts } }: { erasure: Erasure }) {
	const t = strings().privacyPages;
	const places = Object.keys(t.places) as (keyof Erasure['counts'])[];
	const title = status === 'erasing' ? t.removedSoFar : t.removed;
	return (
		<section class="card" aria-label={title}>
			<h2>{title}</h2>
			<dl class="details counts">
				{places.map((place) => (
					<div key={place}>
						<dt>{t.places[place]}</dt>
						<dd>{counts[place].toLocaleString(locale.value)}</dd>
					</div>
				))}
			</dl>
		</section>
	);
}

function Course({ erasure: { status, created_at, erased_at, completed_at } }: { erasure: Erasure }) {
	const t = strings().privacyPages;
	return (
		<section class="card" aria-label={t.course}>
			<div class="course-head">
				<h2>{t.course}</h2>
				<span role="status">
					<ErasureStatus status={status} />
				</span>
			</div>
			<ol class="course">
				<Step label={t.stepRequested} at={created_at} isRunning={false} />
				<Step label={t.stepErased} at={erased_at} isRunning={status === 'erasing'} />
				<Step label={t.stepDone} at={completed_at} isRunning={status === 'overwriting'} />
			</ol>
		</section>
	);
}

/** @param at when it ended; null: not yet */
function Step({ label, at, isRunning }: { label: string; at: string | null; isRunning: boolean }) {
	const t = strings().privacyPages;
	const state = at === null ? (isRunning ? 'is-running' : '') : 'is-done';
	return (
		<li class={state}>
			<span class="course-mark">{at !== null && <Icon name="done" />}</span>
			<span>{label}</span>
			<span class="hint">{at === null ? (isRunning ? t.underWay : t.waiting) : absoluteText(new Date(at))}</span>
		</li>
	);
}

function Copies({ backups }: Pick<Erasure, 'backups'>) {
	const t = strings().privacyPages;
	const textOf = (at: string | null): ComponentChildren =>
		at === null ? t.noneMade : fill(t.goneAt, { time: absoluteText(new Date(at)) });
	return (
		<section class="card" aria-label={t.copies}>
			<h2>{t.copies}</h2>
			{backups === null ? (
				<p class="soft">{t.copiesLater}</p>
			) : (
				<DetailList
					items={[
						{ label: t.backups, value: textOf(backups.backups_gone_at) },
						{ label: t.upgradeCopies, value: textOf(backups.upgrade_copies_gone_at) },
					]}
				/>
			)}
			<p class="hint copies-hint">{t.copiesHint}</p>
		</section>
	);
}
