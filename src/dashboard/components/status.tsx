import type { ComponentChildren } from 'preact';

/** A state as a coloured word. */
export function Status({ tone, children }: { tone: 'green' | 'amber' | 'red' | 'grey'; children: ComponentChildren }) {
	return <span class={`status status-${tone}`}>{children}</span>;
}
