import { CitedText } from '../../components/citations.tsx';
import { Status } from '../../components/status.tsx';
import { RelativeTime } from '../../components/time.tsx';
import { errorText } from '../../languages/error-text.ts';
import { fill, strings } from '../../languages/index.ts';
import type { Message } from './queries.ts';

/** A message with its sources, tool calls and rating. */
export function MessageView({ message }: { message: Message }) {
	const t = strings().inboxPages;
	const { author, role, content, status, feedback, feedback_comment } = message;
	const side = role === 'user' ? 'from-visitor' : author.type === 'human' ? 'from-person' : 'from-model';
	const isRunning = status === 'in_progress';
	return (
		<article class={`message ${side}`} aria-busy={isRunning} data-message={message.id}>
			<p class="message-author">
				<b>{authorName(message)}</b> <RelativeTime at={message.created_at} />
				{status === 'stopped' && <Status tone="grey">{t.stopped}</Status>}
				{message.answered_by === 'none' && <Status tone="amber">{t.unanswered}</Status>}
				{feedback === 'down' && <Status tone="red">{t.ratedDown}</Status>}
				{feedback === 'up' && <Status tone="green">{t.ratedUp}</Status>}
			</p>
			{author.type === 'model' && content !== '' ? (
				<CitedText text={content} citations={message.citations} />
			) : (
				<div class="message-text">{content === '' && isRunning ? <span class="soft">{t.writing}</span> : content}</div>
			)}
			{message.error && <p class="field-error">{errorText(strings().errors, message.error)}</p>}
			{feedback_comment && <p class="message-comment">{feedback_comment}</p>}
			<ToolCalls calls={message.tool_calls} />
		</article>
	);
}

function authorName({ author, role }: Message): string {
	const t = strings().inboxPages;
	if (author.name) return author.name;
	if (role === 'user') return t.visitor;
	return author.type === 'human' ? t.person : t.assistant;
}

function ToolCalls({ calls }: { calls: Message['tool_calls'] }) {
	const t = strings().inboxPages;
	return (
		<>
			{calls.map((call) => (
				<details key={call.id}>
					<summary>
						{fill(t.toolCall, { name: call.name })} · {call.status}
						{call.duration_ms === null ? '' : ` · ${call.duration_ms} ms`}
					</summary>
					<p>{t.toolArguments}</p>
					<pre>{JSON.stringify(call.arguments, null, 2)}</pre>
					<p>{t.toolResult}</p>
					<pre>{typeof call.result === 'string' ? call.result : JSON.stringify(call.result, null, 2)}</pre>
				</details>
			))}
		</>
	);
}
