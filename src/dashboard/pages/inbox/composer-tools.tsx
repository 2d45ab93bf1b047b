import { api, resultOf } from '../../api/client.ts';
import { useQuery } from '../../api/queries.ts';
import { linkTo } from '../../app/route.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { useAction } from '../../forms/use-action.ts';
import { strings } from '../../languages/index.ts';
import { cannedReplyList } from '../canned-replies/queries.ts';

const MAX_CHOICES = 8;
/** Marks of sources, which the visitor of a person's message cannot open. */
const CITATION = /\s?\[\d+\]/g;

/** The canned replies whose shortcut begins like the field's text after its slash. A choice replaces the text. */
export function CannedReplies({ text, onChoose }: { text: string; onChoose: (content: string) => void }) {
	const t = strings().inboxTools;
	const all = useQuery(cannedReplyList()).data;
	if (!/^\/\S*$/.test(text) || all === undefined) return null;
	const beginning = text.slice(1).toLowerCase();
	const choices = all.filter(({ shortcut }) => shortcut.toLowerCase().startsWith(beginning)).slice(0, MAX_CHOICES);
	return (
		<fieldset class="canned-replies" aria-label={t.canned}>
			{choices.map(({ id, shortcut, content }) => (
				<button key={id} type="button" onClick={() => onChoose(content)}>
					<strong>/{shortcut}</strong> <span>{content}</span>
				</button>
			))}
			{choices.length === 0 && <p class="hint">{t.noCanned}</p>}
			<a href={linkTo(['canned-replies'])}>{t.editCanned}</a>
		</fieldset>
	);
}

/** Lets the assistant write a reply into the field. */
export function SuggestButton({ id, onSuggest }: { id: string; onSuggest: (content: string) => void }) {
	const t = strings().inboxTools;
	const suggest = useAction(async () => {
		const call = api.POST('/api/v1/conversations/{id}/suggest-reply', { params: { path: { id } } });
		onSuggest((await resultOf(call)).content.replace(CITATION, ''));
		showToast(t.suggested);
	});
	return (
		<Button isBusy={suggest.isBusy} onClick={() => void suggest.run()}>
			{t.suggest}
		</Button>
	);
}
