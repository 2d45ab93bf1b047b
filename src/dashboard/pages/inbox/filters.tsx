import type { TargetedKeyboardEvent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useQuery } from '../../api/queries.ts';
import { allDeployments } from '../../api/workspace-lists.ts';
import { changeQuery } from '../../app/route.ts';
import { optionsOf } from '../../components/options.ts';
import { strings } from '../../languages/index.ts';
import type { InboxFilters } from './queries.ts';

/** A search starts when nothing was typed for this long (ms). */
const TYPING_MS = 250;

/** The search field and the filters. Both are in the address. */
export function Filters({ filters }: { filters: InboxFilters }) {
	const t = strings().inboxPages;
	const deployments = optionsOf(useQuery(allDeployments()).data);
	const chips = [
		{ name: 'unread', value: '1', label: t.filterUnread },
		{ name: 'waiting', value: '1', label: t.filterWaiting },
		{ name: 'mine', value: '1', label: t.filterMine },
		{ name: 'unanswered', value: '1', label: t.filterUnanswered },
		{ name: 'down', value: '1', label: t.filterRatedDown },
		{ name: 'status', value: 'archived', label: t.filterArchived },
	] as const;
	return (
		<div class="inbox-filters">
			<SearchField value={filters.search ?? ''} />
			{/* biome-ignore lint/a11y/useSemanticElements: a fieldset would need a visible legend */}
			<div class="chips" role="group" aria-label={t.filters}>
				{chips.map(({ name, value, label }) => (
					<button
						key={name}
						type="button"
						class="chip"
						aria-pressed={filters[name] !== undefined}
						onClick={() => changeQuery({ [name]: filters[name] === undefined ? value : undefined })}
					>
						{label}
					</button>
				))}
				{deployments.length > 1 && (
					<select
						class={filters.deployment ? 'chip is-set' : 'chip'}
						aria-label={t.deployment}
						value={filters.deployment ?? ''}
						onChange={(event) => changeQuery({ deployment: event.currentTarget.value || undefined })}
					>
						<option value="">{t.allDeployments}</option>
						{deployments.map(({ value, label, disabled }) => (
							<option key={value} value={value} disabled={disabled}>
								{label}
							</option>
						))}
					</select>
				)}
			</div>
		</div>
	);
}

function SearchField({ value }: { value: string }) {
	const t = strings().inboxPages;
	const [text, setText] = useState(value);
	useEffect(() => setText(value), [value]);
	useEffect(() => {
		if (text.trim() === value) return;
		const timer = setTimeout(() => changeQuery({ search: text.trim() || undefined }), TYPING_MS);
		return () => clearTimeout(timer);
	}, [text]);
	// Some browsers empty the field by themselves, and say nothing of it once the field has lost the focus.
	const leaveOnEscape = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
		if (event.key !== 'Escape') return;
		event.preventDefault();
		event.currentTarget.blur();
		setText('');
		changeQuery({ search: undefined });
	};
	return (
		<input
			type="search"
			id="inbox-search"
			aria-label={t.search}
			placeholder={t.searchHint}
			maxLength={200}
			value={text}
			onInput={(event) => setText(event.currentTarget.value)}
			onKeyDown={leaveOnEscape}
		/>
	);
}
