import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { sentenceOf } from '../../components/page.tsx';
import { strings } from '../../languages/index.ts';
import { Composer, type ComposerProps } from './composer.tsx';
import { reloadNotes } from './notes.tsx';
import { useKeptText } from './use-kept-text.ts';

type Mode = 'reply' | 'note';

/** Where a person writes: to the visitor, or on an amber ground a note for the team. A note needs no takeover. */
export function ComposerModes(props: ComposerProps) {
	const t = strings().inboxPages;
	const [mode, setMode] = useState<Mode>('reply');
	const element = useRef<HTMLDivElement>(null);
	useToastsAbove(element);
	const tab = (value: Mode, label: string) => (
		<button type="button" class="composer-tab" aria-pressed={mode === value} onClick={() => setMode(value)}>
			{label}
		</button>
	);
	return (
		<div ref={element} class={mode === 'note' ? 'composer-modes is-note' : 'composer-modes'}>
			{/* biome-ignore lint/a11y/useSemanticElements: a fieldset would need a visible legend */}
			<div class="composer-tabs" role="group" aria-label={t.composer}>
				{tab('reply', t.reply)}
				{tab('note', t.note)}
			</div>
			{mode === 'note' ? <NoteComposer id={props.conversation.id} /> : <Composer {...props} />}
		</div>
	);
}

/** Keeps toasts above the element, of which they would hide the buttons. */
function useToastsAbove(ref: RefObject<HTMLElement | null>): void {
	useEffect(() => {
		const element = ref.current;
		if (!element) return;
		const { style } = document.documentElement;
		const observer = new ResizeObserver(() => style.setProperty('--composer-height', `${element.offsetHeight}px`));
		observer.observe(element);
		return () => {
			observer.disconnect();
			style.removeProperty('--composer-height');
		};
	}, []);
}

/** Where a person writes a note. What is not added stays in this tab of the browser. */
function NoteComposer({ id }: { id: string }) {
	const t = strings().inboxPages;
	const { text, setText, key, removeSent } = useKeptText(`inbox-note ${id}`);
	const [error, setError] = useState<string | null>(null);
	const [isBusy, setBusy] = useState(false);
	const field = useRef<HTMLTextAreaElement>(null);
	useEffect(() => field.current?.focus(), []);
	const add = async (event: Event) => {
		event.preventDefault();
		const content = text.trim();
		if (content === '' || isBusy) return;
		setBusy(true);
		setError(null);
		try {
			const headers = { 'Idempotency-Key': key.current };
			await api.POST('/api/v1/conversations/{id}/notes', { params: { path: { id } }, body: { content }, headers });
			removeSent(text);
			reloadNotes(id);
			showToast(t.noteAdded);
		} catch (failure) {
			setError(sentenceOf(failure as Error));
		}
		setBusy(false);
		field.current?.focus();
	};
	return (
		<form class="inbox-composer" onSubmit={(event) => void add(event)}>
			<textarea
				ref={field}
				rows={3}
				aria-label={t.notePlaceholder}
				placeholder={t.notePlaceholder}
				maxLength={10_000}
				value={text}
				onInput={(event) => setText(event.currentTarget.value)}
				onKeyDown={(event) => {
					if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) void add(event);
				}}
			/>
			{error && (
				<p class="field-error" role="alert">
					{error}
				</p>
			)}
			<div class="actions">
				<Button type="submit" look="primary" isBusy={isBusy} disabled={text.trim() === ''}>
					{strings().inboxTools.addNote}
				</Button>
			</div>
		</form>
	);
}
