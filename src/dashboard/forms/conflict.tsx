import { Button } from '../components/button.tsx';
import { strings } from '../languages/index.ts';
import type { Draft } from './use-draft.ts';

/** Two versions of a resource: that of the form, and what somebody else has stored since. */
export function Conflict<T extends object>({
	draft,
	stored,
	labelOf,
	textOf = plainText,
	onOverwrite,
	onTakeTheirs,
}: {
	draft: Draft<T>;
	/** What is stored now. */
	stored: T;
	labelOf: (field: keyof T) => string;
	/** A field's value as a text. Secrets are not shown. */
	textOf?: (values: T, field: keyof T) => string;
	onOverwrite: () => void;
	onTakeTheirs: () => void;
}) {
	const s = strings();
	return (
		<section class="card conflict" role="alert">
			<h2>{s.conflictTitle}</h2>
			<p>{s.conflictText}</p>
			<div class="table-frame">
				<table>
					<thead>
						<tr>
							<th scope="col">{s.field}</th>
							<th scope="col">{s.yourVersion}</th>
							<th scope="col">{s.storedVersion}</th>
						</tr>
					</thead>
					<tbody>
						{(Object.keys(draft.changes) as (keyof T & string)[]).map((field) => (
							<tr key={field}>
								<th scope="row">{labelOf(field)}</th>
								<td>{textOf(draft.values, field)}</td>
								<td>{textOf(stored, field)}</td>
							</tr>
						))}
					</tbody>
				</table>
			</div>
			<div class="actions">
				<Button onClick={onTakeTheirs}>{s.conflictTakeTheirs}</Button>
				<Button look="primary" onClick={onOverwrite}>
					{s.conflictOverwrite}
				</Button>
			</div>
		</section>
	);
}

/** A value as a text. */
export function plainText<T>(values: T, field: keyof T): string {
	const value = values[field];
	return typeof value === 'string' ? value : JSON.stringify(value);
}
