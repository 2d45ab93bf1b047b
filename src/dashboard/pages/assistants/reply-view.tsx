import { CitedText } from '../../components/citations.tsx';
import { fill, strings } from '../../languages/index.ts';
import type { Reply } from './try-out-conversation.ts';

/** A reply with its sources, tool calls and times. */
export function ReplyView({ reply }: { reply: Reply }) {
	const s = strings();
	const t = s.assistantPages;
	return (
		<article class="reply" aria-busy={reply.isRunning}>
			{reply.content !== '' && <CitedText text={reply.content} citations={reply.citations} />}
			{reply.isRunning && reply.content === '' && <p class="soft">{s.loading}</p>}
			{reply.error !== null && <p class="field-error">{reply.error}</p>}
			{reply.toolCalls.map((call) => (
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
			{!reply.isRunning && reply.firstWordMs !== null && (
				<p class="hint">
					{fill(t.timings, { first: reply.firstWordMs, whole: reply.wholeMs })}
					{reply.usage &&
						` · ${fill(t.tokens, { input: reply.usage.input_tokens, output: reply.usage.output_tokens })}`}
				</p>
			)}
		</article>
	);
}
