import { PAGE_SIZE } from '../../api/all-rows.ts';
import { api, type Resource, resultOf } from '../../api/client.ts';
import { type PagedList, usePages } from '../../api/pages.ts';
import { invalidate } from '../../api/queries.ts';
import { may } from '../../app/session.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { confirm } from '../../components/confirm.tsx';
import { TextArea } from '../../components/field.tsx';
import { PagedContent } from '../../components/paged-content.tsx';
import { RelativeTime } from '../../components/time.tsx';
import { useAction } from '../../forms/use-action.ts';
import { strings } from '../../languages/index.ts';
import { useKeptText } from './use-kept-text.ts';

type Note = Resource<'Note'>;

const PATH = '/api/v1/conversations/{id}/notes';

function useNotes(id: string): PagedList<Note> {
	return usePages(['inbox', 'notes', id], (cursor, signal) => {
		const query = { limit: PAGE_SIZE, order: 'desc' as const, ...(cursor && { cursor }) };
		return resultOf(api.GET(PATH, { params: { path: { id }, query }, signal }));
	});
}

/** The notes of a conversation have changed. */
export function reloadNotes(id: string): void {
	void invalidate('inbox', 'notes', id);
}

/** The internal notes of a conversation, the newest first. */
export function Notes({ id }: { id: string }) {
	const t = strings().inboxTools;
	const list = useNotes(id);
	const isWriter = may('conversations:write');
	const { text, setText, key, removeSent } = useKeptText(`inbox-panel-note ${id}`);
	const add = useAction(async () => {
		const headers = { 'Idempotency-Key': key.current };
		await api.POST(PATH, { params: { path: { id } }, body: { content: text.trim() }, headers });
		removeSent(text);
		reloadNotes(id);
	});
	return (
		<section class="notes">
			<h2>{t.notes}</h2>
			{isWriter && (
				<form
					onSubmit={(event) => {
						event.preventDefault();
						void add.run();
					}}
				>
					<TextArea label={t.newNote} hint={t.notesHint} rows={2} maxLength={10_000} value={text} onChange={setText} />
					<Button type="submit" isBusy={add.isBusy} disabled={text.trim() === ''}>
						{t.addNote}
					</Button>
				</form>
			)}
			<PagedContent list={list}>
				{(notes) => (
					<ul>
						{notes.map((note) => (
							<NoteItem key={note.id} note={note} />
						))}
					</ul>
				)}
			</PagedContent>
		</section>
	);
}

function NoteItem({ note: { id: note_id, conversation_id: id, author, content, created_at } }: { note: Note }) {
	const t = strings().inboxTools;
	const remove = useAction(async () => {
		if (!(await confirm({ title: t.deleteNoteTitle, text: t.deleteNoteText, action: t.deleteNote }))) return;
		await api.DELETE('/api/v1/conversations/{id}/notes/{note_id}', { params: { path: { id, note_id } } });
		showToast(t.noteDeleted);
		reloadNotes(id);
	});
	return (
		<li>
			<p class="soft">
				{author.name} · <RelativeTime at={created_at} />
			</p>
			<p class="note-text">{content}</p>
			{may('conversations:write') && (
				<Button look="quiet" isBusy={remove.isBusy} onClick={() => void remove.run()}>
					{t.deleteNote}
				</Button>
			)}
		</li>
	);
}
