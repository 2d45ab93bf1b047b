import { useEffect, useRef, useState } from 'preact/hooks';
import type { AllRows } from '../../../api/all-rows.ts';
import type { Versioned } from '../../../api/client.ts';
import { useQuery } from '../../../api/queries.ts';
import { allAssistants } from '../../../api/workspace-lists.ts';
import { changeQuery, linkTo, route } from '../../../app/route.ts';
import { Button, ButtonLink } from '../../../components/button.tsx';
import { SelectField, SliderField, TextField } from '../../../components/field.tsx';
import { limitText, type Option } from '../../../components/options.ts';
import { EmptyState, ErrorState } from '../../../components/page.tsx';
import { count, strings } from '../../../languages/index.ts';
import { mayWrite } from '../may-write.ts';
import { type Assistant, assistantsWith, type KnowledgeBase } from '../queries.ts';
import { Results, summaryOf } from './results.tsx';
import { type SearchInput, SearchRun } from './search-run.ts';
import { WeightActions } from './weight-actions.tsx';

/** The passages of a reply without an assistant: the default of the API. */
const DEFAULT_TOP_K = 5;
/** How long a slider rests before its value is searched with (ms). */
const SLIDER_PAUSE_MS = 150;

/** Tries searches with other settings than the stored ones. */
export function SearchTab({ base: { value: base } }: { base: Versioned<KnowledgeBase> }) {
	const t = strings().knowledgePages;
	const settings = base.search_settings;
	const asked = route.value.query.get('q') ?? '';
	const [query, setQuery] = useState(asked);
	const [weight, setWeight] = useState(settings.semantic_weight);
	const [assistantId, setAssistantId] = useState('');
	const all = useQuery(allAssistants()).data;
	const assistants = all && assistantsWith(base.id, all);
	const assistant = chosenAssistant(assistants?.rows, assistantId);
	const [minScore, setMinScore] = useState<number | null>(null);
	const usedMinScore = minScore ?? assistant?.rag_settings.min_score ?? 0;
	const topK = assistant?.rag_settings.top_k ?? DEFAULT_TOP_K;
	const settingsInUse = { hybrid: settings.hybrid, semanticWeight: weight, minScore: usedMinScore, topK };
	const { state, searchNow } = useSearch(base.id, asked, settingsInUse);
	if (!base.searchable) {
		return (
			<EmptyState title={t.nothingToSearch} text={t.nothingToSearchText}>
				<ButtonLink href={linkTo(['knowledge', base.id])}>{t.documents}</ButtonLink>
			</EmptyState>
		);
	}
	const ask = (event: Event) => {
		event.preventDefault();
		const next = query.trim();
		// The same question is asked again: documents may have been added.
		if (next === asked) searchNow();
		else changeQuery({ q: next });
	};
	return (
		<div class="search-columns">
			<div class="card search-form">
				<form onSubmit={ask}>
					<TextField
						type="search"
						label={t.query}
						hint={t.searchHint}
						placeholder={t.queryPlaceholder}
						maxLength={32_000}
						value={query}
						onChange={setQuery}
					/>
					<Button look="primary" type="submit" isBusy={state.isRunning} disabled={query.trim() === ''}>
						{t.searchNow}
					</Button>
				</form>
				{settings.hybrid && (
					<SliderField
						label={t.weight}
						hint={t.weightHint}
						{...{ min: 0, max: 1, step: 0.05 }}
						value={weight}
						onChange={setWeight}
					/>
				)}
				{settings.hybrid && mayWrite() && <WeightActions base={base} weight={weight} onChosen={setWeight} />}
				<SliderField
					label={t.minScore}
					{...{ min: 0, max: 1, step: 0.05 }}
					value={usedMinScore}
					onChange={setMinScore}
				/>
				<AssistantField assistants={assistants} value={assistant?.id ?? ''} onChange={setAssistantId} />
			</div>
			<div>
				<p class="results-head" role="status">
					{summaryOf(state)}
				</p>
				{state.error ? (
					<ErrorState error={state.error} onRetry={searchNow} />
				) : (
					<Results baseId={base.id} state={state} minScore={usedMinScore} />
				)}
			</div>
		</div>
	);
}

/** Searches for a question whenever it or the settings change. `searchNow` searches again. */
function useSearch(baseId: string, query: string, settings: Omit<SearchInput, 'query'>) {
	const [run] = useState(() => new SearchRun(baseId));
	const isFirst = useRef(true);
	const searchNow = () => void run.search({ query, ...settings });
	useEffect(() => () => run.leave(), []);
	useEffect(() => {
		if (query === '') return;
		const timer = setTimeout(searchNow, isFirst.current ? 0 : SLIDER_PAUSE_MS);
		isFirst.current = false;
		return () => clearTimeout(timer);
	}, [query, settings.hybrid, settings.semanticWeight, settings.minScore, settings.topK]);
	return { state: run.state.value, searchNow };
}

/** The first assistant, unless another one was chosen. */
function chosenAssistant(assistants: readonly Assistant[] | undefined, id: string): Assistant | undefined {
	return assistants?.find((each) => each.id === id) ?? assistants?.[0];
}

/** For which assistant the passages of a reply are marked: each takes its own number of passages. */
function AssistantField({
	assistants,
	value,
	onChange,
}: {
	assistants: AllRows<Assistant> | undefined;
	value: string;
	onChange: (id: string) => void;
}) {
	const t = strings().knowledgePages;
	const options: Option[] = (assistants?.rows ?? []).map(({ id, name, rag_settings }) => ({
		value: id,
		label: count(
			{ one: t.assistantOption.one.replace('{name}', name), other: t.assistantOption.other.replace('{name}', name) },
			rag_settings.top_k,
		),
	}));
	if (options.length === 0) options.push({ value: '', label: t.noAssistant });
	const hint = (assistants && limitText(assistants)) ?? undefined;
	return <SelectField label={t.forAssistant} hint={hint} value={value} options={options} onChange={onChange} />;
}
