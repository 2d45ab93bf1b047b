import type { ComponentChildren } from 'preact';
import { navigate } from '../app/route.ts';

export interface Column<T> {
	title: string;
	/** The first column names the row: it holds its link. */
	cell: (row: T) => ComponentChildren;
	/** Numbers stand at the right. */
	isNumber?: boolean;
	/** Left out on phones. */
	isMinor?: boolean;
}

/**
 * A list of resources. A click on a row opens it; its first cell is the link for keyboards and new tabs. On phones each row is a block
 * of its values with their titles.
 */
export function Table<T extends { id: string }>({
	label,
	columns,
	rows,
	pathOf,
}: {
	/** What the rows are, for screen readers. */
	label: string;
	columns: readonly Column<T>[];
	rows: readonly T[];
	/** The page of a row; null: rows have none. */
	pathOf: ((row: T) => readonly string[]) | null;
}) {
	const classOf = ({ isNumber, isMinor }: Column<T>) => `${isNumber ? 'number ' : ''}${isMinor ? 'minor' : ''}`;
	const open = (event: MouseEvent, row: T) => {
		const isControl = event.target instanceof Element && event.target.closest('a, button, input, select, label');
		if (pathOf && !isControl) navigate(pathOf(row));
	};
	return (
		<div class="table-frame">
			<table class="stacking" aria-label={label}>
				<thead>
					<tr>
						{columns.map((column) => (
							<th key={column.title} scope="col" class={classOf(column)}>
								{column.title}
							</th>
						))}
					</tr>
				</thead>
				<tbody>
					{rows.map((row) => (
						<tr key={row.id} class={pathOf ? 'opens' : ''} onClick={(event) => open(event, row)}>
							{columns.map((column) => (
								<td key={column.title} class={classOf(column)} data-title={column.title}>
									{column.cell(row)}
								</td>
							))}
						</tr>
					))}
				</tbody>
			</table>
		</div>
	);
}
