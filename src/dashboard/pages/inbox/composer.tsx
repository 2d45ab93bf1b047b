import { useRef, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { sentenceOf } from '../../components/page.tsx';
import { strings } from '../../languages/index.ts';
import { sendMessage, takeOver } from './actions.ts';
import { CannedReplies, SuggestButton } from './composer-tools.tsx';
import { useTyping } from './presence.tsx';
import type { Conversation, Message } from './queries.ts';
import { useKeptText } from './use-kept-text.ts';

export interface ComposerProps {
	conversation: Conversation;
	onSent: (message: Message) => void;
	/** Something about the conversation has changed. */
	onChanged: () => void;
}

/** Where a person writes to the visitor. What is not sent stays in this tab. */
export function Composer({ conversation, onSent, onChanged }: ComposerProps) {
	const t = strings().inboxPages;
	const { id } = conversation;
	const { text, setText, key, removeSent } = useKeptText(`inbox-draft ${id}`);
	const [error, setError] = useState<string | null>(null);
	const [isBusy, setBusy] = useState(false);
	const field = useRef<HTMLTextAreaElement>(null);
	const tellTyping = useTyping(id);
	const insert = (content: string) => {
		setText(content);
		field.current?.focus();
	};
	if (conversation.status === 'archived') return <p class="composer-notice">{t.archivedHint}</p>;
	if (conversation.handled_by === 'model') {
		const take = async () => {
			if (await takeOver(id)) onChanged();
		};
		return (
			<div class="composer-notice">
				<p>{t.modelAnswers}</p>
				<Button look="primary" onClick={() => void take()}>
					{t.takeOver}
				</Button>
			</div>
		);
	}
	const send = async (event?: Event) => {
		event?.preventDefault();
		const content = text.trim();
		if (content === '' || isBusy) return;
		setBusy(true);
		setError(null);
		try {
			onSent(await sendMessage(id, content, key.current));
			removeSent(text);
		} catch (failure) {
			setError(sentenceOf(failure as Error));
		}
		setBusy(false);
		field.current?.focus();
	};
	return (
		<form class="inbox-composer" onSubmit={(event) => void send(event)}>
			<CannedReplies text={text} onChoose={insert} />
			<textarea
				id="inbox-reply"
				ref={field}
				rows={3}
				aria-label={t.replyPlaceholder}
				placeholder={t.replyPlaceholder}
				maxLength={32_000}
				value={text}
				onInput={(event) => {
					setText(event.currentTarget.value);
					tellTyping(event.currentTarget.value);
				}}
				onKeyDown={(event) => {
					if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) void send(event);
				}}
			/>
			{error && (
				<p class="field-error" role="alert">
					{error}
				</p>
			)}
			<div class="actions">
				<SuggestButton id={id} onSuggest={insert} />
				<Button type="submit" look="primary" icon="send" isBusy={isBusy} disabled={text.trim() === ''}>
					{t.send}
				</Button>
			</div>
		</form>
	);
}
