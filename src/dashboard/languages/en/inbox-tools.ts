/** The texts of notes, canned replies, suggestions and presence on the page Inbox. */
export const inboxTools = {
	notes: 'Internal notes',
	notesHint: 'Visitors never see notes.',
	addNote: 'Add note',
	newNote: 'New note',
	deleteNote: 'Delete note',
	deleteNoteTitle: 'Delete this note?',
	deleteNoteText: 'The note is lost for all people of the workspace.',
	noteDeleted: 'The note was deleted.',
	suggest: 'Suggest a reply',
	suggested: 'The suggestion is in the field. Read it before you send it.',
	canned: 'Canned replies',
	noCanned: 'No canned reply begins like this.',
	editCanned: 'Edit canned replies',
	typing: '{names}: typing …',
	looking: '{names}: looking at this conversation',
};
