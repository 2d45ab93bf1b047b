import type { ApiError } from '../../api/api-error.ts';
import { TextArea, TextField } from '../../components/field.tsx';
import type { Draft } from '../../forms/use-draft.ts';
import { strings } from '../../languages/index.ts';
import type { CannedReply } from './queries.ts';

/** What the form of a canned reply changes. */
export type CannedReplyFields = Pick<CannedReply, 'shortcut' | 'content'>;

/** The fields whose errors the form shows beside them. */
export const FIELD_POINTERS = ['/shortcut', '/content'];

export const NEW_CANNED_REPLY: CannedReplyFields = { shortcut: '', content: '' };

export function fieldsOf({ shortcut, content }: CannedReply): CannedReplyFields {
	return { shortcut, content };
}

export function Fields({ draft, rejected }: { draft: Draft<CannedReplyFields>; rejected: ApiError | null }) {
	const t = strings().cannedReplyPages;
	const { values, change } = draft;
	return (
		<>
			<TextField
				label={t.shortcut}
				hint={t.shortcutHint}
				maxLength={40}
				required
				value={values.shortcut}
				error={rejected?.messageFor('/shortcut')}
				onChange={(shortcut) => change({ shortcut })}
			/>
			<TextArea
				label={t.content}
				rows={6}
				maxLength={10_000}
				required
				value={values.content}
				error={rejected?.messageFor('/content')}
				onChange={(content) => change({ content })}
			/>
		</>
	);
}
