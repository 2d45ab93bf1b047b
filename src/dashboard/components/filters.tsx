import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { changeQuery, route } from '../app/route.ts';
import { strings } from '../languages/index.ts';
import type { Option } from './options.ts';

interface FilterProps {
	/** The member of the address's query that holds the choice. */
	name: string;
	label: string;
	options: readonly Option[];
}

/** The filters of a list, side by side. */
export function Filters({ children }: { children: ComponentChildren }) {
	return <div class="filters">{children}</div>;
}

/** A filter with few options as chips; none pressed shows everything. Pressing the pressed one again removes the filter. */
export function FilterChips({ name, label, options }: FilterProps) {
	const chosen = filterValue(name, options);
	return (
		// biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be part of a row
		<div class="chips" role="group" aria-label={label}>
			{options.map(({ value, label: text }) => (
				<button
					key={value}
					type="button"
					class="chip"
					aria-pressed={value === chosen}
					onClick={() => changeQuery({ [name]: value === chosen ? undefined : value })}
				>
					{text}
				</button>
			))}
		</div>
	);
}

/** A filter with many options as a menu. */
export function FilterSelect({ name, label, options }: FilterProps) {
	const id = useId();
	return (
		<div class="filter-select">
			<label for={id}>{label}</label>
			<select
				id={id}
				value={filterValue(name, options) ?? ''}
				onChange={(event) => changeQuery({ [name]: event.currentTarget.value })}
			>
				<option value="">{strings().parts.all}</option>
				{options.map(({ value, label: text, disabled }) => (
					<option key={value} value={value} disabled={disabled}>
						{text}
					</option>
				))}
			</select>
		</div>
	);
}

/** The option that the address names; undefined if it names none. */
export function filterValue<V extends string>(name: string, options: readonly { value: V }[]): V | undefined {
	const named = route.value.query.get(name);
	return options.find(({ value }) => value === named)?.value;
}
