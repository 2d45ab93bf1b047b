import type { QueryObserverOptions } from '@tanstack/query-core';
import { useState } from 'preact/hooks';
import { api, type Resource, resultOf } from '../../api/client.ts';
import { invalidate, useQuery } from '../../api/queries.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { confirm } from '../../components/confirm.tsx';
import { TextArea } from '../../components/field.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { RelativeTime } from '../../components/time.tsx';
import { useAction } from '../../forms/use-action.ts';
import { strings } from '../../languages/index.ts';

type Note = Resource<'Note'>;

const PAGE_SIZE = 100;
const PATH = '/api/v1/conversations/{id}/notes';

function notesOf(id: string): QueryObserverOptions<Note[]> {
	return {
		queryKey: ['inbox', 'notes', id],
		queryFn: async ({ signal }) => {
			const params = { path: { id }, query: { limit: PAGE_SIZE, order: 'desc' as const } };
			return (await resultOf(api.GET(PATH, { params, signal }))).data;
		},
	};
}

/** The notes of a conversation have changed. */
export function reloadNotes(id: string): void {
	void invalidate('inbox', 'notes', id);
}

/** The internal notes of a conversation, the newest first. */
export function Notes({ id }: { id: string }) {
	const t = strings().inboxTools;
	const query = useQuery(notesOf(id));
	const [content, setContent] = useState('');
	const add = useAction(async () => {
		await api.POST(PATH, { params: { path: { id } }, body: { content: content.trim() } });
		setContent('');
		reloadNotes(id);
	});
	return (
		<section class="notes">
			<h2>{t.notes}</h2>
			<form
				onSubmit={(event) => {
					event.preventDefault();
					void add.run();
				}}
			>
				<TextArea
					label={t.newNote}
					hint={t.notesHint}
					rows={2}
					maxLength={10_000}
					value={content}
					onChange={setContent}
				/>
				<Button type="submit" isBusy={add.isBusy} disabled={content.trim() === ''}>
					{t.addNote}
				</Button>
			</form>
			<QueryContent query={query}>
				{(notes) => (
					<ul>
						{notes.map((note) => (
							<NoteItem key={note.id} note={note} />
						))}
					</ul>
				)}
			</QueryContent>
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
			<Button look="quiet" isBusy={remove.isBusy} onClick={() => void remove.run()}>
				{t.deleteNote}
			</Button>
		</li>
	);
}
