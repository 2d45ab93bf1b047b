import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { ApiError } from '../api/api-error.ts';
import { errorText } from '../languages/error-text.ts';
import { strings } from '../languages/index.ts';
import { Button } from './button.tsx';

/** The head of a page: its title, one sentence about it, its main action. The title is that of the browser's tab, too. */
export function PageHeader({
	title,
	purpose,
	back,
	children,
}: {
	title: string;
	purpose?: string;
	/** The list that the page belongs to. */
	back?: { label: string; href: string };
	children?: ComponentChildren;
}) {
	useEffect(() => {
		document.title = `${title} – Parley`;
	}, [title]);
	return (
		<header class="page-header">
			<div>
				{back && (
					<a class="back" href={back.href}>
						{back.label}
					</a>
				)}
				<h1 tabIndex={-1}>{title}</h1>
				{purpose && <p class="soft">{purpose}</p>}
			</div>
			{children && <div class="actions">{children}</div>}
		</header>
	);
}

/** A list without entries: what it is for, and the next step. */
export function EmptyState({ title, text, children }: { title: string; text: string; children?: ComponentChildren }) {
	return (
		<div class="empty">
			<svg class="empty-picture" viewBox="0 0 96 64" width="96" height="64" aria-hidden="true">
				<rect x="8" y="10" width="56" height="44" rx="8" />
				<rect x="32" y="4" width="56" height="44" rx="8" />
				<path d="M42 18h32M42 26h36M42 34h20" />
			</svg>
			<h2>{title}</h2>
			<p class="soft">{text}</p>
			{children}
		</div>
	);
}

/** What could not be loaded, and a button to try again. */
export function ErrorState({ error, onRetry }: { error: Error; onRetry: () => void }) {
	const s = strings();
	return (
		<div class="error-state" role="alert">
			<h2>{s.loadFailed}</h2>
			<p>{sentenceOf(error)}</p>
			<Button icon="retry" onClick={onRetry}>
				{s.retry}
			</Button>
		</div>
	);
}

/** Grey lines in the place of what is being loaded. */
export function LoadingLines({ count = 4 }: { count?: number }) {
	return (
		<div class="loading-lines" aria-busy="true">
			<span class="visually-hidden">{strings().loading}</span>
			{Array.from({ length: count }, (_, at) => (
				<div key={at} class="loading-line" />
			))}
		</div>
	);
}

/** An error as a sentence for people, in the language of the dashboard. A browser has no words for a lost connection. */
export function sentenceOf(error: Error): string {
	if (error instanceof TypeError) return strings().unreachable;
	return error instanceof ApiError ? errorText(strings().errors, error) : error.message;
}
