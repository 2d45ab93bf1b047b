import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { strings } from '../../languages/index.ts';
import type { Assistant } from './queries.ts';
import { ReplyView } from './reply-view.tsx';
import { type Entry, TryOutConversation } from './try-out-conversation.ts';

/**
 * A conversation with the saved version of an assistant.
 * @param isSaved whether the form shows that version
 * @param suggestions questions to begin with
 */
export function TryOut({
	assistant,
	isSaved,
	suggestions = [],
}: {
	assistant: Assistant;
	isSaved: boolean;
	suggestions?: readonly string[];
}) {
	const s = strings();
	const t = s.assistantPages;
	const [, render] = useState(0);
	const [conversation] = useState(() => new TryOutConversation(assistant, () => render((count) => count + 1)));
	const [question, setQuestion] = useState('');
	const log = useRef<HTMLDivElement>(null);
	useEffect(() => () => conversation.leave(), []);
	useEffect(() => {
		const list = log.current;
		// A reader who has scrolled up stays there.
		if (list && list.scrollHeight - list.scrollTop - list.clientHeight < 160) list.scrollTop = list.scrollHeight;
	});
	const send = (event?: Event) => {
		event?.preventDefault();
		const content = question.trim();
		if (content === '' || conversation.isBusy) return;
		setQuestion('');
		void conversation.ask(content);
	};
	return (
		<section class="card try-out" aria-label={t.tryTitle}>
			<header>
				<h2>{t.tryTitle}</h2>
				{conversation.entries.length > 0 && (
					<Button look="quiet" icon="plus" onClick={() => conversation.restart()}>
						{t.tryAgain}
					</Button>
				)}
			</header>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
			<div class="try-log" ref={log} role="log" aria-label={t.tryLog} tabIndex={0}>
				{conversation.entries.length === 0 && (
					<>
						<p class="soft">{t.tryHint}</p>
						<div class="suggestions">
							{suggestions.map((text) => (
								<Button key={text} onClick={() => void conversation.ask(text)}>
									{text}
								</Button>
							))}
						</div>
					</>
				)}
				{conversation.entries.map((entry) => (
					<EntryView key={entry.id} entry={entry} />
				))}
			</div>
			{!isSaved && <p class="notice">{t.tryUnsaved}</p>}
			<form class="composer" onSubmit={send}>
				<textarea
					rows={2}
					aria-label={t.tryPlaceholder}
					placeholder={t.tryPlaceholder}
					maxLength={32_000}
					value={question}
					onInput={(event) => setQuestion(event.currentTarget.value)}
					onKeyDown={(event) => {
						if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) send(event);
					}}
				/>
				{conversation.isBusy ? (
					<button
						type="button"
						class="send"
						aria-label={t.tryStop}
						title={t.tryStop}
						onClick={() => void conversation.stop()}
					>
						<Icon name="stop" />
					</button>
				) : (
					<button type="submit" class="send" aria-label={t.trySend} title={t.trySend} disabled={question.trim() === ''}>
						<Icon name="send" />
					</button>
				)}
			</form>
		</section>
	);
}

function EntryView({ entry }: { entry: Entry }) {
	const t = strings().assistantPages;
	if (entry.kind === 'reply') return <ReplyView reply={entry} />;
	return (
		<div class="bubble">
			<span class="visually-hidden">{t.you}: </span>
			{entry.content}
		</div>
	);
}
