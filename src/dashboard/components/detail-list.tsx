import type { ComponentChildren } from 'preact';

/** Facts about one thing, each with its name. Facts without a value are left out. */
export function DetailList({ items }: { items: readonly { label: string; value: ComponentChildren }[] }) {
	return (
		<dl class="details">
			{items
				.filter(({ value }) => value !== null && value !== undefined && value !== '')
				.map(({ label, value }) => (
					<div key={label}>
						<dt>{label}</dt>
						<dd>{value}</dd>
					</div>
				))}
		</dl>
	);
}
