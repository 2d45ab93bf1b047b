import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { fill, strings } from '../languages/index.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

/** A list of rows that are edited in place, for example headers. Removing a row keeps the focus in the list. */
export function RowsEditor<R>({
	label,
	rows,
	emptyRow,
	max = 50,
	children,
	onChange,
}: {
	label: string;
	rows: readonly R[];
	emptyRow: R;
	max?: number;
	/** The controls of a row. Each needs an accessible name: `nameOf` adds the row's number to the label of a column. */
	children: (row: R, change: (part: Partial<R>) => void, nameOf: (column: string) => string) => ComponentChildren;
	onChange: (rows: R[]) => void;
}) {
	const t = strings().parts;
	const frame = useRef<HTMLFieldSetElement>(null);
	/** The row whose first control gets the focus when it is there. */
	const focusOn = useRef<number | null>(null);
	// Before the next key press, whose letter would be lost.
	useLayoutEffect(() => {
		if (focusOn.current === null) return;
		const control = frame.current?.querySelectorAll('.row')[focusOn.current]?.querySelector('input, select');
		const target = control ?? frame.current?.querySelector('.button');
		focusOn.current = null;
		(target as HTMLElement | null | undefined)?.focus();
	}, [rows.length]);
	return (
		<fieldset class="rows" ref={frame}>
			<legend>{label}</legend>
			{rows.map((row, at) => (
				// A row has no other identity, and all its controls are controlled.
				<div class="row" key={at}>
					{children(
						row,
						(part) => onChange(rows.map((other, index) => (index === at ? { ...other, ...part } : other))),
						(column) => fill(t.cellOfRow, { column, row: at + 1 }),
					)}
					<button
						type="button"
						class="icon-button"
						aria-label={fill(t.removeRow, { row: at + 1 })}
						title={fill(t.removeRow, { row: at + 1 })}
						onClick={() => {
							focusOn.current = Math.max(0, at - 1);
							onChange(rows.filter((_, index) => index !== at));
						}}
					>
						<Icon name="close" />
					</button>
				</div>
			))}
			{rows.length < max && (
				<Button
					look="quiet"
					icon="plus"
					onClick={() => {
						focusOn.current = rows.length;
						onChange([...rows, emptyRow]);
					}}
				>
					{t.addRow}
				</Button>
			)}
		</fieldset>
	);
}

export interface NameAndValue {
	name: string;
	value: string;
}

/** Names with values, for example headers or query parameters. */
export function NameValueEditor({
	label,
	rows,
	onChange,
}: {
	label: string;
	rows: readonly NameAndValue[];
	onChange: (rows: NameAndValue[]) => void;
}) {
	const t = strings().parts;
	return (
		<RowsEditor label={label} rows={rows} emptyRow={{ name: '', value: '' }} onChange={onChange}>
			{(row, change, nameOf) => (
				<>
					<input
						class="grows"
						type="text"
						aria-label={nameOf(t.name)}
						placeholder={t.name}
						value={row.name}
						onInput={(event) => change({ name: event.currentTarget.value })}
					/>
					<input
						class="grows"
						type="text"
						aria-label={nameOf(t.value)}
						placeholder={t.value}
						value={row.value}
						onInput={(event) => change({ value: event.currentTarget.value })}
					/>
				</>
			)}
		</RowsEditor>
	);
}
