import { useEffect, useRef, useState } from 'preact/hooks';
import { useQuery } from '../api/queries.ts';
import { sentenceOf } from '../components/page.tsx';
import { fill, strings } from '../languages/index.ts';
import { type Found, findPages, resourcesMatching } from './find.ts';

/** How long the person must pause before the server is asked (ms). */
const DEBOUNCE_MS = 200;
const LIST_ID = 'palette-list';
const optionId = (index: number) => `palette-option-${index}`;

/** A field that finds pages and resources, and opens the chosen one. The focus returns when it closes. */
export default function Palette({ onClose }: { onClose: () => void }) {
	const s = strings();
	const dialog = useRef<HTMLDialogElement>(null);
	const [text, setText] = useState('');
	const [active, setActive] = useState(0);
	const searched = useDebounced(text.trim());
	const query = useQuery(resourcesMatching(searched));
	const found = [...findPages(text.trim()), ...(query.data ?? [])];
	const chosen = Math.min(active, found.length - 1);
	useEffect(() => dialog.current?.showModal(), []);
	useEffect(() => {
		document.getElementById(optionId(chosen))?.scrollIntoView({ block: 'nearest' });
	}, [chosen]);
	const open = ({ href }: Found) => {
		dialog.current?.close();
		location.hash = href;
	};
	const onKeyDown = (event: KeyboardEvent) => {
		const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
		const step = steps[event.key];
		const target = found[chosen];
		if (step !== undefined && found.length > 0) setActive((chosen + step + found.length) % found.length);
		else if (event.key === 'Enter' && target && !event.isComposing) open(target);
		else return;
		event.preventDefault();
	};
	return (
		<dialog
			ref={dialog}
			class="palette"
			aria-label={s.search}
			onClose={onClose}
			onPointerDown={(event) => event.target === dialog.current && dialog.current?.close()}
		>
			{/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: it has the role of a combobox, which supports them */}
			<input
				type="search"
				// The types allow this role only together with a list of the browser.
				role={'combobox' as never}
				aria-label={s.search}
				aria-expanded={found.length > 0}
				aria-controls={LIST_ID}
				aria-autocomplete="list"
				aria-activedescendant={found.length > 0 ? optionId(chosen) : undefined}
				placeholder={s.searchPlaceholder}
				maxLength={200}
				value={text}
				onInput={(event) => {
					setText(event.currentTarget.value);
					setActive(0);
				}}
				onKeyDown={onKeyDown}
			/>
			<div id={LIST_ID} role="listbox" aria-label={s.searchResults} aria-busy={query.isFetching}>
				{found.map((one, index) => (
					// biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the combobox has the focus and the keys
					<div
						key={one.id}
						id={optionId(index)}
						role="option"
						aria-selected={index === chosen}
						onClick={() => open(one)}
						onPointerMove={() => setActive(index)}
					>
						<span>{one.label}</span>
						<span class="hint">{one.kind}</span>
					</div>
				))}
			</div>
			{query.error && <p class="field-error palette-note">{sentenceOf(query.error)}</p>}
			<p class={found.length > 0 ? 'visually-hidden' : 'soft palette-note'} role="status">
				{found.length > 0 ? fill(s.searchCount, { n: found.length }) : query.isFetching ? s.loading : s.searchNothing}
			</p>
		</dialog>
	);
}

/** A value after it has not changed for a moment. */
function useDebounced(value: string): string {
	const [settled, setSettled] = useState(value);
	useEffect(() => {
		const timer = setTimeout(() => setSettled(value), DEBOUNCE_MS);
		return () => clearTimeout(timer);
	}, [value]);
	return settled;
}
